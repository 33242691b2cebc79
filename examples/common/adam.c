/* SPDX-License-Identifier: Apache-2.0 */
/* Adam, as its authors give it: running means, corrected for their start at zero. */
#include "adam.h"

#include <math.h>

#define MEAN_DECAY 0.9f
#define SQUARE_DECAY 0.999f
#define TINY 1e-8f

void adam_init(struct adam *adam, const struct mlp *mlp, double learning_rate)
{
	*adam = (struct adam){.learning_rate = learning_rate, .count = mlp->parameter_count};
	for (size_t i = 0; i < adam->count; i++) {
		const struct matrix *value = &mlp->parameters[i].value;

		adam->mean[i] = matrix_new(value->rows, value->columns);
		adam->square[i] = matrix_new(value->rows, value->columns);
	}
}

void adam_release(struct adam *adam)
{
	for (size_t i = 0; i < adam->count; i++) {
		matrix_free(&adam->mean[i]);
		matrix_free(&adam->square[i]);
	}
	adam->count = 0;
}

static void move(struct parameter *p, struct matrix *mean, struct matrix *square, float rate,
		 float square_correction)
{
	for (size_t i = 0; i < matrix_count(&p->value); i++) {
		float g = p->gradient.data[i];
		float *m = &mean->data[i];
		float *s = &square->data[i];

		*m = MEAN_DECAY * *m + (1 - MEAN_DECAY) * g;
		*s = SQUARE_DECAY * *s + (1 - SQUARE_DECAY) * g * g;
		p->value.data[i] -= rate * *m / (sqrtf(*s / square_correction) + TINY);
	}
}

void adam_step(struct adam *adam, struct mlp *mlp)
{
	/* Both means start at zero; the corrections make up for that in the first steps. */
	int t = ++adam->step_count;
	float mean_correction = 1 - powf(MEAN_DECAY, (float)t);
	float square_correction = 1 - powf(SQUARE_DECAY, (float)t);

	for (size_t i = 0; i < mlp->parameter_count; i++) {
		if (!mlp->parameters[i].frozen)
			move(&mlp->parameters[i], &adam->mean[i], &adam->square[i],
			     (float)adam->learning_rate / mean_correction, square_correction);
	}
}
