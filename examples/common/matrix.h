/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row-major matrices of floats. Sums are always taken in the same order, so that results are the
 * same to the bit from run to run.
 */
#ifndef EXAMPLES_MATRIX_H
#define EXAMPLES_MATRIX_H

#include <stddef.h>

struct matrix {
	size_t rows;
	size_t columns;
	float *data;
};

/* Zeroed. Out of memory ends the program: these are examples. */
struct matrix matrix_new(size_t rows, size_t columns);
void matrix_free(struct matrix *m);
static inline size_t matrix_count(const struct matrix *m)
{
	return m->rows * m->columns;
}
static inline float *matrix_row(const struct matrix *m, size_t row)
{
	return m->data + row * m->columns;
}

/* out += a b, out += a^T b, out += a b^T */
void matrix_add_product(struct matrix *out, const struct matrix *a, const struct matrix *b);
void matrix_add_product_ta(struct matrix *out, const struct matrix *a, const struct matrix *b);
void matrix_add_product_tb(struct matrix *out, const struct matrix *a, const struct matrix *b);

#endif
