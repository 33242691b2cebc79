/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite database: a table a kind with a column a field, names spelled out; the table `spans`
 * with spans and calls put together from their begins and ends; what is known of the run, its
 * streams and tracks. docs/export.md describes it.
 *
 * It is made under another name without a journal, and gets its name when it is whole.
 */
#include <math.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "export.h"
#include "kinds.h"
#include "nest.h"
#include "put.h"

#define SCHEMA_VERSION 1
#define TABLES_MAX 256u
#define TRACKS_MAX ((size_t)1 << 18)
#define SCRATCH_MAX ((size_t)1 << 26)
#define SQL_MAX ((size_t)1 << 20)
#define TRANSACTION_EVENTS 262144u
#define PLACE_COLUMNS 4 /* time_ns, stream, track, seq */

struct table {
	uint16_t kind;
	uint16_t field_count;
	char name[WTI_TABLE_NAME_BYTES];
	sqlite3_stmt *insert;
};

struct track {
	size_t stream;
	uint32_t track;
	struct wti_nest nest;
};

struct sqlite {
	struct wti_export *export;
	char *temporary;
	sqlite3 *db;
	struct table *tables;
	size_t table_count;
	sqlite3_stmt *insert_span;
	uint64_t next_span;
	struct wti_map track_index; /* stream and track: place in tracks plus one */
	struct track *tracks;
	size_t track_count;
	struct wti_buf scratch;              /* of values */
	struct wti_buf texts[WT_FIELDS_MAX]; /* what had to be made valid UTF-8, by column */
	uint32_t until_commit;
};

