/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `view`: events one by one, as text, JSON or CSV, of a run that is over or goes on. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/text.h"
#include "runs/finder.h"
#include "runs/open.h"
#include "cli/front.h"
#include "cli/report.h"
#include "select.h"
#include "show/event.h"
#include "show/source.h"
#include "cli/verb.h"

#define TAIL_MAX 1000000u
#define BUFFER_BYTES (64u << 10)
#define LINE_MAX_BYTES (256u << 20)
#define POLL_NS 250000000

struct view_options {
	struct wti_wanted_events events;
	struct wti_time_window window;
	uint64_t head;
	uint64_t tail;
	bool all;
	bool follow;
	bool csv;
	bool jsonl;
	bool json;
};

static const struct view_options defaults = {.window = WTI_WHOLE_RUN};

struct view {
	const struct view_options *options;
	struct wti_opened_run opened;
	struct wti_select select;
	const struct wt_kind *csv_kind;
	struct wti_style style;
	struct wti_buf out;
	uint64_t count;
	struct wti_buf *last; /* ring of the last `tail` events, rendered */
	bool failed;          /* standard output is gone */
	bool hides_own;
	struct wti_finder *finder;
	struct wti_sources sources;
};

/* ---- What is asked for ----------------------------------------------------------------------- */

/* A page of text is for a person, who looks for the program's events; machines get all of them. */
static bool hides_own(const struct view_options *o)
{
	return !o->all && !o->events.kinds.count && !o->events.track && !o->csv && !o->json &&
	       !o->jsonl;
}

/* What the recorder writes for the readers of the trace: it says nothing about the program. */
static bool is_own(const struct wt_event *event)
{
	return event->kind->number == WT_KIND_WATERMARK || event->kind->number == WT_KIND_CLOCK;
}

static bool is_wanted(const struct view *v, const struct wt_event *event)
{
	return !v->hides_own || !is_own(event);
}

