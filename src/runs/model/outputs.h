/* SPDX-License-Identifier: Apache-2.0 */
/* What a model gives for rows of inputs, whoever computes it. */
#ifndef WTI_RUNS_MODEL_OUTPUTS_H
#define WTI_RUNS_MODEL_OUTPUTS_H

#include "runs/model/verify.h"

/* Rows of numbers: the first dimension of a tensor, and all others as columns. */
struct wti_number_rows {
	double *numbers; /* NULL: there are none */
	size_t count;
	size_t columns;
};

/* Out of the only tensor of a file; `numbers` is to be freed. */
int wti_number_rows_read(const char *path, struct wti_number_rows *ret, struct wt_err *err);

/*
 * The outputs of the model for the inputs of the file `path`: by the program of the options, or
 * where there is none as a chain of linear layers, for which `inputs` has the same. Where the model
 * is none, the layer says so, and there are no numbers. To be freed.
 */
int wti_model_outputs(struct wti_model_verifying *verifying, const char *path,
		      const struct wti_number_rows *inputs, struct wti_number_rows *ret,
		      struct wt_err *err);

#endif
