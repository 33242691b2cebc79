/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comma-separated values (RFC 4180, lines end with CR LF).
 *
 * Into a file: a line an event, what is particular to its kind in one column, a JSON object.
 * Into a folder (a path that is one, or ends with a slash): a file a kind, a column a field.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "export.h"
#include "fields.h"
#include "heads.h"
#include "inspect/core/label.h"
#include "kinds.h"
#include "put.h"
#include "show/call.h"
#include "show/headings.h"
#include "show/show.h"
#include "show/source.h"

#define SCRATCH_MAX ((size_t)1 << 26)
#define FOLDER_SPILL (64u << 10) /* there may be many files */
#define FILES_MAX 256u

struct csv_file {
	uint16_t kind;
	uint16_t field_count;
	struct wti_export_sink sink;
};

struct csv {
	struct wti_export *export;
	struct wti_buf scratch; /* of values */
	struct wti_buf fields;  /* before they are quoted */
	struct wti_field_keys keys;
	struct wti_heads heads;
	bool folder;
	struct wti_export_sink sink; /* of the one file */
	struct csv_file *files;
	size_t file_count;
};

/* ---- Cells ----------------------------------------------------------------------------------- */

static void put_value(struct wti_buf *out, const struct wti_shown *value)
{
	if (value->type == WTI_SHOWN_TEXT)
		wti_csv_field(out, value->text.data, value->text.bytes);
	else
		wti_put_plain(out, value);
}

/* ,0,4242,1,train, */
static void put_head(struct wti_buf *out, const struct wt_event *event)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text name = wti_label_track(label, event->trace, event->stream, event->track);

	WTI_PUT(out, ",");
	wti_put_u64(out, event->stream);
	WTI_PUT(out, ",");
	wti_put_u64(out, wt_reader_identity(event->reader)->pid);
	WTI_PUT(out, ",");
	wti_put_u64(out, event->track);
	WTI_PUT(out, ",");
	wti_csv_field(out, name.data, name.bytes);
	WTI_PUT(out, ",");
}

/* What all lines begin with, up to the sequence number. */
static void put_place(struct csv *csv, struct wti_buf *out, const struct wt_event *event)
{
	wti_put_i64(out, event->time_ns);
	wti_heads_put(&csv->heads, out, event);
	wti_put_u64(out, event->seq);
}

/* ---- One file -------------------------------------------------------------------------------- */

static void put_line(struct csv *csv, struct wti_buf *out, const struct wt_event *event)
{
	int named_by = wti_event_name_field(event->kind);
	struct wti_buf *fields = &csv->fields;
	char label[WTI_CALL_LABEL_BYTES];
	struct wt_text name = {"", 0};
	int64_t begin_ns, length;

	if (wti_is_call(event))
		name = wti_call_of(event, label);
	else if (named_by >= 0)
		name = wt_event_text(event, named_by);
	put_place(csv, out, event);
	WTI_PUT(out, ",");
	wti_csv_field(out, event->kind->name, strlen(event->kind->name));
	WTI_PUT(out, ",");
	wti_csv_field(out, name.data, name.bytes);
	WTI_PUT(out, ",");
	if (wti_event_duration(event, &begin_ns, &length))
		wti_put_i64(out, length);
	WTI_PUT(out, ",");
	wti_buf_clear(fields);
	wti_put_json_fields(fields, &csv->keys, event);
	wti_csv_field(out, (const char *)fields->data, fields->bytes);
	if (fields->status)
		out->status = fields->status;
	WTI_PUT(out, "\r\n");
}

/* ---- A file a kind --------------------------------------------------------------------------- */

static void put_header(struct csv *csv, struct wti_buf *out, const struct wt_kind *kind)
{
	bool is_syscall = kind->number == WT_KIND_SYSCALL;
	/* Other kinds may have a field of this name. */
	const char *taken[] = {"time_ns",    "stream", "track",
			       "track_name", "seq",    is_syscall ? "source" : NULL,
			       NULL};
	struct wti_headings headings;

	WTI_PUT(out, "time_ns,stream,pid,track,track_name,seq");
	wti_headings_init(&headings, kind, WTI_HEADINGS_COLUMNS, taken);
	for (int i = 0; i < kind->field_count && !wti_headings_status(&headings); i++) {
		const char *name = wti_headings_name(&headings, i);

		WTI_PUT(out, ",");
		wti_csv_field(out, name, strlen(name));
		csv->export->renamed_count += headings.is_other[i];
	}
	if (wti_headings_status(&headings))
		out->status = WT_E_NOMEM;
	wti_headings_release(&headings);
	if (is_syscall)
		WTI_PUT(out, ",source");
	WTI_PUT(out, "\r\n");
}

