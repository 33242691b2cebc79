/* SPDX-License-Identifier: Apache-2.0 */
/* Why one operation had to come before another: every dependency of a run, with its reason. */
#ifndef WTI_DEVICE_DEPEND_H
#define WTI_DEVICE_DEPEND_H

#include "work.h"

enum wti_reason {
	WTI_REASON_QUEUE,     /* the operation before it in its queue */
	WTI_REASON_EVENT,     /* an event that it waits for, or its queue */
	WTI_REASON_BARRIER,   /* a barrier before or after it in its queue */
	WTI_REASON_HOST_WAIT, /* the host waits for it: to the synchronisation */
	WTI_REASON_HOST_SYNC, /* launched after the host had waited: from the synchronisation */
	WTI_REASON_READ_AFTER_WRITE,
	WTI_REASON_WRITE_AFTER_READ,
	WTI_REASON_WRITE_AFTER_WRITE,
	WTI_REASON_COLLECTIVE, /* a part of a collective on another device */
	WTI_REASONS,
};

const char *wti_reason_word(enum wti_reason reason);

/* Takes one dependency: indices of operations. Not 0: an error that ends it. */
typedef int wti_take_dependency(void *cookie, enum wti_reason reason, uint32_t from, uint32_t to);
int wti_dependencies(const struct wti_work *work, wti_take_dependency *take, void *cookie,
		     struct wt_err *err);

#endif
