/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `stat`: a flat profile of spans, calls, device operations and system calls, and a
 * summary of counters and marks.
 *
 * Self time is a span's time without that of the spans directly inside it. Total counts recursion
 * once. Device operations have no inside: their self time is their total. What the rows of calls
 * take in the trace comes with them.
 */
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "syscall/table.h"

#include "inspect/core/horizon.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/label.h"
#include "inspect/core/spans.h"
#include "inspect/core/steps.h"
#include "phases.h"
#include "stat.h"
#include "stat_rows.h"
#include "values.h"
#include "weights.h"

#define WORKER (WTI_STAT_NO_ROW - 1) /* as the row of a call that is no work of its own */

struct state {
	const struct wt_trace *trace;
	struct wti_stat_options options;
	struct wti_spans spans;
	struct wti_profile profile;
	struct wti_stat_rows rows;
	struct wti_steps steps;
	struct wti_values values;
	struct wti_weights weights;
	struct wti_phases phases;
	struct wti_roles roles;
	struct wti_horizons horizons;
	bool weighs;
	uint64_t waited_ns; /* by workers that load data, for something to do */
	uint64_t worker_count;
	double outside_bytes; /* of events that belong to no row */
	uint64_t open_count;  /* counted up to the last event */
	uint64_t lost_count;
	uint64_t reversed_count; /* operations that end before they start */
	uint64_t timeless_count; /* that have not ended */
};

/* Names, numbers and texts stand in the first five fields; 9 and 10 are times of device_op, 11 is
 * the architecture of a system call, 15 and 16 the call that a tensor belongs to and its place. */
#define FIELDS (0x61fu | 1u << WT_SYSCALL_FIELD_ARCH)
#define FIELDS_PHASES (1u << WT_CALL_BEGIN_FIELD_ACTION)
#define FIELDS_TENSOR (1u << WT_TENSOR_FIELD_CALL | 1u << WT_TENSOR_FIELD_POSITION)

static void ask(struct wt_query *query, const void *opaque)
{
	static const char *const kinds[] = {
		"span_begin",     "span_end",     "call_begin", "call_end", "device_op",
		"syscall",        "counter",      "mark",       "context",  "lost",
		"operator_begin", "operator_end", "tensor"};
	const struct wti_stat_options *options = opaque;
	bool has_tensors = options && (options->phases || wti_stat_weighs(options->by));

	query->fields = FIELDS | (has_tensors ? FIELDS_TENSOR : 0) |
			(options && options->phases ? FIELDS_PHASES : 0);
	if (options && wti_stat_weighs(options->by)) /* every event weighs something */
		return;
	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]) - !has_tensors;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	s->trace = trace;
	if (options)
		s->options = *(const struct wti_stat_options *)options;
	s->weighs = wti_stat_weighs(s->options.by);
	wti_spans_init(&s->spans);
	wti_profile_init(&s->profile);
	wti_steps_init(&s->steps, NULL);
	wti_stat_rows_init(&s->rows, &s->roles, s->options.by, &s->profile, &s->steps);
	wti_values_init(&s->values);
	wti_phases_init(&s->phases);
	if (wti_horizons_init(&s->horizons, trace) ||
	    (s->weighs && wti_weights_init(&s->weights, trace)))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_roles_init(&s->roles, trace, err);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_spans_release(&s->spans);
	wti_profile_release(&s->profile);
	wti_stat_rows_release(&s->rows);
	wti_steps_release(&s->steps);
	wti_values_release(&s->values);
	wti_phases_release(&s->phases);
	wti_roles_release(&s->roles);
	wti_weights_release(&s->weights);
	wti_horizons_release(&s->horizons);
}

