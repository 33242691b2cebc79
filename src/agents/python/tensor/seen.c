/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors as the shim sees them, without an object of Python's and without asking torch by way of
 * Python. What it sees counts only after it was compared with tensors that are known.
 */
#include "own.h"

#include <string.h>

#include "python/shim/host.h"

/* True if all elements lie within the storage. */
static bool is_within(const struct wti_shim_tensor *seen)
{
	uint64_t last = seen->offset;

	for (uint32_t i = 0; i < seen->rank; i++) {
		uint64_t reach;

		if (seen->sizes[i] <= 0 || seen->strides[i] < 0)
			return false;
		if (__builtin_mul_overflow((uint64_t)seen->sizes[i] - 1, (uint64_t)seen->strides[i],
					   &reach) ||
		    __builtin_add_overflow(last, reach, &last))
			return false;
	}
	return last < UINT64_MAX / 16 - 1 && (last + 1) * seen->item_bytes <= seen->storage_bytes;
}

bool wti_seen_tensor(const struct wti_shim_tensor *seen, struct wti_tensor *ret)
{
	if (seen->rank > WTI_RANK_MAX)
		return false;
	ret->dtype = seen->dtype;
	ret->item_bytes = ret->stride_unit = seen->item_bytes;
	ret->rank = seen->rank;
	ret->count = seen->count;
	ret->requires_grad = seen->requires_grad;
	memcpy(ret->sizes, seen->sizes, seen->rank * sizeof(*ret->sizes));
	memcpy(ret->strides, seen->strides, seen->rank * sizeof(*ret->strides));
	ret->is_packed = wti_tensor_is_packed(ret);
	ret->is_conjugate = ret->is_negative = ret->is_guarded = false;
	ret->kind = NULL;
	ret->impl = NULL;
	ret->parameter = NULL;
	ret->data = NULL;
	if (seen->storage && is_within(seen) && wti_dtype_bytes(seen->dtype) == seen->item_bytes)
		ret->data = seen->storage + seen->offset * seen->item_bytes;
	return true;
}

static const void *impl_of(PyObject *tensor)
{
	const void *impl;

	memcpy(&impl, (const char *)tensor + wti_tensor_state.seen_impl, sizeof(impl));
	return impl;
}

/*
 * torch's own accessors follow pointers that another thread may be exchanging, so they are asked
 * only while there is none. With others about, only what layout.c knows is read.
 */
bool wti_seen_look(PyObject *tensor, struct wti_tensor *ret)
{
	struct wti_shim_tensor seen;

	if (!wti_tensor_state.seen_impl || wti_must_guard() ||
	    !wti_shim_state.shim->look(impl_of(tensor), &seen) || !wti_seen_tensor(&seen, ret))
		return false;
	ret->device = WT_NAME("cpu");
	return true;
}

bool wti_seen_requires_grad(PyObject *tensor, bool *ret)
{
	if (!wti_tensor_state.seen_impl)
		return false;
	*ret = wti_shim_state.shim->requires_grad(impl_of(tensor));
	return true;
}

bool wti_seen_is_leaf(PyObject *tensor, bool *ret)
{
	if (!wti_tensor_state.seen_impl || wti_must_guard())
		return false;
	*ret = wti_shim_state.shim->is_leaf(impl_of(tensor));
	return true;
}

/*
 * A backward on another thread may put another gradient in the place of this one, and free it: then
 * nothing of it is touched but by the kernel's hand.
 */
static bool look_loosely(const void *parameter, const void *grad, struct wti_tensor *ret)
{
	if (!wti_layout_read_loose(grad, ret))
		return false;
	ret->is_packed = wti_tensor_is_packed(ret);
	ret->requires_grad = false; /* not known */
	ret->parameter = parameter;
	return true;
}

static bool look_firmly(const void *grad, struct wti_tensor *ret)
{
	struct wti_shim_tensor seen;

	if (!wti_shim_state.shim->look(grad, &seen) || !wti_seen_tensor(&seen, ret))
		return false;
	ret->device = WT_NAME("cpu");
	return true;
}

bool wti_seen_grad(PyObject *tensor, struct wti_tensor *ret)
{
	const void *parameter = wti_tensor_state.seen_impl ? impl_of(tensor) : NULL;
	const void *grad = parameter ? wti_shim_state.shim->grad(parameter) : NULL;

	if (!grad)
		return false;
	ret->buffer = NULL;
	ret->object = NULL;
	ret->is_late = ret->is_hash_alone = false;
	return wti_must_guard() ? look_loosely(parameter, grad, ret) : look_firmly(grad, ret);
}

bool wti_seen_grad_holds(const struct wti_tensor *grad)
{
	return !grad->parameter || wti_shim_state.shim->grad(grad->parameter) == grad->impl;
}

/* ---- Checking ------------------------------------------------------------------------------- */

enum { OBJECT_BYTES = 64 };

/* What the Python side says about a tensor that it has made. */
struct probe {
	PyObject *tensor;
	unsigned long long impl, storage, data, bytes, offset;
	unsigned dtype, kind;
	PyObject *sizes, *strides;
};

static bool probe_read(PyObject *tuple, struct probe *ret)
{
	return PyArg_ParseTuple(tuple, "OKKKKKIIO!O!", &ret->tensor, &ret->impl, &ret->storage,
				&ret->data, &ret->bytes, &ret->offset, &ret->dtype, &ret->kind,
				&PyTuple_Type, &ret->sizes, &PyTuple_Type, &ret->strides);
}

static bool extents_are(PyObject *tuple, const int64_t *extents, uint32_t rank)
{
	if (PyTuple_GET_SIZE(tuple) != rank)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)) != extents[i])
			return false;
	return true;
}

static bool probe_agrees(const struct probe *probe, int impl)
{
	const void *found;
	struct wti_shim_tensor seen;
	bool is_plain = probe->kind == 0 || probe->kind == 3; /* not conjugated or negated */

	memcpy(&found, (const char *)probe->tensor + impl, sizeof(found));
	if ((uintptr_t)found != probe->impl)
		return false;
	if (wti_shim_state.shim->look(found, &seen) != is_plain)
		return false;
	return !is_plain ||
	       ((uintptr_t)seen.storage == probe->data && seen.storage_bytes == probe->bytes &&
		seen.offset == probe->offset && seen.dtype == probe->dtype &&
		extents_are(probe->sizes, seen.sizes, seen.rank) &&
		extents_are(probe->strides, seen.strides, seen.rank));
}

static bool all_agree(PyObject *probes, int impl)
{
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(probes); i++) {
		struct probe probe;

		if (!probe_read(PyList_GET_ITEM(probes, i), &probe) || !probe_agrees(&probe, impl))
			return false;
	}
	return true;
}

bool wti_seen_check(PyObject *probes)
{
	wti_tensor_state.seen_impl = 0;
	if (!wti_shim_state.shim || !PyList_Check(probes) || PyList_GET_SIZE(probes) < 8) {
		PyErr_SetString(PyExc_ValueError, "a shim and a list of 8 probes are needed");
		return false;
	}
	for (int impl = sizeof(PyObject); impl < OBJECT_BYTES; impl += (int)sizeof(void *)) {
		if (all_agree(probes, impl)) {
			wti_tensor_state.seen_impl = impl;
			return true;
		}
		PyErr_Clear();
	}
	PyErr_SetString(PyExc_LookupError, "the shim does not see tensors as they are");
	return false;
}
