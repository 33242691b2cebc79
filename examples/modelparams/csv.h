/* SPDX-License-Identifier: Apache-2.0 */
/* A small data set: lines of numbers with commas, the last one the class. As `wheeltap dataset
 * make` writes them. */
#ifndef EXAMPLES_CSV_H
#define EXAMPLES_CSV_H

#include <stdbool.h>
#include <stddef.h>

#define CSV_ROWS_MAX 1024u
#define CSV_COLUMNS_MAX 16u
#define CSV_CLASSES_MAX 16u

struct csv {
	size_t count;
	size_t columns;
	size_t classes;
	float rows[CSV_ROWS_MAX][CSV_COLUMNS_MAX];
	unsigned labels[CSV_ROWS_MAX];
	double majority; /* the share of the most frequent class */
};

/* False, and a line on standard error. */
bool csv_read(struct csv *csv, const char *path);

#endif
