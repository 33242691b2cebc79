/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `ls`: runs of the catalogue, filtered, sorted, with the numbers that were asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/front.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "inspect/core/cells.h"
#include "runs/run_filter.h"

#define SHORT_COMMIT 10

struct ls_options {
	bool names;
	bool json;
	bool csv;
	bool all;
	bool reverse;
	const char *sort;
	uint64_t limit;
};

struct listing {
	const struct ls_options *options;
	struct wti_catalogue *catalogue;
	const struct wti_catalogue_run *runs;
	size_t run_count;
	struct wti_run_filter filter;
	bool *keep;
	size_t *order; /* places of the runs that are shown */
	size_t count;
	struct wti_run_number sorted; /* by which they are in order; or none */
	bool is_sorted;
	bool with_sets, with_tags, with_commits;
};

/* ---- Columns --------------------------------------------------------------------------------- */

/* A number has a column if it was asked for and is in none of the usual ones. */
static bool is_usual(const char *title)
{
	static const char *const usual[] = {"duration", "events", "size",
					    "disk",     "lost",   "started"};

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(usual[i], title))
			return true;
	return false;
}

static void add_number_column(struct wt_table *table, const struct wti_run_number *number)
{
	bool is_time = !strcmp(number->unit, "s"), is_size = !strcmp(number->unit, "bytes");
	char key[WTI_FILTER_NAME_BYTES + 16];

	if (is_usual(number->title))
		return;
	snprintf(key, sizeof(key), "%s%s", number->title,
		 is_time   ? "_ns"
		 : is_size ? "_bytes"
			   : "");
	wt_table_column(table, key, number->title,
			is_size   ? WT_CELL_BYTES
			: is_time ? WT_CELL_NS
				  : WT_CELL_NUMBER);
}

static void each_number(const struct listing *l,
			void (*what)(struct wt_table *, const struct wti_run_number *, size_t),
			struct wt_table *table, size_t run)
{
	for (size_t i = 0; i < l->filter.number_count; i++) {
		bool is_first = true;

		for (size_t j = 0; j < i; j++)
			is_first &=
				strcmp(l->filter.numbers[j].title, l->filter.numbers[i].title) != 0;
		if (is_first)
			what(table, &l->filter.numbers[i], run);
	}
	for (size_t i = 0; l->is_sorted && i < l->filter.number_count; i++)
		if (!strcmp(l->filter.numbers[i].title, l->sorted.title))
			return;
	if (l->is_sorted)
		what(table, &l->sorted, run);
}

static void put_column(struct wt_table *table, const struct wti_run_number *number, size_t run)
{
	add_number_column(table, number);
}

static void put_number(struct wt_table *table, const struct wti_run_number *number, size_t run)
{
	double value = number->values[run];

	if (is_usual(number->title))
		return;
	if (!number->has[run])
		wt_table_empty(table);
	else if (!strcmp(number->unit, "bytes"))
		wt_table_count(table, value > 0 ? (uint64_t)value : 0);
	else if (!strcmp(number->unit, "s"))
		wt_table_ns(table, (int64_t)(value * 1e9));
	else
		wt_table_number(table, value);
}

static void add_columns(struct wt_table *table, const struct listing *l)
{
	wt_table_column(table, "name", "run", WT_CELL_TEXT);
	if (l->with_sets)
		wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	each_number(l, put_column, table, 0);
	wt_table_column(table, "start", "started", WT_CELL_TEXT);
	wt_table_hide(table, 5);
	wt_table_column(table, "start_ns", "", WT_CELL_NS);
	wt_table_column(table, "duration_ns", "duration", WT_CELL_NS);
	wt_table_hide(table, 1);
	wt_table_column(table, "events", "events", WT_CELL_COUNT);
	wt_table_hide(table, 3);
	wt_table_column(table, "bytes", "size", WT_CELL_BYTES);
	wt_table_hide(table, 4);
	wt_table_column(table, "disk_bytes", "on disk", WT_CELL_BYTES);
	wt_table_hide(table, 7);
	wt_table_column(table, "lost", "lost", WT_CELL_COUNT);
	wt_table_hide(table, 2);
	wt_table_column(table, "commit", l->with_commits ? "commit" : "", WT_CELL_TEXT);
	wt_table_hide(table, 8);
	wt_table_column(table, "tags", l->with_tags ? "tags" : "", WT_CELL_TEXT);
	wt_table_hide(table, 3);
	wt_table_column(table, "command", "command", WT_CELL_TEXT);
	wt_table_hide(table, 6);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_count(struct wt_table *table, int64_t count)
{
	if (count < 0)
		wt_table_empty(table);
	else
		wt_table_count(table, (uint64_t)count);
}

/* Of a run whose recorder has not said it yet, from the heads of its blocks. */
static int64_t count_events(const char *path)
{
	struct wt_trace *trace;
	int64_t count = 0;

	if (wt_trace_open(path, &trace, NULL))
		return -1;
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_block_count(reader); j++)
			count += wt_reader_block(reader, j)->rows;
	}
	wt_trace_free(trace);
	return count;
}

