/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests and checks of the run, as `wheeltap tests` has them, each with what it expected and what it
 * got. A value without an expectation is observed: it is shown, and counts as nothing.
 */
#include <string.h>

#include "base/err.h"
#include "runs/summary.h"
#include "section.h"

enum { CHECKS_MAX = 10000 };

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

static void put_text(struct wt_table *table, const char *text)
{
	if (*text)
		wt_table_text(table, text, strlen(text));
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

static void add_row(struct wt_table *table, const struct wti_test *test)
{
	wt_table_row(table);
	put_text(table, test->name);
	put_text(table, wti_test_status_word(test->status));
	put_text(table, test->expected);
	put_text(table, test->actual);
	put_text(table, test->comparator == WT_COMPARATOR_NONE
				? ""
				: wti_comparator_word(test->comparator));
	if (test->comparator == WT_COMPARATOR_CLOSE)
		wt_table_number(table, test->tolerance);
	else
		wt_table_empty(table);
	put_text(table, test->unit);
	put_count(table, test->n);
	if (test->duration_ns >= 0)
		wt_table_ns(table, test->duration_ns);
	else
		wt_table_empty(table);
	put_text(table, test->detail);
	put_text(table, test->file);
	put_count(table, test->line);
}

static void add_counts(const struct wti_tests *tests, struct wt_result *result)
{
	static const char *const titles[WTI_TEST_STATUSES] = {"passed", "failed",
							      "could not be completed", "skipped",
							      "observed, without an expectation"};
	struct wti_tests_count count = wti_tests_count(tests);
	uint64_t left_out =
		tests->left_out_count + (tests->count > CHECKS_MAX ? tests->count - CHECKS_MAX : 0);

	for (uint32_t i = 0; i < WTI_TEST_STATUSES; i++)
		if (count.by_status[i])
			wt_result_fact_count(result, wti_test_status_word(i), titles[i],
					     WT_CELL_COUNT, count.by_status[i]);
	if (left_out)
		wt_result_note(result, "too many checks: %llu are left out",
			       (unsigned long long)left_out);
}

int wti_section_checks(struct wti_report_source *source, struct wt_result *result,
		       struct wt_err *err)
{
	struct wt_err unread = {.offset = -1};
	struct wti_tests tests;
	struct wt_table *table;
	int r;

	wti_tests_init(&tests);
	r = wti_summary_tests(source->opened, &tests, &unread);
	table = checks_table(result);
	for (size_t i = 0; i < tests.count && i < CHECKS_MAX; i++)
		add_row(table, &tests.items[i]);
	add_counts(&tests, result);
	if (!tests.count)
		wti_not_recorded(result, "checks",
				 "run tests by pytest, print TAP, or check in the program: "
				 "wheeltap.check(), wt_check()");
	wti_tests_release(&tests);
	return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : 0;
}
