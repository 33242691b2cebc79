/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `timeline`: which tracks were busy when, how much of the time, and how much ran at
 * once.
 *
 * A thread is busy while a span or call is open on it, a queue while an operation that does work
 * runs on it, a device while one of its queues is busy. Busy time is the length of the union of
 * those intervals: two operations side by side count once. Waiting and bookkeeping (sync, wait,
 * record, alloc, free) is no work, nor is a worker of a DataLoader that waits for something to
 * load. The system calls of a thread are a row of their own, below it: the time in them, waiting
 * included, as a thread that sleeps in a call of Python's sleeps in one of the system's.
 *
 * Utilisation is busy time over the window. Without --from and --to the window of threads is that
 * of the whole picture, and that of queues and devices reaches from the beginning of the first
 * operation to the end of the last, so that a long start of the program does not dilute it.
 */
#include <string.h>

#include "base/err.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/label.h"
#include "syscall/table.h"
#include "chart.h"

#define WORKERS_MAX (1u << 16)
#define WORKER 1 /* tag of its call */

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"span_begin",     "span_end",     "call_begin",
					    "call_end",       "device_op",    "lost",
					    "operator_begin", "operator_end", "syscall"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
	/* op, name, device, queue, clock, started, ended; of system calls also arch and flags */
	query->fields = 0x61f | 1u << WT_SYSCALL_FIELD_ARCH | 1u << WT_SYSCALL_FIELD_FLAGS;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct wti_chart *c = opaque;

	c->trace = trace;
	c->options = (struct wti_timeline_options){INT64_MIN, INT64_MAX, WTI_CHART_COLUMNS, 0};
	if (options)
		c->options = *(const struct wti_timeline_options *)options;
	c->device_from_ns = c->after_ns = INT64_MAX;
	c->device_to_ns = c->before_ns = INT64_MIN;
	c->last_ns = INT64_MIN;
	wti_spans_init(&c->spans);
	wti_map_init(&c->inside, WORKERS_MAX);
	wti_chart_rows_init(c);
	return wti_roles_init(&c->roles, trace, err);
}

static void release(void *opaque)
{
	struct wti_chart *c = opaque;

	wti_chart_rows_release(c);
	wti_spans_release(&c->spans);
	wti_roles_release(&c->roles);
	wti_map_release(&c->inside);
}

