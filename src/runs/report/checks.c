/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the program or its tests made, each with what it expected and what it got. A value
 * without an expectation is observed: it is shown, and counts as nothing.
 */
#include <string.h>

#include "base/err.h"
#include "section.h"
#include "trace/query.h"

enum { CHECKS_MAX = 10000 };

struct counts {
	uint64_t of[WT_CHECK_STATUS_OBSERVED + 1];
	uint64_t left_out;
};

static struct wt_table *checks_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "checks", "Checks");

	wt_table_column(table, "name", "check", WT_CELL_TEXT);
	wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
	wt_table_column(table, "expected", "expected", WT_CELL_TEXT);
	wt_table_column(table, "actual", "actual", WT_CELL_TEXT);
	wt_table_column(table, "comparator", "compared by", WT_CELL_TEXT);
	wt_table_column(table, "tolerance", "tolerance", WT_CELL_NUMBER);
	wt_table_column(table, "unit", "unit", WT_CELL_TEXT);
	wt_table_column(table, "n", "n", WT_CELL_COUNT);
	wt_table_column(table, "duration_ns", "took", WT_CELL_NS);
	wt_table_column(table, "detail", "detail", WT_CELL_TEXT);
	wt_table_column(table, "file", "", WT_CELL_TEXT);
	wt_table_column(table, "line", "", WT_CELL_ID);
	return table;
}

static void put_text(struct wt_table *table, const struct wt_event *event, int field)
{
	struct wt_text text = wt_event_text(event, field);

	if (text.bytes)
		wt_table_text(table, text.data, text.bytes);
	else
		wt_table_empty(table);
}

static void put_count(struct wt_table *table, uint64_t count)
{
	if (count)
		wt_table_count(table, count);
	else
		wt_table_empty(table);
}

static void add_row(struct wt_table *table, const struct wt_event *event)
{
	int64_t duration_ns = wt_event_i64(event, WT_CHECK_FIELD_DURATION);
	bool has_comparator = wt_event_u64(event, WT_CHECK_FIELD_COMPARATOR) != WT_COMPARATOR_NONE;

	wt_table_row(table);
	put_text(table, event, WT_CHECK_FIELD_NAME);
	put_text(table, event, WT_CHECK_FIELD_STATUS);
	put_text(table, event, WT_CHECK_FIELD_EXPECTED);
	put_text(table, event, WT_CHECK_FIELD_ACTUAL);
	if (has_comparator)
		put_text(table, event, WT_CHECK_FIELD_COMPARATOR);
	else
		wt_table_empty(table);
	if (wt_event_u64(event, WT_CHECK_FIELD_COMPARATOR) == WT_COMPARATOR_CLOSE)
		wt_table_number(table, wt_event_f64(event, WT_CHECK_FIELD_TOLERANCE));
	else
		wt_table_empty(table);
	put_text(table, event, WT_CHECK_FIELD_UNIT);
	put_count(table, wt_event_u64(event, WT_CHECK_FIELD_N));
	if (duration_ns >= 0)
		wt_table_ns(table, duration_ns);
	else
		wt_table_empty(table);
	put_text(table, event, WT_CHECK_FIELD_DETAIL);
	put_text(table, event, WT_CHECK_FIELD_FILE);
	put_count(table, wt_event_u64(event, WT_CHECK_FIELD_LINE));
}

static void take(struct wt_table *table, struct counts *counts, const struct wt_event *event)
{
	uint64_t status = wt_event_u64(event, WT_CHECK_FIELD_STATUS);

	if (event->kind->number != WT_KIND_CHECK)
		return;
	if (table->row_count >= CHECKS_MAX) {
		counts->left_out++;
		return;
	}
	if (status <= WT_CHECK_STATUS_OBSERVED)
		counts->of[status]++;
	add_row(table, event);
}

static void add_counts(const struct counts *counts, struct wt_result *result)
{
	static const char *const titles[] = {"passed", "failed", "could not be completed",
					     "skipped", "observed, without an expectation"};
	static const char *const keys[] = {"passed", "failed", "error", "skipped", "observed"};

	for (size_t i = 0; i <= WT_CHECK_STATUS_OBSERVED; i++)
		if (counts->of[i])
			wt_result_fact_count(result, keys[i], titles[i], WT_CELL_COUNT,
					     counts->of[i]);
	if (counts->left_out)
		wt_result_note(result, "too many checks: %llu are left out",
			       (unsigned long long)counts->left_out);
}

int wti_section_checks(struct wti_report_source *source, struct wt_result *result,
		       struct wt_err *err)
{
	static const char *const kinds[] = {"check", NULL};
	struct wt_err failed = {.offset = -1};
	struct counts counts = {{0}, 0};
	struct wt_cursor *cursor = NULL;
	struct wt_event event;
	struct wt_table *table;
	int r = wti_cursor_of(source->opened->trace, kinds, NULL, UINT32_MAX, &cursor, &failed);

	table = checks_table(result);
	while (!r && (r = wt_cursor_next(cursor, &event, &failed)) > 0) {
		take(table, &counts, &event);
		r = 0;
	}
	wt_cursor_free(cursor);
	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	add_counts(&counts, result);
	if (!table->row_count)
		wti_not_recorded(result, "checks",
				 "make them in the program: wheeltap.check(), wt_check()");
	return 0;
}
