/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how learning rates go over a run: down at the end, not up again, and for a reason. */
#include <math.h>
#include <string.h>

#include "groups.h"
#include "plan.h"

/* Of a group of an optimizer. */
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

static void follow_change(struct course *course, double rate)
{
	if (rate > course->last) {
		course->rises++;
		course->falls = 0;
		course->has_risen |= course->has_fallen;
	} else {
		course->falls++;
		course->rises = 0;
		course->has_fallen = true;
	}
	if (course->changes++ && course->unchanged > course->unchanged_max)
		course->unchanged_max = course->unchanged;
	course->unchanged = 0;
}

/* False: its rate is not known. */
static bool follow(struct course *course, const struct wti_object *optimizer, uint32_t group)
{
	double rate = optimizer->lr[group];

	if (!(optimizer->lr_known & 1u << group))
		return false;
	if (!course->steps++) {
		course->last = course->highest = course->lowest = rate;
		return true;
	}
	course->unchanged++;
	if (rate != course->last)
		follow_change(course, rate);
	course->last = rate;
	if (rate > course->highest)
		course->highest = course->lowest = rate;
	if (rate < course->lowest)
		course->lowest = rate;
	return true;
}

/* ---- WT-SCHED-006: a cosine that goes up again ---------------------------------------------- */

enum { AGAIN_OF_OPTIMIZER, AGAIN_OF_SCHEDULER, AGAIN_OF_GROUP }; /* keeps */
enum { AGAIN_RISES, AGAIN_FALLEN_TO };

/* Of an optimizer. */
struct swing {
	double cosine_steps;  /* of its cosine, as calls and as its own count, at the last step */
	uint64_t other_steps; /* of all its other schedulers */
};

/* Whether another scheduler was stepped since the last step of the optimizer, and the cosine was
 * not: the rate is the other one's now. */
static bool is_handed_over(struct wti_case *account, struct swing *swing,
			   const struct wti_moment *moment, const struct wti_object *cosine)
{
	const struct wti_schedule_plan *plan =
		wti_kept_of_object(account, AGAIN_OF_SCHEDULER, cosine);
	double cosine_steps = (double)cosine->call_count + (plan ? plan->done : 0);
	const struct wti_object *scheduler;
	uint64_t other_steps = 0;
	size_t place = 0;
	bool is_other;

	while ((scheduler = wti_scheduler_next(moment->training, moment->object, &place)))
		other_steps += scheduler != cosine ? scheduler->call_count : 0;
	is_other = other_steps != swing->other_steps && cosine_steps == swing->cosine_steps;
	swing->cosine_steps = cosine_steps;
	swing->other_steps = other_steps;
	return is_other;
}

/* It has come down far; or its scheduler's own count says so, whose lowest rate (eta_min) need not
 * be far below the highest. */
static bool is_past_its_end(struct wti_case *account, const struct course *course,
			    const struct wti_object *cosine)
{
	const struct wti_schedule_plan *plan =
		wti_kept_of_object(account, AGAIN_OF_SCHEDULER, cosine);
	double fallen_to = wti_threshold_real(account, AGAIN_FALLEN_TO);

	return course->lowest <= fallen_to * course->highest ||
	       (plan && plan->total > 0 &&
		plan->done >= plan->total + wti_threshold_real(account, AGAIN_RISES));
}

static void forget_courses(struct wti_case *account, const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		struct course *course =
			moment->object->lr_known & 1u << i
				? wti_kept_of_group(account, AGAIN_OF_GROUP, moment->object, i)
				: NULL;

		if (course)
			*course = (struct course){0};
	}
}

