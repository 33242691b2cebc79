/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what each kind of record becomes; counts those that become nothing. */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/queue.h"
#include "emit.h"

#include "cupti.h"
#include "words.h"

#define NO_STREAM 0xffffffffu
#define ROOM_BYTES 512u        /* more than one record of a device becomes */
#define ROOM_STEP_NS 200000    /* how long to sleep until the recorder has made room */
#define ROOM_NS 10000000000ull /* after this long the event is lost, and counted */
#define MARKER_MOMENT 1u
#define MARKER_BEGIN 2u
#define OWNER_THREAD 2u
#define SYNC_STREAM_WAITS 2u
#define SYNC_EVENT 1u

/* ---- Room ------------------------------------------------------------------------------------ */

/* The thread is ours: it can wait longer than one of the program's may. */
static void wait_for_room(const struct wti_cuda_report *report)
{
	const struct timespec step = {0, ROOM_STEP_NS};

	for (uint64_t waited_ns = 0;
	     !wti_ring_has_room(report->here.ring, ROOM_BYTES) && waited_ns < ROOM_NS &&
	     atomic_load(&wti_agent.control->state) == WTI_RECORDING_ON;
	     waited_ns += ROOM_STEP_NS)
		nanosleep(&step, NULL);
}

static uint32_t text_name(const struct wti_cuda_report *report, const char *text, size_t bytes)
{
	return bytes ? wti_name(report->here, wti_name_find(text, bytes)) : 0;
}

static uint32_t words_name(const struct wti_cuda_report *report,
			   const struct wti_cuda_record *record)
{
	char words[WTI_CUDA_WORDS_BYTES];

	return text_name(report, words, wti_cuda_words(record, words));
}

