/* SPDX-License-Identifier: Apache-2.0 */
/* Events for `view`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "call.h"
#include "cell.h"
#include "event.h"
#include "headings.h"
#include "inspect/core/label.h"
#include "source.h"
#include "words.h"

#define TEXT_MAX 160u /* columns of a text in a line for people */
#define TRACK_COLUMNS 16u
#define EXACT_MAX ((uint64_t)1 << 53) /* whole numbers that a double holds */
#define KIND_COLUMNS 11u

static void pad_to(struct wti_buf *out, size_t used, size_t columns)
{
	while (used++ < columns)
		wti_buf_byte(out, ' ');
}

/* Seconds with all nine decimals: what sorts and lines up. */
static void add_seconds(struct wti_buf *out, int64_t ns, int width)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	wti_buf_printf(out, "%*s%llu.%09llu", width, ns < 0 ? "-" : "",
		       (unsigned long long)(size / 1000000000),
		       (unsigned long long)(size % 1000000000));
}

static void add_cut(struct wti_buf *out, struct wt_text text)
{
	struct wti_buf line;
	size_t bytes;

	wti_buf_init(&line, 16384);
	wti_printable(&line, text.data, text.bytes < 4 * TEXT_MAX ? text.bytes : 4 * TEXT_MAX);
	bytes = wti_text_fit((const char *)line.data, line.bytes, TEXT_MAX);
	wti_buf_append(out, line.data, bytes);
	if (bytes < line.bytes || text.bytes > 4 * TEXT_MAX)
		wti_buf_text(out, "...");
	wti_buf_inherit(out, &line);
	wti_buf_release(&line);
}

static void add_hex(struct wti_buf *out, struct wt_text bytes)
{
	wti_buf_hex(out, bytes.data, bytes.bytes < TEXT_MAX / 2 ? bytes.bytes : TEXT_MAX / 2);
	if (bytes.bytes > TEXT_MAX / 2)
		wti_buf_text(out, "...");
}

static void add_value(struct wti_buf *out, const struct wti_shown *v)
{
	switch (v->type) {
	case WTI_SHOWN_ABSENT:
		break;
	case WTI_SHOWN_BOOL:
		wti_buf_text(out, v->u ? "true" : "false");
		break;
	case WTI_SHOWN_INT:
		wti_buf_printf(out, "%lld", (long long)v->i);
		break;
	case WTI_SHOWN_UINT:
		wti_buf_printf(out, "%llu", (unsigned long long)v->u);
		break;
	case WTI_SHOWN_FLOAT:
		wti_cell_number(out, v->f);
		break;
	case WTI_SHOWN_HASH:
		wti_buf_printf(out, "%016llx", (unsigned long long)v->u);
		break;
	case WTI_SHOWN_TIME:
		add_seconds(out, v->i, 0);
		break;
	case WTI_SHOWN_TEXT:
		add_cut(out, v->text);
		break;
	case WTI_SHOWN_BYTES:
		wti_buf_hex(out, v->text.data, v->text.bytes);
		break;
	}
}

/* A field; that of a system call which has the memory is shown as the whole call. */
static void field_of(struct wti_shown *ret, const struct wt_event *event, int index,
		     struct wti_buf *call)
{
	if (!wti_is_call(event) || index != WT_SYSCALL_FIELD_TEXT) {
		wti_event_field(ret, event, index);
		return;
	}
	wti_buf_clear(call);
	wti_put_call(call, event);
	ret->type = WTI_SHOWN_TEXT;
	ret->text = (struct wt_text){wti_buf_cstr(call), wti_buf_status(call) ? 0 : call->bytes};
}

static bool is_inline(enum wti_shown_type type)
{
	return type == WTI_SHOWN_TEXT || type == WTI_SHOWN_BYTES;
}

/* What says nothing is left out of a line: no flags, no text, no time, no call it belongs to. */
static bool is_silent(const struct wti_shown *v, const struct wt_event *event, int index)
{
	static const char *const silent[] = {"flags", "lacks", "clock", "call"};
	const char *name = event->kind->fields[index].name;

	if (v->type == WTI_SHOWN_ABSENT || (is_inline(v->type) && !v->text.bytes))
		return true;
	if (!strcmp(name, "position")) /* within a call */
		return !wt_event_u64(event, wt_kind_field(event->kind, "call"));
	if (!strcmp(name, "action"))
		return !wt_event_u64(event, index);
	for (size_t i = 0; i < WTI_COUNT(silent); i++) {
		if (!strcmp(name, silent[i]))
			return v->type == WTI_SHOWN_UINT && !v->u;
	}
	return false;
}

