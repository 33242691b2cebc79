/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier runs of the same program, and how this one compares with them, from the catalogue. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "runs/run_filter.h"
#include "runs/trend.h"
#include "section.h"

enum {
	RUNS_SHOWN = 20,   /* and compared with */
	METRICS_SHOWN = 24 /* more would hide those that matter */
};
/* A trace that was never summarised and is larger is not read for a report: seconds each. */
#define UNREAD_BYTES_MAX ((int64_t)256 << 20)

struct history {
	const struct wti_report_source *source;
	struct wti_catalogue *catalogue;
	const struct wti_catalogue_run *runs; /* newest first */
	size_t count;
	bool *wanted;                     /* by place: the earlier runs that are compared with */
	size_t earlier, finished, unread; /* of all; of these finished; left out */
	struct wti_run_summary own;
};

/* ---- The runs -------------------------------------------------------------------------------- */

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
static bool is_same_program(const struct wti_run *own, const struct wti_catalogue_run *run)
{
	return own->label && *own->label && !strcmp(own->label, run->label) && !run->is_set &&
	       run->start_ns <= own->start_ns;
}

static bool is_this(const struct wti_run *own, const struct wti_catalogue_run *run)
{
	return !strcmp(run->folder, own->name) && run->start_ns == own->start_ns;
}

static void add_row(struct wt_table *table, const struct wti_catalogue_run *run, const char *mark)
{
	char moment[32], status[64];

	snprintf(status, sizeof(status), "%.40s%s", run->status,
		 run->removed_ns >= 0 ? ", removed" : "");
	wti_format_moment(moment, run->start_ns);
	wt_table_row(table);
	wt_table_text(table, run->folder, strlen(run->folder));
	wt_table_text(table, status, strlen(status));
	wt_table_text(table, moment, strlen(moment));
	if (run->duration_ns >= 0)
		wt_table_ns(table, run->duration_ns);
	else
		wt_table_empty(table);
	wt_table_text(table, mark, strlen(mark));
	wt_table_text(table, run->command, strlen(run->command));
}

static bool is_cheap(const struct wti_catalogue_run *run)
{
	return run->is_summarised || run->stream_bytes <= UNREAD_BYTES_MAX;
}

/* Which runs there are, and which are compared with: the newest ones that are over. */
static void add_runs(struct history *h, struct wt_result *result)
{
	const struct wti_run *own = &h->source->opened->run;
	struct wt_table *table = runs_table(result);
	size_t shown = 0, compared = 0;

	for (size_t i = 0; i < h->count; i++) {
		const struct wti_catalogue_run *run = &h->runs[i];
		bool is_own = is_this(own, run), is_over = strcmp(run->status, "running") != 0;

		if (!is_same_program(own, run))
			continue;
		if (shown++ < RUNS_SHOWN)
			add_row(table, run, is_own ? "this run" : "earlier");
		if (is_own)
			continue;
		h->earlier++;
		h->finished += !strcmp(run->status, "finished");
		if (is_over && compared < RUNS_SHOWN) {
			h->wanted[i] = is_cheap(run);
			h->unread += !is_cheap(run);
			compared++;
		}
	}
}

/* ---- What they measured ---------------------------------------------------------------------- */

static struct wt_table *metrics_table(struct wt_result *result)
{
	struct wt_table *table =
		wt_result_table(result, "metrics", "This run against the earlier ones");

	wt_table_column(table, "name", "metric", WT_CELL_TEXT);
	wt_table_column(table, "this", "this run", WT_CELL_TEXT);
	wt_table_column(table, "previous", "run before", WT_CELL_TEXT);
	wt_table_column(table, "median", "median before", WT_CELL_TEXT);
	wt_table_column(table, "change", "against the median", WT_CELL_TEXT);
	wt_table_column(table, "change_percent", "", WT_CELL_PERCENT);
	wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	wt_table_column(table, "x", "", WT_CELL_TEXT);
	wt_table_column(table, "unit", "", WT_CELL_TEXT);
	wt_table_column(table, "this_value", "", WT_CELL_NUMBER);
	wt_table_column(table, "median_value", "", WT_CELL_NUMBER);
	return table;
}

/* What the table of findings or that of checks has, or nobody compares. */
static bool is_compared(const char *name)
{
	static const char *const others[] = {"events", "lost", "findings.note", "findings.warning"};

	if (!strncmp(name, "check.", strlen("check.")))
		return !strcmp(name, "check.rate");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i], name))
			return false;
	return true;
}

/* What is shown first, as there may be more than has room: a training has dozens of settings that
 * are numbers. */
enum { RANK_RESULT, RANK_COST, RANK_VALUES, RANK_SETTING, RANKS };

static unsigned rank_of(const struct wti_run_metric *metric)
{
	static const char *const costs[] = {"throughput",  "step_time", "duration",
					    "peak_memory", "cpu_time",  "steps"};

	if (strcasestr(metric->name, "loss") || !strcmp(metric->name, "check.rate") ||
	    !strncmp(metric->name, "findings", strlen("findings")))
		return RANK_RESULT;
	for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++)
		if (!strcmp(costs[i], metric->name))
			return RANK_COST;
	return metric->values[WTI_STAT_COUNT] > 1 ? RANK_VALUES : RANK_SETTING;
}

static bool is_constant(const double *values, size_t count, double own)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] != own)
			return false;
	return true;
}

