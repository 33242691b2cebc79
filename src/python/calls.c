/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two cursors side by side, in the same order: one over all begins and ends, which are needed to
 * match them, and one over the begins that are wanted.
 */
#include "calls.h"

#include <string.h>

#include "base/err.h"
#include "inspect/core/spans.h"

#define UNWANTED UINT64_MAX /* as tag of a span: it has no row */
#define RUN_ROWS 1024u

struct job {
	struct wti_call_table *calls;
	struct wti_spans spans;
	struct wt_cursor *all;
	struct wt_cursor *wanted;
	struct wt_event head; /* the next that is wanted */
	bool has_head;
	struct wt_event first;
	uint32_t rows[RUN_ROWS];
	int64_t times_ns[RUN_ROWS];
};

/* ---- Columns --------------------------------------------------------------------------------- */

static int make_columns(struct wti_call_table *calls, bool with_exception, struct wt_err *err)
{
	calls->duration = wti_column_new(WTI_COLUMN_I64, "duration_ns", "ns",
					 "from begin to end; null: it has no end");
	calls->self = wti_column_new(WTI_COLUMN_I64, "self_ns", "ns",
				     "duration without the calls directly inside");
	calls->parent = wti_column_new(WTI_COLUMN_I64, "parent", "",
				       "row of the innermost call around it; null: none");
	calls->depth = wti_column_new(WTI_COLUMN_U32, "depth", "", "0: outermost of its track");
	if (with_exception)
		calls->exception = wti_column_new(WTI_COLUMN_TEXT, "exception", "",
						  "empty: it returned; null: it has no end");
	if (calls->duration && calls->self && calls->parent && calls->depth &&
	    (calls->exception || !with_exception))
		return 0;
	return wti_err(err, WT_E_NOMEM, "out of memory for a table");
}

void wti_calls_release(struct wti_call_table *calls)
{
	wti_column_unref(calls->duration);
	wti_column_unref(calls->self);
	wti_column_unref(calls->parent);
	wti_column_unref(calls->depth);
	wti_column_unref(calls->exception);
	calls->duration = calls->self = calls->parent = calls->depth = calls->exception = NULL;
}

static int add_i64(struct wti_column *column, int64_t value)
{
	int64_t *out = wti_column_reserve(column, 1);

	if (!out)
		return WT_E_NOMEM;
	*out = value;
	wti_column_added(column, 1);
	return value == WTI_NULL_I64 ? wti_column_null(column, column->rows - 1) : 0;
}

static int add_row(struct wti_call_table *calls, int64_t parent, uint32_t depth)
{
	uint32_t *out = wti_column_reserve(calls->depth, 1);
	int32_t *code = calls->exception ? wti_column_reserve(calls->exception, 1) : NULL;
	int r = add_i64(calls->duration, WTI_NULL_I64);

	if (!r)
		r = add_i64(calls->self, WTI_NULL_I64);
	if (!r)
		r = add_i64(calls->parent, parent);
	if (r || !out || (calls->exception && !code))
		return WT_E_NOMEM;
	*out = depth;
	wti_column_added(calls->depth, 1);
	if (code) {
		*code = WTI_NULL_CODE;
		wti_column_added(calls->exception, 1);
		r = wti_column_null(calls->exception, calls->exception->rows - 1);
	}
	return r;
}

static void set_i64(struct wti_column *column, size_t row, int64_t value)
{
	((int64_t *)column->data)[row] = value;
	wti_column_not_null(column, row);
}

/* ---- Matching -------------------------------------------------------------------------------- */

/* 1 if it is, 0 if not, or an error. */
static int is_wanted(struct job *job, const struct wt_event *event, struct wt_err *err)
{
	const struct wt_event *head = &job->head;
	int more;

	if (!job->wanted)
		return 1;
	if (!job->has_head || head->stream != event->stream || head->track != event->track ||
	    head->seq != event->seq)
		return 0;
	more = wt_cursor_next(job->wanted, &job->head, err);
	job->has_head = more > 0;
	return more < 0 ? more : 1;
}

/* The row of the innermost open span around the one that has just begun. */
static int64_t parent_of(const struct wti_spans *spans, const struct wt_event *event,
			 uint32_t *ret_depth)
{
	const uint64_t *slot =
		wti_map_find_number(&spans->index, (uint64_t)event->stream << 32 | event->track);
	const struct wti_span_track *track = &spans->tracks[*slot - 1];

	/* One that is too deep is counted, but does not stand among the open ones. */
	size_t around = track->open_count - (track->too_deep_count ? 0 : 1);

	*ret_depth = (uint32_t)(track->open_count + track->too_deep_count - 1);
	while (around--) {
		if (track->open[around].tag != UNWANTED)
			return (int64_t)track->open[around].tag;
	}
	return WTI_NULL_I64;
}