static void add_fields(struct wti_buf *out, const struct wt_event *event, int name_field)
{
	struct wti_shown value;

	for (int i = 0; i < event->kind->field_count; i++) {
		if (i == name_field)
			continue;
		wti_event_field(&value, event, i);
		if (is_silent(&value, event, i))
			continue;
		wti_textf(out, " %s=", event->kind->fields[i].name);
		if (value.type == WTI_SHOWN_FLOAT)
			wti_words_float(out, value.f);
		else if (value.type == WTI_SHOWN_BYTES)
			add_hex(out, value.text);
		else if (!wti_words(out, event->kind, i, &value))
			add_value(out, &value);
	}
}

/* ` openat(AT_FDCWD, "x", O_RDONLY) = 3 <0.000012> train.c:41 (load)` */
static void add_call(struct wti_buf *out, const struct wt_event *event, struct wti_sources *sources)
{
	struct wti_shown length;
	struct wti_buf call;
	struct wti_source_place source;

	wti_buf_init(&call, WTI_CALL_TEXT_MAX);
	wti_put_call(&call, event);
	wti_event_field(&length, event, WT_SYSCALL_FIELD_DURATION);
	wti_buf_byte(out, ' ');
	wti_printable(out, (const char *)call.data, call.bytes);
	wti_buf_text(out, " <");
	add_seconds(out, length.i, 0);
	wti_buf_byte(out, '>');
	if (wti_sources_of(sources, event, &source)) {
		wti_buf_clear(&call);
		wti_put_source(&call, &source);
		wti_buf_byte(out, ' ');
		wti_printable(out, (const char *)call.data, call.bytes);
	}
	wti_buf_inherit(out, &call);
	wti_buf_release(&call);
}

static void add_padded(struct wti_buf *out, struct wt_text text, size_t columns)
{
	size_t start = out->bytes, width;

	wti_printable(out, text.data, text.bytes);
	width = wti_text_width((const char *)out->data + start, out->bytes - start);
	pad_to(out, width, columns);
}

static void add_track(struct wti_buf *out, const struct wt_event *event)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_label_track(label, event->trace, event->stream, event->track);

	add_padded(out, text, TRACK_COLUMNS);
}

/* A name of spaces alone would only end the line in them. */
static bool is_blank(struct wt_text text)
{
	size_t spaces = 0;

	while (spaces < text.bytes && text.data[spaces] == ' ')
		spaces++;
	return spaces == text.bytes;
}

void wti_event_line(struct wti_buf *out, const struct wt_event *event,
		    const struct wti_style *style, struct wti_sources *sources)
{
	int name_field = wti_event_name_field(event->kind);
	struct wti_shown name = {.type = WTI_SHOWN_ABSENT};

	if (name_field >= 0)
		wti_event_field(&name, event, name_field);
	wti_ink(out, style, WTI_INK_DIM);
	add_seconds(out, event->time_ns, 3);
	wti_ink(out, style, WTI_INK_END);
	wti_buf_text(out, "  ");
	add_track(out, event);
	wti_buf_text(out, "  ");
	add_padded(out, (struct wt_text){event->kind->name, strlen(event->kind->name)},
		   KIND_COLUMNS);
	if (name.type == WTI_SHOWN_TEXT && !is_blank(name.text)) {
		wti_buf_byte(out, ' ');
		wti_ink(out, style, WTI_INK_BOLD);
		add_value(out, &name);
		wti_ink(out, style, WTI_INK_END);
	}
	if (wti_is_call(event))
		add_call(out, event, sources);
	else
		add_fields(out, event, name_field);
	while (out->bytes && out->data[out->bytes - 1] == ' ') /* nothing followed the kind */
		out->bytes--;
	wti_buf_byte(out, '\n');
}

/* jq and JavaScript make doubles of numbers: what those cannot hold is a string. */
static void json_whole(struct wti_json *j, bool negative, uint64_t size)
{
	char text[24];

	if (size <= EXACT_MAX && negative) {
		wti_json_i64(j, -(int64_t)size);
	} else if (size <= EXACT_MAX) {
		wti_json_u64(j, size);
	} else {
		snprintf(text, sizeof(text), "%s%llu", negative ? "-" : "",
			 (unsigned long long)size);
		wti_json_text(j, text);
	}
}

