/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread does when its ring is full: wait a little, as long as the recorder lives and the
 * process has not used up its share of waiting for this minute; then give the event up, counted.
 * A stalled disk must never become a stalled training job.
 */
#include "agent.h"

#include <errno.h>
#include <time.h>

enum {
	NAP_FIRST_NS = 50000,
	NAP_MAX_NS = 1000000,
	LOOK_NS = 10000000, /* between two looks whether the recorder lives, while dropping */
};

static const uint64_t minute_ns = UINT64_C(60000000000);

/* What is left of this minute's budget, for all threads together. */
static uint64_t budget_left(struct wti_agent_process *process, uint64_t now_ns)
{
	uint64_t begin_ns = atomic_load(&process->window_ns);
	uint64_t budget_ns = wti_agent.control->block_budget_ns;
	uint64_t waited_ns;

	if (now_ns - begin_ns >= minute_ns &&
	    atomic_compare_exchange_strong(&process->window_ns, &begin_ns, now_ns))
		atomic_store(&process->waited_ns, 0);
	waited_ns = atomic_load(&process->waited_ns);
	return waited_ns < budget_ns ? budget_ns - waited_ns : 0;
}

static uint64_t nap(uint64_t nap_ns, uint64_t now_ns)
{
	const struct timespec time = {.tv_nsec = (long)nap_ns};

	nanosleep(&time, NULL);
	return wti_clock_monotonic_ns() - now_ns;
}

/* The recorder has gone: this thread emits nothing more. */
static void turn_off(struct wti_slot *slot, struct wti_ring *ring)
{
	slot->fast_ring = NULL;
	slot->ring = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	wti_ring_unmap(ring, slot->ring_bytes);
}

/* Not at each of millions of drops. */
static bool is_time_to_look(struct wti_agent_process *process, uint64_t now_ns)
{
	uint64_t looked_ns = atomic_load_explicit(&process->looked_ns, memory_order_relaxed);

	return now_ns - looked_ns >= LOOK_NS &&
	       atomic_compare_exchange_strong(&process->looked_ns, &looked_ns, now_ns);
}

static bool is_over(struct wti_agent_process *process, uint64_t now_ns, bool look)
{
	if (atomic_load_explicit(&process->state, memory_order_relaxed) == WTI_PROCESS_OFF)
		return true;
	return (look || is_time_to_look(process, now_ns)) && wti_recorder_gone(process);
}

/* Entered again if true. */
static bool enter_with_room(struct wti_slot *slot, struct wti_ring *ring, uint32_t bytes, bool last)
{
	if (slot->ring != ring || !wti_ring_enter(ring))
		return false;
	if (wti_ring_has_room(ring, bytes))
		return true;
	if (last)
		wti_ring_drop(ring);
	else
		wti_ring_leave(ring);
	return false;
}

/*
 * Comes with the ring left, so that the recorder's watermark moves on and signal handlers can emit.
 * After a fork in a signal handler the slot is empty, and the child does nothing more here.
 */
static bool wait_left(struct wti_agent_process *process, struct wti_slot *slot,
		      struct wti_ring *ring, uint32_t bytes)
{
	const bool may_wait = wti_agent.control->on_full == WTI_ON_FULL_BLOCK;
	uint64_t nap_ns = NAP_FIRST_NS;

	while (slot->ring == ring) {
		uint64_t now_ns = wti_clock_monotonic_ns();
		uint64_t left_ns = may_wait ? budget_left(process, now_ns) : 0;

		if (is_over(process, now_ns, left_ns > 0)) {
			turn_off(slot, ring);
			return false;
		}
		if (left_ns == 0)
			return enter_with_room(slot, ring, bytes, true);
		wti_wake(process, now_ns);
		atomic_fetch_add(&process->waited_ns,
				 nap(nap_ns < left_ns ? nap_ns : left_ns, now_ns));
		if (enter_with_room(slot, ring, bytes, false))
			return true;
		nap_ns = nap_ns * 2 < NAP_MAX_NS ? nap_ns * 2 : NAP_MAX_NS;
	}
	return false;
}

bool wti_room_wait(struct wti_here here, uint32_t bytes)
{
	int saved_errno = errno;
	bool entered;

	wti_ring_leave(here.ring);
	wti_own_begin();
	entered = wait_left(wti_agent.process, here.slot, here.ring, bytes);
	wti_own_end();
	errno = saved_errno;
	return entered;
}
