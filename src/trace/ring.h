/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring: one thread writes records, the recorder reads them, through memory that both own.
 *
 * A ring is a memfd: a header page, then data whose size is a power of two, mapped twice in a row
 * so that a record never has to be cut at the end. Records are multiples of 8 bytes and begin with
 * struct wti_record. Positions count bytes ever written and never wrap in practice.
 *
 *   producer: enter (claim = head | 1, if it is even); look for room; take the time; write;
 *             head += n (release); claim = head
 *   consumer: read head (acquire); read records; tail = position (release)
 *
 * `claim` differs from `head` exactly while a record is being written. That shows the recorder that
 * a time stamp may be in flight (the watermark), and a signal handler that it has interrupted its
 * own thread's emit (the event is then counted, not written). The claim comes before anything else
 * is read: a handler that emits between the look at the claim and the claim itself has finished by
 * then, and one that comes later stays out. Heads are even and claims odd: what is claimed can be
 * seen from the claim alone, without a second look between which and the first a handler may come,
 * and a claim cannot be mistaken for the head that such a handler leaves behind.
 *
 * A record that finds no room takes a sequence number all the same: a hole in the numbers proves
 * the loss, and says how much.
 */
#ifndef WTI_TRACE_RING_H
#define WTI_TRACE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "protocol.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct wti_record {
	uint16_t kind;
	uint16_t units; /* size in units of 8 bytes, this header included */
	uint32_t seq;   /* low 32 bits of the track's sequence number */
	uint64_t ticks;
};

enum wti_ring_state {
	WTI_RING_OPEN,
	WTI_RING_CLOSED, /* its thread has ended; nothing more will come */
};

struct wti_ring {
	uint32_t magic;
	uint32_t data_bytes;
	uint32_t track;
	uint32_t tid;
	uint64_t born_ticks;
	/*
	 * bit 0: time stamps are clock_gettime(MONOTONIC) ns, not the TSC
	 * bit 1: the process is registered for expedited membarriers (the watermark)
	 */
	uint64_t flags;
	uint8_t pad0[32];

	/* Written by the producer alone. */
	_Atomic uint64_t head;
	_Atomic uint64_t claim; /* head; head | 1 while a record is being written */
	_Atomic uint64_t next_seq;
	uint64_t tail_seen;         /* its own last look at tail */
	_Atomic uint64_t lost_full; /* found no room; each has a sequence number */
	_Atomic uint64_t
		lost_reentrant; /* from a signal handler in the middle of an emit; no number */
	_Atomic uint32_t state;
	uint32_t pad1;
	uint64_t pad2;

	/* Written by the consumer alone. */
	_Atomic uint64_t tail;
	uint8_t pad3[56];
};

_Static_assert(sizeof(struct wti_record) == 16, "a record's header is 16 bytes");
_Static_assert(sizeof(struct wti_ring) == 192, "three cache lines");

static inline uint8_t *wti_ring_data(struct wti_ring *ring)
{
	return (uint8_t *)ring + WTI_RING_HEADER_BYTES;
}

static inline uint64_t wti_clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time of a record: the TSC where it is invariant, otherwise CLOCK_MONOTONIC. */
static inline uint64_t wti_ticks(uint64_t ring_flags)
{
#if defined(__x86_64__)
	if (!(ring_flags & 1))
		return __rdtsc();
#endif
	(void)ring_flags;
	return wti_clock_monotonic_ns();
}

/* True while a record is being written: asked by the recorder, for its watermark. */
static inline bool wti_ring_busy(struct wti_ring *ring)
{
	return atomic_load_explicit(&ring->claim, memory_order_relaxed) !=
	       atomic_load_explicit(&ring->head, memory_order_relaxed);
}

/* Claims the ring. False: it is claimed; we are in a signal handler that has interrupted an emit.
 */
static inline bool wti_ring_claim(struct wti_ring *ring)
{
	if (__builtin_expect(atomic_load_explicit(&ring->claim, memory_order_relaxed) & 1, 0))
		return false;
	atomic_store_explicit(&ring->claim,
			      atomic_load_explicit(&ring->head, memory_order_relaxed) | 1,
			      memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

/*
 * The producer's four steps: enter; has_room; reserve, write the fields; commit. After has_room
 * said no, drop or leave instead. False: the event is counted as lost to a signal handler.
 */
static inline bool wti_ring_enter(struct wti_ring *ring)
{
	if (__builtin_expect(wti_ring_claim(ring), 1))
		return true;
	atomic_fetch_add_explicit(&ring->lost_reentrant, 1, memory_order_relaxed);
	return false;
}

static inline void wti_ring_leave(struct wti_ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&ring->claim, head, memory_order_relaxed);
}

/* Looks at the consumer's tail when the own copy says "no room". */
static inline bool wti_ring_has_room(struct wti_ring *ring, uint32_t bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (__builtin_expect(head + bytes - ring->tail_seen <= ring->data_bytes, 1))
		return true;
	ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
	return head + bytes - ring->tail_seen <= ring->data_bytes;
}

/* Begins a record, all but its time. There must be room. `bytes` is a multiple of 8. */
static inline struct wti_record *wti_ring_begin(struct wti_ring *ring, uint16_t kind,
						uint32_t bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t seq = atomic_load_explicit(&ring->next_seq, memory_order_relaxed);
	struct wti_record *record;

	record = (struct wti_record *)(wti_ring_data(ring) + (head & (ring->data_bytes - 1)));
	record->kind = kind;
	record->units = (uint16_t)(bytes / 8);
	record->seq = (uint32_t)seq;
	atomic_store_explicit(&ring->next_seq, seq + 1, memory_order_relaxed);
	return record;
}

static inline void *wti_ring_reserve(struct wti_ring *ring, uint16_t kind, uint32_t bytes)
{
	struct wti_record *record = wti_ring_begin(ring, kind, bytes);

	record->ticks = wti_ticks(ring->flags);
	return record;
}

/* Publishes what was reserved: from here on it survives the death of the program. */
static inline void wti_ring_commit(struct wti_ring *ring, uint32_t bytes)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed) + bytes;

	atomic_store_explicit(&ring->head, head, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&ring->claim, head, memory_order_relaxed);
}

/* Gives up one event for want of room, and leaves. */
static inline void wti_ring_drop(struct wti_ring *ring)
{
	uint64_t seq = atomic_load_explicit(&ring->next_seq, memory_order_relaxed);
	uint64_t lost = atomic_load_explicit(&ring->lost_full, memory_order_relaxed);

	atomic_store_explicit(&ring->next_seq, seq + 1, memory_order_relaxed);
	atomic_store_explicit(&ring->lost_full, lost + 1, memory_order_relaxed);
	wti_ring_leave(ring);
}

#endif
