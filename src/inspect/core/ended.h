/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the last step of a track. An agent that counts steps where they end sets the number of
 * the next one there, also behind the last: a run of 12 steps then ended after step 11, and not in
 * step 12.
 */
#ifndef WTI_INSPECT_ENDED_H
#define WTI_INSPECT_ENDED_H

#include <wheeltap/trace.h>

struct wti_ended {
	uint64_t seq; /* of the event at which it ended */
	int64_t time_ns;
	bool is_known;
	uint64_t object; /* the optimizer that stepped */
	bool is_counted; /* the number of the next one was set there, or where another stepped */
	uint64_t counted_by;
	bool has_gone_on; /* something was trained after it */
};

/* Takes events of one track, of kind step_end, context and call_begin; ignores others. */
void wti_ended_take(struct wti_ended *ended, const struct wt_event *event);
/* Whether the step that the track is in is none, but the number behind the last. */
bool wti_ended_is_after(const struct wti_ended *ended, int64_t step);

#endif
