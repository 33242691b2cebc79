/* SPDX-License-Identifier: Apache-2.0 */
/* Actions and ends of steps, recorded or, in streams of 0.1, derived. */
#include "action.h"

#include <string.h>

bool wti_action_is_recorded(const struct wt_event *begin)
{
	return begin->kind->field_count > WT_CALL_BEGIN_FIELD_ACTION;
}

enum wt_action wti_action_recorded(const struct wt_event *begin)
{
	return (enum wt_action)wt_event_u64(begin, WT_CALL_BEGIN_FIELD_ACTION);
}

/* ---- Streams of 0.1 ------------------------------------------------------------------------- */

static bool is(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

/* "step" of "Adam.step" */
static struct wt_text method_of(struct wt_text callee)
{
	const char *dot = memrchr(callee.data, '.', callee.bytes);
	size_t before = dot ? (size_t)(dot + 1 - callee.data) : 0;

	return (struct wt_text){callee.data + before, callee.bytes - before};
}

static enum wt_action of_function(struct wt_text callee)
{
	struct wt_text method = method_of(callee);

	if (is(method, "forward"))
		return WT_ACTION_FORWARD;
	if (is(callee, "Tensor.backward"))
		return WT_ACTION_BACKWARD;
	if (is(method, "zero_grad"))
		return WT_ACTION_ZERO_GRAD;
	if (is(callee, "DataLoader.__next__"))
		return WT_ACTION_BATCH;
	if (is(callee, "save"))
		return WT_ACTION_SAVE;
	return is(callee, "load") ? WT_ACTION_LOAD : WT_ACTION_NONE;
}

enum wt_action wti_action_derived(struct wt_text callee, uint32_t object_type)
{
	struct wt_text method = method_of(callee);

	switch (object_type) {
	case WT_OBJECT_TYPE_MODULE: /* wrappers and averages are called as modules are */
	case WT_OBJECT_TYPE_WRAPPER:
	case WT_OBJECT_TYPE_AVERAGE:
	case WTI_OBJECT_UNKNOWN:
		return of_function(callee);
	case WT_OBJECT_TYPE_OPTIMIZER:
		if (is(method, "step"))
			return WT_ACTION_STEP;
		return is(method, "zero_grad") ? WT_ACTION_ZERO_GRAD : WT_ACTION_NONE;
	case WT_OBJECT_TYPE_SCHEDULER:
		return is(method, "step") ? WT_ACTION_SCHEDULER_STEP : WT_ACTION_NONE;
	case WT_OBJECT_TYPE_SCALER:
		return WT_ACTION_SCALER;
	case WT_OBJECT_TYPE_LOADER:
		return is(method, "__iter__") ? WT_ACTION_ROUND : WT_ACTION_BATCH;
	default:
		return WT_ACTION_NONE;
	}
}

/* The states of a step follow it; anything else ends them. */
static bool is_outcome(const struct wt_event *event)
{
	return event->kind->number == WT_KIND_STATE || event->kind->number == WT_KIND_TENSOR ||
	       event->kind->number == WT_KIND_MEMBER || event->kind->number == WT_KIND_OBJECT;
}

/* ---- Both ----------------------------------------------------------------------------------- */

enum wt_action wti_action_of(const struct wt_event *begin)
{
	if (wti_action_is_recorded(begin))
		return wti_action_recorded(begin);
	return wti_action_derived(wt_event_text(begin, WT_CALL_BEGIN_FIELD_CALLEE),
				  WTI_OBJECT_UNKNOWN);
}

bool wti_action_ends_step(const struct wt_event *event, bool is_recorded)
{
	return is_recorded ? event->kind->number == WT_KIND_STEP_END : !is_outcome(event);
}
