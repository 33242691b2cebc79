/* SPDX-License-Identifier: Apache-2.0 */
/* Goldens and runs: learned from them, held against one, changed to what they do. */
#ifndef WTI_RUNS_GOLDEN_RUNS_H
#define WTI_RUNS_GOLDEN_RUNS_H

#include "seen.h"

/* Things of the runs may get other names. */
int wti_golden_of_runs(struct wti_golden *golden, const char *name, struct wti_seen_run *runs,
		       size_t count, bool with_times, struct wt_err *err);
/* Deviations are findings of the result, and their things are added to `ret_deviating`, or NULL.
 * `path` names the golden in errors: one of another machine, or of other calls. */
int wti_golden_compare(const struct wti_golden *golden, const char *path, struct wti_seen_run *run,
		       struct wti_map *ret_deviating, struct wt_result *result, struct wt_err *err);
/* What the runs deviate in becomes part of the golden: how many things that were. */
int wti_golden_accept_runs(struct wti_golden *golden, const char *path, struct wti_seen_run *runs,
			   size_t count, size_t *ret_deviating_count, struct wt_result *result,
			   struct wt_err *err);

#endif
