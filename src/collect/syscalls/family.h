/* SPDX-License-Identifier: Apache-2.0 */
/* A process that runs, and all that descend from it at this moment; never ourselves. */
#ifndef WTI_SYSCALLS_FAMILY_H
#define WTI_SYSCALLS_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

#define WTI_FAMILY_MAX 4096 /* processes; more are not looked for */

struct wti_family {
	pid_t pids[WTI_FAMILY_MAX]; /* the process itself comes first */
	size_t count;
};

void wti_family_look(struct wti_family *family, pid_t pid);

#endif
