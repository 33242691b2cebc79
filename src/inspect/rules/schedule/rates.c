/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how learning rates go over a run: down at the end, not up again, and for a reason. */
#include <math.h>
#include <string.h>

#include "plan.h"
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* Of an optimizer, its first group. */
struct course {
	double last, highest, lowest; /* the lowest since the highest */
	uint64_t steps;
	uint32_t rises, falls; /* changes in a row */
	uint32_t changes;
	uint64_t unchanged; /* steps since it changed, and the most of these between two changes */
	uint64_t unchanged_max;
	bool has_fallen; /* ever */
	bool has_risen;  /* ever, since it fell */
};

static struct course *follow(struct wti_slots *slots, const struct wti_moment *moment)
{
	struct course *course = wti_slot_of_object(slots, moment->object, sizeof(*course));
	double rate = moment->object->lr[0];

	if (!course || !(moment->object->lr_known & 1))
		return NULL;
	if (!course->steps++) {
		course->last = course->highest = course->lowest = rate;
		return course;
	}
	if (rate > course->last) {
		course->rises++;
		course->falls = 0;
		course->has_risen |= course->has_fallen;
	} else if (rate < course->last) {
		course->falls++;
		course->rises = 0;
		course->has_fallen = true;
	}
	course->unchanged++;
	if (rate != course->last) {
		if (course->changes++ && course->unchanged > course->unchanged_max)
			course->unchanged_max = course->unchanged;
		course->unchanged = 0;
	}
	course->last = rate;
	if (rate > course->highest)
		course->highest = course->lowest = rate;
	if (rate < course->lowest)
		course->lowest = rate;
	return course;
}

/* ---- WT-SCHED-006: a cosine that goes up again ---------------------------------------------- */

enum { RISES_TO_TELL = 2 };
static const double fallen_to = 0.25; /* of the highest */

struct swings {
	struct wti_slots courses; /* of optimizers */
	struct wti_slots plans;   /* of schedulers */
};

static void release_swings(void *state)
{
	struct swings *swings = state;

	wti_slots_release(&swings->courses);
	wti_slots_release(&swings->plans);
}

/* Its own count of steps says so; a lowest rate that is not far below the highest (eta_min) is
 * then no objection. */
static bool is_past_its_end(struct swings *swings, const struct wti_object *cosine)
{
	const struct wti_schedule_plan *plan = wti_plan_of(&swings->plans, cosine);

	return plan && plan->total > 0 && plan->done >= plan->total + RISES_TO_TELL;
}

static void see_again(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct swings *swings = state;
	const struct wti_object *cosine;
	struct course *course;

	if (moment->type == WTI_MOMENT_STATE) {
		wti_plan_note(&swings->plans, moment);
		return;
	}
	course = follow(&swings->courses, moment);
	cosine = wti_scheduler_of(moment->training, moment->object, "CosineAnnealingLR");
	if (!course || course->changes < RISES_TO_TELL || !cosine)
		return;
	if (course->rises >= RISES_TO_TELL && course->has_risen &&
	    (course->lowest <= fallen_to * course->highest || is_past_its_end(swings, cosine)))
		wti_violated(account, moment, moment->object->name,
			     "it had come down from %.3g to %.3g and is at %.3g again",
			     course->highest, course->lowest, course->last);
	else if (course->falls)
		wti_held(account);
}

const struct wti_rule wti_rule_sched_006 = {
	.code = "WT-SCHED-006",
	.severity = WT_WARNING,
	.title = "a cosine schedule is stepped past its end, and the learning rate rises again",
	.means = "T_max counts something else than the calls of step(), such as epochs while it is "
		 "stepped in every batch: the rate swings up and down instead of coming down once",
	.hint = "step it once an epoch, or let T_max be the number of steps",
	.definition =
		"The learning rate of an optimizer with a CosineAnnealingLR, once it has come down "
		"to a quarter of its highest value, or its scheduler is past T_max, does not rise "
		"twice in a row. A case is a step of such an optimizer after its rate has fallen.",
	.innocent = "A swinging rate that is wanted, written with this class.",
	.needs = "no optimizer with a CosineAnnealingLR stepped with a rate that falls",
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct swings),
	.watch = see_again,
	.release = release_swings,
};

/* ---- WT-SCHED-007: ends in the warm-up ------------------------------------------------------ */

/* A schedule that is stepped with the optimizer changes the rate in nearly every step of a warm-up:
 * a run that ends there is a short one. */
