/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `info`: what is in a trace. Counts come from the heads of the blocks; only the
 * track column is decoded, and that only where a block's head does not say whose rows it has.
 * Events are read for losses, context and what the recorder had to say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/buf.h"
#include "base/grow.h"
#include "info_place.h"
#include "info_tables.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/label.h"
#include "inspect/core/missing.h"
#include "inspect/core/roles.h"
#include "inspect/core/spans.h"
#include "inspect/core/steps.h"
#include "trace/query.h"

#define KINDS_MAX 65536u
#define TRACKS_MAX (1u << 20)
#define OPEN_SHOWN 100u
#define NOTES_SHOWN 20u
#define COMMANDS_SHOWN 3u
#define NAMES_MAX 4096u
#define LOST_REASONS 32u

struct kind_count {
	const struct wt_kind *kind;
	uint64_t events;
	uint64_t bytes;
};

struct lost_count {
	uint64_t events;
	uint64_t records;
	int64_t from_ns, to_ns;
};

struct state {
	const struct wt_trace *trace;
	struct wti_map kind_index; /* number: entry plus one */
	struct kind_count *kinds;
	size_t kind_count, kind_capacity;
	struct wti_map track_index;    /* stream and track: count */
	uint64_t unknown_track_events; /* in blocks that cannot be decoded */
	struct lost_count lost[LOST_REASONS];
	struct wt_text lost_names[LOST_REASONS];
	struct wti_symbols symbols; /* of stages */
	struct wti_steps steps;
	struct wti_roles roles;
	struct wti_groups groups;
	struct wti_missing missing;
	struct wti_map not_followed; /* reason and command: how often */
	char *notes[NOTES_SHOWN];
	size_t note_count;
	uint64_t notes_left_out;
	uint64_t span_begins, span_ends;
	int64_t first_ns, last_ns;
	bool any;
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"lost", "context", "not_followed", "note", "setting"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
}

static int count_kind(struct state *s, const struct wt_reader *reader, const struct wt_block *block)
{
	uint64_t *slot = wti_map_number(&s->kind_index, block->kind);

	if (!slot)
		return WT_E_NOMEM;
	if (!*slot) {
		if (wti_grow(&s->kinds, s->kind_count + 1, &s->kind_capacity, KINDS_MAX))
			return WT_E_NOMEM;
		s->kinds[s->kind_count] =
			(struct kind_count){.kind = wt_reader_kind(reader, block->kind)};
		*slot = ++s->kind_count;
	}
	s->kinds[*slot - 1].events += block->rows;
	s->kinds[*slot - 1].bytes += block->bytes;
	if (wti_spans_is_begin(block->kind))
		s->span_begins += block->rows;
	if (wti_spans_is_end(block->kind))
		s->span_ends += block->rows;
	return 0;
}

/* The only track that a block can be of, or 0: ids below 64 have a bit of their own. */
static uint32_t only_track(const struct wt_reader *reader, const struct wt_block *block,
			   bool all_small)
{
	if (!all_small || __builtin_popcountll(block->track_filter) != 1)
		return 0;
	return (uint32_t)__builtin_ctzll(block->track_filter);
}

static bool tracks_are_small(const struct wt_reader *reader)
{
	for (size_t i = 0; i < wt_reader_track_count(reader); i++) {
		if (wt_reader_track_at(reader, i)->id >= 64)
			return false;
	}
	return wt_reader_track_count(reader) > 0;
}

static int count_track(struct state *s, size_t stream, uint64_t track, uint64_t rows)
{
	uint64_t *slot = wti_map_number(&s->track_index, (uint64_t)stream << 32 | (uint32_t)track);

	if (slot)
		*slot += rows;
	else
		s->unknown_track_events += rows;
	return 0;
}

/* Runs of equal tracks are added at once: a block often has few of them. */
static void count_rows(struct state *s, size_t stream, const struct wt_batch *batch)
{
	uint32_t from = 0;

	for (uint32_t i = 1; i <= batch->rows; i++) {
		if (i < batch->rows && batch->track[i] == batch->track[from])
			continue;
		count_track(s, stream, batch->track[from], i - from);
		from = i;
	}
}

static void extend(struct state *s, size_t stream, const struct wt_block *block)
{
	int64_t from = wt_trace_ns(s->trace, stream, block->time_min);
	int64_t to = wt_trace_ns(s->trace, stream, block->time_max);

	s->first_ns = s->any && s->first_ns < from ? s->first_ns : from;
	s->last_ns = s->any && s->last_ns > to ? s->last_ns : to;
	s->any = true;
}

