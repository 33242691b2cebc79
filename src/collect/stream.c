/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the life of a stream's files: opening, segments, the end of the road when the file system
 * refuses or a ceiling is reached. After that events are counted, not written, so that the loss is
 * known to the last one.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "trace/protocol.h"
#include "trace/ring.h"

#include "stream.h"

/* Beside what a ring holds of an event: its track and the whole of its number. */
#define PENDING_EXTRA_BYTES 12u
/* Schemas, heads of blocks and columns and lines of the index: one of each kind in a flush. */
#define HEADS_BYTES (32u << 10)

void wti_stream_name(const struct wti_stream *stream, char *out, size_t bytes)
{
	if (stream->source.file)
		snprintf(out, bytes, "%s", stream->source.file);
	else
		snprintf(out, bytes, "%04u", stream->source.number);
}

static void make_path(const struct wti_stream *stream, uint32_t segment, char *out, size_t bytes)
{
	char name[32];

	wti_stream_name(stream, name, sizeof(name));
	if (stream->flight)
		snprintf(out, bytes, "%s/%s.%06u.wt", stream->folder, name, segment);
	else
		snprintf(out, bytes, "%s/%s.wt", stream->folder, name);
}

/*
 * Near the ceiling blocks become smaller. A block that does not fit is the end of a stream, and
 * nobody knows yet how well what waits in memory can be compressed. What would fit even as it is
 * is flushed and takes, mostly, a small part of the room; then the rest is measured, until a block
 * of a single event does not fit.
 */
static void plan_flush(struct wti_stream *stream)
{
	uint64_t used = stream->writer ? wt_writer_finished_bytes(stream->writer) : 0;
	uint64_t room = stream->bytes_max > used ? stream->bytes_max - used : 0;

	room /= stream->sharers ? stream->sharers : 1;
	stream->flush_at = 0;
	if (stream->bytes_max)
		stream->flush_at = 1 + room - (room / 2 < HEADS_BYTES ? room / 2 : HEADS_BYTES);
}

void wti_stream_allow(struct wti_stream *stream, uint64_t room_bytes, uint32_t sharers)
{
	if (!stream->writer)
		return;
	stream->bytes_max = wt_writer_finished_bytes(stream->writer) + room_bytes;
	stream->sharers = sharers;
	wt_writer_limit(stream->writer, stream->bytes_max);
	plan_flush(stream);
}

static void add_pending(struct wti_stream *stream, size_t bytes)
{
	stream->pending_bytes += bytes + PENDING_EXTRA_BYTES;
	if (stream->flush_at && stream->pending_bytes >= stream->flush_at)
		wti_stream_flush(stream);
}

int wti_stream_open(struct wti_stream *stream, struct wt_err *err)
{
	struct wt_writer_options options;
	int r;

	wt_writer_options_init(&options);
	options.bytes_max = stream->bytes_max;
	options.identity = stream->source.identity;
	stream->segment = (struct wti_stream_segment){.number = stream->segment.number + 1};
	options.identity.segment = stream->flight ? stream->segment.number : 0;
	make_path(stream, stream->segment.number, stream->path, sizeof(stream->path));
	r = wt_writer_create(stream->path, &options, &stream->writer, err);
	stream->has_file = !r;
	if (r)
		return r;
	stream->end = WTI_STREAM_OPEN;
	stream->opened_ns = wti_clock_ns(CLOCK_MONOTONIC);
	stream->segment.from_ticks = wti_clock_ticks(stream->clock);
	wti_stream_clock(stream);
	wti_stream_flush(stream); /* who looks at it now finds a stream, if an empty one */
	return 0;
}

/* Records of the program that the writer had taken but could not write any more. */
static void count_unwritten(struct wti_stream *stream)
{
	uint64_t written = stream->segment.events - wt_writer_own_events(stream->writer);

	if (stream->segment.given > written)
		stream->unwritten += stream->segment.given - written;
}

