/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of half-open intervals, all in memory: exact lengths of unions and of what several sets have
 * at once. (`inspect/time/busy.h` does the first with bounded memory, for what comes roughly in
 * order.)
 */
#ifndef WTI_DEVICE_COVERS_H
#define WTI_DEVICE_COVERS_H

#include <stddef.h>
#include <stdint.h>

struct wti_cover {
	int64_t from_ns, to_ns;
};

struct wti_covers {
	struct wti_cover *items;
	size_t count, capacity;
};

void wti_covers_release(struct wti_covers *set);
/* 0 or WT_E_NOMEM. */
int wti_covers_add(struct wti_covers *set, int64_t from_ns, int64_t to_ns);
/* Sorted, disjoint and not touching from here on. */
void wti_covers_merge(struct wti_covers *set);
/* The rest takes merged sets. */
uint64_t wti_covers_length(const struct wti_covers *set);

#define WTI_COVER_SETS 4u
/* How long exactly the sets of each combination cover the time: ret_ns[1] only the first, [3] the
 * first and the second together. */
void wti_covers_overlap(const struct wti_covers sets[], unsigned count, uint64_t *ret_ns);

#endif
