/* SPDX-License-Identifier: Apache-2.0 */
/* A text of an event as a string of C. */
#ifndef WTI_INSPECT_EVENT_TEXT_H
#define WTI_INSPECT_EVENT_TEXT_H

#include <string.h>

#include <wheeltap/inspect.h>

#define WTI_EVENT_TEXT_MAX 4096u

/* A copy that ends with NUL; cut. */
static inline const char *wti_event_cstr(const struct wt_event *event, int field,
					 char out[WTI_EVENT_TEXT_MAX + 1])
{
	struct wt_text text = wt_event_text(event, field);
	size_t bytes = text.bytes < WTI_EVENT_TEXT_MAX ? text.bytes : WTI_EVENT_TEXT_MAX;

	if (bytes)
		memcpy(out, text.data, bytes);
	out[bytes] = 0;
	return out;
}

#endif
