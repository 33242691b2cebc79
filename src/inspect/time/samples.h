/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many samples a thread trains on: the rows of the batches that it takes from DataLoaders and
 * gives to a model with gradients on; without a DataLoader, the rows of the first tensor that such
 * a model is given, once for each backward(). Batches of an evaluation do not count.
 */
#ifndef WTI_INSPECT_SAMPLES_H
#define WTI_INSPECT_SAMPLES_H

#include <stdbool.h>

#include <wheeltap/trace.h>

struct wti_samples {
	bool has_loader; /* it has taken a batch from one */
	bool has_input;  /* of the current loss, in a program without */
	uint32_t call;   /* whose first tensor is awaited; 0: none is */
	bool is_batch;   /* that tensor is of a batch, not an input */
	uint64_t taken;  /* rows of batches that no model has been given yet */
	uint64_t now;    /* rows of the current step */
};

/* Takes call_begin and tensor; ignores others. */
void wti_samples_event(struct wti_samples *samples, const struct wt_event *event);
/* Rows of the step that ends. */
uint64_t wti_samples_step(struct wti_samples *samples);

#endif