static void close_segment(struct wti_stream *stream)
{
	struct wt_err err = {0};
	int r = wt_writer_finish(stream->writer, &err);

	/* Whatever it was closed for: this is why its last events are missing. */
	if (r == WT_E_LIMIT)
		stream->end = WTI_STREAM_CEILING;
	if (r && !stream->why[0])
		snprintf(stream->why, sizeof(stream->why), "%.199s", err.message);
	stream->segment.events = wt_writer_events(stream->writer);
	stream->segment.bytes = wt_writer_bytes(stream->writer);
	stream->segment.to_ticks = stream->last_ticks;
	stream->segment.ended_ns = wti_clock_ns(CLOCK_MONOTONIC);
	count_unwritten(stream);
	stream->events += stream->segment.events;
	stream->bytes += stream->segment.bytes;
	wt_writer_free(stream->writer);
	stream->writer = NULL;
}

static void end_stream(struct wti_stream *stream, enum wti_stream_end end)
{
	stream->end = end;
	stream->unwritten_from = stream->last_ticks;
	close_segment(stream);
}

/*
 * The way to the disk is over: what was written so far stays a valid stream. No snapshot of the
 * clock follows, as the writer would refuse it, too.
 */
static void fail(struct wti_stream *stream, int code, const struct wt_err *err)
{
	if (!stream->why[0] && err)
		snprintf(stream->why, sizeof(stream->why), "%.199s", err->message);
	if (stream->writer)
		end_stream(stream, code == WT_E_LIMIT ? WTI_STREAM_CEILING : WTI_STREAM_DISK);
}

static void check(struct wti_stream *stream, int code)
{
	struct wt_err err = {0};

	if (code >= 0)
		return;
	/* A flush gives the reason in words where the append had only a code. */
	if (!wt_writer_flush(stream->writer, &err))
		err.message[0] = 0;
	fail(stream, code, &err);
}

void wti_stream_close(struct wti_stream *stream, enum wti_stream_end end)
{
	if (!stream->writer)
		return;
	if (end == WTI_STREAM_DONE || end == WTI_STREAM_CEILING)
		wti_stream_clock(stream);
	if (!stream->writer) /* the snapshot itself met the end */
		return;
	end_stream(stream, end);
}

void wti_stream_release(struct wti_stream *stream)
{
	wt_writer_free(stream->writer);
	stream->writer = NULL;
	wti_keyframe_release(&stream->keyframe);
}

void wti_stream_remove(struct wti_stream *stream)
{
	char path[sizeof(stream->path)];

	for (uint32_t i = 0; i < stream->old_count; i++) {
		make_path(stream, stream->old[i].number, path, sizeof(path));
		unlink(path);
	}
	if (stream->has_file)
		unlink(stream->path);
	stream->has_file = false;
	stream->old_count = 0;
}

static int define(struct wt_writer *writer, const struct wti_definition_view *view)
{
	const uint8_t *payload = view->payload;
	size_t bytes = view->payload_bytes;

	switch (view->type) {
	case WTI_DEF_STRING:
		return wt_writer_string(writer, view->id, (const char *)payload, bytes);
	case WTI_DEF_TRACK: {
		const struct wti_track_definition *d = (const void *)payload;
		struct wt_track track = {.id = view->id,
					 .type = d->type,
					 .tid = d->tid,
					 .device = d->device,
					 .name = (const char *)(d + 1),
					 .name_bytes = bytes - sizeof(*d)};
		return wt_writer_track(writer, &track);
	}
	case WTI_DEF_STACK:
		return wt_writer_stack(writer, view->id, (const uint64_t *)payload, bytes / 8);
	case WTI_DEF_MODULE: {
		const struct wti_module_definition *d = (const void *)payload;
		struct wt_module module = {.base = d->base,
					   .bytes = d->bytes,
					   .build_id = (const uint8_t *)(d + 1),
					   .build_id_bytes = d->build_id_bytes,
					   .path = (const char *)(d + 1) + d->build_id_bytes,
					   .path_bytes = d->path_bytes};
		return wt_writer_module(writer, view->id, &module);
	}
	case WTI_DEF_SITE: {
		const struct wti_site_definition *d = (const void *)payload;
		struct wt_site site = {d->file, d->function, d->line};
		return wt_writer_site(writer, view->id, &site);
	}
	default:
		return 0;
	}
}

