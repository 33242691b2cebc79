/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for a CUDA driver and libcupti, for machines without a GPU. Programs call the
 * functions below instead of CUDA's; they load the injection library as the driver does, call back,
 * fill activity buffers on threads of their own, and count what they made. Written from the
 * documented behaviour of CUPTI alone: it shares no code and no table with the agent.
 *
 * Variables: STANDIN_TAKEN=1: another subscriber is there (error 39). STANDIN_DROP=N: each N-th
 * time that a buffer is full, 1000 records are dropped. STANDIN_VERSION=N. STANDIN_ALONE=1:
 * callbacks are timed, and without an agent the same work is done. STANDIN_TRUTH=FILE: at the end
 * what was made is written there.
 */
#ifndef WTI_TESTS_STANDIN_H
#define WTI_TESTS_STANDIN_H

#include <stddef.h>
#include <stdint.h>

#define STANDIN __attribute__((visibility("default")))

enum standin_op {
	STANDIN_KERNEL,
	STANDIN_COPY,
	STANDIN_COPY_PEER,
	STANDIN_FILL,
	STANDIN_RECORD,
	STANDIN_WAIT,
	STANDIN_SYNC,
	STANDIN_ALLOC,
	STANDIN_FREE,
	STANDIN_OPS,
};

/* What cuInit() does with $CUDA_INJECTION64_PATH; 0: it was loaded. */
STANDIN int standin_init(void);
/* One call, one operation; its correlation. */
STANDIN uint32_t standin_run(int op, uint32_t device, uint32_t stream, const char *kernel);
/* One call, as many kernels. */
STANDIN uint32_t standin_graph(uint32_t device, uint32_t stream, uint32_t graph, uint32_t nodes);
/* A range or a mark as NVTX has them. */
STANDIN void standin_range(const char *name);
STANDIN void standin_range_end(void);
/* A record of a kind that nobody knows yet. */
STANDIN void standin_unknown(uint32_t device);
/* A question that says nothing: cudaGetDevice(). */
STANDIN void standin_question(void);
/* Waits for everything and writes the truth; at exit by itself. */
STANDIN void standin_finish(void);

/* What one operation adds to the sum of all: the trace must have the same. */
static inline uint64_t standin_mix(uint32_t op, uint32_t correlation, uint32_t device,
				   uint64_t started, uint64_t ended, uint64_t bytes)
{
	uint64_t sum = (uint64_t)op << 56 ^ (uint64_t)device << 48 ^ correlation;

	sum = (sum ^ started) * 0x9e3779b97f4a7c15u;
	sum = (sum ^ sum >> 29 ^ ended) * 0xbf58476d1ce4e5b9u;
	return (sum ^ sum >> 32 ^ bytes) * 0x94d049bb133111ebu;
}

/* The same of a range: its thread, its two times and its name. */
static inline uint64_t standin_mix_range(uint32_t thread, uint64_t started, uint64_t ended,
					 const char *name, size_t bytes)
{
	uint64_t hash = 1469598103934665603u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 1099511628211u;
	return standin_mix(STANDIN_OPS, thread, 0, started, ended, hash);
}

#endif
