/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `gate`: assertions about a run, for CI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "base/toml.h"
#include "convert/renacer_gate.h"
#include "runs/gate_evaluate.h"
#include "runs/gate_init.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "show/junit.h"
#include "show/verdict.h"

#define FILE_OWN "wheeltap.toml"
#define FILE_RENACER "renacer.toml"
#define KNOWN_MAX 64
#define XML_MAX ((size_t)16 << 20)

struct gate_options {
	bool json;
	const char *config;
	bool init;
	struct wti_list against;
	const char *junit;
	const char *fail_on;
};

static const struct gate_options defaults = {.fail_on = "error"};

struct job {
	const struct gate_options *options;
	struct wti_front front;
	struct wti_doc *doc;
	struct wti_gate gate;
	struct wti_gate_runs now, before;
	struct wti_judged *judged;
	size_t judged_count;
	struct wt_result result;
};

/* ---- What is asserted ------------------------------------------------------------------------ */

#define A_GATE "a gate file is TOML with [[gate]] tables (docs/gate.md)"

/* Why there is nothing to judge by, and what to give instead. */
static int not_a_gate(const char *path, bool is_default, int code, struct wt_err *err)
{
	struct wt_err cause = *err;

	if (code == WT_E_MISSING && is_default)
		return wti_err(err, WT_E_ARG,
			       "no gate file here: '%s' does not exist; `wheeltap gate --init RUN` "
			       "writes one, -c FILE names another; " A_GATE,
			       path);
	if (code == WT_E_MISSING)
		return wti_err(err, WT_E_ARG,
			       "the file '%.200s' does not exist; -c takes a gate file; " A_GATE,
			       path);
	if (code == WT_E_NOMEM)
		return code;
	return wti_err_at(err, code, cause.offset, "not a gate file: %.380s; " A_GATE,
			  cause.message);
}

static int read_config(struct job *job, struct wt_err *err)
{
	const char *path = job->options->config,
		   *known[KNOWN_MAX] = {"gate", "suppress", "thresholds"};
	size_t count = 3;
	int r;

	for (size_t i = 0; wti_verbs[i] && count < KNOWN_MAX; i++)
		if (strcmp(wti_verbs[i]->name, "gate") != 0)
			known[count++] = wti_verbs[i]->name;
	if (!path)
		path = access(FILE_OWN, F_OK) && !access(FILE_RENACER, F_OK) ? FILE_RENACER
									     : FILE_OWN;
	r = wti_toml_load(path, &job->doc, err);
	if (r)
		return not_a_gate(path, !job->options->config, r, err);
	r = r ? r : wti_gate_read(path, job->doc, known, count, &wti_renacer_gate, &job->gate, err);
	if (!r && job->gate.ignored.bytes)
		wt_result_note(&job->result, "ignored: %s", wti_buf_cstr(&job->gate.ignored));
	return r;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* --against a,b --against c */
static int add_against(struct job *job, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < job->options->against.count && !r; i++) {
		char *words = strdup(job->options->against.items[i]), *at = words, *word;

		if (!words)
			return wti_err(err, WT_E_NOMEM, "out of memory");
		while (!r && (word = strsep(&at, ",")))
			if (*word)
				r = wti_gate_add_run(&job->front, &job->gate, word, &job->before,
						     &job->result, err);
		free(words);
	}
	return r;
}

/* ---- Judging --------------------------------------------------------------------------------- */