/* Of one that goes on the catalogue knows how it began. */
static void look_again(const char *home, struct wti_catalogue_run *run)
{
	bool grows = !strcmp(run->status, "running");
	struct wti_run_size size;
	char *path;

	if (run->removed_ns >= 0 || (run->events >= 0 && !grows) ||
	    asprintf(&path, "%s/%s", home, run->folder) < 0)
		return;
	if (run->events < 0)
		run->events = count_events(path);
	if (grows) {
		size = wti_run_size(path);
		run->stream_bytes = (int64_t)size.stream_bytes;
		run->disk_bytes = (int64_t)size.disk_bytes;
	}
	free(path);
}

static void add_run(struct wt_table *table, const struct listing *l, const char *home, size_t place)
{
	struct wti_catalogue_run now = l->runs[place];
	const struct wti_catalogue_run *run = &now;
	char moment[32], status[64], commit[SHORT_COMMIT + 2];

	look_again(home, &now);
	wt_table_row(table);
	wti_table_word(table, run->folder);
	if (l->with_sets)
		add_count(table, run->run_count);
	snprintf(status, sizeof(status), run->removed_ns < 0 ? "%s" : "%s, removed", run->status);
	wti_table_word(table, status);
	each_number(l, put_number, table, place);
	wti_table_word(table, wti_format_moment(moment, run->start_ns));
	if (run->start_ns > 0)
		wt_table_ns(table, run->start_ns);
	else
		wt_table_empty(table);
	if (run->duration_ns < 0)
		wt_table_empty(table);
	else
		wt_table_ns(table, run->duration_ns);
	add_count(table, run->events);
	add_count(table, run->stream_bytes);
	add_count(table, run->disk_bytes);
	add_count(table, run->lost);
	snprintf(commit, sizeof(commit), "%.10s%s", run->commit, run->is_dirty ? "+" : "");
	wti_table_word(table, l->options->json ? run->commit : commit);
	wti_table_word(table, run->tags);
	wti_table_word(table, run->command);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b, void *opaque)
{
	const struct listing *l = opaque;
	double x = l->sorted.values[*(const size_t *)a], y = l->sorted.values[*(const size_t *)b];

	if (isnan(x) || isnan(y)) /* what has none comes last, whichever way */
		return isnan(x) - isnan(y) ? isnan(x) - isnan(y)
					   : (*(const size_t *)a > *(const size_t *)b) -
						     (*(const size_t *)a < *(const size_t *)b);
	if (x == y)
		return (*(const size_t *)a > *(const size_t *)b) -
		       (*(const size_t *)a < *(const size_t *)b);
	return (x < y ? -1 : 1) * (l->options->reverse ? -1 : 1);
}

static void put_in_order(struct listing *l)
{
	const struct ls_options *o = l->options;

	l->count = 0;
	for (size_t i = 0; i < l->run_count; i++) {
		size_t place = o->reverse && !l->is_sorted ? l->run_count - 1 - i : i;

		if (l->keep[place])
			l->order[l->count++] = place;
	}
	if (l->is_sorted && l->count)
		qsort_r(l->order, l->count, sizeof(*l->order), by_number, l);
	if (o->limit && l->count > o->limit)
		l->count = o->limit;
	for (size_t i = 0; i < l->count; i++) {
		const struct wti_catalogue_run *run = &l->runs[l->order[i]];

		l->with_sets |= run->is_set;
		l->with_tags |= *run->tags != 0;
	}
	for (size_t i = 0; i < l->filter.count; i++)
		l->with_commits |= !strcmp(l->filter.terms[i].name, "commit") ||
				   !strcmp(l->filter.terms[i].name, "dirty");
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int print_names(const struct listing *l)
{
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 64u << 20);
	for (size_t i = 0; i < l->count; i++)
		wti_textf(&out, "%s\n", l->runs[l->order[i]].folder);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static void note_nothing(const struct listing *l, const char *home, struct wt_result *result)
{
	size_t there = 0;

	for (size_t i = 0; i < l->run_count; i++)
		there += l->runs[i].removed_ns < 0;
	if (there && !l->count)
		wt_result_note(result, "none of the %zu runs below '%s' matches", there, home);
	else if (!l->count && l->run_count > there)
		wt_result_note(
			result,
			"no runs below '%s'; %zu were removed, and 'wheeltap ls --all' lists "
			"what is kept of them",
			home, l->run_count);
	else if (!l->count)
		wt_result_note(result,
			       "no runs below '%s'; record one with 'wheeltap record -- PROGRAM'",
			       home);
}

static int print_runs(struct listing *l, const char *home, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "runs", "");

	add_columns(table, l);
	for (size_t i = 0; i < l->count; i++)
		add_run(table, l, home, l->order[i]);
	note_nothing(l, home, result);
	return l->options->csv ? wti_report_csv(result, WTI_EXIT_CLEAN)
			       : wti_report_result(result, l->options->json, WTI_EXIT_CLEAN);
}

static int find_runs(struct listing *l, const struct wti_front *front, struct wt_result *result,
		     struct wt_err *err)
{
	int r = wti_catalogue_open(front, &l->catalogue, result, err);

