/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `golden`: keep what a program does as a text, and hold runs against it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/front.h"
#include "runs/ending.h"
#include "runs/examine.h"
#include "runs/golden_runs.h"
#include "runs/golden_store.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "show/verdict.h"

#define ENDS_MAX 4096u

struct golden_options {
	bool json;
	bool times;
	bool force;
	bool may_fail;
	const char *folder;
	const char *fail_on;
};

static const struct golden_options defaults = {.folder = WTI_GOLDEN_FOLDER, .fail_on = "error"};

struct job {
	const struct golden_options *options;
	struct wti_front front;
	char *path;
	const char *name;
	char **runs;
	size_t run_count;
	struct wt_result *result;
	int code;         /* to end with */
	bool is_doubtful; /* the run may have done more than was seen */
};

/* ---- Files ----------------------------------------------------------------------------------- */

static int load(const struct job *job, struct wti_golden *ret_golden, struct wt_err *err)
{
	int r = wti_golden_load(job->path, ret_golden, err);

	if (r == WT_E_MISSING)
		wti_err(err, r, "no golden '%s': make it with `wheeltap golden add %s RUN...`",
			job->path, job->name);
	return r;
}

/* Meant for a repository: others may read it, as far as the umask allows. */
static int save(const struct job *job, const struct wti_golden *golden, struct wt_err *err)
{
	mode_t mask = umask(0);

	umask(mask);
	return wti_golden_save(job->path, golden, mask, err);
}

/* ---- add, accept ----------------------------------------------------------------------------- */

static int open_runs(const struct job *job, struct wti_seen_run **ret_runs, struct wt_err *err)
{
	return wti_seen_open_all(&job->front, (const char *const *)job->runs, job->run_count,
				 ret_runs, job->result, err);
}

/* A golden of a failure would call every failure clean. */
static int refuse_early(const struct job *job, const struct wti_seen_run *runs, struct wt_err *err)
{
	struct wti_buf ends;
	size_t count = 0;
	int r;

	wti_buf_init(&ends, ENDS_MAX);
	for (size_t i = 0; i < job->run_count; i++) {
		if (!wti_ended_early(runs[i].opened.run.status))
			continue;
		wti_buf_printf(&ends, "%s'%s' ", count++ ? ", " : "", runs[i].opened.run.name);
		wti_ending_words(&ends, &runs[i].opened.run);
	}
	r = !count || job->options->may_fail
		    ? 0
		    : wti_err(err, WT_E_FORMAT,
			      "%zu of %zu runs ended early: %s; record the program again where it "
			      "works, or give --may-fail if it is meant to end so",
			      count, job->run_count, wti_buf_cstr(&ends));
	wti_buf_release(&ends);
	return r;
}

static void report_golden(const struct job *job, const struct wti_golden *golden)
{
	struct wt_table *table = wt_result_table(job->result, "things", "");
	uint64_t counts[WTI_THING_TYPES] = {0}, varying[WTI_THING_TYPES] = {0};

	for (size_t i = 0; i < golden->thing_count; i++) {
		const struct wti_golden_thing *thing = &golden->things[i];
		bool varies = thing->is_optional;

		for (size_t j = 0; j < thing->fact_count; j++)
			varies |= thing->facts[j].total.low != thing->facts[j].total.high;
		counts[thing->type]++;
		varying[thing->type] += varies;
	}
	wt_result_fact_text(job->result, "golden", "golden", job->path);
	wt_result_fact_count(job->result, "runs", "runs", WT_CELL_COUNT, golden->run_count);
	wt_table_column(table, "type", "things", WT_CELL_TEXT);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "varying", "of which vary", WT_CELL_COUNT);
	for (int i = 0; i < WTI_THING_TYPES; i++) {
		const char *word = wti_thing_word((enum wti_thing_type)i);

		if (!counts[i])
			continue;
		wt_table_row(table);
		wt_table_text(table, word, strlen(word));
		wt_table_count(table, counts[i]);
		wt_table_count(table, varying[i]);
	}
}

static int add(struct job *job, struct wt_err *err)
{
	struct wti_seen_run *runs;
	struct wti_golden golden;
	int r;

	if (!job->options->force && !access(job->path, F_OK))
		return wti_err(err, WT_E_EXISTS,
			       "'%s' exists already: accept changes with `wheeltap golden accept "
			       "%s RUN`, or learn it again with --force",
			       job->path, job->name);
	r = open_runs(job, &runs, err);
	if (r)
		return r;
	if (job->run_count == 1)
		wt_result_note(job->result, "learned from one run: what varies between runs is "
					    "unknown; give three or more");
	wti_golden_init(&golden);
	r = refuse_early(job, runs, err);
	r = r ? r
	      : wti_golden_of_runs(&golden, job->name, runs, job->run_count, job->options->times,
				   err);
	if (!r && job->options->times && !golden.has_times)
		r = wti_err(err, WT_E_FORMAT,
			    "the runs have no steps, so there are no times of steps to keep: leave "
			    "out --times");
	r = r ? r : save(job, &golden, err);
	if (!r) {
		report_golden(job, &golden);
		wt_result_set_status(job->result, "added");
	}
	wti_golden_release(&golden);
	wti_seen_close_all(runs, job->run_count);
	return r;
}

