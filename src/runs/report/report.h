/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: everything that is known of it, collected part by part (section.h). */
#ifndef WTI_RUNS_REPORT_H
#define WTI_RUNS_REPORT_H

#include "runs/front.h"
#include "show/report/report.h"

/*
 * `word` as wti_run_find() takes it. A run that failed, was killed or still goes on has a report,
 * too.
 */
int wti_report_collect(const struct wti_front *front, const char *word,
		       struct wti_report *ret_report, struct wt_err *err);
void wti_report_release(struct wti_report *report);

#endif
