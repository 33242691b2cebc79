/* SPDX-License-Identifier: Apache-2.0 */
/* Knows seccomp() and clone() as far as they decide who is seen. */
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tracer_hidden.h"

#define PENDING_MAX 16
#define BY_SECCOMP 1 /* si_code of such a SIGSYS: SYS_SECCOMP, which not all headers have */

/* The same calls of 32-bit programs. */
enum { CLONE_32 = 120, PRCTL_32 = 172, SECCOMP_32 = 354, CLONE3_32 = 435 };

static bool is(const struct wti_tracee *tracee, uint32_t here, uint32_t i386)
{
	if (tracee->arch == WTI_ARCH_HERE)
		return tracee->nr == here;
	return tracee->arch == WTI_ARCH_I386 && tracee->nr == i386;
}

void wti_tracer_add_hiding_calls(struct wti_call_set *set)
{
	static const uint32_t calls[] = {SYS_seccomp, SYS_clone3};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		set->bits[calls[i] / 64] |= UINT64_C(1) << (calls[i] % 64);
}

uint64_t wti_tracee_clone_flags(const struct wti_tracee *tracee)
{
	uint64_t flags = 0;
	struct iovec here = {&flags, sizeof(flags)};
	struct iovec there = {(void *)(uintptr_t)tracee->args[0], sizeof(flags)};

	if (is(tracee, SYS_clone, CLONE_32))
		return tracee->args[0];
	if (!is(tracee, SYS_clone3, CLONE3_32) ||
	    process_vm_readv(tracee->tid, &here, 1, &there, 1, 0) != sizeof(flags))
		return 0;
	return flags;
}

enum wti_hiding wti_tracee_hides(const struct wti_tracee *tracee)
{
	if (is(tracee, SYS_seccomp, SECCOMP_32))
		return tracee->args[0] == SECCOMP_SET_MODE_STRICT ||
				       tracee->args[0] == SECCOMP_SET_MODE_FILTER
			       ? WTI_HIDES_CALLS
			       : WTI_HIDES_NOTHING;
	if (is(tracee, SYS_prctl, PRCTL_32))
		return tracee->args[0] == PR_SET_SECCOMP ? WTI_HIDES_CALLS : WTI_HIDES_NOTHING;
	return wti_tracee_clone_flags(tracee) & CLONE_UNTRACED ? WTI_HIDES_CHILD
							       : WTI_HIDES_NOTHING;
}

/* The kernel puts back the registers of such a call, so that its number is its result; others have
 * that result, too, and so the signal that waits for the thread decides. */
bool wti_tracee_is_trapped(const struct wti_tracee *tracee, int64_t result)
{
	struct __ptrace_peeksiginfo_args what = {.nr = PENDING_MAX};
	siginfo_t pending[PENDING_MAX];
	long count;

	if (result != (int64_t)tracee->nr && result != (int64_t)tracee->args[0])
		return false;
	count = ptrace(PTRACE_PEEKSIGINFO, tracee->tid, &what, pending);
	for (long i = 0; i < count; i++)
		if (pending[i].si_signo == SIGSYS && pending[i].si_code == BY_SECCOMP)
			return true;
	return false;
}

static bool is_for_all_threads(const struct wti_tracee *tracee)
{
	return is(tracee, SYS_seccomp, SECCOMP_32) && tracee->args[0] == SECCOMP_SET_MODE_FILTER &&
	       tracee->args[1] & SECCOMP_FILTER_FLAG_TSYNC;
}

unsigned wti_tracer_hidden(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	unsigned others = 0;

	tracee->behind = true;
	if (!is_for_all_threads(tracee))
		return 0;
	for (size_t i = 0, left = tracer->count; i < tracer->by_tid_count && left; i++) {
		struct wti_tracee *other = tracer->by_tid[i];

		left -= other != NULL;
		if (!other || other->pid != tracee->pid || other->behind)
			continue;
		other->behind = true;
		others++;
	}
	return others;
}
