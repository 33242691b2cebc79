/* SPDX-License-Identifier: Apache-2.0 */
/* Events to slices, instants and counter values. */
#include "timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/label.h"
#include "rows.h"
#include "show/call.h"
#include "value.h"

#define TRACKS_MAX ((size_t)1 << 18)
#define INDEX_MAX ((size_t)1 << 20)
#define ARENA_MAX ((size_t)128 << 20)
#define SCRATCH_MAX ((size_t)1 << 26)
#define OPS_KNOWN (WT_OP_OTHER + 1)

_Static_assert(WTI_CATEGORY_OP + OPS_KNOWN <= WTI_CATEGORY_COUNT, "a category for each operation");

int wti_timeline_init(struct wti_timeline *timeline, struct wti_export *export,
		      const struct wti_timeline_target *target, void *state, struct wt_err *err)
{
	*timeline = (struct wti_timeline){.export = export, .target = target, .state = state};
	wti_map_init(&timeline->track_index, TRACKS_MAX);
	wti_map_init(&timeline->process_index, INDEX_MAX);
	wti_map_init(&timeline->stream_index, INDEX_MAX);
	wti_map_init(&timeline->device_index, INDEX_MAX);
	wti_map_init(&timeline->counter_index, INDEX_MAX);
	wti_map_init(&timeline->thread_index, INDEX_MAX);
	wti_arena_init(&timeline->arena, ARENA_MAX);
	wti_buf_init(&timeline->scratch, SCRATCH_MAX);
	return wti_flows_init(&timeline->flows, export->trace, export->query, err);
}

void wti_timeline_release(struct wti_timeline *timeline)
{
	for (size_t i = 0; i < timeline->track_count; i++) {
		struct wti_timeline_track *track = timeline->tracks[i];

		wti_nest_release(&track->nest);
		free(track->held_out);
		free(track->contexts);
		wti_lanes_release(&track->ops);
		wti_lanes_release(&track->syscalls);
	}
	free(timeline->tracks);
	free(timeline->rows);
	wti_map_release(&timeline->track_index);
	wti_map_release(&timeline->process_index);
	wti_map_release(&timeline->stream_index);
	wti_map_release(&timeline->device_index);
	wti_map_release(&timeline->counter_index);
	wti_map_release(&timeline->thread_index);
	wti_arena_release(&timeline->arena);
	wti_buf_release(&timeline->scratch);
	wti_flows_release(&timeline->flows);
}

/* ---- Spans and calls ------------------------------------------------------------------------- */

static struct wti_slice slice_of(const struct wti_timeline *timeline,
				 const struct wti_timeline_track *track,
				 const struct wti_open_slice *open)
{
	return (struct wti_slice){
		.row = track->row,
		.category = wti_category_of(open->kind),
		.name = {track->stream, open->name, {"", 0}},
		.begin_ns = open->begin_ns,
		.reader = wt_trace_stream(timeline->export->trace, track->stream),
		.module = open->module,
		.site = open->site,
	};
}

/* Writes the begin that is kept back, if there is one. */
static void let_go(struct wti_timeline *timeline, struct wti_timeline_track *track)
{
	const struct wti_open_slice *open;
	struct wti_flow_ends ends;
	struct wti_slice slice;

	if (!track->held)
		return;
	open = &track->nest.open[track->nest.count - 1];
	slice = slice_of(timeline, track, open);
	wti_flows_of_event(&timeline->flows, track->stream, track->track, (uint32_t)open->id,
			   open->begin_ns, &ends);
	for (uint32_t i = 0; i < track->held_count && ends.out_count < WTI_FLOWS_EACH; i++)
		ends.out[ends.out_count++] = track->held_out[i];
	slice.out = ends.out;
	slice.out_count = ends.out_count;
	slice.in = ends.in;
	slice.in_count = ends.in_count;
	timeline->target->begin(timeline->state, &slice);
	track->held = false;
	track->held_count = 0;
}

static int begin_slice(struct wti_timeline *timeline, struct wti_timeline_track *track,
		       const struct wt_event *event)
{
	int status = WT_E_LIMIT;

	let_go(timeline, track);
	if (wti_rows_own(timeline, track))
		status = wti_nest_begin(&track->nest, event, event->seq);
	else
		wti_nest_skip(&track->nest);
	track->held = !status;
	return status;
}

