/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors are a chain of layers, which way round, and what its answers are worth. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "model/answers.h"
#include "model/format.h"
#include "model/network.h"

struct made {
	const char *name;
	uint64_t shape[3];
	uint32_t rank;
};

/* All elements are 1, 2, 3 ... in the order of the file. */
static struct wti_model *make(const struct wti_model_format *format, const struct made *tensors)
{
	struct wti_model *model = NULL;
	struct wti_buf memory;
	uint64_t at = 0;
	uint32_t source;

	if (wti_model_new("made", false, &model, NULL))
		return NULL;
	model->format = format;
	wti_buf_init(&memory, 65536);
	for (float i = 1; i <= 1000; i++)
		wti_buf_append(&memory, &i, sizeof(i));
	CHECK_INT(wti_model_add_memory(model, &memory, &source, NULL), 0);
	wti_buf_release(&memory);
	for (; tensors->name; tensors++) {
		struct wti_model_tensor tensor = {.name = tensors->name,
						  .dtype = WT_DTYPE_F32,
						  .type = "F32",
						  .rank = tensors->rank,
						  .shape = tensors->shape,
						  .source = source,
						  .offset = at};

		CHECK_INT(wti_model_add(model, &tensor, NULL), 0);
		at = tensor.offset + 4;
		for (uint32_t i = 0, count = 1; i < tensors->rank; i++) {
			count *= (uint32_t)tensors->shape[i];
			at = tensor.offset + 4 * (uint64_t)count;
		}
	}
	return model;
}

static struct wti_network *open_made(const struct wti_model_format *format,
				     const struct made *tensors, size_t inputs,
				     struct wti_model **ret_model, struct wt_err *err)
{
	struct wti_network *network = NULL;

	*ret_model = make(format, tensors);
	if (wti_network_open(*ret_model, inputs, WTI_ACTIVATION_RELU, &network, err))
		return NULL;
	return network;
}

/* y = x W + b with W = 1 2 3 / 4 5 6, as Burn has it; torch's of the same bytes is 1 4 / 2 5 / 3 6.
 */
static void test_orientation(void)
{
	static const struct made burn[] = {{"a.weight", {2, 3}, 2}, {"a.bias", {3}, 1}, {NULL}};
	static const struct made torch[] = {{"a.weight", {3, 2}, 2}, {"a.bias", {3}, 1}, {NULL}};
	struct wti_model *model;
	struct wti_network *network = open_made(&wti_model_burn_bin, burn, 2, &model, NULL);
	const double *y;

	REQUIRE(network);
	CHECK(!network->is_transposed);
	y = wti_network_run(network, (double[]){1, 10});
	CHECK(y[0] == 1 + 40 + 7 && y[1] == 2 + 50 + 8 && y[2] == 3 + 60 + 9);
	wti_network_free(network);
	wti_model_free(model);
	network = open_made(&wti_model_burn_bin, torch, 2, &model, NULL);
	REQUIRE(network);
	CHECK(network->is_transposed);
	y = wti_network_run(network, (double[]){1, 10});
	CHECK(y[0] == 1 + 20 + 7 && y[1] == 3 + 40 + 8 && y[2] == 5 + 60 + 9);
	wti_network_free(network);
	wti_model_free(model);
}

/* Between layers, not behind the last: y = 2 f(x). */
static void test_activations(void)
{
	static const struct made two[] = {{"a.weight", {1, 1}, 2}, {"b.weight", {1, 1}, 2}, {NULL}};
	const struct {
		enum wti_activation activation;
		double y;
	} cases[] = {{WTI_ACTIVATION_RELU, 0},
		     {WTI_ACTIVATION_TANH, 2 * tanh(-3)},
		     {WTI_ACTIVATION_NONE, -6}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wti_model *model = make(NULL, two);
		struct wti_network *network = NULL;

		REQUIRE(!wti_network_open(model, 1, cases[i].activation, &network, NULL));
		CHECK(wti_network_run(network, (double[]){-3})[0] == cases[i].y);
		wti_network_free(network);
		wti_model_free(model);
	}
}

/* Where both ways fit, the format decides. */
static void test_square(void)
{
	static const struct made square[] = {{"a.weight", {2, 2}, 2}, {NULL}};
	const struct wti_model_format *formats[] = {&wti_model_burn_mpk, NULL};

	for (size_t i = 0; i < 2; i++) {
		struct wti_model *model;
		struct wti_network *network = open_made(formats[i], square, 2, &model, NULL);

		REQUIRE(network);
		CHECK_INT(network->is_transposed, i);
		wti_network_free(network);
		wti_model_free(model);
	}
}

