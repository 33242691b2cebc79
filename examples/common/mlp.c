/* SPDX-License-Identifier: Apache-2.0 */
/* Layers and adapters on the tape; knows every parameter by name, for files and for the trace. */
#include "mlp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checksum.h"

static struct parameter *add_parameter(struct mlp *mlp, size_t layer, const char *role, size_t rows,
				       size_t columns)
{
	struct parameter *p = &mlp->parameters[mlp->parameter_count++];
	char gradient_name[48];

	snprintf(p->name, sizeof(p->name), "layer%zu.%s", layer, role);
	snprintf(gradient_name, sizeof(gradient_name), "%s.grad", p->name);
	p->value = matrix_new(rows, columns);
	p->gradient = matrix_new(rows, columns);
	p->frozen = false;
	p->value_name = wt_name_of(p->name);
	p->gradient_name = wt_name_of(gradient_name);
	return p;
}

static void fill_normal(struct matrix *m, double deviation, struct rng *rng)
{
	for (size_t i = 0; i < matrix_count(m); i++)
		m->data[i] = (float)(deviation * rng_normal(rng));
}

void mlp_init(struct mlp *mlp, const size_t *widths, size_t layer_count, struct rng *rng)
{
	*mlp = (struct mlp){.layer_count = layer_count};
	for (size_t i = 0; i < layer_count; i++) {
		struct layer *layer = &mlp->layers[i];

		layer->weight = add_parameter(mlp, i, "weight", widths[i], widths[i + 1]);
		layer->bias = add_parameter(mlp, i, "bias", 1, widths[i + 1]);
		fill_normal(&layer->weight->value, 1 / sqrt((double)widths[i]), rng);
	}
}

void mlp_release(struct mlp *mlp)
{
	for (size_t i = 0; i < mlp->parameter_count; i++) {
		matrix_free(&mlp->parameters[i].value);
		matrix_free(&mlp->parameters[i].gradient);
	}
	mlp->parameter_count = 0;
}

void mlp_add_adapters(struct mlp *mlp, size_t rank, float alpha, struct rng *rng)
{
	for (size_t i = 0; i < mlp->parameter_count; i++)
		mlp->parameters[i].frozen = true;
	mlp->adapter_scale = alpha / (float)rank;
	for (size_t i = 0; i < mlp->layer_count; i++) {
		struct layer *layer = &mlp->layers[i];
		const struct matrix *weight = &layer->weight->value;

		layer->down = add_parameter(mlp, i, "adapter.down", weight->rows, rank);
		layer->up = add_parameter(mlp, i, "adapter.up", rank, weight->columns);
		fill_normal(&layer->down->value, 1 / sqrt((double)weight->rows), rng);
	}
}

/* A frozen parameter is a constant to the tape: no gradient is computed for it. */
static struct node *put(struct tape *tape, const struct parameter *p)
{
	if (p->frozen)
		return tape_input(tape, &p->value);
	return tape_parameter(tape, &p->value, &p->gradient);
}

static struct node *layer_forward(struct mlp *mlp, const struct layer *layer, struct tape *tape,
				  struct node *x)
{
	struct node *y = tape_product(tape, x, put(tape, layer->weight));

	if (layer->down) {
		struct node *low = tape_product(tape, x, put(tape, layer->down));
		struct node *high = tape_product(tape, low, put(tape, layer->up));

		y = tape_sum(tape, y, tape_scale(tape, high, mlp->adapter_scale));
	}
	return tape_bias(tape, y, put(tape, layer->bias));
}

struct node *mlp_forward(struct mlp *mlp, struct tape *tape, const struct matrix *input)
{
	struct node *x = tape_input(tape, input);

	for (size_t i = 0; i < mlp->layer_count; i++) {
		x = layer_forward(mlp, &mlp->layers[i], tape, x);
		if (i + 1 < mlp->layer_count)
			x = tape_tanh(tape, x);
	}
	return x;
}

void mlp_zero_gradients(struct mlp *mlp)
{
	for (size_t i = 0; i < mlp->parameter_count; i++) {
		struct matrix *gradient = &mlp->parameters[i].gradient;

		memset(gradient->data, 0, matrix_count(gradient) * sizeof(float));
	}
}

double mlp_gradient_norm(const struct mlp *mlp)
{
	double sum = 0;

	for (size_t i = 0; i < mlp->parameter_count; i++) {
		const struct parameter *p = &mlp->parameters[i];

		for (size_t j = 0; !p->frozen && j < matrix_count(&p->gradient); j++)
			sum += (double)p->gradient.data[j] * (double)p->gradient.data[j];
	}
	return sqrt(sum);
}

size_t mlp_count(const struct mlp *mlp, bool frozen)
{
	size_t count = 0;

	for (size_t i = 0; i < mlp->parameter_count; i++) {
		if (mlp->parameters[i].frozen == frozen)
			count += matrix_count(&mlp->parameters[i].value);
	}
	return count;
}

uint64_t mlp_hash(const struct mlp *mlp, bool frozen)
{
	uint64_t hash = CHECKSUM_START;

	for (size_t i = 0; i < mlp->parameter_count; i++) {
		const struct matrix *value = &mlp->parameters[i].value;

		if (mlp->parameters[i].frozen == frozen)
			hash = checksum(hash, value->data, matrix_count(value) * sizeof(float));
	}
	return hash;
}

static void tell(struct wt_name *name, const struct matrix *m)
{
	wt_tensor_of(WT_NAME("model"), name, m->data, WT_DTYPE_F32, 2,
		     (size_t[]){m->rows, m->columns});
}

void mlp_tell_parameters(const struct mlp *mlp)
{
	for (size_t i = 0; i < mlp->parameter_count; i++)
		tell(mlp->parameters[i].value_name, &mlp->parameters[i].value);
}

void mlp_tell_trained(const struct mlp *mlp)
{
	for (size_t i = 0; i < mlp->parameter_count; i++) {
		const struct parameter *p = &mlp->parameters[i];

		if (p->frozen)
			continue;
		tell(p->value_name, &p->value);
		tell(p->gradient_name, &p->gradient);
	}
}
