/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose steps are those of the run: the first track that emits them, as ranks go in step. A
 * launcher has an agent, too, and says its step 0 before any rank does; it gives way to the first
 * rank unless it steps itself.
 */
#ifndef WTI_LEADER_H
#define WTI_LEADER_H

#include <wheeltap/trace.h>

struct wti_leader {
	bool is_known;
	bool is_rank;
	bool saw_rank;
	uint32_t track;
	size_t stream;
	size_t rank_stream; /* the first that is a rank's */
};

/* Of each event of kind rank. */
void wti_leader_rank(struct wti_leader *leader, const struct wt_event *event);
/* Whether who leads has to give way to the track of this event; only if it made no whole step. */
bool wti_leader_yields(const struct wti_leader *leader, const struct wt_event *event);
void wti_leader_set(struct wti_leader *leader, const struct wt_event *event);
bool wti_leads(const struct wti_leader *leader, const struct wt_event *event);

#endif
