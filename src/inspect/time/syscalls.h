/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `syscalls`. */
#ifndef WTI_INSPECT_SYSCALLS_H
#define WTI_INSPECT_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wt_reader;

enum wti_syscalls_by {
	WTI_SYSCALLS_BY_NAME,
	WTI_SYSCALLS_BY_PROCESS,
	WTI_SYSCALLS_BY_THREAD,
	WTI_SYSCALLS_BY_STEP,
	WTI_SYSCALLS_BY_SITE,
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
	/* By site: the line of a stack. False: it has none. */
	bool (*locate)(void *opaque, const struct wt_reader *reader, uint32_t stack, char *ret_file,
		       size_t file_bytes, uint32_t *ret_line);
	void *opaque;
};

#endif
