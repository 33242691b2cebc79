/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nsight Systems, exported as SQLite: calls of CUDA, what devices did, NVTX ranges. Tables that a
 * report does not have are passed over; columns differ between versions, so each is looked for.
 * Texts are numbers of rows in StringIds. Nothing in the database is executed: it is opened for
 * reading, without triggers, views or extensions of its own.
 */
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats.h"

#define COLUMNS_MAX 16
#define SQL_BYTES 1024
/* Of a text in the file. Names of kernels are long; this is what memory a row may take. */
#define VALUE_BYTES_MAX (16 << 20)
/* Of a global thread id: the process, and the thread in it. */
#define TID_BITS 24u
#define TID_MASK (((uint64_t)1 << TID_BITS) - 1)

enum { NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_MARK = 34, SYNC_STREAM_WAIT = 2 };

struct nsys {
	struct wti_intake *intake;
	const char *path;
	sqlite3 *database;
	struct wti_import_file *file;
	bool has_strings;
	struct wt_err *err;
};

/* A column of a table under our own name; missing ones are NULL. */
struct column {
	const char *name;
	bool is_text; /* a number of StringIds */
};

struct table {
	const char *name;
	struct column columns[COLUMNS_MAX];
	void (*take)(struct nsys *nsys, sqlite3_stmt *row);
};

static uint64_t number(sqlite3_stmt *row, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(row, column);

	return value > 0 ? (uint64_t)value : 0;
}

static uint32_t name_of(struct nsys *nsys, const char *text)
{
	return wti_intake_name(nsys->intake, text, strlen(text));
}

static uint32_t name_at(struct nsys *nsys, sqlite3_stmt *row, int column, const char *otherwise)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t bytes = text ? (size_t)sqlite3_column_bytes(row, column) : 0;

	return bytes ? wti_intake_name(nsys->intake, text, bytes) : name_of(nsys, otherwise);
}

/* One of a few names, by a number of CUPTI's; the first stands for those that are not known. */
static uint32_t name_by(struct nsys *nsys, const char *const *names, size_t count, uint64_t number)
{
	return name_of(nsys, names[number < count ? number : 0]);
}

static uint32_t process_of(struct nsys *nsys, uint64_t global)
{
	uint32_t pid = (uint32_t)(global >> TID_BITS & TID_MASK);
	char key[16];
	int bytes = snprintf(key, sizeof(key), "%u", pid);
	uint32_t process = wti_intake_process(nsys->intake, key, (size_t)bytes);

	wti_intake_process_set(nsys->intake, process, pid, "", 0);
	return process;
}

/* `about` without process and key: that is the text behind `type`, which is part of the name. */
static uint32_t track_of(struct nsys *nsys, uint64_t global, struct wti_intake_track about,
			 const char *type, uint64_t number)
{
	char key[48], name[48];
	int bytes = snprintf(key, sizeof(key), "%u/%llu", about.device, (unsigned long long)number);
	uint32_t track;

	about.process = process_of(nsys, global);
	about.key = key;
	about.key_bytes = (size_t)bytes;
	track = wti_intake_track(nsys->intake, &about);
	bytes = snprintf(name, sizeof(name), "%s %llu", type, (unsigned long long)number);
	wti_intake_track_name(nsys->intake, track, name, (size_t)bytes);
	return track;
}

