/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TraceSmith's SBT 0.1: operations of devices, spans as ranges, marks. Other kinds have no place in
 * it and are counted. The header has to be written last: it has the places of all sections.
 */
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "export.h"
#include "protobuf.h"

#define HEADER_BYTES 72u
#define TEXTS_MAX ((size_t)1 << 24)

enum section { TEXTS = 2, EVENTS = 4, END = 255 };
enum flag { HAS_DURATION = 1, HAS_GEOMETRY = 2, HAS_MEMORY = 4 };

/* Its types of events. */
enum type {
	KERNEL = 1,
	COPY_TO_DEVICE = 3,
	COPY_TO_HOST = 4,
	COPY_ON_DEVICE = 5,
	FILL = 6,
	STREAM_SYNC = 7,
	DEVICE_SYNC = 8,
	EVENT_RECORD = 9,
	EVENT_SYNC = 10,
	ALLOC = 15,
	FREE = 16,
	MARKER = 17,
	RANGE_START = 18,
	RANGE_END = 19,
	COLLECTIVE = 20,
	CUSTOM = 255,
};

struct sbt {
	struct wti_export *export;
	struct wti_map texts; /* text: number */
	uint64_t count;
	uint64_t last_ns;
	int64_t base_ns;
};

static void put_number(struct sbt *sbt, uint64_t number)
{
	struct wti_buf *out = &sbt->export->sink->buf;
	uint8_t *at = wti_pb_room(out);

	if (at)
		out->bytes = (size_t)(wti_pb_varint_at(at, number) - out->data);
}

static void put_byte(struct sbt *sbt, uint8_t byte)
{
	wti_buf_byte(&sbt->export->sink->buf, byte);
}

static uint64_t text_number(struct sbt *sbt, struct wt_text text)
{
	size_t before = sbt->texts.count;
	uint64_t *slot = wti_map_text(&sbt->texts, text.bytes ? text.data : "", text.bytes);

	if (!slot)
		return 0;
	if (sbt->texts.count > before)
		*slot = before;
	return *slot;
}

/* The number that ends the name of a queue, or else that of its track. */
static uint64_t stream_number(const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	uint64_t number = 0, scale = 1;
	size_t at = track ? track->name_bytes : 0, digits = 0;

	for (; at && track->name[at - 1] >= '0' && track->name[at - 1] <= '9' && digits < 9;
	     at--, digits++) {
		number += scale * (uint64_t)(track->name[at - 1] - '0');
		scale *= 10;
	}
	return digits ? number : event->track;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void put_head(struct sbt *sbt, const struct wt_event *event, enum type type, uint8_t flags,
		     int64_t time_ns, uint64_t duration, uint64_t device, uint64_t correlation,
		     struct wt_text name)
{
	int64_t absolute = sbt->base_ns + time_ns;
	uint64_t time = absolute > 0 ? (uint64_t)absolute : 0;

	if (!sbt->count++) {
		put_byte(sbt, EVENTS);
		put_number(sbt, time);
		sbt->last_ns = time;
	}
	put_byte(sbt, (uint8_t)type);
	put_byte(sbt, (uint8_t)(flags | (duration ? HAS_DURATION : 0)));
	put_number(sbt, time - sbt->last_ns);
	if (duration)
		put_number(sbt, duration);
	put_number(sbt, device);
	put_number(sbt, stream_number(event));
	put_number(sbt, correlation);
	put_number(sbt, text_number(sbt, name));
	sbt->last_ns = time;
}

static bool has(struct wt_text text, const char *word)
{
	return text.bytes && memmem(text.data, text.bytes, word, strlen(word));
}

static enum type type_of(uint64_t op, struct wt_text name)
{
	switch (op) {
	case WT_OP_KERNEL:
		return KERNEL;
	case WT_OP_COPY:
		return has(name, "HtoD") || has(name, "H2D")   ? COPY_TO_DEVICE
		       : has(name, "DtoH") || has(name, "D2H") ? COPY_TO_HOST
							       : COPY_ON_DEVICE;
	case WT_OP_FILL:
		return FILL;
	case WT_OP_SYNC:
		return has(name, "Device") || has(name, "Context") ? DEVICE_SYNC
		       : has(name, "Event")                        ? EVENT_SYNC
								   : STREAM_SYNC;
	case WT_OP_WAIT:
		return EVENT_SYNC;
	case WT_OP_RECORD:
		return EVENT_RECORD;
	case WT_OP_ALLOC:
		return ALLOC;
	case WT_OP_FREE:
		return FREE;
	case WT_OP_COLLECTIVE:
		return COLLECTIVE;
	default:
		return CUSTOM;
	}
}

/* "128x1x1/32x1x1" as six numbers; false: it is not of that form. */
static bool geometry_of(struct wt_text text, uint64_t numbers[6])
{
	size_t at = 0;

	for (size_t i = 0; i < 6; i++) {
		size_t digits = 0;

		for (numbers[i] = 0;
		     at < text.bytes && text.data[at] >= '0' && text.data[at] <= '9' && digits < 10;
		     at++, digits++)
			numbers[i] = numbers[i] * 10 + (uint64_t)(text.data[at] - '0');
		if (!digits || (i < 5 && (at >= text.bytes || text.data[at++] != "xx/xx"[i])))
			return false;
	}
	return at == text.bytes;
}

static void put_op(struct sbt *sbt, const struct wt_event *event)
{
	struct wt_text name = wt_event_text(event, WT_DEVICE_OP_FIELD_NAME);
	uint32_t clock = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_CLOCK);
	uint64_t started = wt_event_u64(event, WT_DEVICE_OP_FIELD_STARTED);
	uint64_t ended = wt_event_u64(event, WT_DEVICE_OP_FIELD_ENDED);
	uint64_t bytes = wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES), numbers[6];
	bool shaped = geometry_of(wt_event_text(event, WT_DEVICE_OP_FIELD_GEOMETRY), numbers);
	int64_t from = started ? wt_trace_domain_ns(event->trace, event->stream, clock, started)
			       : event->time_ns;
	int64_t to = ended ? wt_trace_domain_ns(event->trace, event->stream, clock, ended) : from;

	put_head(sbt, event, type_of(wt_event_u64(event, WT_DEVICE_OP_FIELD_OP), name),
		 (uint8_t)((shaped ? HAS_GEOMETRY : 0) | (bytes ? HAS_MEMORY : 0)), from,
		 to > from ? (uint64_t)(to - from) : 0,
		 wt_event_u64(event, WT_DEVICE_OP_FIELD_DEVICE),
		 wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION), name);
	for (size_t i = 0; shaped && i < 8; i++)
		put_number(sbt, i < 6 ? numbers[i] : 0); /* shared memory, registers: not known */
	for (size_t i = 0; bytes && i < 3; i++)
		put_number(sbt, i < 2 ? 0 : bytes); /* addresses: not known */
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct sbt *sbt = state;

	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		put_op(sbt, event);
		break;
	case WT_KIND_SPAN_BEGIN:
		put_head(sbt, event, RANGE_START, 0, event->time_ns, 0, 0, 0,
			 wt_event_text(event, WT_SPAN_BEGIN_FIELD_NAME));
		break;
	case WT_KIND_SPAN_END:
		put_head(sbt, event, RANGE_END, 0, event->time_ns, 0, 0, 0,
			 wt_event_text(event, WT_SPAN_END_FIELD_NAME));
		break;
	case WT_KIND_MARK:
		put_head(sbt, event, MARKER, 0, event->time_ns, 0, 0,
			 wt_event_u64(event, WT_MARK_FIELD_VALUE),
			 wt_event_text(event, WT_MARK_FIELD_NAME));
		break;
	default:
		sbt->export->left_out_count++;
	}
	return 0;
}

