/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of a value, perturbed where they lie. The index of an element, by which its random
 * number is drawn, counts places in memory if the value fills a stretch of it, whatever the order
 * of its extents; otherwise it counts in logical order.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES_MAX = 256 << 20 };

/* ---- Which memory ---------------------------------------------------------------------------- */

/* As numpy promises to extensions; array.c has checked it. */
struct array {
	PyObject_HEAD char *data;
	int rank;
	Py_ssize_t *sizes;
	Py_ssize_t *strides;
	PyObject *base;
	PyObject *type;
	int flags;
};

enum { ARRAY_WRITEABLE = 0x400 };

/* numpy's type is the only one of this name that is no class of a program. */
bool wti_noise_is_array(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	for (; type; type = type->tp_base)
		if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
		    strcmp(type->tp_name, "numpy.ndarray") == 0)
			return true;
	return false;
}

bool wti_noise_can(PyObject *object, struct wti_tensor *ret)
{
	Py_buffer room;

	if (wti_tensor_is(object)) {
		if (!wti_tensor_look(object, ret, &room))
			return false;
		/* Its parts are read and written where they lie: what is put off stays so. */
		if (ret->is_conjugate || ret->is_negative)
			return false;
	} else if (!wti_noise_is_array(object) ||
		   !(((struct array *)object)->flags & ARRAY_WRITEABLE) ||
		   !wti_tensor_look(object, ret, &room)) {
		return false;
	}
	return ret->data && ret->count && wti_noise_takes(ret->dtype);
}

bool wti_noise_look_at_scalar(PyObject *object, struct wti_tensor *ret)
{
	*ret = (struct wti_tensor){.count = 1, .is_packed = true};
	ret->dtype = PyFloat_CheckExact(object) ? WT_DTYPE_F64 : wti_scalar_dtype(object);
	if (ret->dtype == WT_DTYPE_OTHER)
		return false;
	ret->data = (char *)object + sizeof(PyObject);
	ret->item_bytes = (uint32_t)wti_dtype_bytes(ret->dtype);
	return true;
}

void wti_noise_scalar(PyObject *object, const struct wti_noise_key *key)
{
	struct wti_tensor tensor;

	if (wti_noise_look_at_scalar(object, &tensor))
		wti_noise_memory(&tensor, key);
}

static int64_t stride_of(const struct wti_tensor *tensor, uint32_t i)
{
	return tensor->strides[i] * (int64_t)tensor->stride_unit;
}

/* The first byte of a value, and the one behind its last. */
static void reach(const struct wti_tensor *tensor, uintptr_t *ret_from, uintptr_t *ret_to)
{
	int64_t below = 0, above = (int64_t)tensor->item_bytes;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		int64_t far = (tensor->sizes[i] - 1) * stride_of(tensor, i);

		if (far < 0)
			below += far;
		else
			above += far;
	}
	*ret_from = (uintptr_t)tensor->data + (uintptr_t)below;
	*ret_to = (uintptr_t)tensor->data + (uintptr_t)above;
}

bool wti_noise_meet(const struct wti_tensor *a, const struct wti_tensor *b)
{
	uintptr_t a_from, a_to, b_from, b_to;

	if (!a->data || !b->data || !a->count || !b->count)
		return false;
	reach(a, &a_from, &a_to);
	reach(b, &b_from, &b_to);
	return a_from < b_to && b_from < a_to;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* Every element has its own place and there is none between them. */
static bool is_dense(const struct wti_tensor *tensor)
{
	uint64_t expected = tensor->item_bytes;
	uint64_t left = 0;

	for (uint32_t i = 0; i < tensor->rank; i++)
		left += tensor->sizes[i] != 1;
	while (left) {
		uint64_t before = left;

		for (uint32_t i = 0; i < tensor->rank; i++) {
			if (tensor->sizes[i] == 1 || stride_of(tensor, i) != (int64_t)expected)
				continue;
			expected *= (uint64_t)tensor->sizes[i];
			left--;
		}
		if (left == before)
			return false;
	}
	return expected == tensor->count * tensor->item_bytes;
}

/* Some element may stand for more than one: it would get more than one perturbation. */
static bool overlaps(const struct wti_tensor *tensor)
{
	uint64_t span = tensor->item_bytes;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		int64_t stride = stride_of(tensor, i);

		if (tensor->sizes[i] > 1)
			span += (uint64_t)(tensor->sizes[i] - 1) *
				(uint64_t)(stride < 0 ? -stride : stride);
		if (tensor->sizes[i] > 1 && stride == 0)
			return true;
	}
	return span < tensor->count * tensor->item_bytes;
}

