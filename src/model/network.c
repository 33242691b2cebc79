/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors are the layers of a chain, in which order and which way round; and running it. */
#include "model/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "model/format.h"
#include "model/numbers.h"

#define LAYERS_MAX 256u
#define WEIGHTS_MAX ((uint64_t)1 << 24) /* of all layers; larger models are not run */

static bool is_float(const struct wti_model_tensor *tensor)
{
	return tensor->dtype == WT_DTYPE_F32 || tensor->dtype == WT_DTYPE_F64 ||
	       tensor->dtype == WT_DTYPE_F16 || tensor->dtype == WT_DTYPE_BF16;
}

/* "a.b.weight": how long "a.b" is. */
static size_t module_bytes(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : 0;
}

static bool is_same_module(const struct wti_model_tensor *a, const struct wti_model_tensor *b)
{
	size_t bytes = module_bytes(a->name);

	return bytes == module_bytes(b->name) && !memcmp(a->name, b->name, bytes);
}

/* Numbers in names by their value: "layer2" before "layer10". */
static int by_name(const void *a, const void *b)
{
	const char *x = (*(const struct wti_model_tensor *const *)a)->name;
	const char *y = (*(const struct wti_model_tensor *const *)b)->name;

	return strverscmp(x, y);
}

/* ---- The chain ------------------------------------------------------------------------------- */

struct matrices {
	const struct wti_model_tensor *items[LAYERS_MAX];
	size_t count;
};

static int find_matrices(const struct wti_model *model, struct matrices *found, struct wt_err *err)
{
	uint64_t weights = 0;

	found->count = 0;
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];

		weights += tensor->count > WEIGHTS_MAX ? WEIGHTS_MAX : tensor->count;
		if (!is_float(tensor) || tensor->rank < 1 || tensor->rank > 2)
			return wti_err(
				err, WT_E_ARG,
				"'%s' is neither a matrix nor a vector of floats: this is not a "
				"chain of linear layers",
				tensor->name);
		if (tensor->rank == 1)
			continue;
		if (found->count == LAYERS_MAX || weights > WEIGHTS_MAX)
			return wti_err(err, WT_E_ARG, "the model is too large to be run");
		found->items[found->count++] = tensor;
	}
	return found->count ? 0 : wti_err(err, WT_E_ARG, "there is no matrix in the model");
}

/* The vector of the same module; NULL: there is none. False: it does not fit. */
static bool find_bias(const struct wti_model *model, struct wti_layer *layer)
{
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];

		if (tensor->rank != 1 || !is_same_module(tensor, layer->weight))
			continue;
		if (layer->bias || tensor->shape[0] != layer->out)
			return false;
		layer->bias = tensor;
	}
	return true;
}

/* Every matrix and every vector in its place, in this order and this way round? */
static bool chain(struct wti_network *network, const struct wti_model *model,
		  const struct matrices *found, size_t inputs)
{
	size_t width = inputs, used = 0;

	for (size_t i = 0; i < found->count; i++) {
		const uint64_t *shape = found->items[i]->shape;
		struct wti_layer *layer = &network->layers[i];

		*layer = (struct wti_layer){.weight = found->items[i],
					    .in = (size_t)shape[network->is_transposed ? 1 : 0],
					    .out = (size_t)shape[network->is_transposed ? 0 : 1]};
		if (layer->in != width || !layer->out || !find_bias(model, layer))
			return false;
		used += layer->bias ? 2 : 1;
		width = layer->out;
		network->width_max = width > network->width_max ? width : network->width_max;
	}
	network->count = found->count;
	return used == model->tensor_count;
}

static bool find_chain(struct wti_network *network, const struct wti_model *model,
		       struct matrices *found, size_t inputs)
{
	bool burn = model->format && !strncmp(model->format->name, "burn", 4);

	for (unsigned order = 0; order < 2; order++) {
		for (unsigned turned = 0; turned < 2; turned++) {
			network->is_transposed = burn ? turned : !turned;
			network->width_max = inputs;
			if (chain(network, model, found, inputs))
				return true;
		}
		qsort(found->items, found->count, sizeof(*found->items), by_name);
	}
	return false;
}

