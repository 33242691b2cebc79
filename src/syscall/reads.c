/* SPDX-License-Identifier: Apache-2.0 */
/* What memory the types of arguments need: a few rows a type. */
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <string.h>

#include "described.h"
#include "layout.h"

#define ROWS_MAX 9

/* What is read behind an argument of a type; another one, if its length is there, is the call's. */
struct row {
	uint8_t kind;
	uint8_t when;
	uint8_t flags;
	uint8_t length;
	uint16_t bytes;     /* of one unit */
	uint16_t bytes_max; /* 0: as many as `bytes` */
	uint8_t if_arg;     /* plus one; 0: always */
	uint32_t if_mask;
	uint32_t if_value;
};

#define IN(n)                                                                                      \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_ENTRY, WTI_READ_CONSTANT, WTI_LENGTH_FIXED, n               \
	}
#define BEFORE(n)                                                                                  \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_ENTRY, 0, WTI_LENGTH_FIXED, n                               \
	}
#define OUT(n)                                                                                     \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_FIXED, n                                \
	}
#define IN_IF(n, arg, mask, value)                                                                 \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_ENTRY, 0, WTI_LENGTH_FIXED, n, 0, (arg) + 1, mask, value    \
	}
#define OUT_IF(n, arg, mask, value)                                                                \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_FIXED, n, 0, (arg) + 1, mask, value     \
	}
#define IN_ARRAY(unit, most)                                                                       \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_ENTRY, WTI_READ_CONSTANT, WTI_LENGTH_ARG, unit, most        \
	}
#define OUT_ARRAY(unit, most)                                                                      \
	{                                                                                          \
		WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_RESULT, unit, most                      \
	}
#define TEXT(most)                                                                                 \
	{                                                                                          \
		WTI_READ_STRING, WTI_AT_ENTRY, WTI_READ_CONSTANT, WTI_LENGTH_FIXED, 0, most        \
	}
#define ALL_BITS UINT32_MAX
/* ARCH_GET_FS and ARCH_GET_GS; <asm/prctl.h> has them on x86-64 only. */
#define ARCH_GET 0x1002u
#define FUTEX_COMMAND (~(uint32_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME))

