/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a training step, and which of them a call is. */
#ifndef WTI_INSPECT_PHASE_H
#define WTI_INSPECT_PHASE_H

#include <wheeltap/trace.h>

enum wti_phase {
	WTI_PHASE_DATA,
	WTI_PHASE_FORWARD,
	WTI_PHASE_BACKWARD,
	WTI_PHASE_OPTIMIZER,
	WTI_PHASE_OTHER, /* what is left of the step */
	WTI_PHASES,
};

/* Of an event of kind call_begin; WTI_PHASES: none. */
enum wti_phase wti_phase_of(const struct wt_event *event);

#endif
