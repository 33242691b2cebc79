/* SPDX-License-Identifier: Apache-2.0 */
/* Knows when a test is flaky, and what is shown of it. */
#include "test_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "inspect/core/cells.h"

#define NAMES_MAX 200000u
#define PLACE_BYTES 600

/* ---- Many runs ------------------------------------------------------------------------------- */

struct history {
	const char *name; /* of the index */
	struct wti_tests_count count;
	const struct wti_catalogue_run *last_failed; /* or NULL */
	uint32_t last_status;
	int64_t duration_ns; /* of all together */
	uint64_t timed;
	bool is_flaky;
	const char *flaky_commit;
	/* In the run that is being read: a test that is made again and again fails as a whole. */
	const struct wti_catalogue_run *run; /* or NULL */
	bool has_failed;
};

/* What became of a test at one state of the code, run by run. */
enum { PASSED = 1, FAILED = 2 };

struct gathering {
	const struct wti_catalogue_run *runs;
	const bool *keep;
	struct wti_map index;  /* name: place plus one */
	struct wti_map states; /* name, commit, changes and configuration: bits of the above */
	struct history *items;
	size_t count, capacity;
};

static void release(struct gathering *g)
{
	wti_map_release(&g->index);
	wti_map_release(&g->states);
	free(g->items);
}

static struct history *history_of(struct gathering *g, const char *name)
{
	uint64_t *slot = wti_map_text(&g->index, name, strlen(name));

	if (slot && *slot)
		return &g->items[*slot - 1];
	if (!slot || wti_grow_zeroed(&g->items, g->count + 1, &g->capacity, NAMES_MAX))
		return NULL;
	g->items[g->count] = (struct history){.flaky_commit = ""};
	*slot = ++g->count;
	return &g->items[*slot - 1];
}

/* Of the run that was read: whether another run at the same state had the other outcome. */
static void end_run(struct gathering *g, struct history *it, const char *name)
{
	const struct wti_catalogue_run *run = it->run;
	uint64_t *slot;
	char *key;
	int bytes;

	it->run = NULL;
	if (!run || !*run->commit || it->is_flaky)
		return;
	bytes = asprintf(&key, "%s\n%s\n%s\n%s", name, run->commit, run->diff_hash, run->config);
	if (bytes < 0)
		return;
	slot = wti_map_text(&g->states, key, (size_t)bytes);
	free(key);
	if (!slot)
		return;
	*slot |= it->has_failed ? FAILED : PASSED;
	it->is_flaky = *slot == (PASSED | FAILED);
	if (it->is_flaky)
		it->flaky_commit = run->commit;
}

static int take_test(void *opaque, const struct wti_catalogue_test *row)
{
	struct gathering *g = opaque;
	bool is_judged = row->test.status <= WT_CHECK_STATUS_ERROR;
	struct history *it;

	if ((g->keep && !g->keep[row->run - g->runs]) || row->test.status >= WTI_TEST_STATUSES)
		return 0;
	it = history_of(g, row->test.name);
	if (!it)
		return g->count < NAMES_MAX ? WT_E_NOMEM : 0;
	it->count.by_status[row->test.status]++;
	it->last_status = row->test.status;
	if (row->test.duration_ns >= 0) {
		it->duration_ns += row->test.duration_ns;
		it->timed++;
	}
	if (!is_judged)
		return 0;
	if (it->run != row->run) {
		end_run(g, it, row->test.name);
		it->run = row->run;
		it->has_failed = false;
	}
	if (row->test.status != WT_CHECK_STATUS_PASSED) {
		it->last_failed = row->run;
		it->has_failed = true;
	}
	return 0;
}

static int gather(struct wti_catalogue *c, const bool *keep, const char *name, struct gathering *g,
		  struct wt_err *err)
{
	size_t count;
	int r;

	*g = (struct gathering){.runs = wti_catalogue_runs(c, &count), .keep = keep};
	wti_map_init(&g->index, NAMES_MAX);
	wti_map_init(&g->states, 8 * (size_t)NAMES_MAX);
	r = wti_catalogue_tests(c, name, take_test, g, err);
	for (size_t i = 0; i < g->index.count; i++)
		if (g->index.entries[i].value) {
			struct history *it = &g->items[g->index.entries[i].value - 1];

			it->name = g->index.entries[i].text;
			end_run(g, it, it->name);
		}
	return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : r;
}

static void history_columns(struct wt_table *table)
{
	wt_table_column(table, "name", "test", WT_CELL_TEXT);
	wt_table_column(table, "last", "last", WT_CELL_TEXT);
	wt_table_column(table, "rate", "passed", WT_CELL_PERCENT);
	wt_table_column(table, "passed", "", WT_CELL_COUNT);
	wt_table_column(table, "failed", "failed", WT_CELL_COUNT);
	wt_table_column(table, "error", "error", WT_CELL_COUNT);
	wt_table_hide(table, 3);
	wt_table_column(table, "skipped", "skipped", WT_CELL_COUNT);
	wt_table_hide(table, 4);
	wt_table_column(table, "observed", "", WT_CELL_COUNT);
	wt_table_column(table, "mean_ns", "mean time", WT_CELL_NS);
	wt_table_hide(table, 2);
	wt_table_column(table, "flaky", "flaky at", WT_CELL_TEXT);
	wt_table_column(table, "last_failed", "last failed in", WT_CELL_TEXT);
	wt_table_hide(table, 1);
}

