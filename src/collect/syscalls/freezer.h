/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding a program back for a moment by the kernel's freezer: it notices no signal and no stop,
 * only that time has passed. Needs a control group that we may write to; made when it is first
 * needed, which for most programs is never.
 */
#ifndef WTI_SYSCALLS_FREEZER_H
#define WTI_SYSCALLS_FREEZER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wti_freezer {
	char folder[512]; /* of the group; empty: there is none */
	char parent[512];
	bool is_v2;
	bool tried;
	bool held;
	pid_t guard; /* thaws the group should we die */
	int guard_end;
	uint64_t count; /* how often it was used */
};

void wti_freezer_init(struct wti_freezer *freezer);
/* Puts these processes, and so all that they make, into the group. False: there is no freezer. */
bool wti_freezer_take(struct wti_freezer *freezer, const uint32_t *pids, size_t count);
/* All that were taken; false: it could not be done. */
bool wti_freezer_hold(struct wti_freezer *freezer);
void wti_freezer_let_go(struct wti_freezer *freezer);
/* Everybody back to where they were. */
void wti_freezer_close(struct wti_freezer *freezer);

#endif
