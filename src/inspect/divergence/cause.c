/* SPDX-License-Identifier: Apache-2.0 */
/* What was not restored when a run was resumed, as far as the first difference shows it. */
#include <string.h>

#include "base/text.h"
#include "judgement.h"

const char *wti_cause_of(const struct wti_judgement *judgement)
{
	const struct wti_first_difference *first = &judgement->first;
	bool is_rate = wti_ends_with(first->value, ".lr") || wti_ends_with(first->value, "_lr") ||
		       strstr(first->value, "last_epoch");

	if (first->how == WTI_BEGINS_OUTPUT && first->action == WT_ACTION_LOAD)
		return "the contents of a file";
	if (!judgement->resume.is_found) /* of others it is not known what they have in common */
		return "";
	switch (first->how) {
	case WTI_BEGINS_STATE:
		return first->action == WT_ACTION_STEP ? "optimizer state" : "";
	case WTI_BEGINS_UNSEEN:
		return is_rate                                         ? "schedule"
		       : first->values[0].a.type == WT_VALUE_TYPE_HASH ? "weights"
								       : "";
	case WTI_BEGINS_INPUT:
	case WTI_BEGINS_MIXED:
		return "data";
	case WTI_BEGINS_OUTPUT:
		if (first->action == WT_ACTION_FORWARD)
			return "weights";
		if (first->action == WT_ACTION_BATCH || first->action == WT_ACTION_ROUND)
			return "data";
		return *judgement->generators ? "random state" : "";
	default:
		return "";
	}
}