static int open_file(struct csv *csv, struct csv_file *file, uint16_t number, struct wt_err *err)
{
	const struct wt_kind *kind = wti_widest_kind(csv->export->trace, number);
	struct wti_buf *out = &file->sink.buf;
	char name[WTI_TABLE_NAME_BYTES];
	char *path;
	int status;

	wti_table_name(name, kind);
	if (asprintf(&path, "%s/%s.csv", csv->export->path, name) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	status = wti_sink_open(&file->sink, path, csv->export->force, err);
	free(path);
	if (status)
		return status;
	file->sink.spill_bytes = FOLDER_SPILL;
	file->kind = number;
	file->field_count = kind->field_count;
	put_header(csv, out, kind);
	return 0;
}

static int file_of(struct csv *csv, uint16_t kind, struct csv_file **ret_file, struct wt_err *err)
{
	struct csv_file *file = &csv->files[csv->file_count];
	int status;

	for (size_t i = 0; i < csv->file_count; i++) {
		if (csv->files[i].kind == kind) {
			*ret_file = &csv->files[i];
			return 0;
		}
	}
	if (csv->file_count == FILES_MAX)
		return wti_err(err, WT_E_LIMIT,
			       "more than %u kinds of events; choose some with --kind", FILES_MAX);
	status = open_file(csv, file, kind, err);
	if (status) {
		wti_sink_release(&file->sink);
		return status;
	}
	csv->file_count++;
	*ret_file = file;
	return 0;
}

/* ,train.c:41 (step) */
static void put_source(struct csv *csv, struct wti_buf *out, const struct wt_event *event)
{
	struct wti_source_place place;

	WTI_PUT(out, ",");
	if (!wti_sources_of(csv->export->sources, event, &place))
		return;
	wti_buf_clear(&csv->scratch);
	wti_put_source(&csv->scratch, &place);
	wti_csv_field(out, (const char *)csv->scratch.data, csv->scratch.bytes);
}

static int put_row(struct csv *csv, const struct wt_event *event, struct wt_err *err)
{
	struct csv_file *file = NULL;
	struct wti_buf *out;
	int status = file_of(csv, event->kind->number, &file, err);

	if (status)
		return status;
	out = &file->sink.buf;
	put_place(csv, out, event);
	for (int i = 0; i < file->field_count; i++) {
		struct wti_shown value;

		value.type = WTI_SHOWN_ABSENT;
		if (i < event->kind->field_count)
			wti_value_of(&value, event, i, &csv->scratch, csv->export->sources);
		WTI_PUT(out, ",");
		put_value(out, &value);
	}
	if (wti_is_call(event))
		put_source(csv, out, event);
	WTI_PUT(out, "\r\n");
	return wti_sink_spill(&file->sink, err);
}

/* ---- The exporter ---------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
	size_t bytes = strlen(path);
	struct stat info;

	return (bytes && path[bytes - 1] == '/') || (!stat(path, &info) && S_ISDIR(info.st_mode));
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct csv *csv = state;
	int status;

	csv->export = export;
	csv->sink.fd = -1;
	wti_buf_init(&csv->scratch, SCRATCH_MAX);
	wti_field_keys_init(&csv->keys, export->sources);
	wti_heads_init(&csv->heads, put_head);
	wti_buf_init(&csv->fields, WTI_SINK_CEILING);
	csv->folder = is_folder(export->path);
	if (!csv->folder) {
		status = wti_sink_open(&csv->sink, export->path, export->force, err);
		WTI_PUT(&csv->sink.buf, "time_ns,stream,pid,track,track_name,seq,kind,name,"
					"duration_ns,fields\r\n");
		return status;
	}
	csv->files = calloc(FILES_MAX + 1, sizeof(*csv->files));
	if (!csv->files)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_mkdirs(export->path, 0700, err);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct csv *csv = state;

	if (csv->folder)
		return put_row(csv, event, err);
	put_line(csv, &csv->sink.buf, event);
	return wti_sink_spill(&csv->sink, err);
}

static int finish(void *state, struct wt_err *err)
{
	struct csv *csv = state;
	int status = 0;

	if (!csv->folder) {
		status = wti_sink_commit(&csv->sink, csv->export->force, err);
		csv->export->bytes = csv->sink.bytes;
		return status;
	}
	for (size_t i = 0; i < csv->file_count && !status; i++) {
		status = wti_sink_commit(&csv->files[i].sink, csv->export->force, err);
		csv->export->bytes += csv->files[i].sink.bytes;
	}
	return status;
}

static void release(void *state)
{
	struct csv *csv = state;

	for (size_t i = 0; i < csv->file_count; i++)
		wti_sink_release(&csv->files[i].sink);
	free(csv->files);
	wti_sink_release(&csv->sink);
	wti_buf_release(&csv->scratch);
	wti_field_keys_release(&csv->keys);
	wti_heads_release(&csv->heads);
	wti_buf_release(&csv->fields);
}

const struct wti_exporter wti_exporter_csv = {
	.name = "csv",
	.extension = "csv",
	.summary = "one line per event; in a folder: one file per kind",
	.streams = true,
	.own_files = true,
	.state_bytes = sizeof(struct csv),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
