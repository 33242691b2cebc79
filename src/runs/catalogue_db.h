/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the catalogue: the database, and statements that say what went wrong. */
#ifndef WTI_RUNS_CATALOGUE_DB_H
#define WTI_RUNS_CATALOGUE_DB_H

#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/types.h>

#include "base/arena.h"
#include "catalogue.h"

struct wti_catalogue {
	sqlite3 *db;
	char home[PATH_MAX];
	char path[PATH_MAX];    /* empty: it is in memory */
	ino_t inode;            /* of the file that was opened */
	struct wti_arena arena; /* of the texts of runs */
	struct wti_catalogue_run *runs;
	size_t run_count, run_capacity;
};

/* Opens the file, or a database in memory; makes the tables. WT_E_FORMAT: it is damaged. */
int wti_catalogue_connect(struct wti_catalogue *c, bool in_memory, struct wt_err *err);
void wti_catalogue_disconnect(struct wti_catalogue *c);
/* The file, as long as it is the one that was opened, gets another name. */
void wti_catalogue_put_aside(struct wti_catalogue *c);

/* WT_E_FORMAT of a damaged file, WT_E_BUSY, WT_E_NOMEM, else WT_E_IO. */
int wti_db_failed(struct wti_catalogue *c, struct wt_err *err);
int wti_db_run(struct wti_catalogue *c, const char *sql, struct wt_err *err);
int wti_db_prepare(struct wti_catalogue *c, const char *sql, sqlite3_stmt **ret_stmt,
		   struct wt_err *err);
/* 1: there is a row, 0: there is none (any more), or an error. */
int wti_db_step(struct wti_catalogue *c, sqlite3_stmt *stmt, struct wt_err *err);
/* A statement without rows whose columns are bound; ready for the next values. */
int wti_db_execute(struct wti_catalogue *c, sqlite3_stmt *stmt, struct wt_err *err);
void wti_db_bind_text(sqlite3_stmt *stmt, int column, const char *text);
const char *wti_db_text(sqlite3_stmt *stmt, int column); /* never NULL; until the next step */

/* A change is whole or did not happen. */
int wti_db_begin(struct wti_catalogue *c, struct wt_err *err);
/* `r`: what became of the change; 0 commits, anything else takes it back. */
int wti_db_end(struct wti_catalogue *c, int r, struct wt_err *err);

/* catalogue_rows.c: all runs, into c->runs. */
int wti_catalogue_load(struct wti_catalogue *c, struct wt_err *err);
/* What a folder, or kept.h, has of a run; texts are the caller's. */
struct wti_catalogue_row {
	struct wti_catalogue_run run;
	int64_t json_ns, json_bytes, folder_ns; /* by which a change is seen */
};
/* Within a change: replaces the row of that folder; forgets its summary if `is_other`. */
int wti_catalogue_put(struct wti_catalogue *c, const struct wti_catalogue_row *row, bool is_other,
		      int64_t *ret_id, struct wt_err *err);
int wti_catalogue_drop(struct wti_catalogue *c, int64_t id, struct wt_err *err);
/* catalogue_summaries.c: what was read in its trace. Within a change. */
int wti_catalogue_put_summary(struct wti_catalogue *c, int64_t id,
			      const struct wti_run_summary *summary, struct wt_err *err);
int wti_catalogue_forget_summary(struct wti_catalogue *c, int64_t id, struct wt_err *err);
/* catalogue_refresh.c: brings the database up to date, and loads. */
int wti_catalogue_refresh(const struct wti_front *front, struct wti_catalogue *c,
			  struct wt_err *err);
/* Everything of one folder again; is_other: its summary, too. Within a change. */
int wti_catalogue_read_folder(const struct wti_front *front, struct wti_catalogue *c,
			      const char *folder, int64_t *ret_id, struct wt_err *err);

#endif
