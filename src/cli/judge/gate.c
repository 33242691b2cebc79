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
#include "runs/gate.h"
#include "runs/gate_init.h"
#include "inspect/gate/ratio.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "show/junit.h"
#include "show/verdict.h"

#define FILE_OWN "wheeltap.toml"
#define FILE_RENACER "renacer.toml"
#define KNOWN_MAX 64
#define XML_MAX ((size_t)16 << 20)
#define RUNS_MAX WTI_RATIO_RUNS_MAX

struct gate_options {
	bool json;
	const char *config;
	bool init;
	struct wti_list against;
	const char *junit;
	const char *fail_on;
};

static const struct gate_options defaults = {.fail_on = "error"};

struct runs {
	struct wti_measured *items;
	size_t count;
};

struct job {
	const struct gate_options *options;
	struct wti_front front;
	struct wti_doc *doc;
	struct wti_gate gate;
	struct runs now, before;
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
	r = r ? r : wti_gate_read(path, job->doc, known, count, &job->gate, err);
	if (!r && job->gate.ignored.bytes)
		wt_result_note(&job->result, "of no meaning here: %s",
			       wti_buf_cstr(&job->gate.ignored));
	return r;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static int add_run(struct job *job, struct runs *runs, const char *word, struct wt_err *err)
{
	int r;

	if (runs->count == RUNS_MAX)
		return wti_err(err, WT_E_ARG, "more than %d runs", RUNS_MAX);
	if (!runs->items)
		runs->items = calloc(RUNS_MAX, sizeof(*runs->items));
	if (!runs->items)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_gate_measure(&job->front, word, &job->gate, &runs->items[runs->count], &job->result,
			     err);
	runs->count += !r;
	return r;
}

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
				r = add_run(job, &job->before, word, err);
		free(words);
	}
	return r;
}

static void release_runs(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		wti_measured_release(&runs->items[i]);
	free(runs->items);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static struct wti_judged *next_judged(struct job *job, size_t i, const char *run)
{
	struct wti_judged *judged = &job->judged[job->judged_count++];

	*judged = (struct wti_judged){.assertion = &job->gate.assertions[i], .run = run};
	return judged;
}

static int judge_slower(struct job *job, size_t i, struct wt_err *err)
{
	struct wti_judged *judged = next_judged(job, i, job->now.items[0].seen.opened.run.name);
	size_t now = job->now.count, before = job->before.count;
	struct wti_gate_run *runs = calloc(now + before, sizeof(*runs));

	if (!runs)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t j = 0; j < now + before; j++)
		runs[j] = j < now ? job->now.items[j].run : job->before.items[j - now].run;
	wti_gate_slower(judged->assertion, runs, now, runs + now, before, &judged->outcome);
	free(runs);
	return 0;
}

static int judge_each(struct job *job, size_t i, struct wt_err *err)
{
	int r = 0;

	for (size_t j = 0; j < job->now.count && !r; j++) {
		const struct wti_measured *measured = &job->now.items[j];
		struct wti_assertion assertion = wti_measured_assertion(measured, &job->gate, i);
		struct wti_judged *judged = next_judged(job, i, measured->seen.opened.run.name);

		if (assertion.type == WTI_GATE_GOLDEN)
			r = wti_gate_golden(&job->front, &assertion, measured, &judged->outcome,
					    err);
		else
			r = wti_gate_judge(&assertion, &measured->run, &judged->outcome, err);
	}
	return r;
}

static int judge(struct job *job, struct wt_err *err)
{
	int r = 0;

	job->judged = calloc(job->gate.count * job->now.count + 1, sizeof(*job->judged));
	if (!job->judged)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < job->gate.count && !r; i++)
		r = job->gate.assertions[i].type == WTI_GATE_SLOWER ? judge_slower(job, i, err)
								    : judge_each(job, i, err);
	for (size_t i = 0; i < job->judged_count; i++)
		job->judged[i].fails = job->judged[i].outcome.verdict == WTI_VIOLATED &&
				       wti_verdict_fails(job->judged[i].assertion->severity,
							 job->options->fail_on);
	return r;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static const char *const words[] = {"held", "violated", "not_measured", "disabled"};

