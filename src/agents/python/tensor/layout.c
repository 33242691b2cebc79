/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a torch tensor without asking torch: 20 ns instead of 800. Where torch keeps extents,
 * data and type differs between versions and is not ours to know, so it is found by trial: the
 * Python side makes tensors of all kinds and reports what they are; each thing is looked for in the
 * tensors' own memory, and a layout is used only if it explains every one of them.
 *
 * Whether a tensor is an ordinary one is not decided by layout: each combination of dispatch keys
 * and element type is shown once to the Python side (`describe`), which asks torch, and remembered.
 */
#include "own.h"

#include <stddef.h>
#include <string.h>

enum {
	OBJECT_BYTES = 64, /* of a tensor object that are looked at, and of those below it */
	IMPL_BYTES = 200,
	STORAGE_BYTES = 64,
	INLINE_RANK = 5, /* longer extents are kept elsewhere */
};

static uint64_t word_at(const char *base, int offset)
{
	uint64_t word;

	memcpy(&word, base + offset, sizeof(word));
	return word;
}

static uint16_t half_at(const char *base, int offset)
{
	uint16_t half;

	memcpy(&half, base + offset, sizeof(half));
	return half;
}

/* ---- Looking for things ---------------------------------------------------------------------- */

typedef bool fits(const struct wti_layout_probe *probes, size_t count, int offset);

static bool fits_impl(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].object, offset) != (uint64_t)(uintptr_t)probes[i].impl)
			return false;
	return true;
}

static bool fits_storage(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].impl, offset) != (uint64_t)(uintptr_t)probes[i].storage)
			return false;
	return true;
}

static bool fits_rank(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].impl, offset) != probes[i].rank)
			return false;
	return true;
}

static bool fits_offset(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].impl, offset) != probes[i].offset)
			return false;
	return true;
}

static bool fits_count(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].impl, offset) != probes[i].count)
			return false;
	return true;
}

static bool fits_data(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].storage, offset) != probes[i].data)
			return false;
	return true;
}

static bool fits_bytes(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		if (word_at(probes[i].storage, offset) != probes[i].bytes)
			return false;
	return true;
}

/* Short extents: sizes and strides stand in the implementation itself. */
static bool fits_sizes(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++) {
		const struct wti_layout_probe *probe = &probes[i];
		const char *at = probe->impl + offset;

		if (probe->rank > INLINE_RANK)
			continue;
		if (memcmp(at, probe->sizes, probe->rank * 8) != 0 ||
		    memcmp(at + INLINE_RANK * 8, probe->strides, probe->rank * 8) != 0)
			return false;
	}
	return true;
}

/* Long ones: a pointer to sizes, then strides. Asked only where the short ones fit. */
static bool fits_long_sizes(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++) {
		const struct wti_layout_probe *probe = &probes[i];
		const char *at = (const char *)(uintptr_t)word_at(probe->impl, offset);

		if (probe->rank <= INLINE_RANK)
			continue;
		if (memcmp(at, probe->sizes, probe->rank * 8) != 0 ||
		    memcmp(at + probe->rank * 8, probe->strides, probe->rank * 8) != 0)
			return false;
	}
	return true;
}

static bool fits_code(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if ((half_at(probes[i].impl, offset) == half_at(probes[j].impl, offset)) !=
			    (probes[i].dtype == probes[j].dtype))
				return false;
	return true;
}

static bool fits_keys(const struct wti_layout_probe *probes, size_t count, int offset)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if ((word_at(probes[i].impl, offset) == word_at(probes[j].impl, offset)) !=
			    (probes[i].kind == probes[j].kind))
				return false;
	return true;
}

/*
 * The offset at which something fits; -1 if there is none, or more than one. A storage may say
 * where its data is a second time, for those who free it: there the first will do.
 */
static int look_for(fits *fit, const struct wti_layout_probe *probes, size_t count, int from,
		    int to, int by)
{
	int found = -1;

	for (int offset = from; offset < to; offset += by) {
		if (!fit(probes, count, offset))
			continue;
		if (found >= 0)
			return fit == fits_data ? found : -1;
		found = offset;
	}
	return found;
}

