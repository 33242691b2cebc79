/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what a change is measured against. */
#include "trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/cells.h"

#define SHORT_COMMIT 10

/* A run, or all runs of a commit. */
struct point {
	const struct wti_catalogue_run *run; /* the last of them */
	double value;                        /* their median */
	double min, max;
	size_t count;
};

struct trend {
	const struct wti_trend_options *options;
	struct wti_catalogue *catalogue;
	struct wti_run_filter filter;
	struct wti_run_number number;
	bool *keep;
	struct point *points;
	size_t point_count;
	double *scratch; /* sorted values */
};

static void release(struct trend *t)
{
	wti_filter_release(&t->filter);
	wti_run_number_release(&t->number);
	free(t->keep);
	free(t->points);
	free(t->scratch);
	wti_catalogue_free(t->catalogue);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t count)
{
	return count ? (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 : NAN;
}

double wti_trend_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return middle(values, count);
}

/* Keeps the values that came so far in order. */
static void insert(double *sorted, size_t count, double value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (sorted[at] < value)
			low = at + 1;
		else
			high = at;
	}
	memmove(sorted + low + 1, sorted + low, (count - low) * sizeof(*sorted));
	sorted[low] = value;
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The runs that have the number, oldest first. */
static void gather(struct trend *t)
{
	const struct wti_catalogue_run *runs;
	size_t count;

	runs = wti_catalogue_runs(t->catalogue, &count);
	for (size_t i = count; i-- > 0;)
		if (t->keep[i] && t->number.has[i])
			t->points[t->point_count++] =
				(struct point){&runs[i], t->number.values[i], t->number.values[i],
					       t->number.values[i], 1};
}

/* Runs of one commit that follow one another in time become one point, also where others are
 * between: the place is that of the first. */
