/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `rerun`: runs a recorded program again and compares, operation by operation. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "collect/environment.h"
#include "cli/consent.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "runs/open.h"
#include "runs/rerun.h"
#include "runs/rerun_metric.h"
#include "runs/repro.h"
#include "show/divergence.h"
#include "again.h"
#include "meanwhile.h"
#include "narrow.h"
#include "tensors.h"
#include "tries.h"
#include "values.h"

#define TIMES_MAX 1000u

extern char **environ;

struct rerun_options {
	bool json;
	const char *yes;
	uint64_t times;
	const char *folder;
	bool narrow, no_narrow;
	const char *emit;
	const char *tolerances;
	const char *metric;
	bool stop;
};

static const struct rerun_options defaults = {.times = 1};

/* What all of them gave. */
struct rerun {
	const struct rerun_options *options;
	struct wti_rerun_plan plan;
	struct wt_result result;
	struct wti_try *tries;
	size_t try_count;
	struct wti_compared_runs *shown;    /* the first that differs, otherwise the last */
	struct wti_compared_runs *narrowed; /* or NULL */
	uint64_t identical, within, different, unmeasured;
	int64_t steps; /* that all of them have */
	struct wti_rerun_metric metric;
	size_t metric_count; /* reruns that have it */
	enum wti_grade grade;
};

/* ---- Consent --------------------------------------------------------------------------------- */

/* Nothing of a run folder is executed that nobody has seen: the line has all of it. */
static int consent(const struct rerun *rerun, struct wt_err *err)
{
	const char *yes = rerun->options->yes;

	if (yes && !strcmp(yes, rerun->plan.line))
		return 0;
	wti_warn("in '%s' this would be run: %s", rerun->plan.run.directory, rerun->plan.line);
	if (!yes && wti_consent_ask("run it?") == WTI_CONSENT_GIVEN)
		return 0;
	return wti_err(err, WT_E_ARG,
		       yes ? "nothing was run: '--yes' names another command than the run has"
			   : "nothing was run: look at the command, then repeat with --yes and the "
			     "command as it is printed, in quotes");
}

/* ---- One try --------------------------------------------------------------------------------- */

static struct wti_try *add_try(struct rerun *rerun, const struct wti_compared_runs *runs,
			       const char *folder, int status)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);
	struct wti_try *one = &rerun->tries[rerun->try_count++];

	*one = (struct wti_try){.verdict = runs->report.verdict,
				.steps = runs->report.steps,
				.status = status,
				.line = first ? first->line : 0};
	snprintf(one->callee, sizeof(one->callee), "%s", first ? first->callee : "");
	snprintf(one->file, sizeof(one->file), "%s", first ? first->file : "");
	snprintf(one->folder, sizeof(one->folder), "%s", folder);
	return one;
}

static void take_verdict(struct rerun *rerun, const struct wti_compared_runs *runs,
			 const char *folder)
{
	enum wti_grade grade = wti_grade_identical(rerun->plan.run.path, folder);

	rerun->identical += runs->report.verdict == WTI_REPEAT_IDENTICAL;
	rerun->within += runs->report.verdict == WTI_REPEAT_WITHIN;
	rerun->different += runs->report.verdict == WTI_REPEAT_DIFFERENT;
	rerun->unmeasured += runs->report.verdict == WTI_REPEAT_NOT_MEASURED;
	if (rerun->steps < 0 || runs->report.steps < rerun->steps)
		rerun->steps = runs->report.steps;
	rerun->grade = rerun->different || rerun->unmeasured ? WTI_GRADE_R0
		       : rerun->within                       ? WTI_GRADE_R3
							     : grade;
}

/* The first that differs is kept to be shown; until then the last one. */
static void keep(struct rerun *rerun, struct wti_compared_runs *runs, struct wt_result *result)
{
	if (rerun->shown && rerun->shown->report.verdict == WTI_REPEAT_DIFFERENT) {
		wti_compared_runs_close(runs);
		free(runs);
		wt_result_release(result);
		return;
	}
	if (rerun->shown) {
		wti_compared_runs_close(rerun->shown);
		free(rerun->shown);
	}
	rerun->shown = runs;
	wt_result_release(&rerun->result);
	rerun->result = *result;
}

/* Records it, and compares while it runs. With tolerances what differs in bits is no difference
 * until all values are known, and of a metric the end decides. The status of the program. */
static int record(struct rerun *rerun, const struct wti_front *front, struct wti_again *again,
		  struct wti_meanwhile *meanwhile, struct wt_err *err)
{
	const struct rerun_options *options = rerun->options;
	const char *base = options->folder ? options->folder : rerun->plan.run.path;
	int r = wti_again_folder(base, again->folder, err);