static enum wti_answer judge_group(struct wti_case *account, const struct wti_moment *moment,
				   const struct wti_object *cosine, uint32_t group)
{
	uint64_t rises = wti_threshold(account, AGAIN_RISES);
	struct course *course = wti_kept_of_group(account, AGAIN_OF_GROUP, moment->object, group);

	if (!course || !follow(course, moment->object, group) || !cosine || course->changes < rises)
		return WTI_RULE_NO_CASE;
	if (course->rises >= rises && course->has_risen && is_past_its_end(account, course, cosine))
		return wti_violated(
			account, moment, moment->object->name,
			"the rate of group %u had come down from %.3g to %.3g and is at "
			"%.3g again",
			group, course->highest, course->lowest, course->last);
	return course->falls ? WTI_RULE_HELD : WTI_RULE_NO_CASE;
}

/* All groups follow one schedule, but the rate of some may be zero: one that shows it is enough. */
static enum wti_answer see_again(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	enum wti_answer answer = WTI_RULE_NO_CASE;
	const struct wti_object *cosine;

	wti_plan_note(account, AGAIN_OF_SCHEDULER, moment);
	if (moment->type != WTI_MOMENT_STEPPED)
		return WTI_RULE_NO_CASE;
	cosine = wti_scheduler_of(moment->training, moment->object, "CosineAnnealingLR");
	if (cosine && is_handed_over(account, kept, moment, cosine))
		forget_courses(account, moment);
	for (uint32_t i = 0; i < WTI_GROUPS_MAX && answer != WTI_RULE_VIOLATED; i++) {
		enum wti_answer of_group = moment->object->lr_known & 1u << i
						   ? judge_group(account, moment, cosine, i)
						   : WTI_RULE_NO_CASE;

		answer = of_group != WTI_RULE_NO_CASE ? of_group : answer;
	}
	return answer;
}

const struct wti_rule wti_rule_sched_006 = {
	.code = "WT-SCHED-006",
	.severity = WT_WARNING,
	.title = "a cosine schedule is stepped past its end, and the learning rate rises again",
	.means = "T_max counts something else than the calls of step(), such as epochs while it is "
		 "stepped in every batch: the rate swings up and down instead of coming down once",
	.hint = "step it once an epoch, or let T_max be the number of steps",
	.definition =
		"The learning rate of a group of an optimizer with a CosineAnnealingLR, once it "
		"has come down to a quarter of its highest value, or its scheduler is past T_max, "
		"does not rise "
		"twice in a row. It begins anew where another scheduler of the optimizer is "
		"stepped and this one is not. A case is a step of such an optimizer after its "
		"rate has fallen.",
	.innocent = "A cyclic learning rate on purpose, written with this class.",
	.needs = "no optimizer with a CosineAnnealingLR stepped with a rate that falls",
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.keeps = {[AGAIN_OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct swing)},
		  [AGAIN_OF_SCHEDULER] = {WTI_PER_OBJECT, sizeof(struct wti_schedule_plan)},
		  [AGAIN_OF_GROUP] = {WTI_PER_KEY, sizeof(struct course)}},
	.see = see_again,
	.thresholds = {{"rises", 2, "in a row: one may be the beginning of another schedule"},
		       {"fallen_to", 0.25, "of the highest rate: most of the way to its end"}},
};

/* ---- WT-SCHED-007: ends in the warm-up ------------------------------------------------------ */

enum { RISING_OF_OPTIMIZER, RISING_OF_GROUP }; /* keeps */
enum { RISING_CHANGES, RISING_STEPS, RISING_STEPS_OF_CHANGE };

static enum wti_answer see_course(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		struct course *course =
			moment->object->lr_known & 1u << i
				? wti_kept_of_group(account, RISING_OF_GROUP, moment->object, i)
				: NULL;

		if (course)
			follow(course, moment->object, i);
	}
	return WTI_RULE_NO_CASE;
}

/* A later one of the same class has gone on: after a resume, or in the next part of a run. */
static bool is_followed(const struct wti_training *training, const struct wti_object *optimizer)
{
	for (size_t i = optimizer->place + 1; i < training->objects.count; i++) {
		const struct wti_object *later = wti_object_at(training, i);

		if (later->type == WT_OBJECT_TYPE_OPTIMIZER && later->stream == optimizer->stream &&
		    later->class_name == optimizer->class_name && later->step_count)
			return true;
	}
	return false;
}

