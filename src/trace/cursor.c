/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All streams of a trace as one sequence in the defined order.
 *
 * Blocks wait in order of their least time and are opened when the sequence reaches it, so that
 * only those that overlap are in memory. Open blocks stand in a heap by their next row. While one
 * block is ahead of all others its rows are handed out without touching the heap.
 *
 * A damaged block is passed over; its stream remembers the damage (wt_reader_damage).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "order.h"
#include "query.h"
#include "reader.h"
#include "schema.h"
#include "segments.h"
#include "trace.h"

struct key {
	int64_t time_ns;
	uint64_t stream_track; /* stream, then track */
	uint64_t seq;
};

struct waiting {
	int64_t time_ns; /* of its first row */
	uint32_t stream;
	uint32_t block;
};

struct opened {
	struct key key; /* of the row it stands at */
	struct wt_batch batch;
	uint32_t *order; /* rows in time order; NULL: as they stand */
	uint32_t at;
	uint32_t stream;
	int name_field;
};

struct wt_cursor {
	const struct wt_trace *trace;
	struct wt_query query;
	struct wti_selection *selections; /* one a stream */
	size_t selection_count;
	struct waiting *waiting; /* sorted */
	size_t waiting_count;
	size_t waiting_next;
	struct opened **heap;
	size_t heap_count;
	size_t heap_capacity;
	struct opened **spare; /* opened before, memory to be used again */
	size_t spare_count;
	struct wti_segments segments;
	struct opened *current; /* whose row was handed out last; not in the heap */
	uint64_t skipped;
	uint64_t decoded;
};

static bool before(const struct key *a, const struct key *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->stream_track != b->stream_track)
		return a->stream_track < b->stream_track;
	return a->seq < b->seq;
}

static uint32_t row_of(const struct opened *opened)
{
	return opened->order ? opened->order[opened->at] : opened->at;
}

