/* SPDX-License-Identifier: Apache-2.0 */
/* What a call returned, if it did not fail: one function for each `->` of schema/syscalls.txt. */
#include "show.h"

#include <fcntl.h>
#include <linux/prctl.h>

void wti_result_int(struct wti_show *show)
{
	WTI_SHOW(show, "%lld", (long long)show->call->result);
}

void wti_result_uint(struct wti_show *show)
{
	WTI_SHOW(show, "%llu", (unsigned long long)show->call->result);
}

void wti_result_pid(struct wti_show *show)
{
	wti_result_int(show);
}

/* The descriptor is already what the call made of it. */
void wti_result_fd(struct wti_show *show)
{
	if (show->call->result < 0 || show->call->result > INT32_MAX)
		wti_result_int(show);
	else
		wti_say_fd(show, (int32_t)show->call->result);
}

void wti_result_addr(struct wti_show *show)
{
	WTI_SHOW(show, "%#llx", (unsigned long long)show->call->result);
}

void wti_result_oct(struct wti_show *show)
{
	WTI_SHOW(show, "%#03llo", (unsigned long long)show->call->result);
}

/* Of calls that do not return. */
void wti_result_none(struct wti_show *show)
{
	wti_result_int(show);
}

/* 18 (SIGCONT) */
void wti_result_signal(struct wti_show *show)
{
	WTI_SHOW(show, "%lld", (long long)show->call->result);
	if (show->call->result <= 0)
		return;
	WTI_SHOW(show, " (");
	wti_say_signal(show, (uint32_t)show->call->result);
	WTI_SHOW(show, ")");
}

void wti_result_scheduler(struct wti_show *show)
{
	WTI_SHOW(show, "%lld (", (long long)show->call->result);
	wti_say_enum(show, &wti_flags_scheduler, (uint64_t)show->call->result);
	WTI_SHOW(show, ")");
}

void wti_result_personality(struct wti_show *show)
{
	uint64_t value = (uint64_t)show->call->result;

	WTI_SHOW(show, "%#llx (", (unsigned long long)value);
	wti_say_enum(show, &wti_flags_personality, value & 0xff);
	wti_say_more_flags(show, &wti_flags_personality_flags, value & ~UINT64_C(0xff));
	WTI_SHOW(show, ")");
}

/* MEMBARRIER_CMD_QUERY returns a set of commands, every other nothing. */
void wti_result_membarrier(struct wti_show *show)
{
	uint64_t value = (uint64_t)show->call->result;

	if (wti_arg32(show, 0) || !value) {
		wti_result_int(show);
		return;
	}
	WTI_SHOW(show, "%#llx (", (unsigned long long)value);
	wti_say_flags(show, &wti_flags_membarrier, value);
	WTI_SHOW(show, ")");
}

void wti_result_fcntl(struct wti_show *show)
{
	uint64_t value = (uint64_t)show->call->result;

	switch (wti_arg32(show, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		wti_result_fd(show);
		return;
	case F_GETFD:
		WTI_SHOW(show, value ? "%#llx (flags " : "%llu", (unsigned long long)value);
		if (!value)
			return;
		wti_say_flags(show, &wti_flags_fd_flags, value);
		break;
	case F_GETFL:
		WTI_SHOW(show, "%#llx (flags ", (unsigned long long)value);
		wti_say_open_flags(show, (uint32_t)value);
		break;
	case F_GET_SEALS:
		WTI_SHOW(show, value ? "%#llx (seals " : "%llu", (unsigned long long)value);
		if (!value)
			return;
		wti_say_flags(show, &wti_flags_seals, value);
		break;
	case F_GETLEASE:
		WTI_SHOW(show, "%#llx (", (unsigned long long)value);
		wti_say_enum(show, &wti_flags_lease, value);
		break;
	case F_GETSIG:
		WTI_SHOW(show, "%llu", (unsigned long long)value);
		if (!value)
			return;
		WTI_SHOW(show, " (");
		wti_say_signal(show, (uint32_t)value);
		break;
	default:
		wti_result_int(show);
		return;
	}
	WTI_SHOW(show, ")");
}

void wti_result_prctl(struct wti_show *show)
{
	uint64_t value = (uint64_t)show->call->result;

	wti_result_int(show);
	if (wti_arg32(show, 0) == PR_GET_DUMPABLE) {
		WTI_SHOW(show, " (");
		wti_say_enum(show, &wti_flags_dumpable, value);
		WTI_SHOW(show, ")");
	}
}
