/* SPDX-License-Identifier: Apache-2.0 */
/* The Adam optimizer: steps scaled by running means of gradients and of their squares. */
#ifndef EXAMPLES_ADAM_H
#define EXAMPLES_ADAM_H

#include "mlp.h"

struct adam {
	double learning_rate;
	int step_count;
	struct matrix mean[MLP_PARAMETERS_MAX];
	struct matrix square[MLP_PARAMETERS_MAX];
	size_t count;
};

void adam_init(struct adam *adam, const struct mlp *mlp, double learning_rate);
void adam_release(struct adam *adam);
/* Moves every parameter that is not frozen. */
void adam_step(struct adam *adam, struct mlp *mlp);

#endif
