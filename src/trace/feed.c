/* SPDX-License-Identifier: Apache-2.0 */
/* Records of many tracks merged into one order while they come in. */
#include "feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/number.h"
#include "columns.h"
#include "protocol.h"
#include "reader.h"
#include "ring.h"

#define STREAMS_MAX 65536u
#define TRACKS_MAX 65536u
#define PENDING_BYTES_MAX ((size_t)256 << 20) /* of all tracks together */
#define KINDS_MAX 256u

/* A track's records that have not been handed out, one behind the other. */
struct queue {
	struct wti_feed_stream *stream;
	uint32_t track;
	uint64_t seq_high; /* sequence numbers: records have the low half */
	uint8_t *data;
	size_t from, to, capacity;
};

struct wti_feed_stream {
	struct wti_feed *feed;
	size_t number;
	struct wt_reader reader; /* its definitions; there is no file */
};

struct wti_feed {
	struct wti_feed_stream **streams;
	size_t stream_count, stream_capacity;
	struct wti_map index; /* stream and track: place plus one */
	struct queue *queues;
	size_t queue_count, queue_capacity;
	size_t pending_bytes;
	uint64_t dropped_count;
	uint64_t start_ticks;
	double ns_per_tick;
	struct wti_columns *columns[KINDS_MAX]; /* a row of each kind */
};

/* ---- Coming in ------------------------------------------------------------------------------ */

struct wti_feed *wti_feed_new(uint64_t start_ticks, double ns_per_tick)
{
	struct wti_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	feed->start_ticks = start_ticks;
	feed->ns_per_tick = ns_per_tick;
	wti_map_init(&feed->index, TRACKS_MAX);
	return feed;
}

struct wti_feed_stream *wti_feed_begin(struct wti_feed *feed, const struct wt_identity *identity)
{
	struct wti_feed_stream *stream;

	if (wti_grow(&feed->streams, feed->stream_count + 1, &feed->stream_capacity, STREAMS_MAX))
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->feed = feed;
	stream->number = feed->stream_count;
	stream->reader.fd = -1;
	stream->reader.identity = *identity;
	wti_definitions_init(&stream->reader.definitions);
	feed->streams[feed->stream_count++] = stream;
	return stream;
}

int wti_feed_define(struct wti_feed_stream *stream, uint16_t type, uint32_t id,
		    const uint8_t *payload, size_t bytes)
{
	return wti_definitions_add(&stream->reader.definitions, type, id, payload, bytes);
}

static struct queue *queue_of(struct wti_feed_stream *stream, uint32_t track)
{
	struct wti_feed *feed = stream->feed;
	uint64_t *slot = wti_map_number(&feed->index, (uint64_t)stream->number << 32 | track);

	if (!slot)
		return NULL;
	if (*slot)
		return &feed->queues[*slot - 1];
	if (wti_grow(&feed->queues, feed->queue_count + 1, &feed->queue_capacity, TRACKS_MAX))
		return NULL;
	feed->queues[feed->queue_count] = (struct queue){.stream = stream, .track = track};
	*slot = ++feed->queue_count;
	return &feed->queues[*slot - 1];
}

static bool make_room(struct queue *queue, size_t bytes)
{
	if (queue->from) {
		memmove(queue->data, queue->data + queue->from, queue->to - queue->from);
		queue->to -= queue->from;
		queue->from = 0;
	}
	return !wti_grow(&queue->data, queue->to + bytes, &queue->capacity, PENDING_BYTES_MAX);
}

static uint64_t count_records(const uint8_t *data, size_t bytes)
{
	uint64_t count = 0;

	for (size_t at = 0; at < bytes; count++)
		at += ((const struct wti_record *)(data + at))->units * 8u;
	return count;
}

void wti_feed_records(struct wti_feed_stream *stream, uint32_t track, uint64_t first_seq,
		      const uint8_t *data, size_t bytes)
{
	struct wti_feed *feed = stream->feed;
	struct queue *queue = queue_of(stream, track);

	if (!queue || feed->pending_bytes + bytes > PENDING_BYTES_MAX || !make_room(queue, bytes)) {
		feed->dropped_count += count_records(data, bytes);
		return;
	}
	queue->seq_high = first_seq & ~(uint64_t)UINT32_MAX;
	memcpy(queue->data + queue->to, data, bytes);
	queue->to += bytes;
	feed->pending_bytes += bytes;
}

/* ---- Going out ------------------------------------------------------------------------------ */

static const struct wti_record *first_of(const struct queue *queue)
{
	return queue->from < queue->to ? (const void *)(queue->data + queue->from) : NULL;
}

/*
 * The queue whose first record comes first, and the time up to which it is alone: until then no
 * other need be looked at. Streams of equal times go in the order in which they joined.
 */
