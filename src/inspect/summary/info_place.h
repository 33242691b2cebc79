/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run stood when it ended: step, epoch and stage. */
#ifndef WTI_INSPECT_INFO_PLACE_H
#define WTI_INSPECT_INFO_PLACE_H

#include <wheeltap/inspect.h>

#include "inspect/core/steps.h"

/* Adds the facts about it; nothing if no track has set its step or the like. */
int wti_info_place(struct wt_result *result, const struct wt_trace *trace,
		   const struct wti_steps *steps, struct wt_err *err);

#endif
