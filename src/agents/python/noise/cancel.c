/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went into a sum, for the mode `cancellation`: the two operands of an addition or
 * subtraction, element by element as they are broadcast, or all that was added up to a single
 * number.
 */
#include "own.h"

#include <string.h>

/* An operand as the result sees it: strides of 0 where it is repeated. */
struct operand {
	const char *data; /* NULL: none */
	int64_t strides[WTI_RANK_MAX];
	union {
		float narrow;
		double wide;
	} number; /* of what is no array */
};

static bool is_sum(const char *callee)
{
	static const char *const names[] = {"add",      "sub",      "subtract", "__add__",
					    "__radd__", "__sub__",  "__rsub__", "rsub",
					    "__iadd__", "__isub__", "add_",     "sub_"};
	const char *dot = strrchr(callee, '.');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(dot ? dot + 1 : callee, names[i]) == 0)
			return true;
	return false;
}

static bool is_total(const char *callee)
{
	return strcmp(callee, "sum") == 0 || strcmp(callee, "mean") == 0 ||
	       strcmp(callee, "Tensor.sum") == 0 || strcmp(callee, "Tensor.mean") == 0 ||
	       strcmp(callee, "ndarray.sum") == 0 || strcmp(callee, "ndarray.mean") == 0 ||
	       strcmp(callee, "ufunc.reduce") == 0;
}

static bool number_of(PyObject *object, uint32_t dtype, struct operand *ret)
{
	double value;

	if (!PyFloat_Check(object) && !PyLong_Check(object))
		return false;
	value = PyFloat_AsDouble(object);
	if (PyErr_Occurred()) {
		PyErr_Clear();
		return false;
	}
	if (dtype == WT_DTYPE_F64)
		ret->number.wide = value;
	else if (dtype == WT_DTYPE_F32)
		ret->number.narrow = (float)value;
	else
		return false;
	ret->data = (const char *)&ret->number;
	memset(ret->strides, 0, sizeof(ret->strides));
	return true;
}

/* False: it cannot be broadcast to the result, or is of another type. */
static bool operand_of(PyObject *object, const struct wti_tensor *result, struct operand *ret)
{
	struct wti_tensor tensor;
	Py_buffer room;
	uint32_t missing;

	if (number_of(object, result->dtype, ret))
		return true;
	if (!wti_tensor_look(object, &tensor, &room))
		return false;
	wti_tensor_release(&tensor);
	if (!tensor.data || tensor.dtype != result->dtype || tensor.rank > result->rank ||
	    tensor.is_conjugate || tensor.is_negative)
		return false;
	missing = result->rank - tensor.rank;
	memset(ret->strides, 0, sizeof(ret->strides));
	for (uint32_t i = 0; i < tensor.rank; i++) {
		if (tensor.sizes[i] != 1 && tensor.sizes[i] != result->sizes[missing + i])
			return false;
		if (tensor.sizes[i] != 1)
			ret->strides[missing + i] = tensor.strides[i] * (int64_t)tensor.stride_unit;
	}
	ret->data = tensor.data;
	return true;
}

/* All rows of the result, each with what stands beside it in the operands. */
static void cancel_rows(const struct wti_noise_key *key, const struct wti_tensor *result,
			struct operand operands[2])
{
	const uint32_t last = result->rank ? result->rank - 1 : 0;
	const uint64_t row = result->rank ? (uint64_t)result->sizes[last] : 1;
	char *at = (char *)(uintptr_t)result->data;
	int64_t place[WTI_RANK_MAX] = {0};
	struct wti_noise_operands beside = {.exponent = WTI_NOISE_NO_EXPONENT};

	for (int k = 0; k < 2; k++) {
		beside.data[k] = operands[k].data;
		beside.stride_bytes[k] = result->rank ? operands[k].strides[last] : 0;
	}
	for (uint64_t first = 0; first < result->count; first += row) {
		wti_noise_cancel(&wti_noise_state.noise, key, result->dtype, at, first, row,
				 result->rank ? result->strides[last] * (int64_t)result->stride_unit
					      : (int64_t)result->item_bytes,
				 &beside);
		for (uint32_t i = last; i-- > 0;) {
			int64_t back = ++place[i] < result->sizes[i] ? 1 : 1 - result->sizes[i];

			at += back * result->strides[i] * (int64_t)result->stride_unit;
			for (int k = 0; k < 2; k++)
				if (beside.data[k])
					beside.data[k] = (const char *)beside.data[k] +
							 back * operands[k].strides[i];
			if (back == 1)
				break;
			place[i] = 0;
		}
	}
}

static void cancel_sum(const struct wti_operation *operation, const struct wti_tensor *result)
{
	struct operand operands[2];

	for (int k = 0; k < 2; k++)
		if (k >= operation->count || (k == 0 && operation->is_in_place) ||
		    !operand_of(operation->arguments[k], result, &operands[k]))
			memset(&operands[k], 0, sizeof(operands[k]));
	if (operands[0].data || operands[1].data)
		cancel_rows(&operation->key, result, operands);
}

/* One number out of all elements. */
static void cancel_total(const struct wti_operation *operation, const struct wti_tensor *result)
{
	struct wti_noise_operands all = {.exponent = WTI_NOISE_NO_EXPONENT};
	struct wti_tensor tensor;
	Py_buffer room;
	Py_ssize_t which = strcmp(operation->hook->callee->text, "ufunc.reduce") == 0;

	if (result->count != 1 || operation->count <= which ||
	    !wti_tensor_look(operation->arguments[which], &tensor, &room))
		return;
	if (tensor.data && tensor.dtype == result->dtype && tensor.is_packed)
		all.exponent = wti_noise_exponent(tensor.dtype, tensor.data, tensor.count,
						  tensor.item_bytes);
	wti_tensor_release(&tensor);
	wti_noise_cancel(&wti_noise_state.noise, &operation->key, result->dtype,
			 (void *)(uintptr_t)result->data, 0, 1, result->item_bytes, &all);
}

void wti_noise_cancelled(const struct wti_operation *operation, const struct wti_tensor *result)
{
	const char *callee = operation->hook->callee->text;

	if (is_sum(callee))
		cancel_sum(operation, result);
	else if (is_total(callee))
		cancel_total(operation, result);
}
