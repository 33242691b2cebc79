/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are many calls: prctl, futex, ptrace, seccomp; scheduling and capabilities. */
#include "show.h"

#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>

/* ---- futex ----------------------------------------------------------------------------------- */

static uint32_t futex_command(const struct wti_show *show)
{
	return wti_arg32(show, 1) & ~(uint32_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
}

bool wti_type_futex_op(struct wti_show *show, unsigned i)
{
	uint32_t op = wti_arg32(show, i);
	const char *name = wti_flag_name(&wti_flags_futex, futex_command(show));

	if (!name) {
		wti_say_enum(show, &wti_flags_futex, op);
		return true;
	}
	WTI_SHOW(show, "%s%s%s", name, op & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
		 op & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
	return true;
}

bool wti_type_futex_value(struct wti_show *show, unsigned i)
{
	switch (futex_command(show)) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_UNLOCK_PI:
	case FUTEX_TRYLOCK_PI:
		return false;
	default:
		return wti_type_uint(show, i);
	}
}

/* A time, a second number, or nothing. */
bool wti_type_futex_timeout(struct wti_show *show, unsigned i)
{
	switch (futex_command(show)) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return wti_type_timespec(show, i);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_WAKE_OP:
		return wti_type_uint(show, i);
	case FUTEX_WAKE:
	case FUTEX_FD:
	case FUTEX_WAKE_BITSET:
	case FUTEX_UNLOCK_PI:
	case FUTEX_TRYLOCK_PI:
		return false;
	default:
		return wti_type_hex(show, i);
	}
}

bool wti_type_futex_second(struct wti_show *show, unsigned i)
{
	switch (futex_command(show)) {
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_WAKE_OP:
		return wti_type_addr(show, i);
	default:
		return wti_flag_name(&wti_flags_futex, futex_command(show))
			       ? false
			       : wti_type_addr(show, i);
	}
}

/* FUTEX_OP_SET<<28|0<<12|FUTEX_OP_CMP_GT<<24|0x1 */
static void show_wake_op(struct wti_show *show, uint32_t value)
{
	if (value >> 31)
		WTI_SHOW(show, "FUTEX_OP_OPARG_SHIFT<<28|");
	wti_say_enum(show, &wti_flags_futex_wake_op, value >> 28 & 7);
	WTI_SHOW(show, "<<28|%#x<<12|", value >> 12 & 0xfff);
	wti_say_enum(show, &wti_flags_futex_wake_cmp, value >> 24 & 0xf);
	WTI_SHOW(show, "<<24|%#x", value & 0xfff);
}

bool wti_type_futex_value3(struct wti_show *show, unsigned i)
{
	uint32_t value = wti_arg32(show, i);

	switch (futex_command(show)) {
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAKE_BITSET:
		if (value == FUTEX_BITSET_MATCH_ANY)
			WTI_SHOW(show, "FUTEX_BITSET_MATCH_ANY");
		else
			WTI_SHOW(show, "%#x", value);
		return true;
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return wti_type_uint(show, i);
	case FUTEX_WAKE_OP:
		show_wake_op(show, value);
		return true;
	default:
		return wti_flag_name(&wti_flags_futex, futex_command(show))
			       ? false
			       : wti_type_hexint(show, i);
	}
}

/* ---- prctl ----------------------------------------------------------------------------------- */

/* How many values each takes; those that are not here are shown with all four. */
static const struct {
	uint32_t option;
	uint8_t count;
} prctl_values[] = {
	{PR_SET_PDEATHSIG, 1},
	{PR_GET_PDEATHSIG, 1},
	{PR_GET_DUMPABLE, 0},
	{PR_SET_DUMPABLE, 1},
	{PR_GET_KEEPCAPS, 0},
	{PR_SET_KEEPCAPS, 1},
	{PR_SET_NAME, 1},
	{PR_GET_NAME, 1},
	{PR_GET_SECCOMP, 0},
	{PR_SET_SECCOMP, 2},
	{PR_CAPBSET_READ, 1},
	{PR_CAPBSET_DROP, 1},
	{PR_GET_SECUREBITS, 0},
	{PR_SET_SECUREBITS, 1},
	{PR_SET_TIMERSLACK, 1},
	{PR_GET_TIMERSLACK, 0},
	{PR_SET_CHILD_SUBREAPER, 1},
	{PR_GET_CHILD_SUBREAPER, 1},
	{PR_GET_TID_ADDRESS, 1},
	{PR_TASK_PERF_EVENTS_DISABLE, 0},
	{PR_TASK_PERF_EVENTS_ENABLE, 0},
	{PR_SET_PTRACER, 1},
};

