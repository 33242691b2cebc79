/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: how they are made and end, what they may use, what they learn about the system. */
#include "show.h"

#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- clone ----------------------------------------------------------------------------------- */

/* Flags, and in the lowest byte the signal of the end. */
static void show_clone_flags(struct wti_show *show, uint64_t value)
{
	uint64_t flags = value & ~(uint64_t)CSIGNAL;
	uint32_t signal = (uint32_t)value & CSIGNAL;

	if (flags || !signal)
		wti_say_flags(show, &wti_flags_clone, flags);
	if (!signal)
		return;
	WTI_SHOW(show, "%s", flags ? "|" : "");
	wti_say_signal(show, signal);
}

/* The kernel stores the new process's number there: that is the result. */
static void show_parent_tid(struct wti_show *show, uint64_t address)
{
	WTI_SHOW(show, ", parent_tid=");
	if (show->returned && !show->failed && address)
		WTI_SHOW(show, "[%lld]", (long long)show->call->result);
	else
		wti_say_address(show, address);
}

/* All arguments at once, with names: their order differs between architectures. */
bool wti_type_clone(struct wti_show *show, unsigned i)
{
	bool tls_first = wti_layout(show->call->arch)->clone_tls_first;
	uint64_t flags = wti_arg64(show, 0);

	WTI_SHOW(show, "child_stack=");
	wti_say_address(show, wti_arg64(show, 1));
	WTI_SHOW(show, ", flags=");
	show_clone_flags(show, flags);
	if (flags & (CLONE_PARENT_SETTID | CLONE_PIDFD))
		show_parent_tid(show, wti_arg64(show, 2));
	if (flags & CLONE_SETTLS)
		WTI_SHOW(show, ", tls=%#llx",
			 (unsigned long long)wti_arg64(show, tls_first ? 3 : 4));
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
		WTI_SHOW(show, ", child_tidptr=");
		wti_say_address(show, wti_arg64(show, tls_first ? 4 : 3));
	}
	return true;
}

static void show_clone_where(struct wti_show *show, const uint8_t *at, uint64_t flags)
{
	if (flags & CLONE_PIDFD) {
		WTI_SHOW(show, ", pidfd=");
		wti_say_address(show, wti_get64(at + 8));
	}
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
		WTI_SHOW(show, ", child_tid=");
		wti_say_address(show, wti_get64(at + 16));
	}
	if (flags & CLONE_PARENT_SETTID) {
		WTI_SHOW(show, ", parent_tid=");
		wti_say_address(show, wti_get64(at + 24));
	}
}

/* struct clone_args, of which 64 bytes are what its first version had. */
bool wti_type_clone_args(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 64, WTI_AT_ENTRY);
	uint64_t flags;

	if (!at)
		return true;
	flags = wti_get64(at);
	WTI_SHOW(show, "{flags=");
	wti_say_flags(show, &wti_flags_clone3, flags);
	show_clone_where(show, at, flags);
	WTI_SHOW(show, ", exit_signal=");
	wti_say_signal(show, (uint32_t)wti_get64(at + 32));
	WTI_SHOW(show, ", stack=");
	wti_say_address(show, wti_get64(at + 40));
	WTI_SHOW(show, ", stack_size=%#llx", (unsigned long long)wti_get64(at + 48));
	if (flags & CLONE_SETTLS) {
		WTI_SHOW(show, ", tls=");
		wti_say_address(show, wti_get64(at + 56));
	}
	WTI_SHOW(show, "}");
	if (show->returned && !show->failed && flags & CLONE_PARENT_SETTID)
		WTI_SHOW(show, " => {parent_tid=[%lld]}", (long long)show->call->result);
	return true;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void show_status(struct wti_show *show, int status)
{
	if (WIFSTOPPED(status)) {
		WTI_SHOW(show, "{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		wti_say_signal(show, (uint32_t)WSTOPSIG(status));
		WTI_SHOW(show, "}");
	} else if (WIFSIGNALED(status)) {
		WTI_SHOW(show, "{WIFSIGNALED(s) && WTERMSIG(s) == ");
		wti_say_signal(show, (uint32_t)WTERMSIG(status));
		WTI_SHOW(show, "%s}", WCOREDUMP(status) ? " && WCOREDUMP(s)" : "");
	} else if (WIFEXITED(status)) {
		WTI_SHOW(show, "{WIFEXITED(s) && WEXITSTATUS(s) == %d}", WEXITSTATUS(status));
	} else if (WIFCONTINUED(status)) {
		WTI_SHOW(show, "{WIFCONTINUED(s)}");
	} else {
		WTI_SHOW(show, "%#x", status);
	}
}

/* Not written if nobody was there to wait for. */
bool wti_type_wait_status(struct wti_show *show, unsigned i)
{
	const uint8_t *at;

	if (show->returned && !show->call->result) {
		wti_say_address(show, wti_arg64(show, i));
		return true;
	}
	at = wti_pointed(show, i, 4, WTI_AT_EXIT);
	if (!at)
		return true;
	WTI_SHOW(show, "[");
	show_status(show, (int)wti_get32(at));
	WTI_SHOW(show, "]");
	return true;
}

/* ---- What it may use, what it used ----------------------------------------------------------- */

bool wti_type_rusage_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at;

	/* wait4 and waitid fill it only if they found somebody. */
	if (show->returned && !show->call->result && show->what->result == WTI_RESULT_PID) {
		wti_say_address(show, wti_arg64(show, i));
		return true;
	}
	at = wti_pointed(show, i, 32, WTI_AT_EXIT);
	if (!at)
		return true;
	WTI_SHOW(show, "{ru_utime=");
	wti_say_timeval(show, at);
	WTI_SHOW(show, ", ru_stime=");
	wti_say_timeval(show, at + 16);
	WTI_SHOW(show, ", ...}");
	return true;
}