static int ask(struct view *v, struct wt_err *err)
{
	const struct view_options *o = v->options;

	if (o->head && o->tail)
		return wti_err(err, WT_E_ARG, "--head and --tail cannot be combined");
	if (o->tail && o->follow)
		return wti_err(err, WT_E_ARG, "--tail and --follow cannot be combined");
	if (o->csv + o->json + o->jsonl > 1)
		return wti_err(err, WT_E_ARG, "--json, --jsonl and --csv cannot be combined");
	if (o->tail > TAIL_MAX)
		return wti_err(err, WT_E_ARG, "--tail takes at most %u", TAIL_MAX);
	v->hides_own = hides_own(o);
	return wti_select(&v->select, &o->window, &o->events, v->opened.trace, err);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void flush(struct view *v)
{
	/* On a pipe an event is a line, whatever COLUMNS says: it ends in grep and awk. */
	bool is_text = !v->options->csv && !v->options->json && !v->options->jsonl;

	if (!v->out.bytes && !wti_buf_status(&v->out))
		return;
	if (!(is_text ? wti_print_lines(&v->out, wti_terminal_columns()) : wti_print_buf(&v->out)))
		v->failed = true;
}

static void render(struct view *v, struct wti_buf *out, const struct wt_event *event)
{
	struct wti_json json;

	wti_sources_event(&v->sources, event);
	if (v->options->csv) {
		wti_event_csv(out, event, v->csv_kind, &v->sources);
	} else if (v->options->json || v->options->jsonl) {
		wti_json_init(&json, out, false);
		wti_event_json(&json, event, &v->sources);
		if (v->options->jsonl)
			wti_buf_byte(out, '\n');
	} else {
		wti_event_line(out, event, &v->style, &v->sources);
	}
}

static void write_event(struct view *v, const struct wt_event *event)
{
	if (v->options->json)
		wti_buf_text(&v->out, v->count ? ",\n" : "\n");
	render(v, &v->out, event);
	v->count++;
	if (v->out.bytes >= BUFFER_BYTES)
		flush(v);
}

/* All events of one kind have their fields as columns. The schema is that of the first stream. */
static void write_head(struct view *v)
{
	if (v->options->json)
		wti_buf_text(&v->out, "{\"verb\": \"view\", \"events\": [");
	if (!v->options->csv)
		return;
	for (size_t i = 0; i < wt_trace_stream_count(v->opened.trace) && !v->csv_kind; i++) {
		const struct wt_reader *reader = wt_trace_stream(v->opened.trace, i);

		for (size_t j = 0; j < wt_reader_kind_count(reader); j++) {
			if (v->select.query.kind_count == 1 &&
			    !strcmp(wt_reader_kind_at(reader, j)->name, v->select.kinds[0]))
				v->csv_kind = wt_reader_kind_at(reader, j);
		}
	}
	wti_event_csv_head(&v->out, v->csv_kind);
}

static void write_foot(struct view *v, const struct wt_result *notes, bool whole)
{
	struct wti_json json;

	if (!v->options->json)
		return;
	wti_buf_printf(&v->out, "\n], \"status\": \"%s\", \"count\": %llu, \"notes\": ",
		       whole ? "clean" : "damaged", (unsigned long long)v->count);
	wti_json_init(&json, &v->out, false);
	wti_json_array(&json);
	for (size_t i = 0; i < notes->note_count; i++)
		wti_json_text(&json, notes->notes[i]);
	wti_json_array_end(&json);
	wti_buf_text(&v->out, "}\n");
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_enough(const struct view *v)
{
	return v->failed || (v->options->head && v->count >= v->options->head);
}

static int show_all(struct view *v, struct wt_err *err)
{
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wt_cursor_open(v->opened.trace, &v->select.query, &cursor, err);

	if (r)
		return r;
	while (!is_enough(v) && (r = wt_cursor_next(cursor, &event, err)) > 0)
		if (is_wanted(v, &event))
			write_event(v, &event);
	wt_cursor_free(cursor);
	return r < 0 ? r : 0;
}

/* Fills the ring with the last events from `from_ns` on; how many there were, or an error. */
static int64_t fill_ring(struct view *v, int64_t from_ns, struct wt_err *err)
{
	struct wt_query query = v->select.query;
	struct wt_cursor *cursor;
	struct wt_event event;
	int64_t count = 0;
	int r;

	if (from_ns > query.from_ns)
		query.from_ns = from_ns;
	wti_sources_again(&v->sources);
	r = wt_cursor_open(v->opened.trace, &query, &cursor, err);
	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, err)) > 0) {
		struct wti_buf *slot = &v->last[count % (int64_t)v->options->tail];

		if (!is_wanted(v, &event))
			continue;
		count++;
		wti_buf_clear(slot);
		render(v, slot, &event);
	}
	wt_cursor_free(cursor);
	return r < 0 ? r : count;
}

/* Begins near the end and goes back only if the filters let too little through. */
static int show_tail(struct view *v, struct wt_err *err)
{
	uint64_t tail = v->options->tail, want = tail;
	int64_t from_ns, count;

	v->last = calloc(tail, sizeof(*v->last));
	if (!v->last)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (uint64_t i = 0; i < tail; i++)
		wti_buf_init(&v->last[i], LINE_MAX_BYTES);
	do {
		/* A window that ends early is not found from the end of the trace. */
		from_ns = v->options->window.to_ns == INT64_MAX
				  ? wti_select_tail(&v->select, v->opened.trace, want)
				  : INT64_MIN;
		count = fill_ring(v, from_ns, err);
		want *= 16;
	} while (count >= 0 && (uint64_t)count < tail && from_ns != INT64_MIN);
	if (count < 0)
		return (int)count;
	for (uint64_t i = (uint64_t)count > tail ? (uint64_t)count - tail : 0; i < (uint64_t)count;
	     i++) {
		const struct wti_buf *line = &v->last[i % tail];

		if (v->options->json)
			wti_buf_text(&v->out, v->count ? ",\n" : "\n");
		wti_buf_append(&v->out, line->data, line->bytes);
		v->count++;
		if (v->out.bytes >= BUFFER_BYTES)
			flush(v);
	}
	return 0;
}

