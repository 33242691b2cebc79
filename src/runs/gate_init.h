/* SPDX-License-Identifier: Apache-2.0 */
/* `gate --init`: a first gate file from a run. */
#ifndef WTI_RUNS_GATE_INIT_H
#define WTI_RUNS_GATE_INIT_H

#include <wheeltap/inspect.h>

/* Writes assertions that hold in the run to `path`, which must not exist. */
int wti_gate_init(const char *word, const char *path, struct wt_result *result, struct wt_err *err);

#endif
