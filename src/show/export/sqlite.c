/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite database: a table a kind with a column a field, names spelled out; the table `spans`
 * with spans and calls put together from their begins and ends; what is known of the run, its
 * streams and tracks. docs/export.md describes it.
 *
 * It is made under another name without a journal, and gets its name when it is whole.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "put.h"
#include "show/headings.h"
#include "sqlite.h"
#include "value.h"

#define SCHEMA_VERSION 1
#define TABLES_MAX 256u
#define TRACKS_MAX ((size_t)1 << 18)
#define SCRATCH_MAX ((size_t)1 << 26)
#define SQL_MAX ((size_t)1 << 20)
#define TRANSACTION_EVENTS 262144u
#define PLACE_COLUMNS 4 /* time_ns, stream, track, seq */

/* ---- Tables of kinds ------------------------------------------------------------------------- */

static const char *const place_columns[] = {"time_ns", "stream", "track", "seq", NULL};

/* In double quotes, whatever a foreign trace calls its fields. */
static void put_identifier(struct wti_buf *out, const char *name)
{
	WTI_PUT(out, "\"");
	for (; *name; name++) {
		if (*name == '"')
			WTI_PUT(out, "\"");
		wti_put(out, name, 1);
	}
	WTI_PUT(out, "\"");
}

static const char *column_type(const struct wt_field *field)
{
	switch (field->type) {
	case WT_TYPE_F64:
		return " REAL";
	case WT_TYPE_NAME:
	case WT_TYPE_STR:
	case WT_TYPE_BYTES:
	case WT_TYPE_ENUM:
	case WT_TYPE_HASH:
		return " TEXT";
	default: /* a value whose type stands beside it may be anything */
		return strcmp(field->name, "value") && strcmp(field->name, "old") &&
				       strcmp(field->name, "new")
			       ? " INTEGER"
			       : "";
	}
}

static void put_create(struct wti_buf *sql, const struct wti_sqlite_table *table,
		       const struct wt_kind *kind, const struct wti_headings *headings)
{
	WTI_PUT(sql, "CREATE TABLE ");
	put_identifier(sql, table->name);
	WTI_PUT(sql, "(time_ns INTEGER, stream INTEGER, track INTEGER, seq INTEGER");
	for (int i = 0; i < kind->field_count; i++) {
		const char *type = column_type(&kind->fields[i]);

		WTI_PUT(sql, ", ");
		put_identifier(sql, wti_headings_name(headings, i));
		wti_put(sql, type, strlen(type));
	}
	WTI_PUT(sql, ")");
}

static void put_insert(struct wti_buf *sql, const struct wti_sqlite_table *table)
{
	WTI_PUT(sql, "INSERT INTO ");
	put_identifier(sql, table->name);
	WTI_PUT(sql, " VALUES(?,?,?,?");
	for (int i = 0; i < table->field_count; i++)
		WTI_PUT(sql, ",?");
	WTI_PUT(sql, ")");
}

/* `field`: NULL: it is the table that is called otherwise. */
static int insert_renamed(struct wti_sqlite *s, const struct wti_sqlite_table *table,
			  const struct wt_kind *kind, const char *column, const char *field,
			  struct wt_err *err)
{
	sqlite3_stmt *stmt = s->insert_renamed;

	s->export->renamed_count++;
	sqlite3_clear_bindings(stmt);
	sqlite3_bind_text(stmt, 1, table->name, -1, SQLITE_STATIC);
	if (column)
		sqlite3_bind_text(stmt, 2, column, -1, SQLITE_STATIC);
	wti_sqlite_bind_text(stmt, 3, (struct wt_text){kind->name, strlen(kind->name)},
			     &s->texts[0]);
	if (field)
		wti_sqlite_bind_text(stmt, 4, (struct wt_text){field, strlen(field)}, &s->texts[1]);
	return wti_sqlite_insert(s, stmt, err);
}

static int print_renamed(struct wti_sqlite *s, const struct wti_sqlite_table *table,
			 const struct wt_kind *kind, const struct wti_headings *headings,
			 struct wt_err *err)
{
	int status = 0;

	if (wti_table_is_other(table->name, kind))
		status = insert_renamed(s, table, kind, NULL, NULL, err);
	for (int i = 0; i < kind->field_count && !status; i++)
		if (headings->is_other[i])
			status = insert_renamed(s, table, kind, wti_headings_name(headings, i),
						kind->fields[i].name, err);
	return status;
}

static int create_table(struct wti_sqlite *s, struct wti_sqlite_table *table,
			const struct wt_kind *kind, const struct wti_headings *headings,
			struct wt_err *err)
{
	struct wti_buf sql;
	int status;