void wti_stream_define(struct wti_stream *stream, const struct wti_definition_view *view)
{
	if (stream->flight)
		wti_keyframe_define(&stream->keyframe, view);
	if (!stream->writer)
		return;
	check(stream, define(stream->writer, view));
	add_pending(stream, view->payload_bytes);
}

/* A record that its own kind refuses: the ring was fine, what stood in the record was not. */
static void damaged_record(struct wti_stream *stream, uint32_t track, uint64_t seq, uint64_t ticks)
{
	struct wti_loss loss = {.track = track,
				.reason = WT_LOST_DAMAGED,
				.count = 1,
				.first = seq,
				.last = seq,
				.from = ticks,
				.to = ticks};

	wti_stream_lost(stream, &loss);
}

void wti_stream_records(struct wti_stream *stream, const struct wti_run_of_records *run)
{
	const uint8_t *at = run->data;
	uint64_t seq = run->first_seq;

	for (uint32_t i = 0; i < run->count && stream->writer; i++, seq++) {
		const struct wti_record *record = (const void *)at;
		int r = wt_writer_record(stream->writer, run->track, seq, record);

		at += record->units * 8u;
		stream->segment.given += r != WT_E_FORMAT;
		if (r == WT_E_FORMAT)
			damaged_record(stream, run->track, seq, record->ticks);
		else if (r)
			check(stream, r);
		else
			add_pending(stream, record->units * 8u);
	}
	if (!stream->writer)
		stream->unwritten += run->first_seq + run->count - seq;
	stream->active = true;
	if (run->last_ticks > stream->last_ticks)
		stream->last_ticks = run->last_ticks;
	if (stream->flight)
		wti_keyframe_records(&stream->keyframe, run);
}

void wti_stream_lost(struct wti_stream *stream, const struct wti_loss *loss)
{
	uint64_t values[] = {loss->reason, loss->of,   loss->count, loss->first,
			     loss->last,   loss->from, loss->to};
	uint64_t seq = loss->first, ticks = loss->from;
	uint32_t track = loss->track;

	if (loss->reason <= WT_LOST_DEVICE && loss->reason != WT_LOST_FLIGHT)
		stream->lost[loss->reason] += loss->count;
	if (!stream->writer)
		return;
	stream->segment.carried += loss->count;
	if (track == WTI_STREAM_OWN_TRACK) {
		track = stream->own_track;
		seq = stream->own_seq++;
		ticks = wti_clock_ticks(stream->clock);
	}
	wt_writer_own(stream->writer, WT_KIND_LOST);
	check(stream, wt_writer_append(stream->writer, WT_KIND_LOST, track, seq, ticks, values,
				       WTI_COUNT(values), NULL));
}

void wti_stream_own_at(struct wti_stream *stream, uint16_t kind, uint64_t ticks,
		       const uint64_t *values, size_t value_count, const struct wt_text *texts)
{
	if (!stream->writer)
		return;
	wt_writer_own(stream->writer, kind);
	check(stream, wt_writer_append(stream->writer, kind, stream->own_track, stream->own_seq++,
				       ticks, values, value_count, texts));
}

void wti_stream_own(struct wti_stream *stream, uint16_t kind, const uint64_t *values,
		    size_t value_count, const struct wt_text *texts)
{
	wti_stream_own_at(stream, kind, wti_clock_ticks(stream->clock), values, value_count, texts);
}

