/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says about a process. Everything may be gone by the time one looks. */
#ifndef WTI_COLLECT_PROCFS_H
#define WTI_COLLECT_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wti_proc {
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_time;
	uint64_t cpu_ticks; /* of all its threads; not of its children */
	char state;         /* 'Z': has ended, not yet waited for */
	char command[32];
};

/* The ticks of /proc in nanoseconds; 0 where it is not known how long they are. */
uint64_t wti_proc_ticks_ns(uint64_t ticks);
/* False if there is no such process (or thread). */
bool wti_proc_read(uint32_t pid, struct wti_proc *ret);
bool wti_proc_is_thread(uint32_t pid);      /* of another process, not a process itself */
uint32_t wti_proc_process_of(uint32_t tid); /* whose thread it is; 0: it is gone */
/* The number after a word like "\nTgid:" in its status; -1: there is none. */
int64_t wti_proc_status(uint32_t pid, const char *word);
/* The start of a small file, as a string; its length, or -1. */
ssize_t wti_proc_file(uint32_t pid, const char *name, char *out, size_t bytes);
/* 1 if a file of /proc/PID (maps, environ), up to 4 MB of it, has these bytes; -1 if it is empty.
 */
int wti_proc_mentions(uint32_t pid, const char *name, const char *what);
/* The number that was last given to a new process or thread; 0 if it cannot be known. */
/* Not a zombie, nor another process with the same number. */
bool wti_proc_is_alive(uint32_t pid, uint64_t start_time);
/* 1 if it has this segment of shared memory, 0 if not, -1 if that cannot be seen. */
int wti_proc_has_segment(uint32_t pid, int segment);
uint32_t wti_proc_last_pid(void);
/* Status of a process that has ended: exit status, minus a signal, or INT32_MIN if not known. */
int32_t wti_proc_exit_status(uint32_t pid, int pidfd);
int wti_pidfd_open(uint32_t pid);

#endif