	wti_buf_init(&sql, SQL_MAX);
	put_create(&sql, table, kind, headings);
	status = wti_sqlite_run(s, wti_buf_cstr(&sql), err);
	wti_buf_clear(&sql);
	put_insert(&sql, table);
	if (!status)
		status = wti_sqlite_prepare(s, wti_buf_cstr(&sql), &table->insert, err);
	wti_buf_release(&sql);
	return status ? status : print_renamed(s, table, kind, headings, err);
}

static int add_table(struct wti_sqlite *s, struct wti_sqlite_table *table, uint16_t number,
		     struct wt_err *err)
{
	const struct wt_kind *kind = wti_widest_kind(s->export->trace, number);
	struct wti_headings headings;
	int status;

	*table = (struct wti_sqlite_table){.kind = number, .field_count = kind->field_count};
	wti_table_name(table->name, kind);
	wti_headings_init(&headings, kind, WTI_HEADINGS_COLUMNS, place_columns);
	status = wti_headings_status(&headings) ? wti_err(err, WT_E_NOMEM, "out of memory")
						: create_table(s, table, kind, &headings, err);
	wti_headings_release(&headings);
	return status;
}

static int table_of(struct wti_sqlite *s, uint16_t kind, struct wti_sqlite_table **ret_table,
		    struct wt_err *err)
{
	int status;

	for (size_t i = 0; i < s->table_count; i++) {
		if (s->tables[i].kind == kind) {
			*ret_table = &s->tables[i];
			return 0;
		}
	}
	if (s->table_count == TABLES_MAX)
		return wti_err(err, WT_E_LIMIT,
			       "more than %u kinds of events; choose some with --kind", TABLES_MAX);
	status = add_table(s, &s->tables[s->table_count], kind, err);
	if (status)
		return status;
	*ret_table = &s->tables[s->table_count++];
	return 0;
}

static int insert_event(struct wti_sqlite *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_sqlite_table *table = NULL;
	int status = table_of(s, event->kind->number, &table, err);

	if (status)
		return status;
	sqlite3_bind_int64(table->insert, 1, event->time_ns);
	sqlite3_bind_int64(table->insert, 2, (int64_t)event->stream);
	sqlite3_bind_int64(table->insert, 3, event->track);
	wti_sqlite_bind_u64(table->insert, 4, event->seq);
	for (int i = 0; i < table->field_count; i++) {
		struct wti_shown *value = &s->values[i];

		value->type = WTI_SHOWN_ABSENT;
		if (i < event->kind->field_count)
			wti_value_of(value, event, i, &s->scratch, s->export->sources);
		wti_sqlite_bind_value(table->insert, PLACE_COLUMNS + 1 + i, value, &s->texts[i]);
	}
	return wti_sqlite_insert(s, table->insert, err);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static struct wti_sqlite_track *track_of(struct wti_sqlite *s, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&s->track_index, (uint64_t)event->stream << 32 | event->track);

	if (!slot)
		return NULL;
	if (*slot)
		return &s->tracks[*slot - 1];
	if (wti_grow(&s->tracks, s->track_count + 1, &s->track_capacity, TRACKS_MAX))
		return NULL;
	s->tracks[s->track_count++] =
		(struct wti_sqlite_track){.stream = event->stream, .track = event->track};
	*slot = s->track_count;
	return &s->tracks[*slot - 1];
}

static const char *kind_name(uint16_t begin)
{
	switch (begin) {
	case WT_KIND_CALL_BEGIN:
		return "call";
	case WT_KIND_OPERATOR_BEGIN:
		return "operator";
	default:
		return "span";
	}
}

