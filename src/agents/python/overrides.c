/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function modes: a program can ask torch to be told of everything that is done with tensors on a
 * thread, even of attributes that are read. Ours are none of its business. Whether a thread has
 * such modes is asked when one is pushed or popped; while it has, torch is told to leave them out
 * around all that we do.
 */
#include "pyagent.h"

/* A mode was pushed or popped. */
void wti_overrides_changed(void)
{
	struct wti_guard guard;
	PyObject *depth = NULL;

	wti_ask_begin(&guard);
	if (wti_python.override_count)
		depth = PyObject_CallObject(wti_python.override_count, NULL);
	wti_python_thread.has_overrides = depth && PyLong_Check(depth) && PyLong_AsLong(depth) != 0;
	Py_XDECREF(depth);
	wti_ask_end(&guard);
}

PyObject *wti_overrides_off(void)
{
	struct wti_guard guard;
	PyObject *off, *entered;

	wti_ask_begin(&guard);
	off = PyObject_CallObject(wti_python.overrides_off, NULL);
	entered = off ? PyObject_CallMethod(off, "__enter__", NULL) : NULL;
	if (!entered)
		Py_CLEAR(off);
	Py_XDECREF(entered);
	wti_ask_end(&guard);
	return off;
}

void wti_overrides_on_again(PyObject *off)
{
	struct wti_guard guard;
	PyObject *left;

	wti_ask_begin(&guard);
	left = PyObject_CallMethod(off, "__exit__", "OOO", Py_None, Py_None, Py_None);
	Py_XDECREF(left);
	Py_DECREF(off);
	wti_ask_end(&guard);
}
