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
	PyObject *depth = NULL;

	if (wti_python.override_count)
		depth = PyObject_CallObject(wti_python.override_count, NULL);
	wti_python_thread.has_overrides = depth && PyLong_Check(depth) && PyLong_AsLong(depth) != 0;
	Py_XDECREF(depth);
	PyErr_Clear();
}

PyObject *wti_overrides_off(void)
{
	PyObject *guard = PyObject_CallObject(wti_python.overrides_off, NULL);
	PyObject *entered = guard ? PyObject_CallMethod(guard, "__enter__", NULL) : NULL;

	if (!entered)
		Py_CLEAR(guard);
	Py_XDECREF(entered);
	PyErr_Clear();
	return guard;
}

void wti_overrides_on_again(PyObject *guard)
{
	PyObject *left = PyObject_CallMethod(guard, "__exit__", "OOO", Py_None, Py_None, Py_None);

	Py_XDECREF(left);
	Py_DECREF(guard);
	PyErr_Clear();
}
