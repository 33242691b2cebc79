/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about learning-rate schedules. */
#include <math.h>
#include <string.h>

#include "groups.h"
#include "plan.h"

/* ---- WT-SCHED-001: before the optimizer ----------------------------------------------------- */

struct first {
	bool is_judged;
};

static const char begun_before[] =
	"the schedulers that were stepped, or their optimizers, were made "
	"before the recording began: steps may be missing";

/* A wrapper has no parameters: what it wraps steps them, and which one that is is not known. */
static bool has_stepped(const struct wti_object *optimizer, const struct wti_moment *moment)
{
	return optimizer->step_count || (!optimizer->member_count && moment->process->step_count);
}

static enum wti_answer see_first(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_object *optimizer = wti_optimizer_of(moment->training, moment->object);
	struct first *first = kept;

	if (!optimizer || first->is_judged)
		return WTI_RULE_NO_CASE;
	first->is_judged = true;
	if (has_stepped(optimizer, moment))
		return WTI_RULE_HELD;
	if (optimizer->how != WT_FOUND_MADE || moment->object->how != WT_FOUND_MADE) {
		wti_not_measured(account, begun_before);
		return WTI_RULE_NO_CASE;
	}
	return wti_violated(account, moment, moment->object->name,
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
	.definition =
		"The first step() of a scheduler comes after the first of its optimizer, or, "
		"if that has no parameters of its own (a wrapper), of any. A case is a "
		"scheduler that is stepped; not one that was made before the recording began, "
		"or whose optimizer was.",
	.innocent = "A resumed run whose optimizer has stepped in the run before.",
	.needs = "no scheduler was stepped",
	.moments = WTI_MOMENT_SCHEDULER,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct first)}},
	.see = see_first,
};

/* ---- WT-SCHED-002: never -------------------------------------------------------------------- */

enum { NEVER_EPOCHS, NEVER_STEPS };

struct made {
	bool is_part; /* of another one (SequentialLR): it may not have had its turn */
};

/* Many schedules move once an epoch: a run must have been long enough to need it. */
static bool is_long_enough(const struct wti_case *account, const struct wti_moment *end,
			   const struct wti_object *optimizer)
{
	int64_t epoch = end->process->last_epoch;

	if (epoch >= 0)
		return (uint64_t)epoch + 1 >= wti_threshold(account, NEVER_EPOCHS);
	return optimizer->step_count >= wti_threshold(account, NEVER_STEPS);
}

static enum wti_answer see_made(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct made *made = kept;

	if (moment->type == WTI_MOMENT_STATE)
		made->is_part |= !strcmp(wti_moment_text(moment, moment->attribute), "part_of");
	return WTI_RULE_NO_CASE;
}

static enum wti_answer finish_made(struct wti_case *account, void *kept,
				   const struct wti_moment *end)
{
	const struct made *made = kept;
	const struct wti_object *scheduler = end->object, *optimizer;
	struct wti_moment moment;

	if (scheduler->type != WT_OBJECT_TYPE_SCHEDULER)
		return WTI_RULE_NO_CASE;
	optimizer = wti_optimizer_of(end->training, scheduler);
	if (!optimizer || !optimizer->step_count)
		return WTI_RULE_NO_CASE;
	if (scheduler->call_count)
		return WTI_RULE_HELD;
	if (made->is_part || !is_long_enough(account, end, optimizer))
		return WTI_RULE_NO_CASE;
	moment = wti_moment_of_object(end->training, scheduler);
	return wti_violated(account, &moment, scheduler->name,
			    "it was made for %s, which stepped %llu times, and was never stepped",
			    wti_moment_text(end, optimizer->name),
			    (unsigned long long)optimizer->step_count);
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
	.innocent = "A scheduler that is driven without its step(), by something that is not a "
		    "scheduler.",
	.needs = "no scheduler was made, or the run was too short to need it",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_OBJECT | WTI_MOMENT_STATE,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct made)}},
	.see = see_made,
	.finish = finish_made,
	.thresholds = {{"epochs", 2, "a schedule in epochs first moves after the first of them"},
		       {"steps", 50,
			"where epochs are not known: fewer may be a part of the first epoch"}},
};

