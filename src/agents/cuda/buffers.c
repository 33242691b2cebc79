/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists; memory comes from the kernel, as the heap is the program's. */
#include "buffers.h"

#include <sys/mman.h>

_Static_assert(offsetof(struct wti_cuda_buffer, data) == 64, "data begins at a cache line");

static void push(struct wti_cuda_buffer *_Atomic *list, struct wti_cuda_buffer *buffer)
{
	struct wti_cuda_buffer *first = atomic_load_explicit(list, memory_order_relaxed);

	do
		buffer->next = first;
	while (!atomic_compare_exchange_weak_explicit(list, &first, buffer, memory_order_release,
						      memory_order_relaxed));
}

static struct wti_cuda_buffer *take_all(struct wti_cuda_buffer *_Atomic *list)
{
	return atomic_exchange_explicit(list, NULL, memory_order_acquire);
}

static struct wti_cuda_buffer *make(struct wti_cuda_buffers *buffers, bool always)
{
	const size_t bytes = sizeof(struct wti_cuda_buffer) + WTI_CUDA_BUFFER_BYTES;
	void *memory;

	if (atomic_fetch_add(&buffers->made, 1) >= WTI_CUDA_BUFFERS_MAX && !always) {
		atomic_fetch_sub(&buffers->made, 1);
		return NULL;
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		return memory;
	atomic_fetch_sub(&buffers->made, 1);
	return NULL;
}

/* Takes the whole list for a moment: whoever comes meanwhile makes one more. */
struct wti_cuda_buffer *wti_cuda_buffer_take(struct wti_cuda_buffers *buffers, bool always)
{
	struct wti_cuda_buffer *first = take_all(&buffers->free), *next;

	if (!first) {
		first = make(buffers, always);
		if (!first)
			atomic_fetch_add(&buffers->refused, 1);
		return first;
	}
	for (struct wti_cuda_buffer *rest = first->next; rest; rest = next) {
		next = rest->next;
		push(&buffers->free, rest);
	}
	return first;
}

struct wti_cuda_buffer *wti_cuda_buffer_of(uint8_t *data)
{
	return (struct wti_cuda_buffer *)(data - offsetof(struct wti_cuda_buffer, data));
}

void wti_cuda_buffer_complete(struct wti_cuda_buffers *buffers, struct wti_cuda_buffer *buffer)
{
	push(&buffers->done, buffer);
}

struct wti_cuda_buffer *wti_cuda_buffers_completed(struct wti_cuda_buffers *buffers)
{
	struct wti_cuda_buffer *newest = take_all(&buffers->done), *oldest = NULL;

	while (newest) {
		struct wti_cuda_buffer *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

void wti_cuda_buffer_recycle(struct wti_cuda_buffers *buffers, struct wti_cuda_buffer *buffer)
{
	push(&buffers->free, buffer);
}
