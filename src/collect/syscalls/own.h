/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls of the program are the recorder's, where no guest could say so: those by which
 * an interpreter finds and loads our files. They are known by their paths and by the descriptors
 * that came of them.
 */
#ifndef WTI_SYSCALLS_OWN_H
#define WTI_SYSCALLS_OWN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syscall/expr.h"

#include "raw.h"

#define WTI_OWN_FOLDERS_MAX 2
#define WTI_OWN_OPEN_MAX 256

struct wti_own {
	char folders[WTI_OWN_FOLDERS_MAX][PATH_MAX]; /* ending with a slash */
	size_t folder_count;
	struct wti_call_set descriptors; /* calls whose first argument is one */
	struct {
		uint32_t pid;
		int fd;
	} open[WTI_OWN_OPEN_MAX];
	size_t open_count;
};

void wti_own_init(struct wti_own *own);
/* What lies in this folder is ours. */
void wti_own_folder(struct wti_own *own, const char *folder);
/* `memory` as in the trace. */
bool wti_own_is(struct wti_own *own, uint32_t pid, const struct wti_raw_call *call,
		const uint8_t *memory, size_t bytes);

#endif
