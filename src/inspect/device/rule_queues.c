/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about several queues, several devices, and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "covers.h"
#include "stragglers.h"
#include "survey.h"

/* ---- Queues that never run at once ----------------------------------------------------------- */

enum { OVERLAP, PART, OPERATIONS };

struct sides { /* compute of a device: of its busiest queue, of the others, of all */
	struct wti_covers busiest, others;
	uint64_t busiest_ns, others_ns, both_ns;
	size_t queue_count;
};

static int covers_of(const struct wti_work *work, uint32_t q, struct wti_covers *set)
{
	const struct wti_work_queue *queue = &work->queues[q];

	for (size_t i = 0; i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];

		if (wti_work_is_work(op) && op->type == WTI_KERNEL_COMPUTE &&
		    wti_covers_add(set, op->start_ns, op->end_ns))
			return -1;
	}
	return 0;
}

static uint64_t compute_ns(const struct wti_work *work, uint32_t q)
{
	const struct wti_work_queue *queue = &work->queues[q];
	uint64_t sum = 0;

	for (size_t i = 0; i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];

		if (wti_work_is_work(op) && op->type == WTI_KERNEL_COMPUTE)
			sum += (uint64_t)(op->end_ns - op->start_ns);
	}
	return sum;
}

static int sides_of(const struct wti_work *work, uint32_t unit, struct sides *sides)
{
	uint32_t busiest = UINT32_MAX;
	uint64_t combined[4], most = 0;
	int r = 0;

	*sides = (struct sides){0};
	for (uint32_t q = 0; q < work->queue_count; q++) {
		uint64_t ns = work->queues[q].unit == unit ? compute_ns(work, q) : 0;

		sides->queue_count += ns > 0;
		if (ns > most) {
			most = ns;
			busiest = q;
		}
	}
	for (uint32_t q = 0; !r && q < work->queue_count; q++)
		if (work->queues[q].unit == unit)
			r = covers_of(work, q, q == busiest ? &sides->busiest : &sides->others);
	if (!r) {
		struct wti_covers sets[2];

		wti_covers_merge(&sides->busiest);
		wti_covers_merge(&sides->others);
		sets[0] = sides->busiest;
		sets[1] = sides->others;
		wti_covers_overlap(sets, 2, combined);
		sides->both_ns = combined[3];
		sides->busiest_ns = combined[1] + combined[3];
		sides->others_ns = combined[2] + combined[3];
	}
	wti_covers_release(&sides->busiest);
	wti_covers_release(&sides->others);
	return r;
}

static void survey_queues(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct wti_survey s = wti_survey_unit(work, unit);
		struct sides sides;
		double part, overlap;
		char text[200], first[16], second[16], both[16];

		if (s.count < wti_threshold(account, OPERATIONS) || sides_of(work, unit, &sides) ||
		    sides.queue_count < 2)
			continue;
		part = 100.0 * (double)sides.others_ns /
		       (double)(sides.busiest_ns + sides.others_ns);
		overlap = 100.0 * (double)sides.both_ns / (double)sides.others_ns;
		if (part < wti_threshold_real(account, PART))
			continue;
		if (overlap >= wti_threshold_real(account, OVERLAP)) {
			wti_held(account);
			continue;
		}
		snprintf(text, sizeof(text),
			 "kernels of its busiest queue ran for %s, those of %zu others for %s, "
			 "both at once for %s",
			 wti_format_ns(first, wti_i64(sides.busiest_ns)), sides.queue_count - 1,
			 wti_format_ns(second, wti_i64(sides.others_ns)),
			 wti_format_ns(both, wti_i64(sides.both_ns)));
		wti_survey_found(account, work, unit, NULL, -1, text);
	}
}

const struct wti_rule wti_rule_dev_005 = {
	.code = "WT-DEV-005",
	.severity = WT_WARNING,
	.title = "kernels of several queues never run at the same time",
	.means =
		"the program uses several queues, and gains nothing: events, the default stream or "
		"kernels that fill the device put one after the other",
	.hint = "look at `wheeltap stat --device --dependencies`: what waits for what; use streams "
		"that do not synchronise with the default one, or a single queue",
	.definition =
		"Where queues other than the busiest one have `part_percent` or more of the "
		"compute "
		"time of a device, they run at the same time as the busiest one for "
		"`overlap_percent` of their time or more. A case is such a device, with at least "
		"`operations` operations.",
	.innocent = "Queues that are used to keep work in order and not to run it at once; kernels "
		    "that each fill the whole device.",
	.needs = "no device has compute kernels on several queues",
	.survey = survey_queues,
	.thresholds = {{"overlap_percent", 2.0, "less is chance"},
		       {"part_percent", 10.0, "a queue with little work has little to gain"},
		       WTI_SURVEY_OPERATIONS},
};

/* ---- A rank that is always last -------------------------------------------------------------- */

enum { LATE, ALWAYS, STEPS };

static void judge_unit(struct wti_case *account, const struct wti_work *work,
		       const struct wti_stragglers *s, uint32_t unit)
{
	double last = 100.0 * (double)s->units[unit].last_count / (double)s->step_count;
	double late_ns = (double)s->units[unit].late_ns / (double)s->step_count;
	double late = s->step_ns ? 100.0 * late_ns / (double)s->step_ns : 0;
	char text[240], time[16];

	if (last < wti_threshold_real(account, ALWAYS) ||
	    late < wti_threshold_real(account, LATE)) {
		wti_held(account);
		return;
	}
	snprintf(text, sizeof(text),
		 "it was the last to begin '%.80s' in %llu of %llu steps, on average %s after the "
		 "first, %.0f %% of a step",
		 wti_symbol_text(&work->symbols, s->name),
		 (unsigned long long)s->units[unit].last_count, (unsigned long long)s->step_count,
		 wti_format_ns(time, wti_i64_of(late_ns)), late);
	wti_survey_found(account, work, unit, NULL, -1, text);
}