static bool is_schedule(const struct wti_case *account, const struct course *course)
{
	return course->changes >= wti_threshold(account, RISING_CHANGES) &&
	       course->steps >= wti_threshold(account, RISING_STEPS);
}

static bool only_rose(const struct course *course)
{
	return !course->has_fallen && course->last >= course->highest && course->rises &&
	       course->unchanged <= course->unchanged_max;
}

/* A schedule that is stepped with the optimizer changes the rate in nearly every step of a warm-up:
 * a run that ends there is a short one. */
static enum wti_answer judge_rise(struct wti_case *account, const struct course *course,
				  uint32_t group, const struct wti_moment *end)
{
	char words[WTI_GROUP_WORDS];

	if (course->changes * wti_threshold(account, RISING_STEPS_OF_CHANGE) <= course->steps)
		return wti_violated(account, end, end->object->name,
				    "in %llu steps %s only rose, %u times, and it was at its "
				    "highest, %.3g, when training ended",
				    (unsigned long long)course->steps, wti_group_rate(words, group),
				    course->changes, course->last);
	wti_not_measured(account, "the learning rate rose in nearly every step until the end, as "
				  "in a run that is shorter than its warm-up");
	return WTI_RULE_NO_CASE;
}

/* A group that has left the warm-up shows that the schedule did. */
static enum wti_answer finish_course(struct wti_case *account, void *kept,
				     const struct wti_moment *end)
{
	const struct course *rising = NULL;
	uint32_t group = 0;

	if (is_followed(end->training, end->object) ||
	    !wti_scheduler_of(end->training, end->object, NULL))
		return WTI_RULE_NO_CASE;
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		const struct course *course =
			wti_kept_find_group(account, RISING_OF_GROUP, end->object, i);

		if (!course || !is_schedule(account, course))
			continue;
		if (!only_rose(course))
			return WTI_RULE_HELD;
		group = rising ? group : i;
		rising = rising ? rising : course;
	}
	return rising ? judge_rise(account, rising, group, end) : WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_sched_007 = {
	.code = "WT-SCHED-007",
	.severity = WT_WARNING,
	.title = "training ends while the learning rate is still rising",
	.means = "the schedule never leaves its warm-up: it is stepped less often than it was "
		 "written for, such as a OneCycleLR once an epoch instead of once a batch",
	.hint = "call scheduler.step() after every optimizer.step() if the schedule counts steps",
	.definition =
		"If an optimizer with a scheduler makes twenty steps or more, and the learning "
		"rates of some of its groups change three times or more, then one of these has "
		"fallen once, or has stayed the same for longer than between any two changes, or "
		"the first has changed in more than every second step (a run that is shorter than "
		"its warm-up). It is not judged if "
		"a later optimizer of the same class steps in the same process. A case is such an "
		"optimizer, except one of the last kind.",
	.innocent = "A search for the largest rate that works; a run that was cut short.",
	.needs = "no optimizer with a scheduler had a learning rate that changed three times in "
		 "twenty steps or more",
	.moments = WTI_MOMENT_STEPPED,
	/* Of an optimizer nothing but that it was there. */
	.keeps = {[RISING_OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(char)},
		  [RISING_OF_GROUP] = {WTI_PER_KEY, sizeof(struct course)}},
	.see = see_course,
	.finish = finish_course,
	.thresholds = {{"changes", 3, "a rate that is set once or twice is not a schedule"},
		       {"steps", 20, "a shorter run is a trial"},
		       {"steps_of_change", 2,
			"or more for each change: with fewer, it is stepped with the optimizer, "
			"and the run is shorter than its warm-up"}},
};

/* ---- WT-SCHED-008: lowered while all goes well ---------------------------------------------- */

enum { PLATEAU_OF_PROCESS, PLATEAU_OF_SCHEDULER }; /* keeps */
enum { PLATEAU_CUTS, PLATEAU_BELOW, PLATEAU_SAME };

