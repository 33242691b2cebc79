/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors as records. Knows two ways to the memory of a tensor: torch's own layout (layout.c) or
 * what the Python side says about a tensor, and the buffer protocol (numpy and whatever speaks it).
 * What is not packed in row-major order is packed first, as the digest is defined over that.
 */
#include "pyagent.h"

#include <stdlib.h>
#include <string.h>

enum {
	FLAG_REQUIRES_GRAD = 1,
	FLAG_NOT_CONTIGUOUS = 2,
	FLAG_NO_STATISTICS = 4,
	FLAG_NO_HASH = 8,
	PACK_BYTES_MAX = 256 << 20, /* larger tensors that are not packed are told, not read */
};

bool wti_tensor_is(PyObject *object)
{
	return wti_python.tensor_type && PyObject_TypeCheck(object, wti_python.tensor_type);
}

bool wti_tensor_is_packed(const struct wti_tensor *tensor)
{
	int64_t expected = tensor->item_bytes;

	if (tensor->count == 0)
		return true;
	for (uint32_t i = tensor->rank; i-- > 0;) {
		if (tensor->sizes[i] != 1 &&
		    tensor->strides[i] * (int64_t)tensor->stride_unit != expected)
			return false;
		expected *= tensor->sizes[i];
	}
	return true;
}

/* ---- Looking ----------------------------------------------------------------------------------
 */

/* "3x4" stands for (3, 4) where nothing else is known. */
static bool read_sizes(PyObject *tuple, struct wti_tensor *ret)
{
	Py_ssize_t rank = PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : WTI_RANK_MAX + 1;

	if (rank > WTI_RANK_MAX)
		return false;
	ret->rank = (uint32_t)rank;
	ret->count = 1;
	for (Py_ssize_t i = 0; i < rank; i++) {
		ret->sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
		if (ret->sizes[i] < 0 ||
		    __builtin_mul_overflow(ret->count, (uint64_t)ret->sizes[i], &ret->count))
			return false;
	}
	return true;
}

/* What is not to be read by layout: the Python side says its type, device and extents. */
static bool look_by_asking(PyObject *object, struct wti_tensor *ret)
{
	PyObject *told = NULL, *sizes;
	const char *device;
	bool done = false;

	if (wti_python.callbacks)
		told = PyObject_CallMethod(wti_python.callbacks, "describe_shape", "O", object);
	if (told &&
	    PyArg_ParseTuple(told, "IIsO", &ret->dtype, &ret->item_bytes, &device, &sizes) &&
	    read_sizes(sizes, ret)) {
		ret->device = wti_name_find(device, strlen(device));
		done = true;
	}
	PyErr_Clear();
	Py_XDECREF(told);
	return done;
}

/* Of a type whose attributes are torch's own: to ask a subclass would run the program's code. */
static bool is_plain(PyObject *object)
{
	return Py_IS_TYPE(object, wti_python.plain_types[0]) ||
	       Py_IS_TYPE(object, wti_python.plain_types[1]);
}

static bool look_at_torch(PyObject *object, struct wti_tensor *ret)
{
	PyObject *flag;

	if (!wti_layout_read(object, ret) && !wti_shim_look(object, ret)) {
		ret->data = NULL;
		return look_by_asking(object, ret);
	}
	ret->is_packed = wti_tensor_is_packed(ret);
	if (wti_shim_requires_grad(object, &ret->requires_grad) || !is_plain(object))
		return true;
	flag = PyObject_GetAttr(object, wti_python.words.requires_grad);
	ret->requires_grad = flag == Py_True;
	Py_XDECREF(flag);
	PyErr_Clear();
	return true;
}

/* The element types of struct's codes, in native or little-endian order. */
static uint32_t dtype_of_format(const char *format, size_t item_bytes)
{
	static const struct {
		const char *code;
		uint32_t dtype;
	} codes[] = {
		{"?", WT_DTYPE_BOOL},  {"b", WT_DTYPE_I8},  {"B", WT_DTYPE_U8},
		{"h", WT_DTYPE_I16},   {"H", WT_DTYPE_U16}, {"i", WT_DTYPE_I32},
		{"I", WT_DTYPE_U32},   {"l", WT_DTYPE_I64}, {"L", WT_DTYPE_U64},
		{"q", WT_DTYPE_I64},   {"Q", WT_DTYPE_U64}, {"e", WT_DTYPE_F16},
		{"f", WT_DTYPE_F32},   {"d", WT_DTYPE_F64}, {"Zf", WT_DTYPE_C64},
		{"Zd", WT_DTYPE_C128},
	};

	if (!format)
		return WT_DTYPE_U8;
	if (*format == '@' || *format == '=' || *format == '<')
		format++;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(format, codes[i].code) == 0 &&
		    wti_dtype_bytes(codes[i].dtype) == item_bytes)
			return codes[i].dtype;
	return WT_DTYPE_OTHER;
}

static bool look_at_buffer(PyObject *object, struct wti_tensor *ret, Py_buffer *room)
{
	if (PyBytes_Check(object) || PyByteArray_Check(object) ||
	    PyObject_GetBuffer(object, room, PyBUF_RECORDS_RO) < 0) {
		PyErr_Clear();
		return false;
	}
	/* Some exporters, numpy's scalars among them, leave out what was asked for. */
	if (room->ndim > WTI_RANK_MAX || room->itemsize <= 0 || !room->buf ||
	    (room->ndim > 0 && (!room->shape || !room->strides))) {
		PyBuffer_Release(room);
		return false;
	}
	ret->buffer = room;
	ret->dtype = dtype_of_format(room->format, (size_t)room->itemsize);
	ret->item_bytes = (uint32_t)room->itemsize;
	ret->stride_unit = 1;
	ret->rank = (uint32_t)room->ndim;
	ret->count = (uint64_t)(room->len / room->itemsize);
	ret->device = WT_NAME("cpu");
	for (int i = 0; i < room->ndim; i++) {
		ret->sizes[i] = room->shape[i];
		ret->strides[i] = room->strides[i];
	}
	ret->is_packed = wti_tensor_is_packed(ret);
	if (ret->dtype != WT_DTYPE_OTHER)
		ret->data = room->buf;
	return true;
}

