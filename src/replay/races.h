/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that touch the same bytes, one of them writing, and that nothing orders: found from
 * what had to come before what alone, however the recorded run happened to go.
 */
#ifndef WTI_REPLAY_RACES_H
#define WTI_REPLAY_RACES_H

#include "plan.h"

struct wti_replay_race {
	uint32_t first, second; /* operations, as they were enqueued: the first such pair */
	uint32_t object;
	uint64_t from, to; /* bytes that both touch */
	uint64_t count;    /* pairs of operations of these names and this object */
	bool both_write;
	/* Filled in by whoever replays both orders. */
	bool is_tried;
	bool is_confirmed; /* the order changes what comes out */
};

struct wti_replay_races {
	struct wti_replay_race *all;
	size_t count, capacity;
	uint64_t unjudged_count; /* accesses that found no room to be compared */
	bool is_unjudged;        /* there were too many operations at once to be ordered */
};

int wti_replay_races_find(const struct wti_replay_plan *plan, struct wti_replay_races *ret_races,
			  struct wt_err *err);
void wti_replay_races_release(struct wti_replay_races *races);

#endif