static void add_history(struct wt_table *table, const struct history *it)
{
	double rate = wti_tests_rate(&it->count);
	char commit[16];

	wt_table_row(table);
	wti_table_word(table, it->name);
	wti_table_word(table, wti_test_status_word(it->last_status));
	if (isnan(rate))
		wt_table_empty(table);
	else
		wt_table_number(table, 100 * rate);
	for (size_t i = 0; i < WTI_TEST_STATUSES; i++)
		wt_table_count(table, it->count.by_status[i]);
	if (it->timed)
		wt_table_ns(table, it->duration_ns / (int64_t)it->timed);
	else
		wt_table_empty(table);
	snprintf(commit, sizeof(commit), "%.10s", it->flaky_commit);
	wti_table_word(table, commit);
	wti_table_word(table, it->last_failed ? it->last_failed->folder : "");
}

static bool is_bad(const struct history *it)
{
	return it->count.by_status[WT_CHECK_STATUS_FAILED] ||
	       it->count.by_status[WT_CHECK_STATUS_ERROR];
}

int wti_test_history(const struct wti_front *front, char **filters, size_t count,
		     const struct wti_test_options *options, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_catalogue *c = NULL;
	struct wti_run_filter filter;
	struct gathering g = {.items = NULL};
	struct wt_table *table;
	bool *keep = NULL;
	size_t runs, flaky = 0;
	int r = wti_filter_read(filters, count, &filter, err);

	r = r ? r : wti_catalogue_open(front, &c, result, err);
	if (r)
		return r;
	wti_catalogue_runs(c, &runs);
	keep = calloc(runs + 1, sizeof(*keep));
	filter.with_removed = true;
	r = keep ? wti_filter_apply(front, c, &filter, keep, err)
		 : wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : wti_catalogue_summarise(front, c, keep, err);
	r = r ? r : gather(c, keep, NULL, &g, err);
	table = wt_result_table(result, "history", "");
	history_columns(table);
	for (size_t i = 0; i < g.count && !r; i++) {
		const struct history *it = &g.items[i];

		flaky += it->is_flaky;
		if ((!options->failed_only || is_bad(it)) && (!options->flaky_only || it->is_flaky))
			add_history(table, it);
	}
	wt_result_fact_count(result, "tests", "", WT_CELL_COUNT, g.count);
	wt_result_fact_count(result, "flaky", "", WT_CELL_COUNT, flaky);
	if (!r && !g.count)
		wt_result_note(result, "no run that matches has tests");
	else if (!r && !table->row_count)
		wt_result_note(result, "none of the %zu tests is one", g.count);
	wt_result_set_status(result, g.count ? "clean" : "not_measured");
	release(&g);
	free(keep);
	wti_filter_release(&filter);
	wti_catalogue_free(c);
	return r;
}

/* ---- One run --------------------------------------------------------------------------------- */

static void test_columns(struct wt_table *table)
{
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_column(table, "name", "test", WT_CELL_TEXT);
	wt_table_column(table, "duration_ns", "time", WT_CELL_NS);
	wt_table_hide(table, 3);
	wt_table_column(table, "comparator", "comparison", WT_CELL_TEXT);
	wt_table_hide(table, 4);
	wt_table_column(table, "expected", "expected", WT_CELL_TEXT);
	wt_table_column(table, "actual", "actual", WT_CELL_TEXT);
	wt_table_column(table, "tolerance", "tolerance", WT_CELL_NUMBER);
	wt_table_hide(table, 5);
	wt_table_column(table, "n", "n", WT_CELL_COUNT);
	wt_table_hide(table, 6);
	wt_table_column(table, "unit", "", WT_CELL_TEXT);
	wt_table_column(table, "rate", "pass rate", WT_CELL_PERCENT);
	wt_table_hide(table, 2);
	wt_table_column(table, "flaky", "", WT_CELL_TEXT);
	wt_table_column(table, "place", "place", WT_CELL_TEXT);
	wt_table_hide(table, 7);
	wt_table_column(table, "detail", "detail", WT_CELL_TEXT);
	wt_table_hide(table, 1);
}

/* "passed", "failed (flaky)": as people see it; "bit-exact" where bits were compared. */
static const char *comparison_of(const struct wti_test *test)
{
	if (test->comparator == WT_COMPARATOR_BITS)
		return test->status == WT_CHECK_STATUS_PASSED ? "bit-exact" : "bits";
	return test->comparator == WT_COMPARATOR_NONE || test->comparator == WT_COMPARATOR_ASSERTION
		       ? ""
		       : wti_comparator_word(test->comparator);
}

