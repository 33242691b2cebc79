/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every agent shares: joining a recording, a ring for each thread, numbers for names, and the
 * short way from a call to a published record. Compiled into each agent; sees protocol.h, ring.h
 * and the generated records.h, and nothing else of wheeltap.
 *
 * An agent is a guest. All that belongs to one process lives in memory that the kernel wipes on
 * fork (struct wti_agent_process and the slots), so that a child, however it was made, starts
 * afresh and no lock can be inherited locked. What may be kept over a fork is in struct wti_agent.
 *
 * Slow paths (joining, a thread's first emit, a name's first use) run with all signals blocked: a
 * signal handler never finds a lock taken by the thread that it interrupted. They keep errno.
 */
#ifndef WTI_AGENTS_AGENT_H
#define WTI_AGENTS_AGENT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/wheeltap.h>

#include "meeting.h"
#include "records.h"

#define wti_likely(x) __builtin_expect(!!(x), 1)
#define wti_unlikely(x) __builtin_expect(!!(x), 0)

enum {
	WTI_SLOTS_A_PAGE = 64,
	WTI_SLOT_PAGES_MAX = 1024, /* 65536 threads at a time */
	WTI_RETRY_NS = 100000000,  /* between attempts at what was refused for now */
};

/* What a thread needs at hand: mostly one cache line, in a page that is wiped on fork. */
struct wti_slot {
	_Alignas(64) struct wti_ring *ring; /* NULL: none yet, or none to be had now */
	uint32_t generation;                /* of the process, in which name numbers are valid */
	uint32_t used;
	uint64_t retry_ns;   /* no new attempt at a ring before this */
	uint64_t ring_bytes; /* of data */
	uint32_t tid;
	uint32_t end_rounds;        /* how often the end of the thread was put off */
	struct wti_ring *fast_ring; /* the ring, if its time stamps are the TSC's; otherwise NULL */
	char name[16];              /* of the thread, as it was when it got its ring */
	struct wti_sampled_known *known; /* that were sampled on its track; NULL: none yet */
};

enum wti_process_state {
	WTI_PROCESS_FRESH, /* as the kernel leaves it after a fork */
	WTI_PROCESS_JOINED,
	WTI_PROCESS_OFF, /* the recorder has gone: for good */
};

/* One process's part in the recording. Wiped on fork. */
struct wti_agent_process {
	_Atomic uint32_t state; /* enum wti_process_state */
	_Atomic uint32_t lock;  /* of all below that is not atomic */
	uint32_t generation;
	uint32_t pid;
	uint64_t start_time;
	_Atomic uint64_t retry_ns;  /* no new attempt at joining before this */
	bool has_socket;            /* the agent's is this process's own */
	_Atomic uint32_t announced; /* the process record has been written */

	struct wti_chunk *first_chunk; /* always mapped: its head counts losses */
	struct wti_chunk *chunk;       /* where definitions are appended */
	uint32_t chunk_used;
	uint32_t chunk_count;
	uint32_t id_last[WTI_DEF_SITE + 1]; /* by enum wti_definition_type */
	/* What the loader's counters said when modules were last emitted, by any thread. */
	_Atomic uint64_t modules_added, modules_removed;

	/* Waiting for room, for all threads together. */
	_Atomic uint64_t window_ns; /* when the current minute began */
	_Atomic uint64_t waited_ns; /* within it */
	_Atomic uint64_t woken_ns;  /* when the recorder last heard from us that somebody waits */
	bool fenced;                /* registered for membarriers: see src/collect/watermark.h */
	_Atomic uint64_t looked_ns; /* when we last looked whether the recorder lives */
	_Atomic uint64_t mapped_bytes; /* shared with the recorder: see room.c */

	struct wti_slot *slot_pages[WTI_SLOT_PAGES_MAX];
};

/* The one state of the agent. Kept over a fork. */
struct wti_agent {
	struct wti_control *control; /* NULL: nobody records us, nor our children */
	struct wti_agent_process *process;
	struct wti_meeting meeting;
	bool own_page;       /* the control page is not the recorder's, but our own */
	uint32_t ring_bytes; /* as the control page said it first: others may write there */
	uint64_t ring_flags; /* of struct wti_ring: which clock */
	_Atomic uint32_t generation_last;
	int socket;         /* after a fork the parent's, until the child joins; -1: none */
	ino_t socket_inode; /* proves that the descriptor is still ours */
	pthread_key_t key;  /* its destructor runs at the end of a thread */
	bool has_key;
	uint32_t elements; /* of a value that are sampled; 0: none */

	/* A guest that has to be told of calls and ranges when they begin and end; mostly NULL. */
	void (*_Atomic external_push)(uint64_t event);
	void (*_Atomic external_pop)(void);

