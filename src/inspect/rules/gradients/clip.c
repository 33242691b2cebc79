/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about clipping: that it comes between backward() and the step, and reaches what is used. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_clip(const struct wti_moment *moment)
{
	return moment->call->what == WTI_CALLEE_CLIP_NORM ||
	       moment->call->what == WTI_CALLEE_CLIP_VALUE;
}

/* ---- WT-CLIP-001: at the wrong time --------------------------------------------------------- */

/* Optimizers of a process, and those of them that have gradients of a backward() to use. */
static uint32_t count_waiting(const struct wti_training *training, size_t stream,
			      uint32_t *ret_count)
{
	uint32_t waiting = 0;

	*ret_count = 0;
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		if (object->stream != stream || object->type != WT_OBJECT_TYPE_OPTIMIZER)
			continue;
		++*ret_count;
		waiting += object->backward_count && !object->zero_grad_count_after_backward;
	}
	return waiting;
}

static void see_time(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	uint32_t optimizers, waiting;

	if (!is_clip(moment) || moment->call->exception || !moment->process->backward_count)
		return;
	waiting = count_waiting(moment->training, moment->process->stream, &optimizers);
	if (!optimizers)
		return;
	if (waiting)
		wti_held(account);
	else
		wti_violated(account, moment, moment->call->callee,
			     "since the last step() or zero_grad() there was no backward(): it "
			     "clips gradients that have been used, or none");
}

const struct wti_rule wti_rule_clip_001 = {
	.code = "WT-CLIP-001",
	.severity = WT_ERROR,
	.title = "gradients are clipped when there is nothing to clip",
	.means = "the steps are made with gradients that were never clipped",
	.hint = "call clip_grad_norm_() after backward() and before optimizer.step()",
	.definition = "When gradients are clipped, one of the process's optimizers has had a "
		      "backward() since its last step() and no zero_grad() after it. A case is a "
		      "call of clip_grad_norm_ or clip_grad_value_.",
	.innocent = "Gradients that are computed with autograd.grad and set by hand, in a program "
		    "that also calls backward().",
	.needs = "nothing was clipped in a process with an optimizer",
	.moments = WTI_MOMENT_CALL,
	.watch = see_time,
};

/* ---- What was clipped, and what was then used ----------------------------------------------- */

struct clipped {
	bool is_pending;
	double total, limit;
	uint32_t streak;
};

static bool read_clip(const struct wti_moment *moment, double *ret_total, double *ret_limit)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *total = wti_call_tensor(call, true, 0);
	double norm = 2;

	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "norm_type"), 2, &norm);
	if (call->what != WTI_CALLEE_CLIP_NORM || norm != 2 || !total || total->digest.count != 1 ||
	    total->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return false;
	*ret_total = total->digest.mean;
	return wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "max_norm"), 1,
				  ret_limit);
}

static void note_clip(struct clipped *clipped, const struct wti_moment *moment)
{
	clipped->is_pending = read_clip(moment, &clipped->total, &clipped->limit);
}

/* ---- WT-CLIP-002: something else than what is used ------------------------------------------ */

/* The norm of all gradients before the step; false: not all were read in this step. */
static bool norm_of_gradients(const struct wti_moment *moment, double *ret_norm)
{
	double sum = 0;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		const struct wti_digest_row *row = &parameter->grad_statistics;

		if (parameter->grad == WTI_GRAD_NONE || parameter->grad == WTI_GRAD_ZERO)
			continue;
		if (parameter->grad != WTI_GRAD_NONZERO || !parameter->has_grad_statistics ||
		    row->hash != parameter->grad_hash)
			return false;
		sum += row->m2 + (double)row->count * row->mean * row->mean;
	}
	*ret_norm = sqrt(sum);
	return isfinite(*ret_norm);
}

static bool is_only_optimizer(const struct wti_moment *moment)
{
	uint32_t count;

	count_waiting(moment->training, moment->process->stream, &count);
	return count == 1;
}

