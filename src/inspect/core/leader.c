/* SPDX-License-Identifier: Apache-2.0 */
/* Whose steps are those of the run. */
#include "leader.h"

void wti_leader_rank(struct wti_leader *leader, const struct wt_event *event)
{
	if (!leader->saw_rank)
		leader->rank_stream = event->stream;
	leader->saw_rank = true;
	if (leader->is_known && leader->stream == event->stream)
		leader->is_rank = true;
}

bool wti_leader_yields(const struct wti_leader *leader, const struct wt_event *event)
{
	return leader->is_known && leader->saw_rank && !leader->is_rank &&
	       event->stream == leader->rank_stream;
}

void wti_leader_set(struct wti_leader *leader, const struct wt_event *event)
{
	leader->is_known = true;
	leader->stream = event->stream;
	leader->track = event->track;
	leader->is_rank = leader->saw_rank && event->stream == leader->rank_stream;
}

bool wti_leads(const struct wti_leader *leader, const struct wt_event *event)
{
	return leader->is_known && leader->stream == event->stream && leader->track == event->track;
}
