/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that a cursor has open, in a heap by the row that each of them stands at. */
#ifndef WTI_TRACE_OPENED_H
#define WTI_TRACE_OPENED_H

#include <wheeltap/trace.h>

struct wti_key {
	int64_t time_ns;
	uint64_t stream_track; /* stream, then track */
	uint64_t seq;
};

struct wti_opened {
	struct wti_key key; /* of the row it stands at */
	struct wt_batch batch;
	uint32_t *order; /* rows in time order; NULL: as they stand */
	uint32_t at;
	uint32_t stream;
	uint32_t block;
	int name_field;
	size_t bytes; /* that are counted in the cursor's */
	size_t stored_bytes;
	bool in_parts; /* the batch is a slice, and may be empty: then only the key is known */
	void *slice;
	size_t slice_bytes; /* at most, unless a single row is larger */
	uint32_t next;      /* place in the block's order that the next slice begins at */
};

struct wti_heap {
	struct wti_opened **items;
	size_t count;
	size_t capacity;
};

void wti_opened_free(struct wti_opened *opened);

static inline uint32_t wti_opened_row(const struct wti_opened *opened)
{
	return opened->order ? opened->order[opened->at] : opened->at;
}

static inline bool wti_key_before(const struct wti_key *a, const struct wti_key *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->stream_track != b->stream_track)
		return a->stream_track < b->stream_track;
	return a->seq < b->seq;
}

/* WT_E_NOMEM: it is still the caller's. */
int wti_heap_push(struct wti_heap *heap, struct wti_opened *opened);
/* The first; there has to be one. */
struct wti_opened *wti_heap_pop(struct wti_heap *heap);
/* With the blocks that are in it. */
void wti_heap_release(struct wti_heap *heap);

#endif
