/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule about an optimizer that never steps, while gradients are computed for it. Knows what
 * else a program may want of gradients: an accumulation that has not come to its end, a look at
 * them in evaluation mode, parameters that are moved by hand.
 */
#include "inspect/judge/rule.h"

/* ---- WT-OPT-015: never steps ---------------------------------------------------------------- */

enum { OF_PROCESS, OF_OPTIMIZER }; /* keeps */
enum { PASSES, ACCUMULATED };

/* Of a process. */
struct backward {
	bool is_training;     /* the model that was called last */
	struct wti_call last; /* without its values */
};

/* Of an optimizer. */
struct unused {
	const struct wti_object *optimizer;
	uint64_t passes; /* backward passes in training whose gradients were there afterwards */
	bool is_cleared; /* without a step: that is no accumulation */
};

/* Gradients are counted before the next backward(), and when they are cleared. */
static void note_gradients(struct wti_case *account, const struct backward *backward,
			   const struct wti_moment *moment)
{
	uint64_t when = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT);
	struct unused *unused =
		moment->object ? wti_kept_of_object(account, OF_OPTIMIZER, moment->object) : NULL;

	if (!unused || !backward->is_training || when == WT_MOMENT_STEP ||
	    !wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO))
		return;
	unused->optimizer = moment->object;
	unused->passes++;
	unused->is_cleared |= when == WT_MOMENT_CLEAR;
}

static enum wti_answer see_unused(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct backward *backward = kept;

	if (moment->type == WTI_MOMENT_STEPPED)
		return WTI_RULE_HELD;
	if (moment->type == WTI_MOMENT_GRADIENTS)
		note_gradients(account, backward, moment);
	else if (moment->type == WTI_MOMENT_BACKWARD)
		backward->last = wti_moment_call(moment);
	else if (moment->call->flags & WT_CALL_OUTERMOST)
		backward->is_training = wti_is_training_call(moment->call);
	return WTI_RULE_NO_CASE;
}

/* By another optimizer, or by hand. */
static bool is_trained(const struct wti_training *training, const struct wti_object *optimizer)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter = wti_object_member(training, optimizer, i);

		if (parameter->step_count ||
		    (parameter->has_hash && parameter->hash != parameter->first_hash))
			return true;
	}
	return false;
}

/* A run may end within its first accumulation, but not after an epoch of it. */
static bool is_enough(const struct wti_case *account, const struct unused *unused,
		      const struct wti_moment *end)
{
	bool is_over = unused->is_cleared || end->process->last_epoch > 0;

	return unused->passes >= wti_threshold(account, is_over ? PASSES : ACCUMULATED);
}

static void judge_unused(struct wti_case *account, const struct backward *backward,
			 const struct unused *unused, const struct wti_moment *end)
{
	const struct wti_object *optimizer = unused->optimizer;
	struct wti_moment at = *end;

	if (!optimizer || is_trained(end->training, optimizer) || !is_enough(account, unused, end))
		return;
	at.call = &backward->last;
	at.scope = backward->last.scope;
	at.scope.step = -1; /* there was none */
	at.object = optimizer;
	wti_violated(account, &at, optimizer->name,
		     "%llu backward passes in training computed gradients of its parameters, and "
		     "its step() was never called",
		     (unsigned long long)unused->passes);
}

/* Where another optimizer steps, the turn of this one may not have come. */
static enum wti_answer finish_unused(struct wti_case *account, void *kept,
				     const struct wti_moment *end)
{
	const struct unused *unused;
	size_t place = 0;

	if (end->process->step_count)
		return WTI_RULE_NO_CASE;
	while ((unused = wti_kept_next(account, OF_OPTIMIZER, end->process->stream, &place)))
		judge_unused(account, kept, unused, end);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_015 = {
	.code = "WT-OPT-015",
	.severity = WT_ERROR,
	.title = "gradients are computed, and the optimizer never steps",
	.means = "nothing is learned: the model stays as it was initialised or loaded",
	.hint = "call optimizer.step() after backward(); look at the condition that it is called "
		"under, such as that of an accumulation, which may never be true",
	.definition =
		"In a process whose backward passes compute gradients for an optimizer's "
		"parameters, with the model in training mode, an optimizer steps, or these "
		"parameters change in another way. Fewer than `passes` are not judged, nor fewer "
		"than `accumulated` that may be one accumulation: those in the first epoch, if no "
		"gradient was cleared. A case is a step of an optimizer.",
	.innocent = "A program that collects gradients of a model in training mode, and makes an "
		    "optimizer that it does not use.",
	.needs = "no optimizer stepped, and there were too few backward passes for one to be "
		 "missed",
	.explains = (const char *const[]){"WT-LEARN-001", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments =
		WTI_MOMENT_MODULE | WTI_MOMENT_BACKWARD | WTI_MOMENT_GRADIENTS | WTI_MOMENT_STEPPED,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct backward)},
		  [OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct unused)}},
	.see = see_unused,
	.finish = finish_unused,
	.thresholds = {[PASSES] = {"passes", 16, "fewer may be a trial of a model"},
		       [ACCUMULATED] = {"accumulated", 256,
					"few programs accumulate as many before they step"}},
};