static int judge(struct job *job, struct wt_err *err)
{
	const struct wti_gate_question question = {&job->gate, &job->now, &job->before};
	int r = wti_gate_evaluate(&job->front, &question, &job->judged, &job->judged_count, err);

	for (size_t i = 0; !r && i < job->judged_count; i++)
		job->judged[i].fails = job->judged[i].outcome.verdict == WTI_VIOLATED &&
				       wti_verdict_fails(job->judged[i].assertion->severity,
							 job->options->fail_on);
	return r;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* A violation weighs more than what could not be evaluated beside it. */
static int exit_code(const struct job *job, const size_t counts[4])
{
	bool is_measured = !counts[WTI_NOT_MEASURED] && counts[WTI_HELD] + counts[WTI_VIOLATED];

	for (size_t i = 0; i < job->judged_count; i++)
		if (job->judged[i].fails)
			return WTI_EXIT_FINDINGS;
	return is_measured ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE;
}

static int print_text(const struct job *job, const size_t counts[4], int code)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 1u << 30);
	wti_show_findings(&out, &job->result, &style);
	for (size_t i = 0; i < job->judged_count; i++) {
		const struct wti_judged *judged = &job->judged[i];

		if (judged->outcome.verdict == WTI_NOT_MEASURED)
			wti_textf(&out, "NOT MEASURED  %s: %s\n", judged->assertion->name,
				  judged->outcome.why);
		else if (judged->outcome.verdict == WTI_HELD)
			wti_textf(&out, "held  %s: %s%s%s\n", judged->assertion->name,
				  judged->outcome.actual, *judged->outcome.expected ? "; " : "",
				  judged->outcome.expected);
	}
	wti_textf(&out, "%zu assertion%s: %zu violated, %zu held, %zu not measured",
		  job->judged_count, job->judged_count == 1 ? "" : "s", counts[WTI_VIOLATED],
		  counts[WTI_HELD], counts[WTI_NOT_MEASURED]);
	if (counts[WTI_DISABLED])
		wti_textf(&out, ", %zu disabled", counts[WTI_DISABLED]);
	wti_buf_byte(&out, '\n');
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(&job->result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

/* Others read it: whoever collects the artifacts of CI. */
static int save_junit(const struct job *job, struct wt_err *err)
{
	const char *path = job->options->junit;
	mode_t mask = umask(0);
	struct wti_buf out;
	int r;

	umask(mask);
	wti_buf_init(&out, XML_MAX);
	wti_show_junit(&out, job->judged, job->judged_count);
	r = wti_buf_status(&out);
	r = r ? wti_err(err, r, "the report is too large")
	      : wti_file_replace(path, out.data, out.bytes, err);
	if (!r)
		chmod(path, 0666 & ~mask);
	wti_buf_release(&out);
	return r;
}

static int report(struct job *job, struct wt_err *err)
{
	size_t counts[4] = {0};
	int code;

	wti_gate_result(job->judged, job->judged_count, counts, &job->result);
	code = exit_code(job, counts);
	if (job->options->junit && save_junit(job, err))
		return wti_report_error("gate", job->options->json, err);
	if (job->options->json || wt_result_status(&job->result))
		return wti_report_result(&job->result, job->options->json, code);
	return print_text(job, counts, code);
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* Writes a first file instead of reading one. */
static int begin_file(const struct gate_options *options, char **arguments, size_t count)
{
	const char *path = options->config ? options->config : FILE_OWN;
	struct wt_err err = {.offset = -1};
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_result result;
	size_t kept = 0;
	int r;

	wt_result_init(&result, "gate");
	if (count > 1 || options->json || options->junit || options->against.count)
		r = wti_err(&err, WT_E_ARG,
			    "--init takes one run, and no option but -c FILE for the new file");
	else
		r = wti_gate_init(&front, count ? arguments[0] : "latest", path, &kept, &result,
				  &err);
	if (!r)
		wti_warn("%zu assertion%s in '%s'; `wheeltap gate -c %s` evaluates %s", kept,
			 kept == 1 ? "" : "s", path, path, kept == 1 ? "it" : "them");
	wti_report_notes(&result);
	wt_result_release(&result);
	return r ? wti_report_error("gate", options->json, &err) : WTI_EXIT_CLEAN;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	static char *latest[] = {"latest"};
	struct wti_progress progress;
	struct job job = {.options = opaque, .front = wti_front_here(&progress)};
	struct wt_err err = {.offset = -1};
	int r, code;

	if (job.options->init)
		return begin_file(opaque, arguments, count);
	if (!count) {
		arguments = latest;
		count = 1;
	}
	wt_result_init(&job.result, "gate");
	wti_buf_init(&job.gate.ignored, 1);
	r = read_config(&job, &err);
	for (size_t i = 0; i < count && !r; i++)
		r = wti_gate_add_run(&job.front, &job.gate, arguments[i], &job.now, &job.result,
				     &err);
	r = r ? r : add_against(&job, &err);
	r = r ? r : judge(&job, &err);
	code = r ? wti_report_error("gate", job.options->json, &err) : report(&job, &err);
	free(job.judged);
	wti_gate_runs_release(&job.now);
	wti_gate_runs_release(&job.before);
	wti_gate_release(&job.gate);
	wti_doc_free(job.doc);
	wt_result_release(&job.result);
	return code;
}

static const struct wti_option options[] = {
	{"config", 'c', WTI_OPT_TEXT, "FILE", NULL,
	 "the file with the assertions; default: " FILE_OWN ", or " FILE_RENACER
	 " if only that is there",
	 offsetof(struct gate_options, config)},
	{"init", 0, WTI_OPT_FLAG, NULL, NULL,
	 "write a first gate file from a good run, to -c FILE or " FILE_OWN
	 ", which must not exist yet",
	 offsetof(struct gate_options, init)},
	{"against", 0, WTI_OPT_LIST, "RUN,RUN...", NULL,
	 "earlier runs, for assertions of type slower; may be given several times",
	 offsetof(struct gate_options, against)},
	{"junit", 0, WTI_OPT_TEXT, "FILE", NULL, "also write the outcomes as JUnit XML",
	 offsetof(struct gate_options, junit)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "exit with 1 if an assertion of this severity or above is violated; error is the default",
	 offsetof(struct gate_options, fail_on)},
	WTI_OPTION_JSON(struct gate_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_gate = {
	.name = "gate",
	.arguments = "[RUN...]",
	.summary = "check runs against your assertions, for CI",
	.description =
		"Assertions are [[gate]] tables of wheeltap.toml, each with a type: duration, "
		"count, bytes, memory, metrics that the program logged, forbidden and required "
		"effects, rules of `doctor`, goldens, expressions over columns of `stat`, and "
		"slower, which compares runs with those given by --against and decides only if "
		"there are enough of them. [[assertion]] of a renacer.toml is accepted as well. "
		"docs/gate.md lists all keys.\n\n"
		"Nothing passes without evidence: an assertion about a file, call, stage or span "
		"that does not occur, about calls that were not recorded, or about a run that lost "
		"events is NOT MEASURED, unless it has may_be_absent = true. In a run that ended "
		"early, an assertion that is not violated is NOT MEASURED; if the run ended early "
		"because its program failed, may_fail = true in the assertion changes that.\n\n"
		"Exit status: 0 all held, 1 an assertion is violated, 2 the file is wrong, 3 the "
		"run is unreadable or something was not measured.",
	.examples = "wheeltap gate --init runs/good\twrite a first wheeltap.toml\n"
		    "wheeltap gate\tthe latest run, with the assertions of wheeltap.toml\n"
		    "wheeltap gate -c ci.toml --junit gate.xml runs/a\tfor CI\n"
		    "wheeltap gate new1 new2 new3 --against old1,old2,old3\tis it slower?",
	.options = options,
	.options_bytes = sizeof(struct gate_options),
	.arguments_max = WTI_GATE_RUNS_MAX,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
