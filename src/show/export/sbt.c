/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TraceSmith's SBT 0.1: operations of devices, spans as ranges, marks. Other kinds have no place in
 * it and are counted. The header has to be written last: it has the places of all sections.
 */
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "export.h"
#include "sbt/encode.h"

struct sbt {
	struct wti_export *export;
	struct wti_sbt_encoder encoder;
	int64_t base_ns;
};

/* The number that ends the name of a queue, or else that of its track. */
static uint32_t stream_number(const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	uint32_t number = 0, scale = 1;
	size_t at = track ? track->name_bytes : 0, digits = 0;

	for (; at && track->name[at - 1] >= '0' && track->name[at - 1] <= '9' && digits < 9;
	     at--, digits++) {
		number += scale * (uint32_t)(track->name[at - 1] - '0');
		scale *= 10;
	}
	return digits ? number : event->track;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void put(struct sbt *sbt, const struct wt_event *event, int64_t time_ns,
		struct wt_sbt_event *made)
{
	int64_t absolute = sbt->base_ns + time_ns;

	made->timestamp = absolute > 0 ? (uint64_t)absolute : 0;
	made->stream_id = stream_number(event);
	wti_sbt_encode(&sbt->encoder, &sbt->export->sink->buf, made);
}

static bool has(struct wt_text text, const char *word)
{
	return text.bytes && memmem(text.data, text.bytes, word, strlen(word));
}

static enum wt_sbt_type type_of(uint64_t op, struct wt_text name)
{
	switch (op) {
	case WT_OP_KERNEL:
		return WT_SBT_KERNEL_LAUNCH;
	case WT_OP_COPY:
		return has(name, "HtoD") || has(name, "H2D")   ? WT_SBT_MEMCPY_H2D
		       : has(name, "DtoH") || has(name, "D2H") ? WT_SBT_MEMCPY_D2H
							       : WT_SBT_MEMCPY_D2D;
	case WT_OP_FILL:
		return WT_SBT_MEMSET_DEVICE;
	case WT_OP_SYNC:
		return has(name, "Device") || has(name, "Context") ? WT_SBT_DEVICE_SYNC
		       : has(name, "Event")                        ? WT_SBT_EVENT_SYNC
								   : WT_SBT_STREAM_SYNC;
	case WT_OP_WAIT:
		return WT_SBT_EVENT_SYNC;
	case WT_OP_RECORD:
		return WT_SBT_EVENT_RECORD;
	case WT_OP_ALLOC:
		return WT_SBT_MEM_ALLOC;
	case WT_OP_FREE:
		return WT_SBT_MEM_FREE;
	case WT_OP_COLLECTIVE:
		return WT_SBT_NCCL_START;
	default:
		return WT_SBT_CUSTOM;
	}
}

/* "128x1x1/32x1x1" as six numbers; false: it is not of that form. */
static bool geometry_of(struct wt_text text, uint32_t numbers[6])
{
	size_t at = 0;

	for (size_t i = 0; i < 6; i++) {
		size_t digits = 0;

		for (numbers[i] = 0;
		     at < text.bytes && text.data[at] >= '0' && text.data[at] <= '9' && digits < 10;
		     at++, digits++)
			numbers[i] = numbers[i] * 10 + (uint32_t)(text.data[at] - '0');
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
	uint64_t bytes = wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES);
	int64_t from = started ? wt_trace_domain_ns(event->trace, event->stream, clock, started)
			       : event->time_ns;
	int64_t to = ended ? wt_trace_domain_ns(event->trace, event->stream, clock, ended) : from;
	struct wt_sbt_event made = {
		.type = (uint8_t)type_of(wt_event_u64(event, WT_DEVICE_OP_FIELD_OP), name),
		.duration = to > from ? (uint64_t)(to - from) : 0,
		.device_id = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_DEVICE),
		.correlation_id = wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION),
		.name = name,
		.has_memory_params = bytes > 0,
		.memory.size_bytes = bytes}; /* addresses, shared memory, registers: not known */
	uint32_t numbers[6];

	made.has_kernel_params =
		geometry_of(wt_event_text(event, WT_DEVICE_OP_FIELD_GEOMETRY), numbers);
	if (made.has_kernel_params) {
		memcpy(made.kernel.grid, numbers, sizeof(made.kernel.grid));
		memcpy(made.kernel.block, numbers + 3, sizeof(made.kernel.block));
	}
	put(sbt, event, from, &made);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct sbt *sbt = state;
	struct wt_sbt_event made = {0};

	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		put_op(sbt, event);
		return 0;
	case WT_KIND_SPAN_BEGIN:
		made.type = WT_SBT_RANGE_START;
		made.name = wt_event_text(event, WT_SPAN_BEGIN_FIELD_NAME);
		break;
	case WT_KIND_SPAN_END:
		made.type = WT_SBT_RANGE_END;
		made.name = wt_event_text(event, WT_SPAN_END_FIELD_NAME);
		break;
	case WT_KIND_MARK:
		made.type = WT_SBT_MARKER;
		made.correlation_id = wt_event_u64(event, WT_MARK_FIELD_VALUE);
		made.name = wt_event_text(event, WT_MARK_FIELD_NAME);
		break;
	default:
		sbt->export->left_out_count++;
		return 0;
	}
	put(sbt, event, event->time_ns, &made);
	return 0;
}

/* ---- The file -------------------------------------------------------------------------------- */

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	static const uint8_t room[WTI_SBT_HEADER_BYTES];
	struct sbt *sbt = state;

	sbt->export = export;
	sbt->base_ns = wt_trace_start_realtime_ns(export->trace);
	wti_sbt_encoder_init(&sbt->encoder);
	wti_buf_append(&export->sink->buf, room, sizeof(room));
	return 0;
}

static int finish(void *state, struct wt_err *err)
{
	struct sbt *sbt = state;
	struct wti_export_sink *sink = sbt->export->sink;
	uint64_t texts_at = sink->bytes + sink->buf.bytes;
	uint8_t header[WTI_SBT_HEADER_BYTES];
	int r;

	if (sbt->encoder.texts.failed)
		return wti_err(err, WT_E_NOMEM, "out of memory for the names");
	wti_sbt_encode_texts(&sbt->encoder, &sink->buf);
	for (size_t i = 0; i < sbt->encoder.texts.count; i++) {
		wti_sbt_encode_text(&sbt->encoder, &sink->buf, i);
		r = wti_sink_spill(sink, err);
		if (r)
			return r;
	}
	wti_sbt_encode_end(&sink->buf);
	wti_sbt_encode_header(&sbt->encoder, texts_at, header);
	r = wti_sink_flush(sink, err);
	if (!r && pwrite(sink->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		r = wti_err_errno(err, "cannot write", sbt->export->path);
	return r;
}

static void release(void *state)
{
	struct sbt *sbt = state;

	wti_sbt_encoder_release(&sbt->encoder);
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