/* The innermost open one. `end`: NULL if it has none. */
static int insert_span(struct wti_sqlite *s, struct wti_sqlite_track *track, const int64_t *end_ns,
		       uint32_t exception, struct wt_err *err)
{
	struct wti_nest *nest = &track->nest;
	const struct wti_open_slice *open = &nest->open[--nest->count];
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, track->stream);
	sqlite3_stmt *stmt = s->insert_span;
	struct wt_text site = wti_site_text(reader, open->site, &s->scratch);

	sqlite3_clear_bindings(stmt);
	sqlite3_bind_int64(stmt, 1, (int64_t)open->id);
	if (nest->count)
		sqlite3_bind_int64(stmt, 2, (int64_t)nest->open[nest->count - 1].id);
	sqlite3_bind_int64(stmt, 3, nest->count);
	sqlite3_bind_int64(stmt, 4, (int64_t)track->stream);
	sqlite3_bind_int64(stmt, 5, track->track);
	sqlite3_bind_text(stmt, 6, kind_name(open->kind), -1, SQLITE_STATIC);
	wti_sqlite_bind_text(stmt, 7, wt_reader_string(reader, open->name), &s->texts[0]);
	sqlite3_bind_int64(stmt, 8, open->begin_ns);
	if (end_ns) {
		int64_t end = *end_ns > open->begin_ns ? *end_ns : open->begin_ns;

		sqlite3_bind_int64(stmt, 9, end);
		sqlite3_bind_int64(stmt, 10, (int64_t)((uint64_t)end - (uint64_t)open->begin_ns));
	}
	if (open->module)
		wti_sqlite_bind_text(stmt, 11, wt_reader_string(reader, open->module),
				     &s->texts[1]);
	if (site.bytes)
		wti_sqlite_bind_text(stmt, 12, site, &s->texts[2]);
	if (exception)
		wti_sqlite_bind_text(stmt, 13, wt_reader_string(reader, exception), &s->texts[3]);
	return wti_sqlite_insert(s, stmt, err);
}

static int end_span(struct wti_sqlite *s, struct wti_sqlite_track *track,
		    const struct wt_event *event, struct wt_err *err)
{
	int count = wti_nest_end(&track->nest, event);
	uint32_t exception = event->kind->number == WT_KIND_CALL_END
				     ? (uint32_t)wt_event_u64(event, WT_CALL_END_FIELD_EXCEPTION)
				     : 0;
	int status = 0;

	if (!count)
		s->export->unopened_count++;
	for (; count > 1 && !status; count--) {
		status = insert_span(s, track, NULL, 0, err);
		s->export->unclosed_count++;
	}
	if (count == 1 && !status)
		status = insert_span(s, track, &event->time_ns, exception, err);
	return status;
}

static int nest_event(struct wti_sqlite *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_sqlite_track *track = track_of(s, event);
	int status;

	if (!track) {
		s->export->left_out_count++;
		return 0;
	}
	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_OPERATOR_BEGIN:
		status = wti_nest_begin(&track->nest, event, s->next_span++);
		if (status == WT_E_LIMIT)
			s->export->left_out_count++;
		return status == WT_E_NOMEM ? wti_err(err, status, "out of memory") : 0;
	default:
		return end_span(s, track, event, err);
	}
}

/* ---- The exporter ---------------------------------------------------------------------------- */

static const char schema[] =
	"CREATE TABLE run(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE streams(stream INTEGER PRIMARY KEY, file TEXT, pid INTEGER, command TEXT,"
	" exec INTEGER, segment INTEGER, finished INTEGER, damage TEXT);"
	"CREATE TABLE tracks(stream INTEGER, track INTEGER, type TEXT, tid INTEGER, device INTEGER,"
	" name TEXT, PRIMARY KEY(stream, track)) WITHOUT ROWID;"
	"CREATE TABLE strings(stream INTEGER, id INTEGER, text TEXT, PRIMARY KEY(stream, id))"
	" WITHOUT ROWID;"
	"CREATE TABLE spans(id INTEGER PRIMARY KEY, parent INTEGER, depth INTEGER, stream INTEGER,"
	" track INTEGER, kind TEXT, name TEXT, begin_ns INTEGER, end_ns INTEGER,"
	" duration_ns INTEGER, module TEXT, site TEXT, exception TEXT);"
	"CREATE TABLE renamed(table_name TEXT, column_name TEXT, kind TEXT, field TEXT);";

