/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about gradients: that they are cleared, in time, and that they come at all. */
#include <string.h>

#include "inspect/judge/rule.h"

/* ---- WT-GRAD-001: never cleared ------------------------------------------------------------- */

struct clearing {
	bool is_cleared;         /* since the optimizer's last step began */
	bool was_cleared;        /* between the two steps before that: for its closure */
	bool is_cleared_again;   /* since the last backward() */
	bool is_counted;         /* at the first backward since */
	uint32_t nonzero, among; /* then */
};

static void note_gradients(struct clearing *clearing, const struct wt_event *event)
{
	uint32_t nonzero = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_NONZERO);
	uint32_t none = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_NONE);
	uint32_t zero = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_ZERO);

	if (wt_event_u64(event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_BACKWARD)
		return;
	if (!nonzero)
		clearing->is_cleared = true;
	clearing->is_cleared_again = false;
	if (clearing->is_counted)
		return;
	clearing->is_counted = true;
	clearing->nonzero = nonzero;
	clearing->among = nonzero + none + zero;
}

/*
 * Of the first step there is nothing to be cleared from. What backward() does not add to, such as
 * the master copies of half-precision weights, need not be cleared.
 */
static bool is_case(const struct clearing *clearing, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	uint64_t earlier = optimizer->step_count - (moment->type == WTI_MOMENT_STEPPED);

	return earlier && optimizer->backward_count && clearing->is_counted &&
	       wti_optimizer_is_used(moment->training, optimizer);
}

/*
 * A closure that runs backward() inside of the step may add to micro-batches from before it, which
 * were cleared in their turn.
 */
static enum wti_answer judge_clearing(struct wti_case *account, const struct clearing *clearing,
				      const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	if (!is_case(clearing, moment))
		return WTI_RULE_NO_CASE;
	if (clearing->is_cleared || clearing->was_cleared)
		return WTI_RULE_HELD;
	if (optimizer->backward_count == 1)
		wti_not_this(account, "gradient accumulation: backward() and step() are 1:1");
	return wti_violated(
		account, moment, optimizer->name,
		"before backward(), .grad was non-zero in %u of %u parameters; in %llu steps, "
		"zero_grad() was called %llu times",
		clearing->nonzero, clearing->among,
		(unsigned long long)(optimizer->step_count + (moment->type == WTI_MOMENT_STEP)),
		(unsigned long long)optimizer->zero_grad_count);
}

static enum wti_answer see_clearing(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct clearing *clearing = kept;
	enum wti_answer answer;

	switch (moment->type) {
	case WTI_MOMENT_ZERO_GRAD:
		clearing->is_cleared = clearing->is_cleared_again = true;
		return WTI_RULE_NO_CASE;
	case WTI_MOMENT_GRADIENTS:
		note_gradients(clearing, moment->event);
		return WTI_RULE_NO_CASE;
	case WTI_MOMENT_STEP:
		answer = judge_clearing(account, clearing, moment);
		*clearing = (struct clearing){.was_cleared = clearing->is_cleared};
		return answer;
	default: /* if a closure has run backward() inside of the step */
		answer = judge_clearing(account, clearing, moment);
		if (clearing->is_counted) /* what it cleared, it has filled since */
			clearing->is_cleared = clearing->is_cleared_again;
		clearing->was_cleared = clearing->is_counted = false;
		return answer;
	}
}

const struct wti_rule wti_rule_grad_001 = {
	.code = "WT-GRAD-001",
	.severity = WT_ERROR,
	.title = "gradients are not cleared between optimizer steps",
	.means = "each update adds up the gradients of all earlier batches, not just of this one",
	.hint = "call optimizer.zero_grad() once for each step, before backward()",
	.definition =
		"Between two steps of an optimizer its gradients are cleared at least once: "
		"zero_grad() of the optimizer or of a module is called, or at some backward() none "
		"of its parameters has a gradient other than zero. A case is a step after the "
		"first with at least one backward() since the step before, of an optimizer with "
		"parameters of a module that was called with gradients on.",
	.innocent = "An optimizer whose parameters get gradients from the backward() of another "
		    "loss (a GAN's discriminator) is judged at its own steps only. Accumulation "
		    "over several backward() calls only clears less often and is no violation, "
		    "even if the last of them runs inside step(closure).",
	.needs = "no optimizer stepped twice with a backward() between",
	.flags = WTI_RULE_ABSENCE,
	.moments =
		WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_GRADIENTS | WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct clearing)}},
	.see = see_clearing,
};

