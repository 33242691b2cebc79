/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQLite exporter share. */
#ifndef WTI_SHOW_EXPORT_SQLITE_H
#define WTI_SHOW_EXPORT_SQLITE_H

#include <sqlite3.h>

#include "base/map.h"
#include "export.h"
#include "kinds.h"
#include "nest.h"
#include "show/event.h"

struct wti_sqlite_table {
	uint16_t kind;
	uint16_t field_count;
	char name[WTI_TABLE_NAME_BYTES];
	sqlite3_stmt *insert;
};

struct wti_sqlite_track {
	size_t stream;
	uint32_t track;
	struct wti_nest nest;
};

struct wti_sqlite {
	struct wti_export *export;
	char *temporary;
	sqlite3 *db;
	struct wti_sqlite_table *tables;
	size_t table_count;
	sqlite3_stmt *insert_span;
	sqlite3_stmt *insert_renamed;
	uint64_t next_span;
	struct wti_map track_index; /* stream and track: place in tracks plus one */
	struct wti_sqlite_track *tracks;
	size_t track_count;
	size_t track_capacity;
	struct wti_shown values[WT_FIELDS_MAX]; /* of an event: SQLite reads texts in place */
	struct wti_buf scratch;                 /* of values */
	struct wti_buf texts[WT_FIELDS_MAX];    /* what had to be made valid UTF-8, by column */
	uint32_t until_commit;
};

/* The error of the last call, which failed. */
int wti_sqlite_failed(struct wti_sqlite *s, struct wt_err *err);
int wti_sqlite_run(struct wti_sqlite *s, const char *sql, struct wt_err *err);
int wti_sqlite_prepare(struct wti_sqlite *s, const char *sql, sqlite3_stmt **ret_stmt,
		       struct wt_err *err);
/* Executes an insert whose columns are bound. */
int wti_sqlite_insert(struct wti_sqlite *s, sqlite3_stmt *stmt, struct wt_err *err);

/* Texts are not copied: they, and `buf`, which keeps one that had to be made valid UTF-8, must live
 * until the insert. */
void wti_sqlite_bind_text(sqlite3_stmt *stmt, int column, struct wt_text text, struct wti_buf *buf);
void wti_sqlite_bind_u64(sqlite3_stmt *stmt, int column, uint64_t value);
void wti_sqlite_bind_value(sqlite3_stmt *stmt, int column, const struct wti_shown *value,
			   struct wti_buf *buf);

/* Fills the tables run, streams, tracks and strings. */
int wti_sqlite_describe(struct wti_sqlite *s, struct wt_err *err);

#endif
