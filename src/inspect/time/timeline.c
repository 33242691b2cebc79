/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `timeline`: which tracks were busy when, how much of the time, and how much ran at
 * once.
 *
 * A thread is busy while a span or call is open on it, a queue while an operation that does work
 * runs on it, a device while one of its queues is busy. Busy time is the length of the union of
 * those intervals: two operations side by side count once. Waiting and bookkeeping (sync, wait,
 * record, alloc, free) is no work, nor is a worker of a DataLoader that waits for something to
 * load.
 *
 * Utilisation is busy time over the window. Without --from and --to the window of threads is that
 * of the whole picture, and that of queues and devices reaches from the beginning of the first
 * operation to the end of the last, so that a long start of the program does not dilute it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/text.h"
#include "busy.h"
#include "concurrency.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/label.h"
#include "inspect/core/roles.h"
#include "inspect/core/spans.h"
#include "timeline.h"

#define ROWS_MAX 1024u
#define INTERVALS_MAX (1u << 14) /* kept a row before the older half is settled */
#define MOMENTS_MAX (1u << 19)   /* of beginnings and ends that wait to be put in order */
#define COLUMNS_DEFAULT 60
#define WORKERS_MAX (1u << 16)
#define WORKER 1 /* tag of its call */

struct row {
	size_t stream;
	uint32_t track; /* 0: a device as a whole */
	uint32_t device;
	bool is_queue;
	struct wti_role role; /* of a thread */
	uint64_t count;       /* spans or operations */
	struct wti_busy busy;
	struct wti_concurrency *concurrency; /* of devices */
};

struct state {
	const struct wt_trace *trace;
	struct wti_timeline_options options;
	struct wti_spans spans;
	struct wti_map index; /* stream and track, or device: row plus one */
	struct row *rows;
	size_t row_count, row_capacity;
	struct wti_roles roles;
	struct wti_map inside; /* stream and track: 1 while it is in its call of a worker */
	struct wti_concurrency all;
	int64_t last_ns; /* of anything that was seen */
	int64_t before_ns,
		after_ns; /* the nearest busy times around the window; at the extremes: none */
	int64_t device_from_ns, device_to_ns;
	uint64_t op_count;
	uint64_t left_out_count; /* for want of a row */
	uint64_t reversed_count;
	uint64_t timeless_count; /* operations that have not ended */
	uint64_t lost_count;
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"span_begin",     "span_end",    "call_begin",
					    "call_end",       "device_op",   "lost",
					    "operator_begin", "operator_end"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
	query->fields = 0x61f; /* op, name, device, queue, clock, started, ended */
}

/* All threads of a worker are one row. */
static struct row row_like(const struct state *s, size_t stream, uint32_t track)
{
	return (struct row){
		.stream = stream, .track = track, .role = wti_role_of(&s->roles, stream)};
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	s->trace = trace;
	s->options = (struct wti_timeline_options){INT64_MIN, INT64_MAX, COLUMNS_DEFAULT};
	if (options)
		s->options = *(const struct wti_timeline_options *)options;
	s->device_from_ns = s->after_ns = INT64_MAX;
	s->device_to_ns = s->before_ns = INT64_MIN;
	s->last_ns = INT64_MIN;
	wti_spans_init(&s->spans);
	wti_map_init(&s->index, 2 * ROWS_MAX);
	wti_map_init(&s->inside, WORKERS_MAX);
	wti_concurrency_init(&s->all, MOMENTS_MAX);
	return wti_roles_init(&s->roles, trace, err);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	for (size_t i = 0; i < s->row_count; i++) {
		wti_busy_release(&s->rows[i].busy);
		if (s->rows[i].concurrency)
			wti_concurrency_release(s->rows[i].concurrency);
		free(s->rows[i].concurrency);
	}
	free(s->rows);
	wti_spans_release(&s->spans);
	wti_map_release(&s->index);
	wti_roles_release(&s->roles);
	wti_map_release(&s->inside);
	wti_concurrency_release(&s->all);
}

static int init_row(struct state *s, struct row *row)
{
	if (!row->track) {
		row->concurrency = malloc(sizeof(*row->concurrency));
		if (!row->concurrency)
			return WT_E_NOMEM;
		wti_concurrency_init(row->concurrency, MOMENTS_MAX);
	}
	return wti_busy_init(&row->busy, INTERVALS_MAX, s->options.from_ns, s->options.to_ns);
}

/* NULL when there are too many, or no memory is left. */
static struct row *row_of(struct state *s, struct row like)
{
	uint64_t key = like.role.worker
			       ? 1ull << 62 | (uint64_t)like.role.rank << 32 | like.role.worker
		       : like.track ? (uint64_t)like.stream << 32 | like.track
				    : 1ull << 63 | like.device;
	uint64_t *slot = wti_map_number(&s->index, key);

