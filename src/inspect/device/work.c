/* SPDX-License-Identifier: Apache-2.0 */
/* Taking events in. */
#include "work.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "inspect/core/label.h"
#include "work_own.h"

#define CALLS_MAX (UINT32_MAX - 1u)
#define QUEUES_MAX UINT16_MAX
#define THREADS_MAX UINT16_MAX
#define SITES_MAX (1u << 22)
#define STEP_RANGE "ProfilerStep#" /* how PyTorch's profiler calls a step */

/* What the tag of an open span is, in its upper half. */
#define TAG_CALL (UINT64_C(1) << 32)   /* lower half: index of a call */
#define TAG_PYTHON (UINT64_C(2) << 32) /* a symbol */
#define TAG_AGENT (UINT64_C(3) << 32)  /* id of a site */
#define TAG_OF(tag) ((tag) >> 32 << 32)

const char *const wti_work_kinds[] = {
	"device_op", "edge",          "span_begin",    "span_end",       "call_begin",
	"call_end",  "context",       "rank",          "operator_begin", "operator_end",
	"lost",      "device_access", "device_object", "device_memory",  NULL};

int wti_work_init(struct wti_work *work, const struct wt_trace *trace, struct wt_err *err)
{
	*work = (struct wti_work){.trace = trace, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
	(void)err;
	wti_symbols_init(&work->symbols);
	wti_steps_init(&work->steps, &work->symbols);
	wti_spans_init(&work->spans);
	wti_map_init(&work->queue_of, QUEUES_MAX);
	wti_map_init(&work->unit_of, QUEUES_MAX);
	wti_map_init(&work->thread_of, THREADS_MAX);
	wti_map_init(&work->step_of, THREADS_MAX);
	wti_map_init(&work->site_of, SITES_MAX);
	wti_map_init(&work->type_of, WTI_SYMBOLS_MAX);
	wti_map_init(&work->object_of, WTI_WORK_OBJECTS_MAX);
	return 0;
}

void wti_work_release(struct wti_work *work)
{
	wti_symbols_release(&work->symbols);
	wti_steps_release(&work->steps);
	wti_spans_release(&work->spans);
	wti_map_release(&work->queue_of);
	wti_map_release(&work->unit_of);
	wti_map_release(&work->thread_of);
	wti_map_release(&work->step_of);
	wti_map_release(&work->site_of);
	wti_map_release(&work->type_of);
	wti_map_release(&work->object_of);
	free(work->objects);
	free(work->ops);
	free(work->calls);
	free(work->edges);
	free(work->accesses);
	free(work->memory);
	free(work->queues);
	free(work->units);
	free(work->threads);
	free(work->launches);
	free(work->slots);
	*work = (struct wti_work){0};
}

int wti_work_failed(int code, struct wt_err *err, const char *what)
{
	if (code == WT_E_LIMIT)
		return wti_err(err, code, "too many %s", what);
	return wti_err(err, code, "out of memory for %s", what);
}

static void see(struct wti_work *work, int64_t from_ns, int64_t to_ns)
{
	work->first_ns = from_ns < work->first_ns ? from_ns : work->first_ns;
	work->last_ns = to_ns > work->last_ns ? to_ns : work->last_ns;
}

/* ---- Queues and devices ---------------------------------------------------------------------- */

int wti_work_unit_at(struct wti_work *work, uint32_t stream, uint32_t device, uint32_t *ret_unit,
		     struct wt_err *err)
{
	uint64_t *slot = wti_map_number(&work->unit_of, (uint64_t)stream << 32 | device);
	int r;

	if (!slot)
		return wti_map_failed(&work->unit_of, err, "devices");
	if (!*slot) {
		r = wti_grow(&work->units, work->unit_count + 1, &work->unit_capacity, QUEUES_MAX);
		if (r)
			return wti_work_failed(r, err, "devices");
		work->units[work->unit_count++] =
			(struct wti_work_unit){.stream = stream, .device = device, .rank = -1};
		*slot = work->unit_count;
	}
	*ret_unit = (uint32_t)*slot - 1;
	return 0;
}

static bool is_queue(const struct wt_event *event, uint32_t track)
{
	const struct wt_track *found = wt_reader_track(event->reader, track);

	return found && found->type == WT_TRACK_QUEUE;
}

static int queue_at(struct wti_work *work, const struct wt_event *event,
		    const struct wti_device_op *op, uint16_t *ret_queue, struct wt_err *err)
{
	uint64_t key = (uint64_t)event->stream << 48 | (uint64_t)(op->device & UINT16_MAX) << 32 |
		       op->queue;
	uint64_t *slot = wti_map_number(&work->queue_of, key);
	uint32_t unit;
	int r;

	if (!slot)
		return wti_map_failed(&work->queue_of, err, "queues");
	if (!*slot) {
		r = wti_work_unit_at(work, (uint32_t)event->stream, op->device, &unit, err);
		if (r)
			return r;
		r = wti_grow(&work->queues, work->queue_count + 1, &work->queue_capacity,
			     QUEUES_MAX);
		if (r)
			return wti_work_failed(r, err, "queues");
		work->queues[work->queue_count++] =
			(struct wti_work_queue){.stream = (uint32_t)event->stream,
						.track = op->queue,
						.unit = unit,
						.is_queue = is_queue(event, op->queue)};
		*slot = work->queue_count;
	}
	*ret_queue = (uint16_t)(*slot - 1);
	return 0;
}

static enum wti_kernel_type type_of(struct wti_work *work, uint8_t op, uint32_t name)
{
	uint64_t *slot = wti_map_number(&work->type_of, (uint64_t)op << 32 | name);

	if (slot && *slot)
		return (enum wti_kernel_type)(*slot - 1);
	if (!slot)
		return wti_kernel_type(op, wti_symbol_text(&work->symbols, name));
	*slot = 1 + (uint64_t)wti_kernel_type(op, wti_symbol_text(&work->symbols, name));
	return (enum wti_kernel_type)(*slot - 1);
}

static int memory_op(struct wti_work *work, const struct wt_event *event,
		     const struct wti_device_op *read, struct wt_err *err)
{
	int64_t bytes = wti_work_bounded(wti_i64(wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES)));
	struct wti_work_memory change = {.ns = read->started_ns,
					 .bytes = read->op == WT_OP_ALLOC ? bytes : -bytes};

	return wti_work_memory_change(work, event->stream, read->device, &change, err);
}

