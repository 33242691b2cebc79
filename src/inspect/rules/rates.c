/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how learning rates go over a run: down at the end, and not up again. */
#include <string.h>

#include "rule.h"
#include "slots.h"

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
	course->changes += rate != course->last;
	course->last = rate;
	if (rate > course->highest)
		course->highest = course->lowest = rate;
	if (rate < course->lowest)
		course->lowest = rate;
	return course;
}

static const struct wti_object *scheduler_of(const struct wti_training *training,
					     const struct wti_object *optimizer,
					     const char *class_name)
{
	for (size_t i = 0; i < training->object_count; i++) {
		const struct wti_object *object = &training->objects[i];

		if (object->type != WT_OBJECT_TYPE_SCHEDULER ||
		    object->stream != optimizer->stream || object->of != optimizer->name)
			continue;
		if (!class_name ||
		    !strcmp(wti_symbol_text(training->symbols, object->class_name), class_name))
			return object;
	}
	return NULL;
}

/* ---- WT-SCHED-006: a cosine that goes up again ---------------------------------------------- */

enum { RISES_TO_TELL = 2 };
static const double fallen_to = 0.25; /* of the highest */

static void see_again(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct course *course = follow(state, moment);

	if (!course || course->changes < RISES_TO_TELL ||
	    !scheduler_of(moment->training, moment->object, "CosineAnnealingLR"))
		return;
	if (course->rises >= RISES_TO_TELL && course->has_risen &&
	    course->lowest <= fallen_to * course->highest)
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
		"to a quarter of its highest value, does not rise twice in a row. A case is a step "
		"of such an optimizer after its rate has fallen.",
	.innocent = "A swinging rate that is wanted, written with this class.",
	.needs = "no optimizer with a CosineAnnealingLR stepped with a rate that falls",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_again,
	.release = release_slots,
};

/* ---- WT-SCHED-007: ends in the warm-up ------------------------------------------------------ */

enum { CHANGES_MIN = 3, STEPS_MIN = 20 };

static void see_course(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	(void)account;
	follow(state, moment);
}

static void finish_course(struct wti_case *account, void *state,
			  const struct wti_training *training)
{
	for (size_t i = 0; i < training->object_count; i++) {
		const struct wti_object *optimizer = &training->objects[i];
		struct wti_moment end = wti_moment_of_end(training, optimizer->stream);
		const struct course *course;

		if (optimizer->type != WT_OBJECT_TYPE_OPTIMIZER || !optimizer->step_count)
			continue;
		course = wti_slot_of_object(state, optimizer, sizeof(*course));
		if (!course || course->changes < CHANGES_MIN || course->steps < STEPS_MIN ||
		    !scheduler_of(training, optimizer, NULL))
			continue;
		if (course->has_fallen || course->last < course->highest || !course->rises)
			wti_held(account);
		else
			wti_violated(account, &end, optimizer->name,
				     "in %llu steps its learning rate only rose, %u times, and it "
				     "was at its highest, %.3g, when training ended",
				     (unsigned long long)course->steps, course->changes,
				     course->last);
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
		"has changed three times or more, has fallen once. A case is such an optimizer.",
	.innocent = "A search for the largest rate that works; a run that was cut short.",
	.needs = "no optimizer with a scheduler had a learning rate that changed three times",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_course,
	.finish = finish_course,
	.release = release_slots,
};