/* The latest moment of which the recorder says that nothing before it can still arrive. */
static int64_t watermark(const struct wt_trace *trace, int64_t from_ns)
{
	static const char *const kinds[] = {"watermark"};
	struct wt_cursor *cursor;
	struct wt_query query;
	struct wt_event event;
	int64_t latest_ns = INT64_MIN;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = 1;
	query.from_ns = from_ns;
	if (wt_cursor_open(trace, &query, &cursor, NULL))
		return INT64_MIN;
	while (wt_cursor_next(cursor, &event, NULL) > 0) {
		int64_t below = wt_trace_ns(trace, event.stream,
					    wt_event_u64(&event, WT_WATERMARK_FIELD_BELOW));

		latest_ns = below > latest_ns ? below : latest_ns;
	}
	wt_cursor_free(cursor);
	return latest_ns;
}

static bool goes_on(struct view *v)
{
	struct wti_run again;
	bool running;

	if (wti_run_find_path(v->opened.run.path, &again, NULL))
		return false;
	running = !strcmp(again.status, "running");
	wti_run_release(&again);
	return running;
}

/*
 * Windows that touch, up to the watermark, so that each event is shown once and in order. The
 * watermark used is the one before: whatever lies below it has reached the files by now.
 */
static int follow(struct view *v, struct wt_err *err)
{
	const struct timespec pause = {0, POLL_NS};
	int64_t end_ns = v->options->window.to_ns;
	int64_t safe_ns = INT64_MIN;
	bool more = true;
	int r = 0;

	while (more && !r && !is_enough(v)) {
		int64_t to_ns;

		more = goes_on(v);
		r = wt_trace_refresh(v->opened.trace, err);
		r = r < 0 ? r : 0;
		to_ns = more && safe_ns < end_ns ? safe_ns : end_ns;
		if (!r && to_ns > v->select.query.from_ns) {
			v->select.query.to_ns = to_ns;
			r = show_all(v, err);
			v->select.query.from_ns = to_ns;
			flush(v);
		}
		if (to_ns == end_ns && end_ns != INT64_MAX)
			break;
		if (more)
			safe_ns = watermark(v->opened.trace, safe_ns);
		if (more)
			nanosleep(&pause, NULL);
	}
	return r;
}

static void note_error(struct wt_result *notes, const struct wt_err *err)
{
	if (err->offset >= 0 && !strstr(err->message, "byte "))
		wt_result_note(notes, "%s (byte %lld)", err->message, (long long)err->offset);
	else
		wt_result_note(notes, "%s", err->message);
}

/* Where a step or an epoch was asked for that the run does not have, which ones it has. */
static void warn_nothing(const struct view *v)
{
	const struct wti_wanted_events *events = &v->options->events;
	const char *key = events->step ? "step" : events->epoch ? "epoch" : NULL;
	int64_t first, last;

	if (!key)
		wti_warn("no event of this run matches; `wheeltap info` lists its contents");
	else if (wti_select_bounds(v->opened.trace, key, &first, &last))
		wti_warn("no event of this run matches; it has %ss %lld to %lld", key,
			 (long long)first, (long long)last);
	else
		wti_warn("no event of this run matches; it has set no %s", key);
}

static int show(struct view *v)
{
	struct wt_result notes;
	struct wt_err err = {.offset = -1};
	bool whole;
	int r;

	wti_buf_init(&v->out, LINE_MAX_BYTES);
	v->finder = wti_finder_new(); /* without, stacks stay numbers */
	wti_sources_init(&v->sources, v->finder ? wti_finder_native(v->finder) : NULL);
	v->style = wti_style_stdout();
	wt_result_init(&notes, "view");
	write_head(v);
	if (v->options->tail)
		r = show_tail(v, &err);
	else if (v->options->follow)
		r = follow(v, &err);
	else
		r = show_all(v, &err);
	if (r < 0)
		note_error(&notes, &err);
	wti_note_damage(&v->opened, &notes);
	/* Without memory there may be no note of what went wrong. */
	whole = r >= 0 && !notes.note_count && !wt_result_status(&notes);
	if (v->finder)
		wti_finder_note(v->finder, &notes);
	write_foot(v, &notes, whole);
	if (!v->count && whole && !v->options->json && !v->options->jsonl && !v->options->csv)
		warn_nothing(v);
	flush(v);
	wti_report_notes(&notes);
	if (!whole && !notes.note_count && !v->failed)
		wti_warn("out of memory");
	r = v->failed ? WTI_EXIT_ENVIRONMENT : whole ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE;
	wt_result_release(&notes);
	return r;
}

