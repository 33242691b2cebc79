/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the run that saved a file is chosen among all that did, and what it costs to look. */
#include "lineage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "catalogue.h"
#include "inspect/check/check.h"
#include "inspect/origin/across.h"
#include "open.h"

#define LOADS_MAX                                                                                  \
	256u           /* files that are looked for: a program may read its data by the thousand   \
			*/
#define OPENED_MAX 16u /* runs that are read to compare tensor by tensor */
#define SUMMARISED_MAX 64u /* runs that are read because the catalogue does not know them yet */
#define SUMMARISED_BYTES ((int64_t)256 << 20) /* and of these together; a second or two */

char *wti_lineage_path(const struct wti_run *run, const char *path)
{
	char *made = NULL;

	while (!strncmp(path, "./", 2))
		path += 2;
	if (*path == '/' || !*path || !run->directory)
		return strdup(path);
	return asprintf(&made, "%s/%s", run->directory, path) < 0 ? NULL : made;
}

/* ---- Who saved it --------------------------------------------------------------------------- */

/* A save as the catalogue has it, with texts of its own. */
struct found {
	bool is_set;
	const struct wti_catalogue_run *run;
	char path[PATH_MAX];
	int64_t step;
	uint64_t digest;
};

struct search {
	const struct wti_run *run; /* that loaded */
	const struct wti_file_transfer *load;
	const char *path;    /* absolute */
	struct found last;   /* the last to this path */
	struct found same;   /* the last with all of its tensors */
	struct found anchor; /* the last with its largest tensor */
};

static void take_found(struct found *found, const struct wti_catalogue_saved *saved)
{
	found->is_set = true;
	found->run = saved->run;
	found->step = saved->saved.step;
	found->digest = saved->saved.digest;
	snprintf(found->path, sizeof(found->path), "%s", saved->saved.path);
}

static int take(void *self, const struct wti_catalogue_saved *saved)
{
	struct search *search = self;
	bool is_same = saved->saved.digest == search->load->digest;
	bool is_path = *search->path && !strcmp(saved->saved.path, search->path);

	/* Its own saves are judged within the run; what began later cannot have been loaded. */
	if (!strcmp(saved->run->folder, search->run->name) ||
	    saved->run->start_ns > search->run->start_ns)
		return 0;
	if (is_path)
		take_found(&search->last, saved);
	/* Of ranks that save to one path, each has its own part: any of them will do. */
	if (is_same &&
	    (!search->same.is_set || is_path || strcmp(search->same.path, search->path) != 0))
		take_found(&search->same, saved);
	if (saved->saved.anchor == search->load->anchor)
		take_found(&search->anchor, saved);
	return 0;
}

/* ---- Tensor by tensor ----------------------------------------------------------------------- */

struct across {
	const struct wti_front *front;
	struct wti_catalogue *catalogue;
	const struct wti_run *run;
	const struct wti_transfers *transfers;
	struct wt_result *result;
	size_t opened_count;
	size_t unread_count;  /* runs that the catalogue does not know yet */
	size_t missing_count; /* loads of which no save was found */
};

/* All values that were saved to the path in that step, by whichever rank. */
static int gather(const struct wti_transfers *saver, const struct found *found, const char *path,
		  const struct wti_transfer_value ***ret_values, size_t *ret_count)
{
	const struct wti_transfer_value **values = calloc(saver->value_count + 1, sizeof(*values));
	size_t count = 0;

	if (!values)
		return WT_E_NOMEM;
	for (size_t i = 0; i < saver->count; i++) {
		const struct wti_file_transfer *it = &saver->items[i];

		for (size_t j = 0; !it->is_load && it->step == found->step &&
				   !strcmp(it->path, path) && j < it->value_count;
		     j++)
			values[count++] = &saver->values[it->first + j];
	}
	*ret_values = values;
	*ret_count = count;
	return 0;
}