static struct queue *next_queue(struct wti_feed *feed, uint64_t below, uint64_t *ret_alone)
{
	struct queue *best = NULL;
	uint64_t first = below, second = below;

	for (size_t i = 0; i < feed->queue_count; i++) {
		struct queue *queue = &feed->queues[i];
		const struct wti_record *record = first_of(queue);

		if (!record || record->ticks >= below)
			continue;
		if (!best || record->ticks < first ||
		    (record->ticks == first && queue->stream->number < best->stream->number)) {
			second = best ? first : second;
			first = record->ticks;
			best = queue;
		} else if (record->ticks < second) {
			second = record->ticks;
		}
	}
	*ret_alone = second;
	return best;
}

/* A place for one row of a kind; NULL: this build does not know the kind, or has no memory. */
static struct wti_columns *columns_of(struct wti_feed *feed, uint16_t number)
{
	const struct wt_kind *kind = wt_kind_builtin(number);
	struct wti_columns *columns;

	if (!kind || number >= KINDS_MAX)
		return NULL;
	if (feed->columns[number])
		return feed->columns[number];
	columns = calloc(1, sizeof(*columns));
	if (!columns)
		return NULL;
	wti_columns_init(columns, kind);
	if (wti_columns_grow(columns)) {
		wti_columns_release(columns);
		free(columns);
		return NULL;
	}
	return feed->columns[number] = columns;
}

/* The row as a batch of one. Texts have their lengths as values. */
static void as_batch(struct wti_columns *columns, struct wt_batch *batch,
		     uint32_t text_at[WT_FIELDS_MAX][2])
{
	*batch = (struct wt_batch){.kind = columns->kind, .rows = 1};
	for (int i = 0; i < columns->kind->field_count; i++) {
		batch->values[i] = columns->values[i];
		if (!wt_type_is_inline(columns->kind->fields[i].type))
			continue;
		text_at[i][0] = 0;
		text_at[i][1] = (uint32_t)columns->texts[i].bytes;
		batch->text_at[i] = text_at[i];
		batch->text[i] = (char *)columns->texts[i].data;
	}
}

static int hand_out(struct wti_feed *feed, const struct queue *queue,
		    const struct wti_record *record, wti_feed_event event, void *cookie)
{
	struct wti_columns *columns = columns_of(feed, record->kind);
	uint32_t text_at[WT_FIELDS_MAX][2];
	struct wt_batch batch;
	struct wt_event emitted;

	if (!columns)
		return 0;
	wti_columns_clear(columns);
	if (wti_unpack(columns, 0, record))
		return 0;
	as_batch(columns, &batch, text_at);
	batch.reader = &queue->stream->reader;
	emitted = (struct wt_event){
		.reader = &queue->stream->reader,
		.kind = columns->kind,
		.batch = &batch,
		.stream = queue->stream->number,
		.track = queue->track,
		.seq = queue->seq_high | record->seq,
		.ticks = record->ticks,
		.time_ns = wti_bounded(wti_i64_of(
			(double)(int64_t)(record->ticks - feed->start_ticks) * feed->ns_per_tick)),
	};
	return event(cookie, &emitted);
}

static int hand_out_first(struct wti_feed *feed, struct queue *queue, wti_feed_event event,
			  void *cookie)
{
	const struct wti_record *record = first_of(queue);
	size_t bytes = record->units * 8u;
	int r = hand_out(feed, queue, record, event, cookie);

	queue->from += bytes;
	feed->pending_bytes -= bytes;
	return r;
}

int wti_feed_until(struct wti_feed *feed, uint64_t below, wti_feed_event event, void *cookie)
{
	struct queue *queue;
	uint64_t alone;
	int r = 0;

	while (!r && (queue = next_queue(feed, below, &alone))) {
		do
			r = hand_out_first(feed, queue, event, cookie);
		while (!r && first_of(queue) && first_of(queue)->ticks < alone);
	}
	return r;
}

uint64_t wti_feed_dropped(const struct wti_feed *feed)
{
	return feed->dropped_count;
}

void wti_feed_free(struct wti_feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < feed->queue_count; i++)
		free(feed->queues[i].data);
	for (size_t i = 0; i < feed->stream_count; i++) {
		wti_definitions_release(&feed->streams[i]->reader.definitions);
		free(feed->streams[i]);
	}
	for (size_t i = 0; i < KINDS_MAX; i++) {
		if (!feed->columns[i])
			continue;
		wti_columns_release(feed->columns[i]);
		free(feed->columns[i]);
	}
	wti_map_release(&feed->index);
	free(feed->queues);
	free(feed->streams);
	free(feed);
}
