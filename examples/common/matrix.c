/* SPDX-License-Identifier: Apache-2.0 */
/* The three products that a layer and its gradients need, in plain loops with a fixed order. */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>

struct matrix matrix_new(size_t rows, size_t columns)
{
	struct matrix m = {rows, columns, calloc(rows * columns, sizeof(float))};

	if (!m.data) {
		fprintf(stderr, "out of memory for a matrix of %zu x %zu\n", rows, columns);
		exit(1);
	}
	return m;
}

void matrix_free(struct matrix *m)
{
	free(m->data);
	*m = (struct matrix){0};
}

void matrix_add_product(struct matrix *out, const struct matrix *a, const struct matrix *b)
{
	for (size_t i = 0; i < a->rows; i++) {
		for (size_t k = 0; k < a->columns; k++) {
			float scale = matrix_row(a, i)[k];

			for (size_t j = 0; j < b->columns; j++)
				matrix_row(out, i)[j] += scale * matrix_row(b, k)[j];
		}
	}
}

void matrix_add_product_ta(struct matrix *out, const struct matrix *a, const struct matrix *b)
{
	for (size_t k = 0; k < a->rows; k++) {
		for (size_t i = 0; i < a->columns; i++) {
			float scale = matrix_row(a, k)[i];

			for (size_t j = 0; j < b->columns; j++)
				matrix_row(out, i)[j] += scale * matrix_row(b, k)[j];
		}
	}
}

void matrix_add_product_tb(struct matrix *out, const struct matrix *a, const struct matrix *b)
{
	for (size_t i = 0; i < a->rows; i++) {
		for (size_t j = 0; j < b->rows; j++) {
			float sum = 0;

			for (size_t k = 0; k < a->columns; k++)
				sum += matrix_row(a, i)[k] * matrix_row(b, j)[k];
			matrix_row(out, i)[j] += sum;
		}
	}
}
