/* SPDX-License-Identifier: Apache-2.0 */
/* A state dict as torch.load(weights_only=True) reads it. */
#ifndef WTI_MODEL_TORCH_WRITE_H
#define WTI_MODEL_TORCH_WRITE_H

#include "model/format.h"

int wti_torch_write(struct wti_model *model, int fd, struct wt_err *err);

#endif
