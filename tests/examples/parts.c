/* SPDX-License-Identifier: Apache-2.0 */
/* What the training programs are made of: gradients against differences, models through files. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/data.h"
#include "common/mlp.h"
#include "common/model_file.h"
#include "common/rng.h"
#include "common/tape.h"

#include "../unit/test.h"

static const size_t widths[] = {2, 5, 4, 3};

static double loss_of(struct mlp *mlp, const struct data *data, bool backward)
{
	struct tape tape = {.count = 0};
	struct node *logits = mlp_forward(mlp, &tape, &data->points);
	struct node *loss = tape_cross_entropy(&tape, logits, data->labels);
	double value = loss->value.data[0];

	if (backward) {
		mlp_zero_gradients(mlp);
		tape_backward(&tape, loss);
	}
	tape_clear(&tape);
	return value;
}

/* The gradient of each number is how much the loss moves when the number does. */
static void check_gradients(struct mlp *mlp, const struct data *data)
{
	const float step = 1e-2f;

	loss_of(mlp, data, true);
	for (size_t i = 0; i < mlp->parameter_count; i++) {
		struct parameter *p = &mlp->parameters[i];

		for (size_t j = 0; j < matrix_count(&p->value); j++) {
			float *x = &p->value.data[j];
			float was = *x;
			double up, down, slope;

			*x = was + step;
			up = loss_of(mlp, data, false);
			*x = was - step;
			down = loss_of(mlp, data, false);
			*x = was;
			slope = (up - down) / (2 * (double)step);
			if (p->frozen)
				CHECK(p->gradient.data[j] == 0);
			else if (fabs(slope - (double)p->gradient.data[j]) > 2e-3)
				CHECK_TEXT("gradient that is not the slope", p->name);
		}
	}
}

static void test_gradients(void)
{
	struct data data;
	struct mlp mlp;
	struct rng rng;

	rng_seed(&rng, 5);
	data_pinwheel(&data, 12, 0, &rng);
	mlp_init(&mlp, widths, 3, &rng);
	check_gradients(&mlp, &data);
	mlp_add_adapters(&mlp, 2, 4, &rng);
	/* Adapters start at a product of zero, where half of their gradients are zero too. */
	for (size_t i = 0; i < mlp.layer_count; i++)
		mlp.layers[i].up->value.data[1] = 0.3f;
	check_gradients(&mlp, &data);
	CHECK_INT(mlp_count(&mlp, true), 2 * 5 + 5 + 5 * 4 + 4 + 4 * 3 + 3);
	CHECK_INT(mlp_count(&mlp, false), 2 * (2 + 5) + 2 * (5 + 4) + 2 * (4 + 3));
	mlp_release(&mlp);
	data_release(&data);
}

static void test_new_adapters_change_nothing(void)
{
	struct data data;
	struct mlp mlp;
	struct rng rng;
	double before;

	rng_seed(&rng, 6);
	data_pinwheel(&data, 30, 0, &rng);
	mlp_init(&mlp, widths, 3, &rng);
	before = loss_of(&mlp, &data, false);
	mlp_add_adapters(&mlp, 2, 4, &rng);
	CHECK(loss_of(&mlp, &data, false) == before);
	mlp_release(&mlp);
	data_release(&data);
}

static void test_permutation(void)
{
	struct rng rng;
	size_t order[100];
	bool seen[100] = {false};

	rng_seed(&rng, 0);
	rng_permutation(&rng, order, 100);
	for (size_t i = 0; i < 100; i++) {
		REQUIRE(order[i] < 100);
		CHECK(!seen[order[i]]);
		seen[order[i]] = true;
	}
	CHECK(order[0] != 0 || order[1] != 1 || order[2] != 2);
}

/* ---- Models in files ------------------------------------------------------------------------- */

static bool write_bytes(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	bool ok = file && fwrite(data, 1, bytes, file) == bytes;

	return file && !fclose(file) && ok;
}

/* No change of a bit and no cut may be loaded, or change the network it was to be loaded into. */
static void check_damage(struct mlp *mlp, const char *path, char *content, size_t bytes)
{
	uint64_t hash = mlp_hash(mlp, false);

	for (size_t i = 0; i < bytes; i++) {
		content[i] ^= (char)(1 << i % 8);
		REQUIRE(write_bytes(path, content, bytes));
		CHECK(!model_load(mlp, path));
		content[i] ^= (char)(1 << i % 8);
		REQUIRE(write_bytes(path, content, i));
		CHECK(!model_load(mlp, path));
	}
	CHECK(mlp_hash(mlp, false) == hash);
	REQUIRE(write_bytes(path, content, bytes));
	CHECK(model_load(mlp, path));
	CHECK(mlp_hash(mlp, false) != hash);
}

static void test_model_file(void)
{
	static const size_t other[] = {2, 5, 5, 3};
	char path[] = "/tmp/wheeltap-model-XXXXXX";
	char content[4096];
	struct mlp one, two, three;
	struct rng rng;
	size_t bytes;
	FILE *file;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	close(fd);
	rng_seed(&rng, 7);
	mlp_init(&one, widths, 3, &rng);
	mlp_init(&two, widths, 3, &rng);
	mlp_init(&three, other, 3, &rng);
	REQUIRE(freopen("/dev/null", "w", stderr)); /* each refusal says a line */
	CHECK(model_save(&one, path));
	CHECK(!model_load(&three, path));
	file = fopen(path, "rb");
	REQUIRE(file);
	bytes = fread(content, 1, sizeof(content), file);
	fclose(file);
	check_damage(&two, path, content, bytes);
	CHECK(mlp_hash(&one, false) == mlp_hash(&two, false));
	CHECK(!model_save(&one, "/dev/null/model"));
	unlink(path);
	CHECK(!model_load(&two, path));
	mlp_release(&three);
	mlp_release(&two);
	mlp_release(&one);
}

static const struct test tests[] = {
	{"gradients", test_gradients},
	{"new_adapters_change_nothing", test_new_adapters_change_nothing},
	{"permutation", test_permutation},
	{"model_file", test_model_file},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