/* Sorted by name, as in safetensors: layers have numbers, and bias comes before weight. */
static void test_order(void)
{
	static const struct made sorted[] = {{"l10.bias", {3}, 1},
					     {"l10.weight", {3, 5}, 2},
					     {"l9.bias", {5}, 1},
					     {"l9.weight", {5, 4}, 2},
					     {NULL}};
	struct wti_model *model;
	struct wti_network *network = open_made(NULL, sorted, 4, &model, NULL);

	REQUIRE(network);
	CHECK_INT(network->count, 2);
	CHECK_TEXT(network->layers[0].weight->name, "l9.weight");
	CHECK_TEXT(network->layers[1].bias->name, "l10.bias");
	CHECK_INT(wti_network_outputs(network), 3);
	wti_network_free(network);
	wti_model_free(model);
}

static void test_refused(void)
{
	static const struct {
		struct made tensors[4];
		const char *message;
	} cases[] = {
		{{{"a.weight", {2, 3}, 2}, {"a.bias", {4}, 1}}, "not a chain"},
		{{{"a.weight", {2, 3}, 2}, {"b.weight", {4, 2}, 2}}, "not a chain"},
		{{{"a.weight", {2, 3}, 2}, {"b.bias", {3}, 1}}, "not a chain"},
		{{{"a.weight", {7, 3}, 2}}, "from 2 features on"},
		{{{"a.weight", {2, 3, 1}, 3}}, "neither a matrix nor a vector"},
		{{{"a.bias", {3}, 1}}, "no matrix"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wti_model *model;
		struct wt_err err = {0};

		CHECK(!open_made(&wti_model_burn_bin, cases[i].tensors, 2, &model, &err));
		if (!strstr(err.message, cases[i].message))
			test_fail(__FILE__, __LINE__, "'%s', should be '%s'", err.message,
				  cases[i].message);
		wti_model_free(model);
	}
}

/* Exact sums of fractions. */
static void test_binomial(void)
{
	CHECK(fabs(wti_binomial_tail(50, 150, 1.0 / 3) - 0.5306735879487331) < 1e-9);
	CHECK(fabs(wti_binomial_tail(100, 150, 1.0 / 3) / 8.114973994910928e-17 - 1) < 1e-6);
	CHECK(fabs(wti_binomial_tail(3, 3, 0.5) - 0.125) < 1e-12);
	CHECK(wti_binomial_tail(0, 10, 0.5) == 1);
	CHECK(wti_binomial_tail(1, 10, 0) == 0);
}

/* Right of every row; the same for all rows. */
static void test_answers(void)
{
	struct wti_answers answers = {.rows = 100, .p = 0.001, .spread = 0.5};
	double outputs[40];
	uint32_t labels[20];

	CHECK(!wti_answers_are_chance(&answers));
	answers.p = 0.02;
	CHECK(wti_answers_are_chance(&answers));
	answers = (struct wti_answers){.p = 1e-9, .spread = 0.05};
	CHECK(wti_answers_are_chance(&answers));
	for (int i = 0; i < 20; i++) {
		outputs[2 * i] = i % 2 ? -3 : 3;
		outputs[2 * i + 1] = -outputs[2 * i];
		labels[i] = (uint32_t)i % 2;
	}
	wti_answers_measure(outputs, 2, labels, 20, &answers);
	CHECK(answers.accuracy == 1 && answers.majority == 0.5);
	CHECK(fabs(answers.loss - log1p(exp(-6))) < 1e-12);
	CHECK(fabs(answers.uniform_loss - log(2)) < 1e-12);
	CHECK(!wti_answers_are_chance(&answers));
	for (int i = 0; i < 40; i++)
		outputs[i] = 7;
	wti_answers_measure(outputs, 2, labels, 20, &answers);
	CHECK(answers.right == 10 && answers.distinct == 1 && answers.spread < 1e-12);
	CHECK(wti_answers_are_chance(&answers));
}

static const struct test tests[] = {
	{"orientation", test_orientation}, {"activations", test_activations},
	{"square", test_square},           {"order", test_order},
	{"refused", test_refused},         {"binomial", test_binomial},
	{"answers", test_answers},         {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
