/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `digits`: how many digits of the numbers in several runs are real. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "base/file.h"
#include "digits_bisect.h"
#include "inspect/digits/pictures.h"
#include "runs/digits_runs.h"
#include "show/page/lines.h"
#include "show/verdict.h"

#define ROWS_SHOWN 20u
#define RECORD "wheeltap record --runs 5 --noise rr -- PROGRAM"

struct digits_options {
	bool json;
	bool csv;
	bool all;
	bool compare;
	bool tolerances;
	bool contributing;
	bool absolute;
	bool yes;
	const char *bisect;
	const char *by;
	const char *method;
	const char *base;
	const char *probability;
	const char *confidence;
	const char *fail_below;
	const char *fail_on;
	const char *output;
	const char *html;
};

static const struct digits_options defaults = {.by = "function", .fail_on = "error"};

/* ---- What was asked -------------------------------------------------------------------------- */

/* A number between, both ends excluded. */
static int number_of(const char *name, const char *text, double low, double high,
		     double *ret_number, struct wt_err *err)
{
	char *end;
	double number;

	if (!text)
		return 0;
	number = strtod(text, &end);
	if (end == text || *end || !(number > low && number < high))
		return wti_err(err, WT_E_ARG, "--%s needs a number between %g and %g, not '%s'",
			       name, low, high, text);
	*ret_number = number;
	return 0;
}

static enum wti_digits_by by_of(const char *word)
{
	static const char *const words[] = {"function", "site", "tensor", "step"};
	unsigned i = 0;

	while (i < 3 && strcmp(words[i], word))
		i++;
	return (enum wti_digits_by)i;
}

static int how_of(const struct digits_options *options, struct wti_digits_options *ret,
		  struct wt_err *err)
{
	const char *method = options->method    ? options->method
			     : options->compare ? "general"
						: "cnh";
	int r;

	*ret = (struct wti_digits_options){
		.how = wti_digits_usual(options->contributing),
		.by = by_of(options->by),
		.base = 2,
		.fail_below = NAN,
		.compare = options->compare,
		.all_tables = options->json || options->html,
		.rows_max = options->all || options->csv || options->json || options->html
				    ? 0
				    : ROWS_SHOWN,
	};
	ret->how.absolute = options->absolute;
	ret->how.method = strcmp(method, "cnh") ? WTI_DIGITS_GENERAL : WTI_DIGITS_CNH;
	r = number_of("base", options->base, 1, 1e6, &ret->base, err);
	r = r ? r
	      : number_of("probability", options->probability, options->contributing ? .5 : 0, 1,
			  &ret->how.probability, err);
	r = r ? r : number_of("confidence", options->confidence, 0, 1, &ret->how.confidence, err);
	r = r ? r : number_of("fail-below", options->fail_below, 0, 1e6, &ret->fail_below, err);
	if (!r && options->tolerances != (options->output != NULL))
		r = wti_err(err, WT_E_ARG, "--tolerances and --output FILE need each other");
	if (!r && options->html && options->bisect)
		r = wti_err(err, WT_E_ARG, "--html has no page of --bisect");
	if (!r && options->contributing && ret->how.method == WTI_DIGITS_GENERAL)
		r = wti_err(err, WT_E_ARG,
			    "contributing digits of whole values need --method cnh: the general "
			    "method defines them for single numbers only");
	return r;
}

/* ---- What cannot be measured ----------------------------------------------------------------- */

/* One line that says what to do; the checks of single runs have been made all the same. */
static bool is_measured(const struct digits_options *options, const struct wti_digits_runs *runs,
			struct wt_result *result)
{
	const struct wt_fact *measured = wt_result_fact(result, "measured");

