/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how the streams of a run share a folder and a ceiling. The recorder's own stream is kept
 * open when the others must end, so that it can say why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"

#include "streams.h"
#include "syscalls/descriptors.h"

#define TICK_NS 1000000000ull
#define STREAMS_MAX (WTI_SOURCES_MAX + 1) /* and the system calls */
#define SEGMENTS_A_FLIGHT 4
/* Kept free under the ceiling of a flight: what streams still have in memory, and their index. */
#define FLIGHT_RESERVE_BYTES (256u << 10)
/* Kept free of any other: the recorder's own last words, some for each process. */
#define OWN_RESERVE_BYTES (64u << 10)
#define OWN_RESERVE_PROCESS_BYTES 256u
/* Of them, what it needs in any case; under a small ceiling the reserve is less. */
#define LAST_WORDS_BYTES (2u << 10)
#define SMALL_CEILING_BYTES (16u << 10)

/* ---- One ceiling for all -------------------------------------------------------------------- */

static bool has_ceiling(const struct wti_streams *streams)
{
	return streams->bytes_max && !streams->flight_ns;
}

static void measure_room(struct wti_streams *streams)
{
	uint64_t used = OWN_RESERVE_BYTES + OWN_RESERVE_PROCESS_BYTES * streams->count;

	if (used > streams->bytes_max / 8)
		used = streams->bytes_max / 8;
	if (streams->own)
		used += wti_stream_finished_bytes(streams->own);
	streams->open = 0;
	for (size_t i = 0; i < streams->count; i++) {
		used += wti_stream_finished_bytes(streams->all[i]);
		streams->open += !!streams->all[i]->writer;
	}
	streams->room = streams->bytes_max > used ? streams->bytes_max - used : 0;
}

/* Before something is written to a stream: how far that may go. To be given to charge(). */
static uint64_t allow(struct wti_streams *streams, struct wti_stream *stream)
{
	if (has_ceiling(streams))
		wti_stream_allow(stream, streams->room, streams->open);
	return wti_stream_finished_bytes(stream);
}

/* What was written since leaves less for the others, which may be next before all are measured. */
static void charge(struct wti_streams *streams, const struct wti_stream *stream, uint64_t before)
{
	uint64_t now = wti_stream_finished_bytes(stream);
	uint64_t spent = now > before ? now - before : 0;

	streams->room -= spent < streams->room ? spent : streams->room;
}

static void close_stream(struct wti_streams *streams, struct wti_stream *stream,
			 enum wti_stream_end why)
{
	uint64_t before = allow(streams, stream);

	wti_stream_close(stream, why);
	charge(streams, stream, before);
}

/* ---- As a sink ------------------------------------------------------------------------------ */

static struct wti_stream *new_stream(struct wti_streams *streams,
				     const struct wti_recorded_source *source, struct wt_err *err)
{
	struct wti_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		wti_err(err, WT_E_NOMEM, "out of memory for a stream");
		return NULL;
	}
	stream->source = *source;
	stream->folder = streams->folder;
	stream->clock =
		source->identity.clock == WT_CLOCK_MONOTONIC ? &streams->monotonic : streams->clock;
	stream->flight = streams->flight_ns && source->number;
	if (source->number && has_ceiling(streams))
		stream->bytes_max = streams->room ? streams->room : 1;
	stream->own_track = source->number ? WTI_STREAM_OWN_TRACK : 1;
	wti_keyframe_init(&stream->keyframe);
	if (wti_stream_open(stream, err)) {
		stream->end = WTI_STREAM_DISK;
		snprintf(stream->why, sizeof(stream->why), "%.199s", err->message);
	}
	charge(streams, stream, 0);
	streams->open += source->number && stream->writer;
	return stream;
}

static void *begin(void *self, const struct wti_recorded_source *source)
{
	struct wti_streams *streams = self;
	struct wt_err err = {0};
	struct wti_stream *stream;

	if (wti_grow(&streams->all, streams->count + 1, &streams->capacity, STREAMS_MAX))
		return NULL;
	if (streams->end) { /* it is counted, and nothing else */
		stream = calloc(1, sizeof(*stream));
		if (stream) {
			stream->source = *source;
			stream->end = streams->end;
		}
	} else {
		stream = new_stream(streams, source, &err);
	}
	if (stream)
		streams->all[streams->count++] = stream;
	return stream;
}

