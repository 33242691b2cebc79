/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small network learns to tell the arms of a pinwheel apart: 10 epochs of 3 steps. What to look
 * at is here and in common/train.c: where epochs, steps, stages, spans, counters, states, tensors
 * and log lines are told to wheeltap.
 *
 *	wheeltap record -- build/examples/training_loop
 */
#include <inttypes.h>
#include <stdio.h>

#include <wheeltap/wheeltap.h>

#include "common/data.h"
#include "common/mlp.h"
#include "common/options.h"
#include "common/rng.h"
#include "common/train.h"

#define EXAMPLES 384
#define BATCH 128
#define LEARNING_RATE 0.02

static void print_epoch(uint64_t epoch, double train_loss, struct score test)
{
	printf("epoch %2" PRIu64 "  train loss %.6f  test loss %.6f  test accuracy %5.1f %%\n",
	       epoch, train_loss, test.loss, 100 * test.accuracy);
	wt_logf(WT_LEVEL_INFO, "epoch %" PRIu64 ": train loss %.6f, test accuracy %.1f %%", epoch,
		train_loss, 100 * test.accuracy);
}

/* The steps of one epoch; the mean of their losses. */
static double train_epoch(struct trainer *trainer, uint64_t first, uint64_t end)
{
	double sum = 0;

	wt_stage("train");
	trainer_shuffle(trainer);
	for (uint64_t step = first; step < end; step++) {
		wt_step((int64_t)step);
		WT_SPAN("step")
		{
			sum += train_step(trainer).loss;
		}
	}
	return end > first ? sum / (double)(end - first) : 0;
}

static struct score test_epoch(struct mlp *mlp, const struct data *test)
{
	struct score score;

	wt_stage("eval");
	score = evaluate(mlp, test);
	wt_counter(WT_NAME("test_loss"), score.loss);
	wt_counter(WT_NAME("test_accuracy"), score.accuracy);
	return score;
}

static void train(struct trainer *trainer, const struct data *test, const struct options *options)
{
	for (uint64_t epoch = 0; epoch < options->epochs; epoch++) {
		uint64_t first = options->steps * epoch / options->epochs;
		uint64_t end = options->steps * (epoch + 1) / options->epochs;
		double share = (double)epoch / (double)options->epochs;
		double loss;

		wt_epoch((int64_t)epoch);
		/* Falls to half on the way, in a straight line. */
		trainer_set_rate(trainer, LEARNING_RATE * (1 - share / 2));
		loss = train_epoch(trainer, first, end);
		print_epoch(epoch, loss, test_epoch(trainer->mlp, test));
	}
}

int main(int argc, char **argv)
{
	static const size_t widths[] = {DATA_FEATURES, 32, 32, DATA_CLASSES};
	struct options options = {.seed = 1, .epochs = 10, .steps = 30};
	static struct mlp mlp;
	static struct trainer trainer;
	struct data train_data;
	struct data test_data;
	struct rng rng;

	options_parse(&options, argc, argv);
	wt_stage("init");
	rng_seed(&rng, options.seed);
	data_pinwheel(&train_data, EXAMPLES, 0, &rng);
	data_pinwheel(&test_data, EXAMPLES, 0, &rng);
	mlp_init(&mlp, widths, 3, &rng);
	mlp_tell_parameters(&mlp);
	trainer_init(&trainer, &mlp, &train_data, BATCH, LEARNING_RATE, options.seed);

	train(&trainer, &test_data, &options);
	printf("parameters %016" PRIx64 "\n", mlp_hash(&mlp, false));

	trainer_release(&trainer);
	mlp_release(&mlp);
	data_release(&test_data);
	data_release(&train_data);
	return 0;
}