static int judge(struct across *across, const struct search *search, const struct found *found,
		 const struct wti_transfers *saver, const char *path, bool is_by_contents)
{
	struct wti_across judged = {.load = search->load,
				    .loaded = &across->transfers->values[search->load->first],
				    .run = found->run->folder,
				    .path = found->path,
				    .step = found->step,
				    .steps = saver->wanted,
				    .is_by_contents = is_by_contents};
	const struct wti_transfer_value **values = NULL;
	int r = gather(saver, found, path, &values, &judged.saved_count);

	judged.saved = values;
	if (!r && judged.saved_count)
		wti_across_judge(&judged, across->result);
	free(values);
	return r;
}

/* The path as the run that saved gave it: as it stands, or below where that was started. */
static const char *given_path(const struct wti_run *saver, const char *path)
{
	size_t bytes = saver->directory ? strlen(saver->directory) : 0;

	return bytes && !strncmp(path, saver->directory, bytes) && path[bytes] == '/'
		       ? path + bytes + 1
		       : path;
}

static int read_saver(struct across *across, const struct search *search, const struct found *found,
		      struct wti_map *wanted, bool is_by_contents, struct wt_err *err)
{
	struct wti_opened_run opened;
	struct wti_transfers saver;
	struct wti_check_options options = {.transfers = &saver};
	struct wt_result nothing;
	int r = wti_open(across->front, found->run->folder, &opened, err);

	if (r)
		return r;
	wti_transfers_init(&saver);
	saver.wanted = wanted;
	saver.kept_path = given_path(&opened.run, found->path);
	wt_result_init(&nothing, "doctor");
	r = wt_inspect(wt_inspector_by_name("doctor"), opened.trace, NULL, &options, &nothing, NULL,
		       NULL, err);
	if (!r)
		r = judge(across, search, found, &saver, saver.kept_path, is_by_contents);
	wt_result_release(&nothing);
	wti_transfers_release(&saver);
	wti_close(&opened);
	return r;
}

static int compare(struct across *across, const struct search *search, const struct found *found,
		   bool is_by_contents, struct wt_err *err)
{
	const struct wti_file_transfer *load = search->load;
	struct wti_map wanted;
	int r;

	if (found->run->removed_ns >= 0 || across->opened_count++ >= OPENED_MAX) {
		wt_result_note(
			across->result,
			"not measured: what was loaded from '%s' is not what '%s' saved, and "
			"%s",
			load->path, found->run->folder,
			found->run->removed_ns >= 0 ? "that run was removed"
						    : "enough runs were read");
		return 0;
	}
	wti_map_init(&wanted, load->value_count + 1);
	for (size_t i = 0; i < load->value_count; i++)
		wti_map_put(&wanted, across->transfers->values[load->first + i].hash, 0);
	r = read_saver(across, search, found, &wanted, is_by_contents, err);
	wti_map_release(&wanted);
	return r;
}

/* ---- Each load ------------------------------------------------------------------------------ */

static bool is_same_save(const struct found *one, const struct found *other)
{
	return one->run == other->run && one->step == other->step &&
	       !strcmp(one->path, other->path);
}

static int decide(struct across *across, const struct search *search, struct wt_err *err)
{
	const struct found *last = &search->last, *same = &search->same;
	const struct wti_across judged = {.load = search->load,
					  .loaded = &across->transfers->values[search->load->first],
					  .run = same->is_set ? same->run->folder : "",
					  .path = same->path,
					  .step = same->step};

	if (same->is_set && (!last->is_set || is_same_save(same, last)))
		return 0;
	if (same->is_set) {
		wti_across_other(&judged, last->run->folder, last->step, across->result);
		return 0;
	}
	if (last->is_set)
		return compare(across, search, last, false, err);
	if (search->anchor.is_set && search->load->value_count > 1)
		return compare(across, search, &search->anchor, true, err);
	across->missing_count++;
	return 0;
}