static void see(struct wti_chart *c, int64_t ns)
{
	if (ns > c->last_ns)
		c->last_ns = ns;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* False: it is none in which a device works at a known time. */
static bool is_drawn(struct wti_chart *c, const struct wti_device_op *op)
{
	if (!op->has_times)
		c->timeless_count++;
	else if (op->ended_ns < op->started_ns)
		c->reversed_count++;
	else
		return wti_device_op_is_work(op->op) && op->ended_ns > op->started_ns;
	return false;
}

static int device_op(struct wti_chart *c, const struct wt_event *event, struct wt_err *err)
{
	struct wti_chart_subject of = {.type = WTI_CHART_QUEUE,
				       .stream = event->stream,
				       .role = wti_role_of(&c->roles, event->stream)};
	struct wti_chart_interval interval;
	struct wti_device_op op;
	int r;

	wti_device_op_read(&op, event);
	if (!is_drawn(c, &op))
		return 0;
	see(c, op.ended_ns);
	c->op_count++;
	if (op.started_ns < c->device_from_ns)
		c->device_from_ns = op.started_ns;
	if (op.ended_ns > c->device_to_ns)
		c->device_to_ns = op.ended_ns;
	of.track = op.queue;
	of.device = op.device;
	interval = (struct wti_chart_interval){op.started_ns, op.ended_ns,
					       wt_event_text(event, WT_DEVICE_OP_FIELD_NAME), 0};
	if (!interval.name.bytes)
		interval.name = (struct wt_text){op.type, strlen(op.type)};
	r = wti_chart_add(c, &of, &interval, err);
	of.type = WTI_CHART_DEVICE;
	of.track = 0;
	return r ? r : wti_chart_add(c, &of, &interval, err);
}

/* ---- System calls ---------------------------------------------------------------------------- */

/* Those of the recorder's guests are none of the program's. */
static int system_call(struct wti_chart *c, const struct wt_event *event, struct wt_err *err)
{
	const struct wti_chart_subject of = {
		.type = WTI_CHART_SYSCALLS, .stream = event->stream, .track = event->track};
	uint64_t ticks = wt_event_u64(event, WT_SYSCALL_FIELD_DURATION);
	uint32_t nr = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR);
	const char *name =
		wti_call_name((enum wti_arch)wt_event_u64(event, WT_SYSCALL_FIELD_ARCH), nr);
	struct wti_chart_interval interval = {.to_ns = event->time_ns};

	interval.from_ns = wt_trace_ns(c->trace, event->stream,
				       ticks < event->ticks ? event->ticks - ticks : 0);
	if (wt_event_u64(event, WT_SYSCALL_FIELD_FLAGS) & WT_SYSCALL_OWN ||
	    interval.to_ns <= interval.from_ns)
		return 0;
	name = name ? name : "unknown system call";
	interval.name = (struct wt_text){name, strlen(name)};
	return wti_chart_add(c, &of, &interval, err);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static uint64_t *inside_of(struct wti_chart *c, const struct wt_event *event)
{
	return wti_map_number(&c->inside, (uint64_t)event->stream << 32 | event->track);
}

static int span_begin(struct wti_chart *c, const struct wt_event *event, struct wt_err *err)
{
	bool is_worker = wti_is_worker(event);
	uint64_t *inside = is_worker ? inside_of(c, event) : NULL;

	if (inside)
		*inside = 1;
	return wti_spans_begin(&c->spans, event, is_worker ? WORKER : 0, err);
}

static int add_span(struct wti_chart *c, size_t stream, uint32_t track, const struct wti_span *span,
		    uint32_t depth, struct wt_err *err)
{
	const struct wti_chart_subject of = {.type = WTI_CHART_THREAD,
					     .stream = stream,
					     .track = track,
					     .role = wti_role_of(&c->roles, stream)};
	const struct wti_chart_interval interval = {
		span->begin_ns, span->end_ns,
		wt_reader_string(wt_trace_stream(c->trace, stream), span->name), depth};

	return wti_chart_add(c, &of, &interval, err);
}

/* Of a worker, what counts is what stands in its call. */
static int span_end(struct wti_chart *c, const struct wt_event *event, struct wt_err *err)
{
	uint64_t key = (uint64_t)event->stream << 32 | event->track;
	const uint64_t *inside = wti_map_find_number(&c->inside, key);
	uint32_t outermost = inside && *inside;
	struct wti_span span;
	int r = wti_spans_end(&c->spans, event, &span, err);

	if (r > 0 && span.tag == WORKER) {
		uint64_t *is_inside = inside_of(c, event);

		if (is_inside)
			*is_inside = 0;
		return 0;
	}
	if (r <= 0 || span.depth < outermost || (span.depth > outermost && !c->options.bars))
		return r < 0 ? r : 0;
	return add_span(c, event->stream, event->track, &span, span.depth - outermost, err);
}

/* Spans that never ended are busy to the end of the picture: that is where the run stood. */
static int close_open(struct wti_chart *c, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < c->spans.track_count; i++) {
		const struct wti_span_track *track = &c->spans.tracks[i];
		size_t first = track->open_count && track->open[0].tag == WORKER;
		size_t end = c->options.bars ? track->open_count : first + 1;

		for (size_t j = first; j < end && j < track->open_count && !r; j++) {
			struct wti_span span = track->open[j];

			span.end_ns = c->last_ns;
			r = add_span(c, track->stream, track->track, &span, (uint32_t)(j - first),
				     err);
		}
	}
	return r;
}

/* ---------------------------------------------------------------------------------------------- */

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct wti_chart *c = opaque;

	if (event->kind->number == WT_KIND_LOST) {
		c->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	}
	if (event->kind->number == WT_KIND_DEVICE_OP)
		return device_op(c, event, err);
	see(c, event->time_ns);
	if (event->kind->number == WT_KIND_SYSCALL)
		return system_call(c, event, err);
	if (wti_spans_is_begin(event->kind->number))
		return span_begin(c, event, err);
	return span_end(c, event, err);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct wti_chart *c = opaque;
	int r = close_open(c, err);

	if (r)
		return r;
	wti_chart_rows_finish(c);
	wti_chart_report(c, result);
	return 0;
}

const struct wt_inspector wti_inspector_timeline = {
	.name = "timeline",
	.summary = "which tracks were busy when",
	.state_bytes = sizeof(struct wti_chart),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
