/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All streams of a trace as one sequence in the defined order.
 *
 * Blocks wait in order of their least time and are opened when the sequence reaches it, so that
 * only those that overlap are in memory. Open blocks stand in a heap by their next row. While one
 * block is ahead of all others its rows are handed out without touching the heap.
 *
 * What a file claims may make more blocks overlap than memory can hold: a block of a few hundred
 * bytes can have megabytes of rows. Beyond a ceiling a block is opened in parts: a slice of its
 * rows is copied, and when that is used up the block is decoded once more for the next. The order
 * is the same, it only takes longer.
 *
 * A damaged block is passed over; its stream remembers the damage (wt_reader_damage).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "opened.h"
#include "order.h"
#include "query.h"
#include "reader.h"
#include "schema.h"
#include "segments.h"
#include "slice.h"
#include "trace.h"

/*
 * How much the blocks that are open as a whole may take: that much in any case, and so many times
 * what they take in their files. Real ones take up to 40 times that.
 */
#define WHOLE_BYTES ((size_t)256 << 20)
#define WHOLE_RATIO 64u
#define PARTS_BYTES ((size_t)128 << 20) /* of all slices together */

struct waiting {
	int64_t time_ns; /* of its first row */
	uint32_t stream;
	uint32_t block;
};

struct wt_cursor {
	const struct wt_trace *trace;
	struct wt_query query;
	struct wti_selection *selections; /* one a stream */
	size_t selection_count;
	struct waiting *waiting; /* sorted */
	size_t waiting_count;
	size_t waiting_next;
	struct wti_heap heap;
	struct wti_opened **spare; /* opened before, memory to be used again */
	size_t spare_count;
	struct wti_segments segments;
	struct wti_opened *current; /* whose row was handed out last; not in the heap */
	struct wti_opened *scratch; /* a block that is being cut into slices */
	uint32_t *picked;           /* rows of it */
	size_t picked_capacity;
	size_t bytes; /* of the blocks that are open as a whole */
	size_t stored_bytes;
	size_t whole_bytes; /* WHOLE_BYTES, unless a test wants less */
	unsigned whole_ratio;
	size_t parts_bytes;
	uint64_t skipped;
	uint64_t decoded;
};

/* Moves to the next wanted row, from opened->at on. False at the end of the block. */
static bool settle(const struct wt_cursor *cursor, struct wti_opened *opened)
{
	const struct wt_batch *batch = &opened->batch;

	for (; opened->at < batch->rows; opened->at++) {
		uint32_t row = wti_opened_row(opened);

		opened->key.time_ns = wt_trace_ns(cursor->trace, opened->stream, batch->time[row]);
		if (!wti_selection_row(&cursor->selections[opened->stream], batch,
				       opened->name_field, row, opened->key.time_ns))
			continue;
		opened->key.stream_track =
			(uint64_t)opened->stream << 32 | (uint32_t)batch->track[row];
		opened->key.seq = batch->seq[row];
		return true;
	}
	return false;
}

/* ---- Opening and closing blocks -------------------------------------------------------------- */

/* Keeps one block's memory for the next; more would add up with the number of streams. */
static void retire(struct wt_cursor *cursor, struct wti_opened *opened)
{
	cursor->bytes -= opened->bytes;
	cursor->stored_bytes -= opened->stored_bytes;
	opened->bytes = opened->stored_bytes = 0;
	free(opened->order);
	opened->order = NULL;
	if (cursor->spare_count || opened->in_parts) {
		wti_opened_free(opened);
		return;
	}
	cursor->spare[cursor->spare_count++] = opened;
}

/* The block that `opened` is of, from the beginning. */
static int decode(struct wt_cursor *cursor, struct wti_opened *opened, struct wt_err *err)
{
	struct wt_reader *reader = wt_trace_stream(cursor->trace, opened->stream);
	const struct wt_kind *kind =
		wt_reader_kind(reader, wt_reader_block(reader, opened->block)->kind);
	uint32_t fields = cursor->query.fields;
	struct wt_err damage;
	int status;

	opened->at = 0;
	opened->name_field = kind ? wti_kind_name_field(kind) : -1;
	if (cursor->query.name && opened->name_field >= 0)
		fields |= 1u << opened->name_field;
	status = wt_reader_decode(reader, opened->block, fields, &opened->batch, &damage);
	cursor->decoded++;
	if (!status && !opened->batch.in_time_order) {
		opened->order = wti_time_order(&opened->batch);
		if (!opened->order)
			status = wti_err(&damage, WT_E_NOMEM, "out of memory for a block");
	}
	if (status == WT_E_NOMEM && err)
		*err = damage;
	else if (status)
		wti_reader_damaged(reader, &damage);
	return status;
}