enum { TIMES_TO_TELL = 2, TIMES_SMALLER = 8 };

static void judge_used(struct wti_case *account, struct clipped *clipped,
		       const struct wti_moment *moment)
{
	double norm;

	if (!clipped->is_pending || clipped->total <= clipped->limit * 2 ||
	    !is_only_optimizer(moment) || !norm_of_gradients(moment, &norm))
		return;
	if (norm * TIMES_SMALLER >= clipped->limit) {
		clipped->streak = 0;
		wti_held(account);
	} else if (++clipped->streak >= TIMES_TO_TELL) {
		wti_violated(account, moment, moment->object->name,
			     "a norm of %.4g was clipped to %.4g, and the step was made with one "
			     "of %.3g",
			     clipped->total, clipped->limit, norm);
	}
}

static void see_used(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct clipped *clipped = wti_slot(state, moment->process->stream, sizeof(*clipped));

	if (!clipped)
		return;
	if (moment->type == WTI_MOMENT_STEP) {
		judge_used(account, clipped, moment);
		clipped->is_pending = false;
	} else if (is_clip(moment)) {
		note_clip(clipped, moment);
	}
}

const struct wti_rule wti_rule_clip_002 = {
	.code = "WT-CLIP-002",
	.severity = WT_ERROR,
	.title = "gradients are made smaller again after they were clipped",
	.means = "they were clipped while still multiplied by the loss scale: nearly every "
		 "gradient is above the limit then, and what is left of it is tiny",
	.hint = "call scaler.unscale_(optimizer) before clip_grad_norm_()",
	.definition =
		"If clip_grad_norm_ found a norm of more than twice its limit, the gradients have "
		"a norm of at least an eighth of the limit at the next step. Two steps in a row "
		"with less are a violation. A case is such a step of the only optimizer.",
	.innocent = "Gradients divided by a number of micro-batches above eight after clipping.",
	.needs = "no norm above its limit was clipped before a step with measured gradients",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEP,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_used,
	.release = release_slots,
};

/* ---- WT-CLIP-003: nothing at all ------------------------------------------------------------ */

static void judge_nothing(struct wti_case *account, struct clipped *clipped,
			  const struct wti_moment *moment)
{
	uint64_t nonzero = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);

	if (!clipped->is_pending || !nonzero ||
	    wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_STEP)
		return;
	clipped->is_pending = false;
	if (clipped->total != 0) {
		clipped->streak = 0;
		wti_held(account);
	} else if (++clipped->streak >= TIMES_TO_TELL) {
		wti_violated(account, moment, moment->object ? moment->object->name : 0,
			     "clip_grad_norm_ found a norm of 0, and %llu parameters had gradients "
			     "other than zero at the step",
			     (unsigned long long)nonzero);
	}
}

static void see_nothing(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct clipped *clipped = wti_slot(state, moment->process->stream, sizeof(*clipped));

	if (!clipped)
		return;
	if (moment->type == WTI_MOMENT_GRADIENTS)
		judge_nothing(account, clipped, moment);
	else if (is_clip(moment))
		note_clip(clipped, moment);
}

const struct wti_rule wti_rule_clip_003 = {
	.code = "WT-CLIP-003",
	.severity = WT_ERROR,
	.title = "clipping is given no gradients",
	.means = "the list of parameters is empty, such as a generator that has been used up, or "
		 "holds other parameters than the optimizer",
	.hint = "pass model.parameters() anew each time, or a list",
	.definition = "If clip_grad_norm_ finds a norm of 0, no parameter has a gradient other "
		      "than zero at the next step. Two steps in a row are a violation. A case is "
		      "a step with gradients after clipping.",
	.innocent = "Clipping only a part of the model that happens to have no gradients.",
	.needs = "no norm was clipped before a step",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_GRADIENTS,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_nothing,
	.release = release_slots,
};
