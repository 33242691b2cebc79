/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about gradients of several losses that meet in one parameter. */
#include "inspect/judge/rule.h"

/* ---- WT-GRAD-008: left over from the loss of another optimizer ------------------------------ */

enum { STEPS };
enum { OF_PROCESS, OF_OPTIMIZER, OF_MODULE }; /* keeps */

/*
 * Of an optimizer, in this order: a backward() leaves it gradients, another optimizer steps with
 * its own of these, modules of that one are called again, a backward() of another line follows, it
 * steps. So both losses go through both networks, and each optimizer has one that is its own.
 */
struct turn {
	bool has_left_over;         /* just before the coming backward() */
	bool is_mixed;              /* and all the above */
	uint32_t other;             /* the optimizer that had stepped between */
	struct wti_patience streak; /* of steps */
	uint32_t name;
};

struct last_backward {
	uint32_t site;    /* 0: there was none */
	uint32_t stepped; /* the optimizer that has stepped since */
	struct wti_call call;
	struct wti_call before; /* the one before that */
};

static void note_module(struct wti_case *account, const struct wti_moment *moment)
{
	uint64_t *when = wti_kept(account, OF_MODULE, moment);

	if (when && moment->call->flags & WT_CALL_GRAD)
		*when = moment->process->backward_count + 1;
}

/* Whether a module of an optimizer's was called since the last backward(). */
static bool is_called(const struct wti_case *account, const struct wti_moment *moment,
		      uint32_t optimizer, uint64_t backward_count)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, optimizer);

	for (uint32_t i = 0; object && i < object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, object, i);
		const uint64_t *when =
			wti_kept_find_key(account, OF_MODULE, parameter->stream, parameter->module);

		if (when && *when >= backward_count)
			return true;
	}
	return false;
}

static void see_backward(struct wti_case *account, struct last_backward *last,
			 const struct wti_moment *moment)
{
	size_t stream = moment->process->stream, place = 0;
	bool is_other_line = last->site && last->site != moment->call->site;
	bool is_alternating =
		is_other_line && last->stepped &&
		is_called(account, moment, last->stepped, moment->process->backward_count);
	struct turn *turn;

	while ((turn = wti_kept_next(account, OF_OPTIMIZER, stream, &place))) {
		turn->is_mixed =
			turn->has_left_over && is_alternating && last->stepped != turn->name;
		turn->other = last->stepped;
		turn->has_left_over = false;
	}
	last->before = last->call;
	last->call = wti_moment_call(moment);
	last->site = moment->call->site;
	last->stepped = 0;
}

static enum wti_answer judge_step(struct wti_case *account, struct turn *turn,
				  const struct last_backward *last, const struct wti_moment *moment)
{
	struct wti_moment there = *moment;

	if (!turn->is_mixed) {
		turn->streak.count = 0;
		return WTI_RULE_HELD;
	}
	turn->is_mixed = false;
	if (!wti_waited(account, &turn->streak, moment, STEPS))
		return WTI_RULE_NO_CASE;
	there.call = &last->before;
	return wti_violated(account, &there, turn->name,
			    "it steps with gradients of this backward() too, after which %s had "
			    "stepped; nothing cleared them",
			    wti_moment_text(moment, turn->other));
}

static enum wti_answer see_optimizer(struct wti_case *account, struct last_backward *last,
				     const struct wti_moment *moment)
{
	struct turn *turn = wti_kept(account, OF_OPTIMIZER, moment);
	enum wti_answer answer;

	if (!turn)
		return WTI_RULE_NO_CASE;
	turn->name = moment->object->name;
	if (moment->type == WTI_MOMENT_STEPPED) {
		answer = judge_step(account, turn, last, moment);
		last->stepped = turn->name;
		return answer;
	}
	if (wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) == WT_MOMENT_BACKWARD)
		turn->has_left_over = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_turns(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_MODULE)
		note_module(account, moment);
	else if (moment->type == WTI_MOMENT_BACKWARD)
		see_backward(account, kept, moment);
	else
		return see_optimizer(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_grad_008 = {
	.code = "WT-GRAD-008",
	.severity = WT_WARNING,
	.title = "an optimizer steps with leftover gradients of another optimizer's loss",
	.means = "the other loss reaches its parameters too, and nothing clears those gradients: "
		 "the generator of a GAN is also trained to be recognised as fake",
	.hint = "detach what the other network made, D(fake.detach()), or call zero_grad() just "
		"before its own backward()",
	.definition =
		"No optimizer steps with gradients left over from an earlier backward() on "
		"another line, after which only another optimizer stepped, if modules of that "
		"other optimizer were called again for the last backward(). Two steps in a row "
		"are a violation. A case is a step without such gradients.",
	.innocent = "Two networks that are trained on both losses on purpose, by optimizers that "
		    "step separately.",
	.needs = "no optimizer stepped",
	.moments =
		WTI_MOMENT_MODULE | WTI_MOMENT_BACKWARD | WTI_MOMENT_GRADIENTS | WTI_MOMENT_STEPPED,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct last_backward)},
		  [OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct turn)},
		  [OF_MODULE] = {WTI_PER_MODULE,
				 sizeof(uint64_t)}}, /* backward() calls before it */
	.see = see_turns,
	.thresholds = {{"steps", 2, "in a row: the first may belong to a warm-up of one network"}},
};
