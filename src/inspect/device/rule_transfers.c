/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about copies between host and device. */
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "covers.h"
#include "survey.h"

enum { SHARE, OPERATIONS };
enum { COPIES = 0, WAITED = 1 };

/* Transfers, and everything else that works, of a device. */
static int gather(const struct wti_work *work, uint32_t unit, struct wti_covers sets[2])
{
	for (size_t q = 0; q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++) {
			const struct wti_work_op *op = &work->ops[queue->first + i];

			if (wti_work_is_work(op) &&
			    wti_covers_add(&sets[!wti_is_transfer(work, op)], op->start_ns,
					   op->end_ns))
				return -1;
		}
	}
	return 0;
}

static void survey_transfers(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct wti_survey s = wti_survey_unit(work, unit);
		struct wti_covers sets[2] = {0};
		uint64_t combined[4];
		char alone[16], all[16], text[160];
		double percent;

		if (s.count < wti_threshold(account, OPERATIONS) || s.to_ns <= s.from_ns)
			continue;
		if (!gather(work, unit, sets)) {
			wti_covers_merge(&sets[0]);
			wti_covers_merge(&sets[1]);
			wti_covers_overlap(sets, 2, combined);
			percent = 100.0 * (double)combined[1] / (double)(s.to_ns - s.from_ns);
			snprintf(text, sizeof(text),
				 "copies between host and device took %s of %s, %.0f %%, while "
				 "nothing else ran",
				 wti_format_ns(alone, (int64_t)combined[1]),
				 wti_format_ns(all, s.to_ns - s.from_ns), percent);
			if (percent >= wti_threshold_real(account, SHARE))
				wti_survey_found(account, work, unit, NULL, -1, text);
			else
				wti_held(account);
		}
		wti_covers_release(&sets[0]);
		wti_covers_release(&sets[1]);
	}
}

const struct wti_rule wti_rule_dev_001 = {
	.code = "WT-DEV-001",
	.severity = WT_WARNING,
	.title = "the device waits for copies from and to the host",
	.means = "data goes back and forth while the device computes nothing: the link is the "
		 "bottleneck",
	.hint = "copy from pinned memory on a queue of its own while the step before runs; keep "
		"what is used again on the device; copy less, or in a smaller type",
	.definition = "Of the time between the first and the last work of a device, less than "
		      "`percent` is spent in copies between host and device while nothing else "
		      "runs on it. A case is a device with at least `operations` operations.",
	.innocent = "Programs whose task is to move data.",
	.needs = WTI_NO_DEVICE_WORK,
	.survey = survey_transfers,
	.thresholds = {{"percent", 20.0, "a fifth of the time is worth an asynchronous copy"},
		       WTI_SURVEY_OPERATIONS},
};

/* ---- Copies that the host waits for ---------------------------------------------------------- */

static void survey_waits(struct wti_case *account, const struct wti_work *work)
{
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct wti_survey s = wti_survey_unit(work, unit);
		uint64_t copies = 0, waited = 0;
		int64_t waited_ns = 0;
		const char *name = NULL;
		char text[200], time[16];
		double percent;

		for (size_t i = 0; i < work->op_count; i++) {
			const struct wti_work_op *op = &work->ops[i];
			const struct wti_work_call *call = wti_work_launch(work, op);

			if (work->queues[op->queue].unit != unit || !call ||
			    !wti_is_transfer(work, op))
				continue;
			copies++;
			if (call->end_ns < op->end_ns)
				continue;
			waited++;
			waited_ns = wti_sum(waited_ns, call->end_ns - call->begin_ns);
			name = wti_symbol_text(&work->symbols, call->name);
		}
		if (copies < wti_threshold(account, COPIES) || s.to_ns <= s.from_ns)
			continue;
		percent = 100.0 * (double)waited_ns / (double)(s.to_ns - s.from_ns);
		if (waited < wti_threshold(account, COPIES) ||
		    percent < wti_threshold_real(account, WAITED)) {
			wti_held(account);
			continue;
		}
		snprintf(text, sizeof(text),
			 "in %llu of %llu copies the host waited until they were done, %s in all",
			 (unsigned long long)waited, (unsigned long long)copies,
			 wti_format_ns(time, waited_ns));
		wti_survey_found(account, work, unit, name, -1, text);
	}
}

const struct wti_rule wti_rule_dev_003 = {
	.code = "WT-DEV-003",
	.severity = WT_WARNING,
	.title = "the host waits for copies",
	.means = "while it waits it launches nothing, and the device runs dry behind the copy",
	.hint = "copy asynchronously from and to pinned memory (pin_memory=True, "
		"non_blocking=True), and read results (.item(), .cpu()) less often",
	.definition =
		"Fewer than `copies` copies between host and device end before the call that "
		"launched them returns, or those calls take less than `percent` of the time of "
		"the device. A case is a device with that many copies.",
	.innocent = "A program that needs the value that it copies to go on, once a step.",
	.needs = "no copies between host and device, or not the calls that launched them",
	.survey = survey_waits,
	.thresholds = {{"copies", 20, "a few at the beginning and the end are no habit"},
		       {"percent", 5.0, "below it asynchronous copies would save little"}},
};