/* What is looked for, where, and how far apart it may lie. */
static const struct {
	const char *name;
	size_t field; /* in struct wti_tensor_layout */
	fits *fit;
	int from;
	int to;
	int by;
} things[] = {
	{"implementation", offsetof(struct wti_tensor_layout, impl), fits_impl, 16, OBJECT_BYTES,
	 8},
	{"storage", offsetof(struct wti_tensor_layout, storage), fits_storage, 8, IMPL_BYTES, 8},
	{"rank", offsetof(struct wti_tensor_layout, rank), fits_rank, 8, IMPL_BYTES, 8},
	{"sizes", offsetof(struct wti_tensor_layout, sizes), fits_sizes, 8, IMPL_BYTES - 80, 8},
	{"offset", offsetof(struct wti_tensor_layout, offset), fits_offset, 8, IMPL_BYTES, 8},
	{"count", offsetof(struct wti_tensor_layout, count), fits_count, 8, IMPL_BYTES, 8},
	{"type", offsetof(struct wti_tensor_layout, code), fits_code, 8, IMPL_BYTES, 2},
	{"keys", offsetof(struct wti_tensor_layout, keys), fits_keys, 8, IMPL_BYTES, 8},
	{"data", offsetof(struct wti_tensor_layout, data), fits_data, 8, STORAGE_BYTES, 8},
	{"bytes", offsetof(struct wti_tensor_layout, bytes), fits_bytes, 8, STORAGE_BYTES, 8},
};

/* How far into an implementation what is looked at reaches. */
static size_t reach_of(const struct wti_tensor_layout *found)
{
	const int words[] = {found->storage, found->rank, found->offset,
			     found->count,   found->code, found->keys};
	int reach = found->sizes + 2 * INLINE_RANK * 8;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] + 8 > reach)
			reach = words[i] + 8;
	return (size_t)reach;
}

/* The first thing that was not found, or NULL: all were. */
static const char *find_layout(const struct wti_layout_probe *probes, size_t count,
			       struct wti_tensor_layout *ret)
{
	struct wti_tensor_layout found = {.is_known = true};

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		int offset = look_for(things[i].fit, probes, count, things[i].from, things[i].to,
				      things[i].by);

		if (offset < 0)
			return things[i].name;
		memcpy((char *)&found + things[i].field, &offset, sizeof(offset));
	}
	if (!fits_long_sizes(probes, count, found.sizes))
		return "long sizes";
	found.impl_bytes = reach_of(&found);
	*ret = found;
	return NULL;
}

/* ---- Probes from Python ---------------------------------------------------------------------- */

static bool read_extents(PyObject *tuple, int64_t *ret, uint32_t rank)
{
	if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != rank)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		ret[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
	return !PyErr_Occurred();
}

static bool read_probe(PyObject *tuple, struct wti_layout_probe *probe)
{
	unsigned long long impl, storage, data, bytes, offset;
	PyObject *object, *sizes, *strides;

	if (!PyArg_ParseTuple(tuple, "OKKKKKIIOO", &object, &impl, &storage, &data, &bytes, &offset,
			      &probe->dtype, &probe->kind, &sizes, &strides))
		return false;
	probe->object = (const char *)object;
	probe->impl = (const char *)(uintptr_t)impl;
	probe->storage = (const char *)(uintptr_t)storage;
	probe->data = data;
	probe->bytes = bytes;
	probe->offset = offset;
	if (!PyTuple_Check(sizes) || PyTuple_GET_SIZE(sizes) > 8)
		return false;
	probe->rank = (uint32_t)PyTuple_GET_SIZE(sizes);
	if (!read_extents(sizes, probe->sizes, probe->rank) ||
	    !read_extents(strides, probe->strides, probe->rank))
		return false;
	probe->count = 1;
	for (uint32_t i = 0; i < probe->rank; i++)
		probe->count *= (uint64_t)probe->sizes[i];
	return probe->impl && probe->storage;
}

