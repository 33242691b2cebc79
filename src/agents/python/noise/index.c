/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that are taken out of numpy's arrays, and put into them: `a[i, j]`, `for x in a`,
 * `a[i] = x`. Nothing is rounded there; they are emitted because values are followed by their
 * digests, and that of a number is not that of the array.
 *
 * Each time the array has to be read as a whole. So that a loop over a large array stays linear, a
 * thread may read only so many elements for each number, and some more; what is beyond that is not
 * emitted. The limit counts elements, not time: it is the same in every run.
 */
#include "own.h"

#include <errno.h>

enum {
	ELEMENTS_EACH = 64,
	ELEMENTS_MORE = 1 << 20,
};

static bool is_affordable(PyObject *array, uint64_t times)
{
	const uint64_t limit = ELEMENTS_MORE + ++wti_noise_thread.index_count * ELEMENTS_EACH;
	struct wti_tensor tensor;
	Py_buffer room;

	if (!wti_python.is_on || wti_python_thread.inside ||
	    !wti_tensor_look(array, &tensor, &room))
		return false;
	wti_tensor_release(&tensor);
	if (tensor.count > ELEMENTS_MORE ||
	    wti_noise_thread.index_cost + tensor.count * times > limit)
		return false;
	wti_noise_thread.index_cost += tensor.count * times;
	return true;
}

static PyObject *get(PyObject *self, PyObject *index)
{
	PyObject *arguments[] = {self, index};
	PyObject *result = wti_noise_state.indexing.get(self, index);

	if (result && wti_scalar_is(result) && is_affordable(self, 1))
		wti_noise_emit(&wti_noise_state.indexing.get_hook, arguments, 2, result);
	return result;
}

/* An iterator comes this way. */
static PyObject *item(PyObject *self, Py_ssize_t index)
{
	PyObject *result = wti_noise_state.indexing.item(self, index);

	if (result && wti_scalar_is(result) && is_affordable(self, 1))
		wti_noise_emit(&wti_noise_state.indexing.get_hook, &self, 1, result);
	return result;
}

/* The array is emitted as it was, and as it is then: what is put in may be better, or worse. */
static int set(PyObject *self, PyObject *index, PyObject *value)
{
	PyObject *arguments[] = {self, index, value};
	struct wti_hooked_call call = {.hook = &wti_noise_state.indexing.set_hook};
	int saved_errno = errno, status;

	if (!value || !(wti_scalar_is(value) || PyFloat_CheckExact(value)) ||
	    !is_affordable(self, 2) || !wti_call_wanted(call.hook, &call.place))
		return wti_noise_state.indexing.set(self, index, value);
	wti_call_begin(&call, arguments, 3, NULL);
	errno = saved_errno;
	status = wti_noise_state.indexing.set(self, index, value);
	saved_errno = errno;
	wti_call_end(&call, arguments, 3, status < 0 ? NULL : self);
	errno = saved_errno;
	return status;
}

static void name_hook(struct wti_hook *hook, PyObject *type, struct wt_name *callee)
{
	hook->object = type;
	hook->module = WT_NAME("numpy");
	hook->callee = callee;
}

PyObject *wti_noise_hook_index(PyObject *self, PyObject *object)
{
	PyTypeObject *type = (PyTypeObject *)object;

	if (!PyType_Check(object) || PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
	    wti_noise_state.indexing.get || !type->tp_as_mapping || !type->tp_as_sequence ||
	    !type->tp_as_mapping->mp_subscript || !type->tp_as_mapping->mp_ass_subscript ||
	    !type->tp_as_sequence->sq_item)
		Py_RETURN_FALSE;
	Py_INCREF(object);
	name_hook(&wti_noise_state.indexing.get_hook, object, WT_NAME("ndarray.__getitem__"));
	name_hook(&wti_noise_state.indexing.set_hook, object, WT_NAME("ndarray.__setitem__"));
	wti_noise_state.indexing.get = type->tp_as_mapping->mp_subscript;
	wti_noise_state.indexing.set = type->tp_as_mapping->mp_ass_subscript;
	wti_noise_state.indexing.item = type->tp_as_sequence->sq_item;
	type->tp_as_mapping->mp_subscript = get;
	type->tp_as_mapping->mp_ass_subscript = set;
	type->tp_as_sequence->sq_item = item;
	Py_RETURN_TRUE;
}