/* ---- The file -------------------------------------------------------------------------------- */

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	static const uint8_t room[HEADER_BYTES];
	struct sbt *sbt = state;

	sbt->export = export;
	sbt->base_ns = wt_trace_start_realtime_ns(export->trace);
	wti_map_init(&sbt->texts, TEXTS_MAX);
	wti_buf_append(&export->sink->buf, room, sizeof(room));
	return 0;
}

static void make_header(const struct sbt *sbt, uint64_t texts_at, uint8_t header[HEADER_BYTES])
{
	memset(header, 0, HEADER_BYTES);
	memcpy(header, "SBT", 4);
	wti_put16(header + 6, 1);                                 /* version 0.1 */
	wti_put32(header + 8, 1u | (sbt->texts.count ? 2u : 0u)); /* as its writer sets them */
	wti_put32(header + 12, HEADER_BYTES);
	wti_put64(header + 24, texts_at);
	wti_put64(header + 40, sbt->count ? HEADER_BYTES : 0);
	wti_put64(header + 56, sbt->count);
}

static int finish(void *state, struct wt_err *err)
{
	struct sbt *sbt = state;
	struct wti_export_sink *sink = sbt->export->sink;
	uint64_t texts_at = sink->bytes + sink->buf.bytes;
	uint8_t header[HEADER_BYTES];
	int r;

	if (sbt->texts.failed)
		return wti_err(err, WT_E_NOMEM, "out of memory for the names");
	put_byte(sbt, TEXTS);
	put_number(sbt, sbt->texts.count);
	for (size_t i = 0; i < sbt->texts.count; i++) {
		put_number(sbt, sbt->texts.entries[i].bytes);
		wti_buf_append(&sink->buf, sbt->texts.entries[i].text, sbt->texts.entries[i].bytes);
		r = wti_sink_spill(sink, err);
		if (r)
			return r;
	}
	put_byte(sbt, END);
	make_header(sbt, texts_at, header);
	r = wti_sink_flush(sink, err);
	if (!r && pwrite(sink->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		r = wti_err_errno(err, "cannot write", sbt->export->path);
	return r;
}

static void release(void *state)
{
	struct sbt *sbt = state;

	wti_map_release(&sbt->texts);
}

const struct wti_exporter wti_exporter_sbt = {
	.name = "sbt",
	.extension = "sbt",
	.summary = "TraceSmith's SBT 0.1: operations of devices, ranges, markers",
	.is_binary = true,
	.state_bytes = sizeof(struct sbt),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
