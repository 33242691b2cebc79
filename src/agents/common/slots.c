/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot for each thread: given at its first emit, taken back at its end.
 *
 * Pages of slots are wiped on fork. The thread that forked finds its slot empty in the child, and
 * never gets the same place again: the child makes pages of its own, so that no later thread of the
 * child can be given the slot that the old pointer still leads to.
 */
#include "agent.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "digest/sample.h"

struct wti_slot wti_slot_none;
struct wti_slot wti_slot_ended;
__thread struct wti_slot *wti_slot_of_thread __attribute__((tls_model("initial-exec"))) =
	&wti_slot_none;

/*
 * The ring of the thread that forks. A signal handler may fork in the middle of an emit; the child
 * then goes on with that emit, and must find memory there, but not the parent's.
 */
static __thread struct wti_ring *forking_ring __attribute__((tls_model("initial-exec")));
static __thread uint64_t forking_bytes __attribute__((tls_model("initial-exec")));

static void count_lost(struct wti_agent_process *process)
{
	if (process->first_chunk)
		atomic_fetch_add_explicit(&process->first_chunk->lost_no_ring, 1,
					  memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&wti_agent.control->lost_unjoined, 1,
					  memory_order_relaxed);
}

static struct wti_slot *map_page(void)
{
	const size_t bytes = WTI_SLOTS_A_PAGE * sizeof(struct wti_slot);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
		munmap(page, bytes);
		return NULL;
	}
	return page;
}

/* With the lock held. */
static struct wti_slot *find_free(struct wti_agent_process *process)
{
	for (size_t i = 0; i < WTI_SLOT_PAGES_MAX; i++) {
		struct wti_slot *page = process->slot_pages[i];

		if (!page)
			page = process->slot_pages[i] = map_page();
		if (!page)
			return NULL;
		for (size_t j = 0; j < WTI_SLOTS_A_PAGE; j++)
			if (!page[j].used)
				return &page[j];
	}
	return NULL;
}

static struct wti_slot *slot_take(struct wti_agent_process *process)
{
	struct wti_slot *slot;

	wti_lock(process);
	slot = wti_join(process) ? find_free(process) : NULL;
	if (slot) {
		memset(slot, 0, sizeof(*slot));
		slot->used = 1;
		slot->generation = process->generation;
		slot->tid = (uint32_t)syscall(SYS_gettid);
	}
	wti_unlock(process);
	return slot;
}

static void slot_give_back(struct wti_agent_process *process, struct wti_slot *slot)
{
	wti_lock(process);
	slot->used = 0;
	wti_unlock(process);
}

/* A child of vfork, or of clone with shared memory, is not the process that joined. */
static bool is_other_process(const struct wti_agent_process *process)
{
	return atomic_load(&process->state) == WTI_PROCESS_JOINED &&
	       process->pid != (uint32_t)syscall(SYS_getpid);
}

static bool slot_fill(struct wti_agent_process *process, struct wti_slot *slot)
{
	if (slot->retry_ns && wti_clock_monotonic_ns() < slot->retry_ns)
		return false;
	if (wti_ring_make(process, slot))
		return true;
	slot->retry_ns = wti_clock_monotonic_ns() + WTI_RETRY_NS;
	return false;
}

static struct wti_slot *slot_open_guarded(struct wti_agent_process *process)
{
	struct wti_slot *slot = wti_slot_of_thread;

	if (is_other_process(process))
		return NULL;
	if (!slot->used) {
		slot = slot_take(process);
		if (!slot)
			return NULL;
		wti_slot_of_thread = slot;
		if (wti_agent.has_key)
			pthread_setspecific(wti_agent.key, slot);
	}
	return slot_fill(process, slot) ? slot : NULL;
}

struct wti_slot *wti_slot_open_slow(void)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_slot *slot;
	struct wti_guard guard;

	if (wti_slot_of_thread == &wti_slot_ended || wti_join_waits(process)) {
		count_lost(process);
		return NULL;
	}
	wti_guard_begin(&guard);
	slot = slot_open_guarded(process);
	if (!slot && atomic_load(&process->state) != WTI_PROCESS_OFF)
		count_lost(process);
	wti_guard_end(&guard);
	return slot;
}

