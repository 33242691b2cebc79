/* SPDX-License-Identifier: Apache-2.0 */
/* A first gate file from a run. */
#ifndef WTI_RUNS_GATE_INIT_H
#define WTI_RUNS_GATE_INIT_H

#include <wheeltap/inspect.h>

#include "front.h"

/* Writes assertions that hold in the run to `path`, which must not exist; how many
 * there are. */
int wti_gate_init(const struct wti_front *front, const char *word, const char *path,
		  size_t *ret_count, struct wt_result *result, struct wt_err *err);

#endif
