/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows SQLite: how the file is opened, what its tables are, which errors mean damage.
 *
 * A rollback journal, as WAL does not work over NFS, and no fsync(): what is lost when the power
 * fails is made again. Writers wait for one another.
 */
#include "catalogue_db.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* Raised when tables change: those of before are made anew. */
#define SCHEMA_VERSION 3
#define BUSY_MS 60000 /* the longest that a writer holds it is a rebuild */
#define ASIDE ".damaged"

static const char schema[] =
	"CREATE TABLE runs(id INTEGER PRIMARY KEY, folder TEXT NOT NULL, label TEXT, status TEXT,"
	" command TEXT, program TEXT, directory TEXT, commit_id TEXT, diff_hash TEXT, host TEXT,"
	" config TEXT, tags TEXT, start_ns INTEGER, written_ns INTEGER, duration_ns INTEGER,"
	" events INTEGER, lost INTEGER, stream_bytes INTEGER, disk_bytes INTEGER,"
	" exit_status INTEGER, run_count INTEGER, removed_ns INTEGER, is_set INTEGER,"
	" is_dirty INTEGER, summary INTEGER NOT NULL DEFAULT 0, is_damaged INTEGER DEFAULT 0,"
	" json_ns INTEGER, json_bytes INTEGER, folder_ns INTEGER);"
	"CREATE UNIQUE INDEX runs_folder ON runs(folder) WHERE removed_ns < 0;"
	"CREATE TABLE metrics(run INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT, first REAL,"
	" last REAL, min REAL, max REAL, mean REAL, p50 REAL, p95 REAL, count INTEGER);"
	"CREATE INDEX metrics_name ON metrics(name);"
	"CREATE INDEX metrics_run ON metrics(run);"
	"CREATE TABLE findings(run INTEGER NOT NULL, code TEXT, severity INTEGER, title TEXT,"
	" file TEXT, line INTEGER, step INTEGER, count INTEGER);"
	"CREATE INDEX findings_run ON findings(run);"
	"CREATE TABLE tests(run INTEGER NOT NULL, name TEXT NOT NULL, status INTEGER,"
	" comparator INTEGER, expected TEXT, actual TEXT, tolerance REAL, n INTEGER, unit TEXT,"
	" duration_ns INTEGER, detail TEXT, file TEXT, line INTEGER);"
	"CREATE INDEX tests_name ON tests(name);"
	"CREATE INDEX tests_run ON tests(run);"
	"CREATE TABLE settings(run INTEGER NOT NULL, name TEXT NOT NULL, value TEXT, source TEXT,"
	" type INTEGER, is_default INTEGER, changes INTEGER);"
	"CREATE INDEX settings_name ON settings(name);"
	"CREATE INDEX settings_run ON settings(run);"
	"CREATE TABLE saved(run INTEGER NOT NULL, path TEXT, step INTEGER, tensors INTEGER,"
	" digest INTEGER, anchor INTEGER);"
	"CREATE INDEX saved_run ON saved(run);"
	"CREATE INDEX saved_path ON saved(path);"
	"CREATE INDEX saved_digest ON saved(digest);"
	"CREATE INDEX saved_anchor ON saved(anchor);"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER);";

/* ---- Statements ------------------------------------------------------------------------------ */

static int code_of(int status)
{
	switch (status & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return WT_E_FORMAT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return WT_E_BUSY;
	case SQLITE_NOMEM:
		return WT_E_NOMEM;
	case SQLITE_ERROR: /* tables that are not ours */
		return WT_E_FORMAT;
	default:
		return WT_E_IO;
	}
}

int wti_db_failed(struct wti_catalogue *c, struct wt_err *err)
{
	int code = c->db ? code_of(sqlite3_extended_errcode(c->db)) : WT_E_NOMEM;

	return wti_err(err, code, "the catalogue of runs '%.200s' cannot be used: %s",
		       *c->path ? c->path : "in memory",
		       c->db ? sqlite3_errmsg(c->db) : "out of memory");
}

int wti_db_run(struct wti_catalogue *c, const char *sql, struct wt_err *err)
{
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL) ? wti_db_failed(c, err) : 0;
}

int wti_db_prepare(struct wti_catalogue *c, const char *sql, sqlite3_stmt **ret_stmt,
		   struct wt_err *err)
{
	*ret_stmt = NULL;
	return sqlite3_prepare_v2(c->db, sql, -1, ret_stmt, NULL) ? wti_db_failed(c, err) : 0;
}