/* ---- WT-SCHED-003: of an optimizer that is not used any more -------------------------------- */

enum { IDLE_IN_A_ROW };

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
	uint64_t step_count;    /* of its optimizer, at the scheduler's last step */
	struct wti_scope scope; /* in which it was first idle */
};

/* Reported when it is certain, and placed where it began. */
static enum wti_answer see_idle(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_object *optimizer = wti_optimizer_of(moment->training, moment->object);
	struct idle *idle = kept;
	struct wti_moment first = *moment;
	const struct wti_object *other;

	if (!optimizer)
		return WTI_RULE_NO_CASE;
	other = optimizer->step_count == idle->step_count ? successor(moment->training, optimizer)
							  : NULL;
	idle->step_count = optimizer->step_count;
	if (!other)
		return WTI_RULE_HELD;
	if (wti_streak(account) == 1)
		idle->scope = moment->scope;
	if (wti_streak(account) == wti_threshold(account, IDLE_IN_A_ROW))
		first.scope = idle->scope;
	return wti_violated(account, &first, moment->object->name,
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
	.explains = (const char *const[]){"WT-SCHED-001", NULL},
	.moments = WTI_MOMENT_SCHEDULER,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct idle)}},
	.see = see_idle,
	.thresholds = {{WTI_IN_A_ROW, 2,
			"the first may close the epoch in which the optimizer was replaced"}},
};

/* ---- WT-SCHED-004: gone too early ----------------------------------------------------------- */

enum { GONE_STEPS, GONE_ONE_IN, GONE_BELOW };

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

static enum wti_answer see_height(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	double lr = highest_lr(moment->object), below;
	struct height *height = kept;

	if (!moment->object->lr_known)
		return WTI_RULE_NO_CASE;
	height->highest = fmax(height->highest, lr);
	height->steps++;
	below = wti_threshold_real(account, GONE_BELOW) * height->highest;
	if (height->highest <= 0 || lr > below) {
		height->steps_below = 0;
		return WTI_RULE_HELD;
	}
	height->steps_below++;
	if (height->steps_below < wti_threshold(account, GONE_STEPS) ||
	    height->steps_below * wti_threshold(account, GONE_ONE_IN) <= height->steps)
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->object->name,
			    "for %llu of %llu steps its learning rate has been below %.3g; the "
			    "highest was %.3g",
			    (unsigned long long)height->steps_below,
			    (unsigned long long)height->steps, below, height->highest);
}

const struct wti_rule wti_rule_sched_004 = {
	.code = "WT-SCHED-004",
	.severity = WT_WARNING,
	.title = "the learning rate falls to almost zero long before the end",
	.means = "the schedule is stepped more often than it was written for, such as every batch "
		 "instead of every epoch: most of the run trains nothing",
	.hint = "call scheduler.step() once an epoch if the schedule counts epochs",
	.definition =
		"An optimizer does not spend twenty steps in a row, and a third of all its steps, "
		"below a ten-thousandth of its highest learning rate. A case is a step above it.",
	.innocent = "A run that is left running after its schedule has ended.",
	.needs = "no optimizer with a learning rate stepped",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct height)}},
	.see = see_height,
	.thresholds = {{"steps", 20, "in a row: a schedule may end at zero a few steps early"},
		       {"one_in", 3, "of all steps: schedules spend their last part near zero"},
		       {"below", 1e-4, "of the highest rate: few schedules end so low on purpose"}},
};

/* ---- WT-SCHED-005: ends in the middle ------------------------------------------------------- */