static void end_innermost(struct wti_timeline *timeline, struct wti_timeline_track *track,
			  int64_t time_ns, uint32_t exception, bool unfinished)
{
	struct wti_nest *nest = &track->nest;
	const struct wti_open_slice *open = &nest->open[nest->count - 1];
	struct wti_slice slice = slice_of(timeline, track, open);

	let_go(timeline, track);
	slice.end_ns = time_ns > open->begin_ns ? time_ns : open->begin_ns;
	slice.exception = exception;
	slice.unfinished = unfinished;
	timeline->target->end(timeline->state, &slice);
	nest->count--;
}

static void end_slice(struct wti_timeline *timeline, struct wti_timeline_track *track,
		      const struct wt_event *event)
{
	bool call = event->kind->number == WT_KIND_CALL_END;
	uint32_t exception = call ? (uint32_t)wt_event_u64(event, WT_CALL_END_FIELD_EXCEPTION) : 0;
	int count = wti_nest_end(&track->nest, event);

	if (!count)
		timeline->export->unopened_count++;
	for (; count > 1; count--) {
		end_innermost(timeline, track, event->time_ns, 0, true);
		timeline->export->unclosed_count++;
	}
	if (count == 1)
		end_innermost(timeline, track, event->time_ns, exception, false);
}

/* ---- Instants -------------------------------------------------------------------------------- */

static int name_field(const struct wt_event *event)
{
	for (int i = 0; i < event->kind->field_count; i++) {
		if (event->kind->fields[i].type == WT_TYPE_NAME)
			return wt_event_u64(event, i) ? i : -1;
	}
	return -1;
}

bool wti_field_shown(const struct wt_event *event, int field)
{
	uint64_t bits = wt_event_u64(event, field);

	switch (event->kind->fields[field].type) {
	case WT_TYPE_NAME:
		return bits && field != name_field(event);
	case WT_TYPE_STR:
	case WT_TYPE_BYTES:
		return wt_event_text(event, field).bytes;
	case WT_TYPE_TICKS: /* of operations the slice itself says when they ran */
		return bits && (event->kind->number != WT_KIND_DEVICE_OP ||
				field < WT_DEVICE_OP_FIELD_STARTED);
	}
	if (event->kind->number == WT_KIND_DEVICE_OP)
		return field > WT_DEVICE_OP_FIELD_CLOCK || field == WT_DEVICE_OP_FIELD_DEVICE;
	return bits || strcmp(event->kind->fields[field].name, "flags") != 0;
}

static struct wt_text print_name(struct wti_timeline *timeline, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static struct wt_text print_name(struct wti_timeline *timeline, const char *format, ...)
{
	va_list args;

	wti_buf_clear(&timeline->scratch);
	va_start(args, format);
	wti_buf_vprintf(&timeline->scratch, format, args);
	va_end(args);
	if (wti_buf_status(&timeline->scratch))
		return (struct wt_text){"?", 1};
	return (struct wt_text){(const char *)timeline->scratch.data, timeline->scratch.bytes};
}

static struct wt_text state_name(struct wti_timeline *timeline, const struct wt_event *event)
{
	struct wt_text owner = wt_event_text(event, WT_STATE_FIELD_OWNER);
	struct wt_text attribute = wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE);

	wti_buf_clear(&timeline->scratch);
	wti_buf_append(&timeline->scratch, owner.data, owner.bytes);
	if (owner.bytes)
		wti_buf_byte(&timeline->scratch, '.');
	wti_buf_append(&timeline->scratch, attribute.data, attribute.bytes);
	if (wti_buf_status(&timeline->scratch))
		return attribute;
	return (struct wt_text){(const char *)timeline->scratch.data, timeline->scratch.bytes};
}

static struct wti_name instant_name(struct wti_timeline *timeline, const struct wt_event *event)
{
	struct wti_name name = {.stream = event->stream};
	int field = name_field(event);

	switch (event->kind->number) {
	case WT_KIND_LOG:
		name.text = wt_event_text(event, WT_LOG_FIELD_TEXT);
		break;
	case WT_KIND_NOTE:
		name.text = wt_event_text(event, WT_NOTE_FIELD_TEXT);
		break;
	case WT_KIND_STATE:
		name.text = state_name(timeline, event);
		break;
	case WT_KIND_LOST:
		name.text = print_name(timeline, "%" PRIu64 " events lost",
				       wt_event_u64(event, WT_LOST_FIELD_COUNT));
		break;
	default:
		if (field >= 0)
			name.id = (uint32_t)wt_event_u64(event, field);
	}
	if (!name.id && !name.text.bytes)
		name.text = (struct wt_text){event->kind->name, strlen(event->kind->name)};
	return name;
}

