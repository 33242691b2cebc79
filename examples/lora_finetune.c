/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network learns a task, is frozen, and gets low-rank adapters that learn another task: the same
 * pinwheel, turned. 3 epochs of 100 steps. Ends with 1 if a frozen weight moved or the adapters
 * did not learn.
 *
 *	wheeltap record -- build/examples/lora_finetune
 */
#include <inttypes.h>
#include <stdio.h>

#include <wheeltap/wheeltap.h>

#include "common/data.h"
#include "common/mlp.h"
#include "common/options.h"
#include "common/rng.h"
#include "common/train.h"

#define EXAMPLES 3200
#define BATCH 32
#define PRETRAIN_STEPS 300
#define PRETRAIN_RATE 0.01
#define LEARNING_RATE 0.004
#define TURN 1.0 /* radians, from the first task to the second */
#define RANK 2
#define ALPHA 4

/* Steps are told only for what this program is about: the fine-tuning. */
static void pretrain(struct mlp *mlp, const struct data *data, uint64_t seed)
{
	static struct trainer trainer;

	wt_stage("pretrain");
	trainer_init(&trainer, mlp, data, BATCH, PRETRAIN_RATE, seed);
	for (int i = 0; i < PRETRAIN_STEPS; i++)
		train_step(&trainer);
	trainer_release(&trainer);
}

static struct score test(struct mlp *mlp, const struct data *data)
{
	struct score score;

	wt_stage("eval");
	score = evaluate(mlp, data);
	wt_counter(WT_NAME("test_loss"), score.loss);
	wt_counter(WT_NAME("test_accuracy"), score.accuracy);
	mlp_tell_parameters(mlp); /* the frozen ones too: their digests must not change */
	return score;
}

static void finetune_epoch(struct trainer *trainer, uint64_t first, uint64_t end)
{
	wt_stage("train");
	trainer_shuffle(trainer);
	for (uint64_t step = first; step < end; step++) {
		wt_step((int64_t)step);
		WT_SPAN("step")
		{
			train_step(trainer);
		}
	}
}

/* What the network can do after the last epoch. */
static struct score finetune(struct mlp *mlp, const struct data *train_data,
			     const struct data *test_data, const struct options *options)
{
	static struct trainer trainer;
	struct score score = {0};

	trainer_init(&trainer, mlp, train_data, BATCH, LEARNING_RATE, options->seed);
	for (uint64_t epoch = 0; epoch < options->epochs; epoch++) {
		wt_epoch((int64_t)epoch);
		trainer_set_rate(&trainer, LEARNING_RATE / (double)(epoch + 1));
		finetune_epoch(&trainer, options->steps * epoch / options->epochs,
			       options->steps * (epoch + 1) / options->epochs);
		score = test(mlp, test_data);
		printf("epoch %2" PRIu64 "  test loss %.6f  test accuracy %5.1f %%\n", epoch,
		       score.loss, 100 * score.accuracy);
		wt_logf(WT_LEVEL_INFO, "epoch %" PRIu64 ": test accuracy %.1f %%", epoch,
			100 * score.accuracy);
	}
	trainer_release(&trainer);
	return score;
}

/* The frozen network, then its adapters: 0 if all went as it should. */
static int run(struct mlp *mlp, const struct data *train_data, const struct data *test_data,
	       const struct options *options)
{
	struct score before, after;
	uint64_t frozen = mlp_hash(mlp, true);

	before = test(mlp, test_data);
	printf("frozen  %zu numbers %016" PRIx64 ", adapters %zu numbers\n", mlp_count(mlp, true),
	       frozen, mlp_count(mlp, false));
	printf("before    test loss %.6f  test accuracy %5.1f %%\n", before.loss,
	       100 * before.accuracy);
	after = finetune(mlp, train_data, test_data, options);
	printf("frozen  %zu numbers %016" PRIx64 ": %s\n", mlp_count(mlp, true),
	       mlp_hash(mlp, true), mlp_hash(mlp, true) == frozen ? "not moved" : "MOVED");
	printf("adapters %016" PRIx64 "\n", mlp_hash(mlp, false));
	return mlp_hash(mlp, true) == frozen && after.loss < before.loss &&
			       after.accuracy > before.accuracy
		       ? 0
		       : 1;
}

int main(int argc, char **argv)
{
	static const size_t widths[] = {DATA_FEATURES, 32, 32, DATA_CLASSES};
	struct options options = {.seed = 1, .epochs = 3, .steps = 300};
	struct data first_task, second_task, test_data;
	struct mlp mlp;
	struct rng rng;
	int status;

	options_parse(&options, argc, argv);
	wt_stage("init");
	rng_seed(&rng, options.seed);
	data_pinwheel(&first_task, EXAMPLES, 0, &rng);
	data_pinwheel(&second_task, EXAMPLES, TURN, &rng);
	data_pinwheel(&test_data, EXAMPLES, TURN, &rng);
	mlp_init(&mlp, widths, 3, &rng);

	pretrain(&mlp, &first_task, options.seed);
	mlp_add_adapters(&mlp, RANK, ALPHA, &rng);
	status = run(&mlp, &second_task, &test_data, &options);

	mlp_release(&mlp);
	data_release(&test_data);
	data_release(&second_task);
	data_release(&first_task);
	return status;
}