static int count_stream(struct state *s, size_t stream, struct wt_batch *batch)
{
	const struct wt_reader *reader = wt_trace_stream(s->trace, stream);
	bool small = tracks_are_small(reader);

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);
		uint32_t track = only_track(reader, block, small);

		if (count_kind(s, reader, block))
			return WT_E_NOMEM;
		extend(s, stream, block);
		if (track)
			count_track(s, stream, track, block->rows);
		else if (!wt_reader_decode(reader, i, 0, batch, NULL))
			count_rows(s, stream, batch);
		else
			s->unknown_track_events += block->rows;
	}
	return 0;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;
	struct wt_batch batch = {0};
	int r = 0;

	s->trace = trace;
	wti_map_init(&s->kind_index, KINDS_MAX);
	wti_map_init(&s->track_index, TRACKS_MAX);
	wti_map_init(&s->not_followed, 1000);
	wti_symbols_init(&s->symbols);
	wti_steps_init(&s->steps, &s->symbols);
	for (size_t i = 0; i < wt_trace_stream_count(trace) && !r; i++)
		r = count_stream(s, i, &batch);
	wt_batch_release(&batch);
	if (r)
		return wti_err(err, r, "out of memory");
	r = wti_roles_init(&s->roles, trace, err);
	if (!r && wti_groups_init(&s->groups, &s->roles))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	return r;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	free(s->kinds);
	wti_map_release(&s->kind_index);
	wti_map_release(&s->track_index);
	wti_map_release(&s->not_followed);
	wti_steps_release(&s->steps);
	wti_symbols_release(&s->symbols);
	wti_roles_release(&s->roles);
	wti_groups_release(&s->groups);
	wti_missing_release(&s->missing);
	for (size_t i = 0; i < s->note_count; i++)
		free(s->notes[i]);
}

static void take_lost(struct state *s, const struct wt_event *event)
{
	uint64_t reason = wt_event_u64(event, WT_LOST_FIELD_REASON);
	struct lost_count *lost = &s->lost[reason < LOST_REASONS ? reason : LOST_REASONS - 1];
	int64_t from =
		wt_trace_ns(s->trace, event->stream, wt_event_u64(event, WT_LOST_FIELD_FROM));
	int64_t to = wt_trace_ns(s->trace, event->stream, wt_event_u64(event, WT_LOST_FIELD_TO));

	lost->from_ns = lost->records && lost->from_ns < from ? lost->from_ns : from;
	lost->to_ns = lost->records && lost->to_ns > to ? lost->to_ns : to;
	lost->events += wt_event_u64(event, WT_LOST_FIELD_COUNT);
	lost->records++;
	s->lost_names[lost - s->lost] = wt_event_text(event, WT_LOST_FIELD_REASON);
}

static void take_note(struct state *s, const struct wt_event *event)
{
	struct wt_text text = wt_event_text(event, WT_NOTE_FIELD_TEXT);
	size_t bytes;
	char *copy;

	if (s->note_count >= NOTES_SHOWN) {
		s->notes_left_out++;
		return;
	}
	bytes = text.bytes < 500 ? text.bytes : 500;
	copy = calloc(1, bytes + 1);
	if (!copy)
		return;
	memcpy(copy, text.data, bytes);
	s->notes[s->note_count++] = copy;
}

static void take_not_followed(struct state *s, const struct wt_event *event)
{
	struct wt_text command = wt_event_text(event, WT_NOT_FOLLOWED_FIELD_COMMAND);
	struct wt_text reason = wt_event_text(event, WT_NOT_FOLLOWED_FIELD_REASON);
	char key[600];
	int bytes = snprintf(key, sizeof(key), "%.*s%c%.*s",
			     (int)(reason.bytes < 63 ? reason.bytes : 63), reason.data, '\n',
			     (int)(command.bytes < 500 ? command.bytes : 500), command.data);
	uint64_t *slot = wti_map_text(&s->not_followed, key, (size_t)bytes);

	if (slot)
		(*slot)++;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	switch (event->kind->number) {
	case WT_KIND_SETTING:
		wti_missing_take(&s->missing, event);
		return 0;
	case WT_KIND_LOST:
		take_lost(s, event);
		return 0;
	case WT_KIND_NOTE:
		take_note(s, event);
		return 0;
	case WT_KIND_NOT_FOLLOWED:
		take_not_followed(s, event);
		return 0;
	case WT_KIND_CONTEXT:
		return wti_steps_event(&s->steps, event, err);
	default:
		return 0;
	}
}