static void survey_ranks(struct wti_case *account, const struct wti_work *work)
{
	struct wt_err err = {.offset = -1};
	struct wti_stragglers s;

	if (wti_stragglers_find(work, &s, &err))
		return;
	for (uint32_t unit = 0;
	     s.step_count >= wti_threshold(account, STEPS) && unit < work->unit_count; unit++)
		judge_unit(account, work, &s, unit);
	free(s.units);
}

const struct wti_rule wti_rule_dev_006 = {
	.code = "WT-DEV-006",
	.severity = WT_WARNING,
	.title = "one rank is always late, and the others wait for it",
	.means = "in each step all others stand in the collective until it comes: the run is as "
		 "slow "
		 "as this rank",
	.hint = "compare its operations with those of another rank (`wheeltap stat --device`): "
		"more "
		"work, a slower device, a host that is busy with something else, or data that "
		"comes "
		"later",
	.definition =
		"No device is the last to begin the collectives in `percent` of the steps or more "
		"and on average `late_percent` of a step later than the first. A case is a device "
		"of "
		"a run in which several have the same collectives, in at least `steps` steps.",
	.innocent = "Pipelines, in which the last stage begins last.",
	.needs = "no collectives of several devices in steps",
	.survey = survey_ranks,
	.thresholds = {{"late_percent", 5.0, "below it the collective itself costs more"},
		       {"percent", 80.0, "by chance each of two is last in half of the steps"},
		       {"steps", 5, "fewer are chance"}},
};

/* ---- Memory that is made again and again ----------------------------------------------------- */

enum { CALLS, TIME };

static bool is_allocation(const char *name)
{
	static const char *const names[] = {
		"cudaMalloc",     "cudaFree",           "cudaMallocHost",
		"cudaFreeHost",   "cudaHostAlloc",      "cuMemAlloc",
		"cuMemFree",      "cuMemAlloc_v2",      "cuMemFree_v2",
		"cuMemCreate",    "cuMemRelease",       "hipMalloc",
		"hipFree",        "hipHostMalloc",      "hipHostFree",
		"clCreateBuffer", "clReleaseMemObject", "clSVMAlloc",
		"clSVMFree"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

struct churn {
	uint64_t count, runtime_count;
	int64_t ns;
	uint32_t name;
};

/* From the first operation of a device on: what comes before sets up. */
static struct churn churn_of(const struct wti_work *work, uint32_t stream,
			     const struct wti_survey *s)
{
	struct churn churn = {0};

	for (size_t i = 0; i < work->call_count; i++) {
		const struct wti_work_call *call = &work->calls[i];

		if (!(call->flags & WTI_WORK_RUNTIME) || call->begin_ns < s->from_ns ||
		    call->begin_ns > s->to_ns || work->threads[call->thread].stream != stream)
			continue;
		churn.runtime_count++;
		if (!is_allocation(wti_symbol_text(&work->symbols, call->name)))
			continue;
		churn.count++;
		churn.ns = wti_sum(churn.ns, call->end_ns - call->begin_ns);
		churn.name = call->name;
	}
	return churn;
}

static void survey_memory(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct wti_survey s = wti_survey_unit(work, unit);
		struct churn churn = churn_of(work, work->units[unit].stream, &s);
		double percent = s.to_ns > s.from_ns
					 ? 100.0 * (double)churn.ns / (double)(s.to_ns - s.from_ns)
					 : 0;
		char text[200], time[16];

		if (!churn.runtime_count)
			continue;
		if (churn.count < wti_threshold(account, CALLS) ||
		    percent < wti_threshold_real(account, TIME)) {
			wti_held(account);
			continue;
		}
		snprintf(text, sizeof(text),
			 "memory was allocated or freed %llu times between its first and its last "
			 "operation, which took %s, %.0f %% of the time",
			 (unsigned long long)churn.count, wti_format_ns(time, churn.ns), percent);
		wti_survey_found(account, work, unit, wti_symbol_text(&work->symbols, churn.name),
				 -1, text);
	}
}

const struct wti_rule wti_rule_dev_007 = {
	.code = "WT-DEV-007",
	.severity = WT_WARNING,
	.title = "memory of the device is allocated and freed all the time",
	.means = "each allocation goes to the driver, which may wait until the device is idle",
	.hint = "allocate once and use it again: buffers outside of the loop, PyTorch's caching "
		"allocator (not PYTORCH_NO_CUDA_MEMORY_CACHING, no empty_cache() in the loop), "
		"expandable segments against fragmentation",
	.definition =
		"Between its first and its last operation the process of a device allocates and "
		"frees memory of the driver fewer than `calls` times, or spends less than "
		"`percent` of the time on it. A case is a device whose API calls are recorded.",
	.innocent = "Programs that end soon after they have allocated what they need.",
	.needs = "no calls of a device API in this run",
	.survey = survey_memory,
	.thresholds = {{"calls", 100, "caching allocators need a few dozen until they have enough"},
		       {"percent", 5.0, "below it there is little to gain"}},
};
