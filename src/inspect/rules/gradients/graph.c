/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the graph of a loss: that it ends with the step, and is gone through once. */
#include "inspect/judge/rule.h"
#include "inspect/training/lineage.h"

/* A tensor with a graph behind it. */
static bool has_graph(const struct wti_value_row *value)
{
	return value->type == WTI_VALUE_TENSOR && value->digest.flags & WT_TENSOR_REQUIRES_GRAD &&
	       !(value->digest.flags & WT_TENSOR_NO_HASH);
}

/* ---- WT-GRAPH-001: the graph of the last step is carried on --------------------------------- */

enum { RETURNS_MAX = 16 };

/* Of a model: what it returned before the last backward(). */
struct carried {
	uint64_t backward_count; /* when it last returned */
	uint64_t returns[RETURNS_MAX];
	uint32_t count;
};

static bool takes_its_own(const struct carried *carried, const struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++) {
		if (call->values[i].position < 0 || !has_graph(&call->values[i]))
			continue;
		for (uint32_t j = 0; j < carried->count; j++)
			if (carried->returns[j] == call->values[i].digest.hash)
				return true;
	}
	return false;
}

static void note_returns(struct carried *carried, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	carried->backward_count = moment->process->backward_count;
	carried->count = 0;
	for (uint32_t i = 0; i < call->value_count && carried->count < RETURNS_MAX; i++)
		if (call->values[i].position < 0 && has_graph(&call->values[i]))
			carried->returns[carried->count++] = call->values[i].digest.hash;
}

static enum wti_answer see_carried(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct carried *carried = kept;

	if (!(moment->call->flags & WT_CALL_OUTERMOST) || !(moment->call->flags & WT_CALL_GRAD))
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_MODULE_END) {
		note_returns(carried, moment);
		return WTI_RULE_NO_CASE;
	}
	if (!carried->count || carried->backward_count == moment->process->backward_count)
		return WTI_RULE_NO_CASE; /* no backward() between the two calls */
	if (!takes_its_own(carried, moment->call))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "it is given what it returned before the last backward(), with the "
			    "graph behind it");
}

const struct wti_rule wti_rule_graph_001 = {
	.code = "WT-GRAPH-001",
	.severity = WT_ERROR,
	.title = "the autograd graph is carried over from step to step",
	.means = "every backward() goes back to the first step: time and memory grow, and "
		 "gradients flow through old values of the parameters",
	.hint = "detach the state between steps: state = state.detach()",
	.definition =
		"A model that is called again after a backward() is not given a tensor that it "
		"returned before it and that still requires a gradient. Two calls in a row are a "
		"violation. A case is a call after a backward().",
	.innocent = "Backpropagation through several windows on purpose, with retain_graph=True.",
	.needs = "no model was called again after a backward()",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct carried)}},
	.see = see_carried,
	.thresholds = {{WTI_IN_A_ROW, 2, "two windows may be joined on purpose"}},
};

/* ---- WT-GRAPH-002: a sum keeps all graphs --------------------------------------------------- */

enum { OF_PROCESS, OF_LINE }; /* keeps */

/* Of a line, whichever function it adds with: what it returned last. */
struct chained {
	uint64_t returned;
	uint64_t progress; /* then */
};

/* Steps of optimizers, or where there are none, calls of backward(). */
static uint64_t progress_of(const struct wti_trained_process *process)
{
	return process->step_count ? process->step_count : process->backward_count;
}

static bool takes(const struct wti_call *call, uint64_t hash)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].position >= 0 && has_graph(&call->values[i]) &&
		    call->values[i].digest.hash == hash)
			return true;
	return false;
}

/*
 * Whether a graph grows. What is written in place may be a parameter, under no_grad(): one number
 * to which another with a graph is added is not.
 */
static bool is_sum(const struct wti_call *call, const struct wti_value_row *result)
{
	uint32_t count = 0;

	if (call->what == WTI_CALLEE_ADD)
		return true;
	for (uint32_t i = 0; i < call->value_count; i++)
		count += call->values[i].position >= 0 && has_graph(&call->values[i]) &&
			 call->values[i].digest.count == 1;
	return count >= 2 && result->digest.count == 1;
}

static enum wti_answer judge_sum(struct wti_case *account, const struct chained *chained,
				 const struct wti_moment *moment, uint64_t result)
{
	/* Tensors are known by their content: where nothing was added, what went in came out. */
	if (!chained->returned || chained->progress >= progress_of(moment->process) ||
	    takes(moment->call, result))
		return WTI_RULE_NO_CASE;
	if (!takes(moment->call, chained->returned))
		return WTI_RULE_HELD;
	return wti_violated(
		account, moment, 0,
		"the sum includes its own value from before the last step, with the graph behind "
		"it");
}

static enum wti_answer see_chained(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	struct chained *chained =
		wti_kept_of_key(account, OF_LINE, moment->call->stream, moment->call->site);
	enum wti_answer answer;

	if (!chained || !result || !has_graph(result) || !is_sum(moment->call, result) ||
	    !moment->process->backward_count)
		return WTI_RULE_NO_CASE;
	answer = judge_sum(account, chained, moment, result->digest.hash);
	chained->returned = result->digest.hash;
	chained->progress = progress_of(moment->process);
	return answer;
}

