/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the catalogue whatever has become of its file, and has traces summarised. */
#include "catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "catalogue_db.h"

/* Summaries are written together: a change costs more than a row. */
#define BATCH_RUNS 64u
/* Of a recording that has ended: how large a trace may be to be summarised at once, rather than by
 * the first who asks. About 50 ms. */
#define SMALL_BYTES ((int64_t)4 << 20)

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_all(struct wti_catalogue *c)
{
	wti_catalogue_disconnect(c);
	wti_arena_release(&c->arena);
	free(c->runs);
	c->runs = NULL;
	c->run_count = c->run_capacity = 0;
}

void wti_catalogue_free(struct wti_catalogue *c)
{
	if (!c)
		return;
	close_all(c);
	free(c);
}

static int try_open(const struct wti_front *front, struct wti_catalogue *c, bool in_memory,
		    struct wt_err *err)
{
	int r;

	wti_arena_init(&c->arena, 1);
	r = wti_catalogue_connect(c, in_memory, err);
	r = r ? r : wti_catalogue_refresh(front, c, err);
	if (r)
		close_all(c);
	return r;
}

/* One that is damaged, or of another version, is put aside and made anew. */
static int open_file(const struct wti_front *front, struct wti_catalogue *c,
		     struct wt_result *notes, struct wt_err *err)
{
	int r = try_open(front, c, false, err);

	if (r != WT_E_FORMAT && r != WT_E_VERSION)
		return r;
	if (r == WT_E_FORMAT && notes)
		wt_result_note(notes,
			       "the catalogue of runs was damaged: it is made anew; the old one is "
			       "'%s.damaged'",
			       c->path);
	wti_catalogue_put_aside(c);
	return try_open(front, c, false, err);
}

int wti_catalogue_open(const struct wti_front *front, struct wti_catalogue **ret_catalogue,
		       struct wt_result *notes, struct wt_err *err)
{
	struct wti_catalogue *c = calloc(1, sizeof(*c));
	struct stat st;
	int r;

	if (!c || snprintf(c->home, sizeof(c->home), "%s", front->home) >= (int)sizeof(c->home)) {
		free(c);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	r = stat(c->home, &st) ? try_open(front, c, true, err) : open_file(front, c, notes, err);
	/* A folder that cannot be written, a full disk: it works without, only slower. */
	if (r == WT_E_IO || r == WT_E_FORMAT || r == WT_E_BUSY || r == WT_E_LIMIT) {
		if (err)
			*err = (struct wt_err){.offset = -1};
		r = try_open(front, c, true, err);
	}
	if (r)
		free(c);
	else
		*ret_catalogue = c;
	return r;
}

/* ---- Looking --------------------------------------------------------------------------------- */

const struct wti_catalogue_run *wti_catalogue_runs(const struct wti_catalogue *c, size_t *ret_count)
{
	*ret_count = c->run_count;
	return c->runs;
}

/* Without a blank, a dash and digits at its end: what the folder is called after. */
static bool is_called(const struct wti_catalogue_run *run, const char *word)
{
	size_t bytes = strlen(word);

	return !strcmp(run->label, word) ||
	       (!strncmp(run->folder, word, bytes) && run->folder[bytes] == '-' &&
		!run->folder[bytes + strspn(run->folder + bytes, "-0123456789")]);
}

const struct wti_catalogue_run *wti_catalogue_find(const struct wti_catalogue *c, const char *word)
{
	for (size_t i = 0; i < c->run_count; i++)
		if (!strcmp(c->runs[i].folder, word))
			return &c->runs[i];
	for (size_t i = 0; i < c->run_count; i++)
		if (is_called(&c->runs[i], word) ||
		    (!strcmp(word, "latest") && c->runs[i].removed_ns < 0))
			return &c->runs[i];
	return NULL;
}

/* ---- Summaries ------------------------------------------------------------------------------- */

struct batch {
	struct wti_catalogue_run *runs[BATCH_RUNS];
	struct wti_run_summary summaries[BATCH_RUNS];
	size_t count;
};

static int write_batch(struct wti_catalogue *c, struct batch *batch, struct wt_err *err)
{
	int r = batch->count ? wti_db_begin(c, err) : 0;

	if (batch->count && !r) {
		for (size_t i = 0; i < batch->count && !r; i++)
			r = wti_catalogue_put_summary(c, batch->runs[i]->id, &batch->summaries[i],
						      err);
		r = wti_db_end(c, r, err);
	}
	for (size_t i = 0; i < batch->count; i++) {
		/* In place: whoever asked goes by the places of runs. */
		batch->runs[i]->is_summarised = !r;
		batch->runs[i]->is_damaged = batch->summaries[i].is_damaged;
		wti_summary_release(&batch->summaries[i]);
	}
	batch->count = 0;
	return r;
}

/* One that cannot be read has an empty summary: nobody tries it again and again. */
static int summarise_one(const struct wti_front *front, struct wti_catalogue *c,
			 const struct wti_catalogue_run *run, struct wti_run_summary *ret_summary,
			 struct wt_err *err)
{
	struct wti_front quiet = *front;
	struct wti_run found;
	char *path;
	int r;

