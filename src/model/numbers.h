/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a tensor as numbers. */
#ifndef WTI_MODEL_NUMBERS_H
#define WTI_MODEL_NUMBERS_H

#include "model/model.h"

/* False: elements of that type are not numbers, or not one each. */
bool wti_model_has_numbers(const struct wti_model_tensor *tensor);
/* All elements, in the order of rows; to be freed. 64-bit integers are rounded. */
int wti_model_numbers(struct wti_model *model, const struct wti_model_tensor *tensor, double **ret,
		      struct wt_err *err);

#endif
