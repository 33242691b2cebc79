/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the runs as `digits` does, with the file looking on. */
#include "export_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli/front.h"
#include "cli/report.h"
#include "runs/digits_runs.h"
#include "show/export/hdf5.h"

#define RECORD "wheeltap record --runs 5 --noise rr -- PROGRAM"

static int compare(const struct wti_digits_runs *runs, struct wti_hdf5 *file, struct wt_err *err)
{
	const struct wti_digits_watcher watcher = wti_hdf5_watcher(file);
	const struct wti_digits_options options = {
		.how = wti_digits_usual(false),
		.base = 2,
		.fail_below = NAN,
		.noise_bits = runs->noise_bits,
		.has_noise = runs->noisy > 0,
		.rows_max = 1,
		.watcher = &watcher,
	};
	struct wt_result unused;
	int r;

	wt_result_init(&unused, "digits");
	r = wti_digits(runs->runs, runs->count, &options, &unused, err);
	wt_result_release(&unused);
	if (!r && !wti_hdf5_values(file))
		r = wti_err(err, WT_E_ARG,
			    "no value was measured in the runs: hdf5 is made of several that "
			    "were recorded with `" RECORD "`");
	return r && !wti_hdf5_failed(file) ? r : wti_hdf5_finish(file, err);
}

static void put_facts(struct wt_result *result, const char *path,
		      const struct wti_digits_runs *runs, const struct wti_hdf5 *file)
{
	struct stat about = {0};

	wt_result_fact_text(result, "format", "format", "hdf5");
	wt_result_fact_text(result, "file", "written to", path);
	wt_result_fact_count(result, "runs", "runs", WT_CELL_COUNT, runs->readable);
	wt_result_fact_count(result, "values", "values", WT_CELL_COUNT, wti_hdf5_values(file));
	if (!stat(path, &about))
		wt_result_fact_count(result, "bytes", "size", WT_CELL_BYTES,
				     (uint64_t)about.st_size);
	if (wti_hdf5_left_out(file))
		wt_result_note(result,
			       "%llu arrays, values or edges were left out: there are too many",
			       (unsigned long long)wti_hdf5_left_out(file));
	wt_result_set_status(result, runs->is_cut ? "damaged" : "clean");
}

static int export(char *const *words, size_t count, const char *path, bool force,
		  struct wti_digits_runs *runs, struct wt_result *result, struct wt_err *err)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wti_hdf5 *file = NULL;
	int r = !strcmp(path, "-") ? wti_err(err, WT_E_ARG,
					     "cannot write hdf5 to standard output; give a file "
					     "with -o")
				   : 0;

	r = r ? r : wti_digits_runs_open(&front, words, count, runs, result, err);
	if (!r && runs->readable < 2)
		r = wti_err(err, WT_E_ARG,
			    "hdf5 is made of several runs; record them with `" RECORD "`");
	r = r ? r : wti_hdf5_open(path, force, &file, err);
	r = r ? r : compare(runs, file, err);
	if (!r)
		put_facts(result, path, runs, file);
	wti_hdf5_free(file);
	return r;
}

/* "runs/noisy/" gives "noisy.h5". NULL: out of memory. */
static char *default_path(const char *word)
{
	size_t end = word ? strlen(word) : 0, from;
	char *path;

	while (end && word[end - 1] == '/')
		end--;
	for (from = end; from && word[from - 1] != '/';)
		from--;
	if (from == end)
		return strdup("digits.h5");
	return asprintf(&path, "%.*s.h5", (int)(end - from), word + from) < 0 ? NULL : path;
}

int wti_export_hdf5(char *const *words, size_t count, const char *output, bool force, bool json)
{
	char *path = output ? strdup(output) : default_path(count ? words[0] : NULL);
	struct wti_digits_runs runs = {0};
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code, r;

	wt_result_init(&result, "export");
	r = path ? export(words, count, path, force, &runs, &result, &err)
		 : wti_err(&err, WT_E_NOMEM, "out of memory");
	if (r)
		code = wti_report_error("export", json, &err);
	else
		code = wti_report_result(&result, json,
					 runs.is_cut ? WTI_EXIT_TRACE : WTI_EXIT_CLEAN);
	wti_digits_runs_close(&runs);
	wt_result_release(&result);
	free(path);
	return code;
}
