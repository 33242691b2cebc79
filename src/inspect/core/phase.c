/* SPDX-License-Identifier: Apache-2.0 */
/* What a call is to a training step, by where it is defined. */
#include "phase.h"

#include <string.h>

static bool begins(struct wt_text text, const char *word)
{
	return text.bytes >= strlen(word) && !memcmp(text.data, word, strlen(word));
}

static bool ends(struct wt_text text, const char *word)
{
	size_t bytes = strlen(word);

	return text.bytes >= bytes && !memcmp(text.data + text.bytes - bytes, word, bytes);
}

enum wti_phase wti_phase_of(const struct wt_event *event)
{
	struct wt_text callee = wt_event_text(event, WT_CALL_BEGIN_FIELD_CALLEE);
	struct wt_text module = wt_event_text(event, WT_CALL_BEGIN_FIELD_MODULE);

	if (begins(module, "torch.utils.data"))
		return WTI_PHASE_DATA;
	if (ends(callee, ".backward") && begins(module, "torch"))
		return WTI_PHASE_BACKWARD;
	if (begins(module, "torch.optim") || ends(callee, ".zero_grad") ||
	    begins(module, "torch.nn.utils.clip_grad"))
		return WTI_PHASE_OPTIMIZER;
	if (begins(module, "torch.nn.init"))
		return WTI_PHASES;
	if (ends(callee, ".forward") || begins(module, "torch.nn"))
		return WTI_PHASE_FORWARD;
	return WTI_PHASES;
}