/* Of a ReduceLROnPlateau. */
struct plateau {
	uint64_t count; /* of metrics that it was given */
	double metric, first, lowest, highest;
	bool is_lowest;  /* the last one, clearly */
	bool is_highest; /* likewise, and none was ever below the first: it should rise */
	bool is_loss;    /* it was once the loss of the training */
	bool is_new;     /* and no step was made since */
	double first_loss;
	double rates[WTI_GROUPS_MAX];     /* of its optimizer, before */
	double own_rates[WTI_GROUPS_MAX]; /* that it has set, by its own account; 0: not known */
	uint32_t cuts;
};

static void take_metric(const struct wti_case *account, struct plateau *plateau,
			const struct wti_moment *moment)
{
	double metric;

	if (!wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "metrics"),
				1, &metric))
		return;
	plateau->is_lowest = plateau->count && metric > 0 &&
			     metric < wti_threshold_real(account, PLATEAU_BELOW) * plateau->lowest;
	plateau->is_highest =
		plateau->count && plateau->lowest == plateau->first && metric > 0 &&
		metric * wti_threshold_real(account, PLATEAU_BELOW) > plateau->highest;
	if (!plateau->count++) {
		plateau->first = plateau->lowest = plateau->highest = metric;
		plateau->first_loss = moment->process->loss;
	}
	plateau->is_loss |= fabs(metric - moment->process->loss) <=
			    wti_threshold_real(account, PLATEAU_SAME) * fabs(metric);
	plateau->lowest = fmin(plateau->lowest, metric);
	plateau->highest = fmax(plateau->highest, metric);
	plateau->metric = metric;
	plateau->is_new = true;
}

/*
 * A loss of held-out rows may rise while that of the training falls: that is overfitting. Where no
 * loss is computed in evaluation, a metric that has only ever risen while the loss fell is one that
 * should rise.
 */
static bool is_better(struct wti_case *account, const struct plateau *plateau,
		      const struct wti_moment *moment)
{
	const bool *has_loss = wti_kept(account, PLATEAU_OF_PROCESS, moment);

	return plateau->is_lowest ||
	       (plateau->is_highest && !plateau->is_loss && has_loss && !*has_loss);
}

/* The first group whose rate fell since the last metric; WTI_GROUPS_MAX: none did. */
static uint32_t take_rates(struct plateau *plateau, const struct wti_object *optimizer)
{
	uint32_t fell = WTI_GROUPS_MAX;

	for (uint32_t i = WTI_GROUPS_MAX; i-- > 0;) {
		if (!(optimizer->lr_known & 1u << i))
			continue;
		if (plateau->is_new && plateau->rates[i] > 0 &&
		    optimizer->lr[i] < plateau->rates[i])
			fell = i;
		plateau->rates[i] = optimizer->lr[i];
	}
	plateau->is_new = false;
	return fell;
}

static enum wti_answer judge_cut(struct wti_case *account, struct plateau *plateau,
				 const struct wti_moment *moment,
				 const struct wti_object *scheduler)
{
	uint32_t group = take_rates(plateau, moment->object);
	double rate;

	if (group >= WTI_GROUPS_MAX)
		return WTI_RULE_NO_CASE;
	rate = plateau->rates[group];
	if (!is_better(account, plateau, moment) || moment->process->loss >= plateau->first_loss)
		return WTI_RULE_HELD;
	/* What the scheduler says that it has set is no change of the program's. */
	if (++plateau->cuts < wti_threshold(account, PLATEAU_CUTS) &&
	    (plateau->is_lowest || plateau->own_rates[group] != rate))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, scheduler->name,
			    "it lowers the rate when its metric has just reached its %s (%u so "
			    "far), now to %.3g at %.4g; the loss has fallen",
			    plateau->is_lowest ? "lowest" : "highest", plateau->cuts, rate,
			    plateau->metric);
}

