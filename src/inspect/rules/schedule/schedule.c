/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about learning-rate schedules. */
#include <math.h>
#include <string.h>

#include "plan.h"
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

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
	.watch = see_first,
	.release = release_slots,
};

/* ---- WT-SCHED-002: never -------------------------------------------------------------------- */

enum { EPOCHS_TO_TELL = 2, STEPS_WITHOUT_EPOCHS = 50 };

/* Many schedules move once an epoch: a run must have been long enough to need it. */
static bool is_long_enough(const struct wti_training *training, const struct wti_object *optimizer)
{
	int64_t epoch = wti_process_at(training, optimizer->stream)->last_epoch;

	if (epoch >= 0)
		return epoch + 1 >= EPOCHS_TO_TELL;
	return optimizer->step_count >= STEPS_WITHOUT_EPOCHS;
}

/* One inside of another (SequentialLR) may not have had its turn. */
static void see_part(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	bool *is_part;

	(void)account;
	if (!moment->object || moment->object->type != WT_OBJECT_TYPE_SCHEDULER ||
	    strcmp(wti_moment_text(moment, moment->attribute), "part_of"))
		return;
	is_part = wti_slot_of_object(state, moment->object, sizeof(*is_part));
	if (is_part)
		*is_part = true;
}

static void finish_never(struct wti_case *account, void *state, const struct wti_training *training)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *scheduler = wti_object_at(training, i);
		const struct wti_object *optimizer;
		struct wti_moment moment;
		const bool *is_part;

		if (scheduler->type != WT_OBJECT_TYPE_SCHEDULER)
			continue;
		optimizer = optimizer_of(training, scheduler);
		if (!optimizer || !optimizer->step_count)
			continue;
		if (scheduler->call_count) {
			wti_held(account);
			continue;
		}
		is_part = wti_slot_of_object(state, scheduler, sizeof(*is_part));
		if (!is_long_enough(training, optimizer) || (is_part && *is_part))
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
		"epochs, or of fifty steps where epochs are not known, unless it is part of "
		"another scheduler, which may not have come to it. A case is a scheduler that is "
		"stepped.",
	.innocent = "A scheduler that something else than a scheduler drives without its step().",
	.needs = "no scheduler was made, or the run was too short to need it",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_part,
	.conclude = finish_never,
	.release = release_slots,
};

/* ---- WT-SCHED-003: of an optimizer that is not used any more -------------------------------- */

/* Whether another optimizer steps what this one held. */
static const struct wti_object *successor(const struct wti_training *training,
					  const struct wti_object *optimizer)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter = wti_object_member(training, optimizer, i);
		const struct wti_object *now =
			parameter->optimizer ? wti_object_at(training, parameter->optimizer - 1)
					     : NULL;

		if (now && now != optimizer && now->born > optimizer->born && now->step_count)
			return now;
	}
	return NULL;
}

struct idle {
	uint64_t step_count; /* of its optimizer, at the scheduler's last step */
	uint32_t streak;
	struct wti_scope scope; /* in which that began */
};

/* Reported at the second in a row, and placed at the first. */
static void see_idle(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = optimizer_of(moment->training, moment->object);
	struct idle *idle = wti_slot_of_object(state, moment->object, sizeof(*idle));
	struct wti_moment first = *moment;
	const struct wti_object *other;

	if (!optimizer || !idle)
		return;
	other = optimizer->step_count == idle->step_count ? successor(moment->training, optimizer)
							  : NULL;
	idle->step_count = optimizer->step_count;
	if (!other) {
		idle->streak = 0;
		wti_held(account);
		return;
	}
	if (!idle->streak++)
		idle->scope = moment->scope;
	first.scope = idle->streak == 2 ? idle->scope : moment->scope;
	if (idle->streak >= 2)
		wti_violated(account, &first, moment->object->name,
			     "it belongs to %s, which no longer steps; %s steps its parameters now",
			     wti_moment_text(moment, optimizer->name),
			     wti_moment_text(moment, other->name));
}

