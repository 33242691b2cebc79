/* SPDX-License-Identifier: Apache-2.0 */
/* What a call is to a training step: by its action, and otherwise by where it is defined. */
#include "phase.h"

#include <string.h>

#include "action.h"

static bool begins(struct wt_text text, const char *word)
{
	return text.bytes >= strlen(word) && !memcmp(text.data, word, strlen(word));
}

/* A part of torch that is of one phase as a whole. */
static enum wti_phase phase_of_module(struct wt_text module)
{
	if (begins(module, "torch.utils.data"))
		return WTI_PHASE_DATA;
	if (begins(module, "torch.optim") || begins(module, "torch.nn.utils.clip_grad"))
		return WTI_PHASE_OPTIMIZER;
	if (begins(module, "torch.nn") && !begins(module, "torch.nn.init"))
		return WTI_PHASE_FORWARD;
	return WTI_PHASES;
}

enum wti_phase wti_phase_of(const struct wt_event *event)
{
	switch (wti_action_of(event)) {
	case WT_ACTION_ROUND:
	case WT_ACTION_BATCH:
		return WTI_PHASE_DATA;
	case WT_ACTION_FORWARD:
		return WTI_PHASE_FORWARD;
	case WT_ACTION_BACKWARD:
		return WTI_PHASE_BACKWARD;
	case WT_ACTION_STEP:
	case WT_ACTION_ZERO_GRAD:
	case WT_ACTION_SCHEDULER_STEP:
		return WTI_PHASE_OPTIMIZER;
	default:
		return phase_of_module(wt_event_text(event, WT_CALL_BEGIN_FIELD_MODULE));
	}
}
