/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a set of numbers becomes a filter: ranges in rising order, the first that fits ends. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"
#include "raw.h"

#if defined(__x86_64__)
#define AUDIT_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_HERE AUDIT_ARCH_AARCH64
#endif

static void put(struct wti_filter *filter, uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
{
	filter->code[filter->program.len++] =
		(struct sock_filter){.code = code, .jt = yes, .jf = no, .k = value};
}

static void load(struct wti_filter *filter, size_t offset)
{
	put(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void give(struct wti_filter *filter, uint32_t verdict)
{
	put(filter, BPF_RET | BPF_K, 0, 0, verdict);
}

/* Calls of another table have no names to choose by: all of them stop. */
static void put_head(struct wti_filter *filter)
{
	load(filter, offsetof(struct seccomp_data, arch));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_HERE);
	give(filter, SECCOMP_RET_TRACE);
	/* What guests of the recorder say about themselves, and what gets out of sight. */
	load(filter, offsetof(struct seccomp_data, nr));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_prctl);
	load(filter, offsetof(struct seccomp_data, args[0]));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, WTI_OWN_PRCTL);
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PR_SET_SECCOMP);
	give(filter, SECCOMP_RET_TRACE);
	load(filter, offsetof(struct seccomp_data, nr));
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_clone);
	load(filter, offsetof(struct seccomp_data, args[0]));
	put(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_UNTRACED);
	give(filter, SECCOMP_RET_TRACE);
	load(filter, offsetof(struct seccomp_data, nr));
}

/* Numbers from `low` to below `high` stop, those below `low` do not. */
static void put_range(struct wti_filter *filter, uint32_t low, uint32_t high)
{
	put(filter, BPF_JMP | BPF_JGE | BPF_K, 1, 0, low);
	give(filter, SECCOMP_RET_ALLOW);
	put(filter, BPF_JMP | BPF_JGE | BPF_K, 1, 0, high);
	give(filter, SECCOMP_RET_TRACE);
}

bool wti_filter_make(struct wti_filter *filter, const struct wti_call_set *wanted)
{
	filter->program = (struct sock_fprog){.filter = filter->code};
	put_head(filter);
	for (uint32_t low = 0; low < WTI_CALLS_MAX; low++) {
		uint32_t high = low;

		while (high < WTI_CALLS_MAX && wti_call_set_has(wanted, high))
			high++;
		if (high == low)
			continue;
		if (filter->program.len + 5u > WTI_FILTER_MAX)
			return false;
		put_range(filter, low, high);
		low = high;
	}
	/* Numbers that no table has, those of x32 among them. */
	put(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, WTI_CALLS_MAX);
	give(filter, SECCOMP_RET_TRACE);
	give(filter, SECCOMP_RET_ALLOW);
	return true;
}

int wti_filter_install(const struct sock_fprog *program)
{
	/* With privileges it needs no more; without, setuid programs run without theirs, as they
	 * would under any tracer. */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program))
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program))
		return errno;
	return 0;
}
