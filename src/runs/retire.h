/* SPDX-License-Identifier: Apache-2.0 */
/* Removing runs and keeping what is known of them (kept.h): the one before the other. */
#ifndef WTI_RUNS_RETIRE_H
#define WTI_RUNS_RETIRE_H

#include <wheeltap/result.h>

#include "run.h"

/*
 * Removes the runs. Of those below the home the summary is kept first, unless `forget`; where that
 * fails the run stays. Each that stays has a note that says why. `elsewhere`: as in
 * wti_run_remove(). How many were removed.
 */
size_t wti_retire(const struct wti_front *front, struct wti_run **runs, size_t count, bool forget,
		  bool elsewhere, struct wt_result *result);

#endif