	if (r)
		return r;
	*meanwhile = (struct wti_meanwhile){.front = front,
					    .recorded = rerun->plan.run.path,
					    .folder = again->folder,
					    .stop = options->stop};
	if (!options->tolerances && !options->metric) {
		again->look = wti_meanwhile_look;
		again->cookie = meanwhile;
	}
	wti_meanwhile_begin(meanwhile);
	r = wti_again_record(again, err);
	wti_meanwhile_end(meanwhile);
	return r;
}

/* Whoever interrupts the program at the terminal wants no other one started. */
static bool is_interrupt(const struct rerun *rerun, int status)
{
	const struct wti_doc *recorded = rerun->plan.json;
	const char *ended = wti_doc_text(recorded, "status");

	return status == 128 + SIGINT && wti_doc_count(recorded, "exit_status") != status &&
	       (!ended || strcmp(ended, "interrupted") != 0);
}

static bool is_interrupted(const struct rerun *rerun)
{
	return rerun->try_count && is_interrupt(rerun, rerun->tries[rerun->try_count - 1].status);
}

static void note_status(const struct rerun *rerun, struct wt_result *result, int status,
			const struct wti_meanwhile *meanwhile)
{
	if (meanwhile->is_seen && meanwhile->stop)
		wt_result_note(result, "the program was ended when a difference was seen: what it "
				       "did until then is compared");
	else if (is_interrupt(rerun, status))
		wt_result_note(result, "the program was interrupted: what it did until then is "
				       "compared, and it is not run again");
	else if (status)
		wt_result_note(result,
			       "the program ended with status %d: what it did until then is "
			       "compared",
			       status);
}

static int try_once(struct rerun *rerun, const struct wti_front *front, struct wt_err *err)
{
	const struct wti_within_line everywhere = {.file = NULL};
	struct wti_again again = {.plan = &rerun->plan};
	struct wti_meanwhile meanwhile;
	struct wti_compared_runs *runs = calloc(1, sizeof(*runs));
	const char *words[2] = {rerun->plan.run.path, again.folder};
	struct wt_result result;
	int status = runs ? record(rerun, front, &again, &meanwhile, err)
			  : wti_err(err, WT_E_NOMEM, "out of memory");
	int r;

	wt_result_init(&result, "rerun");
	r = status < 0 ? status
		       : wti_compare_tensors(front, words, &everywhere, runs, &result, err);
	if (!r) {
		r = wti_tolerate(rerun->options->tolerances, runs, &result, err);
		if (r)
			wti_compared_runs_close(runs);
	}
	if (r) {
		free(runs);
		wt_result_release(&result);
		return r;
	}
	note_status(rerun, &result, status, &meanwhile);
	take_verdict(rerun, runs, again.folder);
	add_try(rerun, runs, again.folder, status)->seen_ns = meanwhile.seen_ns;
	keep(rerun, runs, &result);
	return 0;
}

/* One that ended before it had the metric is left out: what the others have shown stands. */
static int take_metric(struct rerun *rerun, const struct wti_front *front, size_t at,
		       double *values)
{
	struct wti_try *one = &rerun->tries[at];
	struct wt_err unread = {.offset = -1};
	int r = wti_rerun_value(front, one->folder, rerun->options->metric, &one->metric, &unread);

	if (r == WT_E_NOMEM)
		return r;
	one->has_metric = !r;
	if (one->has_metric)
		values[rerun->metric_count++] = one->metric;
	else
		wt_result_note(&rerun->result, "rerun %zu is left out: %s", at + 1, unread.message);
	return 0;
}

static bool is_judged(const struct rerun *rerun)
{
	return rerun->metric_count >= WTI_RERUN_METRIC_MIN;
}

