/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small data set made from a seed: points of the plane on the arms of a pinwheel, the arm is the
 * class. No straight line parts the arms, so a network needs its hidden layers.
 */
#ifndef EXAMPLES_DATA_H
#define EXAMPLES_DATA_H

#include "matrix.h"
#include "rng.h"

#define DATA_CLASSES 3
#define DATA_FEATURES 2

struct data {
	struct matrix points; /* one a row */
	int *labels;
};

/* `turn`: by how many radians the pinwheel is turned; another turn is another task. */
void data_pinwheel(struct data *data, size_t count, double turn, struct rng *rng);
void data_release(struct data *data);
/* Copies those rows that `order` names, from `first` on and around its end. */
void data_batch(const struct data *data, const size_t *order, size_t first, struct data *batch);

#endif