bool wti_recording(void)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_guard guard;
	uint32_t state;

	if (wti_slot_of_thread->ring)
		return true;
	if (!wti_agent.control)
		return false;
	state = atomic_load_explicit(&process->state, memory_order_relaxed);
	if (state == WTI_PROCESS_FRESH) {
		wti_guard_begin(&guard);
		wti_lock(process);
		state = wti_join(process) ? WTI_PROCESS_JOINED : WTI_PROCESS_OFF;
		wti_unlock(process);
		wti_guard_end(&guard);
	}
	return state == WTI_PROCESS_JOINED;
}

void wti_slot_close(struct wti_slot *slot)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_ring *ring = slot->ring;
	struct wti_guard guard;

	wti_guard_begin(&guard);
	slot->fast_ring = NULL;
	slot->ring = NULL;
	wti_sampled_forget(slot);
	if (ring) {
		atomic_store_explicit(&ring->state, WTI_RING_CLOSED, memory_order_release);
		wti_ring_unmap(ring, slot->ring_bytes);
		if (wti_agent.own_page) /* the recorder gives back on its own page alone */
			atomic_fetch_sub(&wti_agent.control->rings_bytes_used,
					 WTI_RING_HEADER_BYTES + slot->ring_bytes);
	}
	slot_give_back(process, slot);
	wti_guard_end(&guard);
}

/* No system call here: a program may have forbidden all that it does not make itself. */
static void emit_thread_end(struct wti_slot *slot)
{
	const struct wti_here here = {slot, slot->ring};
	const uint32_t bytes = sizeof(struct wti_record_thread) + 16;
	struct wti_record_thread *record;

	record = wti_open(here, WT_KIND_THREAD, bytes);
	if (!record)
		return;
	record->tid = slot->tid;
	record->phase = WT_PHASE_END;
	record->name_bytes = (uint32_t)strlen(slot->name);
	memcpy(record + 1, slot->name, sizeof(slot->name));
	wti_commit(here, bytes);
}

/*
 * Destructors of the program's own thread-specific data may still emit: our turn is put off twice
 * of the four rounds that there are.
 */
static void thread_ends(void *value)
{
	struct wti_slot *slot = value;

	if (slot != wti_slot_of_thread || !slot->used)
		return; /* of a process that we are a fork of */
	if (slot->end_rounds++ < 2 && pthread_setspecific(wti_agent.key, slot) == 0)
		return;
	if (slot->ring)
		emit_thread_end(slot);
	wti_slot_of_thread = &wti_slot_ended;
	atomic_signal_fence(memory_order_seq_cst);
	wti_slot_close(slot);
}

static void before_fork(void)
{
	struct wti_slot *slot = wti_slot_of_thread;

	forking_ring = slot->ring;
	forking_bytes = WTI_RING_HEADER_BYTES + 2 * slot->ring_bytes;
	if (!forking_ring)
		return;
	wti_own_begin();
	madvise(forking_ring, forking_bytes, MADV_DOFORK);
	wti_own_end();
}

static void after_fork_parent(void)
{
	if (forking_ring) {
		wti_own_begin();
		madvise(forking_ring, forking_bytes, MADV_DONTFORK);
		wti_own_end();
	}
	forking_ring = NULL;
}

static void after_fork_child(void)
{
	wti_own_begin();
	if (forking_ring)
		mmap(forking_ring, forking_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	forking_ring = NULL;
	wti_own_end();
}

void wti_slots_init(void)
{
	wti_agent.has_key = pthread_key_create(&wti_agent.key, thread_ends) == 0;
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* exit() runs no destructors of thread-specific data for the thread that calls it. */
__attribute__((destructor)) static void agent_ends(void)
{
	struct wti_slot *slot = wti_slot_of_thread;

	if (slot->ring)
		emit_thread_end(slot);
}