/* ---- WT-GRAD-002: cleared too late ---------------------------------------------------------- */

/* Of an optimizer: the first clearing after the last backward(). */
struct late {
	struct wti_call call; /* without its values */
};

static enum wti_answer judge_late(struct wti_case *account, const struct late *late,
				  const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	uint64_t nonzero = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
	uint64_t unknown = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_UNKNOWN);
	struct wti_moment there = *moment;

	if (wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_STEP)
		return WTI_RULE_NO_CASE;
	if (!optimizer || !optimizer->backward_count || unknown)
		return WTI_RULE_NO_CASE;
	if (nonzero || !optimizer->zero_grad_count_after_backward)
		return WTI_RULE_HELD;
	there.call = &late->call;
	return wti_violated(account, &there, optimizer->name,
			    "zero_grad() was called after backward() and before step(): at the "
			    "step no parameter had a gradient other than zero");
}

static enum wti_answer see_late(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct late *late = kept;

	if (moment->type == WTI_MOMENT_GRADIENTS)
		return judge_late(account, late, moment);
	if (moment->object->zero_grad_count_after_backward == 1)
		late->call = wti_moment_call(moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_grad_002 = {
	.code = "WT-GRAD-002",
	.severity = WT_ERROR,
	.title = "gradients are cleared between backward() and the optimizer's step",
	.means = "the step sees no gradients: the model is not trained by them",
	.hint = "move zero_grad() before backward(), or after step()",
	.definition = "When an optimizer steps after a backward(), at least one of its parameters "
		      "has a gradient other than zero, unless nothing was cleared since that "
		      "backward(). A case is such a step.",
	.innocent = "A step whose gradients are zero without having been cleared (a dead network, "
		    "an empty batch) is no violation of this rule.",
	.needs = "no optimizer stepped after a backward()",
	.explains = (const char *const[]){"WT-GRAD-005", NULL},
	.moments = WTI_MOMENT_GRADIENTS | WTI_MOMENT_ZERO_GRAD,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct late)}},
	.see = see_late,
};

/* ---- WT-GRAD-003: none comes ---------------------------------------------------------------- */

enum { MISSING_FROM, MISSING_UNTIL };

/* When it was first missing, kept until it is certain. */
struct missing {
	struct wti_scope since;
	bool is_set;
};

static bool is_missing(const struct wti_case *account, const struct wti_training *training,
		       const struct wti_parameter *parameter)
{
	return parameter->requires_grad && !parameter->placement && !parameter->is_empty &&
	       parameter->step_count >= wti_threshold(account, MISSING_FROM) &&
	       !parameter->any_grad_count && wti_parameter_is_used(training, parameter);
}

/* What stands between the module and the loss is nearer to the module than to the step. */
static enum wti_answer report_missing(struct wti_case *account, const struct missing *missing,
				      struct wti_moment moment)
{
	const struct wti_call use = wti_parameter_use(moment.training, moment.parameter);

	if (missing->is_set)
		moment.scope = missing->since;
	moment.call = &use;
	return wti_violated(
		account, &moment, moment.parameter->name,
		"in %llu steps .grad was always None, though the module that has it was "
		"called with gradients on",
		(unsigned long long)moment.parameter->step_count);
}

