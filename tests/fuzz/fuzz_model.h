/* SPDX-License-Identifier: Apache-2.0 */
/* What the targets of model formats share: a model that opens can be read to its last element. */
#ifndef WTT_FUZZ_MODEL_H
#define WTT_FUZZ_MODEL_H

#include <string.h>

#include "fuzz.h"
#include "model/format.h"

/* More than this is not read: strides of 0 make much of little. */
#define FUZZ_TENSOR_BYTES_MAX (1u << 20)

static inline int fuzz_count(void *cookie, const void *data, size_t bytes)
{
	uint64_t *sum = cookie;

	for (size_t i = 0; i < bytes; i++)
		*sum += ((const uint8_t *)data)[i];
	return 0;
}

/* Takes the outcome of reading, and frees the model. */
static inline void fuzz_read_all(struct wti_model *model, int result, struct wt_err *err)
{
	uint64_t sum = 0;

	if (result) {
		PROMISE(result < 0 && *err->message);
	} else {
		for (size_t i = 0; i < model->tensor_count; i++)
			if (model->tensors[i].bytes <= FUZZ_TENSOR_BYTES_MAX)
				PROMISE(!wti_model_walk(model, &model->tensors[i], fuzz_count, &sum,
							err));
	}
	wti_model_free(model);
}

/* The input as the only source of a model. */
static inline struct wti_model *fuzz_model(const uint8_t *data, size_t bytes, struct wt_err *err)
{
	struct wti_model *model = NULL;
	struct wti_buf buf;
	uint32_t source;

	PROMISE(!wti_model_new("input", false, &model, err));
	wti_buf_init(&buf, 1 << 26);
	wti_buf_append(&buf, data, bytes);
	PROMISE(!wti_model_add_memory(model, &buf, &source, err));
	return model;
}

/* Reads the input as one format, if it could be that. */
static inline int fuzz_format(const struct wti_model_format *format, const uint8_t *data,
			      size_t bytes)
{
	struct wti_model_probe probe = {
		.path = "input", .bytes = bytes, .head = data, .head_bytes = bytes};
	struct wt_err err = {0};
	struct wti_model *model;

	if (!format->is_one(&probe))
		return 0;
	model = fuzz_model(data, bytes, &err);
	fuzz_read_all(model, format->read(model, &err), &err);
	return 0;
}

#endif
