/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the few slices that a lane remembers. */
#include "lanes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#include "base/grow.h"

void wti_lanes_release(struct wti_lanes *lanes)
{
	free(lanes->lanes);
	*lanes = (struct wti_lanes){0};
}

/* Where among the remembered slices it fits, or -1. */
static int gap_for(const struct wti_lane *lane, int64_t begin_ns, int64_t end_ns)
{
	uint32_t at = lane->count;

	if (begin_ns < lane->floor_ns)
		return -1;
	while (at && lane->begin_ns[at - 1] > begin_ns)
		at--;
	if (at && lane->end_ns[at - 1] > begin_ns)
		return -1;
	/*
	 * Readers keep the order of writing among equal times. The slice to the right is written
	 * already, so this one must end before it begins, not only when.
	 */
	if (at < lane->count && end_ns >= lane->begin_ns[at])
		return -1;
	return (int)at;
}

static void remember(struct wti_lane *lane, uint32_t at, int64_t begin_ns, int64_t end_ns)
{
	if (lane->count == WTI_LANE_KEEPS) {
		if (!at) { /* it is the oldest itself */
			lane->floor_ns = end_ns;
			return;
		}
		lane->floor_ns = lane->end_ns[0];
		lane->count--;
		at--;
		memmove(lane->begin_ns, lane->begin_ns + 1, sizeof(int64_t) * lane->count);
		memmove(lane->end_ns, lane->end_ns + 1, sizeof(int64_t) * lane->count);
	}
	memmove(lane->begin_ns + at + 1, lane->begin_ns + at, sizeof(int64_t) * (lane->count - at));
	memmove(lane->end_ns + at + 1, lane->end_ns + at, sizeof(int64_t) * (lane->count - at));
	lane->begin_ns[at] = begin_ns;
	lane->end_ns[at] = end_ns;
	lane->count++;
}

static int add_lane(struct wti_lanes *lanes)
{
	int r = wti_grow(&lanes->lanes, lanes->count + 1, &lanes->capacity, WTI_LANES_MAX);

	if (r)
		return r;
	lanes->lanes[lanes->count] = (struct wti_lane){.floor_ns = INT64_MIN};
	return (int)lanes->count++;
}

int wti_lanes_place(struct wti_lanes *lanes, int64_t begin_ns, int64_t end_ns)
{
	int lane;

	for (uint32_t i = 0; i < lanes->count; i++) {
		int at = gap_for(&lanes->lanes[i], begin_ns, end_ns);

		if (at < 0)
			continue;
		remember(&lanes->lanes[i], (uint32_t)at, begin_ns, end_ns);
		return (int)i;
	}
	lane = add_lane(lanes);
	if (lane >= 0)
		remember(&lanes->lanes[lane], 0, begin_ns, end_ns);
	return lane;
}
