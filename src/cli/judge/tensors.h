/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs operation by operation, for the verbs that print it: `diff --tensors` and `rerun`. */
#ifndef WTI_CLI_JUDGE_TENSORS_H
#define WTI_CLI_JUDGE_TENSORS_H

#include <stdbool.h>

#include "runs/divergence_runs.h"

/* Prints what was found; the exit code. */
int wti_tensors_print(const struct wti_compared_runs *runs, const struct wt_result *result,
		      bool json);
/* Opens, compares, prints. */
/* `tolerances`: a file of `digits`, or NULL. */
int wti_tensors_diff(const char *verb, const char *const words[2], const char *tolerances,
		     bool json);

#endif
