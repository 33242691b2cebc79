/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function modes: a program can have torch show it everything that is done with tensors on a
 * thread, even attributes that are read. Ours are none of its business. Whether a thread has
 * such modes is asked when one is pushed or popped; while it has, torch is made to leave them out
 * around all that we do.
 */
#include "own.h"

void wti_overrides_set(PyObject *count, PyObject *off)
{
	Py_INCREF(count);
	Py_INCREF(off);
	Py_XSETREF(wti_torch_state.override_count, count);
	Py_XSETREF(wti_torch_state.overrides_off, off);
	wti_overrides_changed();
}

/* A mode was pushed or popped. */
void wti_overrides_changed(void)
{
	struct wti_guard guard;
	PyObject *depth = NULL;

	wti_own_call_begin(&guard);
	if (wti_torch_state.override_count)
		depth = PyObject_CallObject(wti_torch_state.override_count, NULL);
	wti_torch_thread.has_overrides = depth && PyLong_Check(depth) && PyLong_AsLong(depth) != 0;
	Py_XDECREF(depth);
	wti_own_call_end(&guard);
}

PyObject *wti_overrides_off(void)
{
	struct wti_guard guard;
	PyObject *off, *entered;

	wti_own_call_begin(&guard);
	off = PyObject_CallObject(wti_torch_state.overrides_off, NULL);
	entered = off ? PyObject_CallMethod(off, "__enter__", NULL) : NULL;
	if (!entered)
		Py_CLEAR(off);
	Py_XDECREF(entered);
	wti_own_call_end(&guard);
	return off;
}

void wti_overrides_on_again(PyObject *off)
{
	struct wti_guard guard;
	PyObject *left;

	wti_own_call_begin(&guard);
	left = PyObject_CallMethod(off, "__exit__", "OOO", Py_None, Py_None, Py_None);
	Py_XDECREF(left);
	Py_DECREF(off);
	wti_own_call_end(&guard);
}
