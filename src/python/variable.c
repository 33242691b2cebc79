/* SPDX-License-Identifier: Apache-2.0 */
/* Context events of each stream, sorted once; rows are looked up by bisection, with a hint. */
#include "variable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

#define TRACKS_MAX ((size_t)1 << 20)
#define TEXT_BYTES_MAX ((size_t)UINT32_MAX)
#define EVERY_TRACK UINT64_MAX /* of what is said of the process */

void wti_variable_release(struct wti_variable *variable)
{
	for (size_t i = 0; i < variable->stream_count; i++) {
		free(variable->streams[i].all);
		free(variable->streams[i].own);
		wti_map_release(&variable->streams[i].tracks);
	}
	free(variable->streams);
	wti_buf_release(&variable->texts);
	*variable = (struct wti_variable){0};
}

static int add(struct wti_variable_stream *stream, const struct wti_change *change)
{
	if (wti_grow(&stream->all, stream->count + 1, &stream->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	stream->all[stream->count++] = *change;
	return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* How the rows of one block become changes. */
typedef int (*taker)(struct wti_variable *variable, struct wti_variable_stream *stream,
		     const struct wt_batch *batch, const char *key);

static int take_context(struct wti_variable *variable, struct wti_variable_stream *stream,
			const struct wt_batch *batch, const char *key)
{
	size_t key_bytes = strlen(key);
	int r = 0;

	if (batch->kind->field_count <= WT_CONTEXT_FIELD_TEXT ||
	    !batch->text_at[WT_CONTEXT_FIELD_TEXT])
		return 0;
	for (uint32_t i = 0; i < batch->rows && !r; i++) {
		const uint32_t *at = batch->text_at[WT_CONTEXT_FIELD_TEXT];
		struct wt_text name = wt_reader_string(
			batch->reader, (uint32_t)batch->values[WT_CONTEXT_FIELD_KEY][i]);
		struct wti_change change = {
			.ticks = batch->time[i],
			.track = batch->track[i],
			.seq = batch->seq[i],
			.bits = batch->values[WT_CONTEXT_FIELD_VALUE][i],
			.type = (uint32_t)batch->values[WT_CONTEXT_FIELD_TYPE][i],
			.text = (uint32_t)variable->texts.bytes,
			.text_bytes = at[i + 1] - at[i],
		};

		if (name.bytes != key_bytes || memcmp(name.data, key, key_bytes))
			continue;
		r = wti_buf_append(&variable->texts, batch->text[WT_CONTEXT_FIELD_TEXT] + at[i],
				   change.text_bytes);
		if (!r)
			r = add(stream, &change);
	}
	return r;
}

static int take_rank(struct wti_variable *variable, struct wti_variable_stream *stream,
		     const struct wt_batch *batch, const char *key)
{
	struct wti_change change = {.track = EVERY_TRACK, .type = WT_VALUE_TYPE_INT};

	if (!batch->rows || !batch->kind->field_count)
		return 0;
	change.bits = batch->values[WT_RANK_FIELD_RANK][batch->rows - 1];
	stream->count = 0; /* the last word counts, and for the whole process */
	return add(stream, &change);
}

static int read_stream(struct wti_variable *variable, const struct wt_reader *reader, size_t index,
		       uint16_t kind, const char *key, taker take)
{
	struct wt_batch batch = {0};
	int r = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader) && !r; i++) {
		if (wt_reader_block(reader, i)->kind != kind)
			continue;
		r = wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, NULL);
		if (!r)
			r = take(variable, &variable->streams[index], &batch, key);
		else if (r != WT_E_NOMEM) /* damaged: as good as none, and reported by the cursor */
			r = 0;
	}
	wt_batch_release(&batch);
	return r;
}

static int read_kind(struct wti_variable *variable, const struct wt_trace *trace, uint16_t kind,
		     const char *key, taker take)
{
	int r = 0;

	for (size_t i = 0; i < variable->stream_count && !r; i++)
		r = read_stream(variable, wt_trace_stream(trace, i), i, kind, key, take);
	return r;
}

/* Of a flight recording only one segment of the process has its rank. */
static int share_ranks(struct wti_variable *variable, const struct wt_trace *trace)
{
	int r = 0;

	for (size_t i = 0; i < variable->stream_count && !r; i++) {
		const struct wt_identity *a = wt_reader_identity(wt_trace_stream(trace, i));

		for (size_t j = 0; j < variable->stream_count && !variable->streams[i].count && !r;
		     j++) {
			const struct wt_identity *b = wt_reader_identity(wt_trace_stream(trace, j));

			if (variable->streams[j].count && a->pid == b->pid && a->exec == b->exec &&
			    a->start_time == b->start_time && a->segment && b->segment &&
			    !memcmp(a->boot, b->boot, sizeof(a->boot)))
				r = add(&variable->streams[i], &variable->streams[j].all[0]);
		}
	}
	return r;
}