static void merge_commits(struct trend *t)
{
	size_t merged = 0;

	for (size_t i = 0; i < t->point_count; i++) {
		struct point point = t->points[i];
		size_t count = 0;
		bool is_known = false;

		for (size_t j = 0; j < merged && !is_known; j++)
			is_known = !strcmp(t->points[j].run->commit, point.run->commit);
		if (is_known)
			continue;
		point.count = 0;
		for (size_t j = i; j < t->point_count; j++) {
			const struct point *other = &t->points[j];

			if (strcmp(other->run->commit, point.run->commit) != 0)
				continue;
			point.count++;
			point.run = other->run;
			if (!isnan(other->value))
				t->scratch[count++] = other->value;
		}
		point.value = wti_trend_median(t->scratch, count);
		point.min = count ? t->scratch[0] : NAN;
		point.max = count ? t->scratch[count - 1] : NAN;
		t->points[merged++] = point;
	}
	t->point_count = merged;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static enum wt_cell_type type_of(const struct wti_run_number *number)
{
	return !strcmp(number->unit, "s")       ? WT_CELL_NS
	       : !strcmp(number->unit, "bytes") ? WT_CELL_BYTES
						: WT_CELL_NUMBER;
}

static void put_value(struct wt_table *table, const struct wti_run_number *number, double value)
{
	if (type_of(number) == WT_CELL_NUMBER)
		wt_table_number(table, value);
	else if (isnan(value))
		wt_table_empty(table);
	else if (type_of(number) == WT_CELL_NS)
		wt_table_ns(table, (int64_t)(value * 1e9));
	else
		wt_table_count(table, (uint64_t)value);
}

static void add_columns(struct wt_table *table, const struct trend *t)
{
	const char *suffix = type_of(&t->number) == WT_CELL_NS      ? "value_ns"
			     : type_of(&t->number) == WT_CELL_BYTES ? "value_bytes"
								    : "value";

	wt_table_column(table, "run", t->options->by_commit ? "last run" : "run", WT_CELL_TEXT);
	wt_table_column(table, "commit", "commit", WT_CELL_TEXT);
	wt_table_hide(table, 2);
	if (t->options->by_commit)
		wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	wt_table_column(table, "start", "started", WT_CELL_TEXT);
	wt_table_hide(table, 3);
	wt_table_column(table, "start_ns", "", WT_CELL_NS);
	wt_table_column(table, suffix, t->options->by_commit ? "median" : t->number.title,
			type_of(&t->number));
	if (t->options->by_commit) {
		wt_table_column(table, "min", "min", type_of(&t->number));
		wt_table_hide(table, 4);
		wt_table_column(table, "max", "max", type_of(&t->number));
		wt_table_hide(table, 4);
	}
	wt_table_column(table, "before", "median before", type_of(&t->number));
	wt_table_hide(table, 1);
	wt_table_column(table, "change", "change", WT_CELL_TEXT);
	wt_table_column(table, "change_percent", "", WT_CELL_PERCENT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_hide(table, 2);
}

void wti_trend_put_change(struct wt_table *table, double value, double before)
{
	double percent = before != 0 ? 100 * (value - before) / fabs(before) : NAN;
	char text[32] = "";

	if (isfinite(percent))
		snprintf(text, sizeof(text), "%+.1f%%", percent);
	wti_table_word(table, text);
	if (isfinite(percent))
		wt_table_number(table, percent);
	else
		wt_table_empty(table);
}

static void add_point(struct wt_table *table, const struct trend *t, const struct point *point,
		      double before)
{
	const struct wti_catalogue_run *run = point->run;
	char commit[SHORT_COMMIT + 2], moment[32], status[32];

	wt_table_row(table);
	wti_table_word(table, run->folder);
	snprintf(commit, sizeof(commit), "%.10s%s", run->commit, run->is_dirty ? "+" : "");
	wti_table_word(table, commit);
	if (t->options->by_commit)
		wt_table_count(table, point->count);
	wti_table_word(table, wti_format_moment(moment, run->start_ns));
	wt_table_ns(table, run->start_ns);
	put_value(table, &t->number, point->value);
	if (t->options->by_commit) {
		put_value(table, &t->number, point->min);
		put_value(table, &t->number, point->max);
	}
	if (isnan(before))
		wt_table_empty(table);
	else
		put_value(table, &t->number, before);
	wti_trend_put_change(table, point->value, before);
	snprintf(status, sizeof(status), "%s%s", run->status,
		 run->removed_ns >= 0 ? ", removed" : "");
	wti_table_word(table, status);
}

static void add_points(struct trend *t, struct wt_result *result)
{
	struct wt_series *series = wt_result_series(result, "values", t->number.title,
						    t->number.unit, 0, 1, t->point_count);
	size_t skipped = t->options->limit && t->point_count > t->options->limit
				 ? t->point_count - t->options->limit
				 : 0;
	struct wt_table *table;
	size_t finite = 0;

	wt_result_fact_count(result, "runs", "", WT_CELL_COUNT, t->point_count);
	wt_result_fact_count(result, "omitted", "", WT_CELL_COUNT, skipped);
	table = wt_result_table(result, "trend", "");
	add_columns(table, t);
	for (size_t i = 0; i < t->point_count; i++) {
		const struct point *point = &t->points[i];

		if (series)
			series->y[i] = point->value;
		if (i >= skipped)
			add_point(table, t, point, middle(t->scratch, finite));
		if (!isnan(point->value))
			insert(t->scratch, finite++, point->value);
	}
	if (!t->point_count)
		wt_result_note(result, "no run that matches has a value of '%s'", t->number.title);
}

/* ---- Without a metric ------------------------------------------------------------------------ */

static int list_metrics(struct trend *t, struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "metrics", "");
	struct wti_map names;
	int r = wti_catalogue_metric_names(t->catalogue, &names, err);

	wt_table_column(table, "metric", "metric", WT_CELL_TEXT);
	wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	for (size_t i = 0; i < names.count && !r; i++) {
		wt_table_row(table);
		wti_table_word(table, names.entries[i].text);
		wt_table_count(table, names.entries[i].value);
	}
	if (!r && !names.count)
		wt_result_note(result, "no run has a metric; record one with 'wheeltap record -- "
				       "PROGRAM'");
	wti_map_release(&names);
	return r;
}

static int measure(const struct wti_front *front, struct trend *t, struct wt_err *err)
{
	size_t count;
	int r;

	wti_catalogue_runs(t->catalogue, &count);
	t->keep = calloc(count + 1, sizeof(*t->keep));
	t->points = calloc(count + 1, sizeof(*t->points));
	t->scratch = calloc(count + 1, sizeof(*t->scratch));
	if (!t->keep || !t->points || !t->scratch)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	t->filter.with_removed = true;
	r = wti_filter_apply(front, t->catalogue, &t->filter, t->keep, err);
	if (r)
		return r;
	if (!t->options->metric)
		return wti_catalogue_summarise(front, t->catalogue, t->keep, err);
	r = wti_run_number(front, t->catalogue, t->options->metric, t->keep, &t->number, err);
	if (!r)
		gather(t);
	if (!r && t->options->by_commit)
		merge_commits(t);
	return r;
}

int wti_trend(const struct wti_front *front, const struct wti_trend_options *options,
	      struct wt_result *result, struct wt_err *err)
{
	struct trend t = {.options = options};
	int r = wti_filter_read(options->filters, options->filter_count, &t.filter, err);

	r = r ? r : wti_catalogue_open(front, &t.catalogue, result, err);
	r = r ? r : measure(front, &t, err);
	if (!r && options->metric)
		add_points(&t, result);
	else if (!r)
		r = list_metrics(&t, result, err);
	release(&t);
	return r;
}