static uint32_t thread_of(struct nsys *nsys, uint64_t global)
{
	uint32_t tid = (uint32_t)(global & TID_MASK);

	return track_of(nsys, global,
			(struct wti_intake_track){.type = WT_TRACK_THREAD, .tid = tid}, "thread",
			tid);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* start, end, globalTid, correlationId, nameId */
static void take_runtime(struct nsys *nsys, sqlite3_stmt *row)
{
	const struct wti_intake_span span = {.track = thread_of(nsys, number(row, 2)),
					     .name = name_at(nsys, row, 4, "CUDA"),
					     .flags = WT_SPAN_RUNTIME,
					     .rank = WTI_RANK_RUNTIME,
					     .begin = number(row, 0),
					     .end = number(row, 1),
					     .correlation = number(row, 3)};

	wti_intake_span(nsys->intake, &span);
}

/* start, end, globalPid, correlationId, deviceId, streamId come first in all tables of devices. */
static void take_op(struct nsys *nsys, sqlite3_stmt *row, uint32_t op, uint32_t name,
		    uint32_t geometry, uint64_t bytes)
{
	const struct wti_intake_track queue = {.type = WT_TRACK_QUEUE,
					       .device = (uint32_t)number(row, 4)};
	const struct wti_intake_op item = {
		.track = track_of(nsys, number(row, 2), queue, "stream", number(row, 5)),
		.op = op,
		.name = name,
		.device = queue.device,
		.geometry = geometry,
		.correlation = number(row, 3),
		.started = number(row, 0),
		.ended = number(row, 1),
		.bytes = bytes};

	if (!item.started && !item.ended)
		wti_intake_lose(nsys->intake, "operations of a device without a time", 1);
	else
		wti_intake_op(nsys->intake, &item);
}

/* ..., demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ */
static void take_kernel(struct nsys *nsys, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 6);
	bool collective = name && !strncmp(name, "nccl", 4);
	char text[128];
	int bytes =
		snprintf(text, sizeof(text), "%llux%llux%llu/%llux%llux%llu",
			 (unsigned long long)number(row, 7), (unsigned long long)number(row, 8),
			 (unsigned long long)number(row, 9), (unsigned long long)number(row, 10),
			 (unsigned long long)number(row, 11), (unsigned long long)number(row, 12));

	take_op(nsys, row, collective ? WT_OP_COLLECTIVE : WT_OP_KERNEL,
		name_at(nsys, row, 6, "kernel"),
		number(row, 7) ? wti_intake_name(nsys->intake, text, (size_t)bytes) : 0, 0);
}

/* ..., bytes, copyKind */
static void take_copy(struct nsys *nsys, sqlite3_stmt *row)
{
	static const char *const kinds[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH",
					    "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA",
					    "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD",
					    "Memcpy HtoH", "Memcpy PtoP"};

	take_op(nsys, row, WT_OP_COPY, name_by(nsys, kinds, WTI_COUNT(kinds), number(row, 7)), 0,
		number(row, 6));
}

static void take_fill(struct nsys *nsys, sqlite3_stmt *row)
{
	take_op(nsys, row, WT_OP_FILL, name_of(nsys, "Memset"), 0, number(row, 6));
}

/* ..., syncType */
static void take_sync(struct nsys *nsys, sqlite3_stmt *row)
{
	static const char *const types[] = {"Sync", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	uint64_t type = number(row, 6);

	take_op(nsys, row, type == SYNC_STREAM_WAIT ? WT_OP_WAIT : WT_OP_SYNC,
		name_by(nsys, types, WTI_COUNT(types), type), 0, 0);
}

/* start, end, globalTid, eventType, text, textId */
static void take_nvtx(struct nsys *nsys, sqlite3_stmt *row)
{
	bool inside = sqlite3_column_bytes(row, 4);
	uint32_t name = name_at(nsys, row, inside ? 4 : 5, "");
	uint64_t start = number(row, 0), end = number(row, 1), type = number(row, 3);
	const uint64_t values[] = {name, 0, 0};
	const struct wti_intake_span span = {.track = thread_of(nsys, number(row, 2)),
					     .name = name,
					     .flags = WT_SPAN_ANNOTATION,
					     .rank = WTI_RANK_ANNOTATION,
					     .begin = start,
					     .end = end};

	if (type == NVTX_MARK)
		wti_intake_event(nsys->intake, WT_KIND_MARK, span.track, start, values, 3, NULL);
	else if (type != NVTX_PUSH_POP && type != NVTX_START_END)
		wti_intake_leave_out(nsys->intake, "NVTX events that are no ranges or marks", 1);
	else if (sqlite3_column_type(row, 1) == SQLITE_NULL)
		wti_intake_begin(nsys->intake, &span);
	else
		wti_intake_span(nsys->intake, &span);
}

/* clang-format off */
#define THREAD_COLUMNS {"start"}, {"end"}, {"globalTid"}
#define DEVICE_COLUMNS {"start"}, {"end"}, {"globalPid"}, {"correlationId"}, {"deviceId"}, {"streamId"}

static const struct table tables[] = {
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 {THREAD_COLUMNS, {"correlationId"}, {"nameId", true}}, take_runtime},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 {DEVICE_COLUMNS, {"demangledName", true},
	  {"gridX"}, {"gridY"}, {"gridZ"}, {"blockX"}, {"blockY"}, {"blockZ"}}, take_kernel},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", {DEVICE_COLUMNS, {"bytes"}, {"copyKind"}}, take_copy},
	{"CUPTI_ACTIVITY_KIND_MEMSET", {DEVICE_COLUMNS, {"bytes"}}, take_fill},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {DEVICE_COLUMNS, {"syncType"}}, take_sync},
	{"NVTX_EVENTS", {THREAD_COLUMNS, {"eventType"}, {"text"}, {"textId", true}}, take_nvtx},
};
/* clang-format on */

