/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `stat`: a flat profile of spans, calls, device operations and system calls, and a
 * summary of counters and marks.
 *
 * Self time is a span's time without that of the spans directly inside it. Total counts recursion
 * once. Device operations have no inside: their self time is their total.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "context.h"
#include "label.h"
#include "spans.h"
#include "stat.h"
#include "table.h"
#include "values.h"

struct state {
	const struct wt_trace *trace;
	struct wti_stat_options options;
	struct wti_spans spans;
	struct wti_profile profile;
	struct wti_map cache; /* stream, kind, op and name id: row plus one */
	struct wti_steps steps;
	struct wti_values values;
	uint64_t lost_count;
	uint64_t reversed_count; /* operations that end before they start */
};

static void ask(struct wt_query *query)
{
	static const char *const kinds[] = {"span_begin", "span_end", "call_begin", "call_end",
					    "device_op",  "syscall",  "counter",    "mark",
					    "context",    "lost"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
	/* Names, numbers and texts stand in the first five; 9 and 10 are times of device_op. */
	query->fields = 0x61f;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	s->trace = trace;
	if (options)
		s->options = *(const struct wti_stat_options *)options;
	wti_spans_init(&s->spans);
	wti_profile_init(&s->profile);
	wti_map_init(&s->cache, 1u << 20);
	wti_steps_init(&s->steps);
	wti_values_init(&s->values);
	return 0;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_spans_release(&s->spans);
	wti_profile_release(&s->profile);
	wti_map_release(&s->cache);
	wti_steps_release(&s->steps);
	wti_values_release(&s->values);
}

/* A row as the event is seen: its kind, the field with its name, the track that it counts for. */
struct subject {
	const char *kind;
	enum wti_profile_side side;
	struct wt_text name;
	uint32_t name_id;
	uint32_t op;
	uint32_t track;
};

static long row_by_label(struct state *s, const struct wt_event *event, const struct subject *what)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = what->name;

	switch (s->options.by) {
	case WTI_STAT_BY_NAME:
		break;
	case WTI_STAT_BY_KIND:
		text = (struct wt_text){what->kind, strlen(what->kind)};
		break;
	case WTI_STAT_BY_TRACK:
		text = wti_label_track(label, s->trace, event->stream, what->track);
		break;
	case WTI_STAT_BY_STEP:
		text = wti_steps_label(&s->steps, label, event);
		break;
	}
	return wti_profile_row(&s->profile,
			       s->options.by == WTI_STAT_BY_STEP
				       ? (what->side == WTI_PROFILE_HOST ? "host" : "device")
				       : what->kind,
			       what->side, text.data, text.bytes);
}

/* Looking up a label is hashing a text: what an id meant last time is remembered. */
static long row_of(struct state *s, const struct wt_event *event, const struct subject *what)
{
	uint64_t key = (uint64_t)event->stream << 44 | (uint64_t)event->kind->number << 37 |
		       (uint64_t)(what->op & 31) << 32 |
		       (s->options.by == WTI_STAT_BY_TRACK ? what->track : what->name_id);
	uint64_t *slot;
	long row;

	if (s->options.by == WTI_STAT_BY_STEP || event->stream >> 20)
		return row_by_label(s, event, what);
	slot = wti_map_number(&s->cache, key);
	if (slot && *slot)
		return (long)*slot - 1;
	row = row_by_label(s, event, what);
	if (slot && row >= 0 && !s->profile.overflow_count)
		*slot = (uint64_t)row + 1;
	return row;
}

