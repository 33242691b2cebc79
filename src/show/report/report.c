/* SPDX-License-Identifier: Apache-2.0 */
/* What all renderers of a report look up. */
#include "report.h"

#include <string.h>

const char *wti_report_verdict_word(enum wti_report_verdict verdict)
{
	static const char *const words[] = {"good", "warned", "not judged", "bad"};

	return words[verdict];
}

const struct wti_report_part *wti_report_part(const struct wti_report *report, const char *key)
{
	for (size_t i = 0; i < report->part_count; i++)
		if (!strcmp(report->parts[i].key, key))
			return &report->parts[i];
	return NULL;
}

const struct wt_table *wti_report_table(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	return NULL;
}

const struct wt_cell *wti_report_cell(const struct wt_table *table, size_t row, const char *key)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].key, key))
			return &table->cells[row * table->column_count + i];
	return NULL;
}

static const char *text_of(const struct wt_cell *cell)
{
	return cell && cell->type == WT_CELL_TEXT ? cell->text : NULL;
}

const char *wti_report_text(const struct wt_result *result, const char *key)
{
	const struct wt_fact *fact = wt_result_fact(result, key);

	return fact ? text_of(&fact->value) : NULL;
}

const char *wti_report_cell_text(const struct wt_table *table, size_t row, const char *key)
{
	return text_of(wti_report_cell(table, row, key));
}

bool wti_report_is_shown(const struct wt_table *table)
{
	return table->title && *table->title && table->row_count;
}