/* 1 if there is a row, 0 if there is none or the block is damaged. */
static int open_whole(struct wt_cursor *cursor, struct wti_opened *opened, struct wt_err *err)
{
	const struct wt_reader *reader = wt_trace_stream(cursor->trace, opened->stream);
	int status = decode(cursor, opened, err);

	if (status)
		return status == WT_E_NOMEM ? status : 0;
	opened->bytes = opened->batch.memory_bytes;
	opened->stored_bytes = wt_reader_block(reader, opened->block)->bytes;
	cursor->bytes += opened->bytes;
	cursor->stored_bytes += opened->stored_bytes;
	return settle(cursor, opened);
}

/* ---- Blocks in parts ------------------------------------------------------------------------- */

/* What the block will take is known but for its texts: those count when they are there. */
static bool fits(const struct wt_cursor *cursor, const struct waiting *waiting)
{
	const struct wt_reader *reader = wt_trace_stream(cursor->trace, waiting->stream);
	const struct wt_block *block = wt_reader_block(reader, waiting->block);
	const struct wt_kind *kind = wt_reader_kind(reader, block->kind);
	size_t bytes = (size_t)block->rows * (kind ? 4u + kind->field_count : 0) * sizeof(uint64_t);

	return cursor->bytes + bytes <=
	       cursor->whole_bytes + cursor->whole_ratio * (cursor->stored_bytes + block->bytes);
}

/* Its share of what all slices may take: of as many blocks as can be open while it is. */
static size_t share(const struct wt_cursor *cursor, const struct waiting *waiting)
{
	const struct wt_reader *reader = wt_trace_stream(cursor->trace, waiting->stream);
	int64_t end_ns = wt_trace_ns(cursor->trace, waiting->stream,
				     wt_reader_block(reader, waiting->block)->time_max);
	size_t low = cursor->waiting_next;
	size_t high = cursor->waiting_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cursor->waiting[middle].time_ns <= end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return cursor->parts_bytes / (cursor->heap.count + low - cursor->waiting_next + 1);
}

/* The rows of cursor->scratch from its place on, as many as fit; `ret_found` if there is any. */
static uint32_t pick(struct wt_cursor *cursor, struct wti_opened *opened, uint32_t least,
		     bool *ret_found)
{
	struct wti_opened *scratch = cursor->scratch;
	uint32_t count = 0;
	size_t bytes = 0;

	*ret_found = false;
	for (; settle(cursor, scratch); scratch->at++) {
		uint32_t row = wti_opened_row(scratch);

		if (!*ret_found)
			opened->key = scratch->key;
		*ret_found = true;
		bytes += wti_slice_row_bytes(&scratch->batch, row);
		if (count >= least && bytes > opened->slice_bytes)
			break;
		cursor->picked[count++] = row;
	}
	opened->next = scratch->at;
	return count;
}

/*
 * The next slice, of `least` rows at least if there are any. 1 if there is another row, be it that
 * only its key is known; 0 at the end of the block.
 */
static int next_slice(struct wt_cursor *cursor, struct wti_opened *opened, uint32_t least,
		      struct wt_err *err)
{
	struct wti_opened *scratch = cursor->scratch;
	uint32_t count;
	bool found;
	int status;

	free(opened->slice);
	opened->slice = NULL;
	opened->batch = (struct wt_batch){0};
	opened->at = 0;
	scratch->stream = opened->stream;
	scratch->block = opened->block;
	status = decode(cursor, scratch, err);
	if (status)
		return status == WT_E_NOMEM ? status : 0;
	opened->name_field = scratch->name_field;
	scratch->at = opened->next;
	status = wti_grow(&cursor->picked, scratch->batch.rows, &cursor->picked_capacity,
			  WTI_NO_CEILING);
	if (!status) {
		count = pick(cursor, opened, least, &found);
		status = count ? wti_slice_copy(&scratch->batch, cursor->picked, count,
						&opened->batch, &opened->slice)
			       : 0;
	}
	free(scratch->order);
	scratch->order = NULL;
	if (status)
		return wti_err(err, status, "out of memory for a block");
	return found;
}

static int open_in_parts(struct wt_cursor *cursor, const struct waiting *waiting,
			 struct wti_opened *opened, struct wt_err *err)
{
	if (!cursor->scratch)
		cursor->scratch = calloc(1, sizeof(*cursor->scratch));
	if (!cursor->scratch)
		return wti_err(err, WT_E_NOMEM, "out of memory for a block");
	wt_batch_release(&opened->batch);
	opened->in_parts = true;
	opened->next = 0;
	opened->slice_bytes = share(cursor, waiting);
	return next_slice(cursor, opened, 0, err);
}

/* ---- Taking blocks in ------------------------------------------------------------------------ */

