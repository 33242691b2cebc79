/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a run when its events are forgotten: metrics, findings, tests, configuration.
 * Reading one takes as long as reading the trace does; the catalogue (catalogue.h) keeps it.
 */
#ifndef WTI_RUNS_SUMMARY_H
#define WTI_RUNS_SUMMARY_H

#include "base/doc.h"
#include "base/json.h"
#include "inspect/summary/configuration.h"
#include "inspect/summary/tests.h"
#include "open.h"

/* Raised when the same run would get another summary: those of before are made again. */
#define WTI_SUMMARY_VERSION 2
#define WTI_SUMMARY_METRICS_MAX 16384u
#define WTI_SUMMARY_FINDINGS_MAX 4096u
#define WTI_SUMMARY_SAVED_MAX 4096u /* the last ones */

enum wti_statistic {
	WTI_STAT_FIRST,
	WTI_STAT_LAST,
	WTI_STAT_MIN,
	WTI_STAT_MAX,
	WTI_STAT_MEAN,
	WTI_STAT_P50,
	WTI_STAT_P95,
	WTI_STAT_COUNT,
	WTI_STATISTICS,
};

/* "p50"; the number of a word, or -1. */
const char *wti_statistic_word(enum wti_statistic statistic);
int wti_statistic_number(const char *word, size_t bytes);

/*
 * A name and what its values were. Of what has one value all statistics are that. NAN: not a
 * number; of min to p95: there was no finite one.
 */
struct wti_run_metric {
	const char *name;
	const char *unit; /* "s", "bytes", or empty */
	double values[WTI_STATISTICS];
};

struct wti_run_finding {
	const char *code;
	const char *title;
	const char *file; /* or empty */
	enum wt_severity severity;
	int64_t line, step; /* -1: not known */
	uint64_t count;
};

/* A file that the run saved, as far as tensors in it were recorded. */
struct wti_run_saved {
	const char *path; /* absolute, if it is known where the program was started */
	int64_t step;     /* -1: not known */
	uint64_t tensors;
	uint64_t digest; /* as in struct wti_file_transfer */
	uint64_t anchor;
};

struct wti_run_summary {
	struct wti_arena arena;
	struct wti_run_metric *metrics;
	size_t metric_count, metric_capacity;
	struct wti_run_finding *findings;
	size_t finding_count, finding_capacity;
	struct wti_run_saved *saved;
	size_t saved_count, saved_capacity;
	struct wti_tests tests;
	struct wti_configuration configuration;
	bool is_damaged; /* not all of the trace could be read */
};

void wti_summary_init(struct wti_run_summary *summary);
void wti_summary_release(struct wti_run_summary *summary);
/*
 * Reads the trace, and the console where the program printed its tests. `run` is one that is over.
 * Of a damaged trace what can be read; an error only for want of memory, or if nothing can.
 */
int wti_summary_read(const struct wti_front *front, const struct wti_run *run,
		     struct wti_run_summary *ret_summary, struct wt_err *err);
/* NULL: it has none of that name. */
const struct wti_run_metric *wti_summary_metric(const struct wti_run_summary *summary,
						const char *name);
/* The tests of a run: checks of its trace, or if it has none what it printed as TAP. */
int wti_summary_tests(const struct wti_opened_run *opened, struct wti_tests *tests,
		      struct wt_err *err);
/* A value of a metric as people read it: "1.2 ms", "3.4 MB", "0.25". */
#define WTI_METRIC_TEXT 32
const char *wti_metric_text(char out[WTI_METRIC_TEXT], const char *unit, double value);
const char *wti_severity_word(enum wt_severity severity);

/* ---- For whoever fills one ------------------------------------------------------------------- */

/* Copy the texts. 0, or WT_E_NOMEM; beyond a ceiling nothing is added. */
int wti_summary_add_metric(struct wti_run_summary *summary, const struct wti_run_metric *metric);
int wti_summary_add_finding(struct wti_run_summary *summary, const struct wti_run_finding *finding);
int wti_summary_add_saved(struct wti_run_summary *summary, const struct wti_run_saved *saved);
/* One value. Below 0: not known, and not added. */
int wti_summary_add_number(struct wti_run_summary *summary, const char *name, const char *unit,
			   double value);

/* As an object of JSON, and back. What is missing or wrong there is left out. */
void wti_summary_write(struct wti_json *json, const struct wti_run_summary *summary);
int wti_summary_parse(const struct wti_doc *doc, struct wti_run_summary *ret_summary);

#endif
