/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about clipping: that it comes between backward() and the step, and reaches what is used. */
#include <math.h>

#include "inspect/judge/rule.h"

#define CLIPS (WTI_CALLEE_SET(WTI_CALLEE_CLIP_NORM) | WTI_CALLEE_SET(WTI_CALLEE_CLIP_VALUE))

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

static enum wti_answer see_time(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	uint32_t optimizers, waiting;

	if (moment->call->exception || !moment->process->backward_count)
		return WTI_RULE_NO_CASE;
	waiting = count_waiting(moment->training, moment->process->stream, &optimizers);
	if (!optimizers)
		return WTI_RULE_NO_CASE;
	if (waiting)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
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
	.explains = (const char *const[]){"WT-CLIP-003", NULL},
	.moments = WTI_MOMENT_CALL,
	.callees = CLIPS,
	.see = see_time,
};

/* ---- What was clipped, and what was then used ----------------------------------------------- */

struct clipped {
	bool is_pending;
	double total, limit;
	struct wti_call call; /* that clipped, without its values */
};

static bool read_clip(const struct wti_moment *moment, double *ret_total, double *ret_limit)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *total = wti_call_tensor(call, true, 0);
	double norm = 2;

	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "norm_type"), 2, &norm);
	if (call->what != WTI_CALLEE_CLIP_NORM || norm != 2 || !total || total->digest.count != 1 ||
	    total->digest.flags & WT_TENSOR_NO_STATISTICS)
		return false;
	*ret_total = total->digest.mean;
	return wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "max_norm"), 1,
				  ret_limit);
}

static void note_clip(struct clipped *clipped, const struct wti_moment *moment)
{
	clipped->is_pending = read_clip(moment, &clipped->total, &clipped->limit);
	clipped->call = wti_moment_call(moment);
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

enum { USED_IN_A_ROW, USED_ABOVE, USED_SMALLER };

static enum wti_answer judge_used(struct wti_case *account, const struct clipped *clipped,
				  const struct wti_moment *moment)
{
	double above = wti_threshold_real(account, USED_ABOVE), norm;
	struct wti_moment there = *moment;

	if (!clipped->is_pending || clipped->total <= clipped->limit * above ||
	    !is_only_optimizer(moment) || !norm_of_gradients(moment, &norm))
		return WTI_RULE_NO_CASE;
	if (norm * wti_threshold_real(account, USED_SMALLER) >= clipped->limit)
		return WTI_RULE_HELD;
	there.call = &clipped->call;
	return wti_violated(account, &there, moment->object->name,
			    "a norm of %.4g was clipped to %.4g, and the step was made with one of "
			    "%.3g",
			    clipped->total, clipped->limit, norm);
}

static enum wti_answer see_used(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct clipped *clipped = kept;
	enum wti_answer answer;

	if (moment->type == WTI_MOMENT_CALL) {
		note_clip(clipped, moment);
		return WTI_RULE_NO_CASE;
	}
	answer = judge_used(account, clipped, moment);
	clipped->is_pending = false;
	return answer;
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
	.callees = CLIPS,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct clipped)}},
	.see = see_used,
	.thresholds = {{WTI_IN_A_ROW, 2, "a single step may have been left out by a loss scaler"},
		       {"above", 2, "times the limit: nearer to it, clipping changes little"},
		       {"smaller", 8,
			"times smaller than the limit: dividing by the number of micro-batches "
			"rarely does that much"}},
};

/* ---- WT-CLIP-003: nothing at all ------------------------------------------------------------ */

static enum wti_answer judge_nothing(struct wti_case *account, struct clipped *clipped,
				     const struct wti_moment *moment)
{
	uint64_t nonzero = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
	struct wti_moment there = *moment;

	if (!clipped->is_pending || !nonzero ||
	    wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_STEP)
		return WTI_RULE_NO_CASE;
	clipped->is_pending = false;
	if (clipped->total != 0)
		return WTI_RULE_HELD;
	there.call = &clipped->call;
	return wti_violated(account, &there, moment->object ? moment->object->name : 0,
			    "clip_grad_norm_ found a norm of 0, and %llu parameters had gradients "
			    "other than zero at the step",
			    (unsigned long long)nonzero);
}

static enum wti_answer see_nothing(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_GRADIENTS)
		return judge_nothing(account, kept, moment);
	note_clip(kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_clip_003 = {
	.code = "WT-CLIP-003",
	.severity = WT_ERROR,
	.title = "clipping is given no gradients",
	.means = "the list of parameters is empty, such as a generator that has been used up, or "
		 "holds other parameters than the optimizer",
	.hint = "pass model.parameters() again each time, or a list",
	.definition = "If clip_grad_norm_ finds a norm of 0, no parameter has a gradient other "
		      "than zero at the next step. Two steps in a row are a violation. A case is "
		      "a step with gradients after clipping.",
	.innocent = "Clipping only a part of the model that happens to have no gradients.",
	.needs = "no norm was clipped before a step",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_GRADIENTS,
	.callees = CLIPS,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct clipped)}},
	.see = see_nothing,
	.thresholds = {{WTI_IN_A_ROW, 2, "a part of the model may have no gradients for a step"}},
};
