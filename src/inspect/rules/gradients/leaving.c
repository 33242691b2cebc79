/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about tensors that leave torch and come back: gradients do not follow. */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/slots.h"

/* ---- WT-GRAPH-004: through numpy ------------------------------------------------------------ */

enum { STEPS_TO_TELL = 2 };

struct trip {
	struct wti_recent cut;     /* what was detached and had a gradient to give */
	struct wti_recent rebuilt; /* what came back in the same forward */
	uint64_t forward;          /* the call that this is about, plus one */
	bool has_left;
	int64_t last_step;
	uint32_t streak;
};

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_training(const struct wti_call *call)
{
	return call && call->flags & WTI_CALL_TRAINING && call->flags & WTI_CALL_GRAD;
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
	    given->digest.flags & WTI_TENSOR_REQUIRES_GRAD)
		wti_recent_add(&trip->cut, call, given, 0);
	else if (call->what == WTI_CALLEE_TO_NUMPY)
		trip->has_left |= wti_recent_find(&trip->cut, given) != NULL;
	else if (call->what == WTI_CALLEE_FROM_NUMPY && trip->has_left && result &&
		 wti_dtype_is_float(result->digest.dtype))
		wti_recent_add(&trip->rebuilt, call, result, 0);
}

static void judge_module(struct wti_case *account, struct trip *trip,
			 const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_recent_tensor *rebuilt;
	struct wti_call call = *moment->call;
	struct wti_moment there = *moment;

	if (!input || !is_training(moment->parent) || !is_training(moment->call))
		return;
	rebuilt = wti_recent_find(&trip->rebuilt, input);
	if (!rebuilt || trip->forward != moment->parent->ordinal + 1) {
		wti_held(account);
		return;
	}
	if (trip->last_step == moment->scope.step + 1)
		return;
	trip->last_step = moment->scope.step + 1;
	if (++trip->streak < STEPS_TO_TELL)
		return;
	call.site = rebuilt->site;
	call.callee = rebuilt->callee;
	there.call = &call;
	wti_violated(account, &there, moment->call->object,
		     "in the forward pass a tensor with a gradient to give was detached and taken "
		     "out of torch, and %s is given what was made of it",
		     wti_moment_text(moment, moment->call->object));
}

static void see_trip(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct trip *trip = wti_slot(state, moment->process->stream, sizeof(*trip));

	if (!trip)
		return;
	if (moment->type == WTI_MOMENT_CALL)
		note_call(trip, moment);
	else
		judge_module(account, trip, moment);
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
	.state_bytes = sizeof(struct wti_slots),
	.see = see_trip,
	.release = release_slots,
};
