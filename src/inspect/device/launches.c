/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What launching costs: how long the call took on the host, how long the operation on the device,
 * and how long it was from the end of the one to the start of the other.
 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "describe.h"

/* HolisticTraceAnalysis' defaults: a call, and a delay, that are worth a look. */
#define CALL_CUTOFF_NS 50000
#define DELAY_CUTOFF_NS 100000

enum figure { CALL, DEVICE, DELAY, FIGURES };

struct launches {
	double *values[FIGURES];
	size_t count;
	uint64_t short_count, call_count, delay_count; /* below their call; beyond a cutoff */
	uint64_t graph_count, unknown_count;
};

static int64_t delay_of(const struct wti_work_op *op, const struct wti_work_call *call)
{
	return op->start_ns > call->end_ns ? op->start_ns - call->end_ns : 0;
}

static void add(struct launches *all, const struct wti_work *work, const struct wti_work_op *op)
{
	const struct wti_work_call *call = wti_work_launch(work, op);
	int64_t call_ns, device_ns, delay_ns;

	if (!call) {
		all->unknown_count++;
		return;
	}
	if (op->in_graph) {
		all->graph_count++;
		return;
	}
	call_ns = call->end_ns - call->begin_ns;
	device_ns = op->end_ns - op->start_ns;
	delay_ns = delay_of(op, call);
	all->values[CALL][all->count] = (double)call_ns;
	all->values[DEVICE][all->count] = (double)device_ns;
	all->values[DELAY][all->count++] = (double)delay_ns;
	all->short_count += call_ns <= CALL_CUTOFF_NS && device_ns < call_ns;
	all->call_count += call_ns > CALL_CUTOFF_NS;
	all->delay_count += delay_ns > DELAY_CUTOFF_NS;
}

static void add_rows(struct wt_table *table, struct wt_table *counts, const struct wti_work *work,
		     uint32_t unit, struct launches *all)
{
	static const char *const words[FIGURES] = {"call on the host", "on the device", "delay"};

	for (unsigned f = 0; all->count && f < FIGURES; f++) {
		struct wti_description d = wti_description_of(all->values[f], all->count);

		wt_table_row(table);
		wti_unit_cells(table, work, unit);
		wt_table_text(table, words[f], strlen(words[f]));
		wti_description_cells(table, &d, WT_CELL_NS);
	}
	wt_table_row(counts);
	wti_unit_cells(counts, work, unit);
	wt_table_count(counts, all->count);
	wt_table_count(counts, all->short_count);
	wt_table_count(counts, all->call_count);
	wt_table_count(counts, all->delay_count);
	wt_table_count(counts, all->graph_count);
	wt_table_count(counts, all->unknown_count);
}

static int unit_rows(struct wt_table *table, struct wt_table *counts, const struct wti_work *work,
		     uint32_t unit)
{
	struct launches all = {0};
	size_t count = wti_unit_ops(work, unit);
	int r = 0;

	for (unsigned f = 0; f < FIGURES; f++) {
		all.values[f] = malloc((count + 1) * sizeof(double));
		if (!all.values[f])
			r = WT_E_NOMEM;
	}
	for (size_t q = 0; !r && q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++)
			if (wti_work_is_work(&work->ops[queue->first + i]))
				add(&all, work, &work->ops[queue->first + i]);
	}
	if (!r && (all.count || all.graph_count || all.unknown_count))
		add_rows(table, counts, work, unit, &all);
	for (unsigned f = 0; f < FIGURES; f++)
		free(all.values[f]);
	return r;
}

int wti_device_launches(const struct wti_work *work, const struct wti_device_options *options,
			struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "launches", "Launches");
	struct wt_table *counts = wt_result_table(result, "launch_counts", "Launches worth a look");

	(void)options;
	wti_unit_columns(table);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wti_description_columns(table, WT_CELL_NS);
	wti_unit_columns(counts);
	wt_table_column(counts, "count", "launches", WT_CELL_COUNT);
	wt_table_column(counts, "short", "shorter than their call", WT_CELL_COUNT);
	wt_table_column(counts, "slow_call", "call over 50 us", WT_CELL_COUNT);
	wt_table_column(counts, "late", "delay over 100 us", WT_CELL_COUNT);
	wt_table_column(counts, "in_graph", "in graphs", WT_CELL_COUNT);
	wt_table_hide(counts, 2);
	wt_table_column(counts, "unknown", "call not recorded", WT_CELL_COUNT);
	wt_table_hide(counts, 1);
	for (uint32_t unit = 0; unit < work->unit_count; unit++)
		if (unit_rows(table, counts, work, unit))
			return wti_err(err, WT_E_NOMEM, "out of memory for launches");
	return 0;
}