static void add_instant(struct wti_timeline *timeline, struct wti_timeline_track *track,
			const struct wt_event *event)
{
	uint16_t kind = event->kind->number;
	struct wti_slice slice = {
		.category = WTI_CATEGORY_EVENT + (kind < WT_KIND_END ? kind : 0u),
		.begin_ns = event->time_ns,
		.end_ns = event->time_ns,
		.event = event,
		.reader = event->reader,
	};

	let_go(timeline, track);
	slice.row = wti_rows_own(timeline, track);
	if (!slice.row) {
		timeline->export->left_out_count++;
		return;
	}
	slice.name = instant_name(timeline, event);
	timeline->target->instant(timeline->state, &slice);
}

/* ---- Counters, context, operations, arrows --------------------------------------------------- */

static void add_counter(struct wti_timeline *timeline, struct wti_timeline_track *track,
			const struct wt_event *event)
{
	double value = wt_event_f64(event, WT_COUNTER_FIELD_VALUE);
	uint32_t row;

	/* A loss that is NaN is what the user looks for: no viewer draws it as a counter. */
	if (!isfinite(value)) {
		add_instant(timeline, track, event);
		return;
	}
	row = wti_rows_counter(timeline, event);
	if (row)
		timeline->target->counter(timeline->state, row, event->time_ns, value);
	else
		timeline->export->left_out_count++;
}

static void end_context(struct wti_timeline *timeline, const struct wti_timeline_track *track,
			const struct wti_open_context *open, int64_t time_ns)
{
	struct wti_slice slice = {
		.row = open->row,
		.category = WTI_CATEGORY_CONTEXT,
		.name = {track->stream, 0, {open->name, strlen(open->name)}},
		.begin_ns = open->begin_ns,
		.end_ns = time_ns > open->begin_ns ? time_ns : open->begin_ns,
	};

	timeline->target->end(timeline->state, &slice);
}

/* "step 12", "train": what the slice of a value is called. */
static void name_context(struct wti_open_context *open, const struct wt_event *event)
{
	struct wti_shown value = {.type = WTI_SHOWN_ABSENT};
	struct wt_text key = wt_event_text(event, WT_CONTEXT_FIELD_KEY);
	struct wt_text text = wt_event_text(event, WT_CONTEXT_FIELD_TEXT);
	int key_bytes = key.bytes < 40 ? (int)key.bytes : 40;

	if (event->kind->field_count > WT_CONTEXT_FIELD_VALUE)
		wti_event_field(&value, event, WT_CONTEXT_FIELD_VALUE);
	switch (value.type) {
	case WTI_SHOWN_BOOL:
		snprintf(open->name, sizeof(open->name), "%.*s %s", key_bytes, key.data,
			 value.u ? "true" : "false");
		break;
	case WTI_SHOWN_INT:
		snprintf(open->name, sizeof(open->name), "%.*s %" PRId64, key_bytes, key.data,
			 value.i);
		break;
	case WTI_SHOWN_FLOAT:
		snprintf(open->name, sizeof(open->name), "%.*s %.9g", key_bytes, key.data, value.f);
		break;
	case WTI_SHOWN_UINT:
	case WTI_SHOWN_HASH:
		snprintf(open->name, sizeof(open->name), "%.*s 0x%016" PRIx64, key_bytes, key.data,
			 value.u);
		break;
	default:
		snprintf(open->name, sizeof(open->name), "%.*s",
			 text.bytes < 79 ? (int)text.bytes : 79, text.data);
	}
}

static struct wti_open_context *context_of(struct wti_timeline *timeline,
					   struct wti_timeline_track *track,
					   const struct wt_event *event)
{
	uint32_t key = (uint32_t)wt_event_u64(event, WT_CONTEXT_FIELD_KEY);
	struct wti_open_context *open;

	for (uint32_t i = 0; i < track->context_count; i++) {
		if (track->contexts[i].key == key)
			return &track->contexts[i];
	}
	if (wti_grow(&track->contexts, track->context_count + 1, &track->context_capacity,
		     WTI_CONTEXTS_MAX))
		return NULL;
	open = &track->contexts[track->context_count];
	*open = (struct wti_open_context){.key = key};
	open->row = wti_rows_context(timeline, track, wt_event_text(event, WT_CONTEXT_FIELD_KEY));
	if (!open->row)
		return NULL;
	track->context_count++;
	return open;
}