/* Reruns that differ in bits: is the run one more of the same? */
static int judge_metric(struct rerun *rerun, const struct wti_front *front, struct wt_err *err)
{
	double *values = calloc(rerun->try_count + 1, sizeof(*values));
	int r = values ? 0 : WT_E_NOMEM;

	for (size_t i = 0; i < rerun->try_count && !r; i++)
		r = take_metric(rerun, front, i, values);
	if (!r && is_judged(rerun)) {
		rerun->metric =
			wti_rerun_metric(rerun->metric.recorded, values, rerun->metric_count);
		if (rerun->different && rerun->metric.is_within)
			rerun->grade = WTI_GRADE_R4;
	} else if (!r) {
		wt_result_note(&rerun->result,
			       "'%s' was not judged: %zu reruns have it, %u are needed",
			       rerun->options->metric, rerun->metric_count, WTI_RERUN_METRIC_MIN);
	}
	free(values);
	return r ? wti_err(err, r, "out of memory") : 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void print_end(const struct rerun *rerun, struct wti_buf *out)
{
	uint64_t all = rerun->try_count;

	if (is_judged(rerun))
		wti_textf(out,
			  "%s was %.6g, %s %.6g to %.6g, where 95 %% of such runs lie by the %llu "
			  "reruns (mean %.6g)\n",
			  rerun->options->metric, rerun->metric.recorded,
			  rerun->metric.is_within ? "within" : "outside of", rerun->metric.low,
			  rerun->metric.high, (unsigned long long)rerun->metric_count,
			  rerun->metric.mean);
	/* Nothing was measured that a grade could be given for. */
	if (!rerun->options->metric && all == 1 && rerun->unmeasured)
		return;
	wti_textf(out, "grade %s: %s", wti_grade_name(rerun->grade), wti_grade_words(rerun->grade));
	if (all > 1)
		wti_textf(out, "; %llu of %llu reruns bit-identical",
			  (unsigned long long)rerun->identical, (unsigned long long)all);
	wti_buf_byte(out, '\n');
}

static void print_narrowed(const struct rerun *rerun, struct wti_buf *out,
			   const struct wti_style *style)
{
	const struct wti_compared_runs *runs = rerun->narrowed;

	if (!runs)
		return;
	wti_textf(out, "\nnarrowed, by two more runs recorded in every detail: '%s' and '%s'\n",
		  runs->runs[0].run.name, runs->runs[1].run.name);
	if (runs->report.verdict != WTI_REPEAT_DIFFERENT)
		wti_buf_text(out, "there nothing differs in these steps: what makes the difference "
				  "happened otherwise, or lies before them\n");
	wti_show_divergence(out, &runs->report, runs->has_elements, runs->elements, style);
}

static int code_of(const struct rerun *rerun)
{
	if (rerun->options->metric && !is_judged(rerun))
		return WTI_EXIT_TRACE;
	if (rerun->options->metric)
		return rerun->metric.is_within ? WTI_EXIT_CLEAN : WTI_EXIT_FINDINGS;
	return rerun->different    ? WTI_EXIT_FINDINGS
	       : rerun->unmeasured ? WTI_EXIT_TRACE
				   : WTI_EXIT_CLEAN;
}

static int print(struct rerun *rerun)
{
	const struct rerun_options *options = rerun->options;
	struct wti_style style = wti_style_stdout();
	struct wt_table *tries =
		wti_tries_table(&rerun->result, rerun->tries, rerun->try_count, options->metric);
	struct wti_buf out;
	bool ok;

	wt_result_fact_text(&rerun->result, "grade", "grade", wti_grade_name(rerun->grade));
	wt_result_fact_count(&rerun->result, "identical", "", WT_CELL_COUNT, rerun->identical);
	wt_result_fact_count(&rerun->result, "times", "", WT_CELL_COUNT, rerun->try_count);
	if (options->metric) {
		wt_result_fact_text(&rerun->result, "metric", "", options->metric);
		wt_result_fact_number(&rerun->result, "recorded", "", WT_CELL_NUMBER,
				      rerun->metric.recorded);
	}
	if (is_judged(rerun)) {
		wt_result_fact_number(&rerun->result, "low", "", WT_CELL_NUMBER, rerun->metric.low);
		wt_result_fact_number(&rerun->result, "high", "", WT_CELL_NUMBER,
				      rerun->metric.high);
	}
	if (options->json)
		return wti_report_result(&rerun->result, true, code_of(rerun));
	wti_buf_init(&out, 1u << 26);
	wti_show_divergence(&out, &rerun->shown->report, rerun->shown->has_elements,
			    rerun->shown->elements, &style);
	if (options->times > 1)
		wti_show_table(&out, tries, &style);
	print_narrowed(rerun, &out, &style);
	print_end(rerun, &out);
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(&rerun->result);
	return ok ? code_of(rerun) : WTI_EXIT_ENVIRONMENT;
}

/* What the reruns have shown is known, even if the program cannot be run twice more. */
static void narrow(struct rerun *rerun, const struct wti_front *front)
{
	const char *base = rerun->options->folder ? rerun->options->folder : rerun->plan.run.path;
	struct wti_compared_runs *runs = calloc(1, sizeof(*runs));
	struct wt_err unread = {.offset = -1};
	struct wt_result result;
	int r = runs ? 0 : wti_err(&unread, WT_E_NOMEM, "out of memory");

	wt_result_init(&result, "rerun");
	r = r ? r
	      : wti_narrow(front, &rerun->plan, base, wti_divergence_first(&rerun->shown->report),
			   runs, &result, &unread);
	if (r) {
		wt_result_note(&rerun->result, "not narrowed: %s", unread.message);
		free(runs);
		wt_result_release(&result);
		return;
	}
	/* For programs the tables are those of the two runs that show most. */
	if (runs->report.verdict == WTI_REPEAT_DIFFERENT) {
		wt_result_release(&rerun->result);
		rerun->result = result;
	} else {
		wt_result_release(&result);
	}
	rerun->narrowed = runs;
}

static void emit(struct rerun *rerun)
{
	const struct wti_compared_runs *runs = rerun->narrowed;
	struct wt_err refused = {.offset = -1};

	if (!runs || runs->report.verdict != WTI_REPEAT_DIFFERENT)
		wti_err(&refused, WT_E_MISSING,
			"nothing was written to '%s': no two runs differ in an operation "
			"whose inputs were kept",
			rerun->options->emit);
	else
		wti_repro_write(runs, rerun->options->emit, &refused);
	if (refused.code)
		wt_result_note(&rerun->result, "%s", refused.message);
}

/* By itself where the origin was not seen; otherwise if somebody asks for more. */
static bool wants_narrow(const struct rerun *rerun)
{
	const struct rerun_options *options = rerun->options;

	if (options->narrow || options->emit)
		return wti_narrow_helps(rerun->shown);
	return !options->no_narrow && !options->metric && rerun->different &&
	       wti_narrow_needed(rerun->shown);
}

/* What it is compared with is there before anything is run for hours. */
static int find_trace(const struct wti_front *front, const struct wti_rerun_plan *plan,
		      struct wt_err *err)
{
	struct wti_opened_run opened;
	int r = wti_open(front, plan->run.path, &opened, err);

	if (!r)
		wti_close(&opened);
	return r;
}

static int refuse_few(const struct rerun *rerun, struct wt_err *err)
{
	return wti_err(err, WT_E_MISSING,
		       "interrupted in rerun %zu of %llu: '%s' was not compared, as it needs all",
		       rerun->try_count, (unsigned long long)rerun->options->times,
		       rerun->options->metric);
}

static int run_all(struct rerun *rerun, const char *word, struct wt_err *err)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	int r = wti_rerun_plan(&front, word, environ, wti_environment_allows, &rerun->plan,
			       &rerun->result, err);

	if (!r && rerun->options->metric) /* a name that is wrong is known before hours of reruns */
		r = wti_rerun_value(&front, rerun->plan.run.path, rerun->options->metric,
				    &rerun->metric.recorded, err);
	r = r ? r : find_trace(&front, &rerun->plan, err);
	r = r ? r : consent(rerun, err);
	rerun->tries = calloc(rerun->options->times, sizeof(*rerun->tries));
	if (!r && !rerun->tries)
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	for (uint64_t i = 0; i < rerun->options->times && !r && !is_interrupted(rerun); i++)
		r = try_once(rerun, &front, err);
	if (!r && is_interrupted(rerun) && rerun->options->emit)
		wt_result_note(&rerun->result, "nothing was written to '%s': rerun was interrupted",
			       rerun->options->emit);
	if (r || is_interrupted(rerun))
		return r || !rerun->options->metric ? r : refuse_few(rerun, err);
	if (rerun->options->metric)
		r = judge_metric(rerun, &front, err);
	if (!r && wants_narrow(rerun))
		narrow(rerun, &front);
	if (!r && rerun->options->emit)
		emit(rerun);
	return r;
}

