/* SPDX-License-Identifier: Apache-2.0 */
/* How the elements of a tensor are spread between its extremes. */
#ifndef WTI_MODEL_HISTOGRAM_H
#define WTI_MODEL_HISTOGRAM_H

#include "model/examine.h"

#define WTI_MODEL_BINS 64u

/* Finite elements between digest->min and digest->max, in bins of the same width. */
int wti_model_histogram(struct wti_model *model, const struct wti_model_tensor *tensor,
			const struct wt_digest *digest, uint64_t bins[WTI_MODEL_BINS],
			struct wt_err *err);

#endif