	if (!options->compare && runs->noisy == 0 && runs->readable > 0) {
		wt_result_note(result,
			       "NOT MEASURED: %s recorded without noise; record with `" RECORD "`",
			       runs->count == 1 ? "the run was" : "the runs were");
		return false;
	}
	if (runs->readable < 2) {
		wt_result_note(
			result,
			"NOT MEASURED: one run shows no scatter; record several with `" RECORD "`");
		return false;
	}
	if (!measured || !measured->value.count) {
		wt_result_note(
			result,
			"NOT MEASURED: no operation with sampled elements is in the runs; is "
			"the program instrumented (wheeltap env), and were elements recorded "
			"(--elements)?");
		return false;
	}
	if (!options->compare && !wt_result_fact(result, "varied")->value.count) {
		wt_result_note(
			result,
			wt_result_fact(result, "unsampled")->value.count
				? "NOT MEASURED: values differ, but no elements of them were "
				  "recorded; record with --elements 256"
				: "NOT MEASURED: the noise has changed nothing: no operation "
				  "that it reaches ran (docs/digits.md)");
		return false;
	}
	if (!options->compare && runs->noisy < runs->readable)
		wt_result_note(result, "%u of %u runs were recorded without noise",
			       runs->readable - runs->noisy, runs->readable);
	return true;
}