static const struct row rows[WTI_TYPE_COUNT][ROWS_MAX] = {
	/* Text and contents. */
	[WTI_TYPE_PATH] = {TEXT(WTI_READ_PATH_MAX)},
	[WTI_TYPE_STRING] = {TEXT(WTI_READ_CONTENT_MAX)},
	[WTI_TYPE_PATH_OUT] = {{WTI_READ_STRING, WTI_AT_EXIT, 0, 0, 0, WTI_READ_PATH_MAX}},
	[WTI_TYPE_LINK_OUT] = {OUT_ARRAY(1, WTI_READ_PATH_MAX)},
	[WTI_TYPE_STRINGS] = {{WTI_READ_STRINGS, WTI_AT_ENTRY, 0, 0, WTI_READ_CONTENT_MAX,
			       8 * (WTI_READ_STRINGS_MAX + 1)}},
	[WTI_TYPE_ENVIRONMENT] = {{WTI_READ_STRINGS, WTI_AT_ENTRY, 0, 0, 0, 4096}},
	[WTI_TYPE_BUFFER] = {{WTI_READ_BYTES, WTI_AT_ENTRY, WTI_READ_CONSTANT | WTI_READ_CONTENT,
			      WTI_LENGTH_ARG, 1, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_BUFFER_OUT] = {{WTI_READ_BYTES, WTI_AT_EXIT, WTI_READ_CONTENT, WTI_LENGTH_RESULT,
				  1, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_RANDOM_OUT] = {{WTI_READ_BYTES, WTI_AT_EXIT, WTI_READ_CONTENT, WTI_LENGTH_RESULT,
				  1, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_IOVEC] = {{WTI_READ_IOVEC, WTI_AT_ENTRY, WTI_READ_CONSTANT | WTI_READ_CONTENT,
			     WTI_LENGTH_ARG, 16, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_IOVEC_OUT] = {{WTI_READ_IOVEC, WTI_AT_EXIT, WTI_READ_CONTENT, WTI_LENGTH_ARG, 16,
				 WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_IOVEC_RESULT] = {{WTI_READ_IOVEC, WTI_AT_EXIT, WTI_READ_CONTENT, WTI_LENGTH_ARG,
				    16, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_IOVEC_PLACES] = {IN_ARRAY(16, 16 * WTI_READ_IOVECS_MAX)},
	[WTI_TYPE_MSGHDR] = {{WTI_READ_MSGHDR, WTI_AT_ENTRY, WTI_READ_CONSTANT | WTI_READ_CONTENT,
			      WTI_LENGTH_FIXED, 56, WTI_READ_CONTENT_MAX}},
	/* The first of them, which begins with its message; the others mostly go to the same. */
	[WTI_TYPE_MMSGHDR] = {{WTI_READ_MSGHDR, WTI_AT_ENTRY, WTI_READ_CONSTANT | WTI_READ_CONTENT,
			       WTI_LENGTH_FIXED, 56, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_MSGHDR_OUT] = {BEFORE(56),
				 {WTI_READ_MSGHDR, WTI_AT_EXIT, WTI_READ_CONTENT, WTI_LENGTH_FIXED,
				  56, WTI_READ_CONTENT_MAX}},
	[WTI_TYPE_DIRENTS_OUT] = {OUT_ARRAY(1, 8192)},

	/* Numbers that are pointed to. */
	[WTI_TYPE_FDS_OUT] = {OUT(8)},
	[WTI_TYPE_INT_IN] = {IN(4)},
	[WTI_TYPE_INT_OUT] = {OUT(4)},
	[WTI_TYPE_UINT_OUT] = {OUT(4)},
	[WTI_TYPE_ID_OUT] = {OUT(4)},
	[WTI_TYPE_TIMER_OUT] = {OUT(4)},
	[WTI_TYPE_TIME_OUT] = {OUT(8)},
	[WTI_TYPE_ULONG_OUT] = {OUT(8)},
	[WTI_TYPE_POINTER_OUT] = {OUT(8)},
	[WTI_TYPE_MEMPOLICY_OUT] = {OUT(4)},
	[WTI_TYPE_OFFSET_IN] = {BEFORE(8)},
	[WTI_TYPE_OFFSET_IO] = {BEFORE(8), OUT(8)},
	[WTI_TYPE_IDS] = {IN_ARRAY(4, 256)},
	[WTI_TYPE_IDS_OUT] = {OUT_ARRAY(4, 256)},
	[WTI_TYPE_CPUSET] = {IN_ARRAY(1, 128)},
	[WTI_TYPE_CPUSET_OUT] = {OUT_ARRAY(1, 128)},

	/* Files. */
	[WTI_TYPE_STAT_OUT] = {OUT(WTI_STAT_BYTES_MAX)},
	[WTI_TYPE_STATX_OUT] = {OUT(256)},
	[WTI_TYPE_STATFS_OUT] = {OUT(120)},
	[WTI_TYPE_OPEN_HOW] = {IN_ARRAY(1, 64)},
	[WTI_TYPE_TIMEVAL2] = {IN(32)},
	[WTI_TYPE_TIMESPEC2] = {IN(32)},
	[WTI_TYPE_FCNTL_ARG] = {IN_IF(32, 1, ~1u, F_SETLK), IN_IF(32, 1, ALL_BITS, F_GETLK),
				OUT_IF(32, 1, ALL_BITS, F_GETLK),
				IN_IF(32, 1, ALL_BITS, F_OFD_GETLK),
				OUT_IF(32, 1, ALL_BITS, F_OFD_GETLK),
				IN_IF(32, 1, ALL_BITS, F_OFD_SETLK),
				IN_IF(32, 1, ALL_BITS, F_OFD_SETLKW)},
	[WTI_TYPE_IOCTL_ARG] = {OUT_IF(36, 1, ALL_BITS, TCGETS), IN_IF(36, 1, ~1u, TCSETS),
				IN_IF(36, 1, ALL_BITS, TCSETSF), OUT_IF(8, 1, ALL_BITS, TIOCGWINSZ),
				IN_IF(8, 1, ALL_BITS, TIOCSWINSZ), OUT_IF(4, 1, ALL_BITS, FIONREAD),
				IN_IF(4, 1, ALL_BITS, FIONBIO), OUT_IF(4, 1, ALL_BITS, TIOCGPGRP),
				IN_IF(4, 1, ALL_BITS, TIOCSPGRP)},

	/* Processes and the system. */
	[WTI_TYPE_CLONE_ARGS] = {IN_ARRAY(1, 128)},
	[WTI_TYPE_WAIT_STATUS] = {OUT(4)},
	[WTI_TYPE_RUSAGE_OUT] = {OUT(144)},
	[WTI_TYPE_RLIMIT] = {IN(16)},
	[WTI_TYPE_RLIMIT_OUT] = {OUT(16)},
	[WTI_TYPE_UTSNAME_OUT] = {OUT(390)},
	[WTI_TYPE_SYSINFO_OUT] = {OUT(112)},
	[WTI_TYPE_TMS_OUT] = {OUT(32)},
	[WTI_TYPE_SCHED_ATTR] = {IN(56)},
	[WTI_TYPE_SCHED_ATTR_OUT] = {OUT(56)},
	[WTI_TYPE_CAP_HEADER] = {BEFORE(8)},
	[WTI_TYPE_CAP_DATA] = {IN(24)},
	[WTI_TYPE_CAP_DATA_OUT] = {OUT(24)},
	[WTI_TYPE_PRCTL_ARG] = {{WTI_READ_STRING, WTI_AT_ENTRY, 0, 0, 0, 16, 1, ALL_BITS,
				 PR_SET_NAME},
				{WTI_READ_STRING, WTI_AT_EXIT, 0, 0, 0, 16, 1, ALL_BITS,
				 PR_GET_NAME},
				OUT_IF(4, 0, ALL_BITS, PR_GET_PDEATHSIG),
				OUT_IF(4, 0, ALL_BITS, PR_GET_CHILD_SUBREAPER),
				OUT_IF(8, 0, ALL_BITS, PR_GET_TID_ADDRESS)},
	[WTI_TYPE_PRCTL_FILTER] = {IN_IF(16, 0, ALL_BITS, PR_SET_SECCOMP)},
	[WTI_TYPE_SECCOMP_ARG] = {IN_IF(16, 0, ALL_BITS, SECCOMP_SET_MODE_FILTER),
				  IN_IF(4, 0, ALL_BITS, SECCOMP_GET_ACTION_AVAIL)},
	[WTI_TYPE_ARCH_PRCTL_ARG] = {OUT_IF(8, 0, ~1u, ARCH_GET)},
	[WTI_TYPE_HOST_NAME] = {IN_ARRAY(1, 64)},
	[WTI_TYPE_FUTEX_TIMEOUT] = {IN_IF(16, 1, FUTEX_COMMAND, FUTEX_WAIT),
				    IN_IF(16, 1, FUTEX_COMMAND, FUTEX_WAIT_BITSET),
				    IN_IF(16, 1, FUTEX_COMMAND, FUTEX_LOCK_PI),
				    IN_IF(16, 1, FUTEX_COMMAND, FUTEX_LOCK_PI2),
				    IN_IF(16, 1, FUTEX_COMMAND, FUTEX_WAIT_REQUEUE_PI)},

	/* Signals and time. */
	[WTI_TYPE_SIGSET] = {IN_ARRAY(1, 8)},
	[WTI_TYPE_SIGSET_OUT] = {{WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_ARG, 1, 8}},
	[WTI_TYPE_SIGACTION] = {BEFORE(32)},
	[WTI_TYPE_SIGACTION_OUT] = {OUT(32)},
	[WTI_TYPE_SIGALTSTACK] = {BEFORE(24)},
	[WTI_TYPE_SIGALTSTACK_OUT] = {OUT(24)},
	[WTI_TYPE_SIGINFO] = {IN(128)},
	[WTI_TYPE_SIGINFO_OUT] = {OUT(128)},
	[WTI_TYPE_SIGEVENT] = {IN(64)},
	[WTI_TYPE_TIMESPEC] = {IN(16)},
	[WTI_TYPE_TIMESPEC_OUT] = {OUT(16)},
	[WTI_TYPE_TIMESPEC_IO] = {BEFORE(16), OUT(16)},
	[WTI_TYPE_TIMESPEC_LEFT] = {{WTI_READ_BYTES, WTI_AT_EXIT, WTI_READ_ON_ERROR,
				     WTI_LENGTH_FIXED, 16}},
	[WTI_TYPE_TIMEVAL] = {IN(16)},
	[WTI_TYPE_TIMEVAL_OUT] = {OUT(16)},
	[WTI_TYPE_TIMEVAL_IO] = {BEFORE(16), OUT(16)},
	[WTI_TYPE_TIMEZONE] = {IN(8)},
	[WTI_TYPE_TIMEZONE_OUT] = {OUT(8)},
	[WTI_TYPE_ITIMERVAL] = {BEFORE(32)},
	[WTI_TYPE_ITIMERVAL_OUT] = {OUT(32)},
	[WTI_TYPE_ITIMERSPEC] = {BEFORE(32)},
	[WTI_TYPE_ITIMERSPEC_OUT] = {OUT(32)},

	/* Descriptors and sockets. */
	[WTI_TYPE_POLLFDS] = {{WTI_READ_BYTES, WTI_AT_ENTRY, 0, WTI_LENGTH_ARG, 8, 512},
			      {WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_ARG, 8, 512}},
	[WTI_TYPE_FDSET] = {{WTI_READ_BYTES, WTI_AT_ENTRY, 0, WTI_LENGTH_BITS, 1, 128},
			    {WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_BITS, 1, 128}},
	[WTI_TYPE_PSELECT_MASK] = {IN(16)},
	[WTI_TYPE_EPOLL_EVENT] = {IN(WTI_EPOLL_BYTES_MAX)},
	[WTI_TYPE_EPOLL_EVENTS_OUT] = {OUT_ARRAY(WTI_EPOLL_BYTES_MAX, 1024)},
	[WTI_TYPE_SOCKADDR] = {IN_ARRAY(1, 128)},
	[WTI_TYPE_SOCKADDR_OUT] = {{WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_POINTED, 1, 128}},
	[WTI_TYPE_LENGTH_IO] = {BEFORE(4), OUT(4)},
	[WTI_TYPE_OPTION_VALUE] = {IN_ARRAY(1, 128)},
	[WTI_TYPE_OPTION_VALUE_OUT] = {{WTI_READ_BYTES, WTI_AT_EXIT, 0, WTI_LENGTH_POINTED, 1,
					128}},
	[WTI_TYPE_SEMBUFS] = {IN_ARRAY(6, 192)},
	[WTI_TYPE_MQ_ATTR] = {IN(64)},
};

/* Two structures differ between the architectures. */
static uint16_t unit_of(enum wti_arch arch, enum wti_type type, uint16_t bytes)
{
	if (type == WTI_TYPE_STAT_OUT)
		return wti_layout(arch)->stat_bytes;
	if (type == WTI_TYPE_EPOLL_EVENT || type == WTI_TYPE_EPOLL_EVENTS_OUT)
		return wti_layout(arch)->epoll_bytes;
	return bytes;
}

static struct wti_read read_of(enum wti_arch arch, const struct wti_described *call, uint8_t i,
			       const struct row *row)
{
	uint16_t unit = unit_of(arch, call->args[i].type, row->bytes);
	/* A new program has none of the old one's memory: what exec was given is gone at its end.
	 */
	bool gone = !strncmp(call->name, "exec", 4);

	return (struct wti_read){
		.arg = i,
		.kind = row->kind,
		.when = row->when,
		.flags = gone ? row->flags & (uint8_t)~WTI_READ_CONSTANT : row->flags,
		.length = row->length,
		.length_arg = call->args[i].other,
		.if_arg = row->if_arg ? row->if_arg - 1 : WTI_READ_ALWAYS,
		.unit_bytes = unit,
		.bytes_max = row->bytes_max ? row->bytes_max : unit,
		.if_mask = row->if_mask,
		.if_value = row->if_value,
	};
}

size_t wti_call_reads(enum wti_arch arch, uint32_t nr, struct wti_read reads[WTI_READS_MAX])
{
	const struct wti_described *call = wti_described(arch, nr);
	size_t count = 0;

	for (uint8_t i = 0; call && i < call->arg_count; i++) {
		const struct row *row = rows[call->args[i].type];

		for (unsigned j = 0; j < ROWS_MAX && row[j].kind && count < WTI_READS_MAX; j++)
			reads[count++] = read_of(arch, call, i, &row[j]);
	}
	return count;
}
