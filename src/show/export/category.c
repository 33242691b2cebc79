/* SPDX-License-Identifier: Apache-2.0 */
/* Categories of what a timeline shows: their numbers and names. */
#include "timeline.h"

unsigned wti_category_of(uint16_t begin)
{
	switch (begin) {
	case WT_KIND_CALL_BEGIN:
		return WTI_CATEGORY_CALL;
	case WT_KIND_OPERATOR_BEGIN:
		return WTI_CATEGORY_OPERATOR;
	default:
		return WTI_CATEGORY_SPAN;
	}
}

const char *wti_category_name(unsigned category)
{
	static const char *const own[] = {
		[WTI_CATEGORY_SPAN] = "span",       [WTI_CATEGORY_CALL] = "call",
		[WTI_CATEGORY_CONTEXT] = "context", [WTI_CATEGORY_SYSCALL] = "syscall",
		[WTI_CATEGORY_LAUNCH] = "launch",   [WTI_CATEGORY_OPERATOR] = "operator",
		[WTI_CATEGORY_EVENT] = "event",
	};
	const struct wt_kind *kind;

	if (category <= WTI_CATEGORY_EVENT)
		return category ? own[category] : "event";
	if (category < WTI_CATEGORY_OP) {
		kind = wt_kind_builtin((uint16_t)(category - WTI_CATEGORY_EVENT));
		return kind ? kind->name : "event";
	}
	kind = wt_kind_builtin(WT_KIND_DEVICE_OP);
	category -= WTI_CATEGORY_OP;
	return category <= WT_OP_OTHER ? kind->fields[WT_DEVICE_OP_FIELD_OP].enum_names[category]
				       : "other";
}
