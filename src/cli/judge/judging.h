/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` and `doctor` have in common: how a run is judged, and when that fails. */
#ifndef WTI_CLI_JUDGE_JUDGING_H
#define WTI_CLI_JUDGE_JUDGING_H

#include "cli/verb.h"
#include "inspect/check/check.h"
#include "show/verdict.h"

struct wti_judging {
	bool json;
	bool all;
	bool no_builtin;
	const char *fail_on;
};

#define WTI_JUDGING_DEFAULTS                                                                       \
	{                                                                                          \
		.fail_on = "error"                                                                 \
	}
/* Of a verb whose options have `fail_on`, maybe as part of a member. */
#define WTI_OPTION_FAIL_ON(type, member)                                                           \
	{                                                                                          \
		"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,                             \
			"exit with 1 if there is a finding of this severity or above; error is "   \
			"the default",                                                             \
			offsetof(type, member)                                                     \
	}
#define WTI_JUDGING_STATUS                                                                         \
	"Exit status: 0 no findings at or above --fail-on, which is error unless given, 1 "        \
	"findings of that severity, 3 no such findings and: nothing could be measured, the trace " \
	"is damaged, or the run ended early."

/* Judges the runs with that inspector and prints the verdicts; frees the pack. The exit code. */
int wti_judge_run(const char *inspector, const struct wti_judging *judging,
		  struct wti_check_options *how, struct wti_pack *pack, char **runs, size_t count);

#endif
