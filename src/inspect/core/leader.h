/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose steps are those of the run: the first track that emits them, as ranks go in step. A
 * launcher has an agent, too, and says its step 0 before any rank does; it gives way to the first
 * rank unless it steps itself.
 *
 * And what a step is. A program says where its steps begin: the last runs until the program ends,
 * and is a step that nobody saw end. An agent counts steps where they end, from a 0 with which
 * every run begins: the first step begins with the first call of a training, and what follows the
 * last is after the steps.
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
	bool in_step;
	bool is_start; /* all that was emitted is the 0 with which an agent begins */
	bool had_start;
	bool has_trained; /* since then */
	bool at_ends;     /* contexts come where steps end */
	int64_t step;
	uint64_t whole_count; /* steps that ended */
};

/* What an event means for the steps of the run; bits. */
enum wti_step_change {
	WTI_STEP_FORGET = 1, /* what seemed to be in a step was before the first */
	WTI_STEP_ENDS = 2,   /* the step before is whole */
	WTI_STEP_BEGINS = 4,
};

/* Of each event of kind rank. */
void wti_leader_rank(struct wti_leader *leader, const struct wt_event *event);
/* Of each event of kind context and call_begin: enum wti_step_change. */
unsigned wti_leader_event(struct wti_leader *leader, const struct wt_event *event);
/* True too if nobody leads yet. */
bool wti_may_lead(const struct wti_leader *leader, const struct wt_event *event);
/* How many steps the run had, at its end; 0: there was none, whatever seemed to be one. */
uint64_t wti_leader_steps(const struct wti_leader *leader);

#endif