/* Values of the earlier runs, oldest first; how many. */
static size_t values_of(const struct history *h, const struct wti_run_number *number,
			double ret_values[RUNS_SHOWN])
{
	size_t count = 0;

	for (size_t i = h->count; i-- > 0;)
		if (h->wanted[i] && number->has[i] && !isnan(number->values[i]) &&
		    count < RUNS_SHOWN)
			ret_values[count++] = number->values[i];
	return count;
}

static void put_value(struct wt_table *table, const char *unit, double value)
{
	char text[WTI_METRIC_TEXT];

	wti_metric_text(text, unit, value);
	wt_table_text(table, text, strlen(text));
}

static void add_curve(struct wt_result *result, const char *name, const char *unit,
		      const double *values, size_t count, double own)
{
	struct wt_series *series;
	char key[32];

	snprintf(key, sizeof(key), "history%zu", result->series_count);
	series = wt_result_series(result, key, name, unit, 1, 1, count + 1);
	for (size_t i = 0; i < count && series; i++)
		series->y[i] = values[i];
	if (series)
		series->y[count] = own;
}

static void add_metric(struct wt_table *table, struct wt_result *result, const char *name,
		       const struct wti_run_metric *metric, enum wti_statistic statistic,
		       const double *values, size_t count)
{
	double own = metric->values[statistic], sorted[RUNS_SHOWN], median;

	memcpy(sorted, values, count * sizeof(*values));
	median = wti_trend_median(sorted, count);
	wt_table_row(table);
	wt_table_text(table, name, strlen(name));
	put_value(table, metric->unit, own);
	put_value(table, metric->unit, values[count - 1]);
	put_value(table, metric->unit, median);
	wti_trend_put_change(table, own, median);
	wt_table_count(table, count);
	wt_table_text(table, "runs", 4);
	wt_table_text(table, metric->unit, strlen(metric->unit));
	wt_table_number(table, own);
	wt_table_number(table, median);
	if (count > 1 && !is_constant(values, count, own))
		add_curve(result, name, metric->unit, values, count, own);
}

static int compare_metric(struct history *h, const struct wti_run_metric *metric,
			  struct wt_table *table, struct wt_result *result, struct wt_err *err)
{
	enum wti_statistic statistic =
		!strcmp(metric->name, "step_time") ? WTI_STAT_P50 : WTI_STAT_LAST;
	bool has_many = metric->values[WTI_STAT_COUNT] > 1;
	double values[RUNS_SHOWN];
	struct wti_run_number number;
	char name[WTI_FILTER_NAME_BYTES];
	size_t count;
	int r;

	if (snprintf(name, sizeof(name), "%s%s%s", metric->name, has_many ? "." : "",
		     has_many ? wti_statistic_word(statistic) : "") >= (int)sizeof(name))
		return 0;
	r = wti_run_number(h->source->front, h->catalogue, name, h->wanted, &number, err);
	if (r)
		return r == WT_E_NOMEM ? r : 0; /* no earlier run has it */
	count = values_of(h, &number, values);
	wti_run_number_release(&number);
	if (count && (rank_of(metric) != RANK_SETTING ||
		      !is_constant(values, count, metric->values[statistic])))
		add_metric(table, result, name, metric, statistic, values, count);
	return 0;
}

static int compare_ranked(struct history *h, unsigned rank, struct wt_table *table,
			  struct wt_result *result, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < h->own.metric_count && !r && table->row_count < METRICS_SHOWN; i++) {
		const struct wti_run_metric *metric = &h->own.metrics[i];

		if (is_compared(metric->name) && rank_of(metric) == rank)
			r = compare_metric(h, metric, table, result, err);
	}
	return r;
}

static int add_metrics(struct history *h, struct wt_result *result, struct wt_err *err)
{
	struct wt_err unread = {.offset = -1};
	struct wt_table *table;
	int r = wti_summary_read(h->source->front, &h->source->opened->run, &h->own, &unread);

	if (r)
		return r == WT_E_NOMEM ? r : 0;
	table = metrics_table(result);
	for (unsigned rank = 0; rank < RANKS && !r; rank++)
		r = compare_ranked(h, rank, table, result, &unread);
	wti_summary_release(&h->own);
	return r ? wti_err(err, r, "out of memory") : 0;
}

int wti_section_history(struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err)
{
	struct history h = {.source = source};
	struct wt_err failed = {.offset = -1};
	int r = wti_catalogue_open(source->front, &h.catalogue, result, &failed);

	if (!r) {
		h.runs = wti_catalogue_runs(h.catalogue, &h.count);
		h.wanted = calloc(h.count + 1, sizeof(*h.wanted));
		r = h.wanted ? 0 : WT_E_NOMEM;
	}
	if (!r)
		add_runs(&h, result);
	if (!r && h.earlier)
		r = add_metrics(&h, result, err);
	free(h.wanted);
	wti_catalogue_free(h.catalogue);
	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	wt_result_fact_count(result, "earlier", "earlier runs", WT_CELL_COUNT, h.earlier);
	wt_result_fact_count(result, "earlier_finished", "of these finished", WT_CELL_COUNT,
			     h.finished);
	if (h.unread)
		wt_result_note(result,
			       "%zu earlier runs are large and were not read: 'wheeltap trend' "
			       "reads them",
			       h.unread);
	if (!h.earlier)
		wti_not_recorded(result, "earlier runs",
				 "keep runs in one folder (WHEELTAP_HOME), under one name");
	return 0;
}