	/* Names by their text, append-only: readers need no lock, and a fork in the middle of an
	 * insertion leaves nothing half visible. */
	_Atomic uint32_t *buckets;
	uint8_t *arena;
	size_t arena_bytes;
	size_t arena_used;
};

#pragma GCC visibility push(hidden) /* declarations as well: reached without a table */

extern struct wti_agent wti_agent;
extern struct wti_slot wti_slot_none;  /* what a thread has before its first emit */
extern struct wti_slot wti_slot_ended; /* and after its end */
extern __thread struct wti_slot *wti_slot_of_thread __attribute__((tls_model("initial-exec")));

/* ---- join.c -------------------------------------------------------------------------------- */

/* Once, when the agent is loaded. */
void wti_join_first(void);
/* Joins if that has not been done in this process. With the lock held. */
bool wti_join(struct wti_agent_process *process);
/* There was no way to the recorder a moment ago: events are counted, and nothing is tried. */
bool wti_join_waits(struct wti_agent_process *process);
/* Lets go of a socket that is the parent's, so that its end can be seen. */
void wti_leave_inherited(void);
/* The program's short name, masked if it has to be. */
void wti_command(char command[16]);
/* Hands a descriptor over. Never waits. */
bool wti_send(struct wti_agent_process *process, uint32_t type, uint32_t tid, uint32_t track,
	      int fd);
/* Wakes the recorder because a ring is full, if that was not done a moment ago. */
void wti_wake(struct wti_agent_process *process, uint64_t now_ns);
/* Asks the system whether the recorder has gone; if so, recording is over in this process. */
bool wti_recorder_gone(struct wti_agent_process *process);

/* ---- slots.c ------------------------------------------------------------------------------- */

/* The slow way to a slot with a ring; NULL: not recording, or the event is counted as lost. */
struct wti_slot *wti_slot_open_slow(void);
/* True if this process takes part in a recording; joins if it has not yet. */
bool wti_recording(void);
/* Gives a thread's ring back; the recorder reads what is left in it. */
void wti_slot_close(struct wti_slot *slot);
/* Prepares for threads that end and processes that fork. */
void wti_slots_init(void);

/* ---- ring.c -------------------------------------------------------------------------------- */

/* Makes the ring of this thread and hands it over, with its first records in it. */
bool wti_ring_make(struct wti_agent_process *process, struct wti_slot *slot);
void wti_ring_unmap(struct wti_ring *ring, uint64_t data_bytes);
/* A shared memory of our own, allocated in full. -1 if there is none. */
int wti_memory_make(const char *name, uint64_t bytes);

/* ---- room.c -------------------------------------------------------------------------------- */

/* All of them: false if the program's limits leave no room, which is then said. */
bool wti_room_join(void);
/* For a file, or memory that is one, of this size. */
bool wti_room_file(uint64_t bytes);
/* For memory that is shared, to be given back when it is unmapped. */
bool wti_room_take(struct wti_agent_process *process, uint64_t bytes);
void wti_room_give(struct wti_agent_process *process, uint64_t bytes);
/* How much of what is wanted for names. */
size_t wti_room_names(size_t wanted);

/* ---- wait.c -------------------------------------------------------------------------------- */

/* The ring has no room for a record: waits or not, as emitted. Entered again if true, left if
 * false, the event then being counted. */
struct wti_here;
bool wti_room_wait(struct wti_here here, uint32_t bytes);

/* ---- intern.c ------------------------------------------------------------------------------ */

/* Makes room for names. */
bool wti_intern_init(void);
/* Maps and hands over chunk 0. With the lock held. */
bool wti_definitions_begin(struct wti_agent_process *process);
uint32_t wti_name_slow(struct wt_name *name);
/* The name with this text, for good. */
struct wt_name *wti_name_find(const char *text, size_t bytes);
/*
 * The number of a definition with this key, made from payload at its first use in a process.
 * Numbers of one type are dense; 0: there was no room.
 */
uint32_t wti_define(uint32_t type, const void *key, size_t key_bytes, const void *payload,
		    size_t payload_bytes);
/* A new definition, without looking for an equal one. With the lock held. */
uint32_t wti_define_new(struct wti_agent_process *process, uint32_t type, const void *payload,
			size_t payload_bytes);

/* ---- guard.c ------------------------------------------------------------------------------- */

/* Signals blocked, errno kept, from begin to end. */
struct wti_guard {
	uint64_t signals;
	int saved_errno;
};
/* System calls of this thread are our own in between; it nests. Both keep errno. */
void wti_own_begin(void);
void wti_own_end(void);
void wti_guard_begin(struct wti_guard *guard);
void wti_guard_end(const struct wti_guard *guard);
void wti_lock(struct wti_agent_process *process);
void wti_unlock(struct wti_agent_process *process);

