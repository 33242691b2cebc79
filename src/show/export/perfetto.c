/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's own format: a sequence of packets, each a protocol buffer.
 *
 * Names are interned: a number stands for a name once a packet has said so. Every few megabytes
 * the numbers are declared void and said anew, so that a reader can begin in the middle of a file
 * that has lost its head or a part.
 *
 * Readers sort packets by time and keep the order of the file among equal times; the timeline's
 * order is such that ends then come before the begins that follow them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "export.h"
#include "protobuf.h"
#include "timeline.h"
#include "value.h"

/* Times in the file are those of the run plus this: they must not be negative, and a device whose
 * clock is known badly may seem to work before the run begins. */
#define EPOCH_NS INT64_C(1000000000000)
#define SEQUENCE 1u
#define RENEW_BYTES (4u << 20)
#define SCRATCH_MAX ((size_t)1 << 26)

/* Field numbers of perfetto's messages. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum { SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };
enum {
	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_DOUBLE_VALUE = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
};

/* Numbers of annotation names that are no fields of a kind. */
enum { NOTE_UNFINISHED = 1, NOTE_MODULE, NOTE_SITE, NOTE_EXCEPTION, NOTE_FIELDS };
static const char *const note_names[] = {
	[NOTE_UNFINISHED] = "unfinished",
	[NOTE_MODULE] = "module",
	[NOTE_SITE] = "site",
	[NOTE_EXCEPTION] = "exception",
};

struct perfetto {
	struct wti_export *export;
	struct wti_timeline timeline;
	struct wti_buf *out;
	struct wti_buf scratch;
	uint64_t renewed_bytes; /* of output, when names were last declared void */
	/* One a string of each stream: its number, valid if at least `first_iid`. */
	uint32_t **name_iids;
	uint32_t *name_counts;
	uint32_t next_iid;
	uint32_t first_iid;
};

/* ---- Packets --------------------------------------------------------------------------------- */

static uint64_t stamp(int64_t ns)
{
	int64_t sum;

	if (__builtin_add_overflow(ns, EPOCH_NS, &sum))
		return ns < 0 ? 0 : INT64_MAX;
	return sum < 0 ? 0 : (uint64_t)sum;
}

static size_t begin_packet(struct wti_buf *out, unsigned flags)
{
	size_t packet = wti_pb_begin(out, TRACE_PACKET);

	wti_pb_varint(out, PACKET_SEQUENCE, SEQUENCE);
	if (flags)
		wti_pb_varint(out, PACKET_SEQUENCE_FLAGS, flags);
	return packet;
}

static void put_clock(struct wti_buf *out, unsigned id, uint64_t ns)
{
	size_t clock = wti_pb_begin(out, SNAPSHOT_CLOCKS);

	wti_pb_varint(out, CLOCK_ID, id);
	wti_pb_varint(out, CLOCK_TIMESTAMP, ns);
	wti_pb_end(out, clock);
}

/* Which time of day the beginning of the run was. */
static void put_clocks(struct perfetto *perfetto)
{
	int64_t realtime_ns = wt_trace_start_realtime_ns(perfetto->export->trace);
	struct wti_buf *out = perfetto->out;
	size_t packet, snapshot;

	if (realtime_ns <= 0)
		return;
	packet = begin_packet(out, 0);
	wti_pb_varint(out, PACKET_TIMESTAMP, stamp(0));
	snapshot = wti_pb_begin(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_BOOTTIME_ID, stamp(0));
	put_clock(out, CLOCK_REALTIME_ID, (uint64_t)realtime_ns);
	wti_pb_end(out, snapshot);
	wti_pb_end(out, packet);
}

/* ---- Interning ------------------------------------------------------------------------------- */

static void put_interned(struct wti_buf *out, unsigned list, uint64_t iid, const char *text,
			 size_t bytes)
{
	size_t entry = wti_pb_begin(out, list);

	wti_pb_varint(out, INTERNED_IID, iid);
	wti_pb_text(out, INTERNED_TEXT, text, bytes);
	wti_pb_end(out, entry);
}

/* The number of the name of a field; the kinds of this build are numbered through. */
static uint64_t field_iid(const struct wt_kind *kind, int field)
{
	const struct wt_kind *known = wt_kind_builtin(kind->number);

	if (!known || field >= known->field_count ||
	    strcmp(known->fields[field].name, kind->fields[field].name) != 0)
		return 0;
	return NOTE_FIELDS + (uint64_t)kind->number * WT_FIELDS_MAX + (unsigned)field;
}

