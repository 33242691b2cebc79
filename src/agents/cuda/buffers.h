/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity buffers on their way: given to CUPTI, completed on any of its threads, decoded on ours,
 * used again. Handed over without a lock: a list that is pushed to by many and taken whole by one
 * cannot confuse an element with its successor at the same address.
 */
#ifndef WTI_AGENTS_CUDA_BUFFERS_H
#define WTI_AGENTS_CUDA_BUFFERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WTI_CUDA_BUFFER_BYTES = 4 << 20, /* between the 1 and 10 MB that CUPTI advises */
	WTI_CUDA_BUFFERS_MAX = 64,       /* 256 MB: decoding is that far behind */
};

struct wti_cuda_buffer {
	struct wti_cuda_buffer *next;
	size_t valid_bytes;
	uint64_t dropped; /* records, as CUPTI said when it completed this one */
	uint8_t pad[40];  /* data begins at a cache line */
	uint8_t data[];
};

struct wti_cuda_buffers {
	struct wti_cuda_buffer *_Atomic free;
	struct wti_cuda_buffer *_Atomic done;
	_Atomic uint32_t made;
	_Atomic uint64_t refused;
};

/* NULL: there is no memory, or there are too many unless `always`. */
struct wti_cuda_buffer *wti_cuda_buffer_take(struct wti_cuda_buffers *buffers, bool always);
/* From what CUPTI gives back. */
struct wti_cuda_buffer *wti_cuda_buffer_of(uint8_t *data);
void wti_cuda_buffer_complete(struct wti_cuda_buffers *buffers, struct wti_cuda_buffer *buffer);
/* All that are complete, the oldest first; NULL: none. */
struct wti_cuda_buffer *wti_cuda_buffers_completed(struct wti_cuda_buffers *buffers);
void wti_cuda_buffer_recycle(struct wti_cuda_buffers *buffers, struct wti_cuda_buffer *buffer);

#endif
