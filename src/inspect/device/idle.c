/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a queue stood still between two operations: the host had not launched the next one yet, the
 * device needed its usual moment between two, or something else (an event, another queue); and how
 * long such gaps were.
 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "describe.h"

/* Below this a gap is what a device needs between two operations: HolisticTraceAnalysis' default.
 */
#define BACK_TO_BACK_NS 30

enum cause { HOST_WAIT, KERNEL_WAIT, OTHER, CAUSES };

static enum cause cause_of(const struct wti_work_call *launch, int64_t before_ns, int64_t gap_ns)
{
	if (launch && launch->begin_ns > before_ns)
		return HOST_WAIT;
	return gap_ns < BACK_TO_BACK_NS ? KERNEL_WAIT : OTHER;
}

/* Of one cause. */
struct gaps {
	double *lengths;
	size_t count;
	int64_t idle_ns;
};

static void add_row(struct wt_table *table, const struct wti_work *work, uint32_t q,
		    enum cause cause, const struct gaps *gaps, int64_t all_ns)
{
	static const char *const words[CAUSES] = {"host wait", "kernel wait", "other"};
	struct wti_description lengths = wti_description_of(gaps->lengths, gaps->count);

	wt_table_row(table);
	wti_queue_cells(table, work, q);
	wt_table_text(table, words[cause], strlen(words[cause]));
	wt_table_ns(table, gaps->idle_ns);
	wt_table_number(table, all_ns ? 100.0 * (double)gaps->idle_ns / (double)all_ns : 0);
	wti_description_cells(table, &lengths, WT_CELL_NS);
}

static void gather(struct gaps *gaps, enum cause cause, const struct wti_work *work,
		   const struct wti_work_queue *queue)
{
	const struct wti_work_op *before = NULL;

	gaps->count = 0;
	gaps->idle_ns = 0;
	for (size_t i = 0; i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];
		int64_t gap_ns = before ? op->start_ns - before->end_ns : 0;

		if (!wti_work_is_work(op))
			continue;
		if (before &&
		    cause_of(wti_work_launch(work, op), before->end_ns, gap_ns) == cause) {
			gaps->lengths[gaps->count++] = (double)gap_ns;
			gaps->idle_ns = wti_sum(gaps->idle_ns, gap_ns);
		}
		before = op;
	}
}

static int walk(struct wt_table *table, const struct wti_work *work, uint32_t q)
{
	const struct wti_work_queue *queue = &work->queues[q];
	struct gaps gaps = {malloc((queue->count + 1) * sizeof(*gaps.lengths)), 0, 0};
	int64_t all_ns = 0;

	if (!gaps.lengths)
		return WT_E_NOMEM;
	for (enum cause cause = 0; cause < CAUSES; cause++) {
		gather(&gaps, cause, work, queue);
		all_ns = wti_sum(all_ns, gaps.idle_ns);
	}
	for (enum cause cause = 0; cause < CAUSES; cause++) {
		gather(&gaps, cause, work, queue);
		if (gaps.count)
			add_row(table, work, q, cause, &gaps, all_ns);
	}
	free(gaps.lengths);
	return 0;
}

int wti_device_idle(const struct wti_work *work, const struct wti_device_options *options,
		    struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "idle", "Why queues were idle");

	int r = 0;

	(void)options;
	wti_queue_columns(table);
	wt_table_column(table, "cause", "cause", WT_CELL_TEXT);
	wt_table_column(table, "idle_ns", "time", WT_CELL_NS);
	wt_table_column(table, "share", "of its idle time", WT_CELL_PERCENT);
	wti_description_columns(table, WT_CELL_NS);
	for (uint32_t q = 0; !r && q < work->queue_count; q++)
		r = walk(table, work, q);
	return r ? wti_err(err, r, "out of memory for gaps of queues") : 0;
}