static int device_op(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	struct wti_device_op read;
	struct wti_work_op *op;
	uint16_t queue = 0;
	bool untimed;
	int r;

	wti_device_op_read(&read, event);
	untimed = !read.has_times && !wti_device_op_is_work(read.op);
	if (!read.has_times && !untimed) {
		work->timeless_count++;
		return 0;
	}
	read.started_ns = wti_work_bounded(read.started_ns);
	read.ended_ns = wti_work_bounded(read.ended_ns);
	if (untimed)
		read.started_ns = read.ended_ns = wti_work_bounded(event->time_ns);
	if (read.ended_ns < read.started_ns) {
		work->reversed_count++;
		return 0;
	}
	if (read.op == WT_OP_ALLOC || read.op == WT_OP_FREE)
		return memory_op(work, event, &read, err);
	r = queue_at(work, event, &read, &queue, err);
	if (r)
		return r;
	r = wti_grow(&work->ops, work->op_count + 1, &work->op_capacity, WTI_WORK_OPS_MAX);
	if (r)
		return wti_work_failed(r, err, "device operations");
	op = &work->ops[work->op_count];
	*op = (struct wti_work_op){
		.start_ns = read.started_ns,
		.end_ns = read.ended_ns,
		.correlation = wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION),
		.bytes = wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES),
		.name = wti_symbol_of(&work->symbols, event, WT_DEVICE_OP_FIELD_NAME),
		.place = (uint32_t)work->op_count++,
		.queue = queue,
		.op = (uint8_t)read.op,
		.untimed = untimed,
	};
	op->type = type_of(work, op->op, op->name);
	if (wti_work_is_work(op)) {
		work->work_count++;
		see(work, op->start_ns, op->end_ns);
	}
	return 0;
}

