/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sorts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sorts.h"

/* clang-format off */
static const struct wti_sort_row rows[] = {
	{"read", WTI_SORT_READ, 0, -1},
	{"readv", WTI_SORT_READ, 0, -1},
	{"recvfrom", WTI_SORT_READ, 0, -1},
	{"recvmsg", WTI_SORT_READ, 0, -1},
	{"recvmmsg", WTI_SORT_READ, 0, -1},
	{"getdents64", WTI_SORT_READ, 0, -1},
	{"getdents", WTI_SORT_READ, 0, -1},
	{"sendfile", WTI_SORT_READ, 1, -1},
	{"copy_file_range", WTI_SORT_READ, 0, -1},
	{"pread64", WTI_SORT_READ_AT, 0, -1},
	{"preadv", WTI_SORT_READ_AT, 0, -1},
	{"preadv2", WTI_SORT_READ_AT, 0, -1},
	{"write", WTI_SORT_WRITE, 0, -1},
	{"writev", WTI_SORT_WRITE, 0, -1},
	{"pwrite64", WTI_SORT_WRITE, 0, -1},
	{"pwritev", WTI_SORT_WRITE, 0, -1},
	{"pwritev2", WTI_SORT_WRITE, 0, -1},
	{"sendto", WTI_SORT_WRITE, 0, -1},
	{"sendmsg", WTI_SORT_WRITE, 0, -1},
	{"sendmmsg", WTI_SORT_WRITE, 0, -1},
	{"fsync", WTI_SORT_SYNC, 0, -1},
	{"fdatasync", WTI_SORT_SYNC, 0, -1},
	{"sync_file_range", WTI_SORT_SYNC, 0, -1},
	{"msync", WTI_SORT_SYNC, -1, -1},
	{"sync", WTI_SORT_SYNC, -1, -1},
	{"open", WTI_SORT_OPEN, -1, 0},
	{"creat", WTI_SORT_OPEN, -1, 0},
	{"openat", WTI_SORT_OPEN, 0, 1},
	{"openat2", WTI_SORT_OPEN, 0, 1},
	{"stat", WTI_SORT_LOOK, -1, 0},
	{"lstat", WTI_SORT_LOOK, -1, 0},
	{"newfstatat", WTI_SORT_LOOK, 0, 1},
	{"fstatat64", WTI_SORT_LOOK, 0, 1},
	{"statx", WTI_SORT_LOOK, 0, 1},
	{"access", WTI_SORT_LOOK, -1, 0},
	{"faccessat", WTI_SORT_LOOK, 0, 1},
	{"faccessat2", WTI_SORT_LOOK, 0, 1},
	{"readlink", WTI_SORT_LOOK, -1, 0},
	{"readlinkat", WTI_SORT_LOOK, 0, 1},
	{"statfs", WTI_SORT_LOOK, -1, 0},
	{"getxattr", WTI_SORT_LOOK, -1, 0},
	{"lgetxattr", WTI_SORT_LOOK, -1, 0},
	{"poll", WTI_SORT_WAIT, -1, -1},
	{"ppoll", WTI_SORT_WAIT, -1, -1},
	{"select", WTI_SORT_WAIT, -1, -1},
	{"pselect6", WTI_SORT_WAIT, -1, -1},
	{"epoll_wait", WTI_SORT_WAIT, 0, -1},
	{"epoll_pwait", WTI_SORT_WAIT, 0, -1},
	{"epoll_pwait2", WTI_SORT_WAIT, 0, -1},
	{"futex", WTI_SORT_WAIT, -1, -1},
	{"futex_waitv", WTI_SORT_WAIT, -1, -1},
	{"nanosleep", WTI_SORT_WAIT, -1, -1},
	{"clock_nanosleep", WTI_SORT_WAIT, -1, -1},
	{"wait4", WTI_SORT_WAIT, -1, -1},
	{"waitid", WTI_SORT_WAIT, -1, -1},
	{"pause", WTI_SORT_WAIT, -1, -1},
	{"rt_sigsuspend", WTI_SORT_WAIT, -1, -1},
	{"rt_sigtimedwait", WTI_SORT_WAIT, -1, -1},
	{"accept", WTI_SORT_WAIT, 0, -1},
	{"accept4", WTI_SORT_WAIT, 0, -1},
	{"connect", WTI_SORT_WAIT, 0, -1},
	{"flock", WTI_SORT_WAIT, 0, -1},
	{"semop", WTI_SORT_WAIT, -1, -1},
	{"semtimedop", WTI_SORT_WAIT, -1, -1},
	{"msgrcv", WTI_SORT_WAIT, -1, -1},
	{"io_getevents", WTI_SORT_WAIT, -1, -1},
	{"restart_syscall", WTI_SORT_WAIT, -1, -1},
	{"sched_yield", WTI_SORT_YIELD, -1, -1},
	{"getpid", WTI_SORT_ASK, -1, -1},
	{"gettid", WTI_SORT_ASK, -1, -1},
	{"getppid", WTI_SORT_ASK, -1, -1},
	{"getpgid", WTI_SORT_ASK, -1, -1},
	{"getpgrp", WTI_SORT_ASK, -1, -1},
	{"getsid", WTI_SORT_ASK, -1, -1},
	{"getuid", WTI_SORT_ASK, -1, -1},
	{"geteuid", WTI_SORT_ASK, -1, -1},
	{"getgid", WTI_SORT_ASK, -1, -1},
	{"getegid", WTI_SORT_ASK, -1, -1},
	{"getcwd", WTI_SORT_ASK, -1, -1},
	{"uname", WTI_SORT_ASK, -1, -1},
	{"sysinfo", WTI_SORT_ASK, -1, -1},
	{"getcpu", WTI_SORT_ASK, -1, -1},
	{"getpriority", WTI_SORT_ASK, -1, -1},
	{"sched_getaffinity", WTI_SORT_ASK, -1, -1},
	{"sched_getparam", WTI_SORT_ASK, -1, -1},
	{"sched_getscheduler", WTI_SORT_ASK, -1, -1},
	{"getrlimit", WTI_SORT_ASK, -1, -1},
	{"lseek", WTI_SORT_ASK, 0, -1},
	{"fstat", WTI_SORT_ASK, 0, -1},
	{"fstatfs", WTI_SORT_ASK, 0, -1},
	{"getsockopt", WTI_SORT_ASK, 0, -1},
	{"getsockname", WTI_SORT_ASK, 0, -1},
	{"getpeername", WTI_SORT_ASK, 0, -1},
	{"mincore", WTI_SORT_ASK, -1, -1},
	{"getrandom", WTI_SORT_RANDOM, -1, -1},
	{"clock_gettime", WTI_SORT_CLOCK, -1, -1},
	{"clock_getres", WTI_SORT_CLOCK, -1, -1},
	{"gettimeofday", WTI_SORT_CLOCK, -1, -1},
	{"time", WTI_SORT_CLOCK, -1, -1},
	{"times", WTI_SORT_CLOCK, -1, -1},
	{"getrusage", WTI_SORT_CLOCK, -1, -1},
	{"mmap", WTI_SORT_MAP, 4, -1},
	{"munmap", WTI_SORT_UNMAP, -1, -1},
	{"brk", WTI_SORT_BREAK, -1, -1},
};
/* clang-format on */

static const struct wti_sort_row *row_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].call, name))
			return &rows[i];
	return NULL;
}

struct wti_sorts *wti_sorts_new(void)
{
	static const enum wti_arch archs[] = {WTI_ARCH_X86_64, WTI_ARCH_AARCH64};
	struct wti_sorts *sorts = calloc(1, sizeof(*sorts));

	for (size_t i = 0; sorts && i < 2; i++)
		for (uint32_t nr = 0; nr < WTI_CALLS_MAX; nr++)
			sorts->rows[i][nr] = row_of(wti_call_name(archs[i], nr));
	return sorts;
}

const struct wti_sort_row *wti_sort_of(const struct wti_sorts *sorts,
				       const struct wti_syscall *call)
{
	if ((call->arch != WTI_ARCH_X86_64 && call->arch != WTI_ARCH_AARCH64) ||
	    call->nr >= WTI_CALLS_MAX)
		return NULL;
	return sorts->rows[call->arch - 1][call->nr];
}

bool wti_result_is_momentary(int64_t result)
{
	return result == -EINTR || (result <= -512 && result >= -516);
}
