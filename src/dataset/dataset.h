/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data set in memory: rows of numbers, with a label each where there are labels. From CSV, .npy
 * and .npz. What is text in a column is a number made of it, good for nothing but being compared.
 */
#ifndef WTI_DATASET_DATASET_H
#define WTI_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>
#include <wheeltap/result.h>

#include "base/arena.h"
#include "base/sha.h"

#define WTI_DATASET_CELLS_MAX ((size_t)1 << 26) /* 512 MB of them */
#define WTI_DATASET_COLUMNS_MAX 65536u
#define WTI_DATASET_CLASSES_MAX 4096u

struct wti_data_column {
	const char *name;
	bool is_text;
};

struct wti_dataset {
	const char *path;
	const char *labels_path; /* where the labels are in a file of their own; or NULL */
	uint8_t sha[WTI_SHA256_BYTES];
	uint64_t bytes;
	uint64_t rows;
	size_t columns; /* without the label */
	struct wti_data_column *column;
	double *values; /* row by row */
	const char *label_name;
	uint32_t *labels;     /* numbers in `classes`; NULL: there are none */
	const char **classes; /* "0", "versicolor" */
	size_t class_count;
	struct wti_arena arena;
};

/* `label`: the column that has the labels; NULL: found by its name, or the last one. */
int wti_dataset_open(const char *path, const char *label, struct wti_dataset **ret,
		     struct wt_err *err);
void wti_dataset_free(struct wti_dataset *set);
/* The labels of another file, one a row: .npy, or CSV with one column. */
int wti_dataset_take_labels(struct wti_dataset *set, const char *path, struct wt_err *err);
/* The number that a class is called, for a model whose outputs are numbered. False: it is a word.
 */
bool wti_dataset_class_number(const struct wti_dataset *set, uint32_t label, uint32_t *ret);

static inline const double *wti_dataset_row(const struct wti_dataset *set, uint64_t row)
{
	return set->values + row * set->columns;
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* Tables of files, columns and classes, and what is odd in each of the sets by itself. */
int wti_dataset_describe(const struct wti_dataset *const *sets, size_t count,
			 struct wt_result *result, struct wt_err *err);
/* Rows that are in more than one of them. */
int wti_dataset_compare(const struct wti_dataset *const *sets, size_t count,
			struct wt_result *result, struct wt_err *err);

#endif