enum { CHANGES_MIN = 3, STEPS_MIN = 20, STEPS_OF_CHANGE = 2 };

static void see_course(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	(void)account;
	follow(state, moment);
}

/* A later one of the same class has gone on: after a resume, or in the next part of a run. */
static bool is_followed(const struct wti_training *training, size_t place)
{
	const struct wti_object *optimizer = wti_object_at(training, place);

	for (size_t i = place + 1; i < training->objects.count; i++)
		if (wti_object_at(training, i)->type == WT_OBJECT_TYPE_OPTIMIZER &&
		    wti_object_at(training, i)->stream == optimizer->stream &&
		    wti_object_at(training, i)->class_name == optimizer->class_name &&
		    wti_object_at(training, i)->step_count)
			return true;
	return false;
}

static void finish_course(struct wti_case *account, void *state,
			  const struct wti_training *training)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *optimizer = wti_object_at(training, i);
		struct wti_moment end = wti_moment_of_end(training, optimizer->stream);
		const struct course *course;

		if (optimizer->type != WT_OBJECT_TYPE_OPTIMIZER || !optimizer->step_count ||
		    is_followed(training, i))
			continue;
		course = wti_slot_of_object(state, optimizer, sizeof(*course));
		if (!course || course->changes < CHANGES_MIN || course->steps < STEPS_MIN ||
		    !wti_scheduler_of(training, optimizer, NULL))
			continue;
		if (course->has_fallen || course->last < course->highest || !course->rises ||
		    course->unchanged > course->unchanged_max)
			wti_held(account);
		else if (course->changes * STEPS_OF_CHANGE <= course->steps)
			wti_violated(account, &end, optimizer->name,
				     "in %llu steps its learning rate only rose, %u times, and it "
				     "was at its highest, %.3g, when training ended",
				     (unsigned long long)course->steps, course->changes,
				     course->last);
		else
			wti_not_measured(account, "the learning rate rose in nearly every step "
						  "until the end, as in a run that is shorter than "
						  "its warm-up");
	}
}

const struct wti_rule wti_rule_sched_007 = {
	.code = "WT-SCHED-007",
	.severity = WT_WARNING,
	.title = "training ends while the learning rate is still rising",
	.means = "the schedule never leaves its warm-up: it is stepped less often than it was "
		 "written for, such as a OneCycleLR once an epoch instead of once a batch",
	.hint = "call scheduler.step() after every optimizer.step() if the schedule counts steps",
	.definition =
		"The learning rate of an optimizer with a scheduler, of twenty steps or more, that "
		"has changed three times or more, has fallen once, has stayed as it is for longer "
		"than ever between two changes, or has changed in more than every second step "
		"(a run that is shorter than its warm-up), unless a later optimizer of the same "
		"class steps in the same process. A case is such an optimizer, but for the last "
		"kind.",
	.innocent = "A search for the largest rate that works; a run that was cut short.",
	.needs = "no optimizer with a scheduler had a learning rate that changed three times in "
		 "twenty steps or more",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_course,
	.conclude = finish_course,
	.release = release_slots,
};

/* ---- WT-SCHED-008: lowered while all goes well ---------------------------------------------- */

enum { CUTS_TO_TELL = 2 };

/* Of a ReduceLROnPlateau. */
struct plateau {
	uint64_t count; /* of metrics that it was given */
	double metric, lowest;
	bool is_lowest; /* the last one, clearly */
	bool is_new;    /* and no step was made since */
	double first_loss;
	double rate; /* of its optimizer, before */
	uint32_t cuts;
};

static const double clearly = 0.99;

static void take_metric(struct plateau *plateau, const struct wti_moment *moment)
{
	double metric;

	if (!wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "metrics"),
				1, &metric))
		return;
	plateau->is_lowest = plateau->count && metric > 0 && metric < clearly * plateau->lowest;
	if (!plateau->count++) {
		plateau->lowest = metric;
		plateau->first_loss = moment->process->loss;
	}
	plateau->lowest = metric < plateau->lowest ? metric : plateau->lowest;
	plateau->metric = metric;
	plateau->is_new = true;
}

