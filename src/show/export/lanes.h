/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lane of a row a slice goes to, so that no two slices of a lane overlap.
 *
 * Work is emitted when it is complete, so slices come roughly in the order of their ends. A lane
 * remembers its last few slices and takes one that fits after or between them.
 */
#ifndef WTI_SHOW_EXPORT_LANES_H
#define WTI_SHOW_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

#define WTI_LANES_MAX 256u
#define WTI_LANE_KEEPS 8u

struct wti_lane {
	int64_t floor_ns; /* nothing before this: the end of all that is forgotten */
	uint32_t count;
	uint32_t row; /* the caller's; 0 when the lane is new */
	int64_t begin_ns[WTI_LANE_KEEPS];
	int64_t end_ns[WTI_LANE_KEEPS];
};

struct wti_lanes {
	struct wti_lane *lanes;
	uint32_t count;
	size_t capacity;
};

void wti_lanes_release(struct wti_lanes *lanes);
/* Index of the lane that now has the slice, WT_E_LIMIT when all are taken, or WT_E_NOMEM. */
int wti_lanes_place(struct wti_lanes *lanes, int64_t begin_ns, int64_t end_ns);

#endif
