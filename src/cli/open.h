/* SPDX-License-Identifier: Apache-2.0 */
/* What every verb that reads a run does first and last: open it, and say what is damaged. */
#ifndef WTI_CLI_OPEN_H
#define WTI_CLI_OPEN_H

#include <wheeltap/inspect.h>

#include "run.h"
#include "show/show.h"

struct wti_check_options;

struct wti_opened_run {
	struct wti_run run;
	struct wt_trace *trace;
};

/* `word` as wti_run_find() takes it. */
int wti_open(const char *word, struct wti_opened_run *ret_opened, struct wt_err *err);
void wti_close(struct wti_opened_run *opened);

/* A note for each stream that is damaged or could not be opened; how many that were. */
size_t wti_note_damage(const struct wti_opened_run *opened, struct wt_result *result);

/*
 * Opens the run that the first argument names, feeds the inspector, lets `before` add what only the
 * command line knows, reports. The exit code: 3 if something was damaged or nothing could be
 * measured.
 */
struct wti_inspection {
	const char *inspector;
	const char *verb;             /* that asks; NULL: of the same name */
	const struct wt_query *query; /* or NULL */
	const void *options;          /* of the inspector */
	/* Of one that judges: gets thresholds of wheeltap.toml, and what was recorded. Or NULL. */
	struct wti_check_options *judging;
	bool json;
	const char
		*fail_on; /* findings of this severity or above give exit code 1; NULL: none do */
	void (*before)(const struct wti_opened_run *opened, struct wt_result *result);
	bool is_fixed; /* the columns are those of another tool: lines are not wrapped */
	/* Renders the result as text; NULL: as all results. */
	void (*text)(struct wti_buf *out, const struct wt_result *result,
		     const struct wti_style *style);
	/* Renders instead of text, e.g. as CSV; NULL: none. */
	void (*other)(struct wti_buf *out, const struct wt_result *result);
};

int wti_inspect_run(const struct wti_inspection *inspection, const char *word);

#endif