static int add(struct state *s, uint64_t row, uint64_t duration_ns, uint64_t self_ns,
	       bool outermost, struct wt_err *err)
{
	if (row == WTI_STAT_NO_ROW)
		return 0;
	if (wti_profile_add(&s->profile, (size_t)row, duration_ns, self_ns, outermost))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

/* Finds the row and adds something that is complete in itself. */
static int add_whole(struct state *s, const struct wt_event *event,
		     const struct wti_subject *subject, uint64_t length, struct wt_err *err)
{
	uint64_t row;

	if (wti_stat_row(&s->rows, event, subject, &row))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return add(s, row, length, length, true, err);
}

static const char *kind_of(const struct wt_event *event)
{
	static const char *const scopes[] = {[WT_OPERATOR_SCOPE_FUNCTION] = "operator",
					     [WT_OPERATOR_SCOPE_BACKWARD] = "backward",
					     [WT_OPERATOR_SCOPE_REGION] = "region"};
	uint64_t scope;

	if (event->kind->number != WT_KIND_OPERATOR_BEGIN)
		return event->kind->number == WT_KIND_CALL_BEGIN ? "call" : "span";
	scope = wt_event_u64(event, WT_OPERATOR_BEGIN_FIELD_SCOPE);
	return scope < sizeof(scopes) / sizeof(scopes[0]) ? scopes[scope] : "operator";
}

static int span_begin(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	bool call = event->kind->number == WT_KIND_CALL_BEGIN;
	struct wti_subject subject = {.kind = kind_of(event),
				      .side = WTI_PROFILE_HOST,
				      .name = wt_event_text(event, 0),
				      .name_id = (uint32_t)wt_event_u64(event, 0),
				      .track = event->track,
				      .is_call = call};
	uint64_t row;

	if (call) {
		subject.module = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_MODULE);
		subject.site = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE);
	}
	if (wti_is_worker(event))
		return wti_spans_begin(&s->spans, event, WORKER, err);
	if (wti_stat_row(&s->rows, event, &subject, &row))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_spans_begin(&s->spans, event, row, err);
}

static int add_span(struct state *s, const struct wti_span *span, struct wt_err *err)
{
	uint64_t length = (uint64_t)span->end_ns - (uint64_t)span->begin_ns;
	uint64_t inside = span->children_ns < length ? span->children_ns : length;

	if (span->tag == WORKER) {
		s->waited_ns += length - inside;
		s->worker_count++;
		return 0;
	}
	return add(s, span->tag, length, length - inside, !span->nested, err);
}

static int span_end(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_span span;
	int r = wti_spans_end(&s->spans, event, &span, err);

	return r > 0 ? add_span(s, &span, err) : r;
}

/* When a stream ends: a name or a track may leave out the events with which it does. */
static int64_t end_of(const struct state *s, size_t stream)
{
	int64_t end_ns = s->horizons.ends[stream], until_ns = s->options.until_ns;

	return until_ns && until_ns < end_ns ? until_ns : end_ns;
}

/*
 * What a run that was killed, or whose trace is cut, was in: without it all time would be that of
 * the spans inside.
 */
static int close_open(struct state *s, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < s->spans.track_count && !r; i++) {
		struct wti_span_track *track = &s->spans.tracks[i];
		int64_t end_ns = end_of(s, track->stream);
		struct wti_span span;

		if (wti_is_beyond(&s->horizons, track->stream, end_ns))
			end_ns = s->horizons.streams[track->stream];
		while (!r && wti_spans_close(track, end_ns, &span)) {
			s->open_count++;
			r = add_span(s, &span, err);
		}
	}
	return r;
}

static int device_op(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_device_op op;
	struct wti_subject subject;

	wti_device_op_read(&op, event);
	if (!op.has_times) {
		s->timeless_count++;
		return 0;
	}
	if (op.ended_ns < op.started_ns) {
		s->reversed_count++;
		return 0;
	}
	subject = (struct wti_subject){
		.kind = op.type,
		.side = WTI_PROFILE_DEVICE,
		.name = wt_event_text(event, WT_DEVICE_OP_FIELD_NAME),
		.name_id = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_NAME),
		.op = op.op,
		.track = op.queue};
	return add_whole(s, event, &subject, (uint64_t)op.ended_ns - (uint64_t)op.started_ns, err);
}