enum { OF_OPTIMIZER, OF_SCHEDULER, OF_GROUP }; /* keeps */
enum { END_STEPS, END_LEFT, END_EVEN, END_WHOLE };
enum { RATES_MAX = 64 };

/* Of a group of an optimizer. */
struct descent {
	double rates[RATES_MAX]; /* in the last steps, the newest last */
	uint64_t count;
	double highest;
};

static void follow_descent(struct descent *descent, double rate)
{
	memmove(&descent->rates[0], &descent->rates[1],
		(RATES_MAX - 1) * sizeof(descent->rates[0]));
	descent->rates[RATES_MAX - 1] = rate;
	descent->highest = fmax(descent->highest, rate);
	descent->count++;
}

static enum wti_answer see_descent(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	wti_plan_note(account, OF_SCHEDULER, moment);
	if (moment->type != WTI_MOMENT_STEPPED)
		return WTI_RULE_NO_CASE;
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		struct descent *descent =
			moment->object->lr_known & 1u << i
				? wti_kept_of_group(account, OF_GROUP, moment->object, i)
				: NULL;

		if (descent)
			follow_descent(descent, moment->object->lr[i]);
	}
	return WTI_RULE_NO_CASE;
}

/*
 * What an optimizer's schedulers have left of their plans, as the one with most. False: one of them
 * has none, and is not only made of others.
 */
static bool plan_of(struct wti_case *account, const struct wti_moment *end,
		    struct wti_schedule_plan *ret_plan)
{
	struct wti_schedule_plan most = {0};
	const struct wti_object *scheduler;
	bool has_parts = false;
	size_t free_count = 0, place = 0;

