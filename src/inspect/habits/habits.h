/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about habits of programs share: going through the ledger, and the words. */
#ifndef WTI_PATTERNS_H
#define WTI_PATTERNS_H

#include "inspect/judge/rule.h"
#include "ledger.h"

#define WTI_WHO_BYTES 64
#define WTI_NO_CALLS "no such system calls in this run: record it with --syscalls"

struct wti_judge;

/* "python3[4711]" */
const char *wti_who(char out[WTI_WHO_BYTES], const struct wti_ledger *ledger, uint32_t process);

/*
 * Every posting of these matters (bits) is a case. Those for which `is_habit` says so are reported
 * by `report`, the most frequent first.
 */
struct wti_audit {
	uint32_t matters;
	bool (*is_habit)(const struct wti_case *account, const struct wti_posting *posting);
	void (*say)(struct wti_buf *out, const struct wti_ledger *ledger,
		    const struct wti_posting *posting);
};
void wti_audit(struct wti_case *account, const struct wti_ledger *ledger,
	       const struct wti_audit *audit);

/* From which share of a step on it is blocked: what the ledger has to know beforehand. */
uint64_t wti_blocked_percent(const struct wti_judge *judge);

/* The run has ended; the ledger is finished. `is_whole`: every system call of the run was recorded.
 */
void wti_habits_audit(struct wti_judge *judge, const struct wti_ledger *ledger, bool is_whole);

#endif