static size_t change_count(const struct wti_variable *variable)
{
	size_t count = 0;

	for (size_t i = 0; i < variable->stream_count; i++)
		count += variable->streams[i].count;
	return count;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct wti_change *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int by_track(const void *a, const void *b)
{
	const struct wti_change *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return by_time(a, b);
}

static int sort_stream(struct wti_variable_stream *stream)
{
	if (!stream->count)
		return 0;
	stream->own = malloc(stream->count * sizeof(*stream->own));
	if (!stream->own)
		return WT_E_NOMEM;
	memcpy(stream->own, stream->all, stream->count * sizeof(*stream->own));
	qsort(stream->all, stream->count, sizeof(*stream->all), by_time);
	qsort(stream->own, stream->count, sizeof(*stream->own), by_track);
	for (size_t i = 0; i < stream->count; i++) {
		uint64_t *slot;

		if (i && stream->own[i].track == stream->own[i - 1].track)
			continue;
		slot = wti_map_number(&stream->tracks, stream->own[i].track);
		if (!slot)
			return WT_E_NOMEM;
		*slot = i + 1;
	}
	return 0;
}

/* Whole numbers if all are, numbers if all are, otherwise texts. */
static enum wti_column_type common_type(const struct wti_variable *variable)
{
	enum wti_column_type type = WTI_COLUMN_I64;

	for (size_t i = 0; i < variable->stream_count; i++) {
		for (size_t j = 0; j < variable->streams[i].count; j++) {
			switch (variable->streams[i].all[j].type) {
			case WT_VALUE_TYPE_NONE:
			case WT_VALUE_TYPE_BOOL:
			case WT_VALUE_TYPE_INT:
				break;
			case WT_VALUE_TYPE_FLOAT:
				type = WTI_COLUMN_F64;
				break;
			default:
				return WTI_COLUMN_TEXT;
			}
		}
	}
	return type;
}

static int read_all(struct wti_variable *variable, const struct wt_trace *trace, const char *key)
{
	int r = 0;

	if (!strcmp(key, "rank")) {
		r = read_kind(variable, trace, WT_KIND_RANK, key, take_rank);
		if (!r)
			r = share_ranks(variable, trace);
	}
	/* A program may say its rank as a context of its own. */
	if (!r && !change_count(variable))
		r = read_kind(variable, trace, WT_KIND_CONTEXT, key, take_context);
	for (size_t i = 0; i < variable->stream_count && !r; i++)
		r = sort_stream(&variable->streams[i]);
	variable->type = common_type(variable);
	return r;
}

int wti_variable_read(struct wti_variable *variable, const struct wt_trace *trace, const char *key,
		      struct wt_err *err)
{
	size_t count = wt_trace_stream_count(trace);
	int r;

	*variable = (struct wti_variable){0};
	wti_buf_init(&variable->texts, TEXT_BYTES_MAX);
	variable->streams = calloc(count ? count : 1, sizeof(*variable->streams));
	if (!variable->streams)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	variable->stream_count = count;
	for (size_t i = 0; i < count; i++)
		wti_map_init(&variable->streams[i].tracks, TRACKS_MAX);
	r = read_all(variable, trace, key);
	if (r) {
		wti_variable_release(variable);
		return wti_err(err, r,
			       r == WT_E_NOMEM ? "out of memory for the context '%.64s'"
					       : "the context '%.64s' is too large",
			       key);
	}
	return 0;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* How many of the `count` changes are at or before `ticks`; begins where the last search ended. */
static size_t position(const struct wti_change *changes, size_t count, uint64_t ticks, size_t hint)
{
	size_t low = 0, high = count;

	if (hint <= count && (!hint || changes[hint - 1].ticks <= ticks)) {
		if (hint == count || changes[hint].ticks > ticks)
			return hint;
		low = hint;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (changes[middle].ticks <= ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t track_end(const struct wti_variable_stream *stream, size_t begin)
{
	size_t low = begin, high = stream->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->own[middle].track <= stream->own[begin].track)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The changes that a track goes by: its own, or where it has none those of its stream. */
static void follow(struct wti_variable_stream *stream, uint64_t track)
{
	const uint64_t *slot = wti_map_find_number(&stream->tracks, track);

	stream->followed = stream->all;
	stream->followed_count = stream->count;
	if (slot) {
		stream->followed = stream->own + *slot - 1;
		stream->followed_count = track_end(stream, *slot - 1) - (*slot - 1);
	}
	stream->followed_track = track;
	stream->hint = 0;
}

const struct wti_change *wti_variable_at(struct wti_variable *variable, size_t index,
					 uint64_t track, uint64_t ticks)
{
	struct wti_variable_stream *stream = &variable->streams[index];

	if (!stream->count)
		return NULL;
	if (!stream->followed || stream->followed_track != track)
		follow(stream, track);
	stream->hint = position(stream->followed, stream->followed_count, ticks, stream->hint);
	if (!stream->hint || stream->followed[stream->hint - 1].type == WT_VALUE_TYPE_NONE)
		return NULL;
	return &stream->followed[stream->hint - 1];
}