static int refuse(const struct rerun_options *options, struct wt_err *err)
{
	if (!options->times || options->times > TIMES_MAX)
		return wti_err(err, WT_E_ARG, "give '--times' a number from 1 to %u", TIMES_MAX);
	if (options->narrow && options->no_narrow)
		return wti_err(err, WT_E_ARG, "give either '--narrow' or '--no-narrow'");
	if (options->metric && options->times < WTI_RERUN_METRIC_MIN)
		return wti_err(
			err, WT_E_ARG,
			"'--metric' needs at least %u reruns to compare with: add '--times %u'",
			WTI_RERUN_METRIC_MIN, WTI_RERUN_METRIC_MIN);
	if (options->stop && (options->metric || options->tolerances))
		return wti_err(err, WT_E_ARG,
			       "'--stop' ends the program at the first bit that differs; '%s' is "
			       "decided at its end: give one of them",
			       options->metric ? "--metric" : "--tolerances");
	return 0;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	struct rerun rerun = {.options = opaque, .steps = -1};
	struct wt_err err = {.offset = -1};
	int code;

	(void)count;
	wt_result_init(&rerun.result, "rerun");
	if (refuse(rerun.options, &err) || run_all(&rerun, arguments[0], &err))
		code = wti_report_error("rerun", rerun.options->json, &err);
	else
		code = print(&rerun);
	if (rerun.shown)
		wti_compared_runs_close(rerun.shown);
	free(rerun.shown);
	if (rerun.narrowed)
		wti_compared_runs_close(rerun.narrowed);
	free(rerun.narrowed);
	wti_rerun_plan_release(&rerun.plan);
	free(rerun.tries);
	wt_result_release(&rerun.result);
	return code;
}