static int open_block(struct wt_cursor *cursor, const struct waiting *waiting, struct wt_err *err)
{
	struct wti_opened *opened;
	int more;

	if (cursor->spare_count)
		opened = cursor->spare[--cursor->spare_count];
	else
		opened = calloc(1, sizeof(*opened));
	if (!opened)
		return wti_err(err, WT_E_NOMEM, "out of memory for a block");
	opened->stream = waiting->stream;
	opened->block = waiting->block;
	more = fits(cursor, waiting) ? open_whole(cursor, opened, err)
				     : open_in_parts(cursor, waiting, opened, err);
	if (more > 0 && wti_heap_push(&cursor->heap, opened))
		more = wti_err(err, WT_E_NOMEM, "out of memory for a query");
	if (more <= 0)
		retire(cursor, opened);
	return more < 0 ? more : 0;
}

/* Opens every block that may hold a row before the earliest one that is open. */
static int open_due(struct wt_cursor *cursor, struct wt_err *err)
{
	while (cursor->waiting_next < cursor->waiting_count) {
		const struct waiting *next = &cursor->waiting[cursor->waiting_next];
		int status;

		if (cursor->heap.count && cursor->heap.items[0]->key.time_ns < next->time_ns)
			return 0;
		cursor->waiting_next++;
		status = open_block(cursor, next, err);
		if (status)
			return status;
	}
	return 0;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a;
	const struct waiting *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static void queue_stream(struct wt_cursor *cursor, size_t stream)
{
	const struct wt_reader *reader = wt_trace_stream(cursor->trace, stream);

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		if (!wti_selection_block(&cursor->selections[stream], block)) {
			cursor->skipped++;
			continue;
		}
		cursor->waiting[cursor->waiting_count++] = (struct waiting){
			.time_ns = wt_trace_ns(cursor->trace, stream, block->time_min),
			.stream = (uint32_t)stream,
			.block = (uint32_t)i,
		};
	}
}

static int set_up(struct wt_cursor *cursor, struct wt_err *err)
{
	const struct wt_trace *trace = cursor->trace;
	size_t streams = wt_trace_stream_count(trace);
	size_t blocks = 0;

	for (size_t i = 0; i < streams; i++)
		blocks += wt_reader_block_count(wt_trace_stream(trace, i));
	cursor->selections = calloc(streams ? streams : 1, sizeof(*cursor->selections));
	cursor->waiting = malloc(sizeof(*cursor->waiting) * (blocks ? blocks : 1));
	cursor->spare = malloc(sizeof(struct wti_opened *));
	if (wti_segments_init(&cursor->segments, trace) || !cursor->selections ||
	    !cursor->waiting || !cursor->spare)
		return wti_err(err, WT_E_NOMEM, "out of memory for a query");
	for (size_t i = 0; i < streams; i++) {
		cursor->selection_count++;
		if (wti_selection_init(&cursor->selections[i], &cursor->query, trace, i))
			return wti_err(err, WT_E_NOMEM, "out of memory for a query");
		queue_stream(cursor, i);
	}
	if (cursor->waiting_count)
		qsort(cursor->waiting, cursor->waiting_count, sizeof(*cursor->waiting), by_time);
	return 0;
}

int wt_cursor_open(const struct wt_trace *trace, const struct wt_query *query,
		   struct wt_cursor **ret_cursor, struct wt_err *err)
{
	struct wt_cursor *cursor = calloc(1, sizeof(*cursor));
	int status;

	if (!cursor)
		return wti_err(err, WT_E_NOMEM, "out of memory for a query");
	cursor->trace = trace;
	cursor->whole_bytes = WHOLE_BYTES;
	cursor->whole_ratio = WHOLE_RATIO;
	cursor->parts_bytes = PARTS_BYTES;
	wt_query_init(&cursor->query);
	if (query)
		memcpy(&cursor->query, query,
		       query->size < sizeof(*query) ? query->size : sizeof(*query));
	status = set_up(cursor, err);
	if (status) {
		wt_cursor_free(cursor);
		return status;
	}
	*ret_cursor = cursor;
	return 0;
}

void wti_cursor_bound(struct wt_cursor *cursor, size_t whole_bytes, size_t parts_bytes)
{
	cursor->whole_bytes = whole_bytes;
	cursor->whole_ratio = 0;
	cursor->parts_bytes = parts_bytes;
}

void wt_cursor_free(struct wt_cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t i = 0; i < cursor->selection_count; i++)
		wti_selection_release(&cursor->selections[i]);
	wti_heap_release(&cursor->heap);
	for (size_t i = 0; i < cursor->spare_count; i++)
		wti_opened_free(cursor->spare[i]);
	wti_opened_free(cursor->current);
	wti_opened_free(cursor->scratch);
	free(cursor->picked);
	wti_segments_release(&cursor->segments);
	free(cursor->selections);
	free(cursor->waiting);
	free(cursor->spare);
	free(cursor);
}

