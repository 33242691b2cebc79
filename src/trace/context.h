/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a context variable had a given value, for each track of a stream.
 *
 * A variable is valid on the track that set it, until that track sets it again. A track that never
 * sets it (a device queue, a helper thread) follows whichever track of its stream set it last.
 */
#ifndef WTI_TRACE_CONTEXT_H
#define WTI_TRACE_CONTEXT_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"

struct wti_interval {
	uint64_t from; /* ticks */
	uint64_t to;   /* exclusive, but for UINT64_MAX */
};

struct wti_intervals {
	struct wti_interval *items; /* in order, apart */
	size_t count;
	size_t capacity;
	bool open; /* the value holds now, as far as has been read */
};

struct wti_context {
	struct wti_map tracks; /* track -> index in `of_track` */
	struct wti_intervals *of_track;
	size_t track_count;
	size_t track_capacity;
	struct wti_intervals of_stream;
};

void wti_context_release(struct wti_context *context);
/* Reads the context events of a stream. Damaged blocks are passed over. */
int wti_context_read(struct wti_context *context, const struct wt_reader *reader, const char *key,
		     const char *value);
bool wti_context_holds(const struct wti_context *context, uint64_t track, uint64_t ticks);
/* False if it holds nowhere between the two moments, on any track: such blocks are skipped. */
bool wti_context_overlaps(const struct wti_context *context, uint64_t from, uint64_t to);

#endif