static void judge_cut(struct wti_case *account, struct plateau *plateau,
		      const struct wti_moment *moment, const struct wti_object *scheduler)
{
	double rate = moment->object->lr[0];
	bool is_cut = plateau->rate > 0 && rate < plateau->rate;

	plateau->rate = rate;
	if (!plateau->is_new)
		return;
	plateau->is_new = false;
	if (!is_cut)
		return;
	if (!plateau->is_lowest || moment->process->loss >= plateau->first_loss)
		wti_held(account);
	else if (++plateau->cuts >= CUTS_TO_TELL)
		wti_violated(account, moment, scheduler->name,
			     "it lowered the rate to %.3g when its metric had just reached its "
			     "lowest, %.4g, for the second time; the loss has fallen too",
			     rate, plateau->metric);
}

static void see_plateau(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *scheduler = moment->object;
	struct plateau *plateau;

	if (moment->type == WTI_MOMENT_STEPPED) {
		scheduler = wti_scheduler_of(moment->training, moment->object, "ReduceLROnPlateau");
		plateau = scheduler && moment->object->lr_known & 1
				  ? wti_slot_of_object(state, scheduler, sizeof(*plateau))
				  : NULL;
		if (plateau)
			judge_cut(account, plateau, moment, scheduler);
		return;
	}
	if (!scheduler ||
	    strcmp(wti_moment_text(moment, scheduler->class_name), "ReduceLROnPlateau"))
		return;
	plateau = wti_slot_of_object(state, scheduler, sizeof(*plateau));
	if (plateau)
		take_metric(plateau, moment);
}

const struct wti_rule wti_rule_sched_008 = {
	.code = "WT-SCHED-008",
	.severity = WT_WARNING,
	.title = "the learning rate is lowered because a metric gets better",
	.means =
		"ReduceLROnPlateau waits for a metric to rise that is to fall: mode is \"max\" for "
		"a loss, and the rate goes down the better training goes",
	.hint = "mode=\"min\" for a loss, mode=\"max\" for an accuracy",
	.definition =
		"A ReduceLROnPlateau does not lower the rate, twice, when the metric that it was "
		"given last is lower than all before by one in a hundred, while the loss in "
		"training is lower than when it was first asked. A case is a rate that it lowers "
		"at another time.",
	.innocent = "A metric that is to rise and falls, while the loss falls too.",
	.needs = "no ReduceLROnPlateau lowered the rate",
	.moments = WTI_MOMENT_SCHEDULER | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_plateau,
	.release = release_slots,
};

/* ---- WT-SCHED-009: planned for steps, stepped by epochs -------------------------------------- */

enum { OPTIMIZER_STEPS_MIN = 20, STEPS_OF_A_TURN = 2, EQUAL_FALLS = 3 };
static const double same_length = 0.05; /* two counts of one length may differ so much */

/* The learning rate of an optimizer as its scheduler goes on. */
struct slope {
	double rate, fall; /* the last, and by how much it fell last */
	double done;       /* steps of the scheduler, at that rate */
	uint32_t equal_falls;
};

struct lengths {
	struct wti_slots slopes; /* of optimizers */
	struct wti_slots plans;  /* of schedulers */
};

static void release_lengths(void *state)
{
	struct lengths *lengths = state;

	wti_slots_release(&lengths->slopes);
	wti_slots_release(&lengths->plans);
}

static void see_lengths(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct lengths *lengths = state;
	const struct wti_object *scheduler;
	const struct wti_schedule_plan *plan;
	struct slope *slope;
	double fall;

	(void)account;
	if (moment->type == WTI_MOMENT_STATE) {
		wti_plan_note(&lengths->plans, moment);
		return;
	}
	scheduler = wti_scheduler_of(moment->training, moment->object, NULL);
	plan = scheduler ? wti_plan_of(&lengths->plans, scheduler) : NULL;
	slope = plan ? wti_slot_of_object(&lengths->slopes, moment->object, sizeof(*slope)) : NULL;
	if (!slope || !(moment->object->lr_known & 1) || plan->done == slope->done)
		return;
	fall = slope->rate - moment->object->lr[0];
	if (fall > 0 && plan->done == slope->done + 1 &&
	    fabs(fall - slope->fall) <= 1e-6 * slope->rate)
		slope->equal_falls++;
	else
		slope->equal_falls = 0;
	*slope = (struct slope){moment->object->lr[0], fall, plan->done, slope->equal_falls};
}