static int code_of(const struct digits_options *options, const struct wti_digits_runs *runs,
		   bool measured, struct wt_result *result)
{
	if (wti_verdict_any_fails(result, options->fail_on)) {
		wt_result_set_status(result, "findings");
		return WTI_EXIT_FINDINGS;
	}
	if (!measured) {
		wt_result_set_status(result, "not_measured");
		return WTI_EXIT_TRACE;
	}
	wt_result_set_status(result, result->finding_count ? "findings" : "clean");
	return runs->is_cut ? WTI_EXIT_TRACE : WTI_EXIT_CLEAN;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static const struct wt_table *shown_table(const struct wt_result *result)
{
	for (size_t i = 0; i < result->table_count; i++) {
		if (*result->tables[i]->title)
			return result->tables[i];
	}
	return NULL;
}

static int print(const struct digits_options *options, const struct wt_result *result, int code)
{
	const struct wt_table *table = shown_table(result);
	struct wti_buf out;
	bool ok;

	if (options->html) {
		wti_buf_init(&out, 1u << 16);
		wti_textf(&out, "written to %s\n", options->html);
		ok = wti_print_buf(&out);
		wti_buf_release(&out);
		wti_report_notes(result);
		return ok ? code : WTI_EXIT_ENVIRONMENT;
	}
	if (!options->csv || !table)
		return wti_report_result(result, options->json, code);
	wti_buf_init(&out, 1u << 30);
	wti_show_csv(&out, table);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

static int write_tolerances(const struct digits_options *options,
			    const struct wti_digits_options *how,
			    const struct wti_digits_runs *runs, struct wti_tolerances *tolerances,
			    struct wt_err *err)
{
	tolerances->runs = runs->readable;
	memcpy(tolerances->noise, runs->noise, sizeof(tolerances->noise));
	wti_tolerances_widen(tolerances, how->how.confidence);
	return wti_tolerances_write(tolerances, options->output, err);
}

/* All of it in one file; what is said is where that is. */
static int write_page(const struct digits_options *options, const struct wti_digits_runs *runs,
		      struct wt_result *result, struct wt_err *err)
{
	struct wti_buf page;
	int r;

	wti_page_lines(result, runs->count ? runs->opened[0].run.directory : NULL);
	wti_buf_init(&page, 1u << 30);
	wti_show_page(&page, result);
	r = page.status || wt_result_status(result)
		    ? wti_err(err, WT_E_NOMEM, "out of memory")
		    : wti_file_replace(options->html, page.data, page.bytes, err);
	wti_buf_release(&page);
	return r;
}

static int digits_with_pictures(const struct digits_options *options,
				struct wti_digits_options *how, const struct wti_digits_runs *runs,
				struct wt_result *result, struct wt_err *err)
{
	struct wti_pictures *pictures;
	struct wti_digits_watcher watcher;
	int r;

	if (!options->html)
		return wti_digits(runs->runs, runs->count, how, result, err);
	pictures = wti_pictures_new();
	if (!pictures)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	watcher = wti_pictures_watcher(pictures);
	how->watcher = &watcher;
	r = wti_digits(runs->runs, runs->count, how, result, err);
	how->watcher = NULL;
	if (!r)
		wti_pictures_report(pictures, how->base, result);
	wti_pictures_free(pictures);
	return r;
}

static int measure(const struct digits_options *options, struct wti_digits_options *how,
		   struct wti_digits_runs *runs, struct wt_result *result, int *ret_code,
		   struct wt_err *err)
{
	struct wti_tolerances tolerances;
	bool measured;
	int r;

	if (options->compare && runs->count != 2)
		return wti_err(err, WT_E_ARG, "--compare takes two runs, not %u", runs->count);
	wti_tolerances_init(&tolerances);
	how->has_noise = runs->noisy > 0;
	how->noise_bits = runs->noise_bits;
	how->tolerances = options->tolerances ? &tolerances : NULL;
	r = digits_with_pictures(options, how, runs, result, err);
	measured = !r && is_measured(options, runs, result);
	if (measured && options->tolerances)
		r = write_tolerances(options, how, runs, &tolerances, err);
	wti_tolerances_release(&tolerances);
	if (r)
		return r;
	if (*runs->noise)
		wt_result_fact_text(result, "noise", "noise", runs->noise);
	*ret_code = code_of(options, runs, measured, result);
	return options->html ? write_page(options, runs, result, err) : 0;
}

/* Reruns the program of a set: nothing that happens unasked. */
static int bisect(const struct digits_options *options, const struct wti_front *front,
		  const char *word, const struct wti_digits_options *how, struct wt_result *result,
		  int *ret_code, struct wt_err *err)
{
	const struct wti_bisection bisection = {
		.front = front,
		.word = word,
		.how = how,
		.value = strcmp(options->bisect, "yes") ? options->bisect : NULL,
		.is_allowed = options->yes};
	int r = wti_digits_bisect(&bisection, result, err);

	*ret_code = r ? WTI_EXIT_USAGE : WTI_EXIT_CLEAN;
	wt_result_set_status(result, r ? "not_measured" : "clean");
	return r < 0 ? r : 0;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct digits_options *options = opaque;
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wti_digits_runs runs = {0};
	struct wti_digits_options how;
	struct wt_result result;
	int code = WTI_EXIT_TRACE, r;

	wt_result_init(&result, "digits");
	r = how_of(options, &how, &err);
	if (!r && options->bisect) {
		r = bisect(options, &front, count ? arguments[0] : NULL, &how, &result, &code,
			   &err);
		goto out;
	}
	r = r ? r : wti_digits_runs_open(&front, arguments, count, &runs, &result, &err);
	r = r ? r : measure(options, &how, &runs, &result, &code, &err);
out:
	code = r ? wti_report_error("digits", options->json, &err) : print(options, &result, code);
	wti_digits_runs_close(&runs);
	wt_result_release(&result);
	return code;
}

#define OFFSET(member) offsetof(struct digits_options, member)

static const struct wti_option options[] = {
	{"by", 0, WTI_OPT_CHOICE, "WHAT", "function|site|tensor|step",
	 "what a row of the table is: a function, a call site, a value or a step", OFFSET(by)},
	{"fail-below", 0, WTI_OPT_TEXT, "D", NULL,
	 "a result with fewer digits than that is an error", OFFSET(fail_below)},
	{"base", 0, WTI_OPT_TEXT, "B", NULL, "of the digits; default 2, 10 for decimal digits",
	 OFFSET(base)},
	{"method", 0, WTI_OPT_CHOICE, "METHOD", "cnh|general",
	 "cnh assumes normally distributed errors, general nothing; default cnh, with --compare "
	 "general",
	 OFFSET(method)},
	{"contributing", 0, WTI_OPT_FLAG, NULL, NULL,
	 "digits that contribute to the result rather than those that are significant",
	 OFFSET(contributing)},
	{"absolute", 0, WTI_OPT_FLAG, NULL, NULL,
	 "count errors from the power of two below a value rather than from the value itself",
	 OFFSET(absolute)},
	{"probability", 0, WTI_OPT_TEXT, "P", NULL,
	 "that a digit is significant (default 0.95) or contributes (default 0.51)",
	 OFFSET(probability)},
	{"confidence", 0, WTI_OPT_TEXT, "C", NULL, "of the estimate; default 0.95",
	 OFFSET(confidence)},
	{"compare", 0, WTI_OPT_FLAG, NULL, NULL,
	 "two runs without noise against each other: eager and compiled, float32 and bfloat16, two "
	 "versions of a library",
	 OFFSET(compare)},
	{"tolerances", 0, WTI_OPT_FLAG, NULL, NULL,
	 "write how far two correct runs may differ to the file of --output", OFFSET(tolerances)},
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL, "of --tolerances", OFFSET(output)},
	{"bisect", 0, WTI_OPT_MAYBE, "[=VALUE]", NULL,
	 "run the program of the set again with noise at some lines only, to see which lose the "
	 "digits of the value, or of the worst result",
	 OFFSET(bisect)},
	{"yes", 0, WTI_OPT_FLAG, NULL, NULL, "with --bisect: confirm that the program may be run",
	 OFFSET(yes)},
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL, "print all rows, not only the worst 20",
	 OFFSET(all)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "least severity of findings that gives exit status 1; default error", OFFSET(fail_on)},
	{"html", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "write all of it as one page with pictures, for a browser; it loads nothing",
	 OFFSET(html)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print the table as CSV", OFFSET(csv)},
	WTI_OPTION_JSON(struct digits_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_digits = {
	.name = "digits",
	.arguments = "[SET|RUN...]",
	.summary = "show how many digits of the numbers are real, and where they are lost",
	.description =
		"Compares runs of one program that were recorded under noise: results of each "
		"operation were changed by about their last digit, so digits in which the runs "
		"agree are real, and the others are rounding error. Per function (--by: call "
		"site, value, step) it prints the digits of the worst input and output, what the "
		"type holds, and how many were lost in between.\n\n"
		"A finding names the line at which digits of a result were lost, not the lines "
		"that inherit the loss. Runs are aligned call by call, inside the calls around "
		"them; where they diverge, the first place and how much they have in common is a "
		"finding, and the rest is compared. Runs that crashed are analysed as far as "
		"they went.\n\n"
		"A single run, or runs without noise, still show where NaN and infinity arise, "
		"where nearly equal numbers are subtracted, and which updates change nothing; "
		"digits are then not measured.\n\n"
		"--tolerances writes how far two correct runs may differ, for `wheeltap diff "
		"--tolerances`. docs/digits.md has the statistics and the format.\n\n"
		"Exit status: 0 no findings at or above --fail-on, 1 findings of that severity, "
		"3 nothing could be measured, or a run is damaged or ended early.",
	.examples =
		"wheeltap digits\tof the latest set of runs\n"
		"wheeltap digits --by site --base 10 runs/noisy\tdecimal digits of each line\n"
		"wheeltap digits --html digits.html\tpictures, for a browser\n"
		"wheeltap digits --fail-below 20 runs/noisy\tfor CI\n"
		"wheeltap digits --compare runs/eager runs/compiled\thow many digits agree\n"
		"wheeltap digits --tolerances -o tolerances.json runs/noisy\tfor `wheeltap diff`",
	.options = options,
	.options_bytes = sizeof(struct digits_options),
	.arguments_max = 1000,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
