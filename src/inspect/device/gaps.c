/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest gaps of queues, through all layers: which operations were around them, which operator
 * and line launched the one after, in which step, and in which call and which system call the host
 * was meanwhile.
 */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "syscall/decode.h"
#include "trace/query.h"

#define GAPS 10u /* more are no longer the largest */

struct gap {
	int64_t from_ns, to_ns;
	uint32_t before, after; /* operations */
};

struct gaps {
	struct gap items[GAPS]; /* the largest first */
	size_t count;
};

static void add(struct gaps *gaps, struct gap gap)
{
	size_t at = gaps->count;

	while (at &&
	       gap.to_ns - gap.from_ns > gaps->items[at - 1].to_ns - gaps->items[at - 1].from_ns)
		at--;
	if (at == GAPS)
		return;
	if (gaps->count < GAPS)
		gaps->count++;
	memmove(&gaps->items[at + 1], &gaps->items[at],
		(gaps->count - at - 1) * sizeof(gaps->items[0]));
	gaps->items[at] = gap;
}

static void walk(struct gaps *gaps, const struct wti_work *work, const struct wti_work_queue *queue)
{
	uint32_t before = UINT32_MAX;

	for (size_t i = queue->first; i < queue->first + queue->count; i++) {
		const struct wti_work_op *op = &work->ops[i];

		if (!wti_work_is_work(op))
			continue;
		if (before != UINT32_MAX && op->start_ns > work->ops[before].end_ns)
			add(gaps, (struct gap){work->ops[before].end_ns, op->start_ns, before,
					       (uint32_t)i});
		if (before == UINT32_MAX || op->end_ns > work->ops[before].end_ns)
			before = (uint32_t)i;
	}
}

/* The innermost call of the thread in the middle of the gap, before the launch that ended it. */
static const struct wti_work_call *host_call(const struct wti_work *work, const struct gap *gap,
					     const struct wti_work_call *launch)
{
	int64_t to_ns = launch->begin_ns < gap->to_ns && launch->begin_ns > gap->from_ns
				? launch->begin_ns
				: gap->to_ns;
	int64_t middle = gap->from_ns + (to_ns - gap->from_ns) / 2;
	const struct wti_work_call *found = NULL;

	for (size_t i = 0; i < work->call_count; i++) {
		const struct wti_work_call *call = &work->calls[i];

		if (call->thread == launch->thread && call->begin_ns <= middle &&
		    call->end_ns > middle && (!found || call->begin_ns >= found->begin_ns))
			found = call;
	}
	return found;
}

struct asked {
	char name[WTI_CALL_LABEL_BYTES];
	int64_t ns;
};

static uint32_t tid_of(const struct wt_trace *trace, size_t stream, uint32_t track)
{
	const struct wt_track *found = wt_reader_track(wt_trace_stream(trace, stream), track);

	return found ? found->tid : 0;
}

/* The system call of the thread that took most of the gap; none where they are not recorded. */
static int system_call(const struct wti_work *work, const struct gap *gap,
		       const struct wti_work_call *launch, struct asked *ret, struct wt_err *err)
{
	static const char *const kinds[] = {"syscall"};
	const struct wti_work_thread *thread = &work->threads[launch->thread];
	uint32_t tid = tid_of(work->trace, thread->stream, thread->track);
	char label[WTI_CALL_LABEL_BYTES];
	struct wt_cursor *cursor;
	struct wt_query query;
	struct wt_event event;
	int r;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = 1;
	query.from_ns = gap->from_ns;
	query.to_ns = gap->to_ns + 1;
	r = wt_cursor_open(work->trace, &query, &cursor, err);
	if (r)
		return r;
	while (tid && (r = wt_cursor_next(cursor, &event, err)) > 0) {
		uint64_t duration = wt_event_u64(&event, WT_SYSCALL_FIELD_DURATION);
		int64_t begin_ns =
			wti_bounded(wt_trace_ns(work->trace, event.stream, event.ticks - duration));
		int64_t ns;

		if (tid_of(work->trace, event.stream, event.track) != tid)
			continue;
		ns = wti_bounded(event.time_ns) -
		     (begin_ns > gap->from_ns ? begin_ns : gap->from_ns);
		if (ns <= ret->ns)
			continue;
		ret->ns = ns;
		snprintf(ret->name, sizeof(ret->name), "%s",
			 wti_call_label(label,
					(uint32_t)wt_event_u64(&event, WT_SYSCALL_FIELD_ARCH),
					(uint32_t)wt_event_u64(&event, WT_SYSCALL_FIELD_NR)));
	}
	wt_cursor_free(cursor);
	return r < 0 ? r : 0;
}

