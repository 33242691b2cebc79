/* SPDX-License-Identifier: Apache-2.0 */
/* A row for each rerun: see tries.h. */
#include "tries.h"

#include <string.h>

static void add_text(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void add_row(struct wt_table *table, size_t number, const struct wti_try *one,
		    bool has_column)
{
	static const char *const words[] = {"not measured", "bit-identical", "different",
					    "within tolerances"};

	wt_table_row(table);
	wt_table_count(table, number);
	add_text(table, words[one->verdict]);
	wt_table_number(table, (double)one->steps);
	add_text(table, one->callee);
	add_text(table, one->file);
	wt_table_count(table, one->line);
	wt_table_count(table, (uint64_t)one->status);
	if (one->seen_ns)
		wt_table_ns(table, (int64_t)one->seen_ns);
	else
		wt_table_empty(table);
	if (has_column && one->has_metric)
		wt_table_number(table, one->metric);
	else if (has_column)
		wt_table_empty(table);
	add_text(table, one->folder);
}

struct wt_table *wti_tries_table(struct wt_result *result, const struct wti_try *tries,
				 size_t count, const char *metric)
{
	struct wt_table *table = wt_result_table(result, "tries", "reruns");

	wt_table_column(table, "try", "rerun", WT_CELL_ID);
	wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
	wt_table_column(table, "steps", "steps", WT_CELL_NUMBER);
	wt_table_column(table, "operation", "first operation", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	wt_table_column(table, "status", "exit status", WT_CELL_ID);
	wt_table_column(table, "seen_ns", "seen after", WT_CELL_NS);
	if (metric)
		wt_table_column(table, "metric", metric, WT_CELL_NUMBER);
	wt_table_column(table, "folder", "recorded in", WT_CELL_TEXT);
	for (size_t i = 0; i < count; i++)
		add_row(table, i + 1, &tries[i], metric != NULL);
	return table;
}