int wti_db_step(struct wti_catalogue *c, sqlite3_stmt *stmt, struct wt_err *err)
{
	int status = sqlite3_step(stmt);

	return status == SQLITE_ROW ? 1 : status == SQLITE_DONE ? 0 : wti_db_failed(c, err);
}

int wti_db_execute(struct wti_catalogue *c, sqlite3_stmt *stmt, struct wt_err *err)
{
	int r = wti_db_step(c, stmt, err);

	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return r < 0 ? r : 0;
}

void wti_db_bind_text(sqlite3_stmt *stmt, int column, const char *text)
{
	sqlite3_bind_text(stmt, column, text ? text : "", -1, SQLITE_STATIC);
}

const char *wti_db_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "";
}

int wti_db_begin(struct wti_catalogue *c, struct wt_err *err)
{
	return wti_db_run(c, "BEGIN IMMEDIATE", err);
}

int wti_db_end(struct wti_catalogue *c, int r, struct wt_err *err)
{
	if (!r)
		r = wti_db_run(c, "COMMIT", err);
	if (r)
		sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Private, like the runs: SQLite itself would take the umask. */
static bool make_file(struct wti_catalogue *c)
{
	int fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;
	bool ok = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);

	if (ok)
		c->inode = st.st_ino;
	if (fd >= 0)
		close(fd);
	return ok;
}

static int version_of(struct wti_catalogue *c, int64_t *ret_version, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "PRAGMA user_version", &stmt, err);

	if (!r)
		r = wti_db_step(c, stmt, err);
	*ret_version = r > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

static int make_tables(struct wti_catalogue *c, struct wt_err *err)
{
	char sql[64];
	int64_t version;
	int r = wti_db_begin(c, err);

	if (r)
		return r;
	r = version_of(c, &version, err); /* another may have been faster */
	if (!r && version != SCHEMA_VERSION) {
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION);
		r = wti_db_run(c, schema, err);
		r = r ? r : wti_db_run(c, sql, err);
	}
	return wti_db_end(c, r, err);
}

static int set_up(struct wti_catalogue *c, struct wt_err *err)
{
	int64_t version;
	int r;

	sqlite3_busy_timeout(c->db, BUSY_MS);
	sqlite3_extended_result_codes(c->db, 1);
	r = wti_db_run(c, "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY", err);
	r = r ? r : version_of(c, &version, err);
	if (!r && version && version != SCHEMA_VERSION)
		return wti_err(err, WT_E_VERSION, "'%.200s' is of another version", c->path);
	return r || version ? r : make_tables(c, err);
}

/* What a file that cannot be written has is a good start. */
static void copy_file(struct wti_catalogue *c, const char *path)
{
	sqlite3 *file = NULL;
	sqlite3_backup *backup = NULL;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode)) /* a FIFO would be waited for */
		return;
	if (!sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL))
		backup = sqlite3_backup_init(c->db, "main", file, "main");
	if (backup)
		sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	sqlite3_close(file);
}

static int connect_memory(struct wti_catalogue *c, const char *file, struct wt_err *err)
{
	int r;

	c->path[0] = 0;
	if (sqlite3_open(":memory:", &c->db))
		return wti_db_failed(c, err);
	if (file)
		copy_file(c, file);
	r = set_up(c, err);
	if (!r || !file)
		return r;
	wti_catalogue_disconnect(c); /* that was no good start */
	return connect_memory(c, NULL, err);
}

int wti_catalogue_connect(struct wti_catalogue *c, bool in_memory, struct wt_err *err)
{
	char path[PATH_MAX];
	bool is_long = snprintf(path, sizeof(path), "%s/" WTI_CATALOGUE_FILE, c->home) >=
		       (int)sizeof(path);

	if (in_memory)
		return connect_memory(c, is_long ? NULL : path, err);
	memcpy(c->path, path, sizeof(path));
	if (is_long || !make_file(c))
		return wti_err(err, WT_E_IO, "cannot write below '%.200s'", c->home);
	if (sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE, NULL))
		return wti_db_failed(c, err);
	return set_up(c, err);
}

void wti_catalogue_disconnect(struct wti_catalogue *c)
{
	sqlite3_close(c->db);
	c->db = NULL;
}

void wti_catalogue_put_aside(struct wti_catalogue *c)
{
	char other[PATH_MAX + 32];
	struct stat st;

	if (!*c->path || stat(c->path, &st) || st.st_ino != c->inode)
		return; /* another process did */
	snprintf(other, sizeof(other), "%s-journal", c->path);
	unlink(other);
	snprintf(other, sizeof(other), "%s" ASIDE, c->path);
	rename(c->path, other);
}