/* "_last_lr[1]" is that of group 1; WTI_GROUPS_MAX: it is another attribute. */
static uint32_t group_of_own_rate(const char *attribute)
{
	uint32_t group = WTI_GROUPS_MAX;
	char bracket;

	if (sscanf(attribute, "_last_lr[%2u%c", &group, &bracket) != 2 || bracket != ']')
		return WTI_GROUPS_MAX;
	return group;
}

static void note_own_rate(struct wti_case *account, const struct wti_moment *moment)
{
	uint32_t group = group_of_own_rate(wti_moment_text(moment, moment->attribute));
	struct plateau *plateau = group < WTI_GROUPS_MAX && moment->object &&
						  moment->object->type == WT_OBJECT_TYPE_SCHEDULER
					  ? wti_kept(account, PLATEAU_OF_SCHEDULER, moment)
					  : NULL;

	if (plateau)
		plateau->own_rates[group] = moment->number;
}

/* A loss that nothing is learned from. */
static void note_loss(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	bool *has_loss = wti_kept(account, PLATEAU_OF_PROCESS, moment);

	if (has_loss && result && !(result->digest.flags & WT_TENSOR_REQUIRES_GRAD))
		*has_loss = true;
}

static enum wti_answer see_plateau(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_object *scheduler = moment->object;
	struct plateau *plateau;

	if (moment->type == WTI_MOMENT_CALL) {
		note_loss(account, moment);
		return WTI_RULE_NO_CASE;
	}
	if (moment->type == WTI_MOMENT_STATE) {
		note_own_rate(account, moment);
		return WTI_RULE_NO_CASE;
	}
	if (moment->type == WTI_MOMENT_SCHEDULER) {
		plateau = wti_kept(account, PLATEAU_OF_SCHEDULER, moment);
		if (plateau &&
		    !strcmp(wti_moment_text(moment, scheduler->class_name), "ReduceLROnPlateau"))
			take_metric(account, plateau, moment);
		return WTI_RULE_NO_CASE;
	}
	scheduler = wti_scheduler_of(moment->training, moment->object, "ReduceLROnPlateau");
	plateau = scheduler && moment->object->lr_known
			  ? wti_kept_of_object(account, PLATEAU_OF_SCHEDULER, scheduler)
			  : NULL;
	return plateau ? judge_cut(account, plateau, moment, scheduler) : WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_sched_008 = {
	.code = "WT-SCHED-008",
	.severity = WT_WARNING,
	.title = "the learning rate is lowered because a metric improves",
	.means = "ReduceLROnPlateau waits for the opposite of what the metric should do: mode is "
		 "\"max\" for a loss or \"min\", the default, for an accuracy, and the rate goes "
		 "down the better training goes",
	.hint = "mode=\"min\" for a loss, mode=\"max\" for an accuracy",
	.definition =
		"A ReduceLROnPlateau does not lower the rate twice at moments when the metric "
		"that it was last given is at least 1 % below all earlier ones, while the "
		"training loss is lower than at its first step; nor when the metric is 1 % above "
		"all earlier ones and has never been below the first, if it never was the loss of "
		"the training, and the program computes no loss without gradients (once is enough "
		"if the "
		"scheduler's own rate fell). A case is a rate that it "
		"lowers at another moment.",
	.innocent = "A metric that should rise and falls, while the loss falls too.",
	.needs = "no ReduceLROnPlateau lowered the rate",
	.moments = WTI_MOMENT_SCHEDULER | WTI_MOMENT_STEPPED | WTI_MOMENT_CALL | WTI_MOMENT_STATE,
	.callees = WTI_TARGET_LOSSES,
	.keeps = {[PLATEAU_OF_PROCESS] = {WTI_PER_PROCESS, sizeof(bool)},
		  [PLATEAU_OF_SCHEDULER] = {WTI_PER_OBJECT, sizeof(struct plateau)}},
	.see = see_plateau,
	.thresholds = {{"cuts", 2, "one may be the program's own change of the rate"},
		       {"below", 0.99, "times the lowest before: metrics vary by as much"},
		       {"same", 1e-6,
			"of a metric: by so much rounding moves a loss that is printed or sent"}},
};
