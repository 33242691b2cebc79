/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors as records. Knows two ways to what a tensor is: torch's own layout (layout.c), or what
 * the Python side reports of a tensor that has none. Other arrays are array.c's.
 */
#include "own.h"

#include <string.h>

#include "common/blob.h"
#include "digest/sample.h"

struct wti_tensor_state wti_tensor_state;

bool wti_tensor_init(void)
{
	const struct wti_own_word words[] = {
		{&wti_tensor_state.words.requires_grad, "requires_grad"},
		{&wti_tensor_state.words.torch_function, "__torch_function__"},
		{&wti_tensor_state.words.exchange, "__dlpack_c_exchange_api__"},
		{&wti_tensor_state.words.buffer, "__buffer__"},
	};

	return wti_words_make(words, sizeof(words) / sizeof(words[0]));
}

void wti_tensor_set_types(PyObject *base, PyObject *tensor, PyObject *parameter)
{
	Py_INCREF(base);
	Py_INCREF(tensor);
	Py_INCREF(parameter);
	Py_XSETREF(wti_tensor_state.tensor_type, (PyTypeObject *)base);
	Py_XSETREF(wti_tensor_state.plain_types[0], (PyTypeObject *)tensor);
	Py_XSETREF(wti_tensor_state.plain_types[1], (PyTypeObject *)parameter);
}

bool wti_tensor_is(PyObject *object)
{
	const PyTypeObject *type = Py_TYPE(object);

	/* Nearly all are of these two: no need to walk through what the type is derived from. */
	if (type == wti_tensor_state.plain_types[0] || type == wti_tensor_state.plain_types[1])
		return true;
	return wti_tensor_state.tensor_type &&
	       PyObject_TypeCheck(object, wti_tensor_state.tensor_type);
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

/* ---- Looking --------------------------------------------------------------------------------- */

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
	struct wti_guard guard;
	PyObject *emitted = NULL, *sizes;
	const char *device;
	int requires_grad;
	bool done = false;

	wti_own_call_begin(&guard);
	if (wti_python.callbacks)
		emitted = PyObject_CallMethod(wti_python.callbacks, "describe_shape", "O", object);
	if (emitted &&
	    PyArg_ParseTuple(emitted, "IIsOp", &ret->dtype, &ret->item_bytes, &device, &sizes,
			     &requires_grad) &&
	    read_sizes(sizes, ret)) {
		ret->requires_grad = requires_grad;
		ret->device = wti_name_find(device, strlen(device));
		done = true;
	}
	wti_own_call_end(&guard);
	Py_XDECREF(emitted);
	return done;
}

/* Of a type whose attributes are torch's own: to ask a subclass would run the program's code. */
static bool is_plain(PyObject *object)
{
	return Py_IS_TYPE(object, wti_tensor_state.plain_types[0]) ||
	       Py_IS_TYPE(object, wti_tensor_state.plain_types[1]);
}

bool wti_tensor_is_tame(PyObject *tensor)
{
	PyTypeObject *type = Py_TYPE(tensor);
	PyObject *name = wti_tensor_state.words.torch_function;
	PyObject *function;

	if (type == wti_tensor_state.plain_types[0] || type == wti_tensor_state.plain_types[1])
		return true;
	function = _PyType_Lookup(type, name);
	return function && (function == _PyType_Lookup(wti_tensor_state.plain_types[0], name) ||
			    function == _PyType_Lookup(wti_tensor_state.plain_types[1], name));
}

bool wti_tensor_requires_grad(PyObject *object, bool *ret)
{
	PyObject *flag;

	if (wti_seen_requires_grad(object, ret))
		return true;
	if (!is_plain(object))
		return false;
	flag = PyObject_GetAttr(object, wti_tensor_state.words.requires_grad);
	*ret = flag == Py_True;
	Py_XDECREF(flag);
	PyErr_Clear();
	return true;
}

static bool look_at_torch(PyObject *object, struct wti_tensor *ret)
{
	/* Where the layout is known, what it does not read is not to be read. */
	if (wti_layout_known() ? !wti_layout_read(object, ret) : !wti_seen_look(object, ret)) {
		ret->data = NULL;
		return look_by_asking(object, ret);
	}
	ret->is_packed = wti_tensor_is_packed(ret);
	wti_tensor_requires_grad(object, &ret->requires_grad);
	return true;
}

bool wti_tensor_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room)
{
	ret->data = NULL;
	ret->buffer = NULL;
	ret->device = NULL;
	ret->object = object;
	ret->is_late = ret->is_hash_alone = false;
	ret->kind = NULL;
	ret->impl = NULL;
	ret->parameter = NULL;
	ret->dtype = WT_DTYPE_OTHER;
	ret->is_packed = true;
	ret->is_conjugate = ret->is_negative = ret->is_guarded = false;
	ret->requires_grad = false;
	return wti_tensor_is(object) ? look_at_torch(object, ret)
				     : wti_array_look(object, ret, room);
}

void wti_tensor_release(struct wti_tensor *tensor)
{
	if (tensor->buffer)
		PyBuffer_Release(tensor->buffer);
	tensor->buffer = NULL;
}

