/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about optimizers that the program has written itself. */
#include "inspect/judge/rule.h"

/* ---- WT-OPT-013: one buffer for several parameters ------------------------------------------ */

enum { STEPS };
enum { OF_RUN, OF_GRADIENT, OF_WRITTEN }; /* keeps; the last two by content, in the step alone */

struct buffers {
	uint64_t step;      /* how many have begun */
	uint64_t last_step; /* in which it was seen */
	uint32_t streak;
	int64_t since; /* step of the run in which that began */
};

/* Of a content: whose gradient it is, or was added to it. */
struct whose {
	uint32_t parameter; /* its place in the optimizer, plus one */
};

/* Contents are those of this step alone, so that there are few. */
static void begin_step(struct wti_case *account, struct buffers *buffers,
		       const struct wti_moment *moment)
{
	wti_kept_forget(account, OF_GRADIENT);
	wti_kept_forget(account, OF_WRITTEN);
	buffers->step++;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct whose *whose =
			parameter->grad == WTI_GRAD_NONZERO
				? wti_kept_of_key(account, OF_GRADIENT, parameter->stream,
						  parameter->grad_hash)
				: NULL;

		if (whose)
			whose->parameter = i + 1;
	}
}

static enum wti_answer judge_write(struct wti_case *account, struct buffers *buffers,
				   const struct wti_moment *moment, const struct whose *before,
				   const struct whose *added)
{
	if (!before || before->parameter == added->parameter)
		return WTI_RULE_HELD;
	if (buffers->last_step == buffers->step)
		return WTI_RULE_NO_CASE;
	buffers->streak = buffers->last_step + 1 == buffers->step ? buffers->streak + 1 : 1;
	if (buffers->streak == 1)
		buffers->since = moment->scope.step;
	buffers->last_step = buffers->step;
	if (buffers->streak < wti_threshold(account, STEPS))
		return WTI_RULE_NO_CASE;
	wti_since(account, buffers->since);
	return wti_violated(
		account, moment, moment->call->callee,
		"in one step, gradients of two parameters are added to the same tensor");
}

static enum wti_answer see_write(struct wti_case *account, struct buffers *buffers,
				 const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *self = wti_call_tensor(call, false, 0);
	const struct wti_value_row *other = wti_call_tensor(call, false, 1);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	enum wti_answer answer = WTI_RULE_NO_CASE;
	const struct whose *before, *added;
	struct whose *after;

	if (!self || !result || result->digest.count < 2 ||
	    (self->digest.flags | result->digest.flags) & WT_TENSOR_NO_HASH ||
	    self->digest.hash == result->digest.hash)
		return WTI_RULE_NO_CASE;
	before = wti_kept_find_key(account, OF_WRITTEN, call->stream, self->digest.hash);
	added = other ? wti_kept_find_key(account, OF_GRADIENT, call->stream, other->digest.hash)
		      : NULL;
	if (added && (call->what == WTI_CALLEE_BLEND || call->what == WTI_CALLEE_ADD_IN_PLACE))
		answer = judge_write(account, buffers, moment, before, added);
	else
		added = before;
	after = added ? wti_kept_of_key(account, OF_WRITTEN, call->stream, result->digest.hash)
		      : NULL;
	if (after)
		*after = *added;
	return answer;
}

static enum wti_answer see_buffers(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEP)
		begin_step(account, kept, moment);
	else if (moment->call->is_in_place && moment->parent &&
		 moment->parent->tag == WTI_MOMENT_STEP)
		return see_write(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_013 = {
	.code = "WT-OPT-013",
	.severity = WT_WARNING,
	.title = "an optimizer shares one state between several parameters",
	.means = "momentum of one layer moves another: the state is looked up by shape, by the "
		 "name of the class, or is one variable for all",
	.hint = "keep it in self.state[p], which torch makes for each parameter",
	.definition =
		"In a step of an optimizer that the program defines itself, the gradient of a "
		"parameter is not added in place to a tensor to which another parameter's "
		"gradient was added in the same step. Two steps in a row are a violation. A case "
		"is such an addition.",
	.innocent = "An optimizer that adds up the gradients of several parameters on purpose.",
	.needs = "no step was recorded that adds gradients in place",
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_CALL,
	.keeps = {[OF_RUN] = {WTI_PER_RUN, sizeof(struct buffers)},
		  [OF_GRADIENT] = {WTI_PER_KEY, sizeof(struct whose)},
		  [OF_WRITTEN] = {WTI_PER_KEY, sizeof(struct whose)}},
	.see = see_buffers,
	.thresholds =
		{[STEPS] = {"steps", 2,
			    "in a row: two tensors may have the same content by chance once"}},
};
