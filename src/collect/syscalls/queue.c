/* SPDX-License-Identifier: Apache-2.0 */
/* Knows that a record is never cut: where it would be, the rest of the memory is passed over. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wheeltap/err.h>

#include "queue.h"

#define PAUSE_NS 100000
#define HEAD_BYTES 8u

struct head {
	uint32_t bytes; /* of the record */
	uint32_t skip;  /* 1: nothing here, go on at the beginning */
};

int wti_queue_init(struct wti_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
	queue->data = malloc(WTI_QUEUE_BYTES);
	return queue->data ? 0 : WT_E_NOMEM;
}

void wti_queue_release(struct wti_queue *queue)
{
	free(queue->data);
	queue->data = NULL;
}

/* Waits for room; false: nobody reads any more. */
static bool wait_for_room(struct wti_queue *queue, uint64_t head, size_t bytes)
{
	const struct timespec pause = {0, PAUSE_NS};

	while (head + bytes - atomic_load_explicit(&queue->tail, memory_order_acquire) >
	       WTI_QUEUE_BYTES) {
		if (atomic_load(&queue->closed))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

void wti_queue_put(struct wti_queue *queue, const void *first, size_t first_bytes,
		   const void *second, size_t second_bytes)
{
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	size_t bytes = first_bytes + second_bytes;
	size_t whole = HEAD_BYTES + (bytes + 7) / 8 * 8;
	size_t to_end = WTI_QUEUE_BYTES - (head & (WTI_QUEUE_BYTES - 1));
	struct head entry = {(uint32_t)bytes, 0};
	uint8_t *at = queue->data + (head & (WTI_QUEUE_BYTES - 1));

	if (bytes > WTI_QUEUE_RECORD_MAX)
		return;
	if (!wait_for_room(queue, head, whole > to_end ? to_end + whole : whole))
		return;
	if (whole > to_end) {
		struct head passed = {(uint32_t)(to_end - HEAD_BYTES), 1};

		memcpy(at, &passed, sizeof(passed));
		head += to_end;
		at = queue->data;
	}
	memcpy(at, &entry, sizeof(entry));
	memcpy(at + HEAD_BYTES, first, first_bytes);
	if (second_bytes)
		memcpy(at + HEAD_BYTES + first_bytes, second, second_bytes);
	atomic_store_explicit(&queue->head, head + whole, memory_order_release);
}

bool wti_queue_take(struct wti_queue *queue, size_t count_max,
		    void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		    void *context)
{
	uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);

	while (tail < head && count_max--) {
		const uint8_t *at = queue->data + (tail & (WTI_QUEUE_BYTES - 1));
		struct head entry;

		memcpy(&entry, at, sizeof(entry));
		if (!entry.skip)
			take(context, (const void *)(at + HEAD_BYTES), entry.bytes);
		tail += HEAD_BYTES + (entry.bytes + 7) / 8 * 8;
		atomic_store_explicit(&queue->tail, tail, memory_order_release);
	}
	return tail < head;
}

unsigned wti_queue_fill(const struct wti_queue *queue)
{
	uint64_t used = atomic_load(&queue->head) - atomic_load(&queue->tail);

	return (unsigned)(used / (WTI_QUEUE_BYTES / 100));
}