/* ---- Handing out ----------------------------------------------------------------------------- */

static void hand_out(const struct wt_cursor *cursor, const struct wti_opened *opened,
		     struct wt_event *ret_event)
{
	uint32_t row = wti_opened_row(opened);

	*ret_event = (struct wt_event){
		.trace = cursor->trace,
		.reader = opened->batch.reader,
		.kind = opened->batch.kind,
		.batch = &opened->batch,
		.stream = opened->stream,
		.row = row,
		.track = (uint32_t)opened->batch.track[row],
		.seq = opened->batch.seq[row],
		.ticks = opened->batch.time[row],
		.time_ns = opened->key.time_ns,
	};
}

/* True if the current block's next row comes before everything else. */
static bool still_first(const struct wt_cursor *cursor)
{
	const struct wti_key *key = &cursor->current->key;

	if (cursor->waiting_next < cursor->waiting_count &&
	    cursor->waiting[cursor->waiting_next].time_ns <= key->time_ns)
		return false;
	return !cursor->heap.count || wti_key_before(key, &cursor->heap.items[0]->key);
}

/* 1 if the block has a row behind the one it stands at, 0 at its end. */
static int next_row(struct wt_cursor *cursor, struct wti_opened *opened, struct wt_err *err)
{
	opened->at++;
	if (settle(cursor, opened))
		return 1;
	return opened->in_parts ? next_slice(cursor, opened, 0, err) : 0;
}

/* Steps the current block on. 1 if it is still the first; otherwise there is no current one. */
static int leave_current(struct wt_cursor *cursor, struct wt_err *err)
{
	struct wti_opened *current = cursor->current;
	int more = next_row(cursor, current, err);

	if (more > 0 && current->batch.rows && still_first(cursor))
		return 1;
	cursor->current = NULL;
	if (more > 0 && !wti_heap_push(&cursor->heap, current))
		return 0;
	retire(cursor, current);
	if (more > 0)
		return wti_err(err, WT_E_NOMEM, "out of memory for a query");
	return more;
}

/* The first of the heap becomes the current one. 0 if it turns out to have no row any more. */
static int enter_first(struct wt_cursor *cursor, struct wt_err *err)
{
	struct wti_opened *first = wti_heap_pop(&cursor->heap);
	int more = first->batch.rows ? 1 : next_slice(cursor, first, 1, err);

	if (more > 0)
		cursor->current = first;
	else
		retire(cursor, first);
	return more;
}

/* Moves to the next row in order, which is then that of cursor->current. 0 at the end. */
static int advance(struct wt_cursor *cursor, struct wt_err *err)
{
	int status = cursor->current ? leave_current(cursor, err) : 0;

	while (!status) {
		status = open_due(cursor, err);
		if (status || !cursor->heap.count)
			return status;
		status = enter_first(cursor, err);
	}
	return status;
}

int wt_cursor_next(struct wt_cursor *cursor, struct wt_event *ret_event, struct wt_err *err)
{
	int more;

	do {
		more = advance(cursor, err);
		if (more <= 0)
			return more;
		hand_out(cursor, cursor->current, ret_event);
	} while (wti_segments_repeat(&cursor->segments, ret_event->stream, ret_event->track,
				     ret_event->seq));
	return 1;
}

/* The row after that of cursor->current comes from the same block and before everything else. */
static bool goes_on(struct wt_cursor *cursor)
{
	struct wti_opened *current = cursor->current;
	uint32_t at = current->at++;

	if (settle(cursor, current) && still_first(cursor))
		return true;
	current->at = at; /* advance() will find the same */
	return false;
}

int wt_cursor_rows(struct wt_cursor *cursor, size_t rows_max, struct wt_event *ret_first,
		   uint32_t *ret_rows, int64_t *ret_times_ns, struct wt_err *err)
{
	size_t count = 1;
	int more = rows_max ? wt_cursor_next(cursor, ret_first, err) : 0;

	if (more <= 0)
		return more;
	ret_rows[0] = ret_first->row;
	ret_times_ns[0] = ret_first->time_ns;
	rows_max = rows_max < INT_MAX ? rows_max : INT_MAX;
	/* Rows of segments have to be looked at one by one: some have been read before. */
	while (!cursor->segments.any && count < rows_max && goes_on(cursor)) {
		ret_rows[count] = wti_opened_row(cursor->current);
		ret_times_ns[count++] = cursor->current->key.time_ns;
	}
	return (int)count;
}

void wt_cursor_cost(const struct wt_cursor *cursor, uint64_t *ret_skipped, uint64_t *ret_decoded)
{
	*ret_skipped = cursor->skipped;
	*ret_decoded = cursor->decoded;
}
