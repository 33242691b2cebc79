/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors on an accelerator. Nobody waits for the device: a copy to the host is queued behind what
 * the program has queued, and emitted when it has arrived, as a tensor event of its own that names
 * the same call, position, owner and name. Until then, or if there is no room for a copy, there is
 * only the description that was emitted at once.
 *
 * An event of a call refers to the calls of its track, so that each thread emits its own copies.
 */
#include "own.h"

#include <string.h>

static void drop(uint32_t index)
{
	wti_tensor_state.late.count--;
	memmove(&wti_tensor_state.late.items[index], &wti_tensor_state.late.items[index + 1],
		(wti_tensor_state.late.count - index) * sizeof(wti_tensor_state.late.items[0]));
}

/* The copy is looked at as the bytes that it is. */
static void emit_copy(const struct wti_pending *item, PyObject *bytes)
{
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;

	if (!wti_tensor_look(bytes, &tensor, &room))
		return;
	if (tensor.data && tensor.is_packed && tensor.count >= item->count * item->item_bytes) {
		tensor.is_late = true;
		tensor.device = item->device;
		tensor.requires_grad = item->requires_grad;
		tensor.dtype = item->dtype;
		tensor.item_bytes = tensor.stride_unit = item->item_bytes;
		tensor.count = item->count;
		tensor.rank = 1;
		tensor.sizes[0] = (int64_t)item->count;
		tensor.strides[0] = 1;
		tensor.is_guarded = false; /* this memory is ours */
		if (wti_tensor_digest(&tensor, &digest))
			wti_tensor_emit(&tensor, &item->names, &digest);
	}
	wti_tensor_release(&tensor);
}

static PyObject *ask(PyObject *copy, const char *method)
{
	struct wti_guard guard;
	PyObject *answer;

	wti_own_call_begin(&guard);
	answer = PyObject_CallMethod(copy, method, NULL);
	wti_own_call_end(&guard);
	return answer;
}

/* False: it is not there yet. */
static bool take(const struct wti_pending *item)
{
	PyObject *answer = ask(item->copy, "ready");
	bool is_failed = !answer;
	bool is_ready = answer == Py_True;
	PyObject *bytes = is_ready ? PyObject_GetAttrString(item->copy, "buffer") : NULL;

	Py_XDECREF(answer);
	if (bytes) {
		emit_copy(item, bytes);
		Py_DECREF(bytes);
		answer = ask(item->copy, "done");
		Py_XDECREF(answer);
	}
	PyErr_Clear();
	return is_ready || is_failed;
}

void wti_late_poll(void)
{
	const struct wti_here here = wti_here();

	if (!wti_tensor_state.late.count || wti_tensor_state.late.is_busy || !here.ring)
		return;
	wti_tensor_state.late.is_busy = true;
	for (uint32_t i = 0; i < wti_tensor_state.late.count;) {
		struct wti_pending item = wti_tensor_state.late.items[i];

		if (item.generation != here.slot->generation) {
			drop(i); /* the reference is left: to give it up would touch the device */
			continue;
		}
		if (item.tid != here.slot->tid) {
			i++;
			continue;
		}
		if (!take(&item))
			break;
		drop(i);
		Py_DECREF(item.copy);
	}
	wti_tensor_state.late.is_busy = false;
}

/* Not in calls beyond what the level reads; states are only bounded by the scratch. */
static bool is_wanted(const struct wti_tensor *tensor, const struct wti_tensor_names *names)
{
	return wti_python.tensors != WTI_TENSORS_OFF && wti_python.callbacks &&
	       !wti_tensor_state.late.is_busy && wti_tensor_state.late.count < WTI_PENDING_MAX &&
	       tensor->count && tensor->item_bytes &&
	       wti_dtype_bytes(tensor->dtype) == tensor->item_bytes &&
	       (!names->call ||
		(tensor->count <= wti_python.digest_bytes_max / tensor->item_bytes &&
		 !wti_omits(WT_THINNED_DIGESTS)));
}

void wti_late_begin(const struct wti_tensor *tensor, const struct wti_tensor_names *names)
{
	const struct wti_here here = wti_here();
	struct wti_guard guard;
	PyObject *copy;

	if (!here.ring || !is_wanted(tensor, names))
		return;
	wti_tensor_state.late.is_busy = true;
	wti_own_call_begin(&guard);
	copy = PyObject_CallMethod(wti_python.callbacks, "copy_begin", "O", tensor->object);
	wti_own_call_end(&guard);
	wti_tensor_state.late.is_busy = false;
	if (!copy || copy == Py_None) {
		Py_XDECREF(copy);
		return;
	}
	wti_tensor_state.late.items[wti_tensor_state.late.count++] = (struct wti_pending){
		.copy = copy,
		.names = *names,
		.device = tensor->device,
		.dtype = tensor->dtype,
		.item_bytes = tensor->item_bytes,
		.count = tensor->count,
		.tid = here.slot->tid,
		.generation = here.slot->generation,
		.requires_grad = tensor->requires_grad,
	};
	if (!names->shape)
		wti_tensor_state.late.items[wti_tensor_state.late.count - 1].names.shape =
			wti_shape_name(tensor);
}
