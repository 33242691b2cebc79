/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a network, saves it, loads it into another one and compares the two bit by bit, in what
 *they hold and in what they answer. Ends with 1 if they differ.
 *
 *	wheeltap record -- build/examples/model_io --file /tmp/model
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <wheeltap/wheeltap.h>

#include "common/data.h"
#include "common/mlp.h"
#include "common/model_file.h"
#include "common/options.h"
#include "common/rng.h"
#include "common/train.h"

#define EXAMPLES 384
#define BATCH 128
#define LEARNING_RATE 0.02

static const size_t widths[] = {DATA_FEATURES, 32, 32, DATA_CLASSES};

static void train(struct mlp *mlp, const struct data *data, const struct options *options)
{
	static struct trainer trainer;
	uint64_t step = 0;

	trainer_init(&trainer, mlp, data, BATCH, LEARNING_RATE, options->seed);
	for (uint64_t epoch = 0; epoch < options->epochs; epoch++) {
		wt_epoch((int64_t)epoch);
		trainer_shuffle(&trainer);
		for (; step < options->steps * (epoch + 1) / options->epochs; step++) {
			wt_step((int64_t)step);
			train_step(&trainer);
		}
	}
	trainer_release(&trainer);
}

static bool save_and_load(const struct mlp *trained, struct mlp *loaded, const char *path)
{
	bool ok = false;

	wt_stage("save");
	WT_SPAN("save")
	{
		ok = model_save(trained, path);
	}
	if (!ok)
		return false;
	wt_stage("load");
	WT_SPAN("load")
	{
		ok = model_load(loaded, path);
	}
	mlp_tell_parameters(loaded);
	return ok;
}

/* How many parameters differ in any bit. */
static size_t count_different(const struct mlp *a, const struct mlp *b)
{
	size_t different = 0;

	for (size_t i = 0; i < a->parameter_count; i++) {
		const struct matrix *x = &a->parameters[i].value;
		const struct matrix *y = &b->parameters[i].value;

		if (memcmp(x->data, y->data, matrix_count(x) * sizeof(float))) {
			printf("%s differs\n", a->parameters[i].name);
			wt_logf(WT_LEVEL_ERROR, "%s differs", a->parameters[i].name);
			different++;
		}
	}
	return different;
}

static bool same_answers(struct mlp *trained, struct mlp *loaded, const struct data *test)
{
	struct score a, b;

	wt_stage("eval");
	a = evaluate(trained, test);
	b = evaluate(loaded, test);
	wt_counter(WT_NAME("test_accuracy"), a.accuracy);
	wt_counter(WT_NAME("loaded_accuracy"), b.accuracy);
	printf("trained  loss %.6f  accuracy %5.1f %%  parameters %016" PRIx64 "\n", a.loss,
	       100 * a.accuracy, mlp_hash(trained, false));
	printf("loaded   loss %.6f  accuracy %5.1f %%  parameters %016" PRIx64 "\n", b.loss,
	       100 * b.accuracy, mlp_hash(loaded, false));
	return a.loss == b.loss && a.accuracy == b.accuracy;
}

int main(int argc, char **argv)
{
	struct options options = {.seed = 1, .epochs = 10, .steps = 30, .file = "model_io.mlp"};
	struct data train_data, test_data;
	struct mlp trained, loaded;
	struct rng rng;
	bool same = false;

	options_parse(&options, argc, argv);
	wt_stage("init");
	rng_seed(&rng, options.seed);
	data_pinwheel(&train_data, EXAMPLES, 0, &rng);
	data_pinwheel(&test_data, EXAMPLES, 0, &rng);
	mlp_init(&trained, widths, 3, &rng);
	mlp_init(&loaded, widths, 3, &rng); /* other values: the file must bring the right ones */
	mlp_tell_parameters(&trained);

	wt_stage("train");
	train(&trained, &train_data, &options);
	if (save_and_load(&trained, &loaded, options.file))
		same = count_different(&trained, &loaded) == 0 &&
		       same_answers(&trained, &loaded, &test_data);
	printf("%s\n", same ? "the same to the bit" : "NOT the same");

	mlp_release(&loaded);
	mlp_release(&trained);
	data_release(&test_data);
	data_release(&train_data);
	return same ? 0 : 1;
}
