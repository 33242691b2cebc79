/* SPDX-License-Identifier: Apache-2.0 */
/* What a person changed between two runs, by their run.json. */
#ifndef WTI_RUNS_DIFF_SETUP_H
#define WTI_RUNS_DIFF_SETUP_H

#include <wheeltap/inspect.h>

#include "base/doc.h"
#include "run.h"

/* A table `setup` of the result: arguments, environment, commit, versions, machine, recording. */
int wti_diff_setup(const struct wti_run *a, const struct wti_run *b, struct wt_result *result,
		   struct wt_err *err);

/*
 * What one run.json says of the same, value by value: "argument" "--lr" "0.1", "environment"
 * "OMP_NUM_THREADS" "4". An argument that is given again has its number behind its name, and one
 * without a name its place. `take` returns other than 0 to end.
 */
int wti_setup_each(const struct wti_doc *root,
		   int (*take)(void *self, const char *what, const char *name, const char *value),
		   void *self, struct wt_err *err);

#endif
