/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program in C that shows a divergence alone: the source of the kernels, what was in their memory
 * before, and what to compare. It needs nothing but OpenCL.
 */
#ifndef WTI_REPLAY_EMIT_H
#define WTI_REPLAY_EMIT_H

#include "select.h"
#include "verdict.h"

/* Of the first confirmed race, otherwise of the first origin. WT_E_MISSING: there is neither. */
int wti_replay_emit(struct wti_replay_session *session, const struct wti_replay_verdicts *verdicts,
		    const struct wti_replay_races *races, const char *path, struct wt_err *err);

#endif