void wti_stream_clock(struct wti_stream *stream)
{
	struct wti_clock_reading moments[WTI_MOMENTS_MAX];
	size_t count = wti_clock_moments(stream->clock, moments);

	for (size_t i = 0; i < count && stream->writer; i++) {
		wt_writer_own(stream->writer, WT_KIND_CLOCK);
		check(stream, wt_writer_clock(stream->writer, stream->own_track, stream->own_seq++,
					      moments[i].ticks, moments[i].domain, moments[i].value,
					      moments[i].error_ns));
	}
}

void wti_stream_flush(struct wti_stream *stream)
{
	struct wt_err err = {0};
	int r;

	if (!stream->writer)
		return;
	r = wt_writer_flush(stream->writer, &err);
	stream->pending_bytes = 0;
	plan_flush(stream);
	if (r < 0)
		fail(stream, r, &err);
}

static void replay_definition(void *self, const struct wti_definition_view *view)
{
	struct wti_stream *stream = self;

	if (stream->writer)
		check(stream, define(stream->writer, view));
}

static void replay_record(void *self, uint32_t track, uint64_t seq, const struct wti_record *record)
{
	struct wti_stream *stream = self;

	if (!stream->writer)
		return;
	wt_writer_own(stream->writer, record->kind);
	check(stream, wt_writer_record(stream->writer, track, seq, record));
}

/* Records in the open segment what went with a deleted one, losses recorded there included.
 */
static void emit_deleted(struct wti_stream *stream, const struct wti_stream_segment *segment)
{
	struct wti_loss loss = {.track = WTI_STREAM_OWN_TRACK,
				.reason = WT_LOST_FLIGHT,
				.count = segment->events + segment->carried,
				.from = segment->from_ticks,
				.to = segment->to_ticks};

	stream->lost[WT_LOST_FLIGHT] += segment->events;
	wti_stream_lost(stream, &loss);
}

static void delete_oldest(struct wti_stream *stream)
{
	struct wti_stream_segment segment = stream->old[0];
	char path[sizeof(stream->path)];

	make_path(stream, segment.number, path, sizeof(path));
	unlink(path);
	stream->bytes -= segment.bytes;
	stream->events -= segment.events;
	stream->old_count--;
	memmove(&stream->old[0], &stream->old[1], stream->old_count * sizeof(stream->old[0]));
	emit_deleted(stream, &segment);
}

static void begin_segment(struct wti_stream *stream)
{
	struct wti_keyframe_out out = {stream, replay_definition, replay_record};
	struct wt_err err = {0};
	int r;

	if (!stream->writer)
		return;
	wti_stream_clock(stream);
	if (!stream->writer)
		return;
	close_segment(stream);
	stream->old[stream->old_count++] = stream->segment;
	r = wti_stream_open(stream, &err);
	if (r) {
		stream->end = WTI_STREAM_DISK;
		snprintf(stream->why, sizeof(stream->why), "%.199s", err.message);
		return;
	}
	wti_keyframe_replay(&stream->keyframe, &out);
	if (stream->old_count == WTI_SEGMENTS_MAX)
		delete_oldest(stream);
}

void wti_stream_rotate(struct wti_stream *stream, uint64_t keep_from_ns)
{
	begin_segment(stream);
	while (stream->old_count && stream->old[0].ended_ns < keep_from_ns)
		delete_oldest(stream);
}

void wti_stream_give_way(struct wti_stream *stream)
{
	if (stream->old_count)
		delete_oldest(stream);
	else
		begin_segment(stream);
}

uint64_t wti_stream_events(const struct wti_stream *stream)
{
	return stream->events + (stream->writer ? wt_writer_events(stream->writer) : 0);
}

uint64_t wti_stream_bytes(const struct wti_stream *stream)
{
	return stream->bytes + (stream->writer ? wt_writer_bytes(stream->writer) : 0);
}

uint64_t wti_stream_finished_bytes(const struct wti_stream *stream)
{
	return stream->bytes + (stream->writer ? wt_writer_finished_bytes(stream->writer) : 0);
}
