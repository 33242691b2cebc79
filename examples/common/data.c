/* SPDX-License-Identifier: Apache-2.0 */
/* Making the points, and picking those of a batch. */
#include "data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void data_init(struct data *data, size_t count)
{
	data->points = matrix_new(count, DATA_FEATURES);
	data->labels = calloc(count, sizeof(*data->labels));
	if (!data->labels) {
		fprintf(stderr, "out of memory for %zu labels\n", count);
		exit(1);
	}
}

void data_pinwheel(struct data *data, size_t count, double turn, struct rng *rng)
{
	data_init(data, count);
	for (size_t i = 0; i < count; i++) {
		int arm = (int)(i % DATA_CLASSES);
		double radius = 0.4 + 1.2 * rng_uniform(rng);
		double angle =
			turn + 2 * M_PI * arm / DATA_CLASSES + 2.0 * radius + 0.2 * rng_normal(rng);

		matrix_row(&data->points, i)[0] = (float)(radius * cos(angle));
		matrix_row(&data->points, i)[1] = (float)(radius * sin(angle));
		data->labels[i] = arm;
	}
}

void data_release(struct data *data)
{
	matrix_free(&data->points);
	free(data->labels);
	data->labels = NULL;
}

void data_batch(const struct data *data, const size_t *order, size_t first, struct data *batch)
{
	for (size_t i = 0; i < batch->points.rows; i++) {
		size_t from = order[(first + i) % data->points.rows];

		memcpy(matrix_row(&batch->points, i), matrix_row(&data->points, from),
		       DATA_FEATURES * sizeof(float));
		batch->labels[i] = data->labels[from];
	}
}
