/* SPDX-License-Identifier: Apache-2.0 */
/* Whose steps are those of the run. */
#include "leader.h"

#include <string.h>

#include "base/number.h"
#include "phase.h"

void wti_leader_rank(struct wti_leader *leader, const struct wt_event *event)
{
	if (!leader->saw_rank)
		leader->rank_stream = event->stream;
	leader->saw_rank = true;
	if (leader->is_known && leader->stream == event->stream)
		leader->is_rank = true;
}

/* Who leads has to give way to the track of this event; only if it made no whole step. */
static bool yields(const struct wti_leader *leader, const struct wt_event *event)
{
	return leader->is_known && !leader->whole_count && leader->saw_rank && !leader->is_rank &&
	       event->stream == leader->rank_stream;
}

static void set(struct wti_leader *leader, const struct wt_event *event)
{
	*leader = (struct wti_leader){.is_known = true,
				      .saw_rank = leader->saw_rank,
				      .rank_stream = leader->rank_stream,
				      .stream = event->stream,
				      .track = event->track};
	leader->is_rank = leader->saw_rank && event->stream == leader->rank_stream;
}

bool wti_may_lead(const struct wti_leader *leader, const struct wt_event *event)
{
	return !leader->is_known ||
	       (leader->stream == event->stream && leader->track == event->track);
}

static bool is(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

/* After the agent's own 0: the end of the first step, or the program says where a step begins. */
static unsigned take_first(struct wti_leader *leader, int64_t step)
{
	unsigned change = WTI_STEP_BEGINS;

	leader->at_ends = leader->has_trained && step != leader->step;
	if (leader->at_ends && leader->in_step)
		change |= WTI_STEP_ENDS;
	else if (leader->in_step)
		change |= WTI_STEP_FORGET;
	leader->is_start = false;
	return change;
}

static unsigned take_step(struct wti_leader *leader, const struct wt_event *event)
{
	int64_t step = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	unsigned change = 0;

	if (yields(leader, event)) {
		change = leader->in_step ? WTI_STEP_FORGET : 0;
		leader->is_known = false;
	}
	if (!leader->is_known)
		set(leader, event);
	if (!wti_may_lead(leader, event))
		return change;
	if (leader->is_start)
		change |= take_first(leader, step);
	else if (!leader->in_step)
		change |= WTI_STEP_BEGINS;
	else if (leader->step != step)
		change |= WTI_STEP_ENDS | WTI_STEP_BEGINS;
	leader->whole_count += (change & WTI_STEP_ENDS) != 0;
	leader->in_step = true;
	leader->step = step;
	return change;
}

/* An agent begins with the stage `init`: its step 0 is where the run begins, and no step yet. */
static unsigned take_init(struct wti_leader *leader)
{
	if (!leader->in_step || leader->whole_count || leader->step || leader->at_ends)
		return 0;
	leader->is_start = leader->had_start = true;
	leader->in_step = false;
	return WTI_STEP_FORGET;
}

static unsigned take_call(struct wti_leader *leader, const struct wt_event *event)
{
	enum wti_phase phase = wti_phase_of(event);
	struct wt_text callee = wt_event_text(event, WT_CALL_BEGIN_FIELD_CALLEE);
	bool begins = !leader->in_step && phase < WTI_PHASE_OPTIMIZER;

	leader->has_trained |= phase == WTI_PHASE_BACKWARD ||
			       (phase == WTI_PHASE_OPTIMIZER && callee.bytes > 5 &&
				is((struct wt_text){callee.data + callee.bytes - 5, 5}, ".step"));
	leader->in_step |= begins;
	return begins ? WTI_STEP_BEGINS : 0;
}

unsigned wti_leader_event(struct wti_leader *leader, const struct wt_event *event)
{
	struct wt_text key;

	if (event->kind->number == WT_KIND_CALL_BEGIN)
		return leader->is_start && wti_may_lead(leader, event) ? take_call(leader, event)
								       : 0;
	key = wt_event_text(event, WT_CONTEXT_FIELD_KEY);
	if (is(key, "step"))
		return take_step(leader, event);
	if (leader->is_known && wti_may_lead(leader, event) && is(key, "stage") &&
	    is(wt_event_text(event, WT_CONTEXT_FIELD_TEXT), "init"))
		return take_init(leader);
	return 0;
}

uint64_t wti_leader_steps(const struct wti_leader *leader)
{
	return leader->whole_count + (leader->in_step && !leader->is_start && !leader->at_ends);
}
