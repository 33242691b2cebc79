/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets in .npy and .npz: an array of one or two dimensions, read as tensors of a model file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "dataset/own.h"
#include "model/format.h"
#include "model/numbers.h"

/* ---- Elements -------------------------------------------------------------------------------- */

static int take_tensor(struct wti_dataset *set, struct wti_model *model,
		       const struct wti_model_tensor *tensor, struct wti_cells *cells,
		       struct wt_err *err)
{
	double *numbers;
	int r;

	if (!wti_model_has_numbers(tensor) || tensor->rank < 1 || tensor->rank > 2)
		return wti_err(err, WT_E_FORMAT,
			       "'%s' has an array that is not a table of numbers: give rows and "
			       "columns",
			       set->path);
	if (tensor->count > WTI_DATASET_CELLS_MAX ||
	    (tensor->rank == 2 && tensor->shape[1] > WTI_DATASET_COLUMNS_MAX))
		return wti_dataset_too_large(set, err);
	cells->rows = tensor->shape[0];
	cells->columns = tensor->rank == 2 ? (size_t)tensor->shape[1] : 1;
	r = wti_model_numbers(model, tensor, &numbers, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < tensor->count; i++)
		r = wti_cells_add(cells, i, numbers[i], NULL, 0);
	free(numbers);
	return r ? wti_dataset_too_large(set, err) : 0;
}

static int take_features(struct wti_dataset *set, struct wti_model *model,
			 const struct wti_model_tensor *tensor, struct wt_err *err)
{
	struct wti_cells cells;
	int r;

	wti_cells_init(&cells);
	r = take_tensor(set, model, tensor, &cells, err);
	if (!r)
		r = wti_dataset_fill(set, &cells, WTI_NO_COLUMN, err);
	wti_cells_release(&cells);
	return r;
}

/* ---- Which array is what --------------------------------------------------------------------- */

static const struct wti_model_tensor *array_named(const struct wti_model *model,
						  const char *const *names)
{
	for (; *names; names++) {
		for (size_t i = 0; i < model->tensor_count; i++) {
			if (!strcasecmp(model->tensors[i].name, *names))
				return &model->tensors[i];
		}
	}
	return NULL;
}

/* Of an .npz: the rows by their usual names, or the only table there is. */
static const struct wti_model_tensor *find_features(const struct wti_model *model)
{
	static const char *const names[] = {"features", "x", "data", "inputs", NULL};
	const struct wti_model_tensor *found = array_named(model, names);

	for (size_t i = 0; !found && i < model->tensor_count; i++) {
		if (model->tensors[i].rank == 2)
			found = &model->tensors[i];
	}
	return !found && model->tensor_count ? &model->tensors[0] : found;
}

/* The labels that lie in the same .npz, through a set of their own. */
static int take_own_labels(struct wti_dataset *set, struct wti_model *model, struct wt_err *err)
{
	static const char *const names[] = {"labels", "y", "target", "targets", "class", NULL};
	const struct wti_model_tensor *labels = array_named(model, names);
	struct wti_cells cells, both;
	int r;

	if (!labels || labels->rank != 1 || labels->shape[0] != set->rows)
		return 0;
	wti_cells_init(&cells);
	wti_cells_init(&both);
	r = take_tensor(set, model, labels, &cells, err);
	both.rows = set->rows;
	both.columns = set->columns + 1;
	for (uint64_t i = 0; !r && i < set->rows; i++) {
		for (size_t c = 0; !r && c < both.columns; c++)
			r = wti_cells_add(&both, i * both.columns + c,
					  c < set->columns ? set->values[i * set->columns + c]
							   : cells.numbers[i],
					  NULL, 0);
	}
	if (!r) {
		free(set->values);
		set->values = NULL;
		r = wti_dataset_fill(set, &both, set->columns, err);
	}
	wti_cells_release(&cells);
	wti_cells_release(&both);
	return r;
}

/* NAME_labels.npy beside NAME_features.npy. */
static int take_companion(struct wti_dataset *set, const char *path, struct wt_err *err)
{
	static const char from[] = "_features.npy";
	char labels[4096];
	int stem;

	if (!wti_ends_with(path, from) || strlen(path) + 8 > sizeof(labels))
		return 0;
	stem = (int)(strlen(path) - strlen(from));
	snprintf(labels, sizeof(labels), "%.*s_labels.npy", stem, path);
	return access(labels, R_OK) ? 0 : wti_dataset_take_labels(set, labels, err);
}

int wti_dataset_read_arrays(struct wti_dataset *set, const char *path, struct wt_err *err)
{
	const struct wti_model_tensor *features;
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	features = find_features(model);
	r = features ? take_features(set, model, features, err)
		     : wti_err(err, WT_E_FORMAT, "'%s' has no array", path);
	if (!r && model->tensor_count > 1)
		r = take_own_labels(set, model, err);
	wti_model_free(model);
	return r || set->labels ? r : take_companion(set, path, err);
}
