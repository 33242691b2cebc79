/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent for AMD's devices: loaded by rocprofiler-sdk, a guest of the agent that is in the
 * process. Calls of HIP are spans on their threads; kernels and copies come in buffers, on a thread
 * of the library's.
 */
#ifndef WTI_AGENTS_ROCM_H
#define WTI_AGENTS_ROCM_H

#include <stdatomic.h>

#include "common/guest.h"

#include "sdk.h"

enum {
	WTI_ROCM_AGENTS_MAX = 64,
	WTI_ROCM_KERNELS_MAX = 1 << 18, /* PyTorch alone has tens of thousands */
	WTI_ROCM_GRAPHS_MAX = 4096,
	WTI_ROCM_OPERATIONS_MAX = 1024,
};

struct wti_rocm_named {
	_Atomic uint64_t id; /* of a kernel, plus one; 0: the place is free */
	struct wt_name *_Atomic name;
};

struct wti_rocm {
	const struct wti_services *agent;
	struct wti_rocm_sdk sdk;
	struct wti_rocm_id context;
	struct wti_rocm_id buffer;
	uint32_t version;
	_Atomic bool is_on;
	uint64_t agents[WTI_ROCM_AGENTS_MAX]; /* devices, in the order of their first operation */
	uint32_t agent_count;
	struct wti_rocm_named kernels[WTI_ROCM_KERNELS_MAX];
	_Atomic uint64_t graphs[WTI_ROCM_GRAPHS_MAX]; /* correlations of calls that launch graphs */
	_Atomic uint64_t emitted, unknown, dropped;
	_Atomic uint64_t unreported; /* that were dropped, and of which no event says so yet */
};

#pragma GCC visibility push(hidden)

extern struct wti_rocm wti_rocm;

/* ---- calls.c --------------------------------------------------------------------------------- */

void wti_rocm_called0(struct wti_rocm_call0 call, uint64_t *user, void *cookie);
void wti_rocm_called1(struct wti_rocm_call1 call, uint64_t *user, void *cookie);
/* The name of a kernel, or NULL. */
struct wt_name *wti_rocm_kernel_name(uint64_t kernel);
bool wti_rocm_is_graph(uint64_t correlation);

/* ---- ranges.c -------------------------------------------------------------------------------- */

void wti_rocm_marker(uint32_t operation, uint32_t phase, const struct wti_rocm_marker *marker);

/* ---- records.c ------------------------------------------------------------------------------- */

void wti_rocm_records(struct wti_rocm_id context, struct wti_rocm_id buffer,
		      struct wti_rocm_header **headers, size_t count, void *cookie,
		      uint64_t dropped);
void wti_rocm_records_end(void);

#pragma GCC visibility pop

#endif
