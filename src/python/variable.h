/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a context variable (step, stage, epoch, one of the user's) was at the moment of a row.
 *
 * A variable is valid on the track that set it, until that track sets it again; a track that never
 * sets it follows whichever track of its stream set it last (src/trace/context.h). `rank` is what
 * the process said when it joined its group.
 */
#ifndef WTI_PYTHON_VARIABLE_H
#define WTI_PYTHON_VARIABLE_H

#include <wheeltap/trace.h>

#include "column.h"

struct wti_change {
	uint64_t ticks;
	uint64_t track;
	uint64_t seq;
	uint64_t bits;
	uint32_t type; /* enum wt_value_type */
	uint32_t text; /* where it begins in wti_variable.texts */
	uint32_t text_bytes;
};

struct wti_variable_stream {
	struct wti_change *all; /* by time */
	struct wti_change *own; /* by track, then time */
	size_t count;
	size_t capacity;
	struct wti_map tracks; /* where its changes begin in `own`, plus one */
	/* The last look-up: rows of a track come in time order. */
	const struct wti_change *followed;
	size_t followed_count;
	uint64_t followed_track;
	size_t hint;
};

struct wti_variable {
	struct wti_variable_stream *streams;
	size_t stream_count;
	struct wti_buf texts;
	enum wti_column_type type; /* that holds all values */
};

int wti_variable_read(struct wti_variable *variable, const struct wt_trace *trace, const char *key,
		      struct wt_err *err);
void wti_variable_release(struct wti_variable *variable);
/* The last change at or before that moment; NULL: it had no value yet. */
const struct wti_change *wti_variable_at(struct wti_variable *variable, size_t stream,
					 uint64_t track, uint64_t ticks);

#endif
