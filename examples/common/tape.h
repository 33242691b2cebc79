/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reverse-mode gradients. Every operation writes what it did to the tape; tape_backward() plays the
 * tape from its end and leaves in each node the gradient of the loss with respect to its value.
 * A tape serves one forward and one backward pass, then tape_clear() makes it ready for the next.
 */
#ifndef EXAMPLES_TAPE_H
#define EXAMPLES_TAPE_H

#include <stdbool.h>

#include "matrix.h"

#define TAPE_NODES 64

enum tape_op {
	TAPE_INPUT,     /* a constant */
	TAPE_PARAMETER, /* its gradient is wanted by the optimizer */
	TAPE_PRODUCT,   /* a b */
	TAPE_SUM,       /* a + b */
	TAPE_BIAS,      /* a + b, where b is one row */
	TAPE_SCALE,     /* a times a constant */
	TAPE_TANH,
	TAPE_CROSS_ENTROPY, /* mean over the rows of -log softmax(a)[label] */
};

struct node {
	enum tape_op op;
	bool wants_gradient;
	bool borrowed; /* value and gradient belong to someone else */
	struct node *a;
	struct node *b;
	struct matrix value;
	struct matrix gradient;
	struct matrix probabilities; /* of TAPE_CROSS_ENTROPY, kept for the way back */
	const int *labels;
	float scale;
};

struct tape {
	struct node nodes[TAPE_NODES];
	size_t count;
};

void tape_clear(struct tape *tape);

struct node *tape_input(struct tape *tape, const struct matrix *value);
/* The gradient is added to `gradient`, which the caller has zeroed. */
struct node *tape_parameter(struct tape *tape, const struct matrix *value,
			    const struct matrix *gradient);
struct node *tape_product(struct tape *tape, struct node *a, struct node *b);
struct node *tape_sum(struct tape *tape, struct node *a, struct node *b);
struct node *tape_bias(struct tape *tape, struct node *a, struct node *row);
struct node *tape_scale(struct tape *tape, struct node *a, float scale);
struct node *tape_tanh(struct tape *tape, struct node *a);
/* A 1 x 1 node. `labels`: one a row, which must outlive the tape's use. */
struct node *tape_cross_entropy(struct tape *tape, struct node *logits, const int *labels);

void tape_backward(struct tape *tape, struct node *loss);

#endif
