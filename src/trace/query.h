/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query made ready for one stream: which of its blocks may hold what is asked for, by their
 * headers alone, and which rows of a decoded block do.
 */
#ifndef WTI_TRACE_QUERY_H
#define WTI_TRACE_QUERY_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"
#include "context.h"

struct wti_selection {
	const struct wt_query *query;
	const struct wt_reader *reader;
	uint64_t from;         /* ticks, inclusive */
	uint64_t to;           /* ticks, inclusive; generous: rows are compared in ns */
	uint64_t track_filter; /* bits that a wanted track can have */
	uint64_t name_filter;
	struct wti_map tracks;        /* wanted ones, by id */
	struct wti_map names;         /* wanted ones, by id */
	struct wti_context *contexts; /* all must hold */
	size_t context_count;
	bool impossible; /* no row can match */
};

int wti_selection_init(struct wti_selection *selection, const struct wt_query *query,
		       const struct wt_trace *trace, size_t stream);
void wti_selection_release(struct wti_selection *selection);
bool wti_selection_block(const struct wti_selection *selection, const struct wt_block *block);
/* `time_ns` is that of the row; `name_field` that of the batch's kind, or -1. */
bool wti_selection_row(const struct wti_selection *selection, const struct wt_batch *batch,
		       int name_field, uint32_t row, int64_t time_ns);

/* A cursor over the whole trace: events of these kinds (the list ends with NULL) whose first name
 * matches the glob `name` (NULL: all), with these fields decoded. */
int wti_cursor_of(const struct wt_trace *trace, const char *const *kinds, const char *name,
		  uint32_t fields, struct wt_cursor **ret_cursor, struct wt_err *err);

/* For tests: how much a cursor's blocks may take as a whole, and those beyond in parts. */
void wti_cursor_bound(struct wt_cursor *cursor, size_t whole_bytes, size_t parts_bytes);

#endif