bool wti_layout_learn(PyObject *list)
{
	struct wti_layout_probe *probes = wti_tensor_state.probes;
	Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
	const char *missing;

	if (count < 8 || count > WTI_PROBES_MAX) {
		PyErr_SetString(PyExc_ValueError, "a list of 8 to 64 probes is needed");
		return false;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		if (!read_probe(PyList_GET_ITEM(list, i), &probes[i])) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_ValueError, "bad probe");
			return false;
		}
	}
	wti_tensor_state.layout.is_known = false;
	missing = find_layout(probes, (size_t)count, &wti_tensor_state.layout);
	if (missing)
		PyErr_Format(PyExc_LookupError, "tensors are laid out in a way unknown here: no %s",
			     missing);
	return !missing;
}

bool wti_layout_known(void)
{
	return wti_tensor_state.layout.is_known;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool describe(PyObject *tensor, struct wti_tensor_kind *kind)
{
	struct wti_guard guard;
	PyObject *emitted = NULL;
	const char *device = NULL;
	const char *name = NULL;
	int conjugate = 0, negative = 0;
	bool done = false;

	wti_own_call_begin(&guard);
	if (wti_python.callbacks)
		emitted = PyObject_CallMethod(wti_python.callbacks, "describe", "O", tensor);
	if (emitted && PyArg_ParseTuple(emitted, "sIIspp", &name, &kind->dtype, &kind->item_bytes,
					&device, &conjugate, &negative)) {
		kind->is_readable = !*name && kind->item_bytes &&
				    wti_dtype_bytes(kind->dtype) == kind->item_bytes;
		kind->is_conjugate = conjugate;
		kind->is_negative = negative;
		kind->device = wti_name_find(device, strlen(device));
		kind->name = *name ? wti_name_find(name, strlen(name)) : NULL;
		done = true;
	}
	wti_own_call_end(&guard);
	Py_XDECREF(emitted);
	return done;
}

/* `tensor` NULL: only if it has been seen before. */
static const struct wti_tensor_kind *kind_of(PyObject *tensor, uint64_t keys, uint32_t code)
{
	struct wti_tensor_kind kind = {.keys = keys, .code = code};

	for (size_t i = 0; i < wti_tensor_state.kind_count; i++)
		if (wti_tensor_state.kinds[i].keys == keys &&
		    wti_tensor_state.kinds[i].code == code)
			return &wti_tensor_state.kinds[i];
	if (!tensor || wti_tensor_state.kind_count == WTI_TENSOR_KINDS_MAX ||
	    !describe(tensor, &kind))
		return NULL;
	wti_tensor_state.kinds[wti_tensor_state.kind_count] = kind;
	return &wti_tensor_state.kinds[wti_tensor_state.kind_count++];
}

/* Memory that hangs on a tensor: another thread may exchange it. */
static bool fetch(void *to, const void *from, size_t bytes, bool is_guarded)
{
	if (is_guarded)
		return wti_guarded_copy(to, from, bytes);
	memcpy(to, from, bytes);
	return true;
}

static bool read_shape(const char *impl, struct wti_tensor *ret)
{
	uint64_t rank = word_at(impl, wti_tensor_state.layout.rank);
	const char *at = impl + wti_tensor_state.layout.sizes;

	if (rank > WTI_RANK_MAX)
		return false;
	ret->rank = (uint32_t)rank;
	if (rank > INLINE_RANK) {
		at = (const char *)(uintptr_t)word_at(impl, wti_tensor_state.layout.sizes);
		return fetch(ret->sizes, at, rank * 8, ret->is_guarded) &&
		       fetch(ret->strides, at + rank * 8, rank * 8, ret->is_guarded);
	}
	/* All there is room for: so many are copied without a call. */
	memcpy(ret->sizes, at, INLINE_RANK * 8);
	memcpy(ret->strides, at + INLINE_RANK * 8, INLINE_RANK * 8);
	return true;
}

/* True if the extents make the count. */
static bool count_is(const struct wti_tensor *tensor)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < tensor->rank; i++)
		if (tensor->sizes[i] < 0 ||
		    __builtin_mul_overflow(count, (uint64_t)tensor->sizes[i], &count))
			return false;
	return count == tensor->count;
}

