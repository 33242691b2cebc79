/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame around slow paths: no signals, errno kept, one lock a process.
 *
 * System calls are made directly where the C library would leave signals 32 and 33 unblocked (they
 * cancel threads) or would not keep to async-signal-safe means.
 */
#include "agent.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until we have seen the control page we cannot know whether anybody listens. */
static void say_own(int begins)
{
	int saved_errno = errno;

	if (!wti_agent.control || wti_agent.control->syscalls)
		syscall(SYS_prctl, WTI_OWN_PRCTL, begins, 0, 0, 0);
	errno = saved_errno;
}

void wti_own_begin(void)
{
	say_own(1);
}

void wti_own_end(void)
{
	say_own(0);
}

void wti_guard_begin(struct wti_guard *guard)
{
	uint64_t all = ~UINT64_C(0);

	guard->saved_errno = errno;
	wti_own_begin();
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &guard->signals, sizeof(all));
}

void wti_guard_end(const struct wti_guard *guard)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &guard->signals, NULL, sizeof(guard->signals));
	wti_own_end();
	errno = guard->saved_errno;
}

/* 0: free; 1: taken; 2: taken and somebody waits. */
void wti_lock(struct wti_agent_process *process)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	uint32_t free = 0;

	if (atomic_compare_exchange_strong(&process->lock, &free, 1))
		return;
	while (atomic_exchange(&process->lock, 2) != 0)
		syscall(SYS_futex, &process->lock, FUTEX_WAIT_PRIVATE, 2, &nap, NULL, 0);
}

void wti_unlock(struct wti_agent_process *process)
{
	if (atomic_exchange(&process->lock, 0) == 2)
		syscall(SYS_futex, &process->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
