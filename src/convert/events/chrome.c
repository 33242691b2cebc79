/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace events, whoever wrote them: spans (X, B and E, asynchronous ones), instants,
 * counters, arrows and names. Each process becomes a stream. Other types are counted.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "device.h"
#include "file.h"
#include "formats.h"
#include "threads.h"

#define NAME_BYTES 4096
#define KEY_BYTES 128
/* Times above are since 1970: 2001 in ns. */
#define EPOCH_MIN_NS ((uint64_t)1000000000 * 1000000000)

struct chrome {
	struct wti_intake *intake;
	struct wti_threads threads;
	struct wti_import_file *file;
	uint64_t latest;
	char text[NAME_BYTES];
};

static uint32_t name_of(struct chrome *c, const struct wti_fragment *piece)
{
	size_t bytes;
	const char *text = wti_piece_text(piece, c->text, sizeof(c->text), &bytes);

	return wti_intake_name(c->intake, text, bytes);
}

static uint32_t process_of(struct chrome *c, const struct wti_fragment *pid)
{
	size_t bytes = pid->bytes < KEY_BYTES ? pid->bytes : KEY_BYTES;
	uint32_t process = wti_intake_process(c->intake, bytes ? pid->data : "", bytes);
	int64_t number = 0;

	if (wti_piece_number(pid, &number))
		wti_intake_process_set(c->intake, process, (uint32_t)number, "", 0);
	return process;
}

static uint32_t track_of(struct chrome *c, const struct wti_event *event)
{
	return wti_threads_thread(&c->threads, process_of(c, &event->pid), &event->pid,
				  &event->tid);
}

static struct wti_intake_span span_of(struct chrome *c, const struct wti_event *event,
				      uint32_t track)
{
	uint64_t time = (uint64_t)event->time_ns;

	return (struct wti_intake_span){
		.track = track,
		.name = name_of(c, &event->name),
		.rank = WTI_RANK_OTHER,
		.begin = time,
		.end = time + (uint64_t)(event->duration_ns > 0 ? event->duration_ns : 0),
	};
}

/* ---- Types of events ------------------------------------------------------------------------- */

/* Spans that belong to no thread: a track for each category and id. */
static uint32_t async_track(struct chrome *c, const struct wti_event *event)
{
	const struct wti_fragment *category = &event->category, *id = &event->id;
	char key[2 * KEY_BYTES];
	int bytes = snprintf(key, sizeof(key), "%.*s %.*s",
			     category->bytes < KEY_BYTES / 2 ? (int)category->bytes : KEY_BYTES / 2,
			     category->bytes ? category->data : "",
			     id->bytes < KEY_BYTES / 2 ? (int)id->bytes : KEY_BYTES / 2,
			     id->bytes ? id->data : "");
	const struct wti_fragment tid = {key, (size_t)bytes, true, false};

	return wti_threads_thread(&c->threads, process_of(c, &event->pid), &event->pid, &tid);
}

static void take_mark(struct chrome *c, const struct wti_event *event)
{
	const uint64_t values[] = {name_of(c, &event->name), 0, 0};

	wti_intake_event(c->intake, WT_KIND_MARK, track_of(c, event), (uint64_t)event->time_ns,
			 values, 3, NULL);
}

/* A counter for each series; one that is alone has the name of the event, and its key is the unit.
 */
static void put_counter(struct chrome *c, const struct wti_event *event,
			const struct wti_fragment *key, double number, bool alone)
{
	uint64_t values[3] = {name_of(c, &event->name)};
	char name[NAME_BYTES];
	int bytes;

	if (alone && !wti_piece_is(key, "value")) {
		values[1] = name_of(c, key);
	} else if (!alone) {
		bytes = snprintf(name, sizeof(name), "%.*s %.*s",
				 event->name.bytes < 1024 ? (int)event->name.bytes : 1024,
				 event->name.bytes ? event->name.data : "",
				 key->bytes < 1024 ? (int)key->bytes : 1024, key->data);
		values[0] = wti_intake_name(c->intake, name, (size_t)bytes);
	}
	memcpy(&values[2], &number, sizeof(number));
	wti_intake_event(c->intake, WT_KIND_COUNTER, track_of(c, event), (uint64_t)event->time_ns,
			 values, 3, NULL);
}