static int accept(struct job *job, struct wt_err *err)
{
	struct wti_golden golden;
	struct wti_seen_run *runs;
	size_t count = 0;
	int r = load(job, &golden, err);

	if (r)
		return r;
	r = open_runs(job, &runs, err);
	if (!r) {
		r = refuse_early(job, runs, err);
		r = r ? r
		      : wti_golden_accept_runs(&golden, job->path, runs, job->run_count, &count,
					       job->result, err);
		if (!r && count)
			r = save(job, &golden, err);
		if (!r)
			wt_result_set_status(job->result, count ? "accepted" : "unchanged");
		wti_seen_close_all(runs, job->run_count);
	}
	wti_golden_release(&golden);
	return r;
}

/* ---- check, show ----------------------------------------------------------------------------- */

static int check(struct job *job, struct wt_err *err)
{
	struct wti_golden golden;
	struct wti_seen_run *runs;
	int r = load(job, &golden, err);

	if (r)
		return r;
	r = open_runs(job, &runs, err);
	if (!r) {
		r = wti_golden_compare(&golden, job->path, &runs[0], NULL, job->result, err);
		wt_result_fact_count(job->result, "things", "", WT_CELL_COUNT, golden.thing_count);
		wt_result_fact_count(job->result, "calls", "", WT_CELL_COUNT,
				     runs[0].effects.syscall_count);
		wti_shorten_paths(job->result, runs[0].opened.run.directory);
		job->is_doubtful = wti_seen_doubt(&runs[0], job->result);
		wti_seen_close_all(runs, job->run_count);
	}
	wti_golden_release(&golden);
	wt_result_set_status(job->result, job->result->finding_count ? "findings"
					  : job->is_doubtful         ? "not_measured"
								     : "clean");
	job->code = wti_verdict_any_fails(job->result, job->options->fail_on) ? WTI_EXIT_FINDINGS
		    : job->is_doubtful                                        ? WTI_EXIT_TRACE
									      : WTI_EXIT_CLEAN;
	return r;
}

static int show(struct job *job, struct wt_err *err)
{
	struct wti_golden golden;
	int r = load(job, &golden, err);

	if (r)
		return r;
	report_golden(job, &golden);
	wt_result_set_status(job->result, "shown");
	wti_golden_release(&golden);
	return 0;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static const struct action {
	const char *name;
	size_t runs_min, runs_max;
	int (*run)(struct job *job, struct wt_err *err);
} actions[] = {
	{"add", 1, WTI_GOLDEN_RUNS_MAX, add},
	{"check", 0, 1, check},
	{"accept", 1, WTI_GOLDEN_RUNS_MAX, accept},
	{"show", 0, 0, show},
};

static const struct action *action_of(const char *word)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, word))
			return &actions[i];
	return NULL;
}

static int usage(const struct action *action, char **arguments, size_t count, struct wt_err *err)
{
	if (!action)
		return wti_err(err, WT_E_ARG, "no action '%s': add, check, accept or show",
			       arguments[0]);
	if (count < 2 || !*arguments[1])
		return wti_err(err, WT_E_ARG, "no golden named: wheeltap golden %s NAME",
			       action->name);
	if (count - 2 < action->runs_min)
		return wti_err(err, WT_E_ARG, "no run given: wheeltap golden %s NAME RUN...",
			       action->name);
	if (count - 2 > action->runs_max)
		return wti_err(err, WT_E_ARG, "too many runs: `golden %s` takes %zu at most",
			       action->name, action->runs_max);
	return 0;
}

static uint64_t count_of(const struct job *job, const char *key)
{
	const struct wt_fact *fact = wt_result_fact(job->result, key);

	return fact ? fact->value.count : 0;
}

