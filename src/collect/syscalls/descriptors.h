/* SPDX-License-Identifier: Apache-2.0 */
/* What the descriptors of a process refer to at this moment, and the folder that it is in. */
#ifndef WTI_SYSCALLS_DESCRIPTORS_H
#define WTI_SYSCALLS_DESCRIPTORS_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

struct wti_open_descriptor {
	uint32_t pid;
	int32_t fd;            /* AT_FDCWD: the folder */
	uint32_t flags;        /* as open() got them */
	char target[PATH_MAX]; /* a path, or "socket:[8901]" */
};

/* One after the other. Nothing is reported where /proc may not be read. */
void wti_descriptors_list(pid_t pid,
			  void (*take)(void *context, const struct wti_open_descriptor *open),
			  void *context);

#endif
