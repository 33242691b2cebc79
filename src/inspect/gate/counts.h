/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of system calls for assertions: of any set of calls, in all, by step and within a stage,
 * with the bytes that they carried; the memory that was asked for; how the work is spread over
 * processes. Exact, as it sees the events: sums over what the model of effects keeps would only be
 * bounds.
 *
 * Steps and stages are those of the first thread that emits them, as in goldens.
 */
#ifndef WTI_GATE_COUNTS_H
#define WTI_GATE_COUNTS_H

#include <wheeltap/inspect.h>

#include "base/map.h"
#include "syscall/expr.h"

struct wti_counter {
	/* Asked for: */
	const char *call;  /* an expression; NULL: all */
	const char *stage; /* NULL: all the time */
	bool errors_only;
	bool counts_bytes; /* rather than calls */
	/* Found: */
	uint64_t seen;  /* such calls in all, errors and stages aside */
	bool saw_stage; /* its own */
	uint64_t total;
	uint64_t step_max; /* of whole steps */
	uint64_t step_min;
	/* While the run goes by: */
	struct wti_call_set sets[2]; /* by architecture, from 1 */
	uint64_t current;
};

struct wti_counts {
	struct wti_counter *counters;
	size_t counter_count;
	uint64_t step_count; /* whole ones */
	uint64_t call_count;
	uint64_t error_count;
	uint64_t
		asked_bytes; /* of memory: anonymous mappings, growth of the heap and of mappings */
	uint64_t busiest_calls; /* of the process that makes the most */
	char busiest[64];       /* its name */
	size_t process_count;
	uint64_t repeated_count; /* calls just like the one that their thread made before */
	bool saw_stage;
	uint64_t unread_count;   /* calls about files or peers whose arguments could not be read */
	struct wti_map programs; /* executed, by short name; for the caller to release */
};

/* The inspector "counts" fills this in; counters are the caller's. */
struct wti_counts_options {
	struct wti_counts *counts;
};

#endif