static void put_field_names(struct wti_buf *out)
{
	for (size_t i = 0; i < wt_kind_builtin_count(); i++) {
		const struct wt_kind *kind = wt_kind_builtin_at(i);

		for (int field = 0; field < kind->field_count; field++)
			put_interned(out, INTERNED_ANNOTATION, field_iid(kind, field),
				     kind->fields[field].name, strlen(kind->fields[field].name));
	}
}

/* Declares all numbers void, and gives those that every file needs. */
static void renew(struct perfetto *perfetto)
{
	struct wti_buf *out = perfetto->out;
	size_t packet = begin_packet(out, FLAG_CLEARED);
	size_t interned = wti_pb_begin(out, PACKET_INTERNED_DATA);

	for (unsigned i = 1; i < WTI_CATEGORY_COUNT; i++)
		put_interned(out, INTERNED_CATEGORY, i, wti_category_name(i),
			     strlen(wti_category_name(i)));
	for (unsigned i = 1; i < NOTE_FIELDS; i++)
		put_interned(out, INTERNED_ANNOTATION, i, note_names[i], strlen(note_names[i]));
	put_field_names(out);
	wti_pb_end(out, interned);
	wti_pb_end(out, packet);
	perfetto->first_iid = perfetto->next_iid;
	perfetto->renewed_bytes = perfetto->export->sink->bytes + out->bytes;
}

/* Where the number of a string is kept; NULL if it cannot be. */
static uint32_t *iid_slot(struct perfetto *perfetto, const struct wti_name *name)
{
	const struct wt_reader *reader = wt_trace_stream(perfetto->export->trace, name->stream);

	if (!perfetto->name_iids[name->stream]) {
		uint32_t count = wt_reader_string_count(reader);

		perfetto->name_iids[name->stream] = calloc(count ? count : 1, sizeof(uint32_t));
		if (!perfetto->name_iids[name->stream])
			return NULL;
		perfetto->name_counts[name->stream] = count;
	}
	if (name->id >= perfetto->name_counts[name->stream])
		return NULL;
	return &perfetto->name_iids[name->stream][name->id];
}

