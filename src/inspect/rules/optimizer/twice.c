/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about gradients that are stepped on twice: by one optimizer, or by two. */
#include "inspect/judge/rule.h"

/* ---- WT-OPT-007: twice with the same gradients ---------------------------------------------- */

enum { AGAIN_OF_PROCESS, AGAIN_OF_OPTIMIZER, AGAIN_OF_PARAMETER }; /* keeps */

/* At least one gradient other than zero, and none that was recorded again since the last step. */
static bool are_old(const struct wti_moment *moment)
{
	bool has_any = false;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);

		if (parameter->grad_is_new || parameter->grad == WTI_GRAD_UNKNOWN)
			return false;
		has_any |= parameter->grad == WTI_GRAD_NONZERO;
	}
	return has_any;
}

/* Of a process: steps of optimizers, begun or ended, in their order. Of an optimizer: when its last
 * step began. */
struct order {
	uint64_t number;
};

/* Of a parameter: the last step that it was in. */
struct in_step {
	uint32_t optimizer; /* name */
	uint64_t ended;     /* struct order */
	uint64_t backward_count;
	uint64_t grad_hash;
};

/*
 * Whether another optimizer has stepped it with this gradient, and was done before this one began:
 * a wrapper steps what it wraps inside of its own step.
 */
static bool is_taken_twice(const struct in_step *last, const struct wti_parameter *parameter,
			   const struct wti_moment *moment, const struct order *begun)
{
	return last->optimizer && last->optimizer != moment->object->name &&
	       last->ended < begun->number &&
	       last->backward_count == moment->process->backward_count &&
	       parameter->grad == WTI_GRAD_NONZERO && parameter->moved &&
	       last->grad_hash == parameter->grad_hash;
}

/* The first parameter of the optimizer that another one has just stepped; takes note of all. */
static const struct wti_parameter *note_members(struct wti_case *account,
						const struct wti_moment *moment,
						struct order *order, uint32_t *ret_other)
{
	const struct order *begun = wti_kept(account, AGAIN_OF_OPTIMIZER, moment);
	const struct wti_parameter *twice = NULL;
	uint64_t ended = ++order->number;

	for (uint32_t i = 0; begun && i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct in_step *last =
			wti_kept_of_parameter(account, AGAIN_OF_PARAMETER, parameter);

		if (!last)
			break;
		if (!twice && is_taken_twice(last, parameter, moment, begun)) {
			twice = parameter;
			*ret_other = last->optimizer;
		}
		*last = (struct in_step){moment->object->name, ended,
					 moment->process->backward_count, parameter->grad_hash};
	}
	return twice;
}

static enum wti_answer judge_again(struct wti_case *account, const struct wti_moment *moment,
				   const struct wti_parameter *twice, uint32_t other)
{
	const struct wti_object *optimizer = moment->object;

	if (twice)
		return wti_violated(account, moment, optimizer->name,
				    "%s is also in %s, which has just stepped it with the same "
				    "gradient",
				    wti_moment_text(moment, twice->name),
				    wti_moment_text(moment, other));
	if (optimizer->step_count < 2)
		return WTI_RULE_NO_CASE;
	if (optimizer->backward_count || !are_old(moment))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, optimizer->name,
			    "there was no backward() since its last step, and the gradients are "
			    "the same");
}

static enum wti_answer see_again(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_parameter *twice;
	struct order *order = kept, *begun;
	uint32_t other = 0;

	if (moment->type == WTI_MOMENT_STEPPED) {
		twice = note_members(account, moment, order, &other);
		return judge_again(account, moment, twice, other);
	}
	begun = wti_kept(account, AGAIN_OF_OPTIMIZER, moment);
	if (begun)
		begun->number = ++order->number;
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_007 = {
	.code = "WT-OPT-007",
	.severity = WT_ERROR,
	.title = "the optimizer steps twice with the same gradients",
	.means = "each batch counts twice, and even more in momentum and second moments: the "
		 "effective learning rate is not the one that was set",
	.hint = "look for a second step(): in a wrapper, a callback, a helper; and for "
		"parameters that were given to two optimizers",
	.definition =
		"Between two steps of an optimizer there is a backward(), or at least one of its "
		"gradients has changed; and no two optimizers step the same parameter, one after "
		"the other, with the same gradient. A case is a step after the first.",
	.innocent = "A closure that runs backward() inside of step() changes the gradients there.",
	.needs = "no optimizer stepped twice",
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.keeps = {[AGAIN_OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct order)},
		  [AGAIN_OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct order)},
		  [AGAIN_OF_PARAMETER] = {WTI_PER_PARAMETER, sizeof(struct in_step)}},
	.see = see_again,
};
