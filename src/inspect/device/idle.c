/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a queue stood still between two operations: the host had not launched the next one yet, the
 * device needed its usual moment between two, or something else (an event, another queue).
 */
#include "device.h"

#include "base/number.h"

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

static void add_row(struct wt_table *table, const struct wti_work *work, uint32_t q,
		    const int64_t idle_ns[CAUSES], const uint64_t counts[CAUSES])
{
	static const char *const words[CAUSES] = {"host wait", "kernel wait", "other"};
	int64_t all = wti_sum(wti_sum(idle_ns[0], idle_ns[1]), idle_ns[2]);

	for (unsigned i = 0; i < CAUSES; i++) {
		if (!counts[i])
			continue;
		wt_table_row(table);
		wti_queue_cells(table, work, q);
		wt_table_text(table, words[i], i == HOST_WAIT ? 9 : i == KERNEL_WAIT ? 11 : 5);
		wt_table_count(table, counts[i]);
		wt_table_ns(table, idle_ns[i]);
		wt_table_number(table, all ? 100.0 * (double)idle_ns[i] / (double)all : 0);
	}
}

static void walk(struct wt_table *table, const struct wti_work *work, uint32_t q)
{
	const struct wti_work_queue *queue = &work->queues[q];
	const struct wti_work_op *before = NULL;
	int64_t idle_ns[CAUSES] = {0};
	uint64_t counts[CAUSES] = {0};

	for (size_t i = 0; i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];
		enum cause cause;
		int64_t gap_ns;

		if (!wti_work_is_work(op))
			continue;
		if (before) {
			gap_ns = op->start_ns - before->end_ns;
			cause = cause_of(wti_work_launch(work, op), before->end_ns, gap_ns);
			idle_ns[cause] = wti_sum(idle_ns[cause], gap_ns);
			counts[cause]++;
		}
		before = op;
	}
	add_row(table, work, q, idle_ns, counts);
}

int wti_device_idle(const struct wti_work *work, const struct wti_device_options *options,
		    struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "idle", "Why queues stood still");

	(void)options;
	(void)err;
	wti_queue_columns(table);
	wt_table_column(table, "cause", "cause", WT_CELL_TEXT);
	wt_table_column(table, "count", "gaps", WT_CELL_COUNT);
	wt_table_column(table, "idle_ns", "time", WT_CELL_NS);
	wt_table_column(table, "share", "of its idle time", WT_CELL_PERCENT);
	for (uint32_t q = 0; q < work->queue_count; q++)
		walk(table, work, q);
	return 0;
}
