/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's packets: slices, instants and counters of tracks, arrows, names that are interned by
 * sequence, and the clock snapshot that says when the trace began. Packets of other data sources
 * are counted. A message is read as it stands: lengths are checked, nothing recurses but by a fixed
 * number of levels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "convert/intake/input.h"
#include "formats.h"

#define PACKET_BYTES_MAX ((size_t)64 << 20)
#define HEAD_BYTES_MAX 11u /* of a packet: its tag and its length */
#define TRACKS_MAX ((size_t)1 << 16)
#define INTERNED_MAX ((size_t)1 << 20)
#define FLOWS_MAX ((size_t)4 << 20)
#define PARENTS_MAX 16u

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCK_OWN_MIN = 64 };
enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };

/* One field of a message. */
struct field {
	uint32_t number;
	uint32_t wire;
	uint64_t value;      /* of numbers */
	const uint8_t *data; /* of bytes */
	size_t bytes;
};

struct message {
	const uint8_t *at, *end;
	bool broken;
};

/* What is known of a track by its uuid. */
struct track {
	uint64_t uuid, parent;
	uint32_t name; /* numbers of texts */
	uint32_t unit;
	uint32_t pid, tid;
	uint32_t process_name;
	uint32_t number; /* of the intake; 0: no event yet */
	bool is_process, is_thread;
};

struct perfetto {
	struct wti_intake *intake;
	struct wti_sliding input;
	struct wti_import_file *file;
	struct wti_map tracks; /* uuid: place in items, plus one */
	struct track *items;
	size_t count, capacity;
	struct wti_map names;    /* sequence and iid: number of a text */
	struct wti_map flows;    /* ids that were met */
	struct wti_map defaults; /* sequence: uuid of its track */
	uint64_t boottime, realtime;
};

/* What an event says. */
struct event {
	uint64_t time, type, track, name_iid, sequence;
	uint32_t name;
	double value;
	bool has_track;
};

/* ---- Messages -------------------------------------------------------------------------------- */

static uint64_t varint(struct message *m)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		uint8_t byte = *m->at++;

		result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return result;
	}
	m->broken = true;
	return 0;
}

/* False at the end, or where the message is broken. */
static bool next(struct message *m, struct field *field)
{
	uint64_t tag;

	if (m->at >= m->end || m->broken)
		return false;
	tag = varint(m);
	*field = (struct field){.number = (uint32_t)(tag >> 3), .wire = (uint32_t)(tag & 7)};
	switch (field->wire) {
	case VARINT:
		field->value = varint(m);
		break;
	case FIXED64:
	case FIXED32:
		field->bytes = field->wire == FIXED64 ? 8 : 4;
		break;
	case BYTES:
		field->bytes = varint(m);
		break;
	default:
		m->broken = true;
	}
	if (m->broken || field->bytes > (size_t)(m->end - m->at)) {
		m->broken = true;
		return false;
	}
	field->data = m->at;
	if (field->wire == FIXED64)
		field->value = wti_get64(m->at);
	else if (field->wire == FIXED32)
		field->value = wti_get32(m->at);
	m->at += field->bytes;
	return true;
}

static struct message inside(const struct field *field)
{
	return (struct message){field->data,
				field->data + (field->wire == BYTES ? field->bytes : 0), false};
}