	if (!slot)
		return NULL;
	if (*slot)
		return &s->rows[*slot - 1];
	if (wti_grow(&s->rows, s->row_count + 1, &s->row_capacity, ROWS_MAX))
		return NULL;
	if (init_row(s, &like)) {
		free(like.concurrency);
		return NULL;
	}
	s->rows[s->row_count] = like;
	*slot = ++s->row_count;
	return &s->rows[*slot - 1];
}

static bool in_window(const struct state *s, int64_t from_ns, int64_t to_ns)
{
	return from_ns < s->options.to_ns && to_ns > s->options.from_ns;
}

static int add(struct state *s, struct row like, int64_t from_ns, int64_t to_ns, struct wt_err *err)
{
	struct row *row;
	int r;

	if (!in_window(s, from_ns, to_ns)) {
		if (from_ns >= s->options.to_ns)
			s->after_ns = from_ns < s->after_ns ? from_ns : s->after_ns;
		else
			s->before_ns = to_ns > s->before_ns ? to_ns : s->before_ns;
		return 0;
	}
	row = row_of(s, like);
	if (!row) {
		s->left_out_count++;
		return 0;
	}
	row->count++;
	r = wti_busy_add(&row->busy, from_ns, to_ns);
	if (!r && row->concurrency) {
		from_ns = from_ns < s->options.from_ns ? s->options.from_ns : from_ns;
		to_ns = to_ns > s->options.to_ns ? s->options.to_ns : to_ns;
		r = wti_concurrency_add(row->concurrency, from_ns, to_ns);
		if (!r)
			r = wti_concurrency_add(&s->all, from_ns, to_ns);
	}
	return r ? wti_err(err, r, "out of memory") : 0;
}

static void see(struct state *s, int64_t ns)
{
	if (ns > s->last_ns)
		s->last_ns = ns;
}

static int device_op(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_device_op op;
	struct row queue = {.stream = event->stream, .is_queue = true};
	int r;

	wti_device_op_read(&op, event);
	if (!op.has_times) {
		s->timeless_count++;
		return 0;
	}
	if (op.ended_ns < op.started_ns) {
		s->reversed_count++;
		return 0;
	}
	if (!wti_device_op_is_work(op.op) || op.ended_ns == op.started_ns)
		return 0;
	see(s, op.ended_ns);
	s->op_count++;
	if (op.started_ns < s->device_from_ns)
		s->device_from_ns = op.started_ns;
	if (op.ended_ns > s->device_to_ns)
		s->device_to_ns = op.ended_ns;
	queue.track = op.queue;
	queue.device = op.device;
	r = add(s, queue, op.started_ns, op.ended_ns, err);
	if (r)
		return r;
	return add(s, (struct row){.device = op.device, .is_queue = true}, op.started_ns,
		   op.ended_ns, err);
}

static uint64_t *inside_of(struct state *s, const struct wt_event *event)
{
	return wti_map_number(&s->inside, (uint64_t)event->stream << 32 | event->track);
}

static int span_begin(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	bool is_worker = wti_is_worker(event);
	uint64_t *inside = is_worker ? inside_of(s, event) : NULL;

	if (inside)
		*inside = 1;
	return wti_spans_begin(&s->spans, event, is_worker ? WORKER : 0, err);
}