static int open_database(struct wti_sqlite *s, struct wt_err *err)
{
	int fd;

	s->temporary = wti_temporary_name(s->export->path);
	if (!s->temporary)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	fd = mkostemp(s->temporary, O_CLOEXEC); /* mode 0600; SQLite takes an empty file */
	if (fd < 0) {
		free(s->temporary);
		s->temporary = NULL;
		return wti_err_errno(err, "cannot write", s->export->path);
	}
	close(fd);
	if (sqlite3_open_v2(s->temporary, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return wti_sqlite_failed(s, err);
	return wti_sqlite_run(s,
			      "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			      "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			      "PRAGMA cache_size = -65536; PRAGMA temp_store = FILE;",
			      err);
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct wti_sqlite *s = state;
	int status;

	s->export = export;
	s->until_commit = TRANSACTION_EVENTS;
	s->next_span = 1;
	wti_buf_init(&s->scratch, SCRATCH_MAX);
	for (int i = 0; i < WT_FIELDS_MAX; i++)
		wti_buf_init(&s->texts[i], SCRATCH_MAX);
	wti_map_init(&s->track_index, TRACKS_MAX);
	s->tables = calloc(TABLES_MAX, sizeof(*s->tables));
	if (!s->tables)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	status = wti_check_absent(export->path, export->force, err);
	if (!status)
		status = open_database(s, err);
	if (!status)
		status = wti_sqlite_run(s, schema, err);
	if (!status)
		status =
			wti_sqlite_prepare(s, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
					   &s->insert_span, err);
	if (!status)
		status = wti_sqlite_prepare(s, "INSERT INTO renamed VALUES(?,?,?,?)",
					    &s->insert_renamed, err);
	return status ? status : wti_sqlite_run(s, "BEGIN", err);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct wti_sqlite *s = state;
	int status = insert_event(s, event, err);

	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_SPAN_END:
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_CALL_END:
	case WT_KIND_OPERATOR_BEGIN:
	case WT_KIND_OPERATOR_END:
		if (!status)
			status = nest_event(s, event, err);
	}
	if (status || --s->until_commit)
		return status;
	s->until_commit = TRANSACTION_EVENTS;
	return wti_sqlite_run(s, "COMMIT; BEGIN", err);
}

static int insert_unfinished(struct wti_sqlite *s, struct wt_err *err)
{
	int status = 0;

	for (size_t i = 0; i < s->track_count && !status; i++) {
		while (s->tracks[i].nest.count && !status) {
			status = insert_span(s, &s->tracks[i], NULL, 0, err);
			s->export->unclosed_count++;
		}
	}
	return status;
}

static int add_indices(struct wti_sqlite *s, struct wt_err *err)
{
	struct wti_buf sql;
	int status = wti_sqlite_run(s,
				    "CREATE INDEX spans_begin ON spans(begin_ns);"
				    "CREATE INDEX spans_name ON spans(name);"
				    "CREATE INDEX spans_parent ON spans(parent)",
				    err);

	wti_buf_init(&sql, SQL_MAX);
	for (size_t i = 0; i < s->table_count && !status; i++) {
		wti_buf_clear(&sql);
		wti_buf_printf(&sql, "CREATE INDEX \"%s_time\" ON \"%s\"(time_ns)",
			       s->tables[i].name, s->tables[i].name);
		status = wti_sqlite_run(s, wti_buf_cstr(&sql), err);
	}
	wti_buf_release(&sql);
	return status;
}

/* Statements keep a database open. */
static void finalize(struct wti_sqlite *s)
{
	for (size_t i = 0; i < s->table_count; i++)
		sqlite3_finalize(s->tables[i].insert);
	s->table_count = 0;
	sqlite3_finalize(s->insert_span);
	s->insert_span = NULL;
	sqlite3_finalize(s->insert_renamed);
	s->insert_renamed = NULL;
}

static int close_database(struct wti_sqlite *s, struct wt_err *err)
{
	struct stat info;

	finalize(s);
	if (sqlite3_close(s->db) != SQLITE_OK)
		return wti_sqlite_failed(s, err);
	s->db = NULL;
	if (!stat(s->temporary, &info))
		s->export->bytes = (uint64_t)info.st_size;
	return 0;
}

static int finish(void *state, struct wt_err *err)
{
	struct wti_sqlite *s = state;
	char sql[64];
	int status = insert_unfinished(s, err);

	snprintf(sql, sizeof(sql), "COMMIT; PRAGMA user_version = %d", SCHEMA_VERSION);
	if (!status)
		status = wti_sqlite_describe(s, err);
	if (!status)
		status = wti_sqlite_run(s, sql, err);
	if (!status)
		status = add_indices(s, err);
	if (!status)
		status = close_database(s, err);
	if (!status)
		status = wti_put_in_place(s->temporary, s->export->path, s->export->force, err);
	if (status)
		return status;
	free(s->temporary);
	s->temporary = NULL;
	return 0;
}

static void release(void *state)
{
	struct wti_sqlite *s = state;

	finalize(s);
	sqlite3_close(s->db);
	if (s->temporary)
		unlink(s->temporary);
	free(s->temporary);
	free(s->tables);
	for (size_t i = 0; i < s->track_count; i++)
		wti_nest_release(&s->tracks[i].nest);
	free(s->tracks);
	wti_map_release(&s->track_index);
	wti_buf_release(&s->scratch);
	for (int i = 0; i < WT_FIELDS_MAX; i++)
		wti_buf_release(&s->texts[i]);
}

const struct wti_exporter wti_exporter_sqlite = {
	.name = "sqlite",
	.extension = "sqlite",
	.summary = "a SQLite database with a table for each kind, and one of spans",
	.own_files = true,
	.state_bytes = sizeof(struct wti_sqlite),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