static int failed(struct sqlite *s, struct wt_err *err)
{
	int code = sqlite3_errcode(s->db);

	if (code == SQLITE_NOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_err(err, WT_E_IO, "cannot write '%s': %s", s->export->path,
		       sqlite3_errmsg(s->db));
}

static int run_sql(struct sqlite *s, const char *sql, struct wt_err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

static int prepare(struct sqlite *s, const char *sql, sqlite3_stmt **ret_stmt, struct wt_err *err)
{
	return sqlite3_prepare_v2(s->db, sql, -1, ret_stmt, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

/* Executes an insert whose columns are bound. */
static int insert(struct sqlite *s, sqlite3_stmt *stmt, struct wt_err *err)
{
	int status = sqlite3_step(stmt) == SQLITE_DONE ? 0 : failed(s, err);

	sqlite3_reset(stmt);
	return status;
}

/* ---- Binding --------------------------------------------------------------------------------- */

static bool is_clean(struct wt_text text)
{
	for (size_t i = 0; i < text.bytes; i++) {
		if ((uint8_t)text.data[i] >= 0x80 || !text.data[i])
			return false;
	}
	return true;
}

/* `buf` keeps the text if it had to be changed; it must live until the insert. NULL: copy. */
static void bind_text(sqlite3_stmt *stmt, int column, struct wt_text text, struct wti_buf *buf)
{
	if (!is_clean(text)) {
		wti_buf_clear(buf);
		wti_put_utf8(buf, text);
		text = (struct wt_text){(const char *)buf->data, buf->bytes};
	}
	sqlite3_bind_text64(stmt, column, text.data ? text.data : "", text.bytes, SQLITE_STATIC,
			    SQLITE_UTF8);
}

static void bind_hash(sqlite3_stmt *stmt, int column, uint64_t bits)
{
	char text[32];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)bits);
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_TRANSIENT);
}

/* What does not fit a signed number is text that no column turns into a rounded one. */
static void bind_u64(sqlite3_stmt *stmt, int column, uint64_t value)
{
	char text[32];

	if (value <= INT64_MAX) {
		sqlite3_bind_int64(stmt, column, (int64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)value);
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_TRANSIENT);
}

static void bind_value(sqlite3_stmt *stmt, int column, const struct wti_shown *value,
		       struct wti_buf *buf)
{
	switch (value->type) {
	case WTI_SHOWN_ABSENT:
		sqlite3_bind_null(stmt, column);
		break;
	case WTI_SHOWN_BOOL:
		sqlite3_bind_int(stmt, column, value->u != 0);
		break;
	case WTI_SHOWN_UINT:
		bind_u64(stmt, column, value->u);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		sqlite3_bind_int64(stmt, column, value->i);
		break;
	case WTI_SHOWN_FLOAT:
		if (isnan(value->f)) /* which SQLite would make NULL */
			sqlite3_bind_text(stmt, column, "nan", 3, SQLITE_STATIC);
		else
			sqlite3_bind_double(stmt, column, value->f);
		break;
	case WTI_SHOWN_HASH:
		bind_hash(stmt, column, value->u);
		break;
	case WTI_SHOWN_TEXT:
		bind_text(stmt, column, value->text, buf);
		break;
	}
}

/* ---- Tables of kinds ------------------------------------------------------------------------- */

/* In double quotes, whatever a foreign trace calls its fields. */
static void put_identifier(struct wti_buf *out, const char *name)
{
	WTI_PUT(out, "\"");
	for (; *name; name++) {
		if (*name == '"')
			WTI_PUT(out, "\"");
		if ((uint8_t)*name < 0x80)
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

static void put_create(struct wti_buf *sql, const struct table *table, const struct wt_kind *kind)
{
	WTI_PUT(sql, "CREATE TABLE ");
	put_identifier(sql, table->name);
	WTI_PUT(sql, "(time_ns INTEGER, stream INTEGER, track INTEGER, seq INTEGER");
	for (int i = 0; i < kind->field_count; i++) {
		const char *type = column_type(&kind->fields[i]);

		WTI_PUT(sql, ", ");
		put_identifier(sql, kind->fields[i].name);
		wti_put(sql, type, strlen(type));
	}
	WTI_PUT(sql, ")");
}

static void put_insert(struct wti_buf *sql, const struct table *table)
{
	WTI_PUT(sql, "INSERT INTO ");
	put_identifier(sql, table->name);
	WTI_PUT(sql, " VALUES(?,?,?,?");
	for (int i = 0; i < table->field_count; i++)
		WTI_PUT(sql, ",?");
	WTI_PUT(sql, ")");
}

static int add_table(struct sqlite *s, struct table *table, uint16_t number, struct wt_err *err)
{
	const struct wt_kind *kind = wti_widest_kind(s->export->trace, number);
	struct wti_buf sql;
	int status;

	*table = (struct table){.kind = number, .field_count = kind->field_count};
	wti_table_name(table->name, kind);
	wti_buf_init(&sql, SQL_MAX);
	put_create(&sql, table, kind);
	status = run_sql(s, wti_buf_cstr(&sql), err);
	wti_buf_clear(&sql);
	put_insert(&sql, table);
	if (!status)
		status = prepare(s, wti_buf_cstr(&sql), &table->insert, err);
	wti_buf_release(&sql);
	return status;
}

static int table_of(struct sqlite *s, uint16_t kind, struct table **ret_table, struct wt_err *err)
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

static int insert_event(struct sqlite *s, const struct wt_event *event, struct wt_err *err)
{
	struct table *table = NULL;
	int status = table_of(s, event->kind->number, &table, err);

	if (status)
		return status;
	sqlite3_bind_int64(table->insert, 1, event->time_ns);
	sqlite3_bind_int64(table->insert, 2, (int64_t)event->stream);
	sqlite3_bind_int64(table->insert, 3, event->track);
	bind_u64(table->insert, 4, event->seq);
	for (int i = 0; i < table->field_count; i++) {
		struct wti_shown value;

		value.type = WTI_SHOWN_ABSENT;
		if (i < event->kind->field_count)
			wti_value_of(&value, event, i, &s->scratch);
		bind_value(table->insert, PLACE_COLUMNS + 1 + i, &value, &s->texts[i]);
	}
	return insert(s, table->insert, err);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static struct track *track_of(struct sqlite *s, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&s->track_index, (uint64_t)event->stream << 32 | event->track);

	if (!slot)
		return NULL;
	if (*slot)
		return &s->tracks[*slot - 1];
	if (!(s->track_count & (s->track_count - 1))) {
		size_t capacity = s->track_count ? s->track_count * 2 : 1;
		struct track *more = realloc(s->tracks, sizeof(*more) * capacity);

		if (!more)
			return NULL;
		s->tracks = more;
	}
	s->tracks[s->track_count++] =
		(struct track){.stream = event->stream, .track = event->track};
	*slot = s->track_count;
	return &s->tracks[*slot - 1];
}

/* The innermost open one. `end`: NULL if it has none. */
static int insert_span(struct sqlite *s, struct track *track, const int64_t *end_ns,
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
	sqlite3_bind_text(stmt, 6, open->kind == WT_KIND_CALL_BEGIN ? "call" : "span", 4,
			  SQLITE_STATIC);
	bind_text(stmt, 7, wt_reader_string(reader, open->name), &s->texts[0]);
	sqlite3_bind_int64(stmt, 8, open->begin_ns);
	if (end_ns) {
		int64_t end = *end_ns > open->begin_ns ? *end_ns : open->begin_ns;

		sqlite3_bind_int64(stmt, 9, end);
		sqlite3_bind_int64(stmt, 10, (int64_t)((uint64_t)end - (uint64_t)open->begin_ns));
	}
	if (open->module)
		bind_text(stmt, 11, wt_reader_string(reader, open->module), &s->texts[1]);
	if (site.bytes)
		bind_text(stmt, 12, site, &s->texts[2]);
	if (exception)
		bind_text(stmt, 13, wt_reader_string(reader, exception), &s->texts[3]);
	return insert(s, stmt, err);
}

static int end_span(struct sqlite *s, struct track *track, const struct wt_event *event,
		    struct wt_err *err)
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

static int nest_event(struct sqlite *s, const struct wt_event *event, struct wt_err *err)
{
	struct track *track = track_of(s, event);
	int status;

	if (!track) {
		s->export->left_out_count++;
		return 0;
	}
	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_CALL_BEGIN:
		status = wti_nest_begin(&track->nest, event, s->next_span++);
		if (status == WT_E_LIMIT)
			s->export->left_out_count++;
		return status == WT_E_NOMEM ? wti_err(err, status, "out of memory") : 0;
	default:
		return end_span(s, track, event, err);
	}
}

/* ---- What is known of the run ---------------------------------------------------------------- */

static int insert_stream(struct sqlite *s, sqlite3_stmt *stmt, size_t stream, struct wt_err *err)
{
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	const struct wt_identity *identity = wt_reader_identity(reader);
	const struct wt_err *damage = wt_reader_damage(reader);
	const char *path = wt_reader_path(reader);
	const char *slash = strrchr(path, '/');
	struct wt_text file = {slash ? slash + 1 : path, strlen(slash ? slash + 1 : path)};
	struct wt_text command = {identity->command,
				  strnlen(identity->command, sizeof(identity->command))};

	sqlite3_clear_bindings(stmt);
	sqlite3_bind_int64(stmt, 1, (int64_t)stream);
	bind_text(stmt, 2, file, &s->texts[0]);
	sqlite3_bind_int64(stmt, 3, identity->pid);
	bind_text(stmt, 4, command, &s->texts[1]);
	sqlite3_bind_int64(stmt, 5, identity->exec);
	sqlite3_bind_int64(stmt, 6, identity->segment);
	sqlite3_bind_int64(stmt, 7, wt_reader_finished(reader));
	if (damage->code)
		bind_text(stmt, 8, (struct wt_text){damage->message, strlen(damage->message)},
			  &s->texts[2]);
	return insert(s, stmt, err);
}

static int insert_tracks(struct sqlite *s, sqlite3_stmt *stmt, size_t stream, struct wt_err *err)
{
	static const char *const types[] = {"track", "thread", "queue", "rank", "recorder"};
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	int status = 0;

	for (size_t i = 0; i < wt_reader_track_count(reader) && !status; i++) {
		const struct wt_track *track = wt_reader_track_at(reader, i);

		if (!track)
			continue;
		sqlite3_bind_int64(stmt, 1, (int64_t)stream);
		sqlite3_bind_int64(stmt, 2, track->id);
		sqlite3_bind_text(stmt, 3,
				  types[track->type <= WT_TRACK_RECORDER ? track->type : 0], -1,
				  SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 4, track->tid);
		sqlite3_bind_int64(stmt, 5, track->device);
		bind_text(stmt, 6, (struct wt_text){track->name, track->name_bytes}, &s->texts[0]);
		status = insert(s, stmt, err);
	}
	return status;
}

static int insert_strings(struct sqlite *s, sqlite3_stmt *stmt, size_t stream, struct wt_err *err)
{
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	uint32_t count = wt_reader_string_count(reader);
	int status = 0;

	for (uint32_t id = 1; id < count && !status; id++) {
		sqlite3_bind_int64(stmt, 1, (int64_t)stream);
		sqlite3_bind_int64(stmt, 2, id);
		bind_text(stmt, 3, wt_reader_string(reader, id), &s->texts[0]);
		status = insert(s, stmt, err);
	}
	return status;
}

static int for_streams(struct sqlite *s, const char *sql,
		       int (*each)(struct sqlite *s, sqlite3_stmt *stmt, size_t stream,
				   struct wt_err *err),
		       struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int status = prepare(s, sql, &stmt, err);

	if (status)
		return status;
	for (size_t i = 0; i < wt_trace_stream_count(s->export->trace) && !status; i++)
		status = each(s, stmt, i, err);
	sqlite3_finalize(stmt);
	return status;
}

static int describe_run(struct sqlite *s, struct wt_err *err)
{
	const struct wt_trace *trace = s->export->trace;
	char sql[512];
	int status;

	snprintf(sql, sizeof(sql),
		 "INSERT INTO run VALUES('made_by', 'wheeltap " WTI_VERSION "'),"
		 "('events', %llu), ('streams', %llu), ('start_realtime_ns', %lld),"
		 "('clock_error_ns', %llu)",
		 (unsigned long long)s->export->events,
		 (unsigned long long)wt_trace_stream_count(trace),
		 (long long)wt_trace_start_realtime_ns(trace),
		 (unsigned long long)wt_trace_clock_error_ns(trace));
	status = run_sql(s, sql, err);
	if (!status)
		status = for_streams(s, "INSERT INTO streams VALUES(?,?,?,?,?,?,?,?)",
				     insert_stream, err);
	if (!status)
		status = for_streams(s, "INSERT INTO tracks VALUES(?,?,?,?,?,?)", insert_tracks,
				     err);
	if (!status)
		status = for_streams(s, "INSERT INTO strings VALUES(?,?,?)", insert_strings, err);
	return status;
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
	" duration_ns INTEGER, module TEXT, site TEXT, exception TEXT);";

static int open_database(struct sqlite *s, struct wt_err *err)
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
		return failed(s, err);
	return run_sql(s,
		       "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
		       "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
		       "PRAGMA cache_size = -65536; PRAGMA temp_store = FILE;",
		       err);
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct sqlite *s = state;
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
		status = run_sql(s, schema, err);
	if (!status)
		status = prepare(s, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
				 &s->insert_span, err);
	return status ? status : run_sql(s, "BEGIN", err);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct sqlite *s = state;
	int status = insert_event(s, event, err);

	switch (event->kind->number) {
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_SPAN_END:
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_CALL_END:
		if (!status)
			status = nest_event(s, event, err);
	}
	if (status || --s->until_commit)
		return status;
	s->until_commit = TRANSACTION_EVENTS;
	return run_sql(s, "COMMIT; BEGIN", err);
}

static int insert_unfinished(struct sqlite *s, struct wt_err *err)
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

static int add_indices(struct sqlite *s, struct wt_err *err)
{
	struct wti_buf sql;
	int status = run_sql(s,
			     "CREATE INDEX spans_begin ON spans(begin_ns);"
			     "CREATE INDEX spans_name ON spans(name);"
			     "CREATE INDEX spans_parent ON spans(parent)",
			     err);

	wti_buf_init(&sql, SQL_MAX);
	for (size_t i = 0; i < s->table_count && !status; i++) {
		wti_buf_clear(&sql);
		wti_buf_printf(&sql, "CREATE INDEX \"%s_time\" ON \"%s\"(time_ns)",
			       s->tables[i].name, s->tables[i].name);
		status = run_sql(s, wti_buf_cstr(&sql), err);
	}
	wti_buf_release(&sql);
	return status;
}

/* Statements keep a database open. */
static void finalize(struct sqlite *s)
{
	for (size_t i = 0; i < s->table_count; i++)
		sqlite3_finalize(s->tables[i].insert);
	s->table_count = 0;
	sqlite3_finalize(s->insert_span);
	s->insert_span = NULL;
}

static int close_database(struct sqlite *s, struct wt_err *err)
{
	struct stat info;

	finalize(s);
	if (sqlite3_close(s->db) != SQLITE_OK)
		return failed(s, err);
	s->db = NULL;
	if (!stat(s->temporary, &info))
		s->export->bytes = (uint64_t)info.st_size;
	return 0;
}

static int finish(void *state, struct wt_err *err)
{
	struct sqlite *s = state;
	char sql[64];
	int status = insert_unfinished(s, err);

	snprintf(sql, sizeof(sql), "COMMIT; PRAGMA user_version = %d", SCHEMA_VERSION);
	if (!status)
		status = describe_run(s, err);
	if (!status)
		status = run_sql(s, sql, err);
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
	struct sqlite *s = state;

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
	.state_bytes = sizeof(struct sqlite),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
