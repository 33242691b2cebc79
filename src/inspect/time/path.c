/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `path`. */
#include <stdio.h>
#include <string.h>

#include "inspect/core/missing.h"
#include "base/err.h"
#include "inspect/core/inspectors.h"
#include "path.h"

#define NAME_BYTES 64

struct state {
	struct wti_path_view view;
	struct wti_ties ties;
	struct wti_path path;
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"syscall", "task", "task_end", "lost"};

	(void)options;
	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	(void)trace;
	if (options)
		s->view = *(const struct wti_path_view *)options;
	return wti_ties_init(&s->ties, err);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_ties_release(&s->ties);
	wti_path_release(&s->path);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	return wti_ties_event(&((struct state *)opaque)->ties, event, err);
}

static void name_piece(const struct wti_path_row *row, char out[NAME_BYTES])
{
	const char *call = wti_call_name((enum wti_arch)row->arch, row->nr);

	if (row->piece == WTI_PATH_OUTSIDE)
		snprintf(out, NAME_BYTES, "outside: %s", call ? call : "?");
	else
		snprintf(out, NAME_BYTES, row->piece == WTI_PATH_WORK ? "work" : "handover");
}

static void add_row(const struct state *s, struct wt_table *table, const struct wti_path_row *row,
		    double whole_ns)
{
	const struct wti_tied_task *task = &s->ties.tasks[row->task];
	char name[NAME_BYTES];

	name_piece(row, name);
	wt_table_row(table);
	wt_table_number(table, whole_ns > 0 ? 100 * (double)row->time_ns / whole_ns : 0);
	wt_table_ns(table, (int64_t)row->time_ns);
	wt_table_count(table, row->count);
	wt_table_text(table, task->command, strlen(task->command));
	wt_table_count(table, task->pid);
	wt_table_count(table, task->tid);
	wt_table_text(table, name, strlen(name));
}

static void fill_table(const struct state *s, struct wt_result *result, double whole_ns)
{
	struct wt_table *table = wt_result_table(result, "path", "critical path");

	wt_table_column(table, "percent", "%", WT_CELL_PERCENT);
	wt_table_column(table, "time_ns", "time", WT_CELL_NS);
	wt_table_column(table, "count", "pieces", WT_CELL_COUNT);
	wt_table_column(table, "command", "command", WT_CELL_TEXT);
	wt_table_column(table, "pid", "process", WT_CELL_ID);
	wt_table_column(table, "tid", "thread", WT_CELL_ID);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	for (size_t i = 0; i < s->path.row_count && (!s->view.limit || i < s->view.limit); i++)
		add_row(s, table, &s->path.rows[i], whole_ns);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	const uint64_t *times_ns = s->path.times_ns;
	uint64_t length_ns;
	int r = wti_path_walk(&s->ties, &s->path, err);

	if (r)
		return r;
	length_ns = times_ns[WTI_PATH_WORK] + times_ns[WTI_PATH_HANDOVER];
	wt_result_fact_count(result, "path_ns", "critical path", WT_CELL_NS, length_ns);
	wt_result_fact_count(result, "handover_ns", "of it, handing over", WT_CELL_NS,
			     times_ns[WTI_PATH_HANDOVER]);
	wt_result_fact_count(result, "outside_ns", "waits for outside", WT_CELL_NS,
			     times_ns[WTI_PATH_OUTSIDE]);
	wt_result_fact_count(result, "switches", "changes of thread", WT_CELL_COUNT,
			     s->path.switch_count);
	fill_table(s, result, (double)(length_ns + times_ns[WTI_PATH_OUTSIDE]));
	if (s->ties.lost_count)
		wt_result_note(result, "%llu events were lost: the path may miss a turn",
			       (unsigned long long)s->ties.lost_count);
	if (!s->ties.call_count)
		wti_missing_calls(result);
	return 0;
}

const struct wt_inspector wti_inspector_path = {
	.name = "path",
	.summary = "the critical path: whom the others waited for",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
