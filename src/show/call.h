/* SPDX-License-Identifier: Apache-2.0 */
/* A system call among other events: its name, and all of it as one text. */
#ifndef WTI_SHOW_CALL_H
#define WTI_SHOW_CALL_H

#include "syscall/decode.h"

#define WTI_CALL_TEXT_MAX ((size_t)1 << 20) /* enough for any call */

static inline bool wti_is_call(const struct wt_event *event)
{
	return event->kind->number == WT_KIND_SYSCALL;
}

/* "openat". `label` keeps what has no name. */
struct wt_text wti_call_of(const struct wt_event *event, char label[WTI_CALL_LABEL_BYTES]);
/* `openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3` */
void wti_put_call(struct wti_buf *out, const struct wt_event *event);

#endif