/* ---- Emitting -------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct wti_tensor *tensor, bool is_read)
{
	return (tensor->requires_grad ? WT_TENSOR_REQUIRES_GRAD : 0) |
	       (tensor->is_packed ? 0 : WT_TENSOR_STRIDED) |
	       (tensor->is_late ? WT_TENSOR_LATE : 0) |
	       (is_read && !tensor->is_hash_alone ? 0 : WT_TENSOR_NO_STATISTICS) |
	       (is_read ? 0 : WT_TENSOR_NO_HASH);
}

static bool give(void *self, wti_blob_put *put, void *with)
{
	return wti_tensor_bytes(self, put, with);
}

/* Its bytes too, if they are wanted. */
static uint32_t keep(const struct wti_tensor *tensor, const struct wt_digest *digest)
{
	const struct wti_blob blob = {
		.hash = digest->hash,
		.bytes = tensor->count * tensor->item_bytes,
		.give = give,
		.self = (void *)(uintptr_t)tensor,
	};

	if (wti_python.tensors != WTI_TENSORS_FULL || !tensor->data)
		return 0;
	return wti_blob_keep(&blob) ? WT_TENSOR_BLOB : WT_TENSOR_BLOB_LOST;
}

/* Returns false if it is lost. */
static bool emit(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
		 const struct wt_digest *digest, uint32_t more_flags, uint32_t *ret_seq)
{
	const struct wti_here here = wti_here();
	const struct wt_digest none = {.count = tensor->count};
	struct wti_record_tensor *record;
	uint32_t ids[5], kept;

	if (!here.ring)
		return false;
	kept = digest ? keep(tensor, digest) : 0;
	ids[0] = names->name ? wti_name(here, names->name) : 0;
	ids[1] = names->owner ? wti_name(here, names->owner) : 0;
	ids[2] = wti_name(here, names->shape ? names->shape : wti_shape_name(tensor));
	ids[3] = tensor->device ? wti_name(here, tensor->device) : 0;
	ids[4] = tensor->kind ? wti_name(here, tensor->kind) : 0;
	record = wti_open(here, WT_KIND_TENSOR, sizeof(*record));
	if (!record)
		return false;
	record->flags = flags_of(tensor, digest != NULL) | kept | more_flags;
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
	record->sort = ids[4];
	*ret_seq = record->record.seq;
	return wti_commit(here, sizeof(*record));
}

/* With some of its elements, if the recording wants them. */
static void emit_sampled(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
			 const struct wt_digest *digest)
{
	struct wti_sampled_value value = {
		.dtype = tensor->dtype,
		.count = tensor->count,
		.hash = digest ? digest->hash : 0,
		.has_hash = digest != NULL,
	};

	if (wti_sampled_is_known(&value))
		emit(tensor, names, digest, WT_TENSOR_SAMPLED, &value.tensor);
	else if (!emit(tensor, names, digest, 0, &value.tensor))
		return;
	else if (wti_tensor_is_direct(tensor))
		wti_sampled_emit_packed(&value, tensor->data);
	else
		wti_sampled_emit(&value, give, (void *)(uintptr_t)tensor);
}

void wti_tensor_emit(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
		     const struct wt_digest *digest)
{
	uint32_t seq;

	if (wti_unlikely(wti_agent.elements) && tensor->data)
		emit_sampled(tensor, names, digest);
	else
		emit(tensor, names, digest, 0, &seq);
	if (wti_likely(digest || !tensor->kind || !tensor->object))
		return;
	if (strcmp(tensor->kind->text, "device") == 0) {
		wti_late_begin(tensor, names);
		wti_late_poll();
	}
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void emit_part(PyObject *part, const struct wti_tensor_names *names, uint64_t bytes_max)
{
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;
	bool is_read;

	if (!wti_tensor_look(part, &tensor, &room))
		return;
	is_read = tensor.data && tensor.count <= bytes_max / tensor.item_bytes &&
		  wti_recent_digest(&tensor, &digest);
	wti_tensor_emit(&tensor, names, is_read ? &digest : NULL);
	wti_tensor_release(&tensor);
}

void wti_tensor_emit_parts(PyObject *object, const struct wti_tensor *whole,
			   const struct wti_tensor_names *names, uint64_t bytes_max)
{
	struct wti_guard guard;
	PyObject *parts;

	if (!bytes_max || !wti_python.callbacks || strncmp(whole->kind->text, "sparse", 6) != 0)
		return;
	wti_own_call_begin(&guard);
	parts = PyObject_CallMethod(wti_python.callbacks, "parts", "O", object);
	wti_own_call_end(&guard);
	if (parts && PyTuple_Check(parts)) {
		for (Py_ssize_t i = 0; i + 1 < PyTuple_GET_SIZE(parts); i += 2) {
			struct wti_tensor_names inner = *names;

			inner.name = wti_name_joined(names->name, PyTuple_GET_ITEM(parts, i), -1);
			emit_part(PyTuple_GET_ITEM(parts, i + 1), &inner, bytes_max);
		}
	}
	PyErr_Clear();
	Py_XDECREF(parts);
}