/* Heads may take turns: it is reported after some steps, or when the run ended before them. */
static enum wti_answer see_missing(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	struct missing *missing = kept;

	if (parameter->any_grad_count && parameter->requires_grad)
		return WTI_RULE_HELD;
	if (!is_missing(account, moment->training, parameter))
		return WTI_RULE_NO_CASE;
	if (!missing->is_set)
		*missing = (struct missing){moment->scope, true};
	if (parameter->step_count < wti_threshold(account, MISSING_UNTIL))
		return WTI_RULE_NO_CASE;
	if (parameter->step_count > wti_threshold(account, MISSING_UNTIL))
		missing->since = moment->scope; /* reported before: it lasts */
	return report_missing(account, missing, *moment);
}

static enum wti_answer finish_missing(struct wti_case *account, void *kept,
				      const struct wti_moment *end)
{
	if (end->parameter->step_count < wti_threshold(account, MISSING_UNTIL) &&
	    is_missing(account, end->training, end->parameter))
		return report_missing(account, kept, *end);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_grad_003 = {
	.code = "WT-GRAD-003",
	.severity = WT_ERROR,
	.title = "trainable parameters never get a gradient",
	.means =
		"what they compute does not reach the loss: it was detached, rebuilt from numbers, "
		"or computed and thrown away",
	.hint = "look for .detach(), .data, .item(), torch.tensor(...) or no_grad() between the "
		"module and the loss; take the parameter out of the optimizer if that is intended",
	.definition =
		"A parameter that requires a gradient, is in an optimizer that has stepped at "
		"least twice, and whose module was called with gradients on, has had a gradient by "
		"its eighth step, or by the end. A case is a parameter with one after a step.",
	.innocent =
		"Parameters of modules that are never called (an unused head) are not judged, nor "
		"those without elements (shards of FSDP that lie on other ranks).",
	.needs = "no parameter of a module was in an optimizer for two steps",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, sizeof(struct missing)}},
	.see = see_missing,
	.finish = finish_missing,
	.thresholds = {{"from", 2, "the first step may be made before the graph is complete"},
		       {"until", 8, "parts of a model may take turns, a few steps each"}},
};

/* ---- WT-GRAD-004: the loss is a leaf -------------------------------------------------------- */

static enum wti_answer see_leaf(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	if (!(moment->call->flags & WT_CALL_LEAF))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, 0,
			    "backward() was called on a tensor with no graph behind it");
}

const struct wti_rule wti_rule_grad_004 = {
	.code = "WT-GRAD-004",
	.severity = WT_ERROR,
	.title = "backward() is called on a loss that is detached from the model",
	.means = "the loss was rebuilt from numbers (torch.tensor(loss), "
		 ".detach().requires_grad_()): no gradient reaches the model",
	.hint = "call backward() on the tensor that the loss function returned",
	.definition = "The tensor on which backward() is called is the result of an operation, not "
		      "a leaf. A case is a call of backward().",
	.innocent = "None is known: backward() on an input alone (x.backward()) makes no sense "
		    "either.",
	.needs = "backward() was never called",
	.explains = (const char *const[]){"WT-GRAD-003", "WT-OPT-001", NULL},
	.moments = WTI_MOMENT_BACKWARD,
	.see = see_leaf,
};

/* ---- WT-GRAD-005: always zero --------------------------------------------------------------- */

enum { ZERO_FROM, ZERO_WAIT };
enum { OF_PARAMETER, OF_OPTIMIZER }; /* keeps */

/* Of an optimizer: in its last step, and before that. */
struct zero {
	uint64_t step; /* that the rest is about */
	bool has_any;  /* gradient other than zero */
	bool has_moved, had_moved;
};

/*
 * What follows a factor of zero has no gradient until a step has moved that factor. One look at all
 * members serves each of them.
 */
static const struct zero *zero_of(struct wti_case *account, const struct wti_moment *moment)
{
	struct zero *zero = wti_kept_of_object(account, OF_OPTIMIZER, moment->object);

	if (!zero || zero->step == moment->object->step_count)
		return zero;
	zero->step = moment->object->step_count;
	zero->has_any = false;
	zero->had_moved = zero->has_moved;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *member =
			wti_object_member(moment->training, moment->object, i);

		zero->has_any |= member->grad == WTI_GRAD_NONZERO;
		zero->has_moved |= member->moved;
	}
	return zero;
}