/* ---- Calls of host threads ------------------------------------------------------------------- */

static int thread_at(struct wti_work *work, const struct wt_event *event, uint16_t *ret_thread,
		     struct wt_err *err)
{
	uint64_t *slot =
		wti_map_number(&work->thread_of, (uint64_t)event->stream << 32 | event->track);
	int r;

	if (!slot)
		return wti_map_failed(&work->thread_of, err, "threads");
	if (!*slot) {
		r = wti_grow(&work->threads, work->thread_count + 1, &work->thread_capacity,
			     THREADS_MAX);
		if (r)
			return wti_work_failed(r, err, "threads");
		work->threads[work->thread_count++] =
			(struct wti_work_thread){(uint32_t)event->stream, event->track};
		*slot = work->thread_count;
	}
	*ret_thread = (uint16_t)(*slot - 1);
	return 0;
}

static struct wti_span_track *open_on(struct wti_work *work, const struct wt_event *event)
{
	uint64_t slot =
		wti_map_get(&work->spans.index, (uint64_t)event->stream << 32 | event->track);

	return slot ? &work->spans.tracks[slot - 1] : NULL;
}

/* "train.py:12", once for each site. */
static uint32_t where_of_site(struct wti_work *work, const struct wt_event *event, uint32_t site)
{
	uint64_t *slot = wti_map_number(&work->site_of, (uint64_t)event->stream << 32 | site);
	const struct wt_site *found = wt_reader_site(event->reader, site);
	struct wt_text file;
	char text[WTI_LABEL_BYTES];
	int bytes;

	if (slot && *slot)
		return (uint32_t)*slot;
	if (!slot || !found)
		return WTI_SYMBOL_NONE;
	file = wt_reader_string(event->reader, found->file);
	bytes = snprintf(text, sizeof(text), "%.*s:%u", (int)(file.bytes < 200 ? file.bytes : 200),
			 file.data, found->line);
	*slot = wti_symbol(&work->symbols, text, (size_t)bytes);
	return (uint32_t)*slot;
}

/* From where the innermost open span of the track was called. */
static uint32_t where_of(struct wti_work *work, const struct wt_event *event,
			 const struct wti_span_track *track)
{
	for (size_t i = track ? track->open_count : 0; i-- > 0;) {
		uint64_t tag = track->open[i].tag;

		if (TAG_OF(tag) == TAG_PYTHON)
			return (uint32_t)tag;
		if (TAG_OF(tag) == TAG_AGENT && (uint32_t)tag)
			return where_of_site(work, event, (uint32_t)tag);
		if (TAG_OF(tag) == TAG_CALL && work->calls[(uint32_t)tag].where)
			return work->calls[(uint32_t)tag].where;
	}
	return WTI_SYMBOL_NONE;
}

static uint32_t innermost_call(const struct wti_span_track *track)
{
	for (size_t i = track ? track->open_count : 0; i-- > 0;)
		if (TAG_OF(track->open[i].tag) == TAG_CALL)
			return (uint32_t)track->open[i].tag + 1;
	return 0;
}

static int32_t step_at(const struct wti_work *work, const struct wt_event *event,
		       const struct wti_scope *scope)
{
	uint64_t range = wti_map_get(&work->step_of, event->stream);

	if (range)
		return (int32_t)(range - 1);
	return scope->step >= 0 && scope->step < INT32_MAX ? (int32_t)scope->step : -1;
}

