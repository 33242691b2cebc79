/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent for CUDA: loaded by the driver, a guest of the agent that is in the process. Its calls
 * are spans on the threads that make them, from CUPTI's callbacks; what devices did comes in
 * activity buffers, and is emitted by a thread of our own. This header is the one state that both
 * share.
 */
#ifndef WTI_AGENTS_CUDA_H
#define WTI_AGENTS_CUDA_H

#include <semaphore.h>
#include <stdatomic.h>

#include "common/guest.h"

#include "activity.h"
#include "buffers.h"
#include "cupti.h"
#include "report.h"

enum wti_cuda_state {
	WTI_CUDA_OFF,
	WTI_CUDA_ON,
	WTI_CUDA_ENDING, /* everything that is there is to be decoded, then no more */
	WTI_CUDA_ENDED,
};

struct wti_cuda {
	const struct wti_services *agent;
	struct wti_cupti cupti;
	_Atomic uint32_t state; /* enum wti_cuda_state */
	void *subscriber;       /* NULL: there is another one, calls come as records */
	bool whole_graphs;      /* one record a graph instead of one a node */
	bool own_clock;         /* CUPTI takes its times from us: CLOCK_MONOTONIC */
	struct wti_cuda_buffers buffers;
	sem_t work;                    /* posted when a buffer is complete, or at the end */
	struct wti_cuda_report report; /* of the worker alone */
	char missing[200];             /* what is not recorded, and why; empty: nothing */
};

#pragma GCC visibility push(hidden)

extern struct wti_cuda wti_cuda;

/* ---- calls.c: of the threads of the program -------------------------------------------------- */

/* Subscribes to calls. False: there is another subscriber, or it failed; `missing` says so. */
bool wti_cuda_calls_start(void);
/* Takes calls that say nothing out of the activity records. */
void wti_cuda_calls_quiet(void);

/* ---- worker.c: the thread that decodes ------------------------------------------------------- */

bool wti_cuda_worker_start(void);
/* Waits until everything is decoded, or a while. */
void wti_cuda_worker_end(void);

#pragma GCC visibility pop

#endif
