/* SPDX-License-Identifier: Apache-2.0 */
/* Each operation twice: the way forward computes its value, the way back adds to its inputs. */
#include "tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The way forward ---------------------------------------------------------------------- */

static struct node *add_node(struct tape *tape, enum tape_op op, struct node *a, struct node *b)
{
	struct node *node = &tape->nodes[tape->count];

	if (tape->count == TAPE_NODES) {
		fprintf(stderr, "the tape is full: raise TAPE_NODES\n");
		exit(1);
	}
	tape->count++;
	*node = (struct node){.op = op, .a = a, .b = b};
	node->wants_gradient = (a && a->wants_gradient) || (b && b->wants_gradient);
	return node;
}

static struct node *add_result(struct tape *tape, enum tape_op op, struct node *a, struct node *b,
			       size_t rows, size_t columns)
{
	struct node *node = add_node(tape, op, a, b);

	node->value = matrix_new(rows, columns);
	node->gradient = matrix_new(rows, columns);
	return node;
}

struct node *tape_input(struct tape *tape, const struct matrix *value)
{
	struct node *node = add_node(tape, TAPE_INPUT, NULL, NULL);

	node->borrowed = true;
	node->value = *value;
	return node;
}

struct node *tape_parameter(struct tape *tape, const struct matrix *value,
			    const struct matrix *gradient)
{
	struct node *node = add_node(tape, TAPE_PARAMETER, NULL, NULL);

	node->borrowed = true;
	node->wants_gradient = true;
	node->value = *value;
	node->gradient = *gradient;
	return node;
}

struct node *tape_product(struct tape *tape, struct node *a, struct node *b)
{
	struct node *node = add_result(tape, TAPE_PRODUCT, a, b, a->value.rows, b->value.columns);

	matrix_add_product(&node->value, &a->value, &b->value);
	return node;
}

struct node *tape_sum(struct tape *tape, struct node *a, struct node *b)
{
	struct node *node = add_result(tape, TAPE_SUM, a, b, a->value.rows, a->value.columns);

	for (size_t i = 0; i < matrix_count(&node->value); i++)
		node->value.data[i] = a->value.data[i] + b->value.data[i];
	return node;
}

struct node *tape_bias(struct tape *tape, struct node *a, struct node *row)
{
	struct node *node = add_result(tape, TAPE_BIAS, a, row, a->value.rows, a->value.columns);
	size_t columns = a->value.columns;

	for (size_t i = 0; i < matrix_count(&node->value); i++)
		node->value.data[i] = a->value.data[i] + row->value.data[i % columns];
	return node;
}

struct node *tape_scale(struct tape *tape, struct node *a, float scale)
{
	struct node *node = add_result(tape, TAPE_SCALE, a, NULL, a->value.rows, a->value.columns);

	node->scale = scale;
	for (size_t i = 0; i < matrix_count(&node->value); i++)
		node->value.data[i] = scale * a->value.data[i];
	return node;
}

struct node *tape_tanh(struct tape *tape, struct node *a)
{
	struct node *node = add_result(tape, TAPE_TANH, a, NULL, a->value.rows, a->value.columns);

	for (size_t i = 0; i < matrix_count(&node->value); i++)
		node->value.data[i] = tanhf(a->value.data[i]);
	return node;
}

/* The largest logit is taken off first, so that no exponential overflows. */
static void softmax(const float *logits, float *ret_probabilities, size_t count)
{
	float largest = logits[0];
	float sum = 0;

	for (size_t i = 1; i < count; i++)
		largest = fmaxf(largest, logits[i]);
	for (size_t i = 0; i < count; i++) {
		ret_probabilities[i] = expf(logits[i] - largest);
		sum += ret_probabilities[i];
	}
	for (size_t i = 0; i < count; i++)
		ret_probabilities[i] /= sum;
}

struct node *tape_cross_entropy(struct tape *tape, struct node *logits, const int *labels)
{
	struct node *node = add_result(tape, TAPE_CROSS_ENTROPY, logits, NULL, 1, 1);
	size_t rows = logits->value.rows;
	size_t columns = logits->value.columns;
	float sum = 0;

	node->labels = labels;
	node->probabilities = matrix_new(rows, columns);
	for (size_t i = 0; i < rows; i++) {
		float *p = matrix_row(&node->probabilities, i);

		softmax(matrix_row(&logits->value, i), p, columns);
		sum -= logf(fmaxf(p[labels[i]], 1e-30f));
	}
	node->value.data[0] = sum / (float)rows;
	return node;
}

/* ---- The way back ------------------------------------------------------------------------- */

static void backward_product(struct node *node)
{
	if (node->a->wants_gradient)
		matrix_add_product_tb(&node->a->gradient, &node->gradient, &node->b->value);
	if (node->b->wants_gradient)
		matrix_add_product_ta(&node->b->gradient, &node->a->value, &node->gradient);
}

static void backward_sum(struct node *to, const struct node *node)
{
	if (!to->wants_gradient)
		return;
	for (size_t i = 0; i < matrix_count(&node->gradient); i++)
		to->gradient.data[i] += node->gradient.data[i];
}

static void backward_row(struct node *row, const struct node *node)
{
	if (!row->wants_gradient)
		return;
	for (size_t i = 0; i < matrix_count(&node->gradient); i++)
		row->gradient.data[i % node->gradient.columns] += node->gradient.data[i];
}

static void backward_scale(struct node *node)
{
	for (size_t i = 0; i < matrix_count(&node->gradient); i++)
		node->a->gradient.data[i] += node->scale * node->gradient.data[i];
}

static void backward_tanh(struct node *node)
{
	for (size_t i = 0; i < matrix_count(&node->gradient); i++) {
		float y = node->value.data[i];

		node->a->gradient.data[i] += node->gradient.data[i] * (1 - y * y);
	}
}

static void backward_cross_entropy(struct node *node)
{
	const struct matrix *p = &node->probabilities;
	float scale = node->gradient.data[0] / (float)p->rows;

	for (size_t i = 0; i < p->rows; i++) {
		float *gradient = matrix_row(&node->a->gradient, i);

		for (size_t j = 0; j < p->columns; j++) {
			float target = (size_t)node->labels[i] == j ? 1 : 0;

			gradient[j] += scale * (matrix_row(p, i)[j] - target);
		}
	}
}

static void backward(struct node *node)
{
	switch (node->op) {
	case TAPE_INPUT:
	case TAPE_PARAMETER:
		break;
	case TAPE_PRODUCT:
		backward_product(node);
		break;
	case TAPE_SUM:
		backward_sum(node->a, node);
		backward_sum(node->b, node);
		break;
	case TAPE_BIAS:
		backward_sum(node->a, node);
		backward_row(node->b, node);
		break;
	case TAPE_SCALE:
		backward_scale(node);
		break;
	case TAPE_TANH:
		backward_tanh(node);
		break;
	case TAPE_CROSS_ENTROPY:
		backward_cross_entropy(node);
		break;
	}
}

void tape_backward(struct tape *tape, struct node *loss)
{
	loss->gradient.data[0] = 1;
	for (size_t i = tape->count; i-- > 0;) {
		if (tape->nodes[i].wants_gradient)
			backward(&tape->nodes[i]);
	}
}

void tape_clear(struct tape *tape)
{
	for (size_t i = 0; i < tape->count; i++) {
		struct node *node = &tape->nodes[i];

		matrix_free(&node->probabilities);
		if (node->borrowed)
			continue;
		matrix_free(&node->value);
		matrix_free(&node->gradient);
	}
	tape->count = 0;
}