/* ---- The database ---------------------------------------------------------------------------- */

/* The rows that `sql` has for a table, as a statement; NULL: it cannot be asked. */
static sqlite3_stmt *ask(struct nsys *nsys, const char *sql, const char *table)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(nsys->database, sql, -1, &statement, NULL) != SQLITE_OK)
		return NULL;
	if (table)
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	return statement;
}

/* Virtual tables have no page: what they answer is made by a module that the file chooses. */
static bool has_table(struct nsys *nsys, const char *table)
{
	sqlite3_stmt *statement = ask(nsys,
				      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND "
				      "rootpage > 0 AND name = ?1",
				      table);
	bool found = statement && sqlite3_step(statement) == SQLITE_ROW;

	sqlite3_finalize(statement);
	return found;
}

/* Bits of the columns that the table has. Those that an expression computes are not among them. */
static unsigned columns_of(struct nsys *nsys, const struct table *table)
{
	sqlite3_stmt *statement = ask(nsys, "SELECT name FROM pragma_table_info(?1)", table->name);
	unsigned columns = 0;

	while (statement && sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		for (size_t i = 0; name && i < COLUMNS_MAX && table->columns[i].name; i++)
			columns |= (unsigned)!strcmp(name, table->columns[i].name) << i;
	}
	sqlite3_finalize(statement);
	return columns;
}

static void make_query(struct nsys *nsys, const struct table *table, char sql[SQL_BYTES])
{
	size_t at = (size_t)snprintf(sql, SQL_BYTES, "SELECT ");
	unsigned columns = columns_of(nsys, table);

	for (size_t i = 0; i < COLUMNS_MAX && table->columns[i].name; i++) {
		const struct column *column = &table->columns[i];
		bool known = columns >> i & 1 && (!column->is_text || nsys->has_strings);
		const char *before = !known ? "NULL"
				     : column->is_text
					     ? "(SELECT value FROM StringIds WHERE id = t."
					     : "t.";

		at += (size_t)snprintf(sql + at, SQL_BYTES - at, "%s%s%s%s", i ? ", " : "", before,
				       known ? column->name : "",
				       known && column->is_text ? ")" : "");
	}
	snprintf(sql + at, SQL_BYTES - at, " FROM %s AS t", table->name);
}

static void damaged(struct nsys *nsys, const char *table)
{
	if (!nsys->file->damage.code)
		wti_err(&nsys->file->damage, WT_E_FORMAT, "'%.200s', table %s: %s", nsys->path,
			table, sqlite3_errmsg(nsys->database));
}

static void read_table(struct nsys *nsys, const struct table *table)
{
	sqlite3_stmt *row;
	char sql[SQL_BYTES];
	int r;

	make_query(nsys, table, sql);
	r = sqlite3_prepare_v2(nsys->database, sql, -1, &row, NULL);
	if (r != SQLITE_OK) {
		damaged(nsys, table->name);
		return;
	}
	while ((r = sqlite3_step(row)) == SQLITE_ROW) {
		nsys->file->records++;
		table->take(nsys, row);
	}
	if (r != SQLITE_DONE)
		damaged(nsys, table->name);
	sqlite3_finalize(row);
}

/* When the times began to count, since 1970; 0: not known. */
static uint64_t start_of(struct nsys *nsys)
{
	sqlite3_stmt *row;
	uint64_t start = 0;

	if (sqlite3_prepare_v2(nsys->database,
			       "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1, &row,
			       NULL) != SQLITE_OK)
		return 0;
	if (sqlite3_step(row) == SQLITE_ROW)
		start = number(row, 0);
	sqlite3_finalize(row);
	return start < WTI_INTAKE_TIME_MAX ? start : 0;
}