static int begin_one(struct job *job, const struct wt_event *event, struct wt_err *err)
{
	struct wti_rows rows = {
		.first = *event, .rows = &event->row, .times_ns = &event->time_ns, .count = 1};
	struct wti_call_table *calls = job->calls;
	uint64_t row = wti_gather_count(&calls->gather);
	int wanted = is_wanted(job, event, err);
	uint32_t depth;
	int64_t parent;
	int r;

	if (wanted < 0)
		return wanted;
	r = wti_spans_begin(&job->spans, event, wanted ? row : UNWANTED, err);
	if (r || !wanted)
		return r;
	parent = parent_of(&job->spans, event, &depth);
	r = wti_gather_rows(&calls->gather, &rows, err);
	if (!r && add_row(calls, parent, depth))
		r = wti_err(err, WT_E_NOMEM, "out of memory for a table");
	return r;
}

static int end_one(struct job *job, const struct wt_event *event, struct wt_err *err)
{
	struct wti_call_table *calls = job->calls;
	struct wti_span span;
	int64_t duration;
	int32_t code;
	int r = wti_spans_end(&job->spans, event, &span, err);

	if (r <= 0 || span.tag == UNWANTED)
		return r < 0 ? r : 0;
	duration = span.end_ns - span.begin_ns;
	set_i64(calls->duration, span.tag, duration);
	set_i64(calls->self, span.tag,
		span.children_ns < (uint64_t)duration ? duration - (int64_t)span.children_ns : 0);
	if (!calls->exception)
		return 0;
	if (wti_column_code(calls->exception, wt_event_text(event, WT_CALL_END_FIELD_EXCEPTION),
			    &code))
		return wti_err(err, WT_E_NOMEM, "out of memory for a table");
	((int32_t *)calls->exception->data)[span.tag] = code;
	wti_column_not_null(calls->exception, span.tag);
	return 0;
}

static int take_rows(struct job *job, int count, struct wt_err *err)
{
	struct wt_event event = job->first;
	int r = 0;

	for (int i = 0; i < count && !r; i++) {
		event.row = job->rows[i];
		event.time_ns = job->times_ns[i];
		event.track = (uint32_t)event.batch->track[event.row];
		event.seq = event.batch->seq[event.row];
		event.ticks = event.batch->time[event.row];
		if (wti_spans_is_begin(event.kind->number))
			r = begin_one(job, &event, err);
		else
			r = end_one(job, &event, err);
	}
	return r;
}

/* ---- Running it ------------------------------------------------------------------------------ */

static bool narrows(const struct wt_query *query)
{
	return query->from_ns != INT64_MIN || query->to_ns != INT64_MAX || query->name ||
	       query->context_key || query->condition_count;
}

static int open_cursors(struct job *job, const struct wt_query *query, const char *const *kinds,
			struct wt_err *err)
{
	const struct wt_trace *trace = job->calls->gather.trace;
	struct wt_query all, wanted = *query;
	int r;

	wt_query_init(&all);
	all.track = query->track;
	all.kinds = kinds;
	all.kind_count = 2;
	all.fields = job->calls->gather.fields | 1u << WT_CALL_BEGIN_FIELD_CALLEE |
		     1u << WT_CALL_END_FIELD_EXCEPTION;
	r = wt_cursor_open(trace, &all, &job->all, err);
	if (r || !narrows(query))
		return r;
	wanted.kinds = kinds;
	wanted.kind_count = 1;
	wanted.fields = 0;
	r = wt_cursor_open(trace, &wanted, &job->wanted, err);
	if (!r)
		r = wt_cursor_next(job->wanted, &job->head, err);
	job->has_head = r > 0;
	return r < 0 ? r : 0;
}

static int run(struct job *job, struct wt_err *err)
{
	int count, r = 0;

	do {
		count = wt_cursor_rows(job->all, RUN_ROWS, &job->first, job->rows, job->times_ns,
				       err);
		if (count > 0)
			r = take_rows(job, count, err);
	} while (count > 0 && !r);
	return count < 0 ? count : r;
}

static void seal(struct wti_call_table *calls)
{
	wti_gather_seal(&calls->gather);
	wti_column_seal(calls->duration);
	wti_column_seal(calls->self);
	wti_column_seal(calls->parent);
	wti_column_seal(calls->depth);
	if (calls->exception)
		wti_column_seal(calls->exception);
}

int wti_calls_read(struct wti_call_table *calls, const struct wt_query *query, struct wt_err *err)
{
	static const char *const call_kinds[] = {"call_begin", "call_end"};
	static const char *const span_kinds[] = {"span_begin", "span_end"};
	bool is_call = !strcmp(query->kinds[0], call_kinds[0]);
	struct job job = {.calls = calls};
	int r;

	wti_spans_init(&job.spans);
	r = make_columns(calls, is_call, err);
	if (!r)
		r = wti_gather_begin(&calls->gather, err);
	if (!r)
		r = open_cursors(&job, query, is_call ? call_kinds : span_kinds, err);
	if (!r)
		r = run(&job, err);
	wt_cursor_free(job.all);
	wt_cursor_free(job.wanted);
	wti_spans_release(&job.spans);
	if (r)
		wti_calls_release(calls);
	else
		seal(calls);
	return r;
}
