/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of calls on their way into the trace: unwound, and each written once, with the files that
 * it goes through. What has no room is counted.
 */
#ifndef WTI_SYSCALLS_STACKS_H
#define WTI_SYSCALLS_STACKS_H

#include "trace/sink.h"

#include "unwind.h"

struct wti_stacks {
	struct wti_spaces spaces;
	struct wti_sink *sink;
	void *stream;
	struct wti_map known; /* hash of a stack: its number */
	uint32_t last_id;     /* of stacks */
	uint32_t last_code;   /* of files that were written */
	uint64_t taken;       /* stacks of calls */
	uint64_t cut;         /* deeper than is kept */
	uint64_t broken;      /* the outer frames could not be found */
	uint64_t beyond_copy; /* of these: for want of a larger copy of the stack */
	uint64_t left_out;    /* more different ones than are kept */
};

void wti_stacks_init(struct wti_stacks *stacks, struct wti_sink *sink, void *stream);
void wti_stacks_release(struct wti_stacks *stacks);
/* The number in the trace; 0: none. The record has been checked. */
uint32_t wti_stacks_take(struct wti_stacks *stacks, const struct wti_raw_stack *raw);

#endif