static void add_test(struct wt_table *table, const struct wti_test *test,
		     const struct history *history)
{
	char place[PLACE_BYTES], value[PLACE_BYTES], status[32];
	double rate = history ? wti_tests_rate(&history->count) : NAN;
	bool is_flaky = history && history->is_flaky;

	wt_table_row(table);
	snprintf(status, sizeof(status), "%s%s", wti_test_status_word(test->status),
		 is_flaky ? " (flaky)" : "");
	wti_table_word(table, status);
	wti_table_word(table, test->name);
	if (test->duration_ns >= 0)
		wt_table_ns(table, test->duration_ns);
	else
		wt_table_empty(table);
	wti_table_word(table, comparison_of(test));
	snprintf(value, sizeof(value), "%.500s%s%.60s", test->expected,
		 *test->expected && *test->unit ? " " : "", *test->expected ? test->unit : "");
	wti_table_word(table, value);
	snprintf(value, sizeof(value), "%.500s%s%.60s", test->actual,
		 *test->actual && *test->unit ? " " : "", *test->actual ? test->unit : "");
	wti_table_word(table, value);
	if (test->comparator == WT_COMPARATOR_CLOSE)
		wt_table_number(table, test->tolerance);
	else
		wt_table_empty(table);
	if (test->n)
		wt_table_count(table, test->n);
	else
		wt_table_empty(table);
	wti_table_word(table, test->unit);
	if (isnan(rate))
		wt_table_empty(table);
	else
		wt_table_number(table, 100 * rate);
	wti_table_word(table, is_flaky ? history->flaky_commit : "");
	place[0] = 0;
	if (*test->file)
		snprintf(place, sizeof(place), test->line ? "%.500s:%u" : "%.500s", test->file,
			 test->line);
	wti_table_word(table, place);
	wti_table_word(table, test->detail);
}

static void add_facts(struct wt_result *result, const struct wti_tests *tests)
{
	struct wti_tests_count count = wti_tests_count(tests);
	const uint64_t *by = count.by_status;

	wt_result_fact_count(result, "tests", "tests", WT_CELL_COUNT, tests->count);
	for (uint32_t i = 0; i < WTI_TEST_STATUSES; i++)
		if (by[i] || i == WT_CHECK_STATUS_PASSED)
			wt_result_fact_count(result, wti_test_status_word(i),
					     wti_test_status_word(i), WT_CELL_COUNT, by[i]);
	wt_result_set_status(result, by[WT_CHECK_STATUS_FAILED] + by[WT_CHECK_STATUS_ERROR]
					     ? "findings"
				     : by[WT_CHECK_STATUS_PASSED] ? "clean"
								  : "not_measured");
}

static void add_tests(struct wt_result *result, const struct wti_tests *tests,
		      const struct wti_test_options *options, const struct gathering *g)
{
	struct wt_table *table = wt_result_table(result, "tests", "");

	test_columns(table);
	for (size_t i = 0; i < tests->count; i++) {
		const struct wti_test *test = &tests->items[i];
		const uint64_t *slot = wti_map_find_text(&g->index, test->name, strlen(test->name));

		if (options->failed_only && test->status != WT_CHECK_STATUS_FAILED &&
		    test->status != WT_CHECK_STATUS_ERROR)
			continue;
		if (!options->flaky_only || (slot && *slot && g->items[*slot - 1].is_flaky))
			add_test(table, test, slot && *slot ? &g->items[*slot - 1] : NULL);
	}
}

/* What the other runs below the home say; without a catalogue, nothing. */
static int gather_all(const struct wti_front *front, struct wti_catalogue **c, struct gathering *g,
		      struct wt_result *result, struct wt_err *err)
{
	int r = wti_catalogue_open(front, c, result, err);

	r = r ? r : gather(*c, NULL, NULL, g, err);
	return r == WT_E_NOMEM ? r : 0;
}

int wti_tests_of_run(const struct wti_front *front, const char *word,
		     const struct wti_test_options *options, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_run_summary summary;
	struct wti_catalogue *c = NULL;
	struct gathering g = {.items = NULL};
	struct wti_run run;
	int r = wti_run_find(front, word, &run, err);

	if (r)
		return r;
	r = wti_summary_read(front, &run, &summary, err);
	r = r ? r : gather_all(front, &c, &g, result, err);
	if (!r) {
		wt_result_fact_text(result, "run", "", run.name);
		add_facts(result, &summary.tests);
		add_tests(result, &summary.tests, options, &g);
		if (!summary.tests.count)
			wt_result_note(result,
				       "'%s' has no tests: nothing was checked by pytest, "
				       "TAP, wt_check() or wheeltap.check()",
				       run.name);
		wti_summary_release(&summary);
	}
	release(&g);
	wti_catalogue_free(c);
	wti_run_release(&run);
	return r;
}
