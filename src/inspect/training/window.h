/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backward() calls that a step is made of: from which line they come, whether what they go
 * back from is a mean as it is, over how many targets. One for each process; a clearing of
 * gradients begins anew.
 */
#ifndef WTI_INSPECT_WINDOW_H
#define WTI_INSPECT_WINDOW_H

#include "lineage.h"

/* What wti_window_see() wants to be given. */
#define WTI_WINDOW_MOMENTS                                                                         \
	(WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED)

enum { WTI_WINDOW_INPUTS_MAX = 64 };

struct wti_window {
	struct wti_lineage lineage;
	uint32_t site; /* of the calls; 0: not all from one line */
	uint32_t count;
	uint32_t known_count; /* whose loss is known */
	uint32_t mean_count;  /* of those, whose loss is a mean */
	bool is_mixed;
	/* Inputs of models in this window: micro-batches differ in them, tasks share them. */
	uint64_t inputs[WTI_WINDOW_INPUTS_MAX]; /* hashes, a ring */
	uint32_t input_count;
	bool has_new_input; /* since the backward() before */
	bool is_shared;     /* a backward() came without one */
	bool is_rescaled;   /* something was divided after the last of them */
	/* The last loss function since the backward() before. */
	bool has_loss;
	double elements;
	/* Over the window, of those with a loss function that takes the mean. */
	double smallest, largest;
	uint32_t weighed_count;
};

/* Whether it ends here, with a step. Whoever has judged it begins the next. */
bool wti_window_see(struct wti_window *window, const struct wti_moment *moment);
void wti_window_begin(struct wti_window *window);
/* Several calls from one line, each on another input: parts of one batch. */
bool wti_window_is_accumulation(const struct wti_window *window);

#endif