/* The parts of a SequentialLR come one after the other. 0: one does not say how long it is. */
static double total_of_parts(struct lengths *lengths, const struct wti_training *training,
			     const struct wti_object *optimizer)
{
	double total = 0;

	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *part = wti_object_at(training, i);
		const struct wti_schedule_plan *plan;

		if (part->type != WT_OBJECT_TYPE_SCHEDULER || part->of != optimizer->name ||
		    part->stream != optimizer->stream)
			continue;
		plan = wti_plan_of(&lengths->plans, part);
		if (!plan || (plan->is_part && plan->total <= 0))
			return 0;
		total += plan->is_part ? plan->total : 0;
	}
	return total;
}

/* For how many of its steps a scheduler was written; 0: that is not known. */
static double planned(struct lengths *lengths, const struct wti_training *training,
		      const struct wti_object *scheduler, const struct wti_object *optimizer)
{
	const struct wti_schedule_plan *plan = wti_plan_of(&lengths->plans, scheduler);
	const struct slope *slope;

	if (plan && plan->total > 0)
		return plan->total;
	if (!strcmp(wti_symbol_text(training->symbols, scheduler->class_name), "SequentialLR"))
		return total_of_parts(lengths, training, optimizer);
	slope = wti_slot_of_object(&lengths->slopes, optimizer, sizeof(*slope));
	if (!slope || slope->equal_falls < EQUAL_FALLS ||
	    wti_scheduler_of(training, optimizer, NULL) != scheduler)
		return 0;
	return slope->done + slope->rate / slope->fall;
}

static void judge_length(struct wti_case *account, struct lengths *lengths,
			 const struct wti_training *training, const struct wti_object *scheduler)
{
	const struct wti_schedule_plan *plan = wti_plan_of(&lengths->plans, scheduler);
	const struct wti_object *optimizer =
		wti_training_object(training, scheduler->stream, scheduler->of);
	struct wti_moment moment = wti_moment_of_object(training, scheduler);
	uint64_t steps, turns = scheduler->call_count;
	double total;

	if (!plan || plan->is_part || !optimizer || !turns ||
	    optimizer->step_count < plan->steps_before + OPTIMIZER_STEPS_MIN)
		return;
	steps = optimizer->step_count - plan->steps_before;
	total = planned(lengths, training, scheduler, optimizer);
	if (total <= 0)
		return;
	if (turns * STEPS_OF_A_TURN > steps || plan->done >= (1 - same_length) * total)
		wti_held(account);
	else if (fabs(total - (double)steps) <= same_length * (double)steps)
		wti_violated(account, &moment, scheduler->name,
			     "it is planned for %.0f steps of its own, and %s made %llu, but it "
			     "was stepped only %llu times: it had come %.0f %% of its way when "
			     "training ended",
			     total, wti_symbol_text(training->symbols, optimizer->name),
			     (unsigned long long)steps, (unsigned long long)turns,
			     100 * plan->done / total);
	else
		wti_not_measured(account, "the schedules that are stepped less often than their "
					  "optimizers are as long as neither steps nor epochs of "
					  "the run");
}

static void finish_lengths(struct wti_case *account, void *state,
			   const struct wti_training *training)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		if (object->type == WT_OBJECT_TYPE_SCHEDULER && object->of)
			judge_length(account, state, training, object);
	}
}

const struct wti_rule wti_rule_sched_009 = {
	.code = "WT-SCHED-009",
	.severity = WT_WARNING,
	.title = "a schedule is planned in batches and stepped in epochs",
	.means = "the length that the scheduler was given is the number of optimizer steps, but "
		 "its step() is called once for many of them: the learning rate goes only the "
		 "first part of its way",
	.hint = "call scheduler.step() after every optimizer.step(), or give it the number of "
		"epochs",
	.definition =
		"A scheduler that is stepped at most once in two steps of its optimizer, and has "
		"not come to its end, is not planned for as many steps as the optimizer makes "
		"(within 5 %, twenty steps or more). The plan is total_iters, total_steps or "
		"T_max, for a SequentialLR the sum of its parts; where there is none, the step at "
		"which a rate that fell by the same amount four times in a row comes to zero. A "
		"case is a scheduler that has come to its end or is stepped with its optimizer.",
	.innocent = "A schedule in epochs of a run that was cut short, if the number of epochs "
		    "that were planned happens to be the number of steps that were made.",
	.needs = "no scheduler with a known length was stepped",
	.explains = (const char *const[]){"WT-SCHED-005", "WT-SCHED-007", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct lengths),
	.watch = see_lengths,
	.conclude = finish_lengths,
	.release = release_lengths,
};
