/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `trend`. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/front.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "runs/trend.h"
#include "show/spark.h"

#define SPARK_COLUMNS 80

struct trend_options {
	const char *by;
	uint64_t limit;
	bool csv;
	bool json;
};

static const struct trend_options defaults = {.by = "run", .limit = 20};

/* "loss.last of 12 runs, from 0.9 to 0.31", and the line of blocks. */
static void add_picture(struct wti_buf *out, const struct wt_result *result,
			const struct wti_style *style, bool by_commit)
{
	const struct wt_series *series = result->series[0];
	unsigned width =
		style->width && style->width < SPARK_COLUMNS ? style->width : SPARK_COLUMNS;
	const struct wt_fact *omitted = wt_result_fact(result, "omitted");

	wti_textf(out, "%s of %zu %s%s, oldest first:\n", series->title, series->count,
		  by_commit ? "commit" : "run", series->count == 1 ? "" : "s");
	wti_show_spark(out, series->y, series->count, width, style->ascii);
	wti_buf_byte(out, '\n');
	wti_buf_byte(out, '\n');
	if (omitted && omitted->value.count)
		wti_textf(out, "the last %zu (--limit 0 shows all):\n",
			  result->tables[0]->row_count);
}

static int print(const struct trend_options *o, const struct wt_result *result)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	if (o->csv)
		return wti_report_csv(result, WTI_EXIT_CLEAN);
	wti_buf_init(&out, 256u << 20);
	if (result->series_count && result->series[0]->count)
		add_picture(&out, result, &style, !strcmp(o->by, "commit"));
	if (result->tables[0]->row_count)
		wti_show_table(&out, result->tables[0], &style);
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct trend_options *o = opaque;
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wti_trend_options options = {
		.metric = count ? arguments[0] : NULL,
		.filters = arguments + (count > 0),
		.filter_count = count - (count > 0),
		.by_commit = !strcmp(o->by, "commit"),
		.limit = (o->json || o->csv) && o->limit == defaults.limit ? 0 : o->limit};
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code;

	wt_result_init(&result, "trend");
	if (wti_trend(&front, &options, &result, &err))
		code = wti_report_error("trend", o->json, &err);
	else if (o->json || wt_result_status(&result))
		code = wti_report_result(&result, o->json, WTI_EXIT_CLEAN);
	else
		code = print(o, &result);
	if (code == WTI_EXIT_CLEAN && options.metric && result.tables[0]->row_count == 0)
		code = WTI_EXIT_TRACE;
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"by", 0, WTI_OPT_CHOICE, "WHAT", "run|commit",
	 "one row for each run, or one for each commit with the median of its runs",
	 offsetof(struct trend_options, by)},
	{"limit", 0, WTI_OPT_COUNT, "N", NULL, "only the last N rows (20); 0: all",
	 offsetof(struct trend_options, limit)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print comma-separated values",
	 offsetof(struct trend_options, csv)},
	WTI_OPTION_JSON(struct trend_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_trend = {
	.name = "trend",
	.arguments = "[METRIC [FILTER...]]",
	.arguments_max = WTI_FILTER_TERMS_MAX + 1,
	.summary = "show a metric over all runs, and how it changed",
	.description =
		"Shows a number of every run in the order of time: as a line of blocks, and as a "
		"table with the change against the median of all earlier runs. METRIC is a name "
		"with or without a statistic (loss, loss.min, step_time.p50, peak_memory, "
		"duration), check.rate, the share of tests that passed, or check:NAME, the same "
		"of one test. Without METRIC it lists the names. Filters are those of 'wheeltap "
		"ls'. Removed runs are included if their summary was kept.\n\n"
		"The exit status is 3 if no run has a value.",
	.examples = "wheeltap trend\twhich metrics there are\n"
		    "wheeltap trend loss.last program=train.py since=30d\n"
		    "wheeltap trend step_time.p50 --by commit\twhich commit made it slower\n"
		    "wheeltap trend check:test_model.py::test_save\twhen a test passed",
	.options = options,
	.options_bytes = sizeof(struct trend_options),
	.group = "look",
	.run = run,
	.defaults = &defaults,
};
