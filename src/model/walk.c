/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elements of a tensor in logical order. Hides strides, the order of bytes, and whether they
 * come from a file or from memory. That every element lies inside its source was checked when the
 * tensor was added.
 */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "digest/digest.h"
#include "model/own.h"

int wti_model_elements_init(struct wti_model_elements *elements, struct wti_model *model,
			    const struct wti_model_tensor *tensor, struct wt_err *err)
{
	size_t item = wti_dtype_bytes(tensor->dtype);
	int r = 0;

	*elements = (struct wti_model_elements){
		.model = model, .tensor = tensor, .unit = item ? item : 1};
	if (!tensor->strides && !tensor->is_big_endian &&
	    wti_model_source_memory(model, tensor->source))
		return 0;
	elements->capacity = WTI_MODEL_BLOCK_BYTES;
	if (tensor->bytes < elements->capacity)
		elements->capacity = tensor->bytes ? (size_t)tensor->bytes : 1;
	elements->block = malloc(elements->capacity);
	if (!elements->block)
		return wti_err(err, WT_E_NOMEM, "out of memory while '%s' was read", model->path);
	if (tensor->strides && tensor->count)
		r = wti_model_gather_new(model, tensor, &elements->gather, err);
	if (r)
		wti_model_elements_release(elements);
	return r;
}

void wti_model_elements_release(struct wti_model_elements *elements)
{
	free(elements->block);
	wti_model_gather_free(elements->gather);
	*elements = (struct wti_model_elements){0};
}

/* Each half of a complex element by itself. */
static void swap_bytes(uint8_t *data, size_t bytes, size_t unit)
{
	for (size_t at = 0; at + unit <= bytes; at += unit) {
		for (size_t i = 0; i < unit / 2; i++) {
			uint8_t byte = data[at + i];

			data[at + i] = data[at + unit - 1 - i];
			data[at + unit - 1 - i] = byte;
		}
	}
}

static int fill(struct wti_model_elements *elements, struct wt_err *err)
{
	const struct wti_model_tensor *tensor = elements->tensor;
	uint64_t left = tensor->bytes - elements->taken;
	size_t bytes = left < elements->capacity ? (size_t)left : elements->capacity;
	int r;

	if (elements->gather)
		r = wti_model_gather_next(elements->gather, elements->block, bytes / elements->unit,
					  err);
	else
		r = wti_model_read(elements->model, tensor->source,
				   tensor->offset + elements->taken, elements->block, bytes, err);
	if (r)
		return r;
	if (tensor->is_big_endian)
		swap_bytes(elements->block, bytes, wti_dtype_bytes(wti_dtype_real(tensor->dtype)));
	elements->used = 0;
	elements->filled = bytes;
	return 0;
}

int64_t wti_model_elements_next(struct wti_model_elements *elements, size_t wanted,
				const uint8_t **ret_data, struct wt_err *err)
{
	const struct wti_model_tensor *tensor = elements->tensor;
	uint64_t left = tensor->bytes - elements->taken;
	size_t bytes = wanted - wanted % elements->unit;

	if (!left)
		return 0;
	if (bytes > left)
		bytes = (size_t)left;
	if (!elements->block) {
		*ret_data = wti_model_source_memory(elements->model, tensor->source) +
			    tensor->offset + elements->taken;
	} else {
		int r = elements->used == elements->filled ? fill(elements, err) : 0;

		if (r)
			return r;
		if (bytes > elements->filled - elements->used)
			bytes = elements->filled - elements->used;
		*ret_data = elements->block + elements->used;
		elements->used += bytes;
	}
	elements->taken += bytes;
	return (int64_t)bytes;
}

int wti_model_walk(struct wti_model *model, const struct wti_model_tensor *tensor,
		   wti_model_block_fn *block, void *cookie, struct wt_err *err)
{
	struct wti_model_elements elements;
	const uint8_t *data;
	int64_t got;
	int r = wti_model_elements_init(&elements, model, tensor, err);

	if (r)
		return r;
	do {
		got = wti_model_elements_next(&elements, WTI_MODEL_BLOCK_BYTES, &data, err);
		r = got > 0 ? block(cookie, data, (size_t)got) : (int)got;
	} while (got > 0 && !r);
	wti_model_elements_release(&elements);
	return r;
}
