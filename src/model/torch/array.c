/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of numpy inside of pickles: their elements are bytes of the pickle, so they are kept in
 * memory. Checkpoints have few: the state of a generator, a table of losses.
 */
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "digest/digest.h"
#include "model/torch/array.h"

struct array {
	const struct wti_pickle_value *type;
	const struct wti_pickle_value *shape; /* NULL: a scalar */
	const struct wti_pickle_value *elements;
	bool is_fortran;
};

bool wti_torch_is_array(const struct wti_pickle_value *value)
{
	return value->type == WTI_PICKLE_CALL &&
	       (value->meaning == WTI_NAME_ARRAY || value->meaning == WTI_NAME_ARRAY_OF ||
		value->meaning == WTI_NAME_SCALAR);
}

/* What numpy calls its types. */
static uint32_t find_type(const char *text)
{
	static const struct {
		const char *name;
		uint32_t dtype;
	} types[] = {
		{"b1", WT_DTYPE_BOOL}, {"u1", WT_DTYPE_U8},    {"i1", WT_DTYPE_I8},
		{"u2", WT_DTYPE_U16},  {"i2", WT_DTYPE_I16},   {"u4", WT_DTYPE_U32},
		{"i4", WT_DTYPE_I32},  {"u8", WT_DTYPE_U64},   {"i8", WT_DTYPE_I64},
		{"f2", WT_DTYPE_F16},  {"f4", WT_DTYPE_F32},   {"f8", WT_DTYPE_F64},
		{"c8", WT_DTYPE_C64},  {"c16", WT_DTYPE_C128},
	};

	for (size_t i = 0; i < WTI_COUNT(types); i++)
		if (!strcmp(types[i].name, text))
			return types[i].dtype;
	return WT_DTYPE_OTHER;
}

/* The state of an array is (version, shape, type, is_fortran, elements). */
static bool take_apart(const struct wti_pickle_value *value, struct array *array)
{
	const struct wti_pickle_value *from = value->arguments;

	*array = (struct array){0};
	if (value->meaning == WTI_NAME_SCALAR) {
		array->type = wti_pickle_item(from, 0, WTI_PICKLE_CALL);
		array->elements = wti_pickle_item(from, 1, WTI_PICKLE_BYTES);
	} else if (value->meaning == WTI_NAME_ARRAY_OF) {
		array->elements = wti_pickle_item(from, 0, WTI_PICKLE_BYTES);
		array->type = wti_pickle_item(from, 1, WTI_PICKLE_CALL);
		array->shape = wti_pickle_item(from, 2, WTI_PICKLE_TUPLE);
		array->is_fortran = from->count > 3 && wti_pickle_is_text(from->items[3], "F");
	} else {
		const struct wti_pickle_value *order;

		from = value->state;
		array->shape = wti_pickle_item(from, 1, WTI_PICKLE_TUPLE);
		array->type = wti_pickle_item(from, 2, WTI_PICKLE_CALL);
		order = wti_pickle_item(from, 3, WTI_PICKLE_BOOL);
		array->is_fortran = order && order->integer;
		array->elements = wti_pickle_item(from, 4, WTI_PICKLE_BYTES);
	}
	return array->type && array->type->meaning == WTI_NAME_NUMPY_TYPE && array->elements &&
	       (array->shape || value->meaning == WTI_NAME_SCALAR);
}

static bool fill_shape(const struct array *array, struct wti_torch_tensor *made)
{
	int64_t step = 1;

	if (!array->shape)
		return true;
	if (array->shape->count > WTI_MODEL_RANK_MAX)
		return false;
	made->tensor.rank = (uint32_t)array->shape->count;
	for (size_t i = 0; i < array->shape->count; i++) {
		if (!wti_pickle_u64(array->shape->items[i], &made->shape[i]))
			return false;
		made->strides[i] = step;
		if (array->is_fortran &&
		    (made->shape[i] > INT64_MAX ||
		     __builtin_mul_overflow(step, (int64_t)made->shape[i], &step)))
			return false;
	}
	made->tensor.strides = array->is_fortran ? made->strides : NULL;
	return true;
}

static int keep_elements(struct wti_model *model, const struct wti_pickle_value *elements,
			 uint32_t *ret_source, struct wt_err *err)
{
	struct wti_buf buf;

	wti_buf_init(&buf, WTI_PICKLE_BYTES_MAX);
	wti_buf_append(&buf, elements->text, elements->bytes);
	return wti_model_add_memory(model, &buf, ret_source, err);
}

int wti_torch_add_array(const struct wti_torch *torch, const char *name,
			const struct wti_pickle_value *value, bool *ret_added, struct wt_err *err)
{
	struct wti_torch_tensor made = {0};
	const struct wti_pickle_value *word;
	struct array array;
	int r;

	*ret_added = false;
	if (!take_apart(value, &array))
		return 0;
	word = wti_pickle_item(array.type->arguments, 0, WTI_PICKLE_TEXT);
	made.tensor.dtype = word ? find_type(word->text) : WT_DTYPE_OTHER;
	if (made.tensor.dtype == WT_DTYPE_OTHER || !fill_shape(&array, &made))
		return 0;
	r = keep_elements(torch->model, array.elements, &made.tensor.source, err);
	if (r)
		return r;
	made.tensor.name = name;
	made.tensor.type = word->text;
	made.tensor.shape = made.shape;
	made.tensor.is_big_endian = array.type->state && array.type->state->count > 1 &&
				    wti_pickle_is_text(array.type->state->items[1], ">");
	*ret_added = true;
	return wti_model_add(torch->model, &made.tensor, err);
}
