/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what the arguments of a call point to, as the table of calls says (syscall/table.h), and
 * packing it into pieces as they stand in the trace. tap.bpf.c does the same in the kernel, where
 * it cannot be shared.
 */
#ifndef WTI_SYSCALLS_MEMORY_H
#define WTI_SYSCALLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "syscall/compat.h"
#include "syscall/record.h"
#include "syscall/table.h"

/* For each number what there is to read, asked once. */
struct wti_plan {
	uint8_t count;
	bool at_entry;
	struct wti_read reads[WTI_READS_MAX];
};

struct wti_plans {
	struct wti_plan by_number[WTI_CALLS_MAX];
	uint16_t compat[WTI_COMPAT_MAX]; /* of i386: where its plan is, plus one; 0: it has none */
};

/* Plans of i386 stand behind those of our own calls, whose numbers are all below. */
#define WTI_PLANS_COMPAT (WTI_CALLS_MAX - WTI_COMPAT_MAX)

/* Without `contents`, what the program reads and writes is left out. */
void wti_plans_init(struct wti_plans *plans, bool contents);

struct wti_memory {
	uint8_t data[WTI_SYSCALL_MEMORY_MAX];
	size_t bytes;
	unsigned piece_count;
	bool unread; /* something that was wanted could not be read */
};

/* Adds the pieces of this moment. `tid` is stopped, and we trace it. */
void wti_memory_read(struct wti_memory *memory, const struct wti_plan *plan, bool at_exit,
		     pid_t tid, const uint64_t args[WTI_CALL_ARGS], int64_t result, bool contents);

#endif