/* True if all elements lie within the storage. */
static bool is_within(const struct wti_tensor *tensor, uint64_t offset, uint64_t bytes)
{
	uint64_t last = offset;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		uint64_t reach;

		if (tensor->sizes[i] < 0 || tensor->strides[i] < 0)
			return false;
		if (tensor->sizes[i] == 0)
			return true;
		if (__builtin_mul_overflow((uint64_t)tensor->sizes[i] - 1,
					   (uint64_t)tensor->strides[i], &reach) ||
		    __builtin_add_overflow(last, reach, &last))
			return false;
	}
	return last < UINT64_MAX / 16 - 1 && (last + 1) * tensor->item_bytes <= bytes;
}

/* Where its elements begin; NULL: it has no memory, or has given it back. */
static const void *read_data(const char *impl, const struct wti_tensor *tensor)
{
	const char *storage =
		(const char *)(uintptr_t)word_at(impl, wti_tensor_state.layout.storage);
	uint64_t offset = word_at(impl, wti_tensor_state.layout.offset);
	char copy[STORAGE_BYTES];
	uint64_t data;

	if (!storage || (tensor->is_guarded && !wti_guarded_copy(copy, storage, sizeof(copy))))
		return NULL;
	if (tensor->is_guarded)
		storage = copy;
	data = word_at(storage, wti_tensor_state.layout.data);
	if (!data || !is_within(tensor, offset, word_at(storage, wti_tensor_state.layout.bytes)))
		return NULL;
	return (const char *)(uintptr_t)data + offset * tensor->item_bytes;
}

/*
 * Another thread is changing it: it is there, and no more is known of it. To ask torch would be to
 * read the extents at the same time as they are given back.
 */
static void forget_shape(struct wti_tensor *ret)
{
	ret->data = NULL;
	ret->rank = 0;
	ret->count = ret->count ? ret->count : 1; /* without elements it would count as read */
}

static bool read_impl(PyObject *tensor, const char *impl, struct wti_tensor *ret)
{
	const struct wti_tensor_kind *kind;

	kind = kind_of(tensor, word_at(impl, wti_tensor_state.layout.keys),
		       half_at(impl, wti_tensor_state.layout.code));
	ret->kind = kind ? kind->name : NULL;
	if (!kind || !kind->is_readable)
		return false;
	ret->dtype = kind->dtype;
	ret->item_bytes = ret->stride_unit = kind->item_bytes;
	ret->device = kind->device;
	ret->is_conjugate = kind->is_conjugate;
	ret->is_negative = kind->is_negative;
	ret->count = word_at(impl, wti_tensor_state.layout.count);
	if (!read_shape(impl, ret)) {
		forget_shape(ret);
		return true;
	}
	/* While another thread changes it, extents and count may be of two moments. */
	ret->data = count_is(ret) ? read_data(impl, ret) : NULL;
	return true;
}

bool wti_layout_read(PyObject *tensor, struct wti_tensor *ret)
{
	const char *impl = (const char *)(uintptr_t)word_at((const char *)tensor,
							    wti_tensor_state.layout.impl);

	if (!wti_tensor_state.layout.is_known || !impl)
		return false;
	ret->impl = impl;
	ret->is_guarded = wti_must_guard();
	return read_impl(tensor, impl, ret);
}

bool wti_layout_read_loose(const void *impl, struct wti_tensor *ret)
{
	_Alignas(8) char copy[IMPL_BYTES];

	if (!wti_tensor_state.layout.is_known ||
	    !wti_guarded_copy(copy, impl, wti_tensor_state.layout.impl_bytes))
		return false;
	ret->impl = impl;
	ret->is_guarded = true;
	return read_impl(NULL, copy, ret);
}

bool wti_layout_holds(const struct wti_tensor *tensor)
{
	struct wti_tensor now = {.is_guarded = true, .item_bytes = tensor->item_bytes};
	_Alignas(8) char impl[IMPL_BYTES];

	return wti_guarded_copy(impl, tensor->impl, wti_tensor_state.layout.impl_bytes) &&
	       read_shape(impl, &now) && now.rank == tensor->rank &&
	       memcmp(now.sizes, tensor->sizes, now.rank * sizeof(now.sizes[0])) == 0 &&
	       memcmp(now.strides, tensor->strides, now.rank * sizeof(now.strides[0])) == 0 &&
	       read_data(impl, &now) == tensor->data && wti_seen_grad_holds(tensor);
}