	if (r)
		return r;
	l->runs = wti_catalogue_runs(l->catalogue, &l->run_count);
	l->keep = calloc(l->run_count + 1, sizeof(*l->keep));
	l->order = calloc(l->run_count + 1, sizeof(*l->order));
	if (!l->keep || !l->order)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_filter_apply(front, l->catalogue, &l->filter, l->keep, err);
	if (!r && l->options->sort) {
		r = wti_run_number(front, l->catalogue, l->options->sort, l->keep, &l->sorted, err);
		l->is_sorted = !r;
	}
	if (!r)
		put_in_order(l);
	return r;
}

static int run(const void *opaque, char **arguments, size_t argument_count)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct listing l = {.options = opaque};
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code, r;

	wt_result_init(&result, "ls");
	wt_result_fact_text(&result, "home", "", front.home);
	r = wti_filter_read(arguments, argument_count, &l.filter, &err);
	l.filter.with_removed = l.options->all;
	r = r ? r : find_runs(&l, &front, &result, &err);
	if (r) {
		wti_report_error("ls", l.options->json, &err);
		code = r == WT_E_ARG ? WTI_EXIT_USAGE : WTI_EXIT_ENVIRONMENT;
	} else {
		code = l.options->names ? print_names(&l) : print_runs(&l, front.home, &result);
		if (l.options->names)
			wti_report_notes(&result);
	}
	wt_result_release(&result);
	wti_filter_release(&l.filter);
	wti_run_number_release(&l.sorted);
	free(l.keep);
	free(l.order);
	wti_catalogue_free(l.catalogue);
	return code;
}

static const struct wti_option options[] = {
	{"sort", 0, WTI_OPT_TEXT, "NAME", NULL,
	 "by this number, the smallest first: a metric such as loss.last, or duration, started, "
	 "events, size, disk, lost, exit",
	 offsetof(struct ls_options, sort)},
	{"reverse", 'r', WTI_OPT_FLAG, NULL, NULL, "in reverse order",
	 offsetof(struct ls_options, reverse)},
	{"limit", 0, WTI_OPT_COUNT, "N", NULL, "only the first N",
	 offsetof(struct ls_options, limit)},
	{"all", 0, WTI_OPT_FLAG, NULL, NULL,
	 "also runs that 'wheeltap clean' removed, of which the summary is kept",
	 offsetof(struct ls_options, all)},
	{"names", 0, WTI_OPT_FLAG, NULL, NULL, "print only the names, one per line",
	 offsetof(struct ls_options, names)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print comma-separated values",
	 offsetof(struct ls_options, csv)},
	WTI_OPTION_JSON(struct ls_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_ls = {
	.name = "ls",
	.arguments = "[FILTER|PATTERN...]",
	.arguments_max = WTI_FILTER_TERMS_MAX,
	.summary = "list the runs, the newest first; filter and sort them",
	.description =
		"Lists the runs below $WHEELTAP_HOME, or ./wheeltap-runs: name, status, start, "
		"duration, events, size of the trace, size of all files of the run, lost events, "
		"command. Where there are sets (record --runs) the number of their runs is "
		"shown, too. With patterns such as 'lr*' (* ? [a-z]), only runs whose name or "
		"folder matches one of them.\n\n"
		"Filters select further, and a run must match all of them. Text is compared with "
		"= and !=: status, name, tag, commit (its beginning), program, command (a part "
		"of it), host, directory, config (the beginning of its hash), dirty=yes, "
		"removed=yes; all but commit and config take patterns. since=2d and "
		"until=2026-03-01 are about the start. Numbers are compared with = != < <= > >=: "
		"duration, events, lost, size, disk, exit, and every metric of a run, with "
		".first, .last (the default), .min, .max, .mean, .p50, .p95 or .count behind it: "
		"loss.min, step_time.p50 (in seconds, or 200ms), peak_memory (2G), "
		"findings.error, check.failed, check:NAME (the pass rate of a test). 'wheeltap "
		"trend' lists the metrics. config.KEY is a setting of the program as it resolved "
		"it, a number or text: config.lr, config.optimizer=adam. Quote a filter with < "
		"or >.\n\n"
		"Metrics are read from the trace when they are first needed, and kept in a "
		"catalogue beside the runs (docs/catalogue.md).\n\n"
		"A run is running while its recorder lives; abandoned if the recorder died; "
		"otherwise finished, failed (an exit status other than 0), killed (by a signal) "
		"or interrupted (through the recorder).",
	.examples = "wheeltap ls\n"
		    "wheeltap ls 'lr*'\tonly these\n"
		    "wheeltap ls status=failed since=2d\twhat went wrong lately\n"
		    "wheeltap ls program=train.py 'step_time.p50>200ms' --sort loss.last --limit "
		    "20\tthe best of the slow ones\n"
		    "WHEELTAP_HOME=/data/runs wheeltap ls --json\truns in another place",
	.options = options,
	.options_bytes = sizeof(struct ls_options),
	.group = "look",
	.run = run,
};