static void json_hex(struct wti_json *j, struct wt_text bytes)
{
	struct wti_buf text;

	wti_buf_init(&text, 2 * bytes.bytes + 1);
	wti_buf_hex(&text, bytes.data, bytes.bytes);
	wti_json_text_n(j, (const char *)text.data, text.bytes);
	wti_buf_inherit(j->out, &text);
	wti_buf_release(&text);
}

static void json_value(struct wti_json *j, const struct wti_shown *v)
{
	struct wti_buf text;

	switch (v->type) {
	case WTI_SHOWN_ABSENT:
		wti_json_null(j);
		break;
	case WTI_SHOWN_BOOL:
		wti_json_bool(j, v->u != 0);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		json_whole(j, v->i < 0, v->i < 0 ? 0 - v->u : v->u);
		break;
	case WTI_SHOWN_UINT:
		json_whole(j, false, v->u);
		break;
	case WTI_SHOWN_FLOAT:
		if (isfinite(v->f))
			wti_json_f64(j, v->f);
		else
			wti_json_text(j, isnan(v->f) ? "nan" : v->f > 0 ? "inf" : "-inf");
		break;
	case WTI_SHOWN_BYTES:
		json_hex(j, v->text);
		break;
	case WTI_SHOWN_HASH:
		wti_buf_init(&text, 64);
		add_value(&text, v);
		wti_json_text_n(j, (const char *)text.data, text.bytes);
		wti_buf_inherit(j->out, &text);
		wti_buf_release(&text);
		break;
	case WTI_SHOWN_TEXT:
		wti_json_text_n(j, v->text.data, v->text.bytes);
		break;
	}
}

static void json_source(struct wti_json *j, const struct wt_event *event,
			struct wti_sources *sources)
{
	struct wti_source_place source;

	if (!wti_sources_of(sources, event, &source))
		return;
	wti_json_key(j, "source");
	wti_json_object(j);
	wti_json_key(j, "file");
	wti_json_text_n(j, source.file.data, source.file.bytes);
	wti_json_key(j, "line");
	wti_json_u64(j, source.line);
	wti_json_key(j, "function");
	wti_json_text_n(j, source.function.data, source.function.bytes);
	wti_json_object_end(j);
}

static void json_fields(struct wti_json *j, const struct wt_event *event,
			struct wti_sources *sources)
{
	bool twice = wti_headings_twice(event->kind);
	struct wti_headings headings;
	struct wti_shown value;
	struct wti_buf call;

	wti_buf_init(&call, WTI_CALL_TEXT_MAX);
	if (twice)
		wti_headings_init(&headings, event->kind, WTI_HEADINGS_KEYS, NULL);
	wti_json_object(j);
	for (int i = 0; i < event->kind->field_count; i++) {
		field_of(&value, event, i, &call);
		wti_json_key(j, twice && !wti_headings_status(&headings)
					? wti_headings_name(&headings, i)
					: event->kind->fields[i].name);
		json_value(j, &value);
	}
	json_source(j, event, sources);
	wti_json_object_end(j);
	if (twice) {
		wti_buf_inherit(j->out, &headings.text);
		wti_headings_release(&headings);
	}
	wti_buf_inherit(j->out, &call);
	wti_buf_release(&call);
}

void wti_event_json(struct wti_json *j, const struct wt_event *event, struct wti_sources *sources)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text track = wti_label_track(label, event->trace, event->stream, event->track);

	wti_json_object(j);
	wti_json_key(j, "time_ns");
	wti_json_i64(j, event->time_ns);
	wti_json_key(j, "kind");
	wti_json_text(j, event->kind->name);
	wti_json_key(j, "stream");
	wti_json_u64(j, event->stream);
	wti_json_key(j, "track");
	wti_json_u64(j, event->track);
	wti_json_key(j, "track_name");
	wti_json_text_n(j, track.data, track.bytes);
	wti_json_key(j, "seq");
	json_whole(j, false, event->seq);
	wti_json_key(j, "fields");
	json_fields(j, event, sources);
	wti_json_object_end(j);
}

