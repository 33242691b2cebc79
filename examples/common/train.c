/* SPDX-License-Identifier: Apache-2.0 */
/* What to copy from: a training step with its spans, counters, states and tensors. */
#include "train.h"

#include <stdio.h>
#include <stdlib.h>

void trainer_init(struct trainer *trainer, struct mlp *mlp, const struct data *data,
		  size_t batch_size, double learning_rate, uint64_t seed)
{
	size_t count = data->points.rows;

	*trainer = (struct trainer){.mlp = mlp, .data = data};
	adam_init(&trainer->adam, mlp, learning_rate);
	rng_seed(&trainer->rng, seed);
	trainer->batch.points = matrix_new(batch_size, DATA_FEATURES);
	trainer->batch.labels = calloc(batch_size, sizeof(*trainer->batch.labels));
	trainer->order = calloc(count, sizeof(*trainer->order));
	if (!trainer->batch.labels || !trainer->order) {
		fprintf(stderr, "out of memory for a batch of %zu\n", batch_size);
		exit(1);
	}
	wt_state_float(WT_NAME("optimizer"), WT_NAME("lr"), 0, learning_rate);
	wt_state_int(WT_NAME("rng"), WT_NAME("seed"), 0, (int64_t)seed);
	trainer_shuffle(trainer);
}

void trainer_release(struct trainer *trainer)
{
	adam_release(&trainer->adam);
	data_release(&trainer->batch);
	free(trainer->order);
	trainer->order = NULL;
}

void trainer_shuffle(struct trainer *trainer)
{
	rng_permutation(&trainer->rng, trainer->order, trainer->data->points.rows);
	trainer->next = 0;
}

void trainer_set_rate(struct trainer *trainer, double learning_rate)
{
	double old = trainer->adam.learning_rate;

	if (old == learning_rate)
		return;
	wt_state_float(WT_NAME("optimizer"), WT_NAME("lr"), old, learning_rate);
	trainer->adam.learning_rate = learning_rate;
}

static double accuracy(const struct matrix *logits, const int *labels)
{
	size_t right = 0;

	for (size_t i = 0; i < logits->rows; i++) {
		const float *row = matrix_row(logits, i);
		size_t best = 0;

		for (size_t j = 1; j < logits->columns; j++)
			best = row[j] > row[best] ? j : best;
		right += best == (size_t)labels[i];
	}
	return (double)right / (double)logits->rows;
}

static void next_batch(struct trainer *trainer)
{
	size_t size = trainer->batch.points.rows;

	data_batch(trainer->data, trainer->order, trainer->next, &trainer->batch);
	trainer->next = (trainer->next + size) % trainer->data->points.rows;
}

struct score train_step(struct trainer *trainer)
{
	struct mlp *mlp = trainer->mlp;
	struct tape *tape = &trainer->tape;
	struct node *logits = NULL;
	struct node *loss = NULL;
	struct score score;

	WT_SPAN("data")
	{
		next_batch(trainer);
	}
	WT_SPAN("forward")
	{
		logits = mlp_forward(mlp, tape, &trainer->batch.points);
		loss = tape_cross_entropy(tape, logits, trainer->batch.labels);
	}
	WT_SPAN("backward")
	{
		mlp_zero_gradients(mlp);
		tape_backward(tape, loss);
	}
	WT_SPAN("optimizer")
	{
		adam_step(&trainer->adam, mlp);
	}
	score.loss = loss->value.data[0];
	score.accuracy = accuracy(&logits->value, trainer->batch.labels);
	wt_counter(WT_NAME("loss"), score.loss);
	wt_counter(WT_NAME("accuracy"), score.accuracy);
	wt_counter(WT_NAME("lr"), trainer->adam.learning_rate);
	wt_counter(WT_NAME("gradient_norm"), mlp_gradient_norm(mlp));
	mlp_tell_trained(mlp);
	tape_clear(tape);
	return score;
}

struct score evaluate(struct mlp *mlp, const struct data *data)
{
	struct tape tape = {.count = 0};
	struct score score = {0};

	WT_SPAN("evaluate")
	{
		struct node *logits = mlp_forward(mlp, &tape, &data->points);
		struct node *loss = tape_cross_entropy(&tape, logits, data->labels);

		score.loss = loss->value.data[0];
		score.accuracy = accuracy(&logits->value, data->labels);
	}
	tape_clear(&tape);
	return score;
}