static void define(void *self, void *stream, const struct wti_definition_view *definition)
{
	struct wti_streams *streams = self;
	uint64_t before;

	if (!stream)
		return;
	before = allow(streams, stream);
	wti_stream_define(stream, definition);
	charge(streams, stream, before);
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	struct wti_streams *streams = self;
	uint64_t before;

	if (!stream) {
		streams->beyond += run->count;
		return;
	}
	before = allow(streams, stream);
	wti_stream_records(stream, run);
	charge(streams, stream, before);
}

static void lost(void *self, void *stream, const struct wti_loss *loss)
{
	struct wti_streams *streams = self;
	uint64_t before;

	if (!stream) {
		streams->beyond += loss->count;
		return;
	}
	before = allow(streams, stream);
	wti_stream_lost(stream, loss);
	charge(streams, stream, before);
}

static void end(void *self, void *stream)
{
	if (stream)
		close_stream(self, stream, WTI_STREAM_DONE);
}

static void watermark(void *self, uint64_t below)
{
	struct wti_streams *streams = self;

	/* With no stream left to wait for it would only let the trace grow beyond its ceiling. */
	if (!streams->end)
		wti_stream_own(streams->own, WT_KIND_WATERMARK, &below, 1, NULL);
}

int wti_streams_init(struct wti_streams *streams, const struct wti_streams_options *options,
		     struct wt_err *err)
{
	static const char name[] = "recorder";
	struct wti_recorded_source source = {.identity = options->recorder};
	struct wt_track track = {.id = 1,
				 .type = WT_TRACK_RECORDER,
				 .tid = options->recorder.pid,
				 .name = name,
				 .name_bytes = sizeof(name) - 1};

	*streams = (struct wti_streams){
		.sink = {streams, begin, define, records, lost, end, watermark},
		.folder = options->folder,
		.folder_fd = options->folder_fd,
		.clock = options->clock,
		.bytes_max = options->bytes_max,
		.flight_ns = options->flight_ns,
		.ticked_ns = wti_clock_ns(CLOCK_MONOTONIC),
	};
	wti_clock_init_monotonic(&streams->monotonic);
	measure_room(streams);
	streams->own = new_stream(streams, &source, err);
	if (!streams->own)
		return WT_E_NOMEM;
	if (!streams->own->writer)
		return wti_err(err, WT_E_IO, "cannot write in '%.200s': %s", streams->folder,
			       streams->own->why);
	return wt_writer_track(streams->own->writer, &track);
}

static void end_all(struct wti_streams *streams, enum wti_stream_end why)
{
	streams->end = why;
	for (size_t i = 0; i < streams->count; i++)
		close_stream(streams, streams->all[i], why);
}

/*
 * The recorder's own stream goes on, in the room that the others leave. A ceiling too small for
 * even the last words is exceeded by them: otherwise nobody would know that something is missing.
 */
static void limit_own(struct wti_streams *streams)
{
	uint64_t used = wti_stream_finished_bytes(streams->own), room;

	for (size_t i = 0; i < streams->count; i++)
		used += wti_stream_finished_bytes(streams->all[i]);
	room = streams->bytes_max > used ? streams->bytes_max - used : 0;
	if (room < LAST_WORDS_BYTES && streams->bytes_max < SMALL_CEILING_BYTES)
		room = LAST_WORDS_BYTES;
	wti_stream_allow(streams->own, room, 1);
}

static void reach_ceiling(struct wti_streams *streams)
{
	char text[96], size[16];

	if (streams->end)
		return;
	snprintf(text, sizeof(text), "the trace has reached its ceiling of %s",
		 wti_format_bytes(size, streams->bytes_max));
	snprintf(streams->why, sizeof(streams->why), "%.199s", text);
	end_all(streams, WTI_STREAM_CEILING);
	limit_own(streams);
	wti_streams_note(streams, WT_NOTE_CEILING, text);
	wti_stream_flush(streams->own);
}