static uint32_t own_name(const struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const char *text = (const char *)(uintptr_t)record->name;

	return text && *text ? text_name(report, text, strlen(text)) : words_name(report, record);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static uint32_t make_track(const struct wti_cuda_record *record)
{
	char name[64];

	/* Streams count by context: only a program with several has to say which. */
	if (record->context > 1)
		snprintf(name, sizeof(name), "stream %u (context %u)", record->stream,
			 record->context);
	else
		snprintf(name, sizeof(name), "stream %u", record->stream);
	return wti_queue_track(record->device, name);
}

/* Records of waits say in which context they were, not on which device. */
static uint32_t device_of(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	uint32_t *device = &report->devices[record->context % WTI_CUDA_CONTEXTS_MAX];

	if (record->kind != WTI_CUDA_SYNCHRONIZATION)
		*device = record->device + 1;
	return *device ? *device - 1 : record->device;
}

static uint32_t queue_of(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	uint32_t hash = record->device * 31 + record->context * 7919 + record->stream * 2654435761u;

	if (record->stream == NO_STREAM)
		return 0;
	for (uint32_t i = 0; i < WTI_CUDA_QUEUES_MAX; i++) {
		struct wti_cuda_queue *queue = &report->queues[(hash + i) % WTI_CUDA_QUEUES_MAX];

		if (!queue->track)
			*queue = (struct wti_cuda_queue){record->device, record->context,
							 record->stream, make_track(record)};
		if (queue->device == record->device && queue->context == record->context &&
		    queue->stream == record->stream)
			return queue->track;
	}
	return make_track(record); /* more than we remember */
}

/* ---- Operations ------------------------------------------------------------------------------ */

/*
 * The call that launches a graph has one correlation for all its nodes: each gets one of its own,
 * whose low half is that of the call.
 */
static uint64_t node_correlation(struct wti_cuda_report *report,
				 const struct wti_cuda_record *record)
{
	const uint64_t own = (uint64_t)(++report->node_last & 0x7fffffffu) << 32;
	const uint64_t correlation = own | record->correlation;

	wti_emit_device_node(report->here,
			     &(struct wti_record_device_node){.correlation = correlation,
							      .launch = record->correlation,
							      .node = record->node,
							      .graph = record->graph,
							      .device = record->device});
	wti_emit_edge(report->here, &(struct wti_record_edge){.type = WT_EDGE_LAUNCH,
							      .from = record->correlation,
							      .to = correlation});
	return correlation;
}

static void operation(struct wti_cuda_report *report, const struct wti_cuda_record *given,
		      uint32_t op, uint32_t name)
{
	struct wti_cuda_record located = *given, *record = &located;
	char geometry[WTI_CUDA_WORDS_BYTES];
	const size_t geometry_bytes = wti_cuda_geometry(record, geometry);
	struct wti_record_device_op ran;

	located.device = device_of(report, given);
	ran = (struct wti_record_device_op){
		.op = op,
		.name = name,
		.device = record->device,
		.queue = queue_of(report, record),
		.clock = report->clock,
		.geometry = text_name(report, geometry, geometry_bytes),
		.correlation = record->correlation,
		.queued = record->queued,
		.submitted = record->submitted,
		.started = record->start,
		.ended = record->end ? record->end : record->start,
		.bytes = record->bytes,
	};

	if (record->node)
		ran.correlation = node_correlation(report, record);
	wti_emit_device_op(report->here, &ran);
	report->tally.emitted++;
}

/* ---- Events that streams record and wait for ------------------------------------------------- */

static struct wti_cuda_event *event_place(struct wti_cuda_report *report,
					  const struct wti_cuda_record *record)
{
	uint64_t key = (uint64_t)record->context << 32 | record->object | UINT64_C(1) << 63;
	uint64_t hash = key * 0x9e3779b97f4a7c15u >> 40;
	struct wti_cuda_event *event = NULL;

	for (uint32_t i = 0; i < 16; i++) {
		event = &report->events[(hash + i) % WTI_CUDA_EVENTS_MAX];
		if (!event->key || event->key == key)
			break;
	}
	if (event->key != key)
		*event = (struct wti_cuda_event){.key = key};
	return event;
}

static void recorded(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	event_place(report, record)->correlation = record->correlation;
	operation(report, record, WT_OP_RECORD, words_name(report, record));
}

static void synchronized(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const bool waits = record->what == SYNC_STREAM_WAITS;
	const uint32_t from =
		waits || record->what == SYNC_EVENT ? event_place(report, record)->correlation : 0;

	if (from)
		wti_emit_edge(report->here, &(struct wti_record_edge){.type = WT_EDGE_RECORD_WAIT,
								      .from = from,
								      .to = record->correlation});
	operation(report, record, waits ? WT_OP_WAIT : WT_OP_SYNC, words_name(report, record));
}

/* ---- What host threads did ------------------------------------------------------------------- */

static void call(struct wti_cuda_report *report, const struct wti_cuda_record *record,
		 uint32_t type, uint32_t name)
{
	wti_emit_device_call(report->here,
			     &(struct wti_record_device_call){.type = type,
							      .name = name,
							      .thread = record->thread,
							      .clock = report->clock,
							      .status = (int32_t)record->status,
							      .correlation = record->correlation,
							      .started = record->start,
							      .ended = record->end});
	report->tally.emitted++;
}

static void api(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const bool driver = record->kind == WTI_CUDA_DRIVER;
	const char *name = report->call_name(
		driver ? WTI_CUPTI_DOMAIN_DRIVER : WTI_CUPTI_DOMAIN_RUNTIME, record->what);

	call(report, record, driver ? WT_DEVICE_CALL_TYPE_DRIVER : WT_DEVICE_CALL_TYPE_RUNTIME,
	     name ? text_name(report, name, strlen(name)) : words_name(report, record));
}

static void overhead(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	struct wti_cuda_record of = *record;

	if (record->kind == WTI_CUDA_OVERHEAD && record->object != OWNER_THREAD)
		of.thread = 0;
	call(report, &of, WT_DEVICE_CALL_TYPE_OVERHEAD, words_name(report, record));
}

/* The place that has this id, 0: a free one. Places become free in any order, so all are looked at.
 */
static struct wti_cuda_range *range_place(struct wti_cuda_report *report, uint32_t near,
					  uint32_t id)
{
	for (uint32_t i = 0; i < 16; i++) {
		struct wti_cuda_range *range = &report->ranges[(near + i) % WTI_CUDA_RANGES_MAX];

		if (range->id == id)
			return range;
	}
	return NULL;
}

static void range(struct wti_cuda_report *report, const struct wti_cuda_range *open, uint64_t end)
{
	const struct wti_cuda_record record = {
		.thread = open->thread, .start = open->start, .end = end};

	call(report, &record, WT_DEVICE_CALL_TYPE_RANGE, wti_name(report->here, open->name));
}

/* A range comes as two records with one id; it becomes an event when it ends. */
static void marker(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const char *text = record->name ? (const char *)(uintptr_t)record->name : "range";
	struct wti_cuda_range *open;

	if (record->what & MARKER_MOMENT) {
		call(report, record, WT_DEVICE_CALL_TYPE_MARK,
		     text_name(report, text, strlen(text)));
		return;
	}
	open = record->object ? range_place(report, record->object,
					    record->what & MARKER_BEGIN ? 0 : record->object)
			      : NULL;
	if (record->what & MARKER_BEGIN && open) {
		*open = (struct wti_cuda_range){record->object, record->thread, record->start,
						wti_name_find(text, strlen(text))};
		report->tally.joined++;
	} else if (open) {
		range(report, open, record->start);
		open->id = 0;
	} else {
		report->tally.unknown++; /* its other half was dropped, or there are too many */
	}
}

static void external(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	if (record->object != WTI_CUPTI_EXTERNAL_OURS) {
		report->tally.joined++; /* an id of another profiler's */
		return;
	}
	wti_emit_edge(report->here, &(struct wti_record_edge){.type = WT_EDGE_LAUNCH,
							      .from = record->external,
							      .to = record->correlation});
	report->tally.emitted++;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void object(struct wti_cuda_report *report, const struct wti_cuda_record *record,
		   uint32_t type, uint64_t id, uint64_t parent)
{
	const char *text = (const char *)(uintptr_t)record->name;

	wti_emit_device_object(
		report->here,
		&(struct wti_record_device_object){.type = type,
						   .phase = WT_DEVICE_OBJECT_PHASE_CREATED,
						   .name = text ? own_name(report, record) : 0,
						   .device = record->device,
						   .id = id,
						   .parent = parent},
		"");
	report->tally.emitted++;
}

/* Numbers of streams, contexts and devices overlap: the type is in the upper half. */
static uint64_t object_id(uint32_t type, uint32_t context, uint32_t number)
{
	return (uint64_t)type << 56 | (uint64_t)(context & 0xffffffu) << 32 | number;
}

static void made(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const uint64_t device = object_id(WT_DEVICE_OBJECT_TYPE_DEVICE, 0, record->device);
	const uint64_t context = object_id(WT_DEVICE_OBJECT_TYPE_CONTEXT, 0, record->context);

	if (record->kind == WTI_CUDA_DEVICE)
		object(report, record, WT_DEVICE_OBJECT_TYPE_DEVICE, device, 0);
	else if (record->kind == WTI_CUDA_CONTEXT)
		object(report, record, WT_DEVICE_OBJECT_TYPE_CONTEXT, context, device);
	else
		object(report, record, WT_DEVICE_OBJECT_TYPE_QUEUE,
		       object_id(WT_DEVICE_OBJECT_TYPE_QUEUE, record->context, record->stream),
		       context);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void memory(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	const uint32_t op = record->kind == WTI_CUDA_MEMORY_POOL                   ? WT_OP_OTHER
			    : record->kind == WTI_CUDA_MEMORY || record->what == 1 ? WT_OP_ALLOC
										   : WT_OP_FREE;
	struct wti_cuda_record of = *record;

	if (record->kind != WTI_CUDA_MEMORY2)
		of.stream = NO_STREAM; /* it has none */
	operation(report, &of, op, words_name(report, record));
}

void wti_cuda_report(struct wti_cuda_report *report, const struct wti_cuda_record *record)
{
	wait_for_room(report);
	switch (record->kind) {
	case WTI_CUDA_KERNEL:
	case WTI_CUDA_CONCURRENT_KERNEL:
		operation(report, record, WT_OP_KERNEL, own_name(report, record));
		break;
	case WTI_CUDA_MEMCPY:
	case WTI_CUDA_MEMCPY2:
		operation(report, record, WT_OP_COPY, words_name(report, record));
		break;
	case WTI_CUDA_MEMSET:
		operation(report, record, WT_OP_FILL, words_name(report, record));
		break;
	case WTI_CUDA_GRAPH_TRACE:
		operation(report, record, WT_OP_OTHER, words_name(report, record));
		break;
	case WTI_CUDA_MEMORY:
	case WTI_CUDA_MEMORY2:
	case WTI_CUDA_MEMORY_POOL:
		memory(report, record);
		break;
	case WTI_CUDA_SYNCHRONIZATION:
		synchronized(report, record);
		break;
	case WTI_CUDA_EVENT:
		recorded(report, record);
		break;
	case WTI_CUDA_DRIVER:
	case WTI_CUDA_RUNTIME:
	case WTI_CUDA_INTERNAL_LAUNCH:
		api(report, record);
		break;
	case WTI_CUDA_OVERHEAD:
	case WTI_CUDA_JIT:
		overhead(report, record);
		break;
	case WTI_CUDA_MARKER:
		marker(report, record);
		break;
	case WTI_CUDA_EXTERNAL_CORRELATION:
		external(report, record);
		break;
	case WTI_CUDA_DEVICE:
	case WTI_CUDA_CONTEXT:
	case WTI_CUDA_STREAM:
		made(report, record);
		break;
	case WTI_CUDA_NAME:
	case WTI_CUDA_MARKER_DATA:
		report->tally.joined++; /* colours and names of what has another record */
		break;
	default:
		report->tally.unknown++;
	}
}

void wti_cuda_report_lost(struct wti_cuda_report *report, uint64_t count)
{
	wait_for_room(report);
	wti_emit_lost(report->here, &(struct wti_record_lost){.reason = WT_LOST_DEVICE,
							      .of = WT_KIND_DEVICE_OP,
							      .count = count});
	report->tally.dropped += count;
}

static void count(const struct wti_cuda_report *report, const char *name, const char *unit,
		  uint64_t value)
{
	wti_emit_counter(report->here,
			 &(struct wti_record_counter){.name = text_name(report, name, strlen(name)),
						      .unit = text_name(report, unit, strlen(unit)),
						      .value = (double)value});
}

void wti_cuda_report_end(struct wti_cuda_report *report, uint64_t cpu_ns)
{
	for (uint32_t i = 0; i < WTI_CUDA_RANGES_MAX; i++)
		if (report->ranges[i].id) {
			wait_for_room(report);
			report->tally.joined--; /* the record that began it is the event now */
			range(report, &report->ranges[i], 0);
		}
	wait_for_room(report);
	count(report, "cupti.emitted", "records", report->tally.emitted);
	count(report, "cupti.joined", "records", report->tally.joined);
	count(report, "cupti.unknown", "records", report->tally.unknown);
	count(report, "cupti.dropped", "records", report->tally.dropped);
	count(report, "cupti.cpu", "ns", cpu_ns);
}

void wti_cuda_report_note(struct wti_here here, const char *text)
{
	const struct wti_kept_text kept = {.data = text, .bytes = (uint32_t)strlen(text)};

	if (here.ring)
		wti_emit_note(here, &(struct wti_record_note){.code = WT_NOTE_DEVICE}, &kept);
}
