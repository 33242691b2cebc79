/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long something was busy: the union of half-open intervals, never their sum, and how much of
 * it falls into each part of a window.
 *
 * Intervals come in any order that is roughly by end. They are kept disjoint and sorted; when there
 * are too many the older half is settled, and what arrives later for that time counts only where it
 * reaches past it (`clipped_count` says how often that happened: 0 means that all figures are
 * exact).
 */
#ifndef WTI_INSPECT_BUSY_H
#define WTI_INSPECT_BUSY_H

#include <stddef.h>
#include <stdint.h>

struct wti_busy_interval {
	int64_t from_ns;
	int64_t to_ns;
};

struct wti_busy {
	struct wti_busy_interval *intervals; /* disjoint, sorted */
	size_t count;
	size_t capacity;
	size_t ceiling;
	int64_t window_from_ns; /* what lies outside is cut off */
	int64_t window_to_ns;
	int64_t settled_ns; /* everything before is in the sums */
	uint64_t busy_ns;   /* settled so far */
	uint64_t clipped_count;
	int64_t first_ns; /* of all that was inside the window */
	int64_t last_ns;
	/* Busy time in equal parts from parts_from_ns on; they double when the time runs over. */
	uint64_t *parts;
	int64_t parts_from_ns;
	uint64_t part_ns;
};

#define WTI_BUSY_PARTS 2048u

int wti_busy_init(struct wti_busy *busy, size_t ceiling, int64_t from_ns, int64_t to_ns);
void wti_busy_release(struct wti_busy *busy);
/* 0 or WT_E_NOMEM. Empty and reversed intervals are nothing. */
int wti_busy_add(struct wti_busy *busy, int64_t from_ns, int64_t to_ns);
/* Settles all; after it busy_ns and the parts are complete. */
void wti_busy_settle(struct wti_busy *busy);
/* Busy time between two moments, out of the parts: exact where they fall on their borders. */
double wti_busy_between(const struct wti_busy *busy, double from_ns, double to_ns);

#endif
