/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learning rate against steps. The occasion is a step of an optimizer: whether its rate is
 * positive, moved since the step before, did not rise, goes on where it was; and the end of a run:
 * whether a schedule that was made was ever used.
 */
#include <stdio.h>

#include "inspect/learn/relation.h"
#include "relations.h"

#define STEPS_KEPT 64u      /* of which the rate itself is compared with other runs */
#define STEPS_AFTER_LOAD 5u /* within which a schedule shows that it begins anew */
#define RATE_KEPT 1.5

/* clang-format off */
enum term {
	/* subjects */
	LEARNING_RATE, LEARNING_RATE_AFTER_LOAD, LEARNING_RATE_COURSE, SCHEDULER, SCHEDULE,
	/* facts */
	IS_POSITIVE, STAYS, CHANGES, DOES_NOT_RISE, GOES_ON_FROM_WHERE_IT_WAS, IS_STEADY,
	FOLLOWS_OPTIMIZER_STEP, IS_USED, MOVES_RATE, RATE_OF_STEP,
};

static const struct wti_term terms[] = {
	[LEARNING_RATE] = {"learning_rate", "learning rate"},
	[LEARNING_RATE_AFTER_LOAD] = {"learning_rate_after_load", "learning rate after a load"},
	[LEARNING_RATE_COURSE] = {"learning_rate_course", "course of the learning rate"},
	[SCHEDULER] = {"scheduler", "scheduler"},
	[SCHEDULE] = {"schedule", "schedule"},
	[IS_POSITIVE] = {"is_positive", "is positive"},
	[STAYS] = {"stays", "stays"},
	[CHANGES] = {"changes", "changes"},
	[DOES_NOT_RISE] = {"does_not_rise", "does not rise"},
	[GOES_ON_FROM_WHERE_IT_WAS] = {"goes_on_from_where_it_was", "goes on from where it was"},
	[IS_STEADY] = {"is_steady", "is steady"},
	[FOLLOWS_OPTIMIZER_STEP] = {"follows_optimizer_step", "follows a step of its optimizer", WTI_TOPIC_SCHEDULER_STEP},
	[IS_USED] = {"is_used", "is used", WTI_TOPIC_SCHEDULER_STEP},
	[MOVES_RATE] = {"moves_rate", "moves the rate"},
	[RATE_OF_STEP] = {"rate_of_step", "the rate of step", .is_numbered = true},
	{0},
};
/* clang-format on */

struct last {
	double rate;
	uint64_t step_count;
	bool is_set;
	bool was_scheduled; /* a scheduler stepped since the step before */
};

struct flow { /* of a process */
	double rate;
	bool is_set;
	bool loaded;         /* something was loaded since the last step */
	uint32_t since_load; /* steps; 0: nothing was loaded, or long ago */
	double rate_at_load; /* of the first of them */
	uint64_t scheduler_steps;
	uint64_t changes;
	uint64_t steps;
	struct wti_moment moment;
};

enum memory {
	OPTIMIZERS,
	SCHEDULERS, /* steps of the optimizer when it stepped last */
	FLOWS,
};

static void say_rate(struct wti_scene *scene, const struct last *last, double rate)
{
	if (rate > 0)
		wti_say_term(scene, IS_POSITIVE);
	if (!last->is_set)
		return;
	wti_say_term(scene, rate == last->rate ? STAYS : CHANGES);
	if (rate <= last->rate)
		wti_say_term(scene, DOES_NOT_RISE);
}

/* A schedule that begins anew after a load moves away from where the rate was: by half, within a
 * few steps. */
static void report_resumed(struct wti_scene *scene, const struct wti_moment *moment,
			   struct flow *flow, double rate)
{
	if (flow->loaded) {
		flow->since_load = 1;
		flow->rate_at_load = rate;
		return;
	}
	if (!flow->since_load || flow->rate_at_load <= 0)
		return;
	wti_occasion_of_term(scene, &wti_relation_schedule, moment, LEARNING_RATE_AFTER_LOAD,
			     WTI_NO_TERM);
	if (rate < flow->rate_at_load * RATE_KEPT && flow->rate_at_load < rate * RATE_KEPT)
		wti_say_term(scene, GOES_ON_FROM_WHERE_IT_WAS);
	wti_report(scene);
	flow->since_load = flow->since_load < STEPS_AFTER_LOAD ? flow->since_load + 1 : 0;
}