static bool is_judged(const struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	return parameter->requires_grad && !parameter->placement &&
	       parameter->step_count >= wti_threshold(account, ZERO_FROM) &&
	       parameter->any_grad_count && strchr(wti_moment_text(moment, parameter->shape), 'x');
}

/* While others of the same optimizer have gradients, or for long. */
static enum wti_answer see_zero(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	const struct zero *zero = zero_of(account, moment);
	bool is_late = moment->object->step_count >= wti_threshold(account, ZERO_WAIT);

	if (!zero || !(zero->has_any || is_late) || !is_judged(account, moment))
		return WTI_RULE_NO_CASE;
	if (parameter->with_grad_count)
		return WTI_RULE_HELD;
	if (!(zero->had_moved || is_late) || parameter->grad != WTI_GRAD_ZERO || /* or unknown */
	    parameter->any_grad_count != parameter->step_count ||
	    !wti_parameter_is_used(moment->training, parameter))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, parameter->name,
			    "in each of %llu steps its gradient was all zeros",
			    (unsigned long long)parameter->step_count);
}

const struct wti_rule wti_rule_grad_005 = {
	.code = "WT-GRAD-005",
	.severity = WT_WARNING,
	.title = "gradients of some parameters are always zero",
	.means = "what they compute has no influence: a gate that is closed for every input, dead "
		 "units, a product with zero",
	.hint = "look at the initial values, and at what follows this layer",
	.definition =
		"A matrix that requires a gradient and has one in two or more steps has had one "
		"other than zero by then, if another parameter of its optimizer has and an "
		"earlier step has changed a parameter; after eight steps, in any case. A case is "
		"such a parameter after a step.",
	.innocent = "Layers that begin with zeros (adapters, residual branches) have gradients of "
		    "zero until the first step that changes them, which a warm-up from a learning "
		    "rate of 0 delays. A bias that cancels out is not judged.",
	.needs = "no parameter of a module was in an optimizer for two steps",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {[OF_PARAMETER] = {WTI_PER_PARAMETER, 0},
		  [OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct zero)}},
	.see = see_zero,
	.thresholds = {{"from", 2, "in the first step a factor may still be zero"},
		       {"wait", 8, "a warm-up from a rate of 0 moves nothing in its first steps"}},
};

/* ---- WT-GRAD-006: run without gradients ----------------------------------------------------- */

static enum wti_answer see_shut_off(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	struct wti_moment there = *moment;
	const struct wti_call use = wti_parameter_use(moment->training, parameter);

	if (!parameter->requires_grad || parameter->placement)
		return WTI_RULE_NO_CASE;
	if (parameter->grad != WTI_GRAD_NONE ||
	    !wti_parameter_is_shut_off(moment->training, parameter))
		return WTI_RULE_HELD;
	there.call = &use;
	return wti_violated(account, &there, parameter->name,
			    "it is in the optimizer and requires a gradient, and its "
			    "module is run under no_grad() inside of the model");
}

const struct wti_rule wti_rule_grad_006 = {
	.code = "WT-GRAD-006",
	.severity = WT_WARNING,
	.title = "a part of the model that is to be trained runs under no_grad()",
	.means = "it gets no gradients: it was unfrozen for the optimizer, and the forward pass "
		 "still treats it as frozen",
	.hint = "take the part out of no_grad() when it is unfrozen",
	.definition =
		"A parameter that requires a gradient, in an optimizer that steps, is not without "
		"one for two steps in a row while its module is called with gradients off inside "
		"of a module with gradients on. A case is a parameter in a step.",
	.innocent = "None is known: what is meant to stay fixed need not require gradients.",
	.needs = "no optimizer stepped",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, 0}},
	.see = see_shut_off,
	.thresholds = {{WTI_IN_A_ROW, 2, "one step may be made while the model is being unfrozen"}},
};
