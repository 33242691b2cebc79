/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about a host that does not keep its device busy. */
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "survey.h"

enum { IDLE, SHORT, OPERATIONS };
enum { BETWEEN = 0, STEPS = 1 };

struct turn { /* an operation of a device, in the order of all its queues */
	int64_t start_ns, end_ns;
	int64_t launched_ns; /* INT64_MIN: not known */
	int32_t step;
};

static int by_start(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* To be freed. */
static struct turn *turns_of(const struct wti_work *work, uint32_t unit, size_t *ret_count,
			     uint64_t *ret_short)
{
	struct turn *turns = malloc((wti_unit_ops(work, unit) + 1) * sizeof(*turns));
	size_t count = 0;

	*ret_short = 0;
	for (size_t q = 0; turns && q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++) {
			const struct wti_work_op *op = &work->ops[queue->first + i];
			const struct wti_work_call *call = wti_work_launch(work, op);

			if (!wti_work_is_work(op))
				continue;
			*ret_short +=
				call && op->end_ns - op->start_ns < call->end_ns - call->begin_ns;
			turns[count++] = (struct turn){op->start_ns, op->end_ns,
						       call ? call->begin_ns : INT64_MIN,
						       call ? call->step : -1};
		}
	}
	if (count)
		qsort(turns, count, sizeof(*turns), by_start);
	*ret_count = count;
	return turns;
}

/* How long nothing ran, and the next operation had not been launched yet. */
static int64_t starved(const struct turn *turns, size_t count)
{
	int64_t end_ns = count ? turns[0].end_ns : 0, sum = 0;

	for (size_t i = 1; i < count; i++) {
		if (turns[i].start_ns > end_ns && turns[i].launched_ns > end_ns)
			sum = wti_sum(sum, turns[i].start_ns - end_ns);
		end_ns = turns[i].end_ns > end_ns ? turns[i].end_ns : end_ns;
	}
	return sum;
}

static void survey_launches(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct wti_survey s = wti_survey_unit(work, unit);
		uint64_t short_count;
		size_t count;
		struct turn *turns = turns_of(work, unit, &count, &short_count);
		int64_t window = s.to_ns - s.from_ns;
		double idle, share;
		char text[200];

		if (turns && count >= wti_threshold(account, OPERATIONS) && window > 0) {
			idle = 100.0 * (double)starved(turns, count) / (double)window;
			share = 100.0 * (double)short_count / (double)count;
			snprintf(text, sizeof(text),
				 "for %.0f %% of the time it ran nothing and the next operation "
				 "was not launched yet; %.0f %% of %zu operations are shorter "
				 "than the call that launches them",
				 idle, share, count);
			if (idle >= wti_threshold_real(account, IDLE) &&
			    share >= wti_threshold_real(account, SHORT))
				wti_survey_found(account, work, unit, NULL, -1, text);
			else
				wti_held(account);
		}
		free(turns);
	}
}

const struct wti_rule wti_rule_dev_002 = {
	.code = "WT-DEV-002",
	.severity = WT_WARNING,
	.title = "the device waits for the host to launch short kernels",
	.means = "the host cannot launch as fast as the device computes: a faster device would "
		 "change nothing",
	.hint = "make kernels fewer and longer: a larger batch, fused operators "
		"(torch.compile), foreach optimizers, or launch them as a graph",
	.definition =
		"The device does not run dry for `percent` of its time or more, waiting for "
		"operations that were not launched yet, while `short_percent` or more of its "
		"operations take less time than their launch. A case is a device with at least "
		"`operations` operations.",
	.innocent = "Very small models, for which nothing is worth the effort.",
	.needs = WTI_NO_DEVICE_WORK,
	.explains = (const char *const[]){"WT-DEV-004", NULL},
	.survey = survey_launches,
	.thresholds = {{"percent", 30.0, "a third of the device is unused"},
		       {"short_percent", 50.0, "most operations cost more to launch than to run"},
		       WTI_SURVEY_OPERATIONS},
};

/* ---- Between steps --------------------------------------------------------------------------- */

struct pauses {
	int64_t idle_ns, all_ns, longest_ns;
	int32_t longest_step;
	uint64_t count;
};

/* Operations by their start: where the step changes, the pause before. */
static struct pauses pauses_of(const struct turn *turns, size_t count)
{
	struct pauses p = {.longest_step = -1};
	int64_t end_ns = INT64_MIN, from_ns = 0;
	int32_t step = -1;

	for (size_t i = 0; i < count; i++) {
		if (turns[i].step < 0)
			continue;
		if (step < 0)
			from_ns = turns[i].start_ns;
		if (step >= 0 && turns[i].step > step) {
			int64_t pause = turns[i].start_ns - end_ns;

			p.count++;
			if (pause > 0)
				p.idle_ns = wti_sum(p.idle_ns, pause);
			if (pause > p.longest_ns) {
				p.longest_ns = pause;
				p.longest_step = turns[i].step;
			}
		}
		step = turns[i].step > step ? turns[i].step : step;
		end_ns = turns[i].end_ns > end_ns ? turns[i].end_ns : end_ns;
	}
	p.all_ns = end_ns > from_ns ? end_ns - from_ns : 0;
	return p;
}

static void survey_steps(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		uint64_t short_count;
		size_t count;
		struct turn *turns = turns_of(work, unit, &count, &short_count);
		struct pauses p = turns ? pauses_of(turns, count) : (struct pauses){0};
		char text[200], idle[16], longest[16];
		double percent = p.all_ns ? 100.0 * (double)p.idle_ns / (double)p.all_ns : 0;

		free(turns);
		if (p.count < wti_threshold(account, STEPS))
			continue;
		if (percent < wti_threshold_real(account, BETWEEN)) {
			wti_held(account);
			continue;
		}
		snprintf(text, sizeof(text),
			 "it stood still for %s between steps, %.0f %% of the time; the longest "
			 "pause, %s, was before step %d",
			 wti_format_ns(idle, p.idle_ns), percent,
			 wti_format_ns(longest, p.longest_ns), p.longest_step);
		wti_survey_found(account, work, unit, NULL, p.longest_step, text);
	}
}

const struct wti_rule wti_rule_dev_004 = {
	.code = "WT-DEV-004",
	.severity = WT_WARNING,
	.title = "the device stands still between steps",
	.means = "the next step cannot begin: its data is not there, or the host does something "
		 "else, such as logging or saving",
	.hint = "load data in workers ahead of time (num_workers, prefetch_factor, pin_memory), "
		"and log and save less often or in another thread; `wheeltap stat --device` shows "
		"what the host did in the largest gaps",
	.definition = "From the last operation of a step to the first of the next, a device stands "
		      "still for less than `percent` of its time. A case is a device with at least "
		      "`steps` such changes.",
	.innocent = "Steps that end with an evaluation on the host.",
	.needs = "no device work that was launched in steps",
	.survey = survey_steps,
	.thresholds = {{"percent", 15.0, "more than a seventh of the time"},
		       {"steps", 3, "the first ones are never typical"}},
};