static struct wt_text call_name(const struct wt_event *event, uint32_t nr,
				char out[WTI_LABEL_BYTES])
{
	uint64_t arch = wt_event_u64(event, WT_SYSCALL_FIELD_ARCH);
	const char *name = wti_call_name((enum wti_arch)arch, nr);

	return name ? (struct wt_text){name, strlen(name)}
		    : wti_label_number(out, "system call ", nr);
}

static int syscall_event(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint32_t nr = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR);
	uint64_t ticks = wt_event_u64(event, WT_SYSCALL_FIELD_DURATION);
	int64_t begin_ns = wt_trace_ns(s->trace, event->stream,
				       ticks < event->ticks ? event->ticks - ticks : 0);
	uint64_t length = event->time_ns > begin_ns ? (uint64_t)(event->time_ns - begin_ns) : 0;
	char label[WTI_LABEL_BYTES];
	struct wti_subject subject = {.kind = "syscall",
				      .side = WTI_PROFILE_HOST,
				      .name = call_name(event, nr, label),
				      .name_id = nr,
				      .track = event->track};

	return add_whole(s, event, &subject, length, err);
}

static uint32_t call_of(const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_TENSOR)
		return (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_CALL);
	if (event->kind->number == WT_KIND_ARGUMENT)
		return (uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_CALL);
	return 0;
}

/* What an event takes counts for the call that it belongs to; by step, for the step. */
static int weigh(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	const struct wti_subject subject = {.kind = "host", .side = WTI_PROFILE_HOST};
	bool tensor = event->kind->number == WT_KIND_TENSOR;
	double bytes = wti_weights_of(&s->weights, event);
	const struct wti_span *span;
	uint64_t row = WTI_STAT_NO_ROW;

	if (s->options.by == WTI_STAT_BY_STEP) {
		if (wti_stat_row(&s->rows, event, &subject, &row))
			return wti_err(err, WT_E_NOMEM, "out of memory");
	} else {
		span = wti_spans_around(&s->spans, event, call_of(event));
		row = span && span->tag != WORKER ? span->tag : WTI_STAT_NO_ROW;
	}
	if (row == WTI_STAT_NO_ROW)
		s->outside_bytes += bytes;
	else
		wti_profile_weigh(&s->profile, (size_t)row, bytes, tensor);
	return 0;
}

static int measure(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_OPERATOR_BEGIN:
		return span_begin(s, event, err);
	case WT_KIND_SPAN_END:
	case WT_KIND_CALL_END:
	case WT_KIND_OPERATOR_END:
		return span_end(s, event, err);
	case WT_KIND_DEVICE_OP:
		return device_op(s, event, err);
	case WT_KIND_SYSCALL:
		return syscall_event(s, event, err);
	case WT_KIND_CONTEXT:
		return wti_steps_event(&s->steps, event, err);
	case WT_KIND_COUNTER:
		return wti_values_counter(&s->values, event, err);
	case WT_KIND_MARK:
		return wti_values_mark(&s->values, event, err);
	case WT_KIND_LOST:
		s->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		return 0;
	}
}

/* The end of a call is weighed while the call is open, its begin once it is. */
static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;
	bool ends = wti_spans_is_end(event->kind->number);
	bool is_beyond = wti_is_beyond(&s->horizons, event->stream, event->time_ns);
	int r = 0;

	if (is_beyond && (wti_spans_is_begin(event->kind->number) || ends))
		return 0;
	if (s->options.phases && !is_beyond && wti_phases_event(&s->phases, event))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (s->weighs && ends)
		r = weigh(s, event, err);
	if (!r)
		r = measure(s, event, err);
	if (!r && s->weighs && !ends)
		r = weigh(s, event, err);
	return r;
}