static int print_text(const struct job *job, const struct action *action)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	char things[32], calls[32];
	bool ok;

	wti_buf_init(&out, 1u << 30);
	wti_show_findings(&out, job->result, &style);
	if (action->run == check && !job->result->finding_count && job->is_doubtful)
		wti_textf(&out, "not measured: nothing that was seen deviates from golden '%s'\n",
			  job->name);
	else if (action->run == check && !job->result->finding_count)
		wti_textf(&out,
			  "clean: %s things of golden '%s' are unchanged, in %s system calls\n",
			  wti_format_count(things, count_of(job, "things")), job->name,
			  wti_format_count(calls, count_of(job, "calls")));
	else if (action->run == check)
		wti_textf(&out, "%zu deviation%s from golden '%s'\n", job->result->finding_count,
			  job->result->finding_count == 1 ? "" : "s", job->name);
	else if (action->run == accept)
		wti_textf(&out, "%s: %zu deviation%s accepted into '%s'\n", job->result->status,
			  job->result->finding_count, job->result->finding_count == 1 ? "" : "s",
			  job->path);
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(job->result);
	return ok ? job->code : WTI_EXIT_ENVIRONMENT;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct golden_options *options = opaque;
	const struct action *action = action_of(arguments[0]);
	static char *latest[] = {"latest"};
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	struct wti_progress progress;
	struct job job = {
		.options = options, .front = wti_front_here(&progress), .result = &result};
	int code;

	if (usage(action, arguments, count, &err))
		return wti_report_error("golden", options->json, &err);
	job.name = arguments[1];
	job.runs = count > 2 ? arguments + 2 : latest;
	job.run_count = count > 2 ? count - 2 : 1;
	job.path = wti_golden_path(options->folder, job.name);
	wt_result_init(&result, "golden");
	if (!job.path)
		wti_err(&err, WT_E_NOMEM, "out of memory");
	if (!job.path || action->run(&job, &err))
		code = wti_report_error("golden", options->json, &err);
	else if (options->json || action->run == show || action->run == add ||
		 wt_result_status(&result))
		code = wti_report_result(&result, options->json, job.code);
	else
		code = print_text(&job, action);
	wt_result_release(&result);
	free(job.path);
	return code;
}

static const struct wti_option options[] = {
	{"dir", 'd', WTI_OPT_TEXT, "FOLDER", NULL,
	 "where goldens are kept; default: " WTI_GOLDEN_FOLDER ", below the current folder",
	 offsetof(struct golden_options, folder)},
	{"times", 0, WTI_OPT_FLAG, NULL, NULL,
	 "add: also keep how long steps take; such a golden is valid on one machine only",
	 offsetof(struct golden_options, times)},
	{"force", 'f', WTI_OPT_FLAG, NULL, NULL, "add: learn it again if it exists already",
	 offsetof(struct golden_options, force)},
	{"may-fail", 0, WTI_OPT_FLAG, NULL, NULL,
	 "add, accept: learn from runs that failed or were killed, too",
	 offsetof(struct golden_options, may_fail)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "check: exit with 1 if there is a finding of this severity or above; error is the default",
	 offsetof(struct golden_options, fail_on)},
	WTI_OPTION_JSON(struct golden_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_golden = {
	.name = "golden",
	.arguments = "ACTION NAME [RUN...]",
	.summary = "keep a program's effects as a reference, and report changes",
	.description =
		"A golden is a text file for your repository. It lists the files that a program "
		"reads and writes, how it writes them, the peers it contacts, the programs it "
		"starts, the libraries it loads, how many system calls it makes for each of these, "
		"in total and by step, and in which order. Runs are recorded with `wheeltap record "
		"--syscalls`.\n\n"
		"add NAME RUN... learns a golden from runs of an unchanged program: what is the "
		"same in all of them must stay exactly the same, what varies becomes a range. Give "
		"three runs or more; runs that failed or were killed are refused, unless "
		"--may-fail is given. check NAME [RUN] compares a run with it: each deviation is "
		"one finding, named by what it is about. accept NAME RUN... writes the deviations "
		"of the runs into the golden, for you to review and commit, and leaves the rest "
		"unchanged. show NAME prints what it contains.\n\n"
		"NAME is kept as goldens/NAME.toml; a name that contains a slash or ends in .toml "
		"is the path of the file.\n\n"
		"Exit status: 0 clean, 1 deviations, 2 usage, 3 the golden or the run cannot be "
		"read or compared: another format, no system calls, lost events; or nothing "
		"deviates and something may have happened unseen: a process outlived the "
		"recording, or the program uses io_uring.",
	.examples = "wheeltap golden add train runs/1 runs/2 runs/3\tlearn from three runs\n"
		    "wheeltap golden check train\tcompare the latest run with it\n"
		    "wheeltap golden accept train latest\taccept a reviewed change",
	.options = options,
	.options_bytes = sizeof(struct golden_options),
	.arguments_min = 1,
	.arguments_max = WTI_GOLDEN_RUNS_MAX + 2,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
