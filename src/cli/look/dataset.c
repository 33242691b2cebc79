/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `dataset`: makes small data sets, and says what is in files of data. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/report.h"
#include "dataset/dataset.h"
#include "dataset/synthetic.h"

#define FILES_MAX 64u

struct dataset_options {
	bool json;
	const char *output;
	const char *seed;
	const char *label;
	const char *labels;
	const char *fail_on;
};

/* ---- make ------------------------------------------------------------------------------------ */

static int unknown_set(const char *name, struct wt_err *err)
{
	const char *names[16];
	size_t count = 0;
	const char *likely;

	for (const struct wti_synthetic *set = wti_synthetics; set->name && count < 16; set++)
		names[count++] = set->name;
	likely = wti_suggest(name, names, count);
	return wti_err(err, WT_E_ARG,
		       "there is no data set '%s'%s%s%s: use iris-like, small, tiny or multi-class",
		       name, likely ? "; did you mean '" : "", likely ? likely : "",
		       likely ? "'?" : "");
}

static void show_made(const struct wti_synthetic *set, const struct dataset_options *options,
		      const char *folder, struct wt_result *result)
{
	wt_result_fact_text(result, "name", "data set", set->files);
	wt_result_fact_text(result, "folder", "folder", folder);
	wt_result_fact_count(result, "rows", "rows", WT_CELL_COUNT, set->rows);
	wt_result_fact_count(result, "features", "features", WT_CELL_COUNT, set->columns);
	wt_result_fact_count(result, "classes", "classes", WT_CELL_COUNT, set->classes);
	wt_result_fact_text(result, "seed", "seed",
			    options->seed ? options->seed : "none: the published values");
	wt_result_set_status(result, "made");
}

static int make(const struct dataset_options *options, char **names, size_t count,
		struct wt_result *result, struct wt_err *err)
{
	const char *folder = options->output ? options->output : ".";
	uint64_t seed = 0;

	if (!count)
		return wti_err(err, WT_E_ARG,
			       "which data set? use iris-like, small, tiny or multi-class");
	if (options->seed && !wti_parse_u64(options->seed, &seed))
		return wti_err(err, WT_E_ARG, "bad seed '%s': give a whole number", options->seed);
	for (size_t i = 0; i < count; i++) {
		const struct wti_synthetic *set = wti_synthetic_by_name(names[i]);
		int r;

		if (!set)
			return unknown_set(names[i], err);
		r = wti_synthetic_write(set, options->seed ? &seed : NULL, folder, err);
		if (r)
			return r;
		if (count == 1)
			show_made(set, options, folder, result);
	}
	if (count > 1)
		wt_result_fact_count(result, "sets", "data sets made", WT_CELL_COUNT, count);
	wt_result_set_status(result, "made");
	return 0;
}

/* ---- inspect --------------------------------------------------------------------------------- */

struct opened {
	const struct wti_dataset *sets[FILES_MAX];
	size_t count;
};

/* The labels of another file that is named, too, are no data set of their own. */
static bool is_taken(const struct opened *opened, const char *path)
{
	for (size_t i = 0; i < opened->count; i++) {
		if (opened->sets[i]->labels_path && !strcmp(opened->sets[i]->labels_path, path))
			return true;
	}
	return false;
}

static int open_all(const struct dataset_options *options, char **paths, size_t count,
		    struct opened *opened, struct wt_err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct wti_dataset *set;
		int r;

		if (is_taken(opened, paths[i]))
			continue;
		r = wti_dataset_open(paths[i], options->label, &set, err);
		if (r)
			return r;
		opened->sets[opened->count++] = set;
		if (options->labels && i == 0)
			r = wti_dataset_take_labels(set, options->labels, err);
		if (r)
			return r;
	}
	return 0;
}

static int inspect(const struct dataset_options *options, char **paths, size_t count,
		   struct wt_result *result, struct wt_err *err)
{
	struct opened opened = {0};
	int r;