static void put(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void tell_finding(struct job *job, const struct wti_judged *judged)
{
	const struct wti_code *code = &wti_gate_codes[judged->assertion->type];
	struct wti_buf title;

	wti_buf_init(&title, 4096);
	wti_buf_printf(&title, "%s: %s instead of %s", judged->assertion->name,
		       judged->outcome.actual, judged->outcome.expected);
	wt_result_finding(&job->result,
			  &(struct wt_finding){.code = code->code,
					       .severity = judged->assertion->severity,
					       .title = wti_buf_cstr(&title),
					       .step = -1,
					       .rank = -1,
					       .line = -1,
					       .first_step = -1,
					       .last_step = -1,
					       .expected = judged->outcome.expected,
					       .actual = judged->outcome.actual,
					       .count = 1,
					       .means = code->means,
					       .hint = code->hint});
	wti_buf_release(&title);
}

static void fill_table(struct job *job)
{
	struct wt_table *table = wt_result_table(&job->result, "assertions", "");

	wt_table_column(table, "name", "assertion", WT_CELL_TEXT);
	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_column(table, "run", "run", WT_CELL_TEXT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "expected", "expected", WT_CELL_TEXT);
	wt_table_column(table, "actual", "actual", WT_CELL_TEXT);
	wt_table_column(table, "why", "why not measured", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	for (size_t i = 0; i < job->judged_count; i++) {
		const struct wti_judged *judged = &job->judged[i];

		wt_table_row(table);
		put(table, judged->assertion->name);
		put(table, wti_gate_word(judged->assertion->type));
		put(table, judged->run);
		put(table, words[judged->outcome.verdict]);
		put(table, judged->outcome.expected);
		put(table, judged->outcome.actual);
		put(table, judged->outcome.why);
		wt_table_count(table, judged->assertion->line);
	}
}

/* The exit code. A violation weighs more than what could not be evaluated beside it. */
static int conclude(struct job *job, size_t counts[4])
{
	bool fails = false, measured;

	for (size_t i = 0; i < job->judged_count; i++) {
		counts[job->judged[i].outcome.verdict]++;
		fails |= job->judged[i].fails;
		if (job->judged[i].outcome.verdict == WTI_VIOLATED)
			tell_finding(job, &job->judged[i]);
	}
	for (size_t i = 0; i < 4; i++) {
		char key[32];

		snprintf(key, sizeof(key), "assertions_%s", words[i]);
		wt_result_fact_count(&job->result, key, "", WT_CELL_COUNT, counts[i]);
	}
	measured = !counts[WTI_NOT_MEASURED] && counts[WTI_HELD] + counts[WTI_VIOLATED];
	wt_result_set_status(&job->result, counts[WTI_VIOLATED] ? "findings"
					   : measured           ? "clean"
								: "not_measured");
	return fails ? WTI_EXIT_FINDINGS : measured ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE;
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
	wti_textf(&out, "%zu assertions: %zu violated, %zu held, %zu not measured",
		  job->judged_count, counts[WTI_VIOLATED], counts[WTI_HELD],
		  counts[WTI_NOT_MEASURED]);
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
	int code = conclude(job, counts);

	fill_table(job);
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
		wti_warn("%zu assertions in '%s'; `wheeltap gate -c %s` evaluates them", kept, path,
			 path);
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
		r = add_run(&job, &job.now, arguments[i], &err);
	r = r ? r : add_against(&job, &err);
	r = r ? r : judge(&job, &err);
	code = r ? wti_report_error("gate", job.options->json, &err) : report(&job, &err);
	free(job.judged);
	release_runs(&job.now);
	release_runs(&job.before);
	wti_gate_release(&job.gate);
	wti_doc_free(job.doc);
	wt_result_release(&job.result);
	return code;
}

static const struct wti_option options[] = {
	{"config", 'c', WTI_OPT_TEXT, "FILE", NULL,
	 "what is asserted; default: " FILE_OWN ", or " FILE_RENACER " if only that is there",
	 offsetof(struct gate_options, config)},
	{"init", 0, WTI_OPT_FLAG, NULL, NULL,
	 "write a first gate file from a good run, to -c FILE or " FILE_OWN
	 ", which must not exist yet",
	 offsetof(struct gate_options, init)},
	{"against", 0, WTI_OPT_LIST, "RUN,RUN...", NULL,
	 "runs from before, for assertions of type slower; may be given again and again",
	 offsetof(struct gate_options, against)},
	{"junit", 0, WTI_OPT_TEXT, "FILE", NULL, "write the outcomes as JUnit's XML, too",
	 offsetof(struct gate_options, junit)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "exit with 1 if an assertion of this severity or above is violated; error is the default",
	 offsetof(struct gate_options, fail_on)},
	WTI_OPTION_JSON(struct gate_options),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_gate = {
	.name = "gate",
	.arguments = "[RUN...]",
	.summary = "hold runs against what you assert of them, for CI",
	.description =
		"Assertions are [[gate]] tables of wheeltap.toml, each with a type: duration, "
		"count, "
		"bytes, memory, metrics that the program logged, forbidden and required effects, "
		"rules of `doctor`, goldens, "
		"expressions over columns of `stat`, and slower, which compares runs with those "
		"given by --against and decides only where there are enough of them. "
		"[[assertion]] of a renacer.toml is taken as well. docs/gate.md has all keys.\n\n"
		"Nothing passes for lack of evidence: an assertion about a file, call, stage or "
		"span "
		"that does not occur, about calls that were not recorded, or of a run that lost "
		"events is NOT MEASURED, unless it says may_be_absent = true. Nor does what holds "
		"of a run that ended early: of one whose program failed, unless the assertion says "
		"may_fail = true.\n\n"
		"Exit status: 0 all held, 1 an assertion is violated, 2 the file is wrong, 3 the "
		"run is "
		"unreadable or something was not measured.",
	.examples = "wheeltap gate --init runs/good\twrite a first wheeltap.toml\n"
		    "wheeltap gate\tthe latest run, by wheeltap.toml\n"
		    "wheeltap gate -c ci.toml --junit gate.xml runs/a\tfor CI\n"
		    "wheeltap gate new1 new2 new3 --against old1,old2,old3\tis it slower?",
	.options = options,
	.options_bytes = sizeof(struct gate_options),
	.arguments_max = RUNS_MAX,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
