/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring with its producer, its consumer and a watcher as threads of one process: contents,
 * order, wrap, losses. Built twice, once with ThreadSanitizer. Both ends use the same addresses
 * here, so that a record that crosses the end of the data simply goes on in the room behind it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "records.h"
#include "test.h"

enum { DATA_BYTES = 4096, EVENTS = 200000 };

struct shared {
	struct wti_ring *ring;
	_Atomic bool done;
	uint64_t dropped; /* by the producer, who tells when joined */
	uint64_t consumed;
	uint64_t gaps;
	uint64_t wrong;
	bool may_drop;
};

static struct wti_ring *ring_new(void)
{
	struct wti_ring *ring = aligned_alloc(4096, WTI_RING_HEADER_BYTES + 2 * DATA_BYTES);

	memset(ring, 0, WTI_RING_HEADER_BYTES + 2 * DATA_BYTES);
	ring->data_bytes = DATA_BYTES;
	return ring;
}

/* Sizes that do not divide the data: 24, 32, ... 136 bytes. */
static uint32_t bytes_of(uint64_t value)
{
	return 24 + 8 * (uint32_t)(value % 15);
}

static void fill(struct wti_record *record, uint64_t value, uint32_t bytes)
{
	uint64_t *words = (uint64_t *)(record + 1);

	for (uint32_t i = 0; i < bytes / 8 - 2; i++)
		words[i] = value * 31 + i;
}

static bool is_filled(const struct wti_record *record, uint64_t value, uint32_t bytes)
{
	const uint64_t *words = (const uint64_t *)(record + 1);

	for (uint32_t i = 0; i < bytes / 8 - 2; i++)
		if (words[i] != value * 31 + i)
			return false;
	return true;
}

static bool emit(struct wti_ring *ring, uint64_t value, bool may_drop)
{
	uint32_t bytes = bytes_of(value);
	struct wti_record *record;

	for (;;) {
		if (!wti_ring_enter(ring))
			return false;
		if (wti_ring_has_room(ring, bytes))
			break;
		if (may_drop) {
			wti_ring_drop(ring);
			return false;
		}
		wti_ring_leave(ring);
		sched_yield();
	}
	record = wti_ring_reserve(ring, WT_KIND_MARK, bytes);
	fill(record, value, bytes);
	wti_ring_commit(ring, bytes);
	return true;
}

static void *produce(void *arg)
{
	struct shared *shared = arg;

	for (uint64_t i = 0; i < EVENTS; i++)
		shared->dropped += !emit(shared->ring, i, shared->may_drop);
	atomic_store(&shared->done, true);
	return NULL;
}

static void consume_some(struct shared *shared)
{
	struct wti_ring *ring = shared->ring;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	while (tail < head) {
		const struct wti_record *record =
			(void *)(wti_ring_data(ring) + (tail & (DATA_BYTES - 1)));
		uint64_t expected = shared->consumed + shared->gaps;

		/* Every event has a number, dropped or not: it is also the value. */
		shared->gaps += record->seq - (uint32_t)expected;
		expected = record->seq;
		if (record->units * 8u != bytes_of(expected) ||
		    !is_filled(record, expected, record->units * 8u))
			shared->wrong++;
		shared->consumed++;
		tail += record->units * 8u;
	}
	atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

static void *consume(void *arg)
{
	struct shared *shared = arg;

	while (!atomic_load(&shared->done)) {
		consume_some(shared);
		sched_yield();
	}
	consume_some(shared);
	return NULL;
}

/* Looks, as the recorder does for its watermark. */
static void *watch(void *arg)
{
	struct shared *shared = arg;
	uint64_t busy = 0;

	while (!atomic_load(&shared->done)) {
		busy += wti_ring_busy(shared->ring);
		sched_yield();
	}
	(void)busy;
	return NULL;
}

static void run(bool may_drop)
{
	struct shared shared = {.ring = ring_new(), .may_drop = may_drop};
	struct wti_ring *ring = shared.ring;
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, consume, &shared);
	pthread_create(&threads[1], NULL, watch, &shared);
	pthread_create(&threads[2], NULL, produce, &shared);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT((int64_t)shared.wrong, 0);
	CHECK_INT((int64_t)shared.consumed + shared.dropped, EVENTS);
	CHECK_INT((int64_t)atomic_load(&ring->lost_full), shared.dropped);
	CHECK_INT((int64_t)atomic_load(&ring->next_seq), EVENTS);
	CHECK(shared.gaps <= shared.dropped); /* what was dropped last leaves no gap behind it */
	CHECK(may_drop || shared.dropped == 0);
	CHECK(!wti_ring_busy(ring));
	free(ring);
}

static void test_block(void)
{
	run(false);
}

static void test_drop(void)
{
	run(true);
}

/* What a signal handler does in the middle of an emit. */
static void test_reentry(void)
{
	struct wti_ring *ring = ring_new();

	CHECK(wti_ring_enter(ring));
	CHECK(wti_ring_busy(ring));
	CHECK(!emit(ring, 0, true));
	CHECK_INT((int64_t)atomic_load(&ring->lost_reentrant), 1);
	wti_ring_leave(ring);
	CHECK(!wti_ring_busy(ring));
	CHECK(emit(ring, 0, true));
	CHECK_INT((int64_t)atomic_load(&ring->head), bytes_of(0));
	free(ring);
}

/* Filled to the last byte, and not beyond. */
static void test_full(void)
{
	struct wti_ring *ring = ring_new();
	uint32_t count = DATA_BYTES / 32;

	for (uint32_t i = 0; i < count; i++)
		CHECK(emit(ring, 1, true)); /* 32 bytes */
	CHECK_INT((int64_t)atomic_load(&ring->head), DATA_BYTES);
	CHECK(!emit(ring, 1, true));
	CHECK_INT((int64_t)atomic_load(&ring->lost_full), 1);
	atomic_store(&ring->tail, 24);
	CHECK(!emit(ring, 1, true));
	atomic_store(&ring->tail, 32);
	CHECK(emit(ring, 1, true));
	CHECK_INT((int64_t)atomic_load(&ring->next_seq), count + 3);
	free(ring);
}

static const struct test tests[] = {
	{"block", test_block}, {"drop", test_drop}, {"reentry", test_reentry},
	{"full", test_full},   {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
