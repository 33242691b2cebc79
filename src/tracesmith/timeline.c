/* SPDX-License-Identifier: Apache-2.0 */
/* build_timeline: the operations of devices, and what the inspector `timeline` says of them. */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/inspect.h>
#include <wheeltap/tracesmith.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/label.h"

static struct wt_timeline_span span_of(const struct wt_event *event, const struct wti_device_op *op)
{
	return (struct wt_timeline_span){
		.start_ns = op->started_ns,
		.end_ns = op->ended_ns,
		.correlation_id = wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION),
		.size_bytes = wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES),
		.name = wt_event_text(event, WT_DEVICE_OP_FIELD_NAME),
		.device_id = op->device,
		.stream_id = op->queue,
		.process = (uint32_t)event->stream,
		.op = op->op};
}

static int by_start(const void *a, const void *b)
{
	const struct wt_timeline_span *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static int gather(const struct wt_trace *trace, struct wt_timeline *timeline, struct wt_err *err)
{
	static const char *const kinds[] = {"device_op"};
	struct wti_device_op op;
	struct wt_cursor *cursor;
	struct wt_event event;
	struct wt_query query;
	size_t capacity = 0;
	int r;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = 1;
	r = wt_cursor_open(trace, &query, &cursor, err);
	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, err)) > 0) {
		wti_device_op_read(&op, &event);
		if (!wti_device_op_is_work(op.op) || op.ended_ns < op.started_ns)
			continue;
		if (wti_grow(&timeline->spans, timeline->span_count + 1, &capacity,
			     WTI_NO_CEILING)) {
			r = wti_err(err, WT_E_NOMEM, "out of memory for spans");
			break;
		}
		timeline->spans[timeline->span_count++] = span_of(&event, &op);
	}
	wt_cursor_free(cursor);
	if (timeline->span_count)
		qsort(timeline->spans, timeline->span_count, sizeof(*timeline->spans), by_start);
	return r;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	return NULL;
}

static double mean_of(const struct wt_table *table, const char *key)
{
	double sum = 0;

	for (size_t c = 0; c < table->column_count; c++) {
		if (strcmp(table->columns[c].key, key))
			continue;
		for (size_t row = 0; row < table->row_count; row++)
			sum += table->cells[row * table->column_count + c].number;
	}
	return table->row_count ? sum / (double)table->row_count : 0;
}

static void take_figures(struct wt_timeline *timeline, const struct wt_result *result)
{
	const struct wt_table *devices = table_of(result, "devices");
	const struct wt_fact *from = wt_result_fact(result, "device_window_from_ns");
	const struct wt_fact *to = wt_result_fact(result, "device_window_to_ns");
	const struct wt_fact *most = wt_result_fact(result, "concurrency_max");

	if (from && to)
		timeline->total_duration_ns = to->value.ns - from->value.ns;
	if (most)
		timeline->max_concurrent_ops = most->value.count;
	if (devices) {
		timeline->gpu_utilization = mean_of(devices, "utilisation") / 100;
		timeline->device_count = devices->row_count;
	}
}

int wt_build_timeline(const struct wt_trace *trace, struct wt_timeline *ret_timeline,
		      struct wt_err *err)
{
	const struct wt_inspector *inspector = wt_inspector_by_name("timeline");
	struct wt_timeline timeline = {0};
	struct wt_result result;
	int r = gather(trace, &timeline, err);

	wt_result_init(&result, "timeline");
	if (!r && !timeline.span_count)
		r = wti_err(err, WT_E_MISSING, "no device operations in this trace");
	if (!r)
		r = wt_inspect(inspector, trace, NULL, NULL, &result, NULL, NULL, err);
	if (r) {
		wt_timeline_release(&timeline);
	} else {
		take_figures(&timeline, &result);
		*ret_timeline = timeline;
	}
	wt_result_release(&result);
	return r;
}

void wt_timeline_release(struct wt_timeline *timeline)
{
	free(timeline->spans);
	*timeline = (struct wt_timeline){0};
}