	quiet.progress = NULL;
	if (asprintf(&path, "%s/%s", c->home, run->folder) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_run_find_path(path, &found, err);
	free(path);
	if (!r) {
		r = wti_summary_read(&quiet, &found, ret_summary, err);
		wti_run_release(&found);
	}
	if (r && r != WT_E_NOMEM) {
		wti_summary_init(ret_summary);
		ret_summary->is_damaged = true;
		r = 0;
	}
	return r;
}

static bool is_wanting(const struct wti_catalogue_run *run)
{
	return !run->is_summarised && !run->is_set && run->removed_ns < 0 &&
	       strcmp(run->status, "running") != 0;
}

int wti_catalogue_summarise(const struct wti_front *front, struct wti_catalogue *c,
			    const bool *wanted, struct wt_err *err)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	size_t total = 0, done = 0;
	int r = batch ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");

	for (size_t i = 0; i < c->run_count; i++)
		total += (!wanted || wanted[i]) && is_wanting(&c->runs[i]);
	if (total)
		wti_front_progress(front, 0);
	for (size_t i = 0; i < c->run_count && !r && total; i++) {
		if ((wanted && !wanted[i]) || !is_wanting(&c->runs[i]))
			continue;
		r = summarise_one(front, c, &c->runs[i], &batch->summaries[batch->count], err);
		if (!r)
			batch->runs[batch->count++] = &c->runs[i];
		if (!r && batch->count == BATCH_RUNS)
			r = write_batch(c, batch, err);
		wti_front_progress(front, (double)++done / (double)total);
	}
	if (total)
		wti_front_progress(front, WTI_PROGRESS_OVER);
	if (batch)
		r = r ? r : write_batch(c, batch, err);
	for (size_t i = 0; batch && i < batch->count; i++)
		wti_summary_release(&batch->summaries[i]);
	free(batch);
	return r;
}

/* ---- A run that has ended -------------------------------------------------------------------- */

static int add_one(const struct wti_front *front, struct wti_catalogue *c, const char *folder,
		   struct wt_err *err)
{
	struct wti_run_summary summary;
	struct wti_catalogue_run run = {.folder = folder};
	char path[PATH_MAX];
	int64_t id = -1;
	bool is_small;
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", c->home, folder) >= (int)sizeof(path))
		return WT_E_LIMIT;
	is_small = (int64_t)wti_run_size(path).stream_bytes <= SMALL_BYTES;
	if (is_small) {
		r = summarise_one(front, c, &run, &summary, err);
		if (r)
			return r;
	}
	r = wti_db_begin(c, err);
	if (!r) {
		r = wti_catalogue_read_folder(front, c, folder, &id, err);
		if (!r && is_small && id >= 0)
			r = wti_catalogue_put_summary(c, id, &summary, err);
		r = wti_db_end(c, r, err);
	}
	if (is_small)
		wti_summary_release(&summary);
	return r;
}

void wti_catalogue_add(const struct wti_front *front, const char *folder)
{
	struct wti_catalogue *c = calloc(1, sizeof(*c));
	struct stat st;

	if (!c)
		return;
	snprintf(c->home, sizeof(c->home), "%s", front->home);
	if (snprintf(c->path, sizeof(c->path), "%s/" WTI_CATALOGUE_FILE, front->home) <
		    (int)sizeof(c->path) &&
	    !stat(c->path, &st) && !wti_catalogue_connect(c, false, NULL))
		add_one(front, c, folder, NULL);
	wti_catalogue_disconnect(c);
	free(c);
}
