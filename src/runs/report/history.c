/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier runs of the same program, from the run.json of each. */
#include <string.h>

#include "base/err.h"
#include "section.h"

enum { RUNS_SHOWN = 20 };

static struct wt_table *runs_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "runs", "The newest runs of this name");

	wt_table_column(table, "name", "run", WT_CELL_TEXT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_column(table, "start", "started", WT_CELL_TEXT);
	wt_table_column(table, "duration_ns", "duration", WT_CELL_NS);
	wt_table_column(table, "is_this", "", WT_CELL_TEXT);
	wt_table_column(table, "command", "command", WT_CELL_TEXT);
	return table;
}

/* Of the same name, which is that of the script unless `record -n` gave another. */
static bool is_same_program(const struct wti_run *a, const struct wti_run *b)
{
	return a->label && b->label && !strcmp(a->label, b->label) && !b->is_set;
}

static void add_row(struct wt_table *table, const struct wti_run *run, bool is_this)
{
	const char *mark = is_this ? "this run" : "earlier";
	char moment[32];

	wti_format_moment(moment, run->start_ns);
	wt_table_row(table);
	wt_table_text(table, run->name, strlen(run->name));
	wt_table_text(table, run->status, strlen(run->status));
	wt_table_text(table, moment, strlen(moment));
	if (run->duration_ns >= 0)
		wt_table_ns(table, run->duration_ns);
	else
		wt_table_empty(table);
	wt_table_text(table, mark, strlen(mark));
	wt_table_text(table, run->command, strlen(run->command));
}

int wti_section_history(struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err)
{
	const struct wti_run *own = &source->opened->run;
	struct wt_err failed = {.offset = -1};
	struct wti_run *runs = NULL;
	struct wt_table *table;
	size_t count = 0, shown = 0, earlier = 0, good = 0;

	if (wti_runs_list(source->front, &runs, &count, &failed) == WT_E_NOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	table = runs_table(result);
	for (size_t i = 0; i < count; i++) {
		bool is_this =
			!strcmp(runs[i].name, own->name) && runs[i].start_ns == own->start_ns;

		if (!is_same_program(own, &runs[i]) || runs[i].start_ns > own->start_ns)
			continue;
		earlier += !is_this;
		good += !is_this && !strcmp(runs[i].status, "finished");
		if (shown++ < RUNS_SHOWN)
			add_row(table, &runs[i], is_this);
	}
	wti_runs_free(runs, count);
	wt_result_fact_count(result, "earlier", "earlier runs", WT_CELL_COUNT, earlier);
	wt_result_fact_count(result, "earlier_finished", "of these finished", WT_CELL_COUNT, good);
	if (!earlier)
		wti_not_recorded(result, "earlier runs",
				 "keep runs in one folder (WHEELTAP_HOME), under one name");
	return 0;
}