static int by_events(const void *a, const void *b)
{
	const struct kind_count *x = a, *y = b;

	return x->events < y->events ? 1 : x->events > y->events ? -1 : 0;
}

static void kinds_table(const struct state *s, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "kinds", "by kind");

	wt_table_column(table, "kind", "kind", WT_CELL_TEXT);
	wt_table_column(table, "events", "events", WT_CELL_COUNT);
	wt_table_column(table, "bytes", "bytes", WT_CELL_BYTES);
	wt_table_column(table, "bytes_per_event", "bytes/event", WT_CELL_NUMBER);
	for (size_t i = 0; i < s->kind_count; i++) {
		const struct kind_count *k = &s->kinds[i];
		const char *name = k->kind ? k->kind->name : "?";

		wt_table_row(table);
		wt_table_text(table, name, strlen(name));
		wt_table_count(table, k->events);
		wt_table_count(table, k->bytes);
		if (k->events)
			wt_table_number(table, (double)k->bytes / (double)k->events);
	}
}

static void lost_table(const struct state *s, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "lost", "lost");

	wt_table_column(table, "reason", "reason", WT_CELL_TEXT);
	wt_table_column(table, "events", "events", WT_CELL_COUNT);
	wt_table_column(table, "from_ns", "from", WT_CELL_NS);
	wt_table_column(table, "to_ns", "to", WT_CELL_NS);
	for (size_t i = 0; i < LOST_REASONS; i++) {
		if (!s->lost[i].records)
			continue;
		wt_table_row(table);
		wt_table_text(table, s->lost_names[i].data, s->lost_names[i].bytes);
		wt_table_count(table, s->lost[i].events);
		wt_table_ns(table, s->lost[i].from_ns);
		wt_table_ns(table, s->lost[i].to_ns);
	}
}

static int match_spans(const struct state *s, struct wti_spans *spans, struct wt_err *err)
{
	static const char *const kinds[] = {"span_begin", "span_end",       "call_begin",
					    "call_end",   "operator_begin", "operator_end",
					    NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	struct wti_span closed;
	int r = wti_cursor_of(s->trace, kinds, NULL, 1, &cursor, err);

	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, err)) > 0) {
		if (wti_spans_is_begin(event.kind->number))
			r = wti_spans_begin(spans, &event, 0, err);
		else
			r = wti_spans_end(spans, &event, &closed, err);
		if (r < 0)
			break;
	}
	wt_cursor_free(cursor);
	return r;
}

static void add_open(const struct state *s, struct wt_table *table,
		     const struct wti_span_track *track)
{
	const struct wt_reader *reader = wt_trace_stream(s->trace, track->stream);
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_role_label(label, &s->roles, track->stream, track->track);

	for (size_t i = 0; i < track->open_count && table->row_count < OPEN_SHOWN; i++) {
		struct wt_text name = wt_reader_string(reader, track->open[i].name);

		wt_table_row(table);
		wt_table_text(table, text.data, text.bytes);
		wt_table_text(table, name.data, name.bytes);
		wt_table_count(table, i);
		wt_table_ns(table, track->open[i].begin_ns);
	}
}

/* Where a run that was killed or hangs stood. Equal numbers of begins and ends: nothing is open. */
static int open_table(const struct state *s, struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "open_spans", "still open at the end");
	struct wti_spans spans;
	uint64_t count = 0;
	int r;

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "depth", "depth", WT_CELL_COUNT);
	wt_table_column(table, "since_ns", "since", WT_CELL_NS);
	if (s->span_begins <= s->span_ends)
		return 0;
	wti_spans_init(&spans);
	r = match_spans(s, &spans, err);
	for (size_t i = 0; i < spans.track_count; i++) {
		count += spans.tracks[i].open_count;
		add_open(s, table, &spans.tracks[i]);
	}
	if (count > OPEN_SHOWN)
		wt_result_note(result, "%llu spans are open; %u are shown",
			       (unsigned long long)count, OPEN_SHOWN);
	wti_spans_release(&spans);
	return r;
}

