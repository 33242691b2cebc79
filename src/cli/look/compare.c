/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `compare`. */
#include "cli/front.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "runs/compare_runs.h"

struct compare_options {
	bool all;
	bool csv;
	bool json;
};

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct compare_options *o = opaque;
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code;

	wt_result_init(&result, "compare");
	if (wti_compare_runs(&front, arguments, count, o->all, &result, &err))
		code = wti_report_error("compare", o->json, &err);
	else
		code = o->csv ? wti_report_csv(&result, WTI_EXIT_CLEAN)
			      : wti_report_result(&result, o->json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"all", 0, WTI_OPT_FLAG, NULL, NULL, "also what is the same in all runs",
	 offsetof(struct compare_options, all)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print comma-separated values",
	 offsetof(struct compare_options, csv)},
	WTI_OPTION_JSON(struct compare_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_compare = {
	.name = "compare",
	.arguments = "RUN RUN...",
	.arguments_min = 2,
	.arguments_max = WTI_COMPARE_RUNS_MAX,
	.summary = "compare runs by settings, metrics, findings and tests",
	.description =
		"Puts runs side by side, by their summaries: how each was started (command line, "
		"environment, seeds, commit, executable, libraries, machine, settings of the "
		"recording), its metrics, what 'wheeltap doctor' finds, and its tests. Only what "
		"differs is shown. Removed runs can be compared, too, if their summary was "
		"kept.\n\n"
		"'wheeltap diff' compares the events of two runs instead: what each did to files "
		"and peers, in which order, and where they diverge.",
	.examples = "wheeltap compare lr1 lr2 lr3\n"
		    "wheeltap compare baseline latest --all",
	.options = options,
	.options_bytes = sizeof(struct compare_options),
	.group = "look",
	.run = run,
};
