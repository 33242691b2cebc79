/* SPDX-License-Identifier: Apache-2.0 */
/* Between ledger.c, which keeps the ledger, and ledger_calls.c, which knows what calls mean. */
#ifndef WTI_PATTERNS_LEDGER_CALLS_H
#define WTI_PATTERNS_LEDGER_CALLS_H

#include "ledger.h"

/* Who does something, and when. */
struct wti_ledger_place {
	uint32_t process, tid;
	const struct wti_syscall *call; /* NULL: a child has ended */
	int64_t start_ns, end_ns;
};

/* The name of a thing as a number from 1 on; 0: there is no room for more. */
uint32_t wti_ledger_name(struct wti_ledger *ledger, const char *text, size_t bytes);
/* The innermost call of a function that is open in the thread and has a line. */
struct wti_line wti_ledger_line(const struct wti_ledger *ledger, uint32_t tid);
void wti_ledger_post(struct wti_ledger *ledger, const struct wti_ledger_place *at,
		     enum wti_matter matter, uint32_t thing, uint64_t bytes);
/* The program's own call, before its descriptors change by it. */
void wti_ledger_call(struct wti_ledger *ledger, struct wti_ledger_thread *thread,
		     const struct wti_syscall *call, int64_t end_ns);

#endif
