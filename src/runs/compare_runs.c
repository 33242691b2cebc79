/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are known by what and name; each run puts its values into its own column. */
#include "compare_runs.h"

#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "inspect/core/cells.h"
#include "catalogue.h"
#include "diff_setup.h"
#include "kept.h"
#include "runjson.h"

#define ROWS_MAX 100000u
#define ARENA_MAX ((size_t)256 << 20)

struct row {
	const char *what, *name;
	const char *values[WTI_COMPARE_RUNS_MAX]; /* NULL: it has none */
};

struct comparison {
	const struct wti_front *front;
	struct wti_catalogue *catalogue; /* opened when the first run of it is asked for */
	struct wti_arena arena;
	struct wti_map index; /* what and name: place plus one */
	struct row *rows;
	size_t row_count, row_capacity;
	size_t run_count, at; /* how many runs, and whose values come now */
	const char *names[WTI_COMPARE_RUNS_MAX];
	struct wt_err *err;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static struct row *row_of(struct comparison *c, const char *what, const char *name)
{
	char key[1024];
	int bytes = snprintf(key, sizeof(key), "%s\n%s", what, name);
	uint64_t *slot;

	if (bytes >= (int)sizeof(key))
		bytes = sizeof(key) - 1;
	slot = wti_map_text(&c->index, key, (size_t)bytes);
	if (slot && *slot)
		return &c->rows[*slot - 1];
	if (!slot || wti_grow(&c->rows, c->row_count + 1, &c->row_capacity, ROWS_MAX))
		return NULL;
	c->rows[c->row_count] = (struct row){.what = wti_arena_text(&c->arena, what, strlen(what)),
					     .name = wti_arena_text(&c->arena, name, strlen(name))};
	*slot = ++c->row_count;
	return &c->rows[*slot - 1];
}

/* As a function that wti_setup_each() takes. */
static int put(void *opaque, const char *what, const char *name, const char *value)
{
	struct comparison *c = opaque;
	struct row *row = row_of(c, what, name);

	if (!row && c->row_count < ROWS_MAX)
		return wti_err(c->err, WT_E_NOMEM, "out of memory");
	if (!row)
		return 0;
	row->values[c->at] = wti_arena_text(&c->arena, value, strlen(value));
	return c->arena.status ? wti_err(c->err, WT_E_NOMEM, "out of memory") : 0;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static int put_number(struct comparison *c, const char *metric, const char *statistic,
		      const char *unit, double value)
{
	char name[512], text[WTI_METRIC_TEXT];

	snprintf(name, sizeof(name), "%s%s%s", metric, *statistic ? "." : "", statistic);
	return put(c, "metric", name, wti_metric_text(text, unit, value));
}

/* What is worth a row of something that has many values. */
static int put_metric(struct comparison *c, const struct wti_run_metric *it)
{
	static const enum wti_statistic of_values[] = {WTI_STAT_LAST, WTI_STAT_MIN, WTI_STAT_MAX,
						       WTI_STAT_MEAN};
	static const enum wti_statistic of_times[] = {WTI_STAT_P50, WTI_STAT_P95, WTI_STAT_MAX};
	bool is_time = !strcmp(it->unit, "s");
	const enum wti_statistic *list = is_time ? of_times : of_values;
	size_t count = is_time ? sizeof(of_times) / sizeof(*of_times)
			       : sizeof(of_values) / sizeof(*of_values);
	int r = 0;

	if (!(it->values[WTI_STAT_COUNT] > 1))
		return put_number(c, it->name, "", it->unit, it->values[WTI_STAT_LAST]);
	for (size_t i = 0; i < count && !r; i++)
		r = put_number(c, it->name, wti_statistic_word(list[i]), it->unit,
			       it->values[list[i]]);
	return r ? r : put_number(c, it->name, "count", "", it->values[WTI_STAT_COUNT]);
}

static int put_summary(struct comparison *c, const struct wti_run_summary *summary)
{
	char text[64], name[512];
	int r = 0;

	for (size_t i = 0; i < summary->configuration.count && !r; i++)
		r = put(c, "setting", summary->configuration.items[i].key,
			summary->configuration.items[i].value);
	for (size_t i = 0; i < summary->metric_count && !r; i++)
		r = put_metric(c, &summary->metrics[i]);
	for (size_t i = 0; i < summary->finding_count && !r; i++) {
		const struct wti_run_finding *it = &summary->findings[i];

		snprintf(name, sizeof(name), "%s %s", it->code, it->title);
		snprintf(text, sizeof(text), "%s", wti_severity_word(it->severity));
		if (it->step >= 0)
			snprintf(text, sizeof(text), "%s from step %lld",
				 wti_severity_word(it->severity), (long long)it->step);
		r = put(c, "finding", name, text);
	}
	for (size_t i = 0; i < summary->tests.count && !r; i++)
		r = put(c, "test", summary->tests.items[i].name,
			wti_test_status_word(summary->tests.items[i].status));
	return r;
}

static int put_status(struct comparison *c, const char *status, const char *tags)
{
	int r = put(c, "run", "status", status);

	return r || !*tags ? r : put(c, "run", "tags", tags);
}

static int open_catalogue(struct comparison *c, struct wt_result *result)
{
	return c->catalogue ? 0 : wti_catalogue_open(c->front, &c->catalogue, result, c->err);
}

/* True if the run lies directly below the home: the catalogue knows it. */
static const struct wti_catalogue_run *known_run(struct comparison *c, const struct wti_run *run)
{
	const struct wti_catalogue_run *found = wti_catalogue_find(c->catalogue, run->name);
	char ours[PATH_MAX], *path, theirs[PATH_MAX];
	bool same;

	if (!found || found->removed_ns >= 0 ||
	    asprintf(&path, "%s/%s", c->front->home, found->folder) < 0)
		return NULL;
	same = realpath(path, ours) && realpath(run->path, theirs) && !strcmp(ours, theirs);
	free(path);
	return same ? found : NULL;
}

static int summary_of(struct comparison *c, const struct wti_run *run,
		      struct wti_run_summary *ret_summary)
{
	const struct wti_catalogue_run *known = known_run(c, run), *runs;
	bool *wanted;
	size_t count;
	int r;

	if (!known || !strcmp(run->status, "running"))
		return wti_summary_read(c->front, run, ret_summary, c->err);
	runs = wti_catalogue_runs(c->catalogue, &count);
	wanted = calloc(count + 1, sizeof(*wanted));
	if (!wanted)
		return wti_err(c->err, WT_E_NOMEM, "out of memory");
	wanted[known - runs] = true;
	r = wti_catalogue_summarise(c->front, c->catalogue, wanted, c->err);
	free(wanted);
	return r ? r : wti_catalogue_summary(c->catalogue, known, ret_summary, c->err);
}

static int add_run(struct comparison *c, const struct wti_run *run)
{
	const struct wti_catalogue_run *known = known_run(c, run);
	struct wti_run_summary summary;
	struct wti_doc *root = NULL;
	int r;

	c->names[c->at] = wti_arena_text(&c->arena, run->name, strlen(run->name));
	r = put_status(c, run->status, known ? known->tags : "");
	if (!r && run->is_folder && wti_runjson_read(run->path, &root, NULL) == WT_E_NOMEM)
		r = wti_err(c->err, WT_E_NOMEM, "out of memory");
	if (!r && root)
		r = wti_setup_each(root, put, c, c->err);
	wti_doc_free(root);
	r = r ? r : summary_of(c, run, &summary);
	if (r)
		return r;
	r = put_summary(c, &summary);
	wti_summary_release(&summary);
	return r;
}

/* ---- A run that was removed ------------------------------------------------------------------ */

struct wanted {
	struct comparison *c;
	const struct wti_catalogue_run *run;
};

static int take_kept(void *opaque, const struct wti_kept_run *kept)
{
	struct wanted *wanted = opaque;
	struct comparison *c = wanted->c;
	char status[64];
	int r;

	if (strcmp(kept->run.folder, wanted->run->folder) != 0 ||
	    kept->run.start_ns != wanted->run->start_ns)
		return 0;
	snprintf(status, sizeof(status), "%.40s, removed", kept->run.status);
	c->names[c->at] = wti_arena_text(&c->arena, kept->run.folder, strlen(kept->run.folder));
	r = put_status(c, status, kept->run.tags);
	if (!r && kept->setup)
		r = wti_setup_each(kept->setup, put, c, c->err);
	return r ? r : put_summary(c, &kept->summary);
}

static int add_word(struct comparison *c, const char *word)
{
	const struct wti_catalogue_run *known = wti_catalogue_find(c->catalogue, word);
	char path[PATH_MAX];
	struct wti_run run;
	int64_t offset = 0;
	int r;

	if (known && known->removed_ns >= 0)
		return wti_kept_read(c->front->home, &offset, take_kept, &(struct wanted){c, known},
				     c->err);
	/* By its folder, as to find it by its name would read the run.json of all. */
	if (known && !known->is_set && access(word, F_OK) &&
	    snprintf(path, sizeof(path), "%s/%s", c->front->home, known->folder) <
		    (int)sizeof(path))
		word = path;
	r = wti_run_find(c->front, word, &run, c->err);
	if (r)
		return r;
	r = add_run(c, &run);
	wti_run_release(&run);
	return r;
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool is_same(const struct comparison *c, const struct row *row)
{
	for (size_t i = 1; i < c->run_count; i++) {
		const char *a = row->values[0], *b = row->values[i];

		if ((a && b) ? strcmp(a, b) != 0 : a != b)
			return false;
	}
	return true;
}

/* Under the name of the run; the same one again gets a number. */
static void add_column(struct wt_table *table, const struct comparison *c, size_t i)
{
	const char *name = c->names[i] ? c->names[i] : "";
	size_t before = 0;
	char key[NAME_MAX + 32];

	for (size_t j = 0; j < i; j++)
		before += c->names[j] && !strcmp(c->names[j], name);
	snprintf(key, sizeof(key), before ? "%s #%zu" : "%s", name, before + 1);
	wt_table_column(table, key, key, WT_CELL_TEXT);
}

static bool is_library(const struct row *row)
{
	return !strcmp(row->what, "library");
}

static bool is_of_all(const struct comparison *c, const struct row *row)
{
	for (size_t i = 0; i < c->run_count; i++)
		if (!row->values[i])
			return false;
	return true;
}

static void add_row(const struct comparison *c, const struct row *row, struct wt_table *table)
{
	wt_table_row(table);
	wti_table_word(table, row->what);
	wti_table_word(table, row->name);
	for (size_t i = 0; i < c->run_count; i++)
		wti_table_word(table, row->values[i] ? row->values[i] : "-");
}

struct left_out {
	size_t same, libraries;
};

/* Two interpreters load hundreds of libraries that the other one has not: nobody asks for them. */
static void add_rows(const struct comparison *c, bool all, bool libraries, struct wt_table *table,
		     struct left_out *left_out)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct row *row = &c->rows[i];

		if (is_library(row) != libraries)
			continue;
		if (!all && is_same(c, row))
			left_out->same++;
		else if (!all && libraries && !is_of_all(c, row))
			left_out->libraries++;
		else
			add_row(c, row, table);
	}
}

static void add_table(const struct comparison *c, bool all, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "comparison", "");
	struct left_out left_out = {0};

	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	for (size_t i = 0; i < c->run_count; i++)
		add_column(table, c, i);
	add_rows(c, all, false, table, &left_out);
	add_rows(c, all, true, table, &left_out);
	for (size_t i = 0; i < c->run_count; i++) {
		char key[32];

		snprintf(key, sizeof(key), "run%zu", i + 1);
		wt_result_fact_text(result, key, "", c->names[i] ? c->names[i] : "");
	}
	wt_result_fact_count(result, "same", "", WT_CELL_COUNT, left_out.same);
	if (left_out.libraries)
		wt_result_note(result,
			       "libraries that only some of the runs loaded: %zu; --all shows them",
			       left_out.libraries);
	if (left_out.same)
		wt_result_note(result, "%zu values are the same in all runs; --all shows them",
			       left_out.same);
}

int wti_compare_runs(const struct wti_front *front, char **words, size_t count, bool all,
		     struct wt_result *result, struct wt_err *err)
{
	struct comparison c = {.front = front, .run_count = count, .err = err};
	int r;

	if (count > WTI_COMPARE_RUNS_MAX)
		return wti_err(err, WT_E_ARG, "at most %u runs", WTI_COMPARE_RUNS_MAX);
	wti_arena_init(&c.arena, ARENA_MAX);
	wti_map_init(&c.index, ROWS_MAX);
	r = open_catalogue(&c, result);
	for (; c.at < count && !r; c.at++)
		r = add_word(&c, words[c.at]);
	if (!r)
		add_table(&c, all, result);
	wti_catalogue_free(c.catalogue);
	wti_map_release(&c.index);
	wti_arena_release(&c.arena);
	free(c.rows);
	return r;
}
