/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds of requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"

/* clang-format off */
static const struct wti_request_row rows[] = {
	{"read", WTI_REQUEST_READ, 0, -1},
	{"readv", WTI_REQUEST_READ, 0, -1},
	{"recvfrom", WTI_REQUEST_READ, 0, -1},
	{"recvmsg", WTI_REQUEST_READ, 0, -1},
	{"recvmmsg", WTI_REQUEST_READ, 0, -1},
	{"getdents64", WTI_REQUEST_READ, 0, -1},
	{"getdents", WTI_REQUEST_READ, 0, -1},
	{"sendfile", WTI_REQUEST_READ, 1, -1},
	{"copy_file_range", WTI_REQUEST_READ, 0, -1},
	{"pread64", WTI_REQUEST_READ_AT, 0, -1},
	{"preadv", WTI_REQUEST_READ_AT, 0, -1},
	{"preadv2", WTI_REQUEST_READ_AT, 0, -1},
	{"write", WTI_REQUEST_WRITE, 0, -1},
	{"writev", WTI_REQUEST_WRITE, 0, -1},
	{"pwrite64", WTI_REQUEST_WRITE, 0, -1},
	{"pwritev", WTI_REQUEST_WRITE, 0, -1},
	{"pwritev2", WTI_REQUEST_WRITE, 0, -1},
	{"sendto", WTI_REQUEST_WRITE, 0, -1},
	{"sendmsg", WTI_REQUEST_WRITE, 0, -1},
	{"sendmmsg", WTI_REQUEST_WRITE, 0, -1},
	{"fsync", WTI_REQUEST_SYNC, 0, -1},
	{"fdatasync", WTI_REQUEST_SYNC, 0, -1},
	{"sync_file_range", WTI_REQUEST_SYNC, 0, -1},
	{"msync", WTI_REQUEST_SYNC, -1, -1},
	{"sync", WTI_REQUEST_SYNC, -1, -1},
	{"open", WTI_REQUEST_OPEN, -1, 0},
	{"creat", WTI_REQUEST_OPEN, -1, 0},
	{"openat", WTI_REQUEST_OPEN, 0, 1},
	{"openat2", WTI_REQUEST_OPEN, 0, 1},
	{"stat", WTI_REQUEST_LOOK, -1, 0},
	{"lstat", WTI_REQUEST_LOOK, -1, 0},
	{"newfstatat", WTI_REQUEST_LOOK, 0, 1},
	{"fstatat64", WTI_REQUEST_LOOK, 0, 1},
	{"statx", WTI_REQUEST_LOOK, 0, 1},
	{"access", WTI_REQUEST_LOOK, -1, 0},
	{"faccessat", WTI_REQUEST_LOOK, 0, 1},
	{"faccessat2", WTI_REQUEST_LOOK, 0, 1},
	{"readlink", WTI_REQUEST_LOOK, -1, 0},
	{"readlinkat", WTI_REQUEST_LOOK, 0, 1},
	{"statfs", WTI_REQUEST_LOOK, -1, 0},
	{"getxattr", WTI_REQUEST_LOOK, -1, 0},
	{"lgetxattr", WTI_REQUEST_LOOK, -1, 0},
	{"poll", WTI_REQUEST_WAIT, -1, -1},
	{"ppoll", WTI_REQUEST_WAIT, -1, -1},
	{"select", WTI_REQUEST_WAIT, -1, -1},
	{"pselect6", WTI_REQUEST_WAIT, -1, -1},
	{"epoll_wait", WTI_REQUEST_WAIT, 0, -1},
	{"epoll_pwait", WTI_REQUEST_WAIT, 0, -1},
	{"epoll_pwait2", WTI_REQUEST_WAIT, 0, -1},
	{"futex", WTI_REQUEST_WAIT, -1, -1},
	{"futex_waitv", WTI_REQUEST_WAIT, -1, -1},
	{"nanosleep", WTI_REQUEST_WAIT, -1, -1},
	{"clock_nanosleep", WTI_REQUEST_WAIT, -1, -1},
	{"wait4", WTI_REQUEST_WAIT, -1, -1},
	{"waitid", WTI_REQUEST_WAIT, -1, -1},
	{"pause", WTI_REQUEST_WAIT, -1, -1},
	{"rt_sigsuspend", WTI_REQUEST_WAIT, -1, -1},
	{"rt_sigtimedwait", WTI_REQUEST_WAIT, -1, -1},
	{"accept", WTI_REQUEST_WAIT, 0, -1},
	{"accept4", WTI_REQUEST_WAIT, 0, -1},
	{"connect", WTI_REQUEST_WAIT, 0, -1},
	{"flock", WTI_REQUEST_WAIT, 0, -1},
	{"semop", WTI_REQUEST_WAIT, -1, -1},
	{"semtimedop", WTI_REQUEST_WAIT, -1, -1},
	{"msgrcv", WTI_REQUEST_WAIT, -1, -1},
	{"io_getevents", WTI_REQUEST_WAIT, -1, -1},
	{"restart_syscall", WTI_REQUEST_WAIT, -1, -1},
	{"sched_yield", WTI_REQUEST_YIELD, -1, -1},
	{"getpid", WTI_REQUEST_ASK, -1, -1},
	{"gettid", WTI_REQUEST_ASK, -1, -1},
	{"getppid", WTI_REQUEST_ASK, -1, -1},
	{"getpgid", WTI_REQUEST_ASK, -1, -1},
	{"getpgrp", WTI_REQUEST_ASK, -1, -1},
	{"getsid", WTI_REQUEST_ASK, -1, -1},
	{"getuid", WTI_REQUEST_ASK, -1, -1},
	{"geteuid", WTI_REQUEST_ASK, -1, -1},
	{"getgid", WTI_REQUEST_ASK, -1, -1},
	{"getegid", WTI_REQUEST_ASK, -1, -1},
	{"getcwd", WTI_REQUEST_ASK, -1, -1},
	{"uname", WTI_REQUEST_ASK, -1, -1},
	{"sysinfo", WTI_REQUEST_ASK, -1, -1},
	{"getcpu", WTI_REQUEST_ASK, -1, -1},
	{"getpriority", WTI_REQUEST_ASK, -1, -1},
	{"sched_getaffinity", WTI_REQUEST_ASK, -1, -1},
	{"sched_getparam", WTI_REQUEST_ASK, -1, -1},
	{"sched_getscheduler", WTI_REQUEST_ASK, -1, -1},
	{"getrlimit", WTI_REQUEST_ASK, -1, -1},
	{"lseek", WTI_REQUEST_ASK, 0, -1},
	{"fstat", WTI_REQUEST_ASK, 0, -1},
	{"fstatfs", WTI_REQUEST_ASK, 0, -1},
	{"getsockopt", WTI_REQUEST_ASK, 0, -1},
	{"getsockname", WTI_REQUEST_ASK, 0, -1},
	{"getpeername", WTI_REQUEST_ASK, 0, -1},
	{"mincore", WTI_REQUEST_ASK, -1, -1},
	{"getrandom", WTI_REQUEST_RANDOM, -1, -1},
	{"clock_gettime", WTI_REQUEST_CLOCK, -1, -1},
	{"clock_getres", WTI_REQUEST_CLOCK, -1, -1},
	{"gettimeofday", WTI_REQUEST_CLOCK, -1, -1},
	{"time", WTI_REQUEST_CLOCK, -1, -1},
	{"times", WTI_REQUEST_CLOCK, -1, -1},
	{"getrusage", WTI_REQUEST_CLOCK, -1, -1},
	{"mmap", WTI_REQUEST_MAP, 4, -1},
	{"munmap", WTI_REQUEST_UNMAP, -1, -1},
	{"brk", WTI_REQUEST_BREAK, -1, -1},
};
/* clang-format on */

static const struct wti_request_row *row_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].call, name))
			return &rows[i];
	return NULL;
}

struct wti_requests *wti_requests_new(void)
{
	static const enum wti_arch archs[] = {WTI_ARCH_X86_64, WTI_ARCH_AARCH64};
	struct wti_requests *requests = calloc(1, sizeof(*requests));

	for (size_t i = 0; requests && i < 2; i++)
		for (uint32_t nr = 0; nr < WTI_CALLS_MAX; nr++)
			requests->rows[i][nr] = row_of(wti_call_name(archs[i], nr));
	return requests;
}

const struct wti_request_row *wti_request_of(const struct wti_requests *requests,
					     const struct wti_syscall *call)
{
	if ((call->arch != WTI_ARCH_X86_64 && call->arch != WTI_ARCH_AARCH64) ||
	    call->nr >= WTI_CALLS_MAX)
		return NULL;
	return requests->rows[call->arch - 1][call->nr];
}

bool wti_result_is_momentary(int64_t result)
{
	return result == -EINTR || (result <= -512 && result >= -516);
}