static int add_call(struct wti_work *work, const struct wt_event *event, uint32_t name,
		    uint8_t flags, uint32_t *ret_index, struct wt_err *err)
{
	const struct wti_span_track *track = open_on(work, event);
	struct wti_scope scope = wti_steps_scope(&work->steps, event->stream, event->track);
	struct wti_work_call call = {.begin_ns = wti_work_bounded(event->time_ns),
				     .end_ns = INT64_MIN,
				     .name = name,
				     .parent = innermost_call(track),
				     .step = step_at(work, event, &scope),
				     .stage = scope.stage,
				     .flags = flags};
	int r = thread_at(work, event, &call.thread, err);

	if (r)
		return r;
	r = wti_grow(&work->calls, work->call_count + 1, &work->call_capacity, CALLS_MAX);
	if (r)
		return wti_work_failed(r, err, "calls");
	if (flags & WTI_WORK_RUNTIME)
		call.where = where_of(work, event, track);
	see(work, call.begin_ns, call.begin_ns);
	*ret_index = (uint32_t)work->call_count;
	work->calls[work->call_count++] = call;
	return 0;
}

/* A call that an agent saw, around a call of a device API, is the operator that makes it. */
static int keep_agent_call(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	struct wti_span_track *track = open_on(work, event);
	struct wti_span *span =
		track && track->open_count ? &track->open[track->open_count - 1] : NULL;
	struct wt_text name;
	uint32_t index;
	int r;

	if (!span || TAG_OF(span->tag) != TAG_AGENT)
		return 0;
	name = wt_reader_string(event->reader, span->name);
	r = add_call(work, event, wti_symbol(&work->symbols, name.data, name.bytes),
		     WTI_WORK_OPERATOR, &index, err);
	if (r)
		return r;
	work->calls[index].begin_ns = wti_work_bounded(span->begin_ns);
	work->calls[index].where = where_of_site(work, event, (uint32_t)span->tag);
	span->tag = TAG_CALL | index;
	return 0;
}

static void step_range(struct wti_work *work, const struct wt_event *event, uint32_t name,
		       bool begins)
{
	const char *text = wti_symbol_text(&work->symbols, name);
	uint64_t *slot;

	if (strncmp(text, STEP_RANGE, strlen(STEP_RANGE)))
		return;
	slot = wti_map_number(&work->step_of, event->stream);
	if (slot)
		*slot = begins ? strtoul(text + strlen(STEP_RANGE), NULL, 10) % INT32_MAX + 1 : 0;
}

static uint8_t flags_of(const struct wt_event *event)
{
	uint64_t flags;

	if (event->kind->number == WT_KIND_OPERATOR_BEGIN)
		return WTI_WORK_OPERATOR;
	flags = wt_event_u64(event, WT_SPAN_BEGIN_FIELD_FLAGS);
	if (flags & WT_SPAN_RUNTIME)
		return WTI_WORK_RUNTIME;
	if (flags & WT_SPAN_OPERATOR)
		return WTI_WORK_OPERATOR;
	return flags & WT_SPAN_ANNOTATION ? WTI_WORK_ANNOTATION | WTI_WORK_MARKED
					  : WTI_WORK_ANNOTATION;
}

static int span_begin(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	uint32_t name, index;
	uint8_t flags;
	int r;

	if (event->kind->number == WT_KIND_CALL_BEGIN)
		return wti_spans_begin(
			&work->spans, event,
			TAG_AGENT | (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE), err);
	name = wti_symbol_of(&work->symbols, event, WT_SPAN_BEGIN_FIELD_NAME);
	if (event->kind->number == WT_KIND_SPAN_BEGIN &&
	    wt_event_u64(event, WT_SPAN_BEGIN_FIELD_FLAGS) & WT_SPAN_PYTHON)
		return wti_spans_begin(&work->spans, event, TAG_PYTHON | name, err);
	flags = flags_of(event);
	r = keep_agent_call(work, event, err);
	if (!r)
		r = add_call(work, event, name, flags, &index, err);
	if (r)
		return r;
	step_range(work, event, name, true);
	return wti_spans_begin(&work->spans, event, TAG_CALL | index, err);
}

