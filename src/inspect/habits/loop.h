/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises that a thread makes the same calls, or a short cycle of them, over and over with the
 * same effect: as much as can be seen from outside of a loop that gets nowhere.
 */
#ifndef WTI_PATTERNS_LOOP_H
#define WTI_PATTERNS_LOOP_H

#include "inspect/core/requests.h"

#define WTI_LOOP_CYCLE_MAX 4

/* A stretch of repetitions. */
struct wti_stretch {
	uint64_t count; /* calls */
	uint32_t cycle; /* calls in a repetition */
	uint32_t arch, nr;
	uint32_t thing;       /* as in the ledger */
	struct wti_line line; /* filled in by whoever knows it */
	bool has_line;
	int64_t result;
	int64_t first_ns, last_ns;
	int64_t step; /* -1: not in one */
};

struct wti_loop {
	uint64_t prints[WTI_LOOP_CYCLE_MAX]; /* of the last calls */
	uint32_t at;
	uint64_t runs[WTI_LOOP_CYCLE_MAX]; /* equal to the call so many before, in a row */
	int64_t begins[WTI_LOOP_CYCLE_MAX];
	struct wti_stretch longest;
};

struct wti_loop_call {
	const struct wti_syscall *call;
	const struct wti_request_row *row; /* NULL: of no known kind */
	uint32_t thing;
	int64_t end_ns;
	int64_t step;
};

void wti_loop_see(struct wti_loop *loop, const struct wti_loop_call *seen);

#endif
