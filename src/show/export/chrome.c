/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace events as JSON, for chrome://tracing, ui.perfetto.dev and whatever reads what
 * profilers of frameworks write.
 *
 * The format knows processes with threads in them, and no more. So each device of a process is
 * shown as a process of its own with its queues as threads, and what stands beside a thread (its
 * context, its system calls) as further threads. Their numbers begin at ROWS_FROM, above those of
 * real processes and threads.
 */
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "export.h"
#include "put.h"
#include "show/headings.h"
#include "timeline.h"

#define ROWS_FROM 1000000000u
#define SCRATCH_MAX ((size_t)1 << 26)

struct chrome {
	struct wti_export *export;
	struct wti_timeline timeline;
	struct wti_buf *out;
	struct wti_buf scratch;
	bool some; /* an event stands before the next */
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct wti_row *row_at(const struct chrome *chrome, uint32_t id)
{
	return &chrome->timeline.rows[id - 1];
}

static uint32_t pid_of(const struct chrome *chrome, const struct wti_row *row)
{
	const struct wti_row *above = row;

	while (above->type != WTI_ROW_DEVICE && above->parent)
		above = row_at(chrome, above->parent);
	return above->type == WTI_ROW_DEVICE ? ROWS_FROM + above->id : row->pid;
}

static uint32_t tid_of(const struct wti_row *row)
{
	return row->type == WTI_ROW_THREAD ? row->tid : ROWS_FROM + row->id;
}

/* Up to and with the place of an event: {"ph":"X","pid":1,"tid":2 */
static void open_event(struct chrome *chrome, char phase, const struct wti_row *row)
{
	struct wti_buf *out = chrome->out;

	wti_put(out, ",\n" + !chrome->some, chrome->some ? 2u : 1u);
	chrome->some = true;
	WTI_PUT(out, "{\"ph\":\"");
	wti_put(out, &phase, 1);
	WTI_PUT(out, "\",\"pid\":");
	wti_put_u64(out, pid_of(chrome, row));
	WTI_PUT(out, ",\"tid\":");
	wti_put_u64(out,
		    row->type == WTI_ROW_PROCESS || row->type == WTI_ROW_DEVICE ? 0 : tid_of(row));
}

static void name_row(struct chrome *chrome, const struct wti_row *row, struct wt_text what,
		     struct wt_text before)
{
	struct wti_buf *out = chrome->out;