bool wti_tensor_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room)
{
	ret->data = NULL;
	ret->buffer = NULL;
	ret->device = NULL;
	ret->dtype = WT_DTYPE_OTHER;
	ret->is_packed = true;
	ret->requires_grad = false;
	if (wti_tensor_is(object))
		return look_at_torch(object, ret);
	return PyObject_CheckBuffer(object) && look_at_buffer(object, ret, room);
}

void wti_tensor_release(struct wti_tensor *tensor)
{
	if (tensor->buffer)
		PyBuffer_Release(tensor->buffer);
	tensor->buffer = NULL;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static void copy_row(char *to, const char *from, int64_t count, int64_t stride, size_t item_bytes)
{
	if (stride == (int64_t)item_bytes) {
		memcpy(to, from, (size_t)count * item_bytes);
		return;
	}
	for (int64_t i = 0; i < count; i++)
		memcpy(to + (size_t)i * item_bytes, from + i * stride, item_bytes);
}

/* Row by row; `at` counts like an odometer over the extents but the last. */
static void pack(const struct wti_tensor *tensor, char *to)
{
	int64_t at[WTI_RANK_MAX] = {0};
	int64_t unit = tensor->stride_unit;
	const char *from = tensor->data;
	uint32_t last = tensor->rank - 1;
	size_t row_bytes = (size_t)tensor->sizes[last] * tensor->item_bytes;
	uint64_t rows = tensor->count / (uint64_t)tensor->sizes[last];

	for (uint64_t row = 0; row < rows; row++, to += row_bytes) {
		copy_row(to, from, tensor->sizes[last], tensor->strides[last] * unit,
			 tensor->item_bytes);
		for (uint32_t i = last; i-- > 0;) {
			from += tensor->strides[i] * unit;
			if (++at[i] < tensor->sizes[i])
				break;
			from -= tensor->strides[i] * unit * tensor->sizes[i];
			at[i] = 0;
		}
	}
}

/* The elements in order: where they lie, or in memory of our own that the caller frees. */
static const void *in_order(const struct wti_tensor *tensor, void **ret_own)
{
	uint64_t bytes = tensor->count * tensor->item_bytes;

	*ret_own = NULL;
	if (!tensor->data || tensor->is_packed)
		return tensor->data;
	if (bytes > PACK_BYTES_MAX)
		return NULL;
	*ret_own = malloc(bytes);
	if (*ret_own)
		pack(tensor, *ret_own);
	return *ret_own;
}

bool wti_tensor_digest(const struct wti_tensor *tensor, struct wt_digest *ret)
{
	void *own;
	const void *data = in_order(tensor, &own);

	if (!data && tensor->count)
		return false;
	wti_digest(data, tensor->dtype, tensor->count, ret);
	free(own);
	return true;
}

bool wti_tensor_hash(const struct wti_tensor *tensor, uint64_t *ret_hash)
{
	void *own;
	const void *data = in_order(tensor, &own);

	if (!data && tensor->count)
		return false;
	*ret_hash = wti_digest_hash(data, tensor->count * tensor->item_bytes);
	free(own);
	return true;
}

/* ---- Telling ----------------------------------------------------------------------------------
 */

static uint32_t flags_of(const struct wti_tensor *tensor, bool is_read)
{
	return (tensor->requires_grad ? FLAG_REQUIRES_GRAD : 0) |
	       (tensor->is_packed ? 0 : FLAG_NOT_CONTIGUOUS) |
	       (is_read ? 0 : FLAG_NO_STATISTICS | FLAG_NO_HASH);
}

void wti_tensor_tell(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
		     const struct wt_digest *digest)
{
	const struct wti_here here = wti_here();
	const struct wt_digest none = {.count = tensor->count};
	struct wti_record_tensor *record;
	uint32_t ids[4];

	if (!here.ring)
		return;
	ids[0] = names->name ? wti_name(here, names->name) : 0;
	ids[1] = names->owner ? wti_name(here, names->owner) : 0;
	ids[2] = wti_name(here, names->shape ? names->shape : wti_shape_name(tensor));
	ids[3] = tensor->device ? wti_name(here, tensor->device) : 0;
	record = wti_open(here, WT_KIND_TENSOR, sizeof(*record));
	if (!record)
		return;
	record->flags = flags_of(tensor, digest != NULL);
	if (!digest)
		digest = &none;
	record->name = ids[0];
	record->owner = ids[1];
	record->shape = ids[2];
	record->device = ids[3];
	record->dtype = tensor->dtype;
	record->count = digest->count;
	record->hash = digest->hash;
	record->nan = digest->nan;
	record->inf = digest->inf;
	record->zeros = digest->zeros;
	record->min = digest->min;
	record->max = digest->max;
	record->mean = digest->mean;
	record->m2 = digest->m2;
	record->call = names->call;
	record->position = names->position;
	record->sort = 0;
	wti_commit(here, sizeof(*record));
}