static void csv_columns(struct wti_buf *out, const struct wt_kind *kind)
{
	/* A system call has a column for its source; other kinds may have a field of this name. */
	const char *taken[] = {"time_ns",
			       "stream",
			       "track",
			       "track_name",
			       "seq",
			       "kind",
			       kind->number == WT_KIND_SYSCALL ? "source" : NULL,
			       NULL};
	struct wti_headings headings;

	wti_headings_init(&headings, kind, WTI_HEADINGS_COLUMNS, taken);
	for (int i = 0; i < kind->field_count && !wti_headings_status(&headings); i++) {
		const char *name = wti_headings_name(&headings, i);

		wti_buf_byte(out, ',');
		wti_csv_field(out, name, strlen(name));
	}
	wti_buf_inherit(out, &headings.text);
	wti_headings_release(&headings);
}

void wti_event_csv_head(struct wti_buf *out, const struct wt_kind *kind)
{
	wti_buf_text(out, "time_ns,stream,track,track_name,seq,kind");
	if (!kind)
		wti_buf_text(out, ",name,fields");
	if (kind)
		csv_columns(out, kind);
	if (kind && kind->number == WT_KIND_SYSCALL)
		wti_buf_text(out, ",source");
	wti_buf_text(out, "\r\n");
}

static void csv_value(struct wti_buf *out, const struct wti_shown *v)
{
	wti_buf_byte(out, ',');
	if (v->type == WTI_SHOWN_TEXT)
		wti_csv_field(out, v->text.data, v->text.bytes);
	else if (v->type == WTI_SHOWN_TIME)
		wti_buf_printf(out, "%lld", (long long)v->i);
	else
		add_value(out, v);
}

static void csv_mixed(struct wti_buf *out, const struct wt_event *event,
		      struct wti_sources *sources)
{
	int name_field = wti_event_name_field(event->kind);
	struct wti_shown name = {.type = WTI_SHOWN_ABSENT};
	char label[WTI_CALL_LABEL_BYTES];
	struct wti_json json;
	struct wti_buf object;

	if (wti_is_call(event)) {
		name.text = wti_call_of(event, label);
		name.type = WTI_SHOWN_TEXT;
	} else if (name_field >= 0) {
		wti_event_field(&name, event, name_field);
	}
	csv_value(out, &name);
	wti_buf_init(&object, 64u << 20);
	wti_json_init(&json, &object, false);
	json_fields(&json, event, sources);
	wti_buf_byte(out, ',');
	wti_csv_field(out, (const char *)object.data, object.bytes);
	wti_buf_inherit(out, &object);
	wti_buf_release(&object);
}

static void csv_source(struct wti_buf *out, const struct wt_event *event,
		       struct wti_sources *sources)
{
	struct wti_source_place source;
	struct wti_buf text;

	wti_buf_init(&text, 16384);
	if (wti_sources_of(sources, event, &source))
		wti_put_source(&text, &source);
	wti_buf_byte(out, ',');
	wti_csv_field(out, (const char *)text.data, text.bytes);
	wti_buf_release(&text);
}

void wti_event_csv(struct wti_buf *out, const struct wt_event *event, const struct wt_kind *kind,
		   struct wti_sources *sources)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text track = wti_label_track(label, event->trace, event->stream, event->track);
	struct wti_shown value;
	struct wti_buf call;

	wti_buf_init(&call, WTI_CALL_TEXT_MAX);
	wti_buf_printf(out, "%lld,%zu,%u,", (long long)event->time_ns, event->stream, event->track);
	wti_csv_field(out, track.data, track.bytes);
	wti_buf_printf(out, ",%llu,", (unsigned long long)event->seq);
	wti_csv_field(out, event->kind->name, strlen(event->kind->name));
	if (!kind)
		csv_mixed(out, event, sources);
	/* Streams of other versions may know fewer fields of the kind, or more. */
	for (int i = 0; kind && i < kind->field_count; i++) {
		int field = wti_same_field(event->kind, kind->fields[i].name, i);

		value.type = WTI_SHOWN_ABSENT;
		if (field >= 0)
			field_of(&value, event, field, &call);
		csv_value(out, &value);
	}
	if (kind && wti_is_call(event))
		csv_source(out, event, sources);
	wti_buf_inherit(out, &call);
	wti_buf_release(&call);
	wti_buf_text(out, "\r\n");
}