const struct wti_rule wti_rule_sched_003 = {
	.code = "WT-SCHED-003",
	.severity = WT_ERROR,
	.title = "the scheduler belongs to an optimizer that is not used any more",
	.means = "the optimizer in use keeps its learning rate: nothing schedules it",
	.hint = "make a new scheduler together with the new optimizer",
	.definition =
		"A scheduler that is stepped twice in a row, while its optimizer does not step, is "
		"not that of an optimizer whose parameters a later one steps. A case is a step of "
		"a scheduler.",
	.innocent = "None is known.",
	.needs = "no scheduler was stepped",
	.moments = WTI_MOMENT_SCHEDULER,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_idle,
	.release = release_slots,
};

/* ---- WT-SCHED-004: gone too early ----------------------------------------------------------- */

enum { STEPS_TO_JUDGE = 20 };
static const double vanished = 1e-4; /* of the highest rate */

struct height {
	double highest;
	uint64_t steps, steps_below;
};

static double highest_lr(const struct wti_object *optimizer)
{
	double highest = 0;

	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++)
		if (optimizer->lr_known & 1u << i && optimizer->lr[i] > highest)
			highest = optimizer->lr[i];
	return highest;
}

static void see_height(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct height *height = wti_slot_of_object(state, moment->object, sizeof(*height));
	double lr;

	if (!height || !moment->object->lr_known)
		return;
	lr = highest_lr(moment->object);
	height->highest = fmax(height->highest, lr);
	height->steps++;
	if (height->highest <= 0 || lr > vanished * height->highest) {
		height->steps_below = 0;
		wti_held(account);
		return;
	}
	if (++height->steps_below >= STEPS_TO_JUDGE && height->steps_below * 3 > height->steps)
		wti_violated(account, moment, moment->object->name,
			     "for %llu of %llu steps its learning rate has been below %.3g, a "
			     "ten-thousandth of the highest, %.3g",
			     (unsigned long long)height->steps_below,
			     (unsigned long long)height->steps, vanished * height->highest,
			     height->highest);
}

const struct wti_rule wti_rule_sched_004 = {
	.code = "WT-SCHED-004",
	.severity = WT_WARNING,
	.title = "the learning rate is gone long before the end",
	.means = "the schedule is stepped more often than it was written for, such as every batch "
		 "instead of every epoch: most of the run trains nothing",
	.hint = "call scheduler.step() once an epoch if the schedule counts epochs",
	.definition =
		"An optimizer does not spend twenty steps in a row, and a third of all its steps, "
		"below a ten-thousandth of its highest learning rate. A case is a step above it.",
	.innocent = "A run that is left going after its schedule has ended.",
	.needs = "no optimizer with a learning rate stepped",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_height,
	.release = release_slots,
};

/* ---- WT-SCHED-005: ends in the middle ------------------------------------------------------- */

enum { RATES = 8 };
static const double far_from_end = 0.1; /* of the highest rate */

struct descent {
	double rates[RATES]; /* of the first group in the last steps, the newest last */
	uint64_t count;
	double highest;
	struct wti_scope scope;
};

struct descents {
	struct wti_slots rates; /* of optimizers */
	struct wti_slots plans; /* of schedulers */
};

static void release_descents(void *state)
{
	struct descents *descents = state;

	wti_slots_release(&descents->rates);
	wti_slots_release(&descents->plans);
}

static void see_descent(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct descents *descents = state;
	struct descent *descent;

	if (moment->type == WTI_MOMENT_STATE) {
		wti_plan_note(&descents->plans, moment);
		return;
	}
	descent = wti_slot_of_object(&descents->rates, moment->object, sizeof(*descent));
	if (!descent || !(moment->object->lr_known & 1))
		return;
	for (size_t i = 0; i + 1 < RATES; i++)
		descent->rates[i] = descent->rates[i + 1];
	descent->rates[RATES - 1] = moment->object->lr[0];
	descent->highest = fmax(descent->highest, moment->object->lr[0]);
	descent->count++;
	descent->scope = moment->scope;
}

