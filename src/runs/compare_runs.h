/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs side by side, by what is known of each without reading events: how it was started, its
 * metrics, findings and tests. `diff` compares the events of two.
 */
#ifndef WTI_RUNS_COMPARE_RUNS_H
#define WTI_RUNS_COMPARE_RUNS_H

#include <wheeltap/result.h>

#include "run.h"

#define WTI_COMPARE_RUNS_MAX 32u

/*
 * A table `comparison`: what, name, and a column a run. Only rows that are not the same in all of
 * them, unless `all`. Words as wti_run_find() takes them; runs below the home that were removed,
 * too.
 */
int wti_compare_runs(const struct wti_front *front, char **words, size_t count, bool all,
		     struct wt_result *result, struct wt_err *err);

#endif