	while ((scheduler = wti_scheduler_next(end->training, end->object, &place))) {
		const struct wti_schedule_plan *plan =
			wti_kept_of_object(account, OF_SCHEDULER, scheduler);

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
static double steps_left(const struct wti_case *account, const struct descent *descent)
{
	uint64_t wanted = wti_threshold(account, END_STEPS);
	size_t count = wanted < 2 ? 2 : wanted > RATES_MAX ? RATES_MAX : (size_t)wanted;
	const double *rates = &descent->rates[RATES_MAX - count];
	double fall = rates[0] - rates[1];
	double even = wti_threshold_real(account, END_EVEN) * descent->highest;

	if (descent->count < count || fall <= 0)
		return -1;
	for (size_t i = 1; i + 1 < count; i++)
		if (fabs(rates[i] - rates[i + 1] - fall) > even)
			return -1;
	return rates[count - 1] / fall;
}

/* A group whose rate fell along a line until the end. */
struct line {
	const struct descent *descent; /* NULL: there is none */
	uint32_t group;
	double left; /* steps until zero */
};

static double last_rate(const struct line *line)
{
	return line->descent->rates[RATES_MAX - 1];
}

/* The first from `group` on. */
static struct line next_line(const struct wti_case *account, const struct wti_object *optimizer,
			     uint32_t group)
{
	for (; group < WTI_GROUPS_MAX; group++) {
		const struct descent *descent =
			wti_kept_find_group(account, OF_GROUP, optimizer, group);
		double left = descent ? steps_left(account, descent) : -1;

		if (left >= 0)
			return (struct line){descent, group, left};
	}
	return (struct line){0};
}

/* By its rate alone: a line to zero meets it at a whole step. One that does not ends above it,
 * where is not known. The last step may be the scheduler's alone. */
static enum wti_answer judge_line(const struct wti_case *account, const struct line *line)
{
	double whole = wti_threshold_real(account, END_WHOLE);

	if (last_rate(line) <= wti_threshold_real(account, END_LEFT) * line->descent->highest ||
	    line->left <= 1 + whole)
		return WTI_RULE_HELD;
	return fabs(line->left - round(line->left)) > whole ? WTI_RULE_NO_CASE : WTI_RULE_VIOLATED;
}

/* One that has come to its end, or ends above zero, shows what the others were to do. */
static enum wti_answer judge_lines(struct wti_case *account, struct line first,
				   const struct wti_moment *end)
{
	char words[WTI_GROUP_WORDS];
	bool is_whole = true;

	for (struct line line = first; line.descent;
	     line = next_line(account, end->object, line.group + 1)) {
		enum wti_answer answer = judge_line(account, &line);

		if (answer == WTI_RULE_HELD)
			return WTI_RULE_HELD;
		is_whole &= answer == WTI_RULE_VIOLATED;
	}
	if (!is_whole)
		return WTI_RULE_NO_CASE;
	return wti_violated(account, end, end->object->name,
			    "%s fell along a line and was at %.3g of %.3g when training ended, "
			    "after %llu steps; if it was planned to fall to zero, %.0f steps are "
			    "missing",
			    wti_group_rate(words, first.group), last_rate(&first),
			    first.descent->highest, (unsigned long long)end->object->step_count,
			    first.left);
}

static enum wti_answer judge_plan(struct wti_case *account, const struct line *line,
				  const struct wti_schedule_plan *plan,
				  const struct wti_moment *end)
{
	double left = plan->total - plan->done;
	char words[WTI_GROUP_WORDS];

	if (left <= 1 || left <= wti_threshold_real(account, END_LEFT) * plan->total)
		return WTI_RULE_HELD;
	return wti_violated(account, end, end->object->name,
			    "%s fell along a line and was at %.3g of %.3g when training ended: "
			    "%.0f steps of the schedule are missing after %llu",
			    wti_group_rate(words, line->group), last_rate(line),
			    line->descent->highest, left,
			    (unsigned long long)end->object->step_count);
}

static enum wti_answer finish_descent(struct wti_case *account, void *kept,
				      const struct wti_moment *end)
{
	struct line first = next_line(account, end->object, 0);
	struct wti_schedule_plan plan;

	if (!first.descent)
		return WTI_RULE_NO_CASE;
	if (plan_of(account, end, &plan))
		return judge_plan(account, &first, &plan, end);
	return judge_lines(account, first, end);
}

const struct wti_rule wti_rule_sched_005 = {
	.code = "WT-SCHED-005",
	.severity = WT_WARNING,
	.title = "training ends in the middle of the learning-rate schedule",
	.means = "fewer steps were made than the schedule was planned for: the number of steps is "
		 "counted in two ways that do not agree, or the run stopped early",
	.hint = "compute the number of steps once, and give the same to loop and schedule",
	.definition =
		"If the learning rate of a group of an optimizer fell along a straight line in "
		"its last eight steps, the optimizer's schedulers had less than a tenth of their "
		"steps left (total_iters, total_steps, T_max). Where a scheduler does not say how "
		"many steps it has, the rate of one such group ended below a tenth of its highest "
		"value or one step above zero, or its line does not meet zero at a whole step: "
		"then it ends above zero, and it is not known where. A case is such an optimizer, "
		"except one of the last kind.",
	.innocent = "Early stopping; a run that was cut short; a schedule that ends above zero "
		    "and does not say so, if its line happens to meet zero at a whole step.",
	.needs = "no learning rate fell along a line until the end",
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	/* Of an optimizer nothing but that it was there. */
	.keeps = {[OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(char)},
		  [OF_SCHEDULER] = {WTI_PER_OBJECT, sizeof(struct wti_schedule_plan)},
		  [OF_GROUP] = {WTI_PER_KEY, sizeof(struct descent)}},
	.see = see_descent,
	.finish = finish_descent,
	.thresholds = {{"steps", 8, "fewer lie on a line by chance; at most 64"},
		       {"left", 0.1, "of its steps: loops may round the last epoch off"},
		       {"even", 1e-6,
			"of the highest rate: decreases may differ by so much; those of a curve "
			"differ by more"},
		       {"whole", 1e-3,
			"of a step: by so much rounding moves the place where a line meets "
			"zero"}},
};