/* SQLite reads zeros where its last page is cut, and says nothing. */
static void check_end(struct nsys *nsys)
{
	sqlite3_stmt *row = ask(nsys, "SELECT page_size FROM pragma_page_size", NULL);
	uint64_t page = row && sqlite3_step(row) == SQLITE_ROW ? number(row, 0) : 0;

	sqlite3_finalize(row);
	if (page && nsys->file->bytes % page && !nsys->file->damage.code)
		wti_err_at(&nsys->file->damage, WT_E_FORMAT, (int64_t)nsys->file->bytes,
			   "'%.200s', byte %llu: the file ends within a page: it is cut",
			   nsys->path, (unsigned long long)nsys->file->bytes);
}

static int read_database(struct nsys *nsys)
{
	size_t found = 0;

	sqlite3_db_config(nsys->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(nsys->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(nsys->database, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	nsys->has_strings = has_table(nsys, "StringIds");
	for (size_t i = 0; i < WTI_COUNT(tables); i++) {
		if (!has_table(nsys, tables[i].name))
			continue;
		found++;
		read_table(nsys, &tables[i]);
	}
	if (!found && sqlite3_errcode(nsys->database) == SQLITE_CORRUPT)
		return wti_err_at(nsys->err, WT_E_FORMAT, 0,
				  "'%.200s', byte 0: this database is damaged, or it is cut: %s",
				  nsys->path, sqlite3_errmsg(nsys->database));
	if (!found)
		return wti_err_at(
			nsys->err, WT_E_FORMAT, 0,
			"'%.200s', byte 0: not an SQLite export of Nsight Systems: none of its "
			"tables is there (nsys export --type sqlite)",
			nsys->path);
	check_end(nsys);
	nsys->file->shift_ns = start_of(nsys);
	nsys->file->realtime = nsys->file->shift_ns;
	return 0;
}

/*
 * A journal beside it has rows that the file has not, and to read it SQLite writes beside the file.
 * Without one the file is all there is: then nothing is made beside it.
 */
static bool has_journal(const char *path)
{
	char journal[PATH_MAX];

	return snprintf(journal, sizeof(journal), "%s-wal", path) < (int)sizeof(journal) &&
	       access(journal, F_OK) == 0;
}

static int open_database(const char *path, sqlite3 **ret_database)
{
	const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
	sqlite3_str *uri;
	char *text;
	int r;

	if (has_journal(path))
		return sqlite3_open_v2(path, ret_database, flags, NULL);
	uri = sqlite3_str_new(NULL);
	sqlite3_str_appendall(uri, *path == '/' ? "file://" : "file:");
	for (const char *at = path; *at; at++)
		sqlite3_str_appendf(uri, strchr("%?#", *at) ? "%%%02X" : "%c", *at);
	sqlite3_str_appendall(uri, "?immutable=1");
	text = sqlite3_str_finish(uri);
	r = text ? sqlite3_open_v2(text, ret_database, flags | SQLITE_OPEN_URI, NULL)
		 : SQLITE_NOMEM;
	sqlite3_free(text);
	return r;
}

static int read_nsys(const char *path, struct wti_intake *intake, struct wti_import_file *ret_file,
		     struct wt_err *err)
{
	struct nsys nsys = {.intake = intake, .path = path, .file = ret_file, .err = err};
	struct stat about;
	int r;

	if (stat(path, &about))
		return wti_err_errno(err, "cannot open", path);
	if (!S_ISREG(about.st_mode))
		return wti_err(err, WT_E_ARG, "'%.200s' is no file: SQLite needs one", path);
	ret_file->bytes = (uint64_t)about.st_size;
	if (open_database(path, &nsys.database) != SQLITE_OK)
		r = wti_err(err, WT_E_IO, "cannot open '%.200s': %s", path,
			    sqlite3_errmsg(nsys.database));
	else
		r = read_database(&nsys);
	sqlite3_close(nsys.database);
	return r;
}

const struct wti_import_format wti_import_nsys = {"nsys", read_nsys};
