/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line knows of its surroundings, for all that stands in src/runs. */
#ifndef WTI_CLI_FRONT_H
#define WTI_CLI_FRONT_H

#include "progress.h"
#include "runs/front.h"

/* The folder of runs: $WHEELTAP_HOME, or ./wheeltap-runs. */
const char *wti_home(void);

/* `progress`: the bar that is shown while a run is read, which has to stay; NULL: none. */
struct wti_front wti_front_here(struct wti_progress *progress);
/* The same, where the bar says something else than "reading". */
struct wti_front wti_front_doing(const char *what, struct wti_progress *progress);

#endif
