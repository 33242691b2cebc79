/* SPDX-License-Identifier: Apache-2.0 */
/* Giving a model the names, the order and the metadata of another one of the same shapes. */
#ifndef WTI_MODEL_LIKE_H
#define WTI_MODEL_LIKE_H

#include "model/model.h"

/*
 * Tensors are matched by name where `like` has all of the names, else by their order: the i-th one
 * becomes the i-th of `like`. WT_E_ARG if there are more or fewer, or if a type or shape differs.
 */
int wti_model_make_like(struct wti_model *model, const struct wti_model *like, struct wt_err *err);

#endif
