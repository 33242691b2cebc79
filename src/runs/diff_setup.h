/* SPDX-License-Identifier: Apache-2.0 */
/* What a person changed between two runs, by their run.json. */
#ifndef WTI_RUNS_DIFF_SETUP_H
#define WTI_RUNS_DIFF_SETUP_H

#include <wheeltap/inspect.h>

#include "run.h"

/* A table `setup` of the result: arguments, environment, commit, versions, machine, recording. */
int wti_diff_setup(const struct wti_run *a, const struct wti_run *b, struct wt_result *result,
		   struct wt_err *err);

#endif
