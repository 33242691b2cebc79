/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the registers of a thread and a copy of its stack to the addresses that it came through, by
 * the call frame information of the files; where there is none, by frame pointers.
 */
#ifndef WTI_SYSCALLS_UNWIND_H
#define WTI_SYSCALLS_UNWIND_H

#include "trace/protocol.h"

#include "spaces.h"

struct wti_unwound {
	uint64_t frames[WTI_STACK_MAX]; /* in the trace's address space, innermost first */
	uint32_t codes[WTI_STACK_MAX];  /* whose they are; 0: nobody's, an address of the process */
	unsigned count;
	bool is_cut;  /* there are more frames than have room */
	bool is_lost; /* the way ends before the outermost frame */
};

/* `stack` is `stack_bytes` from the stack pointer up. */
void wti_unwind(struct wti_spaces *spaces, const struct wti_raw_stack *raw, const uint8_t *stack,
		struct wti_unwound *ret);

#endif
