/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that know safetensors share: types, and one file of a model that has several. */
#ifndef WTI_MODEL_SAFETENSORS_H
#define WTI_MODEL_SAFETENSORS_H

#include "model/format.h"

struct wti_safetensors_type {
	const char *word;
	uint32_t dtype; /* WT_DTYPE_OTHER: elements are not whole bytes */
	unsigned bits;
};

const struct wti_safetensors_type *wti_safetensors_type_by_word(const char *word); /* or NULL */
/* NULL: safetensors has no such type. */
const struct wti_safetensors_type *wti_safetensors_type_of(const struct wti_model_tensor *tensor);

/* Adds the tensors of one file, after all checks of the file by itself. */
int wti_safetensors_read_file(struct wti_model *model, uint32_t source, struct wt_err *err);

int wti_safetensors_write(struct wti_model *model, int fd, struct wt_err *err);

#endif