/* Of a worker, what counts is what stands in its call. */
static int span_end(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint64_t key = (uint64_t)event->stream << 32 | event->track;
	const uint64_t *inside = wti_map_find_number(&s->inside, key);
	struct wti_span span;
	int r = wti_spans_end(&s->spans, event, &span, err);

	if (r > 0 && span.tag == WORKER) {
		uint64_t *is_inside = inside_of(s, event);

		if (is_inside)
			*is_inside = 0;
		return 0;
	}
	if (r <= 0 || span.depth != (inside && *inside ? 1 : 0))
		return r < 0 ? r : 0;
	return add(s, row_like(s, event->stream, event->track), span.begin_ns, span.end_ns, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	if (event->kind->number == WT_KIND_LOST) {
		s->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	}
	if (event->kind->number == WT_KIND_DEVICE_OP)
		return device_op(s, event, err);
	see(s, event->time_ns);
	if (wti_spans_is_begin(event->kind->number))
		return span_begin(s, event, err);
	return span_end(s, event, err);
}

/* Spans that never ended are busy to the end of the picture: that is where the run stood. */
static int close_open(struct state *s, struct wt_err *err)
{
	for (size_t i = 0; i < s->spans.track_count; i++) {
		const struct wti_span_track *t = &s->spans.tracks[i];
		size_t first = t->open_count && t->open[0].tag == WORKER;
		int r;

		if (t->open_count <= first)
			continue;
		r = add(s, row_like(s, t->stream, t->track), t->open[first].begin_ns, s->last_ns,
			err);
		if (r)
			return r;
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->is_queue != y->is_queue)
		return x->is_queue ? 1 : -1;
	if (x->is_queue && x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->is_queue && !x->track != !y->track) /* the device before its queues */
		return x->track ? 1 : -1;
	if (x->role.rank != y->role.rank) /* what has none, such as a launcher, comes first */
		return x->role.rank < y->role.rank ? -1 : 1;
	if (x->role.worker != y->role.worker)
		return x->role.worker < y->role.worker ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

struct window {
	int64_t from_ns, to_ns;
	int64_t device_from_ns, device_to_ns;
};

static struct window find_window(const struct state *s)
{
	struct window w = {INT64_MAX, INT64_MIN, s->device_from_ns, s->device_to_ns};

	for (size_t i = 0; i < s->row_count; i++) {
		const struct wti_busy *busy = &s->rows[i].busy;

		w.from_ns = busy->first_ns < w.from_ns ? busy->first_ns : w.from_ns;
		w.to_ns = busy->last_ns > w.to_ns ? busy->last_ns : w.to_ns;
	}
	if (s->options.from_ns != INT64_MIN)
		w.from_ns = w.device_from_ns = s->options.from_ns;
	if (s->options.to_ns != INT64_MAX)
		w.to_ns = w.device_to_ns = s->options.to_ns;
	return w;
}

static double percent(uint64_t busy_ns, int64_t from_ns, int64_t to_ns)
{
	/* As floats: a damaged trace may have times whose difference does not fit. */
	double length = (double)to_ns - (double)from_ns;

	return length > 0 ? 100.0 * (double)busy_ns / length : 0;
}

static struct wt_text row_label(const struct state *s, const struct row *row,
				char out[WTI_LABEL_BYTES])
{
	if (!row->track)
		return wti_label_number(out, "device ", row->device);
	return wti_role_label(out, &s->roles, row->stream, row->track);
}

static void add_series(const struct state *s, struct wt_result *result, const struct row *row,
		       const struct window *w)
{
	uint32_t columns = s->options.columns ? s->options.columns : COLUMNS_DEFAULT;
	double step = ((double)w->to_ns - (double)w->from_ns) / columns;
	char label[WTI_LABEL_BYTES], key[64];
	struct wt_text text = row_label(s, row, label);
	char title[WTI_LABEL_BYTES];
	struct wt_series *series;

	snprintf(title, sizeof(title), "%.*s", (int)text.bytes, text.data);
	if (row->track)
		snprintf(key, sizeof(key), "track_%zu_%u", row->stream, row->track);
	else
		snprintf(key, sizeof(key), "device_%u", row->device);
	series = wt_result_series(result, key, title, "percent", (double)w->from_ns, step, columns);
	for (uint32_t i = 0; series && i < columns; i++) {
		double from = (double)w->from_ns + i * step;

		series->y[i] = 100.0 * wti_busy_between(&row->busy, from, from + step) / step;
		if (series->y[i] > 100)
			series->y[i] = 100;
	}
}

static void add_tracks(const struct state *s, struct wt_result *result, const struct window *w)
{
	struct wt_table *table = wt_result_table(result, "tracks", "");
	char label[WTI_LABEL_BYTES];

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_column(table, "stream", "stream", WT_CELL_ID);
	wt_table_column(table, "id", "id", WT_CELL_ID);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "busy_ns", "busy", WT_CELL_NS);
	wt_table_column(table, "utilisation", "utilisation", WT_CELL_PERCENT);
	for (size_t i = 0; i < s->row_count; i++) {
		const struct row *row = &s->rows[i];
		struct wt_text text = row_label(s, row, label);

		if (row->track) {
			wt_table_row(table);
			wt_table_text(table, text.data, text.bytes);
			wt_table_text(table, row->is_queue ? "queue" : "thread",
				      row->is_queue ? 5 : 6);
			wt_table_count(table, row->stream);
			wt_table_count(table, row->track);
			wt_table_count(table, row->count);
			wt_table_ns(table, (int64_t)row->busy.busy_ns);
			wt_table_number(table,
					row->is_queue
						? percent(row->busy.busy_ns, w->device_from_ns,
							  w->device_to_ns)
						: percent(row->busy.busy_ns, w->from_ns, w->to_ns));
		}
		add_series(s, result, row, w);
	}
}

static void add_devices(const struct state *s, struct wt_result *result, const struct window *w)
{
	struct wt_table *table = wt_result_table(result, "devices", "devices");

	wt_table_column(table, "device", "device", WT_CELL_ID);
	wt_table_column(table, "operations", "operations", WT_CELL_COUNT);
	wt_table_column(table, "busy_ns", "busy", WT_CELL_NS);
	wt_table_column(table, "utilisation", "utilisation", WT_CELL_PERCENT);
	wt_table_column(table, "concurrency_max", "most at once", WT_CELL_COUNT);
	wt_table_column(table, "concurrency_max_at_ns", "first at", WT_CELL_NS);
	for (size_t i = 0; i < s->row_count; i++) {
		const struct row *row = &s->rows[i];

		if (row->track)
			continue;
		wt_table_row(table);
		wt_table_count(table, row->device);
		wt_table_count(table, row->count);
		wt_table_ns(table, (int64_t)row->busy.busy_ns);
		wt_table_number(table,
				percent(row->busy.busy_ns, w->device_from_ns, w->device_to_ns));
		wt_table_count(table, (uint64_t)row->concurrency->max);
		wt_table_ns(table, row->concurrency->max_at_ns);
	}
}

static void add_facts(const struct state *s, struct wt_result *result, const struct window *w)
{
	wt_result_fact_count(result, "window_from_ns", "from", WT_CELL_NS, (uint64_t)w->from_ns);
	wt_result_fact_count(result, "window_to_ns", "to", WT_CELL_NS, (uint64_t)w->to_ns);
	if (!s->op_count)
		return;
	wt_result_fact_count(result, "device_window_from_ns", "", WT_CELL_NS,
			     (uint64_t)w->device_from_ns);
	wt_result_fact_count(result, "device_window_to_ns", "", WT_CELL_NS,
			     (uint64_t)w->device_to_ns);
	wt_result_fact_count(result, "concurrency_max", "most at once", WT_CELL_COUNT,
			     (uint64_t)s->all.max);
	wt_result_fact_count(result, "concurrency_max_at_ns", "first at", WT_CELL_NS,
			     (uint64_t)s->all.max_at_ns);
}

static void add_notes(const struct state *s, struct wt_result *result)
{
	uint64_t clipped_count = 0;

	for (size_t i = 0; i < s->row_count; i++)
		clipped_count += s->rows[i].busy.clipped_count;
	if (s->lost_count)
		wt_result_note(result,
			       "%llu events were lost: tracks may seem less busy than they were",
			       (unsigned long long)s->lost_count);
	if (clipped_count)
		wt_result_note(result,
			       "%llu intervals came too late to be counted in full: "
			       "utilisation is a lower bound",
			       (unsigned long long)clipped_count);
	if (s->all.late_count)
		wt_result_note(result,
			       "%llu operations came too late to be put in order: the most "
			       "at once is a lower bound",
			       (unsigned long long)s->all.late_count);
	if (s->left_out_count)
		wt_result_note(result, "too many tracks: %llu intervals are not shown",
			       (unsigned long long)s->left_out_count);
	if (s->reversed_count)
		wt_result_note(result, "%llu device operations end before they start: left out",
			       (unsigned long long)s->reversed_count);
	if (s->timeless_count)
		wt_result_note(result, "%llu device operations have no times: left out",
			       (unsigned long long)s->timeless_count);
}

static void note_empty(const struct state *s, struct wt_result *result)
{
	bool before = s->before_ns != INT64_MIN, after = s->after_ns != INT64_MAX;
	char from[16], to[16];

	if (!before && !after) {
		wt_result_note(result, "nothing to draw: no spans, calls or device operations");
		return;
	}
	wti_format_ns(from, s->before_ns);
	wti_format_ns(to, s->after_ns);
	wt_result_note(result,
		       "nothing to draw in this window: no span, call or device operation; the "
		       "nearest %s%s%s%s%s",
		       before ? "before it ends at " : "", before ? from : "",
		       before && after ? ", the nearest " : "", after ? "after it begins at " : "",
		       after ? to : "");
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	struct window w;
	int r = close_open(s, err);

	if (r)
		return r;
	wti_concurrency_finish(&s->all);
	for (size_t i = 0; i < s->row_count; i++) {
		wti_busy_settle(&s->rows[i].busy);
		if (s->rows[i].concurrency)
			wti_concurrency_finish(s->rows[i].concurrency);
	}
	if (s->row_count) {
		qsort(s->rows, s->row_count, sizeof(*s->rows), by_place);
		w = find_window(s);
		add_facts(s, result, &w);
		add_tracks(s, result, &w);
		add_devices(s, result, &w);
	} else {
		wt_result_set_status(result, "not_measured");
		note_empty(s, result);
	}
	add_notes(s, result);
	return 0;
}

const struct wt_inspector wti_inspector_timeline = {
	.name = "timeline",
	.summary = "which tracks were busy when",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
