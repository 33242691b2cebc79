/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that show what an inspector says of a run: examined, printed, with an exit code. */
#ifndef WTI_CLI_INSPECT_H
#define WTI_CLI_INSPECT_H

#include "runs/examine.h"
#include "show/show.h"

/* The first half is what is asked of the run (runs/examine.h), the second how it is shown. */
struct wti_inspection {
	const char *inspector;
	const char *verb;             /* that asks; NULL: of the same name */
	const struct wt_query *query; /* or NULL */
	const void *options;          /* of the inspector */
	/* Of one that judges: gets thresholds of wheeltap.toml, and what was recorded. Or NULL. */
	struct wti_check_options *judging;
	void (*before)(const struct wti_opened_run *opened, struct wt_result *result);

	bool json;
	/* Findings of this severity or above give exit code 1, suppressions apply; NULL: none do.
	 */
	const char *fail_on;
	bool is_fixed; /* the columns are those of another tool: lines are not wrapped */
	/* Renders the result as text; NULL: as all results. */
	void (*text)(struct wti_buf *out, const struct wt_result *result,
		     const struct wti_style *style);
	/* Renders instead of text, e.g. as CSV; NULL: none. */
	void (*other)(struct wti_buf *out, const struct wt_result *result);
};

/* How many runs a verb takes that looks at one after the other. */
#define WTI_INSPECT_RUNS_MAX 1000

/*
 * Examines the runs that the words name (runs/run.h), the latest if there are none, and reports,
 * under the name of the run if there are several. The exit code: 3 if something was damaged or
 * nothing could be measured; of several runs the worst.
 */
int wti_inspect_runs(const struct wti_inspection *inspection, char **words, size_t count);

#endif