static void release(struct view *v)
{
	for (uint64_t i = 0; v->last && i < v->options->tail; i++)
		wti_buf_release(&v->last[i]);
	free(v->last);
	wti_select_release(&v->select);
	wti_buf_release(&v->out);
	wti_sources_release(&v->sources);
	wti_finder_free(v->finder);
	wti_close(&v->opened);
}

/* A recording that has just begun has no stream yet: who follows waits for the first. */
static int open_run(struct view *v, const char *word, struct wt_err *err)
{
	const struct timespec pause = {0, POLL_NS};
	struct wti_front front = wti_front_here(NULL);
	struct wti_run run;
	bool begins = v->options->follow;
	int r;

	while ((r = wti_open(&front, word, &v->opened, err)) && begins) {
		if (r == WT_E_NOMEM || wti_run_find(&front, word, &run, NULL))
			break;
		begins = !strcmp(run.status, "running");
		wti_run_release(&run);
		nanosleep(&pause, NULL);
	}
	return r;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	struct view v = {.options = opaque};
	struct wt_err err = {.offset = -1};
	int code;

	if (open_run(&v, count ? arguments[0] : NULL, &err))
		return wti_report_error("view", v.options->json, &err);
	if (ask(&v, &err))
		code = wti_report_error("view", v.options->json, &err);
	else
		code = show(&v);
	release(&v);
	return code;
}

#define AT(member) offsetof(struct view_options, member)

static const struct wti_option options[] = {
	WTI_OPTIONS_EVENTS(struct view_options),
	WTI_OPTIONS_WINDOW(struct view_options,
			   "only from this time of the run on, such as 1.5s or 20ms",
			   "only before this time of the run"),
	WTI_OPTIONS_CONTEXT(struct view_options),
	{"limit", 'n', WTI_OPT_COUNT, "N", NULL, "stop after N events", AT(head)},
	{"head", 0, WTI_OPT_COUNT, "N", NULL, "the same as --limit", AT(head)},
	{"tail", 0, WTI_OPT_COUNT, "N", NULL, "only the last N events", AT(tail)},
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL,
	 "in text, also show the recorder's own events (kinds clock and watermark)", AT(all)},
	{"follow", 'f', WTI_OPT_FLAG, NULL, NULL, "keep printing new events until the run ends",
	 AT(follow)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print CSV; with a single --kind its fields are columns, otherwise one JSON object",
	 AT(csv)},
	{"jsonl", 0, WTI_OPT_FLAG, NULL, NULL, "print one JSON object per line, one for each event",
	 AT(jsonl)},
	{"json", 0, WTI_OPT_FLAG, NULL, NULL, "print one JSON object with all events, one per line",
	 AT(json)},
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_view = {
	.name = "view",
	.arguments = "[RUN]",
	.summary = "show the events one by one",
	.description = "Prints the events of a run in their order: time since the start of the run "
		       "in seconds, track, kind, name, fields. Enumerations are shown by name, "
		       "hashes in hexadecimal, time stamps as times of the run; text output leaves "
		       "out empty fields, and the recorder's own events unless --all, --kind or "
		       "--track selects them; JSON and CSV have all events.\n\n"
		       "An event must match all filters. Times are those of the run: --from 2s is "
		       "two seconds after its start. A track that does not set its own step or "
		       "stage, such as a device queue, has that of its process.\n\n"
		       "--follow shows the events of a run that is being recorded as soon as no "
		       "earlier event can arrive, and ends with the run.",
	.examples =
		"wheeltap view --kind counter --name loss\tthe loss\n"
		"wheeltap view --step 12 --stage train\tall of one step; --step 3-5 is a range\n"
		"wheeltap view --follow --kind log\tlog lines of the program, live",
	.options = options,
	.options_bytes = sizeof(struct view_options),
	.arguments_max = 1,
	.group = "look",
	.run = run,
	.defaults = &defaults,
};