#pragma GCC visibility pop

/* ---- The short way -------------------------------------------------------------------------- */

/*
 * The calling thread's slot and ring. The ring is read once: a signal handler that forks leaves the
 * child an empty slot in the middle of an emit.
 */
struct wti_here {
	struct wti_slot *slot;
	struct wti_ring *ring; /* NULL: do nothing */
};

static inline struct wti_slot *wti_slot_open(void)
{
	if (wti_likely(!wti_agent.control) ||
	    wti_likely(atomic_load_explicit(&wti_agent.process->state, memory_order_relaxed) ==
		       WTI_PROCESS_OFF))
		return NULL;
	return wti_slot_open_slow();
}

static inline struct wti_here wti_here(void)
{
	struct wti_here here = {.slot = wti_slot_of_thread};

	here.ring = __atomic_load_n(&here.slot->ring, __ATOMIC_RELAXED);
	if (wti_unlikely(!here.ring)) {
		here.slot = wti_slot_open();
		if (here.slot)
			here.ring = __atomic_load_n(&here.slot->ring, __ATOMIC_RELAXED);
	}
	return here;
}

/* The number of a name in this process. */
static inline uint32_t wti_name(struct wti_here here, struct wt_name *name)
{
	uint64_t cached = __atomic_load_n(&name->cached, __ATOMIC_ACQUIRE);

	if (wti_likely(cached >> 32 == here.slot->generation))
		return (uint32_t)cached;
	return wti_name_slow(name);
}

/* A record to fill and commit, or NULL: lost, and counted. `bytes` is a multiple of 8. */
static inline void *wti_open(struct wti_here here, uint16_t kind, uint32_t bytes)
{
	if (wti_unlikely(!wti_ring_enter(here.ring)))
		return NULL;
	if (wti_unlikely(!wti_ring_has_room(here.ring, bytes)) && !wti_room_wait(here, bytes))
		return NULL;
	return wti_ring_reserve(here.ring, kind, bytes);
}

static inline bool wti_commit(struct wti_here here, uint32_t bytes)
{
	wti_ring_commit(here.ring, bytes);
	return true;
}

/* ---- The shortest way ------------------------------------------------------------------------ */

/*
 * For the events that are emitted most: a function that calls nothing, and hands whatever is not
 * the usual case (no ring, a name's first use, a signal handler, no room, another clock) to its
 * slow twin.
 */
struct wti_fast {
	struct wti_ring *ring;
	uint32_t id; /* of the name */
};

static inline __attribute__((always_inline)) void *
wti_fast_open(struct wti_fast *fast, struct wt_name *name, uint16_t kind, uint32_t bytes)
{
#if defined(__x86_64__)
	const struct wti_slot *slot = wti_slot_of_thread;
	struct wti_ring *ring = __atomic_load_n(&slot->fast_ring, __ATOMIC_RELAXED);
	struct wti_record *record;
	uint64_t cached;

	if (wti_unlikely(!ring))
		return NULL;
	cached = __atomic_load_n(&name->cached, __ATOMIC_ACQUIRE);
	if (wti_unlikely(cached >> 32 != slot->generation) || wti_unlikely(!wti_ring_claim(ring)))
		return NULL;
	if (wti_unlikely(!wti_ring_has_room(ring, bytes))) {
		wti_ring_leave(ring);
		return NULL;
	}
	fast->ring = ring;
	fast->id = (uint32_t)cached;
	record = wti_ring_begin(ring, kind, bytes);
	record->ticks = __rdtsc();
	return record;
#else
	return NULL;
#endif
}

/* Asked before the slow twin is called: most programs are not being recorded. */
static inline bool wti_is_off(void)
{
	return wti_agent.control == NULL;
}

static inline bool wti_fast_commit(const struct wti_fast *fast, uint32_t bytes)
{
	wti_ring_commit(fast->ring, bytes);
	return true;
}

/* A call or a range has begun, with this record, or has ended: for a guest that asked for them. */
static inline void wti_external_begin(struct wti_here here, uint32_t seq)
{
	void (*push)(uint64_t) =
		atomic_load_explicit(&wti_agent.external_push, memory_order_relaxed);

	if (wti_unlikely(push))
		push(wti_event_correlation(here.ring->track, seq));
}

static inline void wti_external_end(void)
{
	void (*pop)(void) = atomic_load_explicit(&wti_agent.external_pop, memory_order_relaxed);

	if (wti_unlikely(pop))
		pop();
}

static inline uint32_t wti_round8(size_t bytes)
{
	return (uint32_t)((bytes + 7) & ~(size_t)7);
}

#endif