static const struct wti_option options[] = {
	{"yes", 0, WTI_OPT_TEXT, "COMMAND", NULL,
	 "run this command, if it is the one that the run has: as rerun prints it without --yes",
	 offsetof(struct rerun_options, yes)},
	{"times", 0, WTI_OPT_COUNT, "K", NULL, "run it again K times; default 1",
	 offsetof(struct rerun_options, times)},
	{"output", 'o', WTI_OPT_TEXT, "BASE", NULL,
	 "record into BASE.rerun-1, BASE.rerun-2 ...; default: beside the run",
	 offsetof(struct rerun_options, folder)},
	{"narrow", 0, WTI_OPT_FLAG, NULL, NULL,
	 "if it differs, record it twice more in every detail, only in the step where it does, "
	 "with the contents of tensors: down to the operator, and by how much elements differ; "
	 "default: only if the origin was not seen",
	 offsetof(struct rerun_options, narrow)},
	{"no-narrow", 0, WTI_OPT_FLAG, NULL, NULL, "do not, even if the origin was not seen",
	 offsetof(struct rerun_options, no_narrow)},
	{"emit", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "narrow, and write a Python program with the operation and its inputs that shows the "
	 "difference alone",
	 offsetof(struct rerun_options, emit)},
	{"tolerances", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "values that lie as near as those of correct runs are no difference (`wheeltap digits "
	 "--tolerances`)",
	 offsetof(struct rerun_options, tolerances)},
	{"metric", 0, WTI_OPT_TEXT, "NAME", NULL,
	 "if the reruns differ: does this number of the run (loss, loss.min, accuracy ...) lie "
	 "where 95 % of such runs lie, by the reruns? Needs --times 5 or more",
	 offsetof(struct rerun_options, metric)},
	{"stop", 0, WTI_OPT_FLAG, NULL, NULL,
	 "end the program as soon as a difference is seen; default: print it and let the program "
	 "go on",
	 offsetof(struct rerun_options, stop)},
	WTI_OPTION_JSON(struct rerun_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_rerun = {
	.name = "rerun",
	.arguments = "RUN",
	.summary = "run a recorded program again and find the first operation that differs",
	.description =
		"Runs the command of a run again, in the same folder, with the same variables of "
		"the environment as far as they are recorded, and records it as the run was "
		"recorded. Then compares operation by operation: bit-identical for so many steps, "
		"or the first operation whose inputs were equal and whose outputs differ, with "
		"step, rank, stage, call path and line. Differences that follow from it are "
		"counted (docs/rerun.md). What has been recorded so far is compared while the "
		"program runs, so that an early difference is printed early.\n\n"
		"A run folder may come from anybody: nothing in it is executed before its command "
		"was shown. On a terminal rerun asks; otherwise --yes has to name the command.\n\n"
		"The grade is the one that this rerun has reached: R1 bit-identical on the same "
		"machine, R2 on another; R3 within the tolerances of a file; R4 a metric within "
		"the "
		"interval of several reruns; R0 if it differs.\n\n"
		"Exit status: 0 bit-identical (with --tolerances or --metric: within), 1 "
		"different, 2 nothing was run, 3 not measured, or "
		"something that the command needs is missing.",
	.examples = "wheeltap rerun latest --yes 'python3 train.py'\tis it reproducible?\n"
		    "wheeltap rerun --times 10 --yes 'python3 train.py' runs/a\thow often",
	.options = options,
	.options_bytes = sizeof(struct rerun_options),
	.arguments_min = 1,
	.arguments_max = 1,
	.group = "judge",
	.starts_programs = true,
	.run = run,
	.defaults = &defaults,
};