static void show_limit(struct wti_show *show, uint64_t limit)
{
	if (limit == RLIM_INFINITY)
		WTI_SHOW(show, "RLIM64_INFINITY");
	else if (limit > 1024 && limit % 1024 == 0)
		WTI_SHOW(show, "%llu*1024", (unsigned long long)limit / 1024);
	else
		WTI_SHOW(show, "%llu", (unsigned long long)limit);
}

static bool show_limits(struct wti_show *show, unsigned i, uint8_t when)
{
	const uint8_t *at = wti_pointed(show, i, 16, when);

	if (!at)
		return true;
	WTI_SHOW(show, "{rlim_cur=");
	show_limit(show, wti_get64(at));
	WTI_SHOW(show, ", rlim_max=");
	show_limit(show, wti_get64(at + 8));
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_rlimit(struct wti_show *show, unsigned i)
{
	return show_limits(show, i, WTI_AT_ENTRY);
}

bool wti_type_rlimit_out(struct wti_show *show, unsigned i)
{
	return show_limits(show, i, WTI_AT_EXIT);
}

bool wti_type_tms_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 32, WTI_AT_EXIT);

	if (at)
		WTI_SHOW(show, "{tms_utime=%llu, tms_stime=%llu, tms_cutime=%llu, tms_cstime=%llu}",
			 (unsigned long long)wti_get64(at), (unsigned long long)wti_get64(at + 8),
			 (unsigned long long)wti_get64(at + 16),
			 (unsigned long long)wti_get64(at + 24));
	return true;
}

/* ---- The system ------------------------------------------------------------------------------ */

bool wti_type_utsname_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 130, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "{sysname=");
	wti_say_quoted(show, at, strnlen((const char *)at, 65));
	WTI_SHOW(show, ", nodename=");
	wti_say_quoted(show, at + 65, strnlen((const char *)at + 65, 65));
	WTI_SHOW(show, ", ...}");
	return true;
}

bool wti_type_sysinfo_out(struct wti_show *show, unsigned i)
{
	static const char *const names[] = {"totalram",  "freeram",   "sharedram",
					    "bufferram", "totalswap", "freeswap"};
	const uint8_t *at = wti_pointed(show, i, 112, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "{uptime=%llu, loads=[%llu, %llu, %llu]", (unsigned long long)wti_get64(at),
		 (unsigned long long)wti_get64(at + 8), (unsigned long long)wti_get64(at + 16),
		 (unsigned long long)wti_get64(at + 24));
	for (size_t k = 0; k < 6; k++)
		WTI_SHOW(show, ", %s=%llu", names[k],
			 (unsigned long long)wti_get64(at + 32 + 8 * k));
	WTI_SHOW(show, ", procs=%u, totalhigh=%llu, freehigh=%llu, mem_unit=%u}",
		 wti_get16(at + 80), (unsigned long long)wti_get64(at + 88),
		 (unsigned long long)wti_get64(at + 96), wti_get32(at + 104));
	return true;
}

bool wti_type_personality(struct wti_show *show, unsigned i)
{
	uint32_t value = wti_arg32(show, i);

	if (value == UINT32_MAX) {
		WTI_SHOW(show, "0xffffffff");
		return true;
	}
	wti_say_enum(show, &wti_flags_personality, value & 0xff);
	wti_say_more_flags(show, &wti_flags_personality_flags, value & ~0xffu);
	return true;
}

/* What was interrupted is another event. */
bool wti_type_restarted(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "<... resuming interrupted system call ...>");
	return true;
}
