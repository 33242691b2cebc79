/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a decoded record to events. Knows how work on devices is represented in a trace, and what
 * has to be remembered for it: the tracks of queues, open ranges, events that were recorded.
 * Belongs to one thread.
 */
#ifndef WTI_AGENTS_CUDA_REPORT_H
#define WTI_AGENTS_CUDA_REPORT_H

#include <stdbool.h>

#include "common/agent.h"

#include "activity.h"

enum {
	WTI_CUDA_QUEUES_MAX = 1024, /* powers of two */
	WTI_CUDA_EVENTS_MAX = 4096,
	WTI_CUDA_RANGES_MAX = 4096,
	WTI_CUDA_CONTEXTS_MAX = 256,
};

struct wti_cuda_queue {
	uint32_t device, context, stream;
	uint32_t track; /* 0: the place is free */
};

struct wti_cuda_event {
	uint64_t key; /* context and number; 0: the place is free */
	uint32_t correlation;
};

struct wti_cuda_range {
	uint32_t id; /* 0: the place is free */
	uint32_t thread;
	uint64_t start;
	struct wt_name *name;
};

/* What became of all records: each is in exactly one of these. */
struct wti_cuda_tally {
	uint64_t emitted; /* became an event */
	uint64_t joined;  /* the second half of an event: begin of a range, an external id of others
			   */
	uint64_t unknown; /* of a kind or a length that we do not know */
	uint64_t dropped; /* by CUPTI, before they reached us */
};

struct wti_cuda_report {
	struct wti_here here; /* of the thread that reports */
	uint32_t clock;       /* domain of all times */
	const char *(*call_name)(int domain, uint32_t cbid);
	uint32_t node_last; /* of graphs, for correlations */
	struct wti_cuda_tally tally;
	uint32_t devices[WTI_CUDA_CONTEXTS_MAX]; /* by context, plus one; 0: not known */
	struct wti_cuda_queue queues[WTI_CUDA_QUEUES_MAX];
	struct wti_cuda_event events[WTI_CUDA_EVENTS_MAX];
	struct wti_cuda_range ranges[WTI_CUDA_RANGES_MAX];
};

#pragma GCC visibility push(hidden)

/* One record, whatever it is. */
void wti_cuda_report(struct wti_cuda_report *report, const struct wti_cuda_record *record);
/* Records of which only the number is known. `of`: kind of the events that they would have been. */
void wti_cuda_report_lost(struct wti_cuda_report *report, uint64_t count);
/* Ranges that are still open, the tally, and what the thread that reports has used. */
void wti_cuda_report_end(struct wti_cuda_report *report, uint64_t cpu_ns);
/* A word to the user: kept in the trace and printed by `record`. */
void wti_cuda_report_note(struct wti_here here, const char *text);

#pragma GCC visibility pop

#endif
