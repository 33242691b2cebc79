/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `tests`. Not `checks`: `check` is another verb, and one letter would decide. */
#include <string.h>

#include "base/err.h"
#include "cli/front.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "runs/test_history.h"

struct tests_options {
	bool failed;
	bool flaky;
	bool history;
	bool csv;
	bool json;
};

static int code_of(const struct wt_result *result)
{
	return !strcmp(result->status, "findings")       ? WTI_EXIT_FINDINGS
	       : !strcmp(result->status, "not_measured") ? WTI_EXIT_TRACE
							 : WTI_EXIT_CLEAN;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct tests_options *o = opaque;
	const struct wti_test_options wanted = {.failed_only = o->failed, .flaky_only = o->flaky};
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code, r;

	wt_result_init(&result, "tests");
	if (!o->history && count > 1)
		r = wti_err(&err, WT_E_ARG,
			    "give one run; of several runs --history shows what "
			    "became of each test");
	else
		r = o->history ? wti_test_history(&front, arguments, count, &wanted, &result, &err)
			       : wti_tests_of_run(&front, count ? arguments[0] : NULL, &wanted,
						  &result, &err);
	if (r) {
		code = wti_report_error("tests", o->json, &err);
	} else {
		code = code_of(&result);
		code = o->csv ? wti_report_csv(&result, code)
			      : wti_report_result(&result, o->json, code);
	}
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"failed", 0, WTI_OPT_FLAG, NULL, NULL, "only those that failed or could not be completed",
	 offsetof(struct tests_options, failed)},
	{"flaky", 0, WTI_OPT_FLAG, NULL, NULL,
	 "only those that both passed and failed at the same commit and configuration",
	 offsetof(struct tests_options, flaky)},
	{"history", 0, WTI_OPT_FLAG, NULL, NULL,
	 "one row for each test, over all runs or those that match filters as in 'wheeltap ls'",
	 offsetof(struct tests_options, history)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print comma-separated values",
	 offsetof(struct tests_options, csv)},
	WTI_OPTION_JSON(struct tests_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_tests = {
	.name = "tests",
	.arguments = "[RUN|FILTER...]",
	.arguments_max = WTI_FILTER_TERMS_MAX,
	.summary = "show the tests of a run, with evidence, and flaky tests",
	.description =
		"Shows the tests of a run: those of pytest, those that a program printed as TAP, "
		"and the checks of wt_check() and wheeltap.check(), with the expected value, the "
		"actual one and how they were compared. A value without an expectation is "
		"observed, and counts as neither passed nor failed. A test is flaky if it both "
		"passed and failed at the same commit, with the same changes and the same "
		"configuration.\n\n"
		"'wheeltap import' turns files of TAP and JUnit XML into runs with tests. "
		"'wheeltap trend check:NAME' shows one test over time, and 'wheeltap ls "
		"check.failed>0' the runs with failures.\n\n"
		"The exit status is 1 if a test failed, 3 if no test has a verdict.",
	.examples = "wheeltap tests\tof the latest run\n"
		    "wheeltap tests --failed\n"
		    "wheeltap tests --history --flaky since=30d\twhich tests cannot be trusted",
	.options = options,
	.options_bytes = sizeof(struct tests_options),
	.group = "look",
	.run = run,
};
