/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of CUPTI's activity buffers. Knows their kinds, where their fields are and how long they
 * are in which version; hides the layouts behind one struct. Uses nothing of NVIDIA's and nothing
 * of an agent: the buffers may come from anywhere, and are not trusted.
 *
 * Fields never moved between CUPTI 11 and 13: newer records are longer. So a field is there if the
 * record is long enough for it, and the length comes from whoever walks the buffer.
 */
#ifndef WTI_AGENTS_CUDA_ACTIVITY_H
#define WTI_AGENTS_CUDA_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUpti_ActivityKind. */
enum wti_cuda_kind {
	WTI_CUDA_MEMCPY = 1,
	WTI_CUDA_MEMSET = 2,
	WTI_CUDA_KERNEL = 3, /* serialises all kernels: never asked for */
	WTI_CUDA_DRIVER = 4,
	WTI_CUDA_RUNTIME = 5,
	WTI_CUDA_DEVICE = 8,
	WTI_CUDA_CONTEXT = 9,
	WTI_CUDA_CONCURRENT_KERNEL = 10,
	WTI_CUDA_NAME = 11,
	WTI_CUDA_MARKER = 12,
	WTI_CUDA_MARKER_DATA = 13,
	WTI_CUDA_OVERHEAD = 17,
	WTI_CUDA_MEMCPY2 = 22, /* between devices */
	WTI_CUDA_EVENT = 36,
	WTI_CUDA_STREAM = 37,
	WTI_CUDA_SYNCHRONIZATION = 38,
	WTI_CUDA_EXTERNAL_CORRELATION = 39,
	WTI_CUDA_MEMORY = 45,
	WTI_CUDA_INTERNAL_LAUNCH = 48,
	WTI_CUDA_MEMORY2 = 49,
	WTI_CUDA_MEMORY_POOL = 50,
	WTI_CUDA_GRAPH_TRACE = 51,
	WTI_CUDA_JIT = 52,
	WTI_CUDA_KIND_MAX = 64,
};

/* What a record says. Fields that its kind or version does not have are 0. */
struct wti_cuda_record {
	uint32_t kind;
	uint32_t bytes_of_record;
	uint64_t start; /* ns; a moment has no end */
	uint64_t end;
	uint64_t queued;
	uint64_t submitted;
	uint64_t bytes;
	uint64_t node;     /* of a graph; 0: in none */
	uint64_t external; /* id of an external correlation, or that joins a wait and its event */
	uint64_t name;     /* address of a text, in the memory of the process that has the buffer */
	uint32_t graph;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint32_t what;   /* type of copy, synchronisation, operation, overhead; flags; cbid */
	uint32_t object; /* id of a marker or an event, kind of an external id or of an owner */
	uint32_t thread;
	uint32_t status;
	uint32_t from_memory; /* of a copy or a fill: type of memory */
	uint32_t to_memory;
	uint32_t grid[3];
	uint32_t block[3];
};

/*
 * Reads one record of at most `bytes`. False: it is of a kind that is not known, or shorter than
 * the fields that make it one.
 */
bool wti_cuda_decode(const uint8_t *at, size_t bytes, struct wti_cuda_record *ret);

/*
 * How long records of a kind are in a version of CUPTI; 0: not known. CUDA 11.8 and 12.1 both have
 * version 18, with different kernels: the latter goes by 19 here.
 */
size_t wti_cuda_record_bytes(uint32_t version, uint32_t kind);
bool wti_cuda_version_is_known(uint32_t version);

/* ---- Walking a buffer ------------------------------------------------------------------------ */

/* cuptiActivityGetNextRecord(): the record after *record, the first after NULL. */
typedef int wti_cuda_next_fn(uint8_t *buffer, size_t bytes, void **record);

struct wti_cuda_walk {
	uint8_t *buffer;
	size_t bytes;           /* that are valid */
	wti_cuda_next_fn *next; /* or NULL: by the table of this version */
	uint32_t version;
	size_t at; /* where the current record is */
	size_t record_bytes;
	bool is_cut; /* ended at something that is no record, or longer than the buffer */
	void *ahead; /* what `next` has given already */
};

void wti_cuda_walk_init(struct wti_cuda_walk *walk, uint8_t *buffer, size_t bytes,
			wti_cuda_next_fn *next, uint32_t version);
/* True: there is a record at buffer + at. */
bool wti_cuda_walk_next(struct wti_cuda_walk *walk);

#endif
