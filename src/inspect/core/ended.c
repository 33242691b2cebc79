/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where an agent sets the number of a step, and what is training. */
#include "ended.h"
#include "phase.h"
#include "steps.h"

/* A call that belongs to a step which has begun: not an evaluation after the training. */
static bool is_training(const struct wt_event *event)
{
	const uint64_t wanted = WT_CALL_TRAIN | WT_CALL_GRAD;
	uint64_t flags = wt_event_u64(event, WT_CALL_BEGIN_FIELD_FLAGS);

	switch (wti_phase_of(event)) {
	case WTI_PHASE_BACKWARD:
	case WTI_PHASE_OPTIMIZER:
		return true;
	case WTI_PHASE_FORWARD:
		return (flags & wanted) == wanted;
	default:
		return false;
	}
}

static void take_end(struct wti_ended *ended, const struct wt_event *event)
{
	ended->object = wt_event_u64(event, WT_STEP_END_FIELD_OBJECT);
	ended->is_counted &= ended->object != ended->counted_by;
	ended->seq = event->seq;
	ended->time_ns = event->time_ns;
	ended->is_known = true;
	ended->has_gone_on = false;
}

/*
 * Of several optimizers the agent counts where one of them has stepped, and not where the others do
 * after it. That one steps next in another step: if no number was set there, the program numbers
 * its steps itself, and did so once with nothing recorded between.
 */
void wti_ended_take(struct wti_ended *ended, const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_STEP_END:
		take_end(ended, event);
		return;
	case WT_KIND_CONTEXT:
		if (wti_context_key(event) != WTI_CONTEXT_STEP)
			return;
		ended->is_counted = ended->is_known && event->seq == ended->seq + 1;
		ended->counted_by = ended->object;
		return;
	case WT_KIND_CALL_BEGIN:
		ended->has_gone_on |= event->seq > ended->seq && is_training(event);
		return;
	default:
		return;
	}
}

bool wti_ended_is_after(const struct wti_ended *ended, int64_t step)
{
	return ended->is_counted && !ended->has_gone_on && step > 0;
}
