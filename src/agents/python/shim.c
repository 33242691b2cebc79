/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim in this process: loaded if it was built for exactly the torch that runs, asked to watch
 * what the level wants, and checked against tensors that are known before its word on tensors
 * counts.
 */
#include "act.h"

#include <dlfcn.h>
#include <string.h>

#include "shim/shim.h"

static struct {
	const struct wti_shim *shim; /* NULL: there is none */
	uint32_t what;               /* is to be watched while recording is on */
	uint32_t watched;            /* WTI_SHIM_* */
	int impl;         /* where a tensor object keeps its implementation; 0: not known */
	bool knows_modes; /* it has said them right in each */
} state;

/* ---- Loading -------------------------------------------------------------------------------- */

/* NULL, or why it cannot be used. */
static const char *load(const char *path, const char *identity)
{
	const struct wti_shim *(*entry)(void);
	const struct wti_shim *shim;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return "it cannot be loaded";
	*(void **)&entry = dlsym(library, WTI_SHIM_ENTRY);
	shim = entry ? entry() : NULL;
	if (!shim || shim->version != WTI_SHIM_VERSION)
		return "it is of another wheeltap";
	if (strcmp(shim->identity, identity) != 0)
		return "it was built for another torch";
	state.shim = shim;
	return NULL;
}

bool wti_shim_load(const char *path, const char *identity, uint32_t what)
{
	const char *why = state.shim ? NULL : load(path, identity);

	if (why) {
		PyErr_Format(PyExc_ImportError, "%s", why);
		return false;
	}
	state.what = what;
	if (wti_python.is_on)
		wti_shim_start();
	return true;
}

static void watch(uint32_t what)
{
	if (state.shim && state.shim->watch(&wti_operator_host, what))
		__atomic_store_n(&state.watched, what, __ATOMIC_RELAXED);
}

void wti_shim_start(void)
{
	watch(state.what);
}

void wti_shim_stop(void)
{
	watch(0);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

uint64_t wti_shim_thread(void)
{
	return state.shim ? state.shim->thread() : 0;
}

uint64_t wti_shim_sequence(void)
{
	return __atomic_load_n(&state.watched, __ATOMIC_RELAXED) ? state.shim->sequence() : 0;
}

/* ---- Tensors -------------------------------------------------------------------------------- */

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

bool wti_shim_tensor(const struct wti_shim_tensor *seen, struct wti_tensor *ret)
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
	ret->sort = NULL;
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

	memcpy(&impl, (const char *)tensor + state.impl, sizeof(impl));
	return impl;
}

/*
 * torch's own accessors follow pointers that another thread may be exchanging, so they are asked
 * only while there is none. With others about, only what layout.c knows is read.
 */
bool wti_shim_look(PyObject *tensor, struct wti_tensor *ret)
{
	struct wti_shim_tensor seen;

	if (!state.impl || wti_must_guard() || !state.shim->look(impl_of(tensor), &seen) ||
	    !wti_shim_tensor(&seen, ret))
		return false;
	ret->device = WT_NAME("cpu");
	return true;
}

bool wti_shim_requires_grad(PyObject *tensor, bool *ret)
{
	if (!state.impl)
		return false;
	*ret = state.shim->requires_grad(impl_of(tensor));
	return true;
}

bool wti_shim_is_leaf(PyObject *tensor, bool *ret)
{
	if (!state.impl || wti_must_guard())
		return false;
	*ret = state.shim->is_leaf(impl_of(tensor));
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

	if (!state.shim->look(grad, &seen) || !wti_shim_tensor(&seen, ret))
		return false;
	ret->device = WT_NAME("cpu");
	return true;
}

bool wti_shim_grad(PyObject *tensor, struct wti_tensor *ret)
{
	const void *parameter = state.impl ? impl_of(tensor) : NULL;
	const void *grad = parameter ? state.shim->grad(parameter) : NULL;

	if (!grad)
		return false;
	ret->buffer = NULL;
	ret->object = NULL;
	ret->is_late = ret->is_hash_alone = false;
	return wti_must_guard() ? look_loosely(parameter, grad, ret) : look_firmly(grad, ret);
}

bool wti_shim_grad_holds(const struct wti_tensor *grad)
{
	return !grad->parameter || state.shim->grad(grad->parameter) == grad->impl;
}

/* ---- Modes ---------------------------------------------------------------------------------- */

static uint32_t modes_now(void)
{
	uint32_t modes = state.shim->modes();

	return (modes & WTI_SHIM_GRAD ? WT_CALL_GRAD : 0) |
	       (modes & WTI_SHIM_AUTOCAST ? WT_CALL_AUTOCAST : 0) |
	       (modes & WTI_SHIM_INFERENCE ? WT_CALL_INFERENCE : 0);
}

bool wti_shim_modes(uint32_t *ret)
{
	if (!state.knows_modes)
		return false;
	*ret = modes_now();
	return true;
}

bool wti_shim_modes_are(uint32_t asked)
{
	return state.shim && modes_now() == asked;
}

void wti_shim_modes_trust(bool is_right)
{
	state.knows_modes = state.shim && is_right;
}

/* ---- Checking ------------------------------------------------------------------------------- */

enum { OBJECT_BYTES = 64 };

/* What the Python side says about a tensor that it has made. */
struct probe {
	PyObject *tensor;
	unsigned long long impl, storage, data, bytes, offset;
	unsigned dtype, sort;
	PyObject *sizes, *strides;
};

static bool probe_read(PyObject *tuple, struct probe *ret)
{
	return PyArg_ParseTuple(tuple, "OKKKKKIIO!O!", &ret->tensor, &ret->impl, &ret->storage,
				&ret->data, &ret->bytes, &ret->offset, &ret->dtype, &ret->sort,
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
	bool is_plain = probe->sort == 0 || probe->sort == 3; /* not conjugated or negated */

	memcpy(&found, (const char *)probe->tensor + impl, sizeof(found));
	if ((uintptr_t)found != probe->impl)
		return false;
	if (state.shim->look(found, &seen) != is_plain)
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

bool wti_shim_check(PyObject *probes)
{
	state.impl = 0;
	if (!state.shim || !PyList_Check(probes) || PyList_GET_SIZE(probes) < 8) {
		PyErr_SetString(PyExc_ValueError, "a shim and a list of 8 probes are needed");
		return false;
	}
	for (int impl = sizeof(PyObject); impl < OBJECT_BYTES; impl += (int)sizeof(void *)) {
		if (all_agree(probes, impl)) {
			state.impl = impl;
			return true;
		}
		PyErr_Clear();
	}
	PyErr_SetString(PyExc_LookupError, "the shim does not see tensors as they are");
	return false;
}
