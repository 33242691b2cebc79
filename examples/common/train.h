/* SPDX-License-Identifier: Apache-2.0 */
/* One step of training and one evaluation, told to wheeltap as they happen. */
#ifndef EXAMPLES_TRAIN_H
#define EXAMPLES_TRAIN_H

#include "adam.h"
#include "data.h"
#include "mlp.h"
#include "rng.h"
#include "tape.h"

struct trainer {
	struct mlp *mlp;
	struct adam adam;
	const struct data *data;
	struct data batch;
	struct rng rng; /* for the order of the data */
	size_t *order;
	size_t next; /* in `order` */
	struct tape tape;
};

struct score {
	double loss;
	double accuracy; /* 0 to 1 */
};

void trainer_init(struct trainer *trainer, struct mlp *mlp, const struct data *data,
		  size_t batch_size, double learning_rate, uint64_t seed);
void trainer_release(struct trainer *trainer);
void trainer_shuffle(struct trainer *trainer); /* at the beginning of an epoch */
void trainer_set_rate(struct trainer *trainer, double learning_rate);
/* Takes a batch, goes forward, backward, and moves the parameters. */
struct score train_step(struct trainer *trainer);
/* Over all of `data`; changes nothing. */
struct score evaluate(struct mlp *mlp, const struct data *data);

#endif