static int span_end(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	struct wti_span span;
	int r = wti_spans_end(&work->spans, event, &span, err);

	if (r > 0 && TAG_OF(span.tag) == TAG_CALL) {
		struct wti_work_call *call = &work->calls[(uint32_t)span.tag];

		call->end_ns = wti_work_bounded(span.end_ns);
		see(work, call->begin_ns, call->end_ns);
		step_range(work, event, call->name, false);
	}
	return r < 0 ? r : 0;
}

/* ---- Launches and dependencies --------------------------------------------------------------- */

/* The innermost call of a device API that is open; without one, the innermost call at all. */
static uint32_t launching_call(struct wti_work *work, const struct wt_event *event)
{
	const struct wti_span_track *track = open_on(work, event);

	for (size_t i = track ? track->open_count : 0; i-- > 0;) {
		uint64_t tag = track->open[i].tag;

		if (TAG_OF(tag) == TAG_CALL && work->calls[(uint32_t)tag].flags & WTI_WORK_RUNTIME)
			return (uint32_t)tag + 1;
	}
	return innermost_call(track);
}

static int launch(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	const uint64_t from = wt_event_u64(event, WT_EDGE_FIELD_FROM);
	struct wti_work_pair pair = {.correlation = wt_event_u64(event, WT_EDGE_FIELD_TO),
				     .stream = (uint32_t)event->stream};
	int r = keep_agent_call(work, event, err);

	if (r)
		return r;
	pair.call = launching_call(work, event);
	if (!pair.call && from != pair.correlation && !(from >> 63))
		pair.via = from; /* a node of a graph: its call has another correlation */
	if (!pair.call && !pair.via)
		return 0;
	r = wti_grow(&work->launches, work->launch_count + 1, &work->launch_capacity,
		     WTI_WORK_OPS_MAX);
	if (r)
		return wti_work_failed(r, err, "launches");
	work->launches[work->launch_count++] = pair;
	if (!pair.call)
		return 0;
	work->calls[pair.call - 1].flags |= WTI_WORK_LAUNCHES;
	if (!work->calls[pair.call - 1].where)
		work->calls[pair.call - 1].where = where_of(work, event, open_on(work, event));
	return 0;
}

static int edge(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	uint32_t type = (uint32_t)wt_event_u64(event, WT_EDGE_FIELD_TYPE);
	int r;

	if (type == WT_EDGE_LAUNCH)
		return launch(work, event, err);
	r = wti_grow(&work->edges, work->edge_count + 1, &work->edge_capacity, WTI_WORK_OPS_MAX);
	if (r)
		return wti_work_failed(r, err, "dependencies");
	work->edges[work->edge_count++] = (struct wti_work_edge){
		.from = wt_event_u64(event, WT_EDGE_FIELD_FROM),
		.to = wt_event_u64(event, WT_EDGE_FIELD_TO),
		.stream = (uint32_t)event->stream,
		.type = type,
	};
	return 0;
}

int wti_work_event(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		return device_op(work, event, err);
	case WT_KIND_EDGE:
		return edge(work, event, err);
	case WT_KIND_CONTEXT:
	case WT_KIND_RANK:
		return wti_steps_event(&work->steps, event, err);
	case WT_KIND_DEVICE_ACCESS:
	case WT_KIND_DEVICE_MEMORY:
	case WT_KIND_DEVICE_OBJECT:
		return wti_work_memory_event(work, event, err);
	case WT_KIND_LOST:
		work->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		if (wti_spans_is_begin(event->kind->number))
			return span_begin(work, event, err);
		return wti_spans_is_end(event->kind->number) ? span_end(work, event, err) : 0;
	}
}