/*
 * What an optimizer's schedulers have left of their plans, as the one with most. False: one of them
 * has none, and is not only made of others.
 */
static bool plan_of(struct descents *descents, const struct wti_training *training,
		    const struct wti_object *optimizer, struct wti_schedule_plan *ret_plan)
{
	struct wti_schedule_plan most = {0};
	bool has_parts = false;
	size_t free_count = 0;

	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *scheduler = wti_object_at(training, i);
		const struct wti_schedule_plan *plan;

		if (scheduler->type != WT_OBJECT_TYPE_SCHEDULER ||
		    optimizer_of(training, scheduler) != optimizer)
			continue;
		plan = wti_plan_of(&descents->plans, scheduler);
		if (!plan)
			return false;
		has_parts |= plan->is_part;
		free_count += plan->total <= 0;
		if (plan->total > 0 &&
		    (most.total <= 0 || plan->total - plan->done > most.total - most.done))
			most = *plan;
	}
	*ret_plan = most;
	return most.total > 0 && free_count <= (has_parts ? 1 : 0);
}

/* How many more steps until zero, if the last rates lie on a falling line; -1: they do not. */
static double steps_left(const struct descent *descent)
{
	double fall = descent->rates[0] - descent->rates[1];

	if (descent->count < RATES || fall <= 0)
		return -1;
	for (size_t i = 1; i + 1 < RATES; i++) {
		double next = descent->rates[i] - descent->rates[i + 1];

		if (fabs(next - fall) > 1e-6 * descent->highest)
			return -1;
	}
	return descent->rates[RATES - 1] / fall;
}

static void judge_end(struct wti_case *account, struct descents *descents,
		      const struct wti_training *training, const struct wti_object *optimizer)
{
	const struct descent *descent =
		wti_slot_of_object(&descents->rates, optimizer, sizeof(*descent));
	struct wti_moment moment = wti_moment_of_end(training, optimizer->stream);
	double left = descent ? steps_left(descent) : -1;
	bool is_at_end;
	struct wti_schedule_plan plan;

	if (left < 0)
		return;
	is_at_end = descent->rates[RATES - 1] <= far_from_end * descent->highest;
	if (plan_of(descents, training, optimizer, &plan)) {
		left = plan.total - plan.done;
		is_at_end = left <= far_from_end * plan.total;
	}
	if (is_at_end)
		wti_held(account);
	else
		wti_violated(account, &moment, optimizer->name,
			     "its learning rate fell along a line and was at %.3g of %.3g when "
			     "training ended: %.0f steps of the schedule are missing after %llu",
			     descent->rates[RATES - 1], descent->highest, left,
			     (unsigned long long)optimizer->step_count);
}

static void finish_descent(struct wti_case *account, void *state,
			   const struct wti_training *training)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *optimizer = wti_object_at(training, i);

		if (optimizer->type == WT_OBJECT_TYPE_OPTIMIZER && optimizer->step_count)
			judge_end(account, state, training, optimizer);
	}
}

const struct wti_rule wti_rule_sched_005 = {
	.code = "WT-SCHED-005",
	.severity = WT_WARNING,
	.title = "training ends in the middle of the learning-rate schedule",
	.means = "fewer steps were made than the schedule was planned for: the number of steps is "
		 "counted in two ways that do not agree, or the run stopped early",
	.hint = "compute the number of steps once, and give the same to loop and schedule",
	.definition =
		"If the learning rate of an optimizer fell along a straight line in its last eight "
		"steps, its schedulers had less than a tenth of their steps left (total_iters, "
		"total_steps, T_max); where they do not say how many these are, it ended below a "
		"tenth of its highest value. A case is such an optimizer.",
	.innocent = "Early stopping; a run that was cut short; a line that ends above zero, of a "
		    "scheduler that does not say when.",
	.needs = "no learning rate fell along a line until the end",
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct descents),
	.watch = see_descent,
	.conclude = finish_descent,
	.release = release_descents,
};
