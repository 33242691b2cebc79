/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of durations in bounded memory: each power of two is divided into 64 equal buckets, so
 * a quantile is off by at most 1/128 of its value (0.8 %), whatever the number of values. Below
 * 64 ns it is exact. Buckets are allocated a power of two at a time: a name uses a few of the 58.
 */
#ifndef WTI_INSPECT_SKETCH_H
#define WTI_INSPECT_SKETCH_H

#include <stdint.h>

#define WTI_SKETCH_BITS 6
#define WTI_SKETCH_PAGES (64 - WTI_SKETCH_BITS + 1)
#define WTI_SKETCH_ERROR_PERCENT 0.8

struct wti_sketch {
	uint64_t *pages[WTI_SKETCH_PAGES]; /* of 64 counts each */
	uint64_t count;
	uint64_t min;
	uint64_t max;
};

/* Zeroed memory is an empty sketch. */
void wti_sketch_release(struct wti_sketch *sketch);
/* 0 or WT_E_NOMEM. */
int wti_sketch_add(struct wti_sketch *sketch, uint64_t value);
/* `share` from 0 to 1; 0 if the sketch is empty. Never outside [min, max]. */
uint64_t wti_sketch_quantile(const struct wti_sketch *sketch, double share);

#endif
