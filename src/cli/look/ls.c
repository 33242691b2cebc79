/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `ls`. */
#include <string.h>

#include <wheeltap/trace.h>

#include "base/text.h"
#include "cli/front.h"
#include "cli/report.h"
#include "runs/run.h"

struct ls_options {
	bool names;
	bool json;
};

/* `with_sets`: one of them has several runs in it. */
static void add_columns(struct wt_table *table, bool with_sets)
{
	wt_table_column(table, "name", "run", WT_CELL_TEXT);
	if (with_sets)
		wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
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
	wt_table_column(table, "command", "command", WT_CELL_TEXT);
	wt_table_hide(table, 6);
}

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

static void add_run(struct wt_table *table, const struct wti_run *run, bool with_sets)
{
	struct wti_run_size size = wti_run_size(run->path);
	char moment[32];

	wt_table_row(table);
	wt_table_text(table, run->name, strlen(run->name));
	if (with_sets)
		add_count(table, run->is_set ? (int64_t)run->run_count : -1);
	wt_table_text(table, run->status, strlen(run->status));
	wti_format_moment(moment, run->start_ns);
	wt_table_text(table, moment, strlen(moment));
	if (run->start_ns)
		wt_table_ns(table, run->start_ns);
	else
		wt_table_empty(table);
	if (run->duration_ns < 0)
		wt_table_empty(table);
	else
		wt_table_ns(table, run->duration_ns);
	add_count(table, run->events >= 0 ? run->events : count_events(run->path));
	wt_table_count(table, size.stream_bytes);
	wt_table_count(table, size.disk_bytes);
	add_count(table, run->lost);
	wt_table_text(table, run->command, strlen(run->command));
}

/* A glob over the name of the folder, or over what the run was called. */
static bool is_wanted(const struct wti_run *run, char **patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (wti_glob(patterns[i], run->name, strlen(run->name)) ||
		    (run->label && wti_glob(patterns[i], run->label, strlen(run->label))))
			return true;
	return !count;
}

/* Brings the wanted ones to the front; how many they are. */
static size_t filter(struct wti_run *runs, size_t count, char **patterns, size_t pattern_count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct wti_run run = runs[i];

		if (!is_wanted(&run, patterns, pattern_count))
			continue;
		runs[i] = runs[kept];
		runs[kept++] = run;
	}
	return kept;
}

static int print_names(const struct wti_run *runs, size_t count)
{
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 64u << 20);
	for (size_t i = 0; i < count; i++) {
		wti_textf(&out, "%s\n", runs[i].name);
	}
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static int run(const void *opaque, char **arguments, size_t argument_count)
{
	const struct ls_options *options = opaque;
	struct wti_front front = wti_front_here(NULL);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	struct wt_table *table;
	struct wti_run *runs;
	bool with_sets = false;
	size_t count, wanted;
	int code;

	if (wti_runs_list(&front, &runs, &count, &err)) {
		wti_report_error("ls", options->json, &err);
		return WTI_EXIT_ENVIRONMENT;
	}
	wanted = filter(runs, count, arguments, argument_count);
	if (options->names) {
		code = print_names(runs, wanted);
		wti_runs_free(runs, count);
		return code;
	}
	wt_result_init(&result, "ls");
	wt_result_fact_text(&result, "home", "", front.home);
	table = wt_result_table(&result, "runs", "");
	for (size_t i = 0; i < wanted; i++)
		with_sets |= runs[i].is_set;
	add_columns(table, with_sets);
	for (size_t i = 0; i < wanted; i++)
		add_run(table, &runs[i], with_sets);
	if (count && !wanted)
		wt_result_note(&result, "none of the %zu runs below '%s' matches", count,
			       front.home);
	if (!count)
		wt_result_note(&result,
			       "no runs below '%s'; record one with 'wheeltap record -- PROGRAM'",
			       front.home);
	code = wti_report_result(&result, options->json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	wti_runs_free(runs, count);
	return code;
}

static const struct wti_option options[] = {
	{"names", 0, WTI_OPT_FLAG, NULL, NULL, "print only the names, one per line",
	 offsetof(struct ls_options, names)},
	WTI_OPTION_JSON(struct ls_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_ls = {
	.name = "ls",
	.arguments = "[PATTERN...]",
	.arguments_max = 1000,
	.summary = "list the runs, the newest first",
	.description = "Lists the runs below $WHEELTAP_HOME, or ./wheeltap-runs: name, status, "
		       "start, duration, events, size of the trace, size of all files of the run, "
		       "lost events, command. Where there are sets (record --runs) the "
		       "number of their runs is shown, too. With patterns such as 'lr*' (* ? "
		       "[a-z]), only runs whose name or folder matches one of them.\n\n"
		       "A run is running while its recorder lives; abandoned if the recorder died; "
		       "otherwise finished, failed (an exit status other than 0), killed (by a "
		       "signal) or interrupted (through the recorder).",
	.examples = "wheeltap ls\n"
		    "wheeltap ls 'lr*'\tonly these\n"
		    "WHEELTAP_HOME=/data/runs wheeltap ls --json\truns in another place",
	.options = options,
	.options_bytes = sizeof(struct ls_options),
	.group = "look",
	.run = run,
};