static void add_context(struct wti_timeline *timeline, struct wti_timeline_track *track,
			const struct wt_event *event)
{
	struct wti_open_context *open = context_of(timeline, track, event);
	struct wti_slice slice = {.category = WTI_CATEGORY_CONTEXT, .begin_ns = event->time_ns};

	if (!open) { /* too many variables for rows of their own */
		add_instant(timeline, track, event);
		return;
	}
	if (open->name[0])
		end_context(timeline, track, open, event->time_ns);
	name_context(open, event);
	open->begin_ns = event->time_ns;
	slice.row = open->row;
	slice.name = (struct wti_name){event->stream, 0, {open->name, strlen(open->name)}};
	if (open->name[0])
		timeline->target->begin(timeline->state, &slice);
}

/* An operation that cannot be drawn as long as it is: too many overlap, or its times are wrong. */
static void add_op_instant(struct wti_timeline *timeline, struct wti_timeline_track *track,
			   struct wti_slice *slice)
{
	let_go(timeline, track);
	timeline->export->left_out_count++;
	slice->end_ns = slice->begin_ns;
	slice->row = wti_rows_own(timeline, track);
	if (slice->row)
		timeline->target->instant(timeline->state, slice);
}

static int add_op(struct wti_timeline *timeline, const struct wt_event *event)
{
	uint64_t op = wt_event_u64(event, WT_DEVICE_OP_FIELD_OP);
	uint64_t correlation = wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION);
	struct wti_slice slice = {.event = event, .reader = event->reader};
	struct wti_timeline_track *track;
	struct wti_device_op emitted;
	struct wti_flow_ends ends;

	wti_device_op_read(&emitted, event);
	track = wti_rows_track(timeline, event->stream, emitted.queue);
	if (!track)
		return WT_E_LIMIT;
	slice.category = WTI_CATEGORY_OP + (op < OPS_KNOWN ? (unsigned)op : WT_OP_OTHER);
	slice.name = instant_name(timeline, event);
	slice.begin_ns = emitted.has_times ? emitted.started_ns : event->time_ns;
	slice.end_ns = emitted.has_times ? emitted.ended_ns : event->time_ns;
	if (correlation) { /* 0: it has none */
		wti_flows_of(&timeline->flows, event->stream, correlation, slice.begin_ns, &ends);
		slice.out = ends.out;
		slice.out_count = ends.out_count;
		slice.in = ends.in;
		slice.in_count = ends.in_count;
	}
	if (emitted.has_times && slice.end_ns >= slice.begin_ns)
		slice.row =
			wti_rows_op(timeline, track, emitted.device, slice.begin_ns, slice.end_ns);
	if (!slice.row) {
		add_op_instant(timeline, track, &slice);
		return 0;
	}
	timeline->target->begin(timeline->state, &slice);
	timeline->target->end(timeline->state, &slice);
	return 0;
}

static void add_syscall(struct wti_timeline *timeline, struct wti_timeline_track *track,
			const struct wt_event *event)
{
	struct wti_slice slice = {
		.category = WTI_CATEGORY_SYSCALL, .event = event, .reader = event->reader};
	char label[WTI_CALL_LABEL_BYTES];
	int64_t length;

	wti_event_duration(event, &slice.begin_ns, &length);
	if (__builtin_add_overflow(slice.begin_ns, length, &slice.end_ns))
		slice.end_ns = INT64_MAX;
	slice.row = wti_rows_syscall(timeline, track, slice.begin_ns, slice.end_ns);
	if (!slice.row) {
		timeline->export->left_out_count++;
		return;
	}
	slice.name.text = wti_call_of(event, label);
	timeline->target->begin(timeline->state, &slice);
	timeline->target->end(timeline->state, &slice);
}