/* Rows: all extents but the last, like an odometer. */
struct rows {
	char *at;
	uint64_t first; /* index of the row's first element */
	uint64_t row;   /* elements of a row */
	int64_t stride;
	int64_t place[WTI_RANK_MAX];
};

static void rows_begin(struct rows *rows, const struct wti_tensor *tensor)
{
	const uint32_t last = tensor->rank ? tensor->rank - 1 : 0;

	rows->at = (char *)(uintptr_t)tensor->data;
	rows->first = 0;
	rows->row = tensor->rank ? (uint64_t)tensor->sizes[last] : 1;
	rows->stride = tensor->rank ? stride_of(tensor, last) : (int64_t)tensor->item_bytes;
	memset(rows->place, 0, sizeof(rows->place));
}

static bool rows_next(struct rows *rows, const struct wti_tensor *tensor)
{
	rows->first += rows->row;
	if (rows->first >= tensor->count)
		return false;
	for (uint32_t i = tensor->rank - 1; i-- > 0;) {
		rows->at += stride_of(tensor, i);
		if (++rows->place[i] < tensor->sizes[i])
			break;
		rows->at -= stride_of(tensor, i) * tensor->sizes[i];
		rows->place[i] = 0;
	}
	return true;
}

void wti_noise_memory(const struct wti_tensor *tensor, const struct wti_noise_key *key)
{
	const struct wti_noise *noise = &wti_noise_state.noise;
	struct rows rows;

	if (tensor->is_packed || is_dense(tensor)) {
		wti_noise_apply(noise, key, tensor->dtype, (void *)(uintptr_t)tensor->data, 0,
				tensor->count, tensor->item_bytes);
		return;
	}
	if (overlaps(tensor))
		return;
	rows_begin(&rows, tensor);
	do
		wti_noise_apply(noise, key, tensor->dtype, rows.at, rows.first, rows.row,
				rows.stride);
	while (rows_next(&rows, tensor));
}

/* ---- Elements that an operation left as they were -------------------------------------------- */

struct copy {
	char *to;
};

static bool put(void *self, const void *bytes, size_t count)
{
	struct copy *copy = self;

	memcpy(copy->to, bytes, count);
	copy->to += count;
	return true;
}

char *wti_noise_copy(const struct wti_tensor *tensor)
{
	uint64_t bytes = tensor->count * tensor->item_bytes;
	char *room = bytes <= COPY_BYTES_MAX ? malloc(bytes) : NULL;
	struct copy copy = {room};

	if (room && !wti_tensor_bytes(tensor, put, &copy)) {
		free(room);
		room = NULL;
	}
	return room;
}

void wti_noise_changed(const struct wti_tensor *tensor, const struct wti_noise_key *key,
		       const char *before)
{
	const struct wti_noise *noise = &wti_noise_state.noise;
	const size_t size = tensor->item_bytes;
	struct rows rows;

	if (overlaps(tensor))
		return;
	rows_begin(&rows, tensor);
	do {
		for (uint64_t i = 0; i < rows.row; i++) {
			char *at = rows.at + (int64_t)i * rows.stride;

			if (memcmp(at, before + (rows.first + i) * size, size) != 0)
				wti_noise_apply(noise, key, tensor->dtype, at, rows.first + i, 1,
						(int64_t)size);
		}
	} while (rows_next(&rows, tensor));
}
