/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that load what other runs have saved: the one that saved is found in the catalogue, by the
 * path of the file and by the hashes of its tensors. No trace is read but that of the run that was
 * found, and only where what was loaded is not what was saved.
 */
#ifndef WTI_RUNS_LINEAGE_H
#define WTI_RUNS_LINEAGE_H

#include <wheeltap/inspect.h>

#include "inspect/training/transfers.h"
#include "run.h"

/* Adds findings about what the run loaded. Silent where nobody saved it; a note where that cannot
 * be known. An error only for want of memory. */
int wti_lineage_across(const struct wti_front *front, const struct wti_run *run,
		       const struct wti_transfers *transfers, struct wt_result *result,
		       struct wt_err *err);
/* A path that the run gave, absolute if it is known where the run was started; to be freed. NULL:
 * out of memory. */
char *wti_lineage_path(const struct wti_run *run, const char *path);

#endif
