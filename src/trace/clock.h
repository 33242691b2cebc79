/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one clock to another through moments that were seen in both: straight lines between
 * neighbouring pairs, prolonged at the ends.
 */
#ifndef WTI_TRACE_CLOCK_H
#define WTI_TRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct wti_clock_pair {
	uint64_t from;
	int64_t to;
	uint32_t error;
};

struct wti_clock {
	struct wti_clock_pair *pairs; /* by `from`, once it is ready */
	double *slopes;               /* from pair i to pair i + 1 */
	size_t count;
	size_t capacity;
	uint64_t error_ns;
};

void wti_clock_release(struct wti_clock *clock);
int wti_clock_add(struct wti_clock *clock, uint64_t from, int64_t to, uint32_t error);
/* Sorts and computes slopes; to be called after the last add and before the first conversion. */
int wti_clock_ready(struct wti_clock *clock);
/* Without a pair the number is taken over as it is. */
int64_t wti_clock_convert(const struct wti_clock *clock, uint64_t from);
uint64_t wti_clock_invert(const struct wti_clock *clock, int64_t to);

#endif
