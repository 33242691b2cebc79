/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each queue: how long it ran, how long something waited in it while nothing ran, how long it was
 * empty; how many operations waited, and for how long as many as a queue of CUDA's takes.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/number.h"
#include "describe.h"
#include "queue_length.h"

/* From this length on cudaLaunchKernel() blocks: HolisticTraceAnalysis' default. */
#define FULL_LENGTH 1024

/* ---- States ---------------------------------------------------------------------------------- */

struct states {
	int64_t running_ns, waiting_ns;
	uint64_t count;
};

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* When the operations of a queue were launched, in that order; to be freed. */
static int64_t *launch_times(const struct wti_work *work, const struct wti_work_queue *queue,
			     size_t *ret_count)
{
	int64_t *times = malloc((queue->count + 1) * sizeof(*times));
	size_t count = 0;

	for (size_t i = 0; times && i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];
		const struct wti_work_call *call = wti_work_launch(work, op);

		if (wti_work_is_work(op))
			times[count++] = call && call->begin_ns < op->start_ns ? call->begin_ns
									       : op->start_ns;
	}
	if (count)
		qsort(times, count, sizeof(*times), by_ns);
	*ret_count = count;
	return times;
}

static int states_of(const struct wti_work *work, uint32_t q, struct states *states,
		     struct wt_err *err)
{
	const struct wti_work_queue *queue = &work->queues[q];
	size_t count, started = 0;
	int64_t *times = launch_times(work, queue, &count);
	int64_t end_ns = INT64_MIN;

	*states = (struct states){.count = count};
	if (!times)
		return wti_err(err, WT_E_NOMEM, "out of memory for the states of queues");
	for (size_t i = 0; i < queue->count; i++) {
		const struct wti_work_op *op = &work->ops[queue->first + i];
		int64_t from_ns = op->start_ns;

		if (!wti_work_is_work(op))
			continue;
		if (end_ns == INT64_MIN)
			end_ns = op->start_ns;
		if (op->start_ns > end_ns) { /* it stood still: since when did something wait? */
			int64_t since = times[started] > end_ns ? times[started] : end_ns;

			if (op->start_ns > since)
				states->waiting_ns =
					wti_sum(states->waiting_ns, op->start_ns - since);
		} else {
			from_ns = end_ns;
		}
		if (op->end_ns > from_ns)
			states->running_ns = wti_sum(states->running_ns, op->end_ns - from_ns);
		if (op->end_ns > end_ns)
			end_ns = op->end_ns;
		started++;
	}
	free(times);
	return 0;
}

/* From the first work of a device to its last. */
static int64_t window_of(const struct wti_work *work, uint32_t unit)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

	for (size_t q = 0; q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++) {
			const struct wti_work_op *op = &work->ops[queue->first + i];

			if (!wti_work_is_work(op))
				continue;
			from_ns = op->start_ns < from_ns ? op->start_ns : from_ns;
			to_ns = op->end_ns > to_ns ? op->end_ns : to_ns;
		}
	}
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void state_row(struct wt_table *table, const struct wti_work *work, uint32_t q,
		      const struct states *states, int64_t window)
{
	wt_table_row(table);
	wti_queue_cells(table, work, q);
	wt_table_count(table, states->count);
	wt_table_ns(table, states->running_ns);
	wt_table_ns(table, states->waiting_ns);
	wt_table_ns(table, wti_difference(window, wti_sum(states->running_ns, states->waiting_ns)));
	wt_table_number(table, window ? 100.0 * (double)states->running_ns / (double)window : 0);
}

static int add_states(const struct wti_work *work, struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "queues", "States of queues");

	wti_queue_columns(table);
	wt_table_column(table, "operations", "operations", WT_CELL_COUNT);
	wt_table_column(table, "running_ns", "running", WT_CELL_NS);
	wt_table_column(table, "waiting_ns", "waiting", WT_CELL_NS);
	wt_table_column(table, "empty_ns", "empty", WT_CELL_NS);
	wt_table_column(table, "utilisation", "utilisation", WT_CELL_PERCENT);
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		int64_t window = window_of(work, unit);

		for (uint32_t q = 0; q < work->queue_count; q++) {
			struct states states;
			int r;

			if (work->queues[q].unit != unit)
				continue;
			r = states_of(work, q, &states, err);
			if (r)
				return r;
			if (states.count)
				state_row(table, work, q, &states, window);
		}
	}
	return 0;
}

/* ---- Length ---------------------------------------------------------------------------------- */

/* Of each part of the time the last, lowest and highest length. */
static void add_series(const struct wti_work *work, struct wt_result *result, uint32_t q,
		       const struct wti_queue_point *points, size_t count, uint32_t columns)
{
	double from = (double)points[0].ns, length = (double)points[count - 1].ns - from;
	double step = length > 0 ? length / columns : 1;
	char label[WTI_LABEL_BYTES], key[64], title[WTI_LABEL_BYTES + 32];
	struct wt_text text = wti_queue_label(label, work, q);
	struct wt_series *series;
	int32_t now = 0;
	size_t at = 0;

	snprintf(key, sizeof(key), "queue_length_%u", q);
	snprintf(title, sizeof(title), "%.*s: waiting", (int)text.bytes, text.data);
	series = wt_result_series(result, key, title, "operations", from, step, columns);
	if (!series || !wt_series_extremes(series, result))
		return;
	for (uint32_t i = 0; i < columns; i++) {
		double end = from + (i + 1) * step;
		int32_t low = now, high = now;

		for (; at < count && (i + 1 == columns || (double)points[at].ns < end); at++) {
			now = points[at].length;
			low = now < low ? now : low;
			high = now > high ? now : high;
		}
		series->y[i] = now;
		series->low[i] = low;
		series->high[i] = high;
	}
}

static int64_t full_time(const struct wti_queue_point *points, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i + 1 < count; i++)
		if (points[i].length >= FULL_LENGTH)
			sum = wti_sum(sum, points[i + 1].ns - points[i].ns);
	return sum;
}

static int length_row(const struct wti_work *work, struct wt_table *table, uint32_t q,
		      const struct wti_queue_point *points, size_t count)
{
	double *values = malloc((count + 1) * sizeof(*values));
	struct wti_description description;

	if (!values)
		return WT_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		values[i] = points[i].length;
	description = wti_description_of(values, count);
	free(values);
	wt_table_row(table);
	wti_queue_cells(table, work, q);
	wti_description_cells(table, &description, WT_CELL_NUMBER);
	wt_table_ns(table, full_time(points, count));
	return 0;
}

int wti_device_queues(const struct wti_work *work, const struct wti_device_options *options,
		      struct wt_result *result, struct wt_err *err)
{
	int r = add_states(work, result, err);
	struct wt_table *table = wt_result_table(result, "queue_length", "Operations that wait");

	wti_queue_columns(table);
	wti_description_columns(table, WT_CELL_NUMBER);
	wt_table_column(table, "full_ns", "1024 or more", WT_CELL_NS);
	for (uint32_t q = 0; !r && q < work->queue_count; q++) {
		struct wti_queue_point *points;
		size_t count;

		r = wti_queue_points(work, q, &points, &count, err);
		if (r)
			return r;
		if (count && length_row(work, table, q, points, count))
			r = wti_err(err, WT_E_NOMEM, "out of memory for the length of queues");
		if (count && options->columns)
			add_series(work, result, q, points, count, options->columns);
		free(points);
	}
	return r;
}