static int add(struct state *s, long row, uint64_t duration_ns, uint64_t self_ns, bool outermost,
	       struct wt_err *err)
{
	if (row < 0 || wti_profile_add(&s->profile, (size_t)row, duration_ns, self_ns, outermost))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

static int span_begin(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	bool call = event->kind->number == WT_KIND_CALL_BEGIN;
	struct subject what = {.kind = call ? "call" : "span",
			       .side = WTI_PROFILE_HOST,
			       .name = wt_event_text(event, 0),
			       .name_id = (uint32_t)wt_event_u64(event, 0),
			       .track = event->track};
	long row = row_of(s, event, &what);

	if (row < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_spans_begin(&s->spans, event, (uint64_t)row, err);
}

static int span_end(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_span span;
	uint64_t length, inside;
	int r = wti_spans_end(&s->spans, event, &span, err);

	if (r <= 0)
		return r;
	length = (uint64_t)span.end_ns - (uint64_t)span.begin_ns;
	inside = span.children_ns < length ? span.children_ns : length;
	return add(s, (long)span.tag, length, length - inside, !span.nested, err);
}

static int device_op(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_device_op op;
	struct subject what;
	uint64_t length;

	wti_device_op_read(&op, event);
	if (op.ended_ns < op.started_ns) {
		s->reversed_count++;
		return 0;
	}
	what = (struct subject){.kind = op.type,
				.side = WTI_PROFILE_DEVICE,
				.name = wt_event_text(event, WT_DEVICE_OP_FIELD_NAME),
				.name_id = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_NAME),
				.op = op.op,
				.track = op.queue};
	length = (uint64_t)op.ended_ns - (uint64_t)op.started_ns;
	return add(s, row_of(s, event, &what), length, length, true, err);
}

static int syscall_event(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint32_t nr = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR);
	uint64_t ticks = wt_event_u64(event, WT_SYSCALL_FIELD_DURATION);
	int64_t end_ns = wt_trace_ns(s->trace, event->stream, event->ticks + ticks);
	uint64_t length = end_ns > event->time_ns ? (uint64_t)(end_ns - event->time_ns) : 0;
	char label[WTI_LABEL_BYTES];
	struct subject what = {.kind = "syscall",
			       .side = WTI_PROFILE_HOST,
			       .name = wti_label_number(label, "system call ", nr),
			       .name_id = nr,
			       .track = event->track};

	return add(s, row_of(s, event, &what), length, length, true, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_CALL_BEGIN:
		return span_begin(s, event, err);
	case WT_KIND_SPAN_END:
	case WT_KIND_CALL_END:
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

static void add_notes(const struct state *s, struct wt_result *result)
{
	uint64_t open_count = 0;

	for (size_t i = 0; i < s->spans.track_count; i++)
		open_count += s->spans.tracks[i].open_count;
	if (s->lost_count)
		wt_result_note(result, "%llu events were lost: counts and times may be too low",
			       (unsigned long long)s->lost_count);
	if (open_count)
		wt_result_note(result, "%llu spans were still open at the end: not counted",
			       (unsigned long long)open_count);
	if (s->spans.unopened_count)
		wt_result_note(result, "%llu spans began before what was read: not counted",
			       (unsigned long long)s->spans.unopened_count);
	if (s->spans.unclosed_count)
		wt_result_note(result, "%llu spans have no end of their own: not counted",
			       (unsigned long long)s->spans.unclosed_count);
	if (s->spans.too_deep_count)
		wt_result_note(result, "%llu spans were nested too deeply: not counted",
			       (unsigned long long)s->spans.too_deep_count);
	if (s->reversed_count)
		wt_result_note(result, "%llu device operations end before they start: not counted",
			       (unsigned long long)s->reversed_count);
	if (s->profile.overflow_count)
		wt_result_note(result,
			       "too many different rows: %llu durations are in '(all others)'",
			       (unsigned long long)s->profile.overflow_count);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	static const char *const titles[] = {"name", "kind", "track", "step"};
	struct state *s = opaque;
	size_t rows;

	wt_result_fact_number(result, "quantile_error_percent", "", WT_CELL_NUMBER,
			      WTI_SKETCH_ERROR_PERCENT);
	rows = wti_profile_table(&s->profile, result, titles[s->options.by], s->options.order,
				 s->options.limit);
	wti_values_tables(&s->values, result, s->options.limit);
	add_notes(s, result);
	if (!rows && !wti_values_any(&s->values)) {
		wt_result_set_status(result, "not_measured");
		wt_result_note(
			result,
			"nothing to measure: no span or call that ended, no device operations, "
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
