/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of what was read in the traces of runs, in and out, and what is asked of all runs at
 * once: their columns stand here, and nowhere else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "catalogue_db.h"

/* ---- Summaries in ---------------------------------------------------------------------------- */

int wti_catalogue_forget_summary(struct wti_catalogue *c, int64_t id, struct wt_err *err)
{
	static const char *const tables[] = {
		"DELETE FROM metrics WHERE run = ?", "DELETE FROM findings WHERE run = ?",
		"DELETE FROM tests WHERE run = ?",   "DELETE FROM settings WHERE run = ?",
		"DELETE FROM saved WHERE run = ?",   "UPDATE runs SET summary = 0 WHERE id = ?"};
	int r = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !r; i++) {
		sqlite3_stmt *stmt;

		r = wti_db_prepare(c, tables[i], &stmt, err);
		if (!r)
			sqlite3_bind_int64(stmt, 1, id);
		r = r ? r : wti_db_execute(c, stmt, err);
		sqlite3_finalize(stmt);
	}
	return r;
}

static int put_metrics(struct wti_catalogue *c, int64_t id, const struct wti_run_summary *summary,
		       struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT INTO metrics VALUES(?,?,?,?,?,?,?,?,?,?,?)", &stmt, err);

	for (size_t i = 0; i < summary->metric_count && !r; i++) {
		const struct wti_run_metric *it = &summary->metrics[i];

		sqlite3_bind_int64(stmt, 1, id);
		wti_db_bind_text(stmt, 2, it->name);
		wti_db_bind_text(stmt, 3, it->unit);
		for (int j = 0; j < WTI_STAT_COUNT; j++)
			sqlite3_bind_double(stmt, 4 + j, it->values[j]); /* NAN becomes NULL */
		sqlite3_bind_int64(stmt, 4 + WTI_STAT_COUNT, (int64_t)it->values[WTI_STAT_COUNT]);
		r = wti_db_execute(c, stmt, err);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_findings(struct wti_catalogue *c, int64_t id, const struct wti_run_summary *summary,
			struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT INTO findings VALUES(?,?,?,?,?,?,?,?)", &stmt, err);

	for (size_t i = 0; i < summary->finding_count && !r; i++) {
		const struct wti_run_finding *it = &summary->findings[i];

		sqlite3_bind_int64(stmt, 1, id);
		wti_db_bind_text(stmt, 2, it->code);
		sqlite3_bind_int(stmt, 3, (int)it->severity);
		wti_db_bind_text(stmt, 4, it->title);
		wti_db_bind_text(stmt, 5, it->file);
		sqlite3_bind_int64(stmt, 6, it->line);
		sqlite3_bind_int64(stmt, 7, it->step);
		sqlite3_bind_int64(stmt, 8, (int64_t)it->count);
		r = wti_db_execute(c, stmt, err);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_tests(struct wti_catalogue *c, int64_t id, const struct wti_tests *tests,
		     struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT INTO tests VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", &stmt,
			       err);

	for (size_t i = 0; i < tests->count && !r; i++) {
		const struct wti_test *it = &tests->items[i];

		sqlite3_bind_int64(stmt, 1, id);
		wti_db_bind_text(stmt, 2, it->name);
		sqlite3_bind_int64(stmt, 3, it->status);
		sqlite3_bind_int64(stmt, 4, it->comparator);
		wti_db_bind_text(stmt, 5, it->expected);
		wti_db_bind_text(stmt, 6, it->actual);
		sqlite3_bind_double(stmt, 7, it->tolerance);
		sqlite3_bind_int64(stmt, 8, (int64_t)it->n);
		wti_db_bind_text(stmt, 9, it->unit);
		sqlite3_bind_int64(stmt, 10, it->duration_ns);
		wti_db_bind_text(stmt, 11, it->detail);
		wti_db_bind_text(stmt, 12, it->file);
		sqlite3_bind_int64(stmt, 13, it->line);
		r = wti_db_execute(c, stmt, err);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_settings(struct wti_catalogue *c, int64_t id,
			const struct wti_configuration *configuration, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT INTO settings VALUES(?,?,?,?,?,?,?)", &stmt, err);

	for (size_t i = 0; i < configuration->count && !r; i++) {
		const struct wti_configured *it = &configuration->items[i];

		sqlite3_bind_int64(stmt, 1, id);
		wti_db_bind_text(stmt, 2, it->key);
		wti_db_bind_text(stmt, 3, it->value);
		wti_db_bind_text(stmt, 4, it->source);
		sqlite3_bind_int64(stmt, 5, it->type);
		sqlite3_bind_int(stmt, 6, it->is_default);
		sqlite3_bind_int64(stmt, 7, (int64_t)it->change_count);
		r = wti_db_execute(c, stmt, err);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_saved(struct wti_catalogue *c, int64_t id, const struct wti_run_summary *summary,
		     struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT INTO saved VALUES(?,?,?,?,?,?)", &stmt, err);

	for (size_t i = 0; i < summary->saved_count && !r; i++) {
		const struct wti_run_saved *it = &summary->saved[i];

		sqlite3_bind_int64(stmt, 1, id);
		wti_db_bind_text(stmt, 2, it->path);
		sqlite3_bind_int64(stmt, 3, it->step);
		sqlite3_bind_int64(stmt, 4, (int64_t)it->tensors);
		sqlite3_bind_int64(stmt, 5, (int64_t)it->digest);
		sqlite3_bind_int64(stmt, 6, (int64_t)it->anchor);
		r = wti_db_execute(c, stmt, err);
	}
	sqlite3_finalize(stmt);
	return r;
}

int wti_catalogue_put_summary(struct wti_catalogue *c, int64_t id,
			      const struct wti_run_summary *summary, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_catalogue_forget_summary(c, id, err);

	r = r ? r : put_metrics(c, id, summary, err);
	r = r ? r : put_findings(c, id, summary, err);
	r = r ? r : put_tests(c, id, &summary->tests, err);
	r = r ? r : put_settings(c, id, &summary->configuration, err);
	r = r ? r : put_saved(c, id, summary, err);
	r = r ? r
	      : wti_db_prepare(c, "UPDATE runs SET summary = ?, is_damaged = ? WHERE id = ?", &stmt,
			       err);
	if (r)
		return r;
	sqlite3_bind_int(stmt, 1, WTI_SUMMARY_VERSION);
	sqlite3_bind_int(stmt, 2, summary->is_damaged);
	sqlite3_bind_int64(stmt, 3, id);
	r = wti_db_execute(c, stmt, err);
	sqlite3_finalize(stmt);
	return r;
}

/* ---- Summaries out --------------------------------------------------------------------------- */

static double number_at(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NAN
		       : sqlite3_column_double(stmt, column);
}

static int take_metric(struct wti_run_summary *summary, sqlite3_stmt *stmt)
{
	struct wti_run_metric metric = {.name = wti_db_text(stmt, 1), .unit = wti_db_text(stmt, 2)};

	for (int i = 0; i < WTI_STATISTICS; i++)
		metric.values[i] = number_at(stmt, 3 + i);
	return wti_summary_add_metric(summary, &metric);
}

static int take_finding(struct wti_run_summary *summary, sqlite3_stmt *stmt)
{
	return wti_summary_add_finding(
		summary,
		&(struct wti_run_finding){.code = wti_db_text(stmt, 1),
					  .severity = (enum wt_severity)sqlite3_column_int(stmt, 2),
					  .title = wti_db_text(stmt, 3),
					  .file = wti_db_text(stmt, 4),
					  .line = sqlite3_column_int64(stmt, 5),
					  .step = sqlite3_column_int64(stmt, 6),
					  .count = (uint64_t)sqlite3_column_int64(stmt, 7)});
}

static struct wti_test test_at(sqlite3_stmt *stmt)
{
	return (struct wti_test){.name = wti_db_text(stmt, 1),
				 .status = (uint32_t)sqlite3_column_int64(stmt, 2),
				 .comparator = (uint32_t)sqlite3_column_int64(stmt, 3),
				 .expected = wti_db_text(stmt, 4),
				 .actual = wti_db_text(stmt, 5),
				 .tolerance = number_at(stmt, 6),
				 .n = (uint64_t)sqlite3_column_int64(stmt, 7),
				 .unit = wti_db_text(stmt, 8),
				 .duration_ns = sqlite3_column_int64(stmt, 9),
				 .detail = wti_db_text(stmt, 10),
				 .file = wti_db_text(stmt, 11),
				 .line = (uint32_t)sqlite3_column_int64(stmt, 12)};
}

static int take_test(struct wti_run_summary *summary, sqlite3_stmt *stmt)
{
	struct wti_test test = test_at(stmt);

	return wti_tests_add(&summary->tests, &test);
}

static int take_setting(struct wti_run_summary *summary, sqlite3_stmt *stmt)
{
	return wti_configuration_add(
		&summary->configuration,
		&(struct wti_configured){.key = wti_db_text(stmt, 1),
					 .value = wti_db_text(stmt, 2),
					 .source = wti_db_text(stmt, 3),
					 .type = (uint32_t)sqlite3_column_int64(stmt, 4),
					 .is_default = sqlite3_column_int(stmt, 5),
					 .change_count = (uint64_t)sqlite3_column_int64(stmt, 6)});
}

static struct wti_run_saved saved_at(sqlite3_stmt *stmt)
{
	return (struct wti_run_saved){.path = wti_db_text(stmt, 1),
				      .step = sqlite3_column_int64(stmt, 2),
				      .tensors = (uint64_t)sqlite3_column_int64(stmt, 3),
				      .digest = (uint64_t)sqlite3_column_int64(stmt, 4),
				      .anchor = (uint64_t)sqlite3_column_int64(stmt, 5)};
}

static int take_saved(struct wti_run_summary *summary, sqlite3_stmt *stmt)
{
	struct wti_run_saved saved = saved_at(stmt);

	return wti_summary_add_saved(summary, &saved);
}

static int take_all(struct wti_catalogue *c, int64_t id, const char *sql,
		    int (*take)(struct wti_run_summary *, sqlite3_stmt *),
		    struct wti_run_summary *summary, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, sql, &stmt, err);

	if (!r)
		sqlite3_bind_int64(stmt, 1, id);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0)
		r = take(summary, stmt) ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
	sqlite3_finalize(stmt);
	return r;
}

int wti_catalogue_summary(struct wti_catalogue *c, const struct wti_catalogue_run *run,
			  struct wti_run_summary *ret_summary, struct wt_err *err)
{
	struct wti_run_summary summary;
	int r;

	wti_summary_init(&summary);
	summary.is_damaged = run->is_damaged;
	r = take_all(c, run->id, "SELECT * FROM metrics WHERE run = ? ORDER BY rowid", take_metric,
		     &summary, err);
	r = r ? r
	      : take_all(c, run->id, "SELECT * FROM findings WHERE run = ? ORDER BY rowid",
			 take_finding, &summary, err);
	r = r ? r
	      : take_all(c, run->id, "SELECT * FROM tests WHERE run = ? ORDER BY rowid", take_test,
			 &summary, err);
	r = r ? r
	      : take_all(c, run->id, "SELECT * FROM settings WHERE run = ? ORDER BY rowid",
			 take_setting, &summary, err);
	r = r ? r
	      : take_all(c, run->id, "SELECT * FROM saved WHERE run = ? ORDER BY rowid", take_saved,
			 &summary, err);
	if (r)
		wti_summary_release(&summary);
	else
		*ret_summary = summary;
	return r;
}

/* ---- Across runs ----------------------------------------------------------------------------- */

/* Place plus one of each run, by its id. */
static int index_runs(const struct wti_catalogue *c, struct wti_map *ret_places, struct wt_err *err)
{
	wti_map_init(ret_places, c->run_count + 1);
	for (size_t i = 0; i < c->run_count; i++)
		if (!wti_map_put(ret_places, (uint64_t)c->runs[i].id, i + 1))
			return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

int wti_catalogue_metric(struct wti_catalogue *c, const char *name, enum wti_statistic statistic,
			 double *ret_values, bool *ret_has, struct wt_err *err)
{
	struct wti_map places;
	sqlite3_stmt *stmt = NULL;
	int r = index_runs(c, &places, err);

	for (size_t i = 0; i < c->run_count; i++)
		ret_values[i] = NAN;
	if (ret_has)
		memset(ret_has, 0, c->run_count);
	r = r ? r : wti_db_prepare(c, "SELECT * FROM metrics WHERE name = ?", &stmt, err);
	if (!r)
		wti_db_bind_text(stmt, 1, name);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0) {
		uint64_t place = wti_map_get(&places, (uint64_t)sqlite3_column_int64(stmt, 0));

		r = 0;
		if (!place)
			continue;
		ret_values[place - 1] = number_at(stmt, 3 + (int)statistic);
		if (ret_has)
			ret_has[place - 1] = true;
	}
	sqlite3_finalize(stmt);
	wti_map_release(&places);
	return r;
}

static int names_of(struct wti_catalogue *c, const char *sql, struct wti_map *ret_names,
		    struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, sql, &stmt, err);

	wti_map_init(ret_names, WTI_SUMMARY_METRICS_MAX);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0) {
		const char *name = wti_db_text(stmt, 0);
		uint64_t *slot = wti_map_text(ret_names, name, strlen(name));

		r = 0;
		if (slot)
			*slot = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return r;
}

int wti_catalogue_metric_names(struct wti_catalogue *c, struct wti_map *ret_names,
			       struct wt_err *err)
{
	return names_of(c, "SELECT name, count(*) FROM metrics GROUP BY name ORDER BY name",
			ret_names, err);
}

int wti_catalogue_setting_names(struct wti_catalogue *c, struct wti_map *ret_names,
				struct wt_err *err)
{
	return names_of(c, "SELECT name, count(*) FROM settings GROUP BY name ORDER BY name",
			ret_names, err);
}

int wti_catalogue_settings(struct wti_catalogue *c, const char *name,
			   int (*take)(void *self, size_t place, const char *value), void *self,
			   struct wt_err *err)
{
	struct wti_map places;
	sqlite3_stmt *stmt = NULL;
	int r = index_runs(c, &places, err);

	r = r ? r : wti_db_prepare(c, "SELECT run, value FROM settings WHERE name = ?", &stmt, err);
	if (!r)
		wti_db_bind_text(stmt, 1, name);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0) {
		uint64_t place = wti_map_get(&places, (uint64_t)sqlite3_column_int64(stmt, 0));

		r = place ? take(self, place - 1, wti_db_text(stmt, 1)) : 0;
	}
	sqlite3_finalize(stmt);
	wti_map_release(&places);
	return r;
}

int wti_catalogue_tests(struct wti_catalogue *c, const char *name,
			int (*take)(void *self, const struct wti_catalogue_test *test), void *self,
			struct wt_err *err)
{
	struct wti_map places;
	sqlite3_stmt *stmt = NULL;
	int r = index_runs(c, &places, err);

	r = r ? r
	      : wti_db_prepare(c,
			       name ? "SELECT tests.* FROM tests, runs WHERE tests.name = ? AND "
				      "runs.id = tests.run ORDER BY runs.start_ns, tests.rowid"
				    : "SELECT tests.* FROM tests, runs WHERE runs.id = tests.run "
				      "ORDER BY runs.start_ns, tests.rowid",
			       &stmt, err);
	if (!r && name)
		wti_db_bind_text(stmt, 1, name);
	while (!r && (r = wti_db_step(c, stmt, err)) > 0) {
		uint64_t place = wti_map_get(&places, (uint64_t)sqlite3_column_int64(stmt, 0));
		struct wti_catalogue_test row = {.test = test_at(stmt)};

		row.run = place ? &c->runs[place - 1] : NULL;
		r = place ? take(self, &row) : 0;
	}
	sqlite3_finalize(stmt);
	wti_map_release(&places);
	return r;
}

int wti_catalogue_saved(struct wti_catalogue *c, const struct wti_run_saved *like,
			int (*take)(void *self, const struct wti_catalogue_saved *saved),
			void *self, struct wt_err *err)
{
	struct wti_map places;
	sqlite3_stmt *stmt = NULL;
	int r = index_runs(c, &places, err);

	/* Three look-ups by an index each; OR would read the table. */
	r = r ? r
	      : wti_db_prepare(
			c,
			"SELECT saved.*, saved.rowid FROM saved, runs WHERE runs.id = saved.run "
			"AND saved.rowid IN (SELECT rowid FROM saved WHERE path = ?1 AND ?1 <> '' "
			"UNION SELECT rowid FROM saved WHERE digest = ?2 UNION SELECT rowid FROM "
			"saved WHERE anchor = ?3) ORDER BY runs.start_ns, saved.rowid",
			&stmt, err);
	if (!r) {
		wti_db_bind_text(stmt, 1, like->path);
		sqlite3_bind_int64(stmt, 2, (int64_t)like->digest);
		sqlite3_bind_int64(stmt, 3, (int64_t)like->anchor);
	}
	while (!r && (r = wti_db_step(c, stmt, err)) > 0) {
		uint64_t place = wti_map_get(&places, (uint64_t)sqlite3_column_int64(stmt, 0));
		struct wti_catalogue_saved row = {.saved = saved_at(stmt)};

		row.run = place ? &c->runs[place - 1] : NULL;
		r = place ? take(self, &row) : 0;
	}
	sqlite3_finalize(stmt);
	wti_map_release(&places);
	return r;
}
