/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about tensors that leave torch and come back: gradients do not follow. */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

/* ---- WT-GRAPH-004: through numpy ------------------------------------------------------------ */

enum { STEPS };

struct trip {
	struct wti_recent cut;     /* what was detached and had a gradient to give */
	struct wti_recent rebuilt; /* what came back in the same forward */
	uint64_t forward;          /* the call that this is about, plus one */
	bool has_left;
	int64_t last_step;
	struct wti_patience steps; /* in which it happened */
};

static bool is_training(const struct wti_call *call)
{
	return call && call->flags & WT_CALL_TRAIN && call->flags & WT_CALL_GRAD;
}

static void note_call(struct trip *trip, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *given = wti_call_tensor(call, false, 0);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);

	if (!is_training(moment->parent))
		return;
	if (trip->forward != moment->parent->ordinal + 1) {
		trip->forward = moment->parent->ordinal + 1;
		trip->has_left = false;
	}
	if (call->what == WTI_CALLEE_DETACH && given &&
	    given->digest.flags & WT_TENSOR_REQUIRES_GRAD)
		wti_recent_add(&trip->cut, call, given, 0);
	else if (call->what == WTI_CALLEE_TO_NUMPY)
		trip->has_left |= wti_recent_find(&trip->cut, given) != NULL;
	else if (call->what == WTI_CALLEE_FROM_NUMPY && trip->has_left && result &&
		 wti_dtype_is_float(result->digest.dtype))
		wti_recent_add(&trip->rebuilt, call, result, 0);
}

static enum wti_answer judge_module(struct wti_case *account, struct trip *trip,
				    const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_recent_tensor *rebuilt;
	struct wti_call call = *moment->call;
	struct wti_moment there = *moment;

	if (!input || !is_training(moment->parent) || !is_training(moment->call))
		return WTI_RULE_NO_CASE;
	rebuilt = wti_recent_find(&trip->rebuilt, input);
	if (!rebuilt || trip->forward != moment->parent->ordinal + 1)
		return WTI_RULE_HELD;
	if (trip->last_step == moment->scope.step + 1)
		return WTI_RULE_NO_CASE;
	trip->last_step = moment->scope.step + 1;
	if (!wti_waited(account, &trip->steps, moment, STEPS))
		return WTI_RULE_NO_CASE;
	call.site = rebuilt->site;
	call.callee = rebuilt->callee;
	there.call = &call;
	return wti_violated(
		account, &there, moment->call->object,
		"in the forward pass a tensor that requires a gradient was detached and taken out "
		"of torch, and %s is given what was computed from it",
		wti_moment_text(moment, moment->call->object));
}

static enum wti_answer see_trip(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	if (moment->type != WTI_MOMENT_CALL)
		return judge_module(account, kept, moment);
	note_call(kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_graph_004 = {
	.code = "WT-GRAPH-004",
	.severity = WT_WARNING,
	.title = "the forward pass goes through numpy, and gradients end there",
	.means = "what comes before gets no gradient from this path: it is trained by the rest of "
		 "the loss alone, or not at all",
	.hint = "compute it with torch: torch.randn_like(std) * std + mean, not numpy.random",
	.definition =
		"In the forward pass of a model in training, no layer is given floating point "
		"numbers that came from numpy or from Python in that pass, after a tensor that "
		"requires a gradient was detached and taken there. Two steps are a violation. "
		"A case is a layer that is called inside of a model in training.",
	.innocent = "A part of the model that is not meant to be trained through, such as features "
		    "computed by another library.",
	.needs = "no layer was called inside of a model in training",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_DETACH) | WTI_CALLEE_SET(WTI_CALLEE_TO_NUMPY) |
		   WTI_CALLEE_SET(WTI_CALLEE_FROM_NUMPY),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct trip)}},
	.see = see_trip,
	.thresholds = {{"steps", 2, "once may be a look at the data before training"}},
};
