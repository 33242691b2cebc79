/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that went on after their recording could not: the disk was full, or the trace at its
 * ceiling. */
#ifndef WTI_RUNS_TRUNCATED_H
#define WTI_RUNS_TRUNCATED_H

#include "open.h"

/* A note on what is missing; false: recording did not end before the run. */
bool wti_note_truncated(const struct wti_opened_run *opened, struct wt_result *result);

#endif
