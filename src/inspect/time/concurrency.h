/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest number of half-open intervals that are open at once, and when that was first so.
 *
 * A sweep over beginnings and ends. Intervals come roughly by end; a bounded number of moments
 * waits to be put in order. An interval that comes after its beginning was swept counts from there
 * on only (`late_count`; 0 means that the maximum is exact, otherwise it is a lower bound).
 */
#ifndef WTI_INSPECT_CONCURRENCY_H
#define WTI_INSPECT_CONCURRENCY_H

#include <stddef.h>
#include <stdint.h>

struct wti_concurrency_change {
	int64_t ns;
	int32_t change; /* ends sort before beginnings */
};

struct wti_concurrency {
	struct wti_concurrency_change *moments; /* sorted */
	size_t count;
	size_t capacity;
	size_t ceiling;
	int64_t swept_ns;
	int64_t open;
	int64_t max;
	int64_t max_at_ns;
	uint64_t late_count;
};

void wti_concurrency_init(struct wti_concurrency *c, size_t ceiling);
void wti_concurrency_release(struct wti_concurrency *c);
/* 0 or WT_E_NOMEM. Empty and reversed intervals are nothing. */
int wti_concurrency_add(struct wti_concurrency *c, int64_t from_ns, int64_t to_ns);
void wti_concurrency_finish(struct wti_concurrency *c);

#endif