/* Within a factor of two of the step before, of whichever optimizer of the process. */
static void report_continuity(struct wti_scene *scene, const struct wti_moment *moment,
			      struct flow *flow, double rate)
{
	if (flow->is_set && flow->rate > 0 && rate > 0) {
		double ratio = rate / flow->rate;

		wti_occasion_of_term(scene, &wti_relation_schedule, moment, LEARNING_RATE_COURSE,
				     WTI_NO_TERM);
		wti_occasion_flag(scene, WTI_FEATURE_OTHER, flow->loaded);
		if (ratio >= 0.5 && ratio <= 2)
			wti_say_term(scene, IS_STEADY);
		wti_report(scene);
	}
	report_resumed(scene, moment, flow, rate);
	flow->changes += flow->is_set && rate != flow->rate;
	flow->rate = rate;
	flow->is_set = true;
	flow->loaded = false;
	flow->steps++;
	flow->moment = *moment;
	flow->moment.parent = NULL;
	flow->moment.call = NULL;
	flow->moment.event = NULL;
}

/* When such a scheduler lowers the rate depends on what is learned: another seed, another step. */
static bool follows_a_metric(const struct wti_scene *scene, const struct wti_object *optimizer)
{
	return wti_scheduler_of(scene->training, optimizer, "ReduceLROnPlateau");
}

static void report_step(struct wti_scene *scene, struct last *last, const struct wti_moment *moment)
{
	double rate = moment->object->lr[0];
	char name[32];

	wti_occasion_of_term(scene, &wti_relation_schedule, moment, LEARNING_RATE, WTI_NO_TERM);
	wti_occasion_flag(scene, WTI_FEATURE_FIRST, !last->is_set);
	wti_occasion_flag(scene, WTI_FEATURE_OTHER, last->was_scheduled);
	say_rate(scene, last, rate);
	if (last->step_count < STEPS_KEPT && !follows_a_metric(scene, moment->object)) {
		snprintf(name, sizeof(name), "%s.%u", terms[RATE_OF_STEP].word,
			 (unsigned)last->step_count);
		wti_measure(scene, wti_scene_word(scene, name), rate);
	}
	wti_report(scene);
	*last = (struct last){rate, last->step_count + 1, true, false};
}

/* What a scheduler schedules steps, and steps first. */
static void report_scheduler(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_object *optimizer =
		moment->object && moment->object->of
			? wti_training_object(scene->training, moment->process->stream,
					      moment->object->of)
			: NULL;
	uint64_t *last = wti_recall(scene, SCHEDULERS, moment);
	uint64_t steps;

	if (!optimizer || !last)
		return;
	/* A step whose states are still coming in has been taken. */
	steps = optimizer->step_count +
		(moment->process->stepping &&
		 wti_object_at(scene->training, moment->process->stepping - 1) == optimizer);
	wti_occasion_of_term(scene, &wti_relation_schedule, moment, SCHEDULER, WTI_NO_TERM);
	if (steps > *last)
		wti_say_term(scene, FOLLOWS_OPTIMIZER_STEP);
	wti_report(scene);
	*last = steps;
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct flow *flow = wti_recall(scene, FLOWS, moment);
	struct last *last;

	if (!flow)
		return;
	switch (moment->type) {
	case WTI_MOMENT_LOAD:
		flow->loaded |= !wti_is_of_arrays(moment);
		break;
	case WTI_MOMENT_SCHEDULER:
		flow->scheduler_steps++;
		report_scheduler(scene, moment);
		for (size_t i = 0; i < scene->training->objects.count; i++) {
			const struct wti_object *optimizer = wti_object_at(scene->training, i);

			if (optimizer->stream != moment->process->stream ||
			    optimizer->type != WT_OBJECT_TYPE_OPTIMIZER ||
			    (moment->object && moment->object->of &&
			     moment->object->of != optimizer->name))
				continue;
			last = wti_recall_of_object(scene, OPTIMIZERS, optimizer);
			if (last)
				last->was_scheduled = true;
		}
		break;
	default:
		last = wti_recall(scene, OPTIMIZERS, moment);
		if (!last || !(moment->object->lr_known & 1))
			return;
		report_continuity(scene, moment, flow, moment->object->lr[0]);
		report_step(scene, last, moment);
	}
}