/* What the run saved to this path itself, or has loaded before, is not asked for. */
static bool is_known(const struct wti_transfers *transfers, size_t load)
{
	const struct wti_file_transfer *it = &transfers->items[load];

	for (size_t i = 0; i < load; i++) {
		const struct wti_file_transfer *before = &transfers->items[i];

		if (strcmp(before->path, it->path) != 0)
			continue;
		if (!before->is_load ? *it->path != 0 : before->digest == it->digest)
			return true;
	}
	return false;
}

static int judge_load(struct across *across, size_t load, struct wt_err *err)
{
	struct search search = {.run = across->run, .load = &across->transfers->items[load]};
	char *path = wti_lineage_path(across->run, search.load->path);
	struct wti_run_saved like = {
		.path = path, .digest = search.load->digest, .anchor = search.load->anchor};
	int r;

	if (!path)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	search.path = path;
	r = wti_catalogue_saved(across->catalogue, &like, take, &search, err);
	r = r ? r : decide(across, &search, err);
	free(path);
	return r;
}

/* ---- The catalogue -------------------------------------------------------------------------- */

/* Runs that are over and that nobody has asked for yet are read, the newest, up to a ceiling. */
static int summarise(struct across *across, struct wt_err *err)
{
	size_t count, wanted_count = 0;
	const struct wti_catalogue_run *runs = wti_catalogue_runs(across->catalogue, &count);
	bool *wanted = calloc(count + 1, sizeof(*wanted));
	int64_t bytes = 0;
	int r;

	if (!wanted)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		if (runs[i].is_summarised || runs[i].is_set || runs[i].removed_ns >= 0 ||
		    runs[i].start_ns > across->run->start_ns ||
		    !strcmp(runs[i].folder, across->run->name))
			continue;
		wanted[i] = wanted_count < SUMMARISED_MAX && bytes < SUMMARISED_BYTES;
		wanted_count += wanted[i];
		bytes += runs[i].stream_bytes > 0 ? runs[i].stream_bytes : 0;
		across->unread_count += !wanted[i];
	}
	r = wanted_count ? wti_catalogue_summarise(across->front, across->catalogue, wanted, err)
			 : 0;
	free(wanted);
	return r;
}

static int judge_loads(struct across *across, struct wt_err *err)
{
	size_t asked = 0;
	int r = summarise(across, err);

	for (size_t i = 0; i < across->transfers->count && !r && asked < LOADS_MAX; i++) {
		const struct wti_file_transfer *it = &across->transfers->items[i];

		if (!it->is_load || is_known(across->transfers, i))
			continue;
		if (it->is_cut)
			wt_result_note(across->result,
				       "not measured: the trace has not all, or not the hash of "
				       "all, that was loaded from '%s'",
				       *it->path ? it->path : "a buffer");
		if (it->digest && !(it->is_cut && !it->value_count)) {
			r = judge_load(across, i, err);
			asked++;
		}
	}
	if (across->missing_count && across->unread_count)
		wt_result_note(across->result,
			       "not measured: %zu of the runs beside are not in the catalogue yet; "
			       "one of them may have saved what was loaded: `wheeltap trend steps` "
			       "reads them all",
			       across->unread_count);
	return r;
}

int wti_lineage_across(const struct wti_front *front, const struct wti_run *run,
		       const struct wti_transfers *transfers, struct wt_result *result,
		       struct wt_err *err)
{
	struct across across = {
		.front = front, .run = run, .transfers = transfers, .result = result};
	struct wt_err failed = {.offset = -1};
	int r;

	if (!transfers->load_count || !front->home || !run->has_json)
		return 0;
	r = wti_catalogue_open(front, &across.catalogue, NULL, &failed);
	if (!r) {
		r = judge_loads(&across, &failed);
		wti_catalogue_free(across.catalogue);
	}
	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	if (r)
		wt_result_note(result, "not measured: which run saved what was loaded: %s",
			       failed.message);
	if (result->finding_count && result->status && !strcmp(result->status, "clean"))
		wt_result_set_status(result, "findings");
	return 0;
}
