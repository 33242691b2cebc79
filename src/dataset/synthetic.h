/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four small data sets for classifiers, made by a formula: clusters along a line, with noise and
 * slow waves. Without a seed they are the published ones, value by value; those ignore the seed
 * that they are described with. With a seed, the noise is a function of (seed, row, column) and of
 * nothing else.
 */
#ifndef WTI_DATASET_SYNTHETIC_H
#define WTI_DATASET_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

struct wti_synthetic {
	const char *name;  /* for people: "iris-like" */
	const char *files; /* what its files are called: "iris_like" */
	unsigned rows;
	unsigned columns;
	unsigned classes;
	float separation; /* between the clusters */
	float noise;      /* its whole width */
	uint64_t stated;  /* the seed that the published description names */
};

extern const struct wti_synthetic wti_synthetics[];                  /* ends with a name of NULL */
const struct wti_synthetic *wti_synthetic_by_name(const char *name); /* either name, or NULL */

static inline unsigned wti_synthetic_class(const struct wti_synthetic *set, unsigned row)
{
	return row % set->classes;
}

float wti_synthetic_value(const struct wti_synthetic *set, const uint64_t *seed, unsigned row,
			  unsigned column);

/* FILES.csv, FILES_features.npy, FILES_labels.npy and FILES_info.md in a folder that is made. */
int wti_synthetic_write(const struct wti_synthetic *set, const uint64_t *seed, const char *folder,
			struct wt_err *err);

#endif
