/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `info`. */
#include <stdio.h>
#include <string.h>

#include "cli/front.h"
#include "cli/inspect.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "runs/ending.h"
#include "runs/set.h"

#define CAUSE_MAX 4096u

struct info_options {
	bool json;
};

/* The same that the first line of `doctor` shows. */
static void add_cause(const struct wti_run *run, struct wt_result *result)
{
	struct wti_buf cause;

	wti_buf_init(&cause, CAUSE_MAX);
	if (wti_ending_cause(&cause, run))
		wt_result_fact_text(result, "ended_by", "ended by", wti_buf_cstr(&cause));
	wti_buf_release(&cause);
}

static void before(const struct wti_opened_run *opened, struct wt_result *result)
{
	const struct wti_run *run = &opened->run;
	char moment[32];

	wt_result_set_status(result, run->status);
	wt_result_fact_text(result, "run", "run", run->name);
	wt_result_fact_text(result, "path", "path", run->path);
	if (*run->command)
		wt_result_fact_text(result, "command", "command", run->command);
	wt_result_fact_text(result, "run_status", "status", run->status);
	if (run->elsewhere[0]) {
		wt_result_fact_text(result, "recorded_on", "recorded on", run->elsewhere);
		wt_result_note(result,
			       "running or abandoned: that can only be seen on '%s', which "
			       "records it or did",
			       run->elsewhere);
	}
	add_cause(run, result);
	if (run->start_ns) {
		wt_result_fact_text(result, "start", "started",
				    wti_format_moment(moment, run->start_ns));
		wt_result_fact_count(result, "start_ns", "", WT_CELL_NS, (uint64_t)run->start_ns);
	}
	if (run->duration_ns >= 0)
		wt_result_fact_count(result, "duration_ns", "duration", WT_CELL_NS,
				     (uint64_t)run->duration_ns);
	wt_result_fact_count(result, "disk_bytes", "on disk", WT_CELL_BYTES,
			     wti_run_size(run->path).disk_bytes);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static void add_set_runs(struct wt_result *result, const struct wti_set *set)
{
	struct wt_table *table = wt_result_table(result, "runs", "runs");

	wt_table_column(table, "folder", "run", WT_CELL_TEXT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_column(table, "exit_code", "exit", WT_CELL_COUNT);
	wt_table_column(table, "seed", "seed of its noise", WT_CELL_TEXT);
	for (size_t i = 0; i < set->run_count; i++) {
		const struct wti_set_run *run = &set->runs[i];
		char seed[24];

		snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
		wt_table_row(table);
		wt_table_text(table, run->folder, strlen(run->folder));
		wt_table_text(table, run->status, strlen(run->status));
		if (run->exit_code >= 0)
			wt_table_count(table, (uint64_t)run->exit_code);
		else
			wt_table_empty(table);
		wt_table_text(table, seed, strlen(seed));
	}
}

static int print_set(const struct wti_set *set, bool json)
{
	struct wt_result result;
	char moment[32];
	int code;

	wt_result_init(&result, "info");
	wt_result_fact_text(&result, "set", "set", set->name);
	wt_result_fact_text(&result, "path", "path", set->path);
	wt_result_fact_text(&result, "command", "command", set->command);
	wt_result_fact_text(&result, "run_status", "status", set->status);
	wt_result_fact_text(&result, "start", "started", wti_format_moment(moment, set->start_ns));
	wt_result_fact_text(&result, "noise", "noise", set->noise);
	wt_result_fact_count(&result, "seed", "seed", WT_CELL_COUNT, set->seed);
	wt_result_fact_text(&result, "elements", "elements", set->elements);
	wt_result_fact_count(&result, "runs_wanted", "runs wanted", WT_CELL_COUNT,
			     set->runs_wanted);
	wt_result_fact_count(&result, "disk_bytes", "on disk", WT_CELL_BYTES,
			     wti_run_size(set->path).disk_bytes);
	add_set_runs(&result, set);
	code = wti_report_result(&result, json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct info_options *options = opaque;
	struct wti_inspection in = {.inspector = "info", .json = options->json, .before = before};
	const struct wti_front front = wti_front_here(NULL);
	struct wti_set set;
	int code;

	if (count < 2 && !wti_set_find(&front, count ? arguments[0] : NULL, &set, NULL)) {
		code = print_set(&set, options->json);
		wti_set_release(&set);
		return code;
	}
	return wti_inspect_runs(&in, arguments, count);
}

static const struct wti_option options[] = {
	WTI_OPTION_JSON(struct info_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_info = {
	.name = "info",
	.arguments = "[RUN...]",
	.summary = "show what is in a trace: kinds, tracks, losses, size",
	.description =
		"Shows what a trace contains: events by kind and by track, its size (all streams) "
		"and that of all files of the run (on disk), how many events were lost and why, "
		"how well its clocks agree, bytes per event, its streams and their state, and what "
		"is damaged. For a run that did not end well it shows the last step and the spans "
		"that were still open.\n\n"
		"Tracks of a distributed run begin with their rank. DataLoaders start new workers "
		"in each epoch; each worker shares a row with the one that it replaced. --json "
		"also has all of them separately.\n\n"
		"The status is that of the run: running, abandoned (the recorder is gone), "
		"finished, failed, killed, interrupted, or unknown for a single stream. Of a run "
		"that ended early, the exit status or signal is shown, and the exception.\n\n"
		"Of a set of runs (record --runs) it shows how it was made, and its runs.\n\n"
		"Most of this comes from the headers of blocks, so it is fast on large traces.",
	.examples = "wheeltap info\tthe latest run\n"
		    "wheeltap info --json runs/a | jq .lost\thow many events were lost",
	.options = options,
	.options_bytes = sizeof(struct info_options),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "look",
	.run = run,
};