/* A schedule that was made, and what became of it. */
static void finish(struct wti_scene *scene, void *opaque)
{
	for (size_t i = 0; i < scene->training->processes.count; i++) {
		struct flow *flow = wti_recall_of_process(scene, FLOWS, i);

		if (!flow || flow->steps < 3 ||
		    !wti_scene_objects(scene, i, WT_OBJECT_TYPE_SCHEDULER))
			continue;
		wti_occasion_of_term(scene, &wti_relation_schedule, &flow->moment, SCHEDULE,
				     WTI_NO_TERM);
		if (flow->scheduler_steps)
			wti_say_term(scene, IS_USED);
		if (flow->changes)
			wti_say_term(scene, MOVES_RATE);
		wti_report(scene);
	}
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->form == WTI_FORM_RANGE)
		wti_describe_fact(out, words);
	else
		wti_buf_printf(out, "the %s %s%s", words->subject[0], words->a,
			       words->subject_term[0] == LEARNING_RATE ? " at each optimizer step"
								       : "");
}

static const struct wti_consequence consequences[] = {{STAYS, DOES_NOT_RISE}};

/* A schedule that goes by a metric lowers the rate when the data say so. */
static bool is_of_chance(const struct wti_words *words)
{
	return words->a_term == STAYS;
}

const struct wti_relation wti_relation_schedule = {
	.name = "schedule",
	.code = "WT-LEARN-SCHEDULE",
	.title = "the learning rate follows another course",
	.definition = "hypothesis: at an optimizer step the learning rate is positive, moved, "
		      "stayed or did not rise since "
		      "the step before, is within a factor of two of it, or is what it was at the "
		      "same step in every run; within five steps after a load it changes by less "
		      "than half; "
		      "a scheduler that was made is stepped and moves the rate. For and against: "
		      "each step; each run.",
	.means = "the schedule is not followed, restarts, or reaches zero",
	.hint = "look at where the scheduler steps, which optimizer it has, and whether it is "
		"restored",
	.number_means = "the learning rate that the program sets, or the schedule of it, is not "
			"that of the good runs",
	.number_hint = "compare the rate in the program and in its arguments with that of the good "
		       "runs; if a scheduler moves it, look at where that steps",
	.innocent = "another schedule, on purpose",
	.needs = "no optimizer step with a known learning rate in these circumstances",
	.measures = WTI_NEEDS_OPTIMIZER,
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_SCHEDULER | WTI_MOMENT_LOAD,
	.features = 1u << WTI_FEATURE_FIRST | 1u << WTI_FEATURE_SCHEDULER | 1u << WTI_FEATURE_OTHER,
	.keeps = {[OPTIMIZERS] = {WTI_PER_OBJECT, sizeof(struct last)},
		  [SCHEDULERS] = {WTI_PER_OBJECT, sizeof(uint64_t)},
		  [FLOWS] = {WTI_PER_PROCESS, sizeof(struct flow)}},
	.terms = terms,
	.topic = WTI_TOPIC_RATES,
	.see = see,
	.finish = finish,
	.describe = describe,
	.consequences = consequences,
	.consequence_count = sizeof(consequences) / sizeof(consequences[0]),
	.kind_of = wti_kind_by_fact,
	.is_of_chance = is_of_chance,
};
