/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the order: summarised, written down, removed. */
#include "retire.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "remove.h"

/* The row of a run that lies directly below the home; NULL: it does not, or is not known. */
static const struct wti_catalogue_run *
row_of(const struct wti_front *front, const struct wti_catalogue *c, const struct wti_run *run)
{
	const struct wti_catalogue_run *found = wti_catalogue_find(c, run->name);
	char ours[PATH_MAX], theirs[PATH_MAX], path[PATH_MAX];

	if (!found || found->removed_ns >= 0 || strcmp(found->folder, run->name) != 0 ||
	    snprintf(path, sizeof(path), "%s/%s", front->home, run->name) >= (int)sizeof(path) ||
	    !realpath(path, ours) || !realpath(run->path, theirs))
		return NULL;
	return strcmp(ours, theirs) ? NULL : found;
}

/* All at once, with one bar of progress. */
static int summarise(const struct wti_front *front, struct wti_catalogue *c, struct wti_run **runs,
		     size_t count, struct wt_err *err)
{
	const struct wti_catalogue_run *rows;
	size_t row_count;
	bool *wanted;
	int r;

	rows = wti_catalogue_runs(c, &row_count);
	wanted = calloc(row_count + 1, sizeof(*wanted));
	if (!wanted)
		return WT_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct wti_catalogue_run *row = row_of(front, c, runs[i]);

		if (row)
			wanted[row - rows] = true;
	}
	r = wti_catalogue_summarise(front, c, wanted, err);
	free(wanted);
	return r;
}

static int keep(const struct wti_front *front, struct wti_catalogue *c, const struct wti_run *run,
		struct wt_err *err)
{
	const struct wti_catalogue_run *row = row_of(front, c, run);
	struct wti_run_summary summary;
	int r;

	if (!row)
		return 0;
	r = wti_catalogue_summary(c, row, &summary, err);
	if (r)
		return r;
	r = wti_kept_add(front->home, row, &summary, err);
	wti_summary_release(&summary);
	return r;
}

size_t wti_retire(const struct wti_front *front, struct wti_run **runs, size_t count, bool forget,
		  bool elsewhere, struct wt_result *result)
{
	struct wti_catalogue *c = NULL;
	struct wt_err err = {.offset = -1};
	size_t removed = 0;
	int r = forget ? 0 : wti_catalogue_open(front, &c, result, &err);

	if (c)
		r = summarise(front, c, runs, count, &err);
	if (r) {
		wt_result_note(result, "nothing was removed, as nothing could be kept of it: %s",
			       err.message);
		wti_catalogue_free(c);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		err = (struct wt_err){.offset = -1};
		r = c ? keep(front, c, runs[i], &err) : 0;
		if (r)
			wt_result_note(result, "'%s' stays: %s; --forget removes it all the same",
				       runs[i]->name, err.message);
		else if (wti_run_remove(runs[i], elsewhere, &err))
			wt_result_note(result, "%s", err.message);
		else
			removed++;
	}
	wti_catalogue_free(c);
	return removed;
}