/* Says the number of a name in a packet of its own, if that is not done yet. 0: has none. */
static uint32_t intern(struct perfetto *perfetto, const struct wti_name *name)
{
	const struct wt_reader *reader;
	struct wti_buf *out = perfetto->out;
	uint32_t *slot = name->id ? iid_slot(perfetto, name) : NULL;
	struct wt_text text;
	size_t packet, interned;

	if (!slot)
		return 0;
	if (*slot >= perfetto->first_iid)
		return *slot;
	reader = wt_trace_stream(perfetto->export->trace, name->stream);
	text = wt_reader_string(reader, name->id);
	packet = begin_packet(out, FLAG_NEEDED);
	interned = wti_pb_begin(out, PACKET_INTERNED_DATA);
	*slot = perfetto->next_iid++;
	put_interned(out, INTERNED_NAME, *slot, text.data, text.bytes);
	wti_pb_end(out, interned);
	wti_pb_end(out, packet);
	return *slot;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_process(struct wti_buf *out, const struct wti_row *row)
{
	size_t process = wti_pb_begin(out, DESCRIPTOR_PROCESS);

	wti_pb_varint(out, PROCESS_PID, row->pid & INT32_MAX);
	wti_pb_text(out, PROCESS_NAME, row->name.data, row->name.bytes);
	wti_pb_end(out, process);
}

static void put_thread(struct wti_buf *out, const struct wti_row *row)
{
	size_t thread = wti_pb_begin(out, DESCRIPTOR_THREAD);

	wti_pb_varint(out, THREAD_PID, row->pid & INT32_MAX);
	wti_pb_varint(out, THREAD_TID, row->tid & INT32_MAX);
	wti_pb_text(out, THREAD_NAME, row->name.data, row->name.bytes);
	wti_pb_end(out, thread);
}

static void put_counter_descriptor(struct wti_buf *out, const struct wti_row *row)
{
	size_t counter = wti_pb_begin(out, DESCRIPTOR_COUNTER);

	if (row->unit.bytes)
		wti_pb_text(out, COUNTER_UNIT_NAME, row->unit.data, row->unit.bytes);
	wti_pb_end(out, counter);
}

static void put_row(void *opaque, const struct wti_row *row)
{
	struct perfetto *perfetto = opaque;
	struct wti_buf *out = perfetto->out;
	size_t packet = begin_packet(out, 0);
	size_t descriptor = wti_pb_begin(out, PACKET_TRACK_DESCRIPTOR);

	wti_pb_varint(out, DESCRIPTOR_UUID, row->id);
	if (row->type == WTI_ROW_PROCESS) {
		put_process(out, row);
	} else if (row->type == WTI_ROW_THREAD) {
		put_thread(out, row);
	} else {
		wti_pb_varint(out, DESCRIPTOR_PARENT, row->parent);
		wti_pb_text(out, DESCRIPTOR_NAME, row->name.data, row->name.bytes);
	}
	if (row->type == WTI_ROW_COUNTER)
		put_counter_descriptor(out, row);
	wti_pb_end(out, descriptor);
	wti_pb_end(out, packet);
}

/* ---- Annotations ----------------------------------------------------------------------------- */

static void put_note(struct wti_buf *out, unsigned note, struct wt_text text)
{
	size_t annotation;

	if (!text.bytes)
		return;
	annotation = wti_pb_begin(out, EVENT_ANNOTATION);
	wti_pb_varint(out, ANNOTATION_NAME_IID, note);
	wti_pb_text(out, ANNOTATION_STRING, text.data, text.bytes);
	wti_pb_end(out, annotation);
}

static void put_hex(struct wti_buf *out, struct wt_text bytes)
{
	struct wti_buf text;

	wti_buf_init(&text, 2 * bytes.bytes + 1);
	wti_buf_hex(&text, bytes.data, bytes.bytes);
	wti_pb_text(out, ANNOTATION_STRING, (const char *)text.data, text.bytes);
	wti_buf_inherit(out, &text);
	wti_buf_release(&text);
}

static void put_value(struct wti_buf *out, const struct wti_shown *value)
{
	switch (value->type) {
	case WTI_SHOWN_ABSENT:
		break;
	case WTI_SHOWN_BOOL:
		wti_pb_varint(out, ANNOTATION_BOOL, value->u != 0);
		break;
	case WTI_SHOWN_UINT:
		wti_pb_varint(out, ANNOTATION_UINT, value->u);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		wti_pb_varint(out, ANNOTATION_INT, (uint64_t)value->i);
		break;
	case WTI_SHOWN_FLOAT:
		wti_pb_double(out, ANNOTATION_DOUBLE, value->f);
		break;
	case WTI_SHOWN_HASH: /* which viewers show in hexadecimal */
		wti_pb_varint(out, ANNOTATION_POINTER, value->u);
		break;
	case WTI_SHOWN_TEXT:
		wti_pb_text(out, ANNOTATION_STRING, value->text.data, value->text.bytes);
		break;
	case WTI_SHOWN_BYTES:
		put_hex(out, value->text);
		break;
	}
}

static void put_field(struct perfetto *perfetto, const struct wt_event *event, int field)
{
	struct wti_shown value;
	const char *name = event->kind->fields[field].name;
	uint64_t iid = field_iid(event->kind, field);
	struct wti_buf *out = perfetto->out;
	size_t annotation;

	wti_value_of(&value, event, field, &perfetto->scratch, perfetto->export->sources);
	if (value.type == WTI_SHOWN_ABSENT)
		return;
	annotation = wti_pb_begin(out, EVENT_ANNOTATION);
	if (iid)
		wti_pb_varint(out, ANNOTATION_NAME_IID, iid);
	else
		wti_pb_text(out, ANNOTATION_NAME, name, strlen(name));
	put_value(out, &value);
	wti_pb_end(out, annotation);
}

static void put_arguments(struct perfetto *perfetto, const struct wti_slice *slice)
{
	struct wti_buf *out = perfetto->out;

	if (slice->event) {
		for (int i = 0; i < slice->event->kind->field_count; i++) {
			if (wti_field_shown(slice->event, i))
				put_field(perfetto, slice->event, i);
		}
	}
	if (slice->module)
		put_note(out, NOTE_MODULE, wt_reader_string(slice->reader, slice->module));
	if (slice->site)
		put_note(out, NOTE_SITE,
			 wti_site_text(slice->reader, slice->site, &perfetto->scratch));
}

/* ---- Events ---------------------------------------------------------------------------------- */

struct open_event {
	size_t packet;
	size_t event;
};

static struct open_event begin_event(struct wti_buf *out, unsigned type, uint32_t row,
				     int64_t time_ns)
{
	struct open_event open;

	open.packet = begin_packet(out, FLAG_NEEDED);
	wti_pb_varint(out, PACKET_TIMESTAMP, stamp(time_ns));
	open.event = wti_pb_begin(out, PACKET_TRACK_EVENT);
	wti_pb_varint(out, EVENT_TYPE, type);
	wti_pb_varint(out, EVENT_TRACK, row);
	return open;
}

static void end_event(struct wti_buf *out, struct open_event open)
{
	wti_pb_end(out, open.event);
	wti_pb_end(out, open.packet);
}

static void put_slice(struct perfetto *perfetto, unsigned type, const struct wti_slice *slice)
{
	uint32_t iid = intern(perfetto, &slice->name);
	struct wti_buf *out = perfetto->out;
	struct open_event open = begin_event(out, type, slice->row, slice->begin_ns);
	struct wt_text text = slice->name.text;

	wti_pb_varint(out, EVENT_CATEGORY_IID, slice->category);
	if (slice->name.id && !iid)
		text = wt_reader_string(slice->reader, slice->name.id);
	if (iid)
		wti_pb_varint(out, EVENT_NAME_IID, iid);
	else
		wti_pb_text(out, EVENT_NAME, text.data, text.bytes);
	put_arguments(perfetto, slice);
	for (uint32_t i = 0; i < slice->out_count; i++)
		wti_pb_fixed64(out, EVENT_FLOW, slice->out[i].id);
	for (uint32_t i = 0; i < slice->in_count; i++)
		wti_pb_fixed64(out, EVENT_FLOW_END, slice->in[i].id);
	end_event(out, open);
}

static void put_begin(void *perfetto, const struct wti_slice *slice)
{
	put_slice(perfetto, TYPE_BEGIN, slice);
}

static void put_instant(void *perfetto, const struct wti_slice *slice)
{
	put_slice(perfetto, TYPE_INSTANT, slice);
}

static void put_end(void *opaque, const struct wti_slice *slice)
{
	struct perfetto *perfetto = opaque;
	struct wti_buf *out = perfetto->out;
	struct open_event open = begin_event(out, TYPE_END, slice->row, slice->end_ns);
	size_t annotation;

	if (slice->unfinished) {
		annotation = wti_pb_begin(out, EVENT_ANNOTATION);
		wti_pb_varint(out, ANNOTATION_NAME_IID, NOTE_UNFINISHED);
		wti_pb_varint(out, ANNOTATION_BOOL, 1);
		wti_pb_end(out, annotation);
	}
	if (slice->exception)
		put_note(out, NOTE_EXCEPTION, wt_reader_string(slice->reader, slice->exception));
	end_event(out, open);
}

static void put_counter(void *opaque, uint32_t row, int64_t time_ns, double value)
{
	struct perfetto *perfetto = opaque;
	struct open_event open = begin_event(perfetto->out, TYPE_COUNTER, row, time_ns);

	wti_pb_double(perfetto->out, EVENT_DOUBLE_VALUE, value);
	end_event(perfetto->out, open);
}

static const struct wti_timeline_target target = {
	.row = put_row,
	.begin = put_begin,
	.end = put_end,
	.instant = put_instant,
	.counter = put_counter,
};

/* ---- The exporter ---------------------------------------------------------------------------- */

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct perfetto *perfetto = state;
	size_t streams = wt_trace_stream_count(export->trace);

	perfetto->export = export;
	perfetto->out = &export->sink->buf;
	perfetto->next_iid = 1;
	wti_buf_init(&perfetto->scratch, SCRATCH_MAX);
	perfetto->name_iids = calloc(streams, sizeof(*perfetto->name_iids));
	perfetto->name_counts = calloc(streams, sizeof(*perfetto->name_counts));
	if (!perfetto->name_iids || !perfetto->name_counts)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	renew(perfetto);
	put_clocks(perfetto);
	return wti_timeline_init(&perfetto->timeline, export, &target, perfetto, err);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct perfetto *perfetto = state;

	if (perfetto->export->sink->bytes + perfetto->out->bytes - perfetto->renewed_bytes >=
	    RENEW_BYTES)
		renew(perfetto);
	return wti_timeline_event(&perfetto->timeline, event, err);
}

static int finish(void *state, struct wt_err *err)
{
	struct perfetto *perfetto = state;

	return wti_timeline_finish(&perfetto->timeline, err);
}

static void release(void *state)
{
	struct perfetto *perfetto = state;

	if (perfetto->timeline.export)
		wti_timeline_release(&perfetto->timeline);
	for (size_t i = 0;
	     perfetto->name_iids && i < wt_trace_stream_count(perfetto->export->trace); i++)
		free(perfetto->name_iids[i]);
	free(perfetto->name_iids);
	free(perfetto->name_counts);
	wti_buf_release(&perfetto->scratch);
}

const struct wti_exporter wti_exporter_perfetto = {
	.name = "perfetto",
	.extension = "pftrace",
	.summary = "a trace for ui.perfetto.dev and trace_processor",
	.streams = true,
	.is_binary = true,
	.state_bytes = sizeof(struct perfetto),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
