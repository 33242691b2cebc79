/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of data sets share. */
#ifndef WTI_DATASET_OWN_H
#define WTI_DATASET_OWN_H

#include "base/map.h"
#include "dataset/dataset.h"

#define WTI_NO_COLUMN SIZE_MAX

/* A table while it is being read. */
struct wti_cells {
	double *numbers; /* row by row */
	size_t number_capacity;
	uint32_t *texts; /* of a cell that is not a number: its number among `words`, from 1 on */
	size_t text_capacity;
	struct wti_map words;
	uint64_t rows;
	size_t columns;
	const char **names; /* of the columns; NULL: they have none */
};

void wti_cells_init(struct wti_cells *cells);
void wti_cells_release(struct wti_cells *cells);
/* At the end of the table; `word`: NULL, or what stands there instead of a number. */
int wti_cells_add(struct wti_cells *cells, size_t index, double number, const char *word,
		  size_t word_bytes);
/* Divides the table into features and labels. WTI_NO_COLUMN: there are no labels. */
int wti_dataset_fill(struct wti_dataset *set, const struct wti_cells *cells, size_t label_column,
		     struct wt_err *err);
int wti_dataset_too_large(const struct wti_dataset *set, struct wt_err *err);
int wti_dataset_no_memory(struct wt_err *err);

int wti_dataset_read_csv(struct wti_dataset *set, const char *path, const char *label,
			 struct wt_err *err);
/* .npy and .npz. Labels of an .npy are in NAME_labels.npy, where it is called NAME_features.npy. */
int wti_dataset_read_arrays(struct wti_dataset *set, const char *path, struct wt_err *err);

#endif