static unsigned prctl_count(uint32_t option)
{
	for (size_t k = 0; k < sizeof(prctl_values) / sizeof(prctl_values[0]); k++) {
		if (prctl_values[k].option == option)
			return prctl_values[k].count;
	}
	return 4;
}

static void show_capability(struct wti_show *show, uint64_t value)
{
	wti_say_enum(show, &wti_flags_capability, value);
}

static bool show_prctl_first(struct wti_show *show, unsigned i)
{
	switch (wti_arg32(show, 0)) {
	case PR_SET_NAME:
		wti_say_text(show, wti_arg64(show, i), 15, WTI_AT_ENTRY);
		return true;
	case PR_GET_NAME:
		if (wti_filled(show, i))
			wti_say_text(show, wti_arg64(show, i), 15, WTI_AT_EXIT);
		return true;
	case PR_SET_PDEATHSIG:
		return wti_type_signal(show, i);
	case PR_GET_CHILD_SUBREAPER:
		return wti_type_uint_out(show, i);
	case PR_GET_TID_ADDRESS:
		return wti_type_pointer_out(show, i);
	case PR_SET_DUMPABLE:
		wti_say_enum(show, &wti_flags_dumpable, wti_arg64(show, i));
		return true;
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
		show_capability(show, wti_arg64(show, i));
		return true;
	case PR_SET_SECCOMP:
		wti_say_enum(show, &wti_flags_seccomp_mode, wti_arg64(show, i));
		return true;
	case PR_SET_TIMERSLACK:
		return wti_type_long(show, i);
	case PR_SET_KEEPCAPS:
	case PR_SET_CHILD_SUBREAPER:
	case PR_SET_NO_NEW_PRIVS:
	case PR_SET_THP_DISABLE:
		return wti_type_ulong(show, i);
	default:
		return wti_type_hex(show, i);
	}
}

static void show_death_signal(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_EXIT);

	if (!at)
		return;
	WTI_SHOW(show, "[");
	wti_say_signal(show, wti_get32(at));
	WTI_SHOW(show, "]");
}

bool wti_type_prctl_arg(struct wti_show *show, unsigned i)
{
	uint32_t option = wti_arg32(show, 0);

	if (i > prctl_count(option))
		return false;
	if (option != PR_GET_PDEATHSIG)
		return show_prctl_first(show, i);
	show_death_signal(show, i);
	return true;
}

bool wti_type_prctl_rest(struct wti_show *show, unsigned i)
{
	return i > prctl_count(wti_arg32(show, 0)) ? false : wti_type_hex(show, i);
}

/* {len=4, filter=0x7ffd0ed53590} */
static bool show_filter(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 16, WTI_AT_ENTRY);

	if (!at)
		return true;
	WTI_SHOW(show, "{len=%u, filter=", wti_get16(at));
	wti_say_address(show, wti_get64(at + 8));
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_prctl_filter(struct wti_show *show, unsigned i)
{
	if (wti_arg32(show, 0) != PR_SET_SECCOMP)
		return wti_type_prctl_rest(show, i);
	if (wti_arg64(show, 1) != SECCOMP_MODE_FILTER)
		return false;
	return show_filter(show, i);
}

/* ---- Others that depend on their first value ------------------------------------------------- */

bool wti_type_arch_prctl_arg(struct wti_show *show, unsigned i)
{
	const char *name = wti_flag_name(&wti_flags_arch_prctl, wti_arg32(show, 0));

	if (!name || (strcmp(name, "ARCH_GET_FS") != 0 && strcmp(name, "ARCH_GET_GS") != 0))
		return wti_type_hex(show, i);
	return wti_type_pointer_out(show, i);
}

bool wti_type_ptrace_pid(struct wti_show *show, unsigned i)
{
	return wti_arg64(show, 0) == PTRACE_TRACEME ? false : wti_type_pid(show, i);
}

bool wti_type_ptrace_arg(struct wti_show *show, unsigned i)
{
	return wti_arg64(show, 0) == PTRACE_TRACEME ? false : wti_type_addr(show, i);
}

