/* SPDX-License-Identifier: Apache-2.0 */
/* Two tensors, element by element, whatever formats they come from. */
#ifndef WTI_MODEL_COMPARE_H
#define WTI_MODEL_COMPARE_H

#include "model/model.h"

#define WTI_MODEL_ELEMENT_MAX 16u /* bytes of the widest type */

struct wti_model_difference {
	bool is_same_type;
	bool is_same_shape; /* without it, elements are not compared */
	uint64_t count;     /* elements that were compared */
	uint64_t differing; /* of these, not the same bits; of two types, not the same value */
	uint64_t first;     /* number of the first of them, in row-major order */
	uint8_t first_a[WTI_MODEL_ELEMENT_MAX], first_b[WTI_MODEL_ELEMENT_MAX];
	size_t bytes_a, bytes_b; /* of an element */
	uint64_t ulp_max;        /* of floats of the same type: steps from one to the other */
	uint64_t ulp_one;        /* elements that differ by one step */
	double abs_max;
	double rel_max;      /* of |a - b| / max(|a|, |b|) */
	uint64_t not_finite; /* differing elements of which one is NaN or infinite */
};

int wti_model_compare(struct wti_model *a, const struct wti_model_tensor *tensor_a,
		      struct wti_model *b, const struct wti_model_tensor *tensor_b,
		      struct wti_model_difference *ret, struct wt_err *err);
/* "[3, 17]": of element `number` of a tensor of that shape. */
void wti_model_index_text(const struct wti_model_tensor *tensor, uint64_t number, char *out,
			  size_t out_bytes);

#endif
