/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multi-layer perceptron: y = tanh(x W + b) layer by layer, no tanh after the last. A layer may
 * carry a low-rank adapter beside its weight (LoRA): x W + (alpha / rank) (x D) U, where D starts
 * random and U at zero, so that an adapter changes nothing until it is trained.
 */
#ifndef EXAMPLES_MLP_H
#define EXAMPLES_MLP_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/wheeltap.h>

#include "matrix.h"
#include "rng.h"
#include "tape.h"

#define MLP_LAYERS_MAX 8
#define MLP_PARAMETERS_MAX (4 * MLP_LAYERS_MAX)

struct parameter {
	char name[40]; /* "layer0.weight" */
	struct matrix value;
	struct matrix gradient;
	bool frozen;
	/* What the trace calls the two. */
	struct wt_name *value_name;
	struct wt_name *gradient_name;
};

struct layer {
	struct parameter *weight;
	struct parameter *bias;
	struct parameter *down; /* of the adapter; NULL: there is none */
	struct parameter *up;
};

struct mlp {
	struct layer layers[MLP_LAYERS_MAX];
	size_t layer_count;
	struct parameter parameters[MLP_PARAMETERS_MAX];
	size_t parameter_count;
	float adapter_scale;
};

/* `widths`: of the input, of each hidden layer and of the output; one more than layers. */
void mlp_init(struct mlp *mlp, const size_t *widths, size_t layer_count, struct rng *rng);
void mlp_release(struct mlp *mlp);
/* Freezes what is there and gives every layer an adapter. */
void mlp_add_adapters(struct mlp *mlp, size_t rank, float alpha, struct rng *rng);

struct node *mlp_forward(struct mlp *mlp, struct tape *tape, const struct matrix *input);
void mlp_zero_gradients(struct mlp *mlp);
double mlp_gradient_norm(const struct mlp *mlp); /* over all that is not frozen */

size_t mlp_count(const struct mlp *mlp, bool frozen); /* numbers in the parameters */
/* Over the bytes of all parameters that are frozen, or of those that are not. */
uint64_t mlp_hash(const struct mlp *mlp, bool frozen);

/* Tells wheeltap the digests of all parameters, or of those that are trained and their gradients.
 */
void mlp_tell_parameters(const struct mlp *mlp);
void mlp_tell_trained(const struct mlp *mlp);

#endif
