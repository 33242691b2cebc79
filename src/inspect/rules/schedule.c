/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about learning-rate schedules. */
#include "rule.h"
#include "slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static const struct wti_object *optimizer_of(const struct wti_training *training,
					     const struct wti_object *scheduler)
{
	return scheduler->of ? wti_training_object(training, scheduler->stream, scheduler->of)
			     : NULL;
}

/* ---- WT-SCHED-001: before the optimizer ----------------------------------------------------- */

static void see_first(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = optimizer_of(moment->training, moment->object);
	bool *is_judged = wti_slot_of_object(state, moment->object, sizeof(*is_judged));

	if (!optimizer || !is_judged || *is_judged)
		return;
	*is_judged = true;
	if (optimizer->step_count)
		wti_held(account);
	else
		wti_violated(account, moment, moment->object->name,
			     "its first step() came before the first of %s",
			     wti_moment_text(moment, optimizer->name));
}

const struct wti_rule wti_rule_sched_001 = {
	.code = "WT-SCHED-001",
	.severity = WT_WARNING,
	.title = "the scheduler steps before the optimizer",
	.means = "the first value of the schedule is skipped, and every later one comes a step "
		 "early",
	.hint = "call scheduler.step() after optimizer.step()",
	.definition = "The first step() of a scheduler comes after the first of its optimizer. A "
		      "case is a scheduler that is stepped.",
	.innocent = "A resumed run whose optimizer has stepped in the run before.",
	.needs = "no scheduler was stepped",
	.moments = WTI_MOMENT_SCHEDULER,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_first,
	.release = release_slots,
};

/* ---- WT-SCHED-002: never -------------------------------------------------------------------- */

enum { EPOCHS_TO_TELL = 2, STEPS_WITHOUT_EPOCHS = 50 };

/* Many schedules move once an epoch: a run must have been long enough to need it. */
static bool is_long_enough(const struct wti_training *training, const struct wti_object *optimizer)
{
	int64_t epoch = training->processes[optimizer->stream].last_epoch;

	if (epoch >= 0)
		return epoch + 1 >= EPOCHS_TO_TELL;
	return optimizer->step_count >= STEPS_WITHOUT_EPOCHS;
}

static void finish_never(struct wti_case *account, void *state, const struct wti_training *training)
{
	for (size_t i = 0; i < training->object_count; i++) {
		const struct wti_object *scheduler = &training->objects[i];
		const struct wti_object *optimizer;
		struct wti_moment moment;

		if (scheduler->type != WT_OBJECT_TYPE_SCHEDULER)
			continue;
		optimizer = optimizer_of(training, scheduler);
		if (!optimizer || !optimizer->step_count)
			continue;
		if (scheduler->call_count) {
			wti_held(account);
			continue;
		}
		if (!is_long_enough(training, optimizer))
			continue;
		moment = wti_moment_of_object(training, scheduler);
		wti_violated(account, &moment, scheduler->name,
			     "it was made for %s, which stepped %llu times, and was never stepped",
			     wti_symbol_text(training->symbols, optimizer->name),
			     (unsigned long long)optimizer->step_count);
	}
}

const struct wti_rule wti_rule_sched_002 = {
	.code = "WT-SCHED-002",
	.severity = WT_ERROR,
	.title = "a learning-rate scheduler is made and never stepped",
	.means =
		"the learning rate stays where it began: at its full height, or at the bottom of a "
		"warm-up",
	.hint = "call scheduler.step() where the schedule expects it, once a step or once an epoch",
	.definition =
		"A scheduler whose optimizer steps is stepped too, in a run of at least two "
		"epochs, or of fifty steps where epochs are not known. A case is a scheduler.",
	.innocent =
		"A scheduler inside another one (SequentialLR, a wrapper) may be driven without "
		"its step().",
	.needs = "no scheduler was made, or the run was too short to need it",
	.flags = WTI_RULE_ABSENCE,
	.finish = finish_never,
};