static void note_left_out(struct wt_result *result, uint64_t count, const char *what)
{
	if (count)
		wt_result_note(result, "%s, not counted: %llu", what, (unsigned long long)count);
}

/* That a stream is damaged is noted by whoever opened it; here what it means for the figures. */
static void note_cut(const struct state *s, struct wt_result *result)
{
	char text[32];

	for (size_t i = 0; i < s->horizons.count; i++) {
		if (s->horizons.streams[i] >= end_of(s, i))
			continue;
		wt_result_note(result,
			       "'%s' is cut: its calls could be read up to %s; later steps are "
			       "not counted",
			       wt_reader_path(wt_trace_stream(s->trace, i)),
			       wti_format_ns(text, s->horizons.streams[i]));
	}
}

static void add_notes(const struct state *s, struct wt_result *result)
{
	char text[32];

	note_cut(s, result);
	if (s->worker_count) {
		wt_result_fact_count(result, "workers_waited_ns", "", WT_CELL_NS, s->waited_ns);
		wt_result_note(result,
			       "%llu worker%s of DataLoaders waited %s for something to load: "
			       "not counted",
			       (unsigned long long)s->worker_count, s->worker_count == 1 ? "" : "s",
			       wti_format_ns(text, (int64_t)s->waited_ns));
	}
	if (s->lost_count)
		wt_result_note(result, "%llu events were lost: counts and times may be too low",
			       (unsigned long long)s->lost_count);
	if (s->open_count)
		wt_result_note(
			result, "%llu span%s still open at the end: counted up to the last event",
			(unsigned long long)s->open_count, s->open_count == 1 ? " was" : "s were");
	note_left_out(result, s->spans.unopened_count, "spans that began before what was read");
	note_left_out(result, s->spans.unclosed_count, "spans without an end of their own");
	note_left_out(result, s->spans.too_deep_count, "spans that were nested too deeply");
	note_left_out(result, s->reversed_count, "device operations that end before they start");
	note_left_out(result, s->timeless_count, "device operations without times");
	if (s->profile.overflow_count)
		wt_result_note(result,
			       "too many different rows: %llu durations are in '(all others)'",
			       (unsigned long long)s->profile.overflow_count);
}

static void note_outside(const struct state *s, struct wt_result *result)
{
	char text[16];

	wt_result_fact_count(result, "outside_bytes", "", WT_CELL_BYTES,
			     (uint64_t)(s->outside_bytes + 0.5));
	if (s->outside_bytes >= 1 && s->options.by != WTI_STAT_BY_STEP)
		wt_result_note(result,
			       "%s of the trace belong to no row: what happened outside of calls",
			       wti_format_bytes(text, (uint64_t)s->outside_bytes));
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	static const char *const titles[] = {"name",   "kind",     "track", "step",
					     "module", "function", "site"};
	struct state *s = opaque;
	struct wti_profile_view view = {.title = titles[s->options.by],
					.order = s->options.order,
					.limit = s->options.limit,
					.only = s->options.rows,
					.weighed = s->weighs};
	size_t rows;
	int r = close_open(s, err);

	if (r)
		return r;
	wt_result_fact_number(result, "quantile_error_percent", "", WT_CELL_NUMBER,
			      WTI_SKETCH_ERROR_PERCENT);
	if (s->options.phases)
		wti_phases_tables(&s->phases, &s->roles, result);
	rows = wti_profile_table(&s->profile, result, &view);
	if (s->weighs)
		note_outside(s, result);
	if (s->options.by <= WTI_STAT_BY_STEP) /* they are no calls */
		wti_values_tables(&s->values, result, s->options.limit);
	add_notes(s, result);
	if (!rows && !wti_values_any(&s->values)) {
		wt_result_set_status(result, "not_measured");
		wt_result_note(result,
			       "nothing to measure: no spans or calls, no device operations, "
			       "counters or marks");
	}
	return 0;
}

const struct wt_inspector wti_inspector_stat = {
	.name = "stat",
	.summary = "where the time went, by name",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