const struct wti_rule wti_rule_graph_002 = {
	.code = "WT-GRAPH-002",
	.severity = WT_WARNING,
	.title = "a running sum keeps the graphs of all steps alive",
	.means = "memory grows with every step, until there is none left",
	.hint = "add numbers, not tensors: total += loss.item(), or loss.detach()",
	.definition =
		"After a step, a sum does not include what the same line returned before that "
		"step and what still requires a gradient. A case is a sum that requires a "
		"gradient, on a line that also made one before the last step (or before the last "
		"backward(), where nothing steps); for an in-place sum (+=), both operands are "
		"single numbers that require a gradient.",
	.innocent = "A sum over a few steps that is then thrown away.",
	.needs = "no line added up tensors that require a gradient after a backward()",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_ADD) | WTI_CALLEE_SET(WTI_CALLEE_ADD_IN_PLACE),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, 0},
		  [OF_LINE] = {WTI_PER_KEY, sizeof(struct chained)}},
	.see = see_chained,
};

/* ---- WT-GRAPH-003: one loss twice ----------------------------------------------------------- */

enum { CLEARINGS };
enum { LOSSES_MAX = 16, ANCESTORS_MAX = 64 };

struct twice {
	struct wti_lineage lineage;
	uint64_t losses[LOSSES_MAX]; /* that went backward since gradients were cleared */
	uint32_t count;
	bool is_found;   /* since gradients were cleared */
	uint32_t streak; /* clearings in a row */
	int64_t since;   /* the step of the first of them */
};

static void end_window(struct twice *twice)
{
	if (!twice->count)
		return;
	twice->streak = twice->is_found ? twice->streak + 1 : 0;
	twice->is_found = false;
	twice->count = 0;
}

static bool went_backward(const struct twice *twice, uint64_t hash)
{
	for (uint32_t i = 0; i < twice->count; i++)
		if (twice->losses[i] == hash)
			return true;
	return false;
}

/* Whether one of what a loss is made of has gone backward by itself. */
static bool holds_another(const struct twice *twice, uint64_t hash)
{
	uint64_t open[ANCESTORS_MAX] = {hash};
	uint32_t count = 1;

	for (uint32_t i = 0; i < count; i++) {
		const struct wti_scalar *scalar = wti_lineage_find(&twice->lineage, open[i]);

		for (uint32_t j = 0; scalar && j < scalar->parent_count; j++) {
			if (went_backward(twice, scalar->parents[j]))
				return true;
			if (count < ANCESTORS_MAX)
				open[count++] = scalar->parents[j];
		}
	}
	return false;
}

static enum wti_answer judge_loss(struct wti_case *account, struct twice *twice,
				  const struct wti_moment *moment, uint64_t hash)
{
	if (!twice->count)
		return WTI_RULE_NO_CASE;
	if (!holds_another(twice, hash))
		return WTI_RULE_HELD;
	if (!twice->is_found && !twice->streak)
		twice->since = moment->scope.step;
	twice->is_found = true;
	if (twice->streak + 1 < wti_threshold(account, CLEARINGS))
		return WTI_RULE_NO_CASE;
	wti_since(account, twice->since);
	return wti_violated(account, moment, 0,
			    "it holds a loss on which backward() has been called already, and "
			    "gradients were not cleared between");
}

static enum wti_answer see_backward(struct wti_case *account, struct twice *twice,
				    const struct wti_moment *moment)
{
	const struct wti_digest_row *loss = wti_backward_loss(moment->call);
	enum wti_answer answer;

	if (!loss || loss->count != 1 || loss->mean == 0)
		return WTI_RULE_NO_CASE;
	answer = judge_loss(account, twice, moment, loss->hash);
	if (twice->count < LOSSES_MAX)
		twice->losses[twice->count++] = loss->hash;
	return answer;
}

static enum wti_answer see_twice(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct twice *twice = kept;

	switch (moment->type) {
	case WTI_MOMENT_BACKWARD:
		return see_backward(account, twice, moment);
	case WTI_MOMENT_ZERO_GRAD:
	case WTI_MOMENT_STEPPED:
		end_window(twice);
		break;
	default:
		wti_lineage_call(&twice->lineage, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_graph_003 = {
	.code = "WT-GRAPH-003",
	.severity = WT_ERROR,
	.title = "backward() runs twice through the same loss",
	.means = "its gradients count twice: once by themselves, once as part of the total",
	.hint = "call backward() on the total only",
	.definition =
		"Between two clearings of gradients, backward() is not called on a loss that is a "
		"sum or other function of a loss on which it was called before. Losses are "
		"identified by their values. The second time in a row is a violation. A case is a "
		"backward() after another one.",
	.innocent = "Losses that are equal to the bit, twice in a row.",
	.needs = "no step followed several backward() calls with recorded losses",
	.moments =
		WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct twice)}},
	.see = see_twice,
	.thresholds = {{"clearings", 2, "in a row: two losses may be equal by chance once"}},
};