static void columns(struct wt_table *table)
{
	wti_queue_columns(table);
	wt_table_column(table, "gap_ns", "gap", WT_CELL_NS);
	wt_table_column(table, "at_ns", "at", WT_CELL_NS);
	wt_table_column(table, "step", "step", WT_CELL_ID);
	wt_table_column(table, "stage", "stage", WT_CELL_TEXT);
	wt_table_hide(table, 4);
	wt_table_column(table, "host", "the host was in", WT_CELL_TEXT);
	wt_table_column(table, "syscall", "system call", WT_CELL_TEXT);
	wt_table_column(table, "after", "then came", WT_CELL_TEXT);
	wt_table_column(table, "operator", "launched by", WT_CELL_TEXT);
	wt_table_hide(table, 2);
	wt_table_column(table, "where", "at line", WT_CELL_TEXT);
	wt_table_column(table, "before", "after", WT_CELL_TEXT);
	wt_table_hide(table, 3);
}

static void empty(struct wt_table *table, unsigned count)
{
	while (count--)
		wt_table_empty(table);
}

static int row(struct wt_table *table, const struct wti_work *work, const struct gap *gap,
	       struct wt_err *err)
{
	const struct wti_work_op *after = &work->ops[gap->after];
	const struct wti_work_call *launch = wti_work_launch(work, after), *host;
	uint32_t operator_call = wti_work_operator(work, after->call, false);
	struct asked asked = {.ns = 0};
	int r = launch ? system_call(work, gap, launch, &asked, err) : 0;

	if (r)
		return r;
	host = launch ? host_call(work, gap, launch) : NULL;
	wt_table_row(table);
	wti_queue_cells(table, work, after->queue);
	wt_table_ns(table, gap->to_ns - gap->from_ns);
	wt_table_ns(table, gap->from_ns);
	if (launch && launch->step >= 0)
		wt_table_count(table, (uint64_t)launch->step);
	else
		empty(table, 1);
	wti_name_cell(table, work, launch ? launch->stage : WTI_SYMBOL_NONE);
	wti_name_cell(table, work, host ? host->name : WTI_SYMBOL_NONE);
	wt_table_text(table, asked.name, strlen(asked.name));
	wti_name_cell(table, work, after->name);
	wti_name_cell(table, work,
		      operator_call ? work->calls[operator_call - 1].name
		      : launch      ? launch->name
				    : WTI_SYMBOL_NONE);
	wti_name_cell(table, work, launch ? launch->where : WTI_SYMBOL_NONE);
	wti_name_cell(table, work, work->ops[gap->before].name);
	return 0;
}

int wti_device_gaps(const struct wti_work *work, const struct wti_device_options *options,
		    struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "gaps", "Largest gaps of queues");
	struct gaps gaps = {.count = 0};
	int r = 0;

	(void)options;
	columns(table);
	for (size_t q = 0; q < work->queue_count; q++)
		walk(&gaps, work, &work->queues[q]);
	for (size_t i = 0; !r && i < gaps.count; i++)
		r = row(table, work, &gaps.items[i], err);
	return r;
}
