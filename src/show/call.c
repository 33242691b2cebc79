/* SPDX-License-Identifier: Apache-2.0 */
/* Hides that a call has to be put together from an event before it can be shown. */
#include "call.h"

#include <string.h>

struct wt_text wti_call_of(const struct wt_event *event, char label[WTI_CALL_LABEL_BYTES])
{
	const char *name =
		wti_call_label(label, (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_ARCH),
			       (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR));

	return (struct wt_text){name, strlen(name)};
}

void wti_put_call(struct wti_buf *out, const struct wt_event *event)
{
	struct wti_syscall call;

	wti_syscall_read(event, &call);
	wti_decode_call(out, &call, NULL);
	wti_buf_text(out, " = ");
	wti_decode_result(out, &call, NULL);
}
