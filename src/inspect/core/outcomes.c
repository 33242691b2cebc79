/* SPDX-License-Identifier: Apache-2.0 */
/* Columns and counts of what was judged. */
#include "outcomes.h"

#include <stdio.h>

struct wt_table *wti_outcome_table(struct wt_result *result,
				   const struct wti_outcome_titles *titles)
{
	struct wt_table *table = wt_result_table(result, titles->table, titles->title);

	wt_table_column(table, titles->id, titles->id_title, WT_CELL_TEXT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "held", "held", WT_CELL_COUNT);
	wt_table_hide(table, 2);
	wt_table_column(table, "violated", "violated", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "title", titles->what, WT_CELL_TEXT);
	wt_table_column(table, "why", titles->why, WT_CELL_TEXT);
	return table;
}

void wti_outcome_count(struct wti_outcomes *outcomes, bool is_measured, bool is_violated)
{
	if (!is_measured)
		outcomes->unmeasured++;
	else if (is_violated)
		outcomes->violated++;
	else
		outcomes->held++;
}

static void add_fact(struct wt_result *result, const char *table, const char *outcome,
		     uint64_t count)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", table, outcome);
	wt_result_fact_count(result, key, "", WT_CELL_COUNT, count);
}

void wti_outcome_facts(struct wt_result *result, const struct wti_outcomes *outcomes,
		       const char *table)
{
	add_fact(result, table, "violated", outcomes->violated);
	add_fact(result, table, "held", outcomes->held);
	add_fact(result, table, "not_measured", outcomes->unmeasured);
}
