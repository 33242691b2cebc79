/* SPDX-License-Identifier: Apache-2.0 */
/* The table of runs, in and out: its columns stand here, and nowhere else. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/grow.h"
#include "catalogue_db.h"

#define RUN_COLUMNS                                                                                \
	"folder, label, status, command, program, directory, commit_id, diff_hash, host, config, " \
	"tags, start_ns, written_ns, duration_ns, events, lost, stream_bytes, disk_bytes, "        \
	"exit_status, run_count, removed_ns, is_set, is_dirty"
#define RUN_TEXTS 11
#define RUN_NUMBERS 10

/* ---- Runs out -------------------------------------------------------------------------------- */

static void texts_of(struct wti_catalogue_run *run, const char **ret_texts[RUN_TEXTS])
{
	const char **texts[RUN_TEXTS] = {&run->folder,  &run->label,     &run->status,
					 &run->command, &run->program,   &run->directory,
					 &run->commit,  &run->diff_hash, &run->host,
					 &run->config,  &run->tags};

	memcpy(ret_texts, texts, sizeof(texts));
}

static void numbers_of(struct wti_catalogue_run *run, int64_t *ret_numbers[RUN_NUMBERS])
{
	int64_t *numbers[RUN_NUMBERS] = {&run->start_ns,   &run->written_ns,  &run->duration_ns,
					 &run->events,     &run->lost,        &run->stream_bytes,
					 &run->disk_bytes, &run->exit_status, &run->run_count,
					 &run->removed_ns};

	memcpy(ret_numbers, numbers, sizeof(numbers));
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int take_run(struct wti_catalogue *c, sqlite3_stmt *stmt, struct wt_err *err)
{
	struct wti_catalogue_run run = {.id = sqlite3_column_int64(stmt, 0)};
	const char **texts[RUN_TEXTS];
	int64_t *numbers[RUN_NUMBERS];
	int column = 1;

	texts_of(&run, texts);
	numbers_of(&run, numbers);
	for (int i = 0; i < RUN_TEXTS; i++, column++) {
		const char *text = wti_db_text(stmt, column);

		*texts[i] = *text ? wti_arena_text(&c->arena, text, strlen(text)) : "";
	}
	for (int i = 0; i < RUN_NUMBERS; i++)
		*numbers[i] = sqlite3_column_int64(stmt, column++);
	run.is_set = sqlite3_column_int(stmt, column++);
	run.is_dirty = sqlite3_column_int(stmt, column++);
	run.is_summarised = sqlite3_column_int(stmt, column++) == WTI_SUMMARY_VERSION;
	run.is_damaged = sqlite3_column_int(stmt, column);
	if (!strcmp(run.status, "running") && run.start_ns > 0)
		run.duration_ns = now_ns() - run.start_ns;
	if (c->arena.status ||
	    wti_grow(&c->runs, c->run_count + 1, &c->run_capacity, 2 * (size_t)WTI_RUNS_MAX))
		return wti_err(err, WT_E_NOMEM, "out of memory for the catalogue of runs");
	c->runs[c->run_count++] = run;
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct wti_catalogue_run *x = a, *y = b;
	int64_t x_ns = x->start_ns > 0 ? x->start_ns : x->written_ns;
	int64_t y_ns = y->start_ns > 0 ? y->start_ns : y->written_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return -strcmp(x->folder, y->folder);
}

int wti_catalogue_load(struct wti_catalogue *c, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "SELECT id, " RUN_COLUMNS ", summary, is_damaged FROM runs",
			       &stmt, err);

	c->run_count = 0;
	wti_arena_release(&c->arena);
	wti_arena_init(&c->arena, (size_t)1 << 30);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0)
		r = take_run(c, stmt, err);
	sqlite3_finalize(stmt);
	if (!r && c->run_count)
		qsort(c->runs, c->run_count, sizeof(*c->runs), newest_first);
	return r;
}

/* ---- Runs in --------------------------------------------------------------------------------- */

static void bind_run(sqlite3_stmt *stmt, const struct wti_catalogue_row *row)
{
	struct wti_catalogue_run run = row->run;
	const char **texts[RUN_TEXTS];
	int64_t *numbers[RUN_NUMBERS];
	int column = 1;

	texts_of(&run, texts);
	numbers_of(&run, numbers);
	for (int i = 0; i < RUN_TEXTS; i++)
		wti_db_bind_text(stmt, column++, *texts[i]);
	for (int i = 0; i < RUN_NUMBERS; i++)
		sqlite3_bind_int64(stmt, column++, *numbers[i]);
	sqlite3_bind_int(stmt, column++, run.is_set);
	sqlite3_bind_int(stmt, column++, run.is_dirty);
	sqlite3_bind_int64(stmt, column++, row->json_ns);
	sqlite3_bind_int64(stmt, column++, row->json_bytes);
	sqlite3_bind_int64(stmt, column, row->folder_ns);
}

/* -1: there is none. */
static int id_of(struct wti_catalogue *c, const char *folder, int64_t *ret_id, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "SELECT id FROM runs WHERE folder = ? AND removed_ns < 0", &stmt,
			       err);

	if (!r)
		wti_db_bind_text(stmt, 1, folder);
	r = r ? r : wti_db_step(c, stmt, err);
	*ret_id = r > 0 ? sqlite3_column_int64(stmt, 0) : -1;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

int wti_catalogue_put(struct wti_catalogue *c, const struct wti_catalogue_row *row, bool is_other,
		      int64_t *ret_id, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int64_t id = -1;
	int r = row->run.removed_ns < 0 ? id_of(c, row->run.folder, &id, err) : 0;

	if (!r && id >= 0 && is_other)
		r = wti_catalogue_forget_summary(c, id, err);
	r = r ? r
	      : wti_db_prepare(c,
			       id < 0 ? "INSERT INTO runs(" RUN_COLUMNS
					", json_ns, json_bytes, folder_ns) VALUES("
					"?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
				      : "UPDATE runs SET (" RUN_COLUMNS
					", json_ns, json_bytes, folder_ns) = ("
					"?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
					"WHERE id = ?",
			       &stmt, err);
	if (r)
		return r;
	bind_run(stmt, row);
	if (id >= 0)
		sqlite3_bind_int64(stmt, 27, id);
	r = wti_db_execute(c, stmt, err);
	sqlite3_finalize(stmt);
	*ret_id = id >= 0 ? id : sqlite3_last_insert_rowid(c->db);
	return r;
}

int wti_catalogue_drop(struct wti_catalogue *c, int64_t id, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_catalogue_forget_summary(c, id, err);

	r = r ? r : wti_db_prepare(c, "DELETE FROM runs WHERE id = ?", &stmt, err);
	if (r)
		return r;
	sqlite3_bind_int64(stmt, 1, id);
	r = wti_db_execute(c, stmt, err);
	sqlite3_finalize(stmt);
	return r;
}