static void add_facts(const struct state *s, struct wt_result *result)
{
	uint64_t events = 0, bytes = 0, lost = 0;

	for (size_t i = 0; i < s->kind_count; i++)
		events += s->kinds[i].events;
	for (size_t i = 0; i < wt_trace_stream_count(s->trace); i++)
		bytes += wt_reader_file_bytes(wt_trace_stream(s->trace, i));
	for (size_t i = 0; i < LOST_REASONS; i++)
		lost += s->lost[i].events;
	wt_result_fact_count(result, "events", "events", WT_CELL_COUNT, events);
	wt_result_fact_count(result, "bytes", "size", WT_CELL_BYTES, bytes);
	if (events)
		wt_result_fact_number(result, "bytes_per_event", "bytes/event", WT_CELL_NUMBER,
				      (double)bytes / (double)events);
	wt_result_fact_count(result, "lost", "lost", WT_CELL_COUNT, lost);
	if (s->any) {
		wt_result_fact_count(result, "first_ns", "first event", WT_CELL_NS,
				     (uint64_t)s->first_ns);
		wt_result_fact_count(result, "last_ns", "last event", WT_CELL_NS,
				     (uint64_t)s->last_ns);
	}
	wt_result_fact_count(result, "clock_error_ns", "clock error", WT_CELL_NS,
			     wt_trace_clock_error_ns(s->trace));
}

/* "12 processes have no agent, and left no events: '/sbin/ldconfig -p' 9 times, 'uname'": of one
 * reason. That there is no agent in helpers of a program is as usual as harmless. */
static void note_reason(const struct state *s, const char *reason, size_t bytes,
			struct wt_result *result)
{
	unsigned long long count = 0;
	struct wti_buf names;
	size_t shown = 0;

	wti_buf_init(&names, NAMES_MAX);
	for (size_t i = 0; i < s->not_followed.count; i++) {
		const struct wti_map_entry *e = &s->not_followed.entries[i];
		const char *newline = memchr(e->text, '\n', e->bytes);

		if ((size_t)(newline - e->text) != bytes || memcmp(e->text, reason, bytes))
			continue;
		count += e->value;
		if (++shown > COMMANDS_SHOWN)
			continue;
		wti_buf_printf(&names, "%s'%s'", shown > 1 ? ", " : "", newline + 1);
		if (e->value > 1)
			wti_buf_printf(&names, " %llu times", (unsigned long long)e->value);
	}
	if (shown > COMMANDS_SHOWN)
		wti_buf_text(&names, ", and others (`wheeltap view --kind not_followed`)");
	if (bytes == strlen("no_agent") && !memcmp(reason, "no_agent", bytes))
		wt_result_note(result, "%llu process%s no agent, and left no events: %s", count,
			       count == 1 ? " has" : "es have", wti_buf_cstr(&names));
	else
		wt_result_note(result, "not followed (%.*s): %llu process%s: %s", (int)bytes,
			       reason, count, count == 1 ? "" : "es", wti_buf_cstr(&names));
	wti_buf_release(&names);
}

/* One note a reason: most are helpers that a program starts by the dozen. */
static void note_not_followed(const struct state *s, struct wt_result *result)
{
	for (size_t i = 0; i < s->not_followed.count; i++) {
		const char *reason = s->not_followed.entries[i].text;
		size_t bytes = strcspn(reason, "\n"), before = 0;

		while (before < i &&
		       strncmp(s->not_followed.entries[before].text, reason, bytes + 1) != 0)
			before++;
		if (before == i)
			note_reason(s, reason, bytes, result);
	}
}

static void add_notes(const struct state *s, struct wt_result *result)
{
	note_not_followed(s, result);
	wti_missing_note(&s->missing, result);
	for (size_t i = 0; i < s->note_count; i++)
		wt_result_note(result, "recorder: %s", s->notes[i]);
	if (s->notes_left_out)
		wt_result_note(result, "recorder: %llu more notes ('wheeltap view --kind note')",
			       (unsigned long long)s->notes_left_out);
	if (s->unknown_track_events)
		wt_result_note(result, "%llu events could not be given to a track",
			       (unsigned long long)s->unknown_track_events);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	int r;

	if (s->kind_count)
		qsort(s->kinds, s->kind_count, sizeof(*s->kinds), by_events);
	add_facts(s, result);
	r = wti_info_place(result, s->trace, &s->steps, err);
	lost_table(s, result);
	r = r ? r : open_table(s, result, err);
	kinds_table(s, result);
	wti_info_tracks(result, &s->roles, &s->groups, &s->track_index);
	wti_info_streams(result, &s->roles, &s->groups);
	add_notes(s, result);
	return r;
}

const struct wt_inspector wti_inspector_info = {
	.name = "info",
	.summary = "what is in the trace",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
