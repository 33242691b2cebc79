/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and scalars of numpy inside of pickles. */
#ifndef WTI_MODEL_TORCH_ARRAY_H
#define WTI_MODEL_TORCH_ARRAY_H

#include "model/torch/torch.h"

bool wti_torch_is_array(const struct wti_pickle_value *value);
/* false: it is one whose elements are objects or of a type that is not read; nothing was added. */
int wti_torch_add_array(const struct wti_torch *torch, const char *name,
			const struct wti_pickle_value *value, bool *ret_added, struct wt_err *err);

#endif