static void say_first(struct wti_streams *streams, const struct wti_stream *stream)
{
	if (streams->why[0] || !stream->why[0])
		return;
	if (stream->end == WTI_STREAM_CEILING) {
		reach_ceiling(streams);
		return;
	}
	snprintf(streams->why, sizeof(streams->why), "%s", stream->why);
	wti_streams_note(streams, WT_NOTE_DISK_FULL, stream->why);
}

static struct wti_stream *biggest(struct wti_streams *streams)
{
	struct wti_stream *found = streams->all[0];

	for (size_t i = 1; i < streams->count; i++)
		if (wti_stream_bytes(streams->all[i]) > wti_stream_bytes(found))
			found = streams->all[i];
	return found;
}

/* Deletes what is oldest. False: that was not enough. */
static bool shorten_flight(struct wti_streams *streams)
{
	uint64_t reserve = FLIGHT_RESERVE_BYTES + 4096 * streams->count;

	if (reserve > streams->bytes_max / 4)
		reserve = streams->bytes_max / 4;
	for (size_t i = 0; i < 2 * WTI_SEGMENTS_MAX * streams->count; i++) {
		if (wti_streams_bytes(streams) + reserve < streams->bytes_max)
			return true;
		wti_stream_give_way(biggest(streams));
	}
	return wti_streams_bytes(streams) + reserve < streams->bytes_max;
}

/* No block fits any more: not in general, or not the next one of some stream. */
static bool is_full(struct wti_streams *streams)
{
	measure_room(streams);
	for (size_t i = 0; i < streams->count; i++)
		if (streams->all[i]->end == WTI_STREAM_CEILING)
			return true;
	return !streams->room;
}

void wti_streams_limit(struct wti_streams *streams)
{
	if (!streams->bytes_max || streams->end)
		return;
	if (streams->flight_ns ? shorten_flight(streams) : !is_full(streams))
		return;
	reach_ceiling(streams);
}

static void check_folder(struct wti_streams *streams)
{
	struct stat st;

	if (streams->end || fstat(streams->folder_fd, &st) || st.st_nlink > 0)
		return;
	snprintf(streams->why, sizeof(streams->why), "the run's folder was deleted");
	end_all(streams, WTI_STREAM_GONE);
	wti_stream_close(streams->own, WTI_STREAM_GONE);
}

static void tick_stream(struct wti_streams *streams, struct wti_stream *stream, uint64_t now_ns)
{
	uint64_t flight_ns = streams->flight_ns;

	if (!stream->writer) {
		say_first(streams, stream);
		return;
	}
	if (stream->active) {
		uint64_t before = allow(streams, stream);

		stream->active = false;
		wti_stream_clock(stream);
		wti_stream_flush(stream);
		charge(streams, stream, before);
	}
	if (stream->flight && now_ns - stream->opened_ns >= flight_ns / SEGMENTS_A_FLIGHT)
		wti_stream_rotate(stream, now_ns > flight_ns ? now_ns - flight_ns : 0);
}

void wti_streams_tick(struct wti_streams *streams, uint64_t now_ns)
{
	uint64_t period_ns = TICK_NS;

	if (streams->flight_ns && streams->flight_ns / SEGMENTS_A_FLIGHT < period_ns)
		period_ns = streams->flight_ns / SEGMENTS_A_FLIGHT;
	if (now_ns - streams->ticked_ns < period_ns)
		return;
	streams->ticked_ns = now_ns;
	check_folder(streams);
	for (size_t i = 0; i < streams->count; i++)
		tick_stream(streams, streams->all[i], now_ns);
	/* After the end a block a second would use up the room for the last words. */
	if (!streams->end)
		wti_stream_flush(streams->own);
}

static uint32_t reason_of(const struct wti_stream *stream)
{
	return stream->end == WTI_STREAM_CEILING ? WT_LOST_CEILING : WT_LOST_DISK;
}

