/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of two linear layers with ReLU between, trained by Adam, to the bit the same for a
 * seed. Random numbers are a function of (seed, stream, counter): there is no generator whose state
 * could be forgotten, only numbers that have to be kept.
 */
#ifndef EXAMPLES_TINY_H
#define EXAMPLES_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv.h"

#define TINY_HIDDEN 16u
#define TINY_PARAMETERS 4u
#define TINY_NUMBERS_MAX ((CSV_COLUMNS_MAX + 1) * TINY_HIDDEN + (TINY_HIDDEN + 1) * CSV_CLASSES_MAX)

struct tiny_parameter {
	const char *name; /* "linear1.weight" */
	size_t rank;
	size_t shape[2];
	size_t first; /* in `numbers` */
	size_t count;
};

struct tiny {
	size_t inputs, hidden, outputs;
	struct tiny_parameter parameters[TINY_PARAMETERS];
	size_t count; /* of all numbers */
	float numbers[TINY_NUMBERS_MAX];
};

/* Everything that the next step depends on besides the data. */
struct tiny_trainer {
	uint64_t seed;
	uint64_t epoch; /* so many are over: the order of the next is made from it */
	uint64_t steps;
	float mean[TINY_NUMBERS_MAX];
	float square[TINY_NUMBERS_MAX];
};

void tiny_shape(struct tiny *tiny, size_t inputs, size_t hidden, size_t outputs);
void tiny_init(struct tiny *tiny, uint64_t seed);
/* The mean loss of each epoch into `losses`. `ancestor`: with labels taken for probabilities. */
void tiny_train(struct tiny *tiny, struct tiny_trainer *trainer, const struct csv *data,
		uint64_t epochs, bool ancestor, double *losses);
double tiny_accuracy(const struct tiny *tiny, const struct csv *data);
void tiny_tell(const struct tiny *tiny); /* digests of the parameters to wheeltap */
/* The same as the contents of a file that is saved or loaded, which ends with it. */
struct wt_transfer;
void tiny_transfer(const struct tiny *tiny, struct wt_transfer *transfer, bool succeeded);

#endif
