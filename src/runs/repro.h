/* SPDX-License-Identifier: Apache-2.0 */
/* A Python program that shows a difference alone: the operation, its inputs, what both runs got. */
#ifndef WTI_RUNS_REPRO_H
#define WTI_RUNS_REPRO_H

#include "divergence_runs.h"

/* Of the first difference of the runs, whose contents were kept. Replaces the file. */
int wti_repro_write(const struct wti_compared_runs *runs, const char *path, struct wt_err *err);

#endif