	if (!count || count > FILES_MAX)
		return wti_err(err, WT_E_ARG, "which data? name 1 to %u files of CSV, .npy or .npz",
			       FILES_MAX);
	r = open_all(options, paths, count, &opened, err);
	if (!r) {
		r = wti_dataset_describe(opened.sets, opened.count, result, err);
		r = r ? r : wti_dataset_compare(opened.sets, opened.count, result, err);
	}
	for (size_t i = 0; i < opened.count; i++)
		wti_dataset_free((struct wti_dataset *)opened.sets[i]);
	wt_result_set_status(result, result->finding_count ? "findings" : "clean");
	return r;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int exit_of(const struct wt_result *result, const char *fail_on)
{
	enum wt_severity least = !fail_on || !strcmp(fail_on, "error") ? WT_ERROR
				 : !strcmp(fail_on, "warning")         ? WT_WARNING
								       : WT_NOTE;

	for (size_t i = 0; i < result->finding_count; i++) {
		if (result->findings[i].severity >= least)
			return WTI_EXIT_FINDINGS;
	}
	return WTI_EXIT_CLEAN;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct dataset_options *options = opaque;
	struct wt_result result;
	struct wt_err err = {0};
	int r, code;

	wt_result_init(&result, "dataset");
	if (!strcmp(arguments[0], "make"))
		r = make(options, arguments + 1, count - 1, &result, &err);
	else if (!strcmp(arguments[0], "inspect"))
		r = inspect(options, arguments + 1, count - 1, &result, &err);
	else
		r = wti_err(&err, WT_E_ARG, "unknown action '%s': use make or inspect",
			    arguments[0]);
	if (r)
		code = wti_report_error("dataset", options->json, &err);
	else
		code = wti_report_result(&result, options->json,
					 exit_of(&result, options->fail_on));
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "DIR", NULL, "make: write the files to this folder",
	 offsetof(struct dataset_options, output)},
	{"seed", 0, WTI_OPT_TEXT, "N", NULL,
	 "make: the seed of the noise; without it, the published data are written",
	 offsetof(struct dataset_options, seed)},
	{"label", 0, WTI_OPT_TEXT, "COLUMN", NULL,
	 "inspect: the column of a CSV file that has the labels",
	 offsetof(struct dataset_options, label)},
	{"labels", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "inspect: the labels of the first file, one for each row",
	 offsetof(struct dataset_options, labels)},
	{"fail-on", 0, WTI_OPT_CHOICE, NULL, "error|warning|note",
	 "inspect: exit with 1 from this severity on (error)",
	 offsetof(struct dataset_options, fail_on)},
	WTI_OPTION_JSON(struct dataset_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_dataset = {
	.name = "dataset",
	.arguments = "ACTION NAME|FILE...",
	.summary = "make small data sets, inspect files of data",
	.description =
		"make NAME writes one of four synthetic data sets (iris-like, small, tiny, "
		"multi-class) as CSV and .npy, with a page that describes it. Without --seed "
		"they are the published ones, value by value; with --seed the noise depends on "
		"it. inspect FILE... reads CSV, .npy and .npz: hash, rows, columns, classes, "
		"statistics of each column, duplicate rows, constant columns, missing values. "
		"Several files are treated as parts of one set, such as training and test: rows "
		"that occur in more than one of them are reported. The labels of "
		"NAME_features.npy are those of NAME_labels.npy; of a CSV file the column class, "
		"label, target or y, or the last one where it has few whole numbers or words.",
	.examples = "wheeltap dataset make iris-like -o data\tthe published set\n"
		    "wheeltap dataset make tiny --seed 7 -o data\tanother one\n"
		    "wheeltap dataset inspect train.csv test.csv\tis a row in both?",
	.options = options,
	.options_bytes = sizeof(struct dataset_options),
	.arguments_min = 1,
	.arguments_max = FILES_MAX + 1,
	.group = "look",
	.run = run,
};
