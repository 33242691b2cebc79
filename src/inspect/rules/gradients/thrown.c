/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule about gradients that nobody uses. A backward() of another line after the clearing is a
 * second loss. The same line again is a micro-batch, or else a step that was skipped now and then
 * (a loss scaler, a loss that was not finite), or gradients that were taken elsewhere first (of
 * each sample or task, or to go uphill once): so it is asked for more of those, and for
 * gradients that nothing has looked at.
 */
#include "inspect/judge/rule.h"

enum { STEPS, STEPS_SAME_LINE };
enum { OF_PROCESS, OF_OPTIMIZER, OF_SHAPE }; /* keeps */

struct thrown {
	uint32_t cleared_site; /* of the backward() whose gradients were cleared; 0: of none */
	bool is_looked_at;     /* those gradients were */
	bool is_seen;          /* since the last step, and another line went backward after it */
	bool is_seen_again;    /* likewise, and the same line did */
	struct wti_patience streak; /* steps in a row */
	struct wti_patience streak_again;
	bool is_clearing;         /* and that call has not ended yet */
	struct wti_call clearing; /* that threw them away */
};

struct last_backward {
	uint32_t site;
	bool is_of_input; /* the model was given an input that requires a gradient */
	bool is_next_of_input;
	bool is_looked_at; /* a call since was given something of the shape of a parameter */
	bool has_scaler;
	bool has_calls; /* of functions: looking would have been seen */
};

/* A closure clears inside of the step, which has used them. */
static bool is_thrown_away(const struct wti_moment *moment)
{
	return wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) == WT_MOMENT_CLEAR &&
	       wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO) &&
	       !(moment->call && moment->call->tag == WTI_MOMENT_STEP);
}

static void note_backward(struct wti_case *account, struct last_backward *last,
			  const struct wti_moment *moment)
{
	struct thrown *thrown;
	size_t place = 0;

	while ((thrown = wti_kept_next(account, OF_OPTIMIZER, moment->process->stream, &place))) {
		if (!thrown->cleared_site)
			continue;
		if (thrown->cleared_site != moment->call->site)
			thrown->is_seen |= !thrown->is_looked_at;
		else
			thrown->is_seen_again |=
				!thrown->is_looked_at && !last->has_scaler && last->has_calls;
		thrown->cleared_site = 0;
	}
	last->site = moment->call->site;
	last->is_of_input = last->is_next_of_input;
	last->is_looked_at = false;
}

/* Gradients of an input are wanted for themselves: adversarial examples, saliency. */
static void note_input(struct last_backward *last, const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	if (moment->call->flags & WT_CALL_OUTERMOST && moment->call->what == WTI_CALLEE_OTHER)
		last->is_next_of_input = input && input->digest.flags & WT_TENSOR_REQUIRES_GRAD;
}

static void note_shapes(struct wti_case *account, const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);

		wti_kept_of_key(account, OF_SHAPE, parameter->stream, parameter->shape);
	}
}

/* A gradient has the shape of its parameter; what has it by chance lets a fault pass. */
static void note_call(const struct wti_case *account, struct last_backward *last,
		      const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *value = NULL;

	if (call->tag != WTI_MOMENT_CALL)
		return;
	last->has_calls = true;
	while (!last->is_looked_at && (value = wti_call_next_tensor(call, false, value)))
		last->is_looked_at =
			value->digest.count > 1 &&
			wti_kept_find_key(account, OF_SHAPE, call->stream, value->digest.shape);
}

static enum wti_answer judge_thrown(struct wti_case *account, struct thrown *thrown,
				    const struct wti_moment *moment)
{
	const uint32_t streak = thrown->is_seen ? thrown->streak.count + 1 : 0;
	const uint32_t again = thrown->is_seen_again ? thrown->streak_again.count + 1 : 0;
	struct wti_moment there = *moment;
	bool is_enough = streak && wti_waited(account, &thrown->streak, moment, STEPS);

	is_enough |= again && wti_waited(account, &thrown->streak_again, moment, STEPS_SAME_LINE);
	thrown->streak.count = streak;
	thrown->streak_again.count = again;
	thrown->is_seen = thrown->is_seen_again = false;
	thrown->cleared_site = 0;
	if (!streak && !again)
		return WTI_RULE_HELD;
	if (!is_enough)
		return WTI_RULE_NO_CASE;
	if (thrown->clearing.site)
		there.call = &thrown->clearing;
	return wti_violated(account, &there, moment->object->name,
			    "before each of the last %u steps zero_grad() cleared gradients of a "
			    "backward() that no step had used",
			    streak > again ? streak : again);
}

/* Of an optimizer: it has stepped, or its gradients were counted before they are cleared. */
static enum wti_answer see_optimizer(struct wti_case *account, const struct last_backward *last,
				     const struct wti_moment *moment)
{
	struct thrown *thrown = wti_kept(account, OF_OPTIMIZER, moment);

	if (!thrown)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_STEPPED) {
		note_shapes(account, moment);
		return judge_thrown(account, thrown, moment);
	}
	if (moment->type == WTI_MOMENT_ZERO_GRAD) {
		if (thrown->is_clearing)
			thrown->clearing = wti_moment_call(moment);
		thrown->is_clearing = false;
		return WTI_RULE_NO_CASE;
	}
	if (!last->is_of_input && is_thrown_away(moment)) {
		thrown->cleared_site = last->site;
		thrown->is_looked_at = last->is_looked_at;
		thrown->is_clearing = true;
	}
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_thrown(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct last_backward *last = kept;

	switch (moment->type) {
	case WTI_MOMENT_MODULE:
		note_input(last, moment);
		break;
	case WTI_MOMENT_BACKWARD:
		note_backward(account, last, moment);
		break;
	case WTI_MOMENT_CALL:
		note_call(account, last, moment);
		break;
	case WTI_MOMENT_SCALER:
		last->has_scaler = true;
		break;
	default:
		return see_optimizer(account, last, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_grad_007 = {
	.code = "WT-GRAD-007",
	.severity = WT_WARNING,
	.title = "gradients are computed and thrown away",
	.means = "zero_grad() is called between two backward() calls: only the last loss, or the "
		 "last micro-batch, is trained on",
	.hint = "call zero_grad() once, before the first backward() of a step",
	.definition =
		"Before a step of an optimizer, its zero_grad() does not clear gradients that no "
		"step has used and no call was given, if another backward() follows before that "
		"step. Two steps in a row are a violation; four, if both backward() calls are on "
		"the same line and there is no loss scaler. A case is a step.",
	.innocent = "Gradients that are only inspected, if that was not recorded. Gradients of an "
		    "input are not judged.",
	.needs = "no optimizer stepped",
	.explains = (const char *const[]){"WT-GRAD-003", "WT-GRAD-005", NULL},
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_BACKWARD | WTI_MOMENT_GRADIENTS |
		   WTI_MOMENT_STEPPED | WTI_MOMENT_CALL | WTI_MOMENT_SCALER | WTI_MOMENT_ZERO_GRAD,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct last_backward)},
		  [OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct thrown)},
		  [OF_SHAPE] = {WTI_PER_KEY, 0}}, /* that a parameter has */
	.see = see_thrown,
	.thresholds = {{"steps", 2, "in a row: a single one may be a skipped step"},
		       {"steps_same_line", 4, "steps are skipped now and then, a few in a row"}},
};