static void take_counter(struct chrome *c, const struct wti_event *event)
{
	const struct wti_fragment *args = &event->arguments;
	struct wti_events_scan scan = {args->data, NULL, false};
	struct wti_fragment key, value;
	unsigned count = 0;
	double number;

	if (!args->bytes)
		return;
	scan.end = args->data + args->bytes;
	while (wti_scan_member(&scan, &key, &value))
		count++;
	scan.at = args->data;
	while (wti_scan_member(&scan, &key, &value)) {
		if (wti_piece_double(&value, &number))
			put_counter(c, event, &key, number, count == 1);
	}
}

static uint64_t flow_id(const struct wti_event *event)
{
	uint64_t id = 14695981039346656037u; /* FNV-1a, over category and id */

	for (size_t i = 0; i < event->category.bytes; i++)
		id = (id ^ (uint8_t)event->category.data[i]) * 1099511628211u;
	id = (id ^ '/') * 1099511628211u;
	for (size_t i = 0; i < event->id.bytes; i++)
		id = (id ^ (uint8_t)event->id.data[i]) * 1099511628211u;
	return id;
}

static void take_arrow(struct chrome *c, const struct wti_event *event)
{
	wti_intake_flow(c->intake, track_of(c, event), (uint64_t)event->time_ns,
			WT_EDGE_SEND_RECEIVE, flow_id(event),
			event->phase == 's'   ? WTI_FLOW_FROM
			: event->phase == 't' ? WTI_FLOW_THROUGH
					      : WTI_FLOW_TO);
}

static void take_metadata(struct chrome *c, const struct wti_event *event)
{
	struct wti_fragment name = {0};
	const char *text;
	size_t bytes;

	if (!wti_argument(&event->arguments, "name", &name))
		return;
	if (wti_piece_is(&event->name, "thread_name")) {
		wti_threads_name(&c->threads, &event->pid, &event->tid, &name);
	} else if (wti_piece_is(&event->name, "process_name")) {
		text = wti_piece_text(&name, c->text, sizeof(c->text), &bytes);
		wti_intake_process_set(c->intake, process_of(c, &event->pid), 0, text, bytes);
	}
}

static void take_timed(struct chrome *c, const struct wti_event *event)
{
	struct wti_intake_span span;

	switch (event->phase) {
	case 'X':
		span = span_of(c, event, track_of(c, event));
		wti_intake_span(c->intake, &span);
		break;
	case 'B':
	case 'b':
		span = span_of(c, event,
			       event->phase == 'B' ? track_of(c, event) : async_track(c, event));
		wti_intake_begin(c->intake, &span);
		break;
	case 'E':
	case 'e':
		wti_intake_end(c->intake,
			       event->phase == 'E' ? track_of(c, event) : async_track(c, event),
			       (uint64_t)event->time_ns);
		break;
	case 'i':
	case 'I':
	case 'n':
	case 'R':
		take_mark(c, event);
		break;
	case 'C':
		take_counter(c, event);
		break;
	case 's':
	case 't':
	case 'f':
		take_arrow(c, event);
		break;
	default:
		wti_intake_leave_out(c->intake, "events of types that no trace of ours has", 1);
	}
}

static void take_event(void *self, const struct wti_event *event)
{
	struct chrome *c = self;

	if (event->phase == 'M') {
		take_metadata(c, event);
		return;
	}
	if (!event->has_time || event->time_ns < 0) {
		wti_intake_lose(c->intake, "events without a time", 1);
		return;
	}
	if ((uint64_t)event->time_ns > c->latest)
		c->latest = (uint64_t)event->time_ns;
	take_timed(c, event);
}

static int read_chrome(const char *path, struct wti_intake *intake,
		       struct wti_import_file *ret_file, struct wt_err *err)
{
	static const struct wti_events_taker taker = {.event = take_event};
	struct chrome c = {.intake = intake, .file = ret_file};
	struct wti_events_outcome outcome;
	struct wti_sliding input;
	int r = wti_input_open(&input, path, WTI_EVENTS_WINDOW_MAX, err);

	if (r)
		return r;
	wti_threads_init(&c.threads, intake);
	r = wti_events_read(&input, &taker, &c, &outcome, err);
	wti_threads_finish(&c.threads);
	ret_file->bytes = input.offset + input.end;
	ret_file->records = outcome.events;
	ret_file->damage = outcome.damage;
	ret_file->realtime = c.latest >= EPOCH_MIN_NS;
	wti_intake_lose(intake, "events that could not be read", outcome.damaged);
	wti_threads_release(&c.threads);
	wti_input_release(&input);
	return r;
}

const struct wti_import_format wti_import_chrome = {"chrome", read_chrome};