/* ---- Elements -------------------------------------------------------------------------------- */

static int turn(struct wti_layer *layer, struct wt_err *err)
{
	double *turned = calloc(layer->in * layer->out + 1, sizeof(*turned));

	if (!turned)
		return wti_err(err, WT_E_NOMEM, "out of memory for a network");
	for (size_t o = 0; o < layer->out; o++) {
		for (size_t i = 0; i < layer->in; i++)
			turned[i * layer->out + o] = layer->w[o * layer->in + i];
	}
	free(layer->w);
	layer->w = turned;
	return 0;
}

static int load_layer(struct wti_network *network, struct wti_model *model, struct wti_layer *layer,
		      struct wt_err *err)
{
	int r = wti_model_numbers(model, layer->weight, &layer->w, err);

	if (!r && network->is_transposed)
		r = turn(layer, err);
	if (!r && layer->bias)
		r = wti_model_numbers(model, layer->bias, &layer->b, err);
	return r;
}

/* ---- The network ----------------------------------------------------------------------------- */

static int open_chain(struct wti_network *network, struct wti_model *model, size_t inputs,
		      struct wt_err *err)
{
	struct matrices *found = calloc(1, sizeof(*found));
	int r = found ? find_matrices(model, found, err)
		      : wti_err(err, WT_E_NOMEM, "out of memory for a network");

	if (!r && !find_chain(network, model, found, inputs))
		r = wti_err(err, WT_E_ARG,
			    "its tensors are not a chain of linear layers from %zu features on",
			    inputs);
	free(found);
	for (size_t i = 0; !r && i < network->count; i++)
		r = load_layer(network, model, &network->layers[i], err);
	return r;
}

int wti_network_open(struct wti_model *model, size_t inputs, enum wti_activation activation,
		     struct wti_network **ret, struct wt_err *err)
{
	struct wti_network *network = calloc(1, sizeof(*network));
	int r = WT_E_NOMEM;

	if (network)
		network->layers = calloc(LAYERS_MAX, sizeof(*network->layers));
	if (network && network->layers)
		r = open_chain(network, model, inputs, err);
	else
		wti_err(err, WT_E_NOMEM, "out of memory for a network");
	if (!r) {
		network->activation = activation;
		network->values = calloc(2 * network->width_max, sizeof(*network->values));
		if (!network->values)
			r = wti_err(err, WT_E_NOMEM, "out of memory for a network");
	}
	if (r)
		wti_network_free(network);
	else
		*ret = network;
	return r;
}

void wti_network_free(struct wti_network *network)
{
	if (!network)
		return;
	for (size_t i = 0; network->layers && i < network->count; i++) {
		free(network->layers[i].w);
		free(network->layers[i].b);
	}
	free(network->layers);
	free(network->values);
	free(network);
}

size_t wti_network_outputs(const struct wti_network *network)
{
	return network->layers[network->count - 1].out;
}

static void apply(const struct wti_layer *layer, const double *x, double *y)
{
	for (size_t o = 0; o < layer->out; o++)
		y[o] = layer->b ? layer->b[o] : 0;
	for (size_t i = 0; i < layer->in; i++) {
		for (size_t o = 0; o < layer->out; o++)
			y[o] += x[i] * layer->w[i * layer->out + o];
	}
}

static double activate(enum wti_activation activation, double x)
{
	return activation == WTI_ACTIVATION_RELU   ? (x > 0 || isnan(x) ? x : 0)
	       : activation == WTI_ACTIVATION_TANH ? tanh(x)
						   : x;
}

const double *wti_network_run(struct wti_network *network, const double *row)
{
	const double *x = row;
	double *y = network->values;

	for (size_t i = 0; i < network->count; i++) {
		const struct wti_layer *layer = &network->layers[i];

		y = network->values + (i % 2) * network->width_max;
		apply(layer, x, y);
		for (size_t o = 0; i + 1 < network->count && o < layer->out; o++)
			y[o] = activate(network->activation, y[o]);
		x = y;
	}
	return y;
}
