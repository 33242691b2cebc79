/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the rules about devices. */
#include "survey.h"

#include <string.h>

#include "inspect/judge/judge.h"

struct wti_survey wti_survey_unit(const struct wti_work *work, uint32_t unit)
{
	struct wti_survey s = {INT64_MAX, INT64_MIN, 0};

	for (size_t q = 0; q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++) {
			const struct wti_work_op *op = &work->ops[queue->first + i];

			if (!wti_work_is_work(op))
				continue;
			s.from_ns = op->start_ns < s.from_ns ? op->start_ns : s.from_ns;
			s.to_ns = op->end_ns > s.to_ns ? op->end_ns : s.to_ns;
			s.count++;
		}
	}
	if (!s.count)
		s.from_ns = s.to_ns = 0;
	return s;
}

void wti_survey_found(struct wti_case *account, const struct wti_work *work, uint32_t unit,
		      const char *op, int64_t step, const char *evidence)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_unit_label(label, work, unit);
	struct wti_spot spot = {.subject = text.data, .op = op, .step = step};

	wti_found(account, &spot, "%s", evidence);
}

bool wti_is_transfer(const struct wti_work *work, const struct wti_work_op *op)
{
	const char *name = wti_symbol_text(&work->symbols, op->name);

	return op->op == WT_OP_COPY && !strstr(name, "DtoD") && !strstr(name, "PtoP") &&
	       !strstr(name, "Device -> Device") && !strstr(name, "CopyBuffer");
}

void wti_device_survey(struct wti_judge *judge, const struct wti_work *work)
{
	if (work->work_count)
		wti_judge_survey(judge, work);
}
