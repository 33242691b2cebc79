/* SPDX-License-Identifier: Apache-2.0 */
/* Values of two runs by a file of tolerances instead of their bits, for the verbs that judge them.
 */
#ifndef WTI_CLI_JUDGE_VALUES_H
#define WTI_CLI_JUDGE_VALUES_H

#include "inspect/digits/digits.h"
#include "runs/divergence_runs.h"

/* The result gets what lies outside, counts, and notes of what could not be compared. */
int wti_judge_values(const char *path, const struct wti_opened_run *const runs[2],
		     struct wt_result *result, struct wti_within *ret_within, struct wt_err *err);
/* Runs that differ in bits: what lies within the tolerances is no divergence. NULL: none are. */
int wti_tolerate(const char *path, struct wti_compared_runs *runs, struct wt_result *result,
		 struct wt_err *err);

#endif
