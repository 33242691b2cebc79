/* SPDX-License-Identifier: Apache-2.0 */
/* Between handles.c, which keeps the tables, and handles_change.c, which knows the calls. */
#ifndef WTI_SYSCALL_HANDLES_CHANGE_H
#define WTI_SYSCALL_HANDLES_CHANGE_H

#include "handles.h"

/* NULL of NULL, or if memory ran out, which `failed` then says. */
char *wti_handles_copy(struct wti_handles *handles, const char *text);
struct wti_handles_of_process *wti_process_of(struct wti_handles *handles, uint32_t pid);
/* The working directory becomes one that others have as well; NULL: it is not known. */
void wti_folder_set(struct wti_handles_of_process *process, struct wti_working_folder *folder);
/* It becomes `path`, of so many bytes; NULL: it is not known. */
void wti_folder_change(struct wti_handles *handles, struct wti_handles_of_process *process,
		       const char *path, size_t bytes);
/* Nobody holds it yet. Index plus one; 0: out of memory. */
uint32_t wti_handle_new(struct wti_handles *handles, uint8_t type, const char *name);
/* The same of what /proc/PID/fd has: a path, "socket:[8901]", "anon_inode:[eventfd]". */
uint32_t wti_handle_of_target(struct wti_handles *handles, struct wt_text target);
/* `fd` refers to `handle` (index plus one; 0: it is closed) from now on. */
void wti_descriptor_set(struct wti_handles *handles, struct wti_handles_of_process *process,
			int32_t fd, uint32_t handle, bool close_on_exec);
uint32_t wti_descriptor_handle(struct wti_handles *handles, struct wti_handles_of_process *process,
			       int32_t fd);

/* Which numbers of each architecture are calls that change something. False: out of memory. */
bool wti_handles_actions(struct wti_handles *handles);
void wti_handles_change(struct wti_handles *handles, uint32_t pid, uint32_t tid,
			const struct wti_syscall *call);

#endif
