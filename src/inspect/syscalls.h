/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `syscalls`. */
#ifndef WTI_INSPECT_SYSCALLS_H
#define WTI_INSPECT_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

enum wti_syscalls_by {
	WTI_SYSCALLS_BY_NAME,
	WTI_SYSCALLS_BY_PROCESS,
	WTI_SYSCALLS_BY_THREAD,
	WTI_SYSCALLS_BY_STEP,
};

enum wti_syscalls_order {
	WTI_SYSCALLS_SORT_TIME,
	WTI_SYSCALLS_SORT_CALLS,
	WTI_SYSCALLS_SORT_ERRORS,
	WTI_SYSCALLS_SORT_MEAN,
	WTI_SYSCALLS_SORT_MAX,
	WTI_SYSCALLS_SORT_NAME,
};

struct wti_syscalls_view {
	enum wti_syscalls_by by;
	enum wti_syscalls_order order;
	uint64_t limit; /* rows; 0: all */
	bool percentiles;
	bool system;      /* the time that threads had a processor in a call, not all that passed */
	const char *name; /* a glob for names of calls; NULL: all */
};

#endif