/* Moves to the next wanted row, from opened->at on. False at the end of the block. */
static bool settle(const struct wt_cursor *cursor, struct opened *opened)
{
	const struct wt_batch *batch = &opened->batch;

	for (; opened->at < batch->rows; opened->at++) {
		uint32_t row = row_of(opened);

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

/* ---- The heap ------------------------------------------------------------------------------- */

static void sink(struct wt_cursor *cursor, size_t at)
{
	struct opened **heap = cursor->heap;
	struct opened *moving = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= cursor->heap_count)
			break;
		if (child + 1 < cursor->heap_count &&
		    before(&heap[child + 1]->key, &heap[child]->key))
			child++;
		if (!before(&heap[child]->key, &moving->key))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static int push(struct wt_cursor *cursor, struct opened *opened)
{
	size_t at = cursor->heap_count;

	if (wti_grow(&cursor->heap, at + 1, &cursor->heap_capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	cursor->heap_count++;
	while (at && before(&opened->key, &cursor->heap[(at - 1) / 2]->key)) {
		cursor->heap[at] = cursor->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	cursor->heap[at] = opened;
	return 0;
}

static struct opened *pop(struct wt_cursor *cursor)
{
	struct opened *top = cursor->heap[0];

	cursor->heap[0] = cursor->heap[--cursor->heap_count];
	if (cursor->heap_count)
		sink(cursor, 0);
	return top;
}

/* ---- Opening and closing blocks ---------------------------------------------------------------
 */

static void opened_free(struct opened *opened)
{
	if (!opened)
		return;
	wt_batch_release(&opened->batch);
	free(opened->order);
	free(opened);
}

/* Keeps one block's memory for the next; more would add up with the number of streams. */
static void retire(struct wt_cursor *cursor, struct opened *opened)
{
	free(opened->order);
	opened->order = NULL;
	if (cursor->spare_count) {
		opened_free(opened);
		return;
	}
	cursor->spare[cursor->spare_count++] = opened;
}

static int decode(struct wt_cursor *cursor, const struct waiting *waiting, struct opened *opened,
		  struct wt_err *err)
{
	struct wt_reader *reader = wt_trace_stream(cursor->trace, waiting->stream);
	const struct wt_kind *kind =
		wt_reader_kind(reader, wt_reader_block(reader, waiting->block)->kind);
	uint32_t fields = cursor->query.fields;
	struct wt_err damage;
	int status;

	opened->stream = waiting->stream;
	opened->at = 0;
	opened->name_field = kind ? wti_kind_name_field(kind) : -1;
	if (cursor->query.name && opened->name_field >= 0)
		fields |= 1u << opened->name_field;
	status = wt_reader_decode(reader, waiting->block, fields, &opened->batch, &damage);
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

static int open_block(struct wt_cursor *cursor, const struct waiting *waiting, struct wt_err *err)
{
	struct opened *opened;
	int status;

	if (cursor->spare_count)
		opened = cursor->spare[--cursor->spare_count];
	else
		opened = calloc(1, sizeof(*opened));
	if (!opened)
		return wti_err(err, WT_E_NOMEM, "out of memory for a block");
	status = decode(cursor, waiting, opened, err);
	if (!status && settle(cursor, opened)) {
		status = push(cursor, opened);
		if (!status)
			return 0;
		wti_err(err, status, "out of memory for a query");
	}
	retire(cursor, opened);
	return status == WT_E_NOMEM ? status : 0;
}

/* Opens every block that may hold a row before the earliest one that is open. */
static int open_due(struct wt_cursor *cursor, struct wt_err *err)
{
	while (cursor->waiting_next < cursor->waiting_count) {
		const struct waiting *next = &cursor->waiting[cursor->waiting_next];
		int status;

		if (cursor->heap_count && cursor->heap[0]->key.time_ns < next->time_ns)
			return 0;
		cursor->waiting_next++;
		status = open_block(cursor, next, err);
		if (status)
			return status;
	}
	return 0;
}

/* ---- Setting up --------------------------------------------------------------------------------
 */

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
	cursor->spare = malloc(sizeof(struct opened *));
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

void wt_cursor_free(struct wt_cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t i = 0; i < cursor->selection_count; i++)
		wti_selection_release(&cursor->selections[i]);
	for (size_t i = 0; i < cursor->heap_count; i++)
		opened_free(cursor->heap[i]);
	for (size_t i = 0; i < cursor->spare_count; i++)
		opened_free(cursor->spare[i]);
	opened_free(cursor->current);
	wti_segments_release(&cursor->segments);
	free(cursor->selections);
	free(cursor->waiting);
	free(cursor->heap);
	free(cursor->spare);
	free(cursor);
}

/* ---- Handing out -------------------------------------------------------------------------------
 */

static void hand_out(const struct wt_cursor *cursor, const struct opened *opened,
		     struct wt_event *ret_event)
{
	uint32_t row = row_of(opened);

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
	const struct key *key = &cursor->current->key;

	if (cursor->waiting_next < cursor->waiting_count &&
	    cursor->waiting[cursor->waiting_next].time_ns <= key->time_ns)
		return false;
	return !cursor->heap_count || before(key, &cursor->heap[0]->key);
}

/* Moves to the next row in order, which is then that of cursor->current. 0 at the end. */
static int advance(struct wt_cursor *cursor, struct wt_err *err)
{
	struct opened *current = cursor->current;
	int status;

	if (current) {
		current->at++;
		if (!settle(cursor, current)) {
			retire(cursor, current);
			cursor->current = NULL;
		} else if (still_first(cursor)) {
			return 1;
		} else {
			cursor->current = NULL;
			status = push(cursor, current);
			if (status) {
				opened_free(current);
				return wti_err(err, status, "out of memory for a query");
			}
		}
	}
	status = open_due(cursor, err);
	if (status)
		return status;
	if (!cursor->heap_count)
		return 0;
	cursor->current = pop(cursor);
	return 1;
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
	struct opened *current = cursor->current;
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
	/* Rows of segments have to be looked at one by one: some have been told before. */
	while (!cursor->segments.any && count < rows_max && goes_on(cursor)) {
		ret_rows[count] = row_of(cursor->current);
		ret_times_ns[count++] = cursor->current->key.time_ns;
	}
	return (int)count;
}

void wt_cursor_cost(const struct wt_cursor *cursor, uint64_t *ret_skipped, uint64_t *ret_decoded)
{
	*ret_skipped = cursor->skipped;
	*ret_decoded = cursor->decoded;
}
