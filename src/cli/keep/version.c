/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `version`. */
#include "cli/report.h"

struct version_options {
	bool json;
};

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct version_options *options = opaque;
	struct wt_result result;
	int code;

	if (!options->json)
		return wti_print("wheeltap " WTI_VERSION "\n", sizeof("wheeltap " WTI_VERSION))
			       ? WTI_EXIT_CLEAN
			       : WTI_EXIT_ENVIRONMENT;
	wt_result_init(&result, "version");
	wt_result_set_status(&result, "clean");
	wt_result_fact_text(&result, "version", "version", WTI_VERSION);
	code = wti_report_result(&result, true, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	WTI_OPTION_JSON(struct version_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_version = {
	.name = "version",
	.arguments = "",
	.summary = "print the version of wheeltap",
	.description = "Prints the version of this program.",
	.options = options,
	.options_bytes = sizeof(struct version_options),
	.group = "keep",
	.run = run,
};