/* A launch leaves from the span it is emitted in, or else from an instant of its own. */
static int add_launch(struct wti_timeline *timeline, struct wti_timeline_track *track,
		      const struct wt_event *event)
{
	bool held = track->held && track->held_count < WTI_FLOWS_EACH;
	int64_t time_ns = held ? track->nest.open[track->nest.count - 1].begin_ns : event->time_ns;
	struct wti_flow flow = {.type = WT_EDGE_LAUNCH};
	struct wti_slice slice = {
		.category = WTI_CATEGORY_LAUNCH,
		.name = {event->stream, 0, {"launch", 6}},
		.begin_ns = time_ns,
		.end_ns = time_ns,
		.event = event,
		.reader = event->reader,
		.out = &flow,
		.out_count = 1,
	};

	flow.id = wti_flows_launch(&timeline->flows, event->stream,
				   wt_event_u64(event, WT_EDGE_FIELD_TO), time_ns);
	if (!flow.id)
		return 0;
	if (held) {
		if (!track->held_out)
			track->held_out = malloc(sizeof(flow) * WTI_FLOWS_EACH);
		if (!track->held_out)
			return WT_E_NOMEM;
		track->held_out[track->held_count++] = flow;
		return 0;
	}
	let_go(timeline, track);
	slice.row = wti_rows_own(timeline, track);
	if (slice.row)
		timeline->target->instant(timeline->state, &slice);
	else
		timeline->export->left_out_count++;
	return 0;
}

static int add_event(struct wti_timeline *timeline, struct wti_timeline_track *track,
		     const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_OPERATOR_BEGIN:
		return begin_slice(timeline, track, event);
	case WT_KIND_SPAN_END:
	case WT_KIND_CALL_END:
	case WT_KIND_OPERATOR_END:
		end_slice(timeline, track, event);
		return 0;
	case WT_KIND_COUNTER:
		add_counter(timeline, track, event);
		return 0;
	case WT_KIND_CONTEXT:
		add_context(timeline, track, event);
		return 0;
	case WT_KIND_SYSCALL:
		add_syscall(timeline, track, event);
		return 0;
	case WT_KIND_TASK:
		wti_rows_task(timeline, track, event);
		add_instant(timeline, track, event);
		return 0;
	case WT_KIND_EDGE:
		if (wt_event_u64(event, WT_EDGE_FIELD_TYPE) == WT_EDGE_LAUNCH)
			return add_launch(timeline, track, event);
		return 0;
	default:
		add_instant(timeline, track, event);
		return 0;
	}
}

int wti_timeline_event(struct wti_timeline *timeline, const struct wt_event *event,
		       struct wt_err *err)
{
	struct wti_timeline_track *track;
	int status;

	switch (event->kind->number) {
	case WT_KIND_CLOCK:
	case WT_KIND_WATERMARK:
		return 0;
	case WT_KIND_DEVICE_OP:
		status = add_op(timeline, event);
		break;
	default:
		track = wti_rows_track(timeline, event->stream, event->track);
		status = track ? add_event(timeline, track, event) : WT_E_LIMIT;
	}
	if (status == WT_E_LIMIT) { /* too many tracks: the others are still worth having */
		timeline->export->left_out_count++;
		return 0;
	}
	return status ? wti_err(err, status, "out of memory for the timeline") : 0;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* The last moment of a stream within what was asked for. */
static int64_t last_moment(const struct wti_timeline *timeline, size_t stream)
{
	const struct wt_trace *trace = timeline->export->trace;
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	int64_t to_ns = timeline->export->query->to_ns;
	uint64_t last = 0;
	int64_t last_ns;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		last = block->time_max > last ? block->time_max : last;
	}
	last_ns = wt_trace_ns(trace, stream, last);
	return last_ns < to_ns ? last_ns : to_ns;
}

int wti_timeline_finish(struct wti_timeline *timeline, struct wt_err *err)
{
	size_t stream = SIZE_MAX;
	int64_t last_ns = 0;
	int status = 0;

	for (size_t i = 0; i < timeline->track_count && !status; i++) {
		struct wti_timeline_track *track = timeline->tracks[i];

		if (track->stream != stream && (track->nest.count || track->context_count)) {
			stream = track->stream;
			last_ns = last_moment(timeline, stream);
		}
		timeline->export->unclosed_count += track->nest.count;
		while (track->nest.count)
			end_innermost(timeline, track, last_ns, 0, true);
		for (uint32_t j = 0; j < track->context_count; j++) {
			if (track->contexts[j].name[0])
				end_context(timeline, track, &track->contexts[j], last_ns);
		}
		status = wti_sink_spill(timeline->export->sink, err);
	}
	timeline->export->left_out_count += timeline->flows.left_out_count;
	return status;
}