/* Where a stream ended before its process did: how much is missing after it. */
static void emit_unwritten(struct wti_streams *streams, const struct wti_stream *stream)
{
	struct wti_loss loss = {.track = WTI_STREAM_OWN_TRACK,
				.reason = reason_of(stream),
				.count = stream->unwritten,
				.from = stream->unwritten_from,
				.to = stream->last_ticks};

	if (stream->unwritten)
		wti_stream_lost(streams->own, &loss);
}

void wti_streams_finish(struct wti_streams *streams)
{
	check_folder(streams);
	for (size_t i = 0; i < streams->count; i++)
		close_stream(streams, streams->all[i], WTI_STREAM_DONE);
	for (size_t i = 0; i < streams->count; i++) {
		say_first(streams, streams->all[i]);
		emit_unwritten(streams, streams->all[i]);
	}
	wti_stream_close(streams->own, WTI_STREAM_DONE);
	say_first(streams, streams->own);
}

void wti_streams_release(struct wti_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		wti_stream_release(streams->all[i]);
		free(streams->all[i]);
	}
	free(streams->all);
	if (streams->own)
		wti_stream_release(streams->own);
	free(streams->own);
	*streams = (struct wti_streams){0};
}

void wti_streams_remove(struct wti_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		wti_stream_remove(streams->all[i]);
	if (streams->own)
		wti_stream_remove(streams->own);
}

void wti_streams_exit(struct wti_streams *streams, uint32_t pid, int32_t status)
{
	uint64_t values[] = {pid, (uint64_t)(int64_t)status};

	wti_stream_own(streams->own, WT_KIND_EXIT, values, WTI_COUNT(values), NULL);
}

void wti_streams_not_followed(struct wti_streams *streams, uint32_t pid, uint32_t reason,
			      const char *command)
{
	uint64_t values[] = {pid, reason, 0};
	struct wt_text text = {command, strlen(command)};

	if (streams->end) /* run.json counts it; here there is no room for all that are to come */
		return;
	wti_stream_own(streams->own, WT_KIND_NOT_FOLLOWED, values, WTI_COUNT(values), &text);
}

void wti_streams_descriptor(struct wti_streams *streams, uint64_t ticks,
			    const struct wti_open_descriptor *open)
{
	uint64_t values[] = {open->pid, (uint64_t)(int64_t)open->fd, open->flags, 0};
	struct wt_text target = {open->target, strlen(open->target)};

	wti_stream_own_at(streams->own, WT_KIND_DESCRIPTOR, ticks, values, WTI_COUNT(values),
			  &target);
}

void wti_streams_note(struct wti_streams *streams, uint32_t code, const char *text)
{
	uint64_t values[] = {code, 0};
	struct wt_text texts = {text, strlen(text)};

	wti_stream_own(streams->own, WT_KIND_NOTE, values, WTI_COUNT(values), &texts);
}

uint64_t wti_streams_events(const struct wti_streams *streams)
{
	uint64_t events = wti_stream_events(streams->own);

	for (size_t i = 0; i < streams->count; i++)
		events += wti_stream_events(streams->all[i]);
	return events;
}

uint64_t wti_streams_bytes(const struct wti_streams *streams)
{
	uint64_t bytes = wti_stream_bytes(streams->own);

	for (size_t i = 0; i < streams->count; i++)
		bytes += wti_stream_bytes(streams->all[i]);
	return bytes;
}

void wti_streams_losses(const struct wti_streams *streams, uint64_t ret_lost[WT_LOST_DEVICE + 1])
{
	memset(ret_lost, 0, (WT_LOST_DEVICE + 1) * sizeof(ret_lost[0]));
	for (size_t i = 0; i < streams->count; i++) {
		const struct wti_stream *stream = streams->all[i];

		for (int reason = 0; reason <= WT_LOST_DEVICE; reason++)
			ret_lost[reason] += stream->lost[reason];
		ret_lost[reason_of(stream)] += stream->unwritten;
	}
	ret_lost[WT_LOST_NO_RING] += streams->beyond + streams->own->lost[WT_LOST_NO_RING];
}