	open_event(chrome, 'M', row);
	WTI_PUT(out, ",\"name\":");
	wti_put_json_text(out, what);
	WTI_PUT(out, ",\"args\":{\"name\":\"");
	wti_json_escape(out, before.data, before.bytes);
	if (before.bytes)
		WTI_PUT(out, ": ");
	wti_json_escape(out, row->name.data, row->name.bytes);
	WTI_PUT(out, "\"}}");
}

static void sort_row(struct chrome *chrome, const struct wti_row *row, struct wt_text what)
{
	open_event(chrome, 'M', row);
	WTI_PUT(chrome->out, ",\"name\":");
	wti_put_json_text(chrome->out, what);
	WTI_PUT(chrome->out, ",\"args\":{\"sort_index\":");
	wti_put_u64(chrome->out, row->id);
	WTI_PUT(chrome->out, "}}");
}

static void put_row(void *opaque, const struct wti_row *row)
{
	static const struct wt_text process = {"process_name", 12};
	static const struct wt_text process_order = {"process_sort_index", 18};
	static const struct wt_text thread = {"thread_name", 11};
	static const struct wt_text thread_order = {"thread_sort_index", 17};
	struct wt_text before = {"", 0};
	struct chrome *chrome = opaque;

	if (row->type == WTI_ROW_COUNTER)
		return; /* named by its values */
	if (row->parent && row_at(chrome, row->parent)->type != WTI_ROW_DEVICE &&
	    (row->type == WTI_ROW_DEVICE || row_at(chrome, row->parent)->type != WTI_ROW_PROCESS))
		before = row_at(chrome, row->parent)->name;
	if (row->type == WTI_ROW_PROCESS || row->type == WTI_ROW_DEVICE) {
		name_row(chrome, row, process, before);
		sort_row(chrome, row, process_order);
	} else {
		name_row(chrome, row, thread, before);
		sort_row(chrome, row, thread_order);
	}
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static void put_key(struct wti_buf *out, bool *some, const char *key)
{
	wti_put(out, ",\"" + !*some, *some ? 2u : 1u);
	*some = true;
	wti_json_escape(out, key, strlen(key));
	WTI_PUT(out, "\":");
}

static void put_text(struct wti_buf *out, bool *some, const char *key, struct wt_text text)
{
	if (!text.bytes)
		return;
	put_key(out, some, key);
	wti_put_json_text(out, text);
}

static void put_fields(struct chrome *chrome, const struct wt_event *event, bool *some)
{
	bool twice = wti_headings_twice(event->kind);
	struct wti_headings headings;

	if (twice)
		wti_headings_init(&headings, event->kind, WTI_HEADINGS_KEYS, NULL);
	for (int i = 0; i < event->kind->field_count; i++) {
		struct wti_shown value;

		if (!wti_field_shown(event, i))
			continue;
		wti_value_of(&value, event, i, &chrome->scratch, chrome->export->sources);
		if (value.type == WTI_SHOWN_ABSENT)
			continue;
		put_key(chrome->out, some,
			twice && !wti_headings_status(&headings) ? wti_headings_name(&headings, i)
								 : event->kind->fields[i].name);
		wti_put_json(chrome->out, &value);
	}
	if (twice) {
		wti_buf_inherit(chrome->out, &headings.text);
		wti_headings_release(&headings);
	}
}

static void put_arguments(struct chrome *chrome, const struct wti_slice *slice)
{
	struct wti_buf *out = chrome->out;
	bool some = false;

	WTI_PUT(out, ",\"args\":{");
	if (slice->event)
		put_fields(chrome, slice->event, &some);
	if (slice->module)
		put_text(out, &some, "module", wt_reader_string(slice->reader, slice->module));
	if (slice->site)
		put_text(out, &some, "site",
			 wti_site_text(slice->reader, slice->site, &chrome->scratch));
	if (slice->exception)
		put_text(out, &some, "exception",
			 wt_reader_string(slice->reader, slice->exception));
	if (slice->unfinished) {
		put_key(out, &some, "unfinished");
		WTI_PUT(out, "true");
	}
	WTI_PUT(out, "}");
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void put_head(struct chrome *chrome, const struct wti_slice *slice)
{
	const char *category = wti_category_name(slice->category);
	struct wt_text name = slice->name.text;
	struct wti_buf *out = chrome->out;

	if (slice->name.id)
		name = wt_reader_string(slice->reader, slice->name.id);
	WTI_PUT(out, ",\"cat\":\"");
	wti_put(out, category, strlen(category));
	WTI_PUT(out, "\",\"name\":");
	wti_put_json_text(out, name);
	WTI_PUT(out, ",\"ts\":");
	wti_put_us(out, slice->begin_ns);
}

/* An arrow is two events; each belongs to the slice of its row that is there at its time. */
static void put_flow(struct chrome *chrome, char phase, const struct wti_row *row, int64_t time_ns,
		     const struct wti_flow *flow)
{
	const struct wt_field *type = &wt_kind_builtin(WT_KIND_EDGE)->fields[WT_EDGE_FIELD_TYPE];
	const char *name = flow->type < type->enum_count ? type->enum_names[flow->type] : "edge";
	struct wti_buf *out = chrome->out;

	open_event(chrome, phase, row);
	WTI_PUT(out, ",\"cat\":\"edge\",\"name\":\"");
	wti_put(out, name, strlen(name));
	WTI_PUT(out, "\",\"id\":");
	wti_put_u64(out, flow->id);
	WTI_PUT(out, ",\"ts\":");
	wti_put_us(out, time_ns);
	if (phase == 'f')
		WTI_PUT(out, ",\"bp\":\"e\"");
	WTI_PUT(out, "}");
}

static void put_flows(struct chrome *chrome, const struct wti_slice *slice)
{
	const struct wti_row *row = row_at(chrome, slice->row);

	for (uint32_t i = 0; i < slice->out_count; i++)
		put_flow(chrome, 's', row, slice->begin_ns, &slice->out[i]);
	for (uint32_t i = 0; i < slice->in_count; i++)
		put_flow(chrome, 'f', row, slice->begin_ns, &slice->in[i]);
}

static void put_begin(void *chrome, const struct wti_slice *slice)
{
	put_flows(chrome, slice); /* the slice itself is written whole, when its end is known */
}

static void put_end(void *opaque, const struct wti_slice *slice)
{
	struct chrome *chrome = opaque;
	int64_t length;

	if (__builtin_sub_overflow(slice->end_ns, slice->begin_ns, &length))
		length = INT64_MAX; /* of a damaged trace */
	open_event(chrome, 'X', row_at(chrome, slice->row));
	put_head(chrome, slice);
	WTI_PUT(chrome->out, ",\"dur\":");
	wti_put_us(chrome->out, length);
	put_arguments(chrome, slice);
	WTI_PUT(chrome->out, "}");
}

static void put_instant(void *opaque, const struct wti_slice *slice)
{
	struct chrome *chrome = opaque;
	bool arrows = slice->out_count || slice->in_count;

	open_event(chrome, arrows ? 'X' : 'i', row_at(chrome, slice->row));
	put_head(chrome, slice);
	if (arrows) /* which need a slice */
		WTI_PUT(chrome->out, ",\"dur\":0.000");
	else
		WTI_PUT(chrome->out, ",\"s\":\"t\"");
	put_arguments(chrome, slice);
	WTI_PUT(chrome->out, "}");
	put_flows(chrome, slice);
}

static void put_counter(void *opaque, uint32_t id, int64_t time_ns, double value)
{
	struct chrome *chrome = opaque;
	const struct wti_row *row = row_at(chrome, id);
	struct wti_buf *out = chrome->out;

	open_event(chrome, 'C', row_at(chrome, row->parent));
	WTI_PUT(out, ",\"name\":");
	wti_put_json_text(out, row->name);
	WTI_PUT(out, ",\"ts\":");
	wti_put_us(out, time_ns);
	WTI_PUT(out, ",\"args\":{");
	wti_put_json_text(out, row->unit.bytes ? row->unit : (struct wt_text){"value", 5});
	WTI_PUT(out, ":");
	wti_put_f64(out, value);
	WTI_PUT(out, "}}");
}

static const struct wti_timeline_target target = {
	.row = put_row,
	.begin = put_begin,
	.end = put_end,
	.instant = put_instant,
	.counter = put_counter,
};

/* ---- The exporter ---------------------------------------------------------------------------- */

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct chrome *chrome = state;
	int64_t realtime_ns = wt_trace_start_realtime_ns(export->trace);

	chrome->export = export;
	chrome->out = &export->sink->buf;
	wti_buf_init(&chrome->scratch, SCRATCH_MAX);
	WTI_PUT(chrome->out,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made_by\":\"wheeltap " WTI_VERSION
		"\",\"start_realtime_ns\":\"");
	wti_put_i64(chrome->out, realtime_ns);
	WTI_PUT(chrome->out, "\"},\n\"traceEvents\":[");
	return wti_timeline_init(&chrome->timeline, export, &target, chrome, err);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct chrome *chrome = state;

	return wti_timeline_event(&chrome->timeline, event, err);
}

static int finish(void *state, struct wt_err *err)
{
	struct chrome *chrome = state;
	int status = wti_timeline_finish(&chrome->timeline, err);

	WTI_PUT(chrome->out, "\n]}\n");
	return status;
}

static void release(void *state)
{
	struct chrome *chrome = state;

	if (chrome->timeline.export)
		wti_timeline_release(&chrome->timeline);
	wti_buf_release(&chrome->scratch);
}

const struct wti_exporter wti_exporter_chrome = {
	.name = "chrome",
	.extension = "json",
	.summary = "Chrome trace events as JSON, for chrome://tracing and many others",
	.streams = true,
	.state_bytes = sizeof(struct chrome),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
