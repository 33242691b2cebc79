/* SPDX-License-Identifier: Apache-2.0 */
/* What run.json says about a run (docs/run.md). */
#ifndef WTI_CLI_RUNJSON_H
#define WTI_CLI_RUNJSON_H

#include "run.h"

/* Fills in what is there. A run.json that is not one of ours leaves `run` as it is. */
void wti_runjson_load(const char *folder, struct wti_run *run);

#endif
