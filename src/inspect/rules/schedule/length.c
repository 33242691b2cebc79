/* SPDX-License-Identifier: Apache-2.0 */
/* A rule about how long a schedule is: in steps of the optimizer, or in rounds. */
#include <math.h>
#include <string.h>

#include "groups.h"
#include "plan.h"

/* ---- WT-SCHED-009: planned for steps, stepped by epochs -------------------------------------- */

enum { LENGTH_OF_SCHEDULER, LENGTH_OF_GROUP }; /* keeps */
enum { LENGTH_STEPS, LENGTH_STEPS_OF_TURN, LENGTH_FALLS, LENGTH_SAME, LENGTH_EVEN };

/* The learning rate of a group as the optimizer's scheduler goes on. */
struct slope {
	double rate, fall; /* the last, and by how much it fell last */
	double done;       /* steps of the scheduler, at that rate */
	uint32_t equal_falls;
};

static void follow_slope(const struct wti_case *account, struct slope *slope, double rate,
			 double done)
{
	double fall = slope->rate - rate;

	if (done == slope->done)
		return;
	if (fall > 0 && done == slope->done + 1 &&
	    fabs(fall - slope->fall) <= wti_threshold_real(account, LENGTH_EVEN) * slope->rate)
		slope->equal_falls++;
	else
		slope->equal_falls = 0;
	*slope = (struct slope){rate, fall, done, slope->equal_falls};
}

static void follow_slopes(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	const struct wti_object *scheduler = wti_scheduler_of(moment->training, optimizer, NULL);
	const struct wti_schedule_plan *plan =
		scheduler ? wti_kept_of_object(account, LENGTH_OF_SCHEDULER, scheduler) : NULL;

	for (uint32_t i = 0; plan && i < WTI_GROUPS_MAX; i++) {
		struct slope *slope =
			optimizer->lr_known & 1u << i
				? wti_kept_of_group(account, LENGTH_OF_GROUP, optimizer, i)
				: NULL;

		if (slope)
			follow_slope(account, slope, optimizer->lr[i], plan->done);
	}
}

static enum wti_answer see_lengths(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	wti_plan_note(account, LENGTH_OF_SCHEDULER, moment);
	if (moment->type == WTI_MOMENT_STEPPED)
		follow_slopes(account, moment);
	return WTI_RULE_NO_CASE;
}

/* The parts of a SequentialLR come one after the other. 0: one does not say how long it is. */
static double total_of_parts(struct wti_case *account, const struct wti_training *training,
			     const struct wti_object *optimizer)
{
	const struct wti_object *part;
	size_t place = 0;
	double total = 0;

	while ((part = wti_scheduler_next(training, optimizer, &place))) {
		const struct wti_schedule_plan *plan =
			wti_kept_of_object(account, LENGTH_OF_SCHEDULER, part);

		if (!plan || (plan->is_part && plan->total <= 0))
			return 0;
		total += plan->is_part ? plan->total : 0;
	}
	return total;
}

/* At which step of the scheduler the rates come to zero; 0: none falls along a line, or two do to
 * different steps. */
static double end_of_slopes(const struct wti_case *account, const struct wti_object *optimizer)
{
	double end = 0;

	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		const struct slope *slope =
			wti_kept_find_group(account, LENGTH_OF_GROUP, optimizer, i);
		double own;

		if (!slope || slope->equal_falls < wti_threshold(account, LENGTH_FALLS))
			continue;
		own = slope->done + slope->rate / slope->fall;
		if (end > 0 && fabs(own - end) > wti_threshold_real(account, LENGTH_SAME) * end)
			return 0;
		end = end > 0 ? end : own;
	}
	return end;
}

/* For how many of its steps a scheduler was written; 0: that is not known. */
static double planned(struct wti_case *account, const struct wti_schedule_plan *plan,
		      const struct wti_moment *end, const struct wti_object *optimizer)
{
	if (plan->total > 0)
		return plan->total;
	if (!strcmp(wti_moment_text(end, end->object->class_name), "SequentialLR"))
		return total_of_parts(account, end->training, optimizer);
	return wti_scheduler_of(end->training, optimizer, NULL) == end->object
		       ? end_of_slopes(account, optimizer)
		       : 0;
}

static enum wti_answer judge_length(struct wti_case *account, const struct wti_schedule_plan *plan,
				    const struct wti_moment *end,
				    const struct wti_object *optimizer)
{
	const struct wti_object *scheduler = end->object;
	struct wti_moment moment = wti_moment_of_object(end->training, scheduler);
	uint64_t steps = optimizer->step_count - plan->steps_before, turns = scheduler->call_count;
	double same = wti_threshold_real(account, LENGTH_SAME);
	double total = planned(account, plan, end, optimizer);

	if (total <= 0)
		return WTI_RULE_NO_CASE;
	if (turns * wti_threshold(account, LENGTH_STEPS_OF_TURN) > steps ||
	    plan->done >= (1 - same) * total)
		return WTI_RULE_HELD;
	if (fabs(total - (double)steps) <= same * (double)steps)
		return wti_violated(
			account, &moment, scheduler->name,
			"it is planned for %.0f steps of its own, and %s made %llu, but it was "
			"stepped only %llu times: it had come %.0f %% of its way when training "
			"ended",
			total, wti_moment_text(end, optimizer->name), (unsigned long long)steps,
			(unsigned long long)turns, 100 * plan->done / total);
	wti_not_measured(account, "the schedules that are stepped less often than their "
				  "optimizers are planned for neither the steps nor the epochs of "
				  "the run");
	return WTI_RULE_NO_CASE;
}

static enum wti_answer finish_lengths(struct wti_case *account, void *kept,
				      const struct wti_moment *end)
{
	const struct wti_schedule_plan *plan = kept;
	const struct wti_object *optimizer;

	if (end->object->type != WT_OBJECT_TYPE_SCHEDULER || plan->is_part ||
	    !end->object->call_count)
		return WTI_RULE_NO_CASE;
	optimizer = wti_optimizer_of(end->training, end->object);
	if (!optimizer ||
	    optimizer->step_count < plan->steps_before + wti_threshold(account, LENGTH_STEPS))
		return WTI_RULE_NO_CASE;
	return judge_length(account, plan, end, optimizer);
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
		"which the rates of groups that fell by the same amount four times in a row come "
		"to zero. A case is a scheduler that has come to its end or is stepped with its "
		"optimizer.",
	.innocent = "A schedule in epochs of a run that was cut short, if the number of epochs "
		    "that were planned happens to be the number of steps that were made.",
	.needs = "no scheduler with a known length was stepped",
	.explains = (const char *const[]){"WT-SCHED-005", "WT-SCHED-007", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_OBJECT | WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.keeps = {[LENGTH_OF_SCHEDULER] = {WTI_PER_OBJECT, sizeof(struct wti_schedule_plan)},
		  [LENGTH_OF_GROUP] = {WTI_PER_KEY, sizeof(struct slope)}},
	.see = see_lengths,
	.finish = finish_lengths,
	.thresholds = {{"steps", 20,
			"with fewer, the numbers of steps and of epochs may be equal "
			"by chance"},
		       {"steps_of_turn", 2,
			"optimizer steps for each step of the scheduler: with fewer, it is "
			"stepped along with the optimizer"},
		       {"falls", 3, "in a row, as large as the one before: fewer may be a curve"},
		       {"same", 0.05, "by this share two counts of the same length may differ"},
		       {"even", 1e-6,
			"of the rate: by so much equal decreases may differ because "
			"of rounding"}},
};