static uint32_t text_of(struct perfetto *p, const struct field *field)
{
	return field->wire == BYTES
		       ? wti_intake_name(p->intake, (const char *)field->data, field->bytes)
		       : 0;
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

static struct track *track_at(struct perfetto *p, uint64_t uuid)
{
	uint64_t *slot = wti_map_number(&p->tracks, uuid);

	if (slot && *slot)
		return &p->items[*slot - 1];
	if (!slot || wti_grow_zeroed(&p->items, p->count + 1, &p->capacity, TRACKS_MAX))
		return NULL;
	*slot = ++p->count;
	p->items[p->count - 1] = (struct track){.uuid = uuid};
	return &p->items[p->count - 1];
}

static void read_process(struct perfetto *p, struct track *track, struct message m)
{
	struct field field;

	track->is_process = true;
	while (next(&m, &field)) {
		if (field.number == 1)
			track->pid = (uint32_t)field.value;
		else if (field.number == 6)
			track->process_name = text_of(p, &field);
	}
}

static void read_thread(struct perfetto *p, struct track *track, struct message m)
{
	struct field field;

	track->is_thread = true;
	while (next(&m, &field)) {
		if (field.number == 1)
			track->pid = (uint32_t)field.value;
		else if (field.number == 2)
			track->tid = (uint32_t)field.value;
		else if (field.number == 5 && !track->name)
			track->name = text_of(p, &field);
	}
}

static void read_counter(struct perfetto *p, struct track *track, struct message m)
{
	struct field field;

	while (next(&m, &field)) {
		if (field.number == 6)
			track->unit = text_of(p, &field);
	}
}

static void read_descriptor(struct perfetto *p, struct message m)
{
	struct track *track = NULL;
	struct message again = m;
	struct field field;

	while (!track && next(&again, &field)) {
		if (field.number == 1)
			track = track_at(p, field.value);
	}
	while (track && next(&m, &field)) {
		if ((field.number == 2 || field.number == 10) && field.bytes)
			track->name = text_of(p, &field);
		else if (field.number == 3)
			read_process(p, track, inside(&field));
		else if (field.number == 4)
			read_thread(p, track, inside(&field));
		else if (field.number == 5)
			track->parent = field.value;
		else if (field.number == 8)
			read_counter(p, track, inside(&field));
	}
}

static uint32_t process_of(struct perfetto *p, const struct track *track)
{
	char key[16];
	uint32_t process;
	struct wt_text name;
	int bytes;

	for (unsigned i = 0; i < PARENTS_MAX && !track->pid && track->parent; i++) {
		uint64_t place = wti_map_get(&p->tracks, track->parent);

		if (!place)
			break;
		track = &p->items[place - 1];
	}
	bytes = snprintf(key, sizeof(key), "%u", track->pid);
	process = wti_intake_process(p->intake, key, (size_t)bytes);
	name = wti_intake_name_text(p->intake, track->process_name);
	wti_intake_process_set(p->intake, process, track->pid, name.data, name.bytes);
	return process;
}

static uint32_t number_of(struct perfetto *p, struct track *track)
{
	struct wt_text name = wti_intake_name_text(p->intake, track->name);
	struct wti_intake_track about = {.type = WT_TRACK_THREAD,
					 .tid = track->tid,
					 .key = (const char *)&track->uuid,
					 .key_bytes = sizeof(track->uuid)};

	if (track->number)
		return track->number;
	about.process = process_of(p, track);
	track->number = wti_intake_track(p->intake, &about);
	if (name.bytes)
		wti_intake_track_name(p->intake, track->number, name.data, name.bytes);
	return track->number;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static uint64_t name_key(uint64_t sequence, uint64_t iid)
{
	return sequence << 40 ^ iid;
}

static void read_interned(struct perfetto *p, uint64_t sequence, struct message m)
{
	struct field field, part;

	while (next(&m, &field)) {
		struct message item = inside(&field);
		uint64_t iid = 0;
		uint32_t name = 0;

		if (field.number != 2) /* names of events */
			continue;
		while (next(&item, &part)) {
			if (part.number == 1)
				iid = part.value;
			else if (part.number == 2)
				name = text_of(p, &part);
		}
		if (!wti_map_put(&p->names, name_key(sequence, iid), name))
			wti_intake_leave_out(p->intake, "interned names beyond a million", 1);
	}
}

static void take_flow(struct perfetto *p, const struct event *event, uint32_t track, uint64_t id,
		      bool ends)
{
	uint64_t *met = wti_map_number(&p->flows, id);

	if (!met || track == 0)
		return;
	wti_intake_flow(p->intake, track, event->time, WT_EDGE_SEND_RECEIVE, id,
			ends   ? WTI_FLOW_TO
			: *met ? WTI_FLOW_THROUGH
			       : WTI_FLOW_FROM);
	*met = 1;
}

static void take_flows(struct perfetto *p, const struct event *event, uint32_t track,
		       struct message m)
{
	struct field field;

	while (next(&m, &field)) {
		if ((field.number == 47 || field.number == 48) && field.wire == FIXED64)
			take_flow(p, event, track, field.value, field.number == 48);
	}
}

static void take_event(struct perfetto *p, const struct event *event, struct message m)
{
	struct track *track = track_at(p, event->track);
	uint32_t number = track ? number_of(p, track) : 0;
	uint64_t values[3] = {event->name};
	const struct wti_intake_span span = {.track = number,
					     .name = event->name,
					     .rank = WTI_RANK_OTHER,
					     .begin = event->time,
					     .end = event->time};

	if (!track) {
		wti_intake_lose(p->intake, "events of tracks beyond 65536", 1);
	} else if (event->type == BEGIN) {
		wti_intake_begin(p->intake, &span);
		take_flows(p, event, number, m);
	} else if (event->type == END) {
		wti_intake_end(p->intake, number, event->time);
	} else if (event->type == INSTANT) {
		wti_intake_event(p->intake, WT_KIND_MARK, number, event->time, values, 3, NULL);
	} else if (event->type == COUNTER) {
		values[0] = event->name ? event->name : track->name;
		values[1] = track->unit;
		memcpy(&values[2], &event->value, sizeof(double));
		wti_intake_event(p->intake, WT_KIND_COUNTER, number, event->time, values, 3, NULL);
	} else {
		wti_intake_leave_out(p->intake, "events of types that no trace of ours has", 1);
	}
}

static void read_event(struct perfetto *p, struct event *event, struct message m)
{
	struct message again = m;
	struct field field;

	while (next(&m, &field)) {
		if (field.number == 9)
			event->type = field.value;
		else if (field.number == 10)
			event->name = (uint32_t)wti_map_get(&p->names,
							    name_key(event->sequence, field.value));
		else if (field.number == 23)
			event->name = text_of(p, &field);
		else if (field.number == 30)
			event->value = (double)(int64_t)field.value;
		else if (field.number == 44 && field.wire == FIXED64)
			memcpy(&event->value, field.data, sizeof(double));
		else if (field.number == 11) {
			event->track = field.value;
			event->has_track = true;
		}
	}
	if (!event->has_track)
		event->track = wti_map_get(&p->defaults, event->sequence);
	if (m.broken)
		wti_intake_lose(p->intake, "events that could not be read", 1);
	else
		take_event(p, event, again);
}

/* ---- Packets --------------------------------------------------------------------------------- */

static void read_snapshot(struct perfetto *p, struct message m)
{
	uint64_t boottime = 0, realtime = 0;
	struct field field, part;

	while (next(&m, &field)) {
		struct message clock = inside(&field);
		uint64_t id = 0, value = 0;

		if (field.number != 1)
			continue;
		while (next(&clock, &part)) {
			if (part.number == 1)
				id = part.value;
			else if (part.number == 2)
				value = part.value;
		}
		boottime = id == CLOCK_BOOTTIME_ID ? value : boottime;
		realtime = id == CLOCK_REALTIME_ID ? value : realtime;
	}
	if (boottime && realtime && !p->realtime) {
		p->boottime = boottime;
		p->realtime = realtime;
	}
}

/* The uuid of the track that events of the sequence belong to if they name none. */
static void read_defaults(struct perfetto *p, uint64_t sequence, struct message m)
{
	struct field field, part;

	while (next(&m, &field)) {
		struct message defaults = inside(&field);

		while (field.number == 11 && next(&defaults, &part)) {
			if (part.number == 11)
				wti_map_put(&p->defaults, sequence, part.value);
		}
	}
}

/* Where its parts are, before any of them is read: their order is the writer's. */
struct packet {
	struct field event, interned, descriptor, snapshot, defaults;
	uint64_t time, sequence, clock;
	bool packed;
};

static bool scan_packet(struct message m, struct packet *packet)
{
	struct field field;

	while (next(&m, &field)) {
		switch (field.number) {
		case 6:
			packet->snapshot = field;
			break;
		case 8:
			packet->time = field.value;
			break;
		case 10:
			packet->sequence = field.value;
			break;
		case 11:
			packet->event = field;
			break;
		case 12:
			packet->interned = field;
			break;
		case 50:
		case 133:
			packet->packed = true;
			break;
		case 58:
			packet->clock = field.value;
			break;
		case 59:
			packet->defaults = field;
			break;
		case 60:
			packet->descriptor = field;
			break;
		default:
			break;
		}
	}
	return !m.broken;
}

static void read_packet(struct perfetto *p, struct message m)
{
	struct packet packet = {0};
	struct event event;

	if (!scan_packet(m, &packet)) {
		wti_intake_lose(p->intake, "packets that could not be read", 1);
		return;
	}
	if (packet.packed)
		wti_intake_lose(p->intake, "packets that are compressed", 1);
	if (packet.snapshot.data)
		read_snapshot(p, inside(&packet.snapshot));
	if (packet.defaults.data)
		read_defaults(p, packet.sequence, inside(&packet.defaults));
	if (packet.descriptor.data)
		read_descriptor(p, inside(&packet.descriptor));
	if (packet.interned.data)
		read_interned(p, packet.sequence, inside(&packet.interned));
	if (packet.event.data && packet.clock >= CLOCK_OWN_MIN) {
		wti_intake_lose(p->intake, "events by clocks of their writers", 1);
	} else if (packet.event.data) {
		event = (struct event){.time = packet.time, .sequence = packet.sequence};
		read_event(p, &event, inside(&packet.event));
	} else if (!packet.snapshot.data && !packet.defaults.data && !packet.descriptor.data &&
		   !packet.interned.data && !packet.packed) {
		wti_intake_leave_out(p->intake, "packets of other data sources", 1);
	}
}

static void damaged(struct perfetto *p, const uint8_t *at, const char *what)
{
	uint64_t offset = wti_input_offset(&p->input, at);

	wti_err_at(&p->file->damage, WT_E_FORMAT, (int64_t)offset, "'%.200s', byte %llu: %s",
		   p->input.path, (unsigned long long)offset, what);
}

/* 1: a packet was read, 0: the end, or damage. */
static int read_next(struct perfetto *p, struct wt_err *err)
{
	for (;;) {
		struct wti_sliding *in = &p->input;
		const uint8_t *begin = in->data + in->begin;
		struct message m = {begin, in->data + in->end, false};
		struct field field;
		int r;

		if (m.at < m.end && (*m.at != 0x0a)) {
			damaged(p, begin, "no packet of Perfetto begins here");
			return 0;
		}
		if (next(&m, &field)) {
			in->begin = (size_t)(m.at - in->data);
			p->file->records++;
			read_packet(p, inside(&field));
			return 1;
		}
		r = wti_input_more(in, err);
		if (r < 0)
			return r;
		if (!r && in->begin < in->end)
			damaged(p, in->data + in->begin,
				"the file ends within this packet: it is cut");
		if (!r)
			return 0;
	}
}

static int read_all(struct perfetto *p, struct wt_err *err)
{
	struct wti_import_file *file = p->file;
	int r;

	do
		r = read_next(p, err);
	while (r > 0);
	if (r < 0 && file->records && r != WT_E_NOMEM) {
		file->damage = *err; /* what was read before is good */
		r = 0;
	}
	if (p->input.damage.code)
		file->damage = p->input.damage;
	if (!r && file->damage.code && !file->records) {
		*err = file->damage;
		r = err->code;
	}
	if (file->damage.code)
		wti_intake_lose(p->intake, "packets that could not be read", 1);
	if (p->realtime >= p->boottime && p->realtime < WTI_INTAKE_TIME_MAX) {
		file->shift_ns = p->realtime - p->boottime;
		file->realtime = file->shift_ns;
	}
	return r;
}

static int read_perfetto(const char *path, struct wti_intake *intake,
			 struct wti_import_file *ret_file, struct wt_err *err)
{
	struct perfetto p = {.intake = intake, .file = ret_file};
	int r = wti_input_open(&p.input, path, PACKET_BYTES_MAX, err);

	if (r)
		return r;
	wti_map_init(&p.tracks, TRACKS_MAX);
	wti_map_init(&p.names, INTERNED_MAX);
	wti_map_init(&p.flows, FLOWS_MAX);
	wti_map_init(&p.defaults, TRACKS_MAX);
	r = read_all(&p, err);
	ret_file->bytes = p.input.offset + p.input.end;
	wti_map_release(&p.tracks);
	wti_map_release(&p.names);
	wti_map_release(&p.flows);
	wti_map_release(&p.defaults);
	free(p.items);
	wti_input_release(&p.input);
	return r;
}

const struct wti_import_format wti_import_perfetto = {"perfetto", read_perfetto};
