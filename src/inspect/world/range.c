/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges as texts. */
#include "range.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

void wti_range_text(struct wti_buf *out, struct wti_range range)
{
	if (range.low == range.high)
		wti_buf_printf(out, "%llu", (unsigned long long)range.low);
	else
		wti_buf_printf(out, "%llu..%llu", (unsigned long long)range.low,
			       (unsigned long long)range.high);
}

bool wti_range_parse(const char *text, struct wti_range *ret_range)
{
	const char *dots = strstr(text, "..");
	struct wti_range range;
	char low[24];

	if (!dots || dots - text >= (ptrdiff_t)sizeof(low))
		return false;
	memcpy(low, text, (size_t)(dots - text));
	low[dots - text] = 0;
	if (!wti_parse_u64(low, &range.low) || !wti_parse_u64(dots + 2, &range.high) ||
	    range.low > range.high)
		return false;
	*ret_range = range;
	return true;
}
