/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of runs as a thing to render: a run is a row of parts, and a part is a result with a
 * heading. What is in the parts is the business of runs/report; a new part needs no new renderer.
 *
 * A fact without a value, and each row of a part's table `not_recorded` (what, how), is something
 * that nobody recorded: every renderer says so, and how it would be recorded.
 */
#ifndef WTI_SHOW_REPORT_H
#define WTI_SHOW_REPORT_H

#include <wheeltap/result.h>

#include "base/buf.h"

struct wti_report_part {
	const char *key; /* in JSON, and as an anchor */
	const char *title;
	bool is_first; /* shown at once; others are folded away where there is room for little */
	struct wt_result result;
};

/* What is counted over a run's parts, for its first lines. */
struct wti_report_counts {
	size_t errors, warnings, notes;
	size_t passed, failed, unjudged, broken; /* checks; unjudged: without an expectation */
};

/* Nothing passes because nothing was looked at. */
enum wti_report_verdict {
	WTI_REPORT_GOOD,     /* it finished, something was judged, and nothing found */
	WTI_REPORT_WARNED,   /* the same, with warnings */
	WTI_REPORT_UNJUDGED, /* it still runs, is damaged, or no rule applied and no check was made
			      */
	WTI_REPORT_BAD,      /* it ended early, has an error, or a check failed */
};

struct wti_report {
	char *run;      /* its name */
	char *status;   /* running, finished, failed ... */
	char *headline; /* one sentence */
	enum wti_report_verdict verdict;
	struct wti_report_part *parts;
	size_t part_count;
	struct wti_report_counts counts;
	bool is_damaged; /* not all of the trace could be read */
};

/* "good", "warned", "not judged", "bad" */
const char *wti_report_verdict_word(enum wti_report_verdict verdict);
const struct wti_report_part *wti_report_part(const struct wti_report *report, const char *key);
const struct wt_table *wti_report_table(const struct wt_result *result, const char *key);
/* The cell of a row by the key of its column; NULL: there is no such column. */
const struct wt_cell *wti_report_cell(const struct wt_table *table, size_t row, const char *key);
/* The text of a fact or cell of type text; NULL: it is none. */
const char *wti_report_text(const struct wt_result *result, const char *key);
const char *wti_report_cell_text(const struct wt_table *table, size_t row, const char *key);
/* Whether people see it: tables and columns without a title are for programs. */
bool wti_report_is_shown(const struct wt_table *table);

/* The heading of several runs. */
struct wti_report_list {
	const struct wti_report *reports;
	size_t count;
	const char *version; /* of wheeltap */
};

void wti_report_markdown(struct wti_buf *out, const struct wti_report_list *list);
void wti_report_page(struct wti_buf *out, const struct wti_report_list *list);
void wti_report_json(struct wti_buf *out, const struct wti_report_list *list);
void wti_report_junit(struct wti_buf *out, const struct wti_report_list *list);
void wti_report_intoto(struct wti_buf *out, const struct wti_report_list *list);

#endif