bool wti_type_seccomp_arg(struct wti_show *show, unsigned i)
{
	const uint8_t *at;

	if (wti_arg32(show, 0) == SECCOMP_GET_ACTION_AVAIL) {
		at = wti_pointed(show, i, 4, WTI_AT_ENTRY);
		if (!at)
			return true;
		WTI_SHOW(show, "[");
		wti_say_enum(show, &wti_flags_seccomp_action, wti_get32(at));
		WTI_SHOW(show, "]");
		return true;
	}
	if (wti_arg32(show, 0) != SECCOMP_SET_MODE_FILTER)
		return wti_type_addr(show, i);
	return show_filter(show, i);
}

/* Descriptors, if files are compared; what else is compared needs no more. */
bool wti_type_kcmp_index(struct wti_show *show, unsigned i)
{
	uint32_t what = wti_arg32(show, 2);

	if (what == KCMP_FILE)
		return wti_type_fd(show, i);
	if (what == KCMP_EPOLL_TFD || !wti_flag_name(&wti_flags_kcmp, what))
		return wti_type_hex(show, i);
	return false;
}

/* ---- Scheduling ------------------------------------------------------------------------------ */

static bool show_sched_attr(struct wti_show *show, unsigned i, uint8_t when)
{
	const uint8_t *at = wti_pointed(show, i, 48, when);

	if (!at)
		return true;
	WTI_SHOW(show, "{size=%u, sched_policy=", wti_get32(at));
	wti_say_enum(show, &wti_flags_scheduler, wti_get32(at + 4));
	WTI_SHOW(show, ", sched_flags=");
	wti_say_flags(show, &wti_flags_sched_flags, wti_get64(at + 8));
	WTI_SHOW(show,
		 ", sched_nice=%d, sched_priority=%u, sched_runtime=%llu, sched_deadline=%llu, "
		 "sched_period=%llu",
		 (int32_t)wti_get32(at + 16), wti_get32(at + 20),
		 (unsigned long long)wti_get64(at + 24), (unsigned long long)wti_get64(at + 32),
		 (unsigned long long)wti_get64(at + 40));
	if (wti_get32(at) >= 56 && wti_memory(show, wti_arg64(show, i), 56, when))
		WTI_SHOW(show, ", sched_util_min=%u, sched_util_max=%u", wti_get32(at + 48),
			 wti_get32(at + 52));
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_sched_attr(struct wti_show *show, unsigned i)
{
	return show_sched_attr(show, i, WTI_AT_ENTRY);
}

bool wti_type_sched_attr_out(struct wti_show *show, unsigned i)
{
	return show_sched_attr(show, i, WTI_AT_EXIT);
}

/* ---- Capabilities ---------------------------------------------------------------------------- */

bool wti_type_cap_header(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_ENTRY);

	if (!at)
		return true;
	WTI_SHOW(show, "{version=");
	wti_say_enum(show, &wti_flags_capability_version, wti_get32(at));
	WTI_SHOW(show, ", pid=%d}", (int32_t)wti_get32(at + 4));
	return true;
}

/* 1<<CAP_CHOWN|1<<CAP_KILL; with many of them only a number would be readable, but so it is. */
static void show_capabilities(struct wti_show *show, uint64_t set)
{
	const char *between = "";

	if (!set)
		WTI_SHOW(show, "0");
	for (const struct wti_flag *flag = wti_flags_capability.all; flag->name; flag++) {
		if (!(set >> flag->value & 1))
			continue;
		WTI_SHOW(show, "%s1<<%s", between, flag->name);
		between = "|";
		set &= ~(UINT64_C(1) << flag->value);
	}
	if (set)
		WTI_SHOW(show, "%s%#llx", between, (unsigned long long)set);
}

static bool show_cap_data(struct wti_show *show, unsigned i, uint8_t when)
{
	static const char *const names[] = {"{effective=", ", permitted=", ", inheritable="};
	const uint8_t *at = wti_pointed(show, i, 24, when);

	if (!at)
		return true;
	for (size_t k = 0; k < 3; k++) {
		WTI_SHOW(show, "%s", names[k]);
		show_capabilities(show, (uint64_t)wti_get32(at + 12 + 4 * k) << 32 |
						wti_get32(at + 4 * k));
	}
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_cap_data(struct wti_show *show, unsigned i)
{
	return show_cap_data(show, i, WTI_AT_ENTRY);
}

bool wti_type_cap_data_out(struct wti_show *show, unsigned i)
{
	return show_cap_data(show, i, WTI_AT_EXIT);
}
