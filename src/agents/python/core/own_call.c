/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of ours into Python, kept from the program: its debuggers, tracers and profilers do not
 * see them, its handlers of signals wait, and a failure of ours is forgotten. A signal that
 * another thread takes is handled here all the same, in the middle of our code; what the handler
 * raises is meant for the program, which gets it in the place where it would have come a moment
 * later.
 */
#include "pyagent.h"

void wti_own_call_set_thrown(PyObject *part)
{
	Py_INCREF(part);
	Py_XSETREF(wti_python.thrown_part, part);
}

/* The interpreter's pending calls run on the main thread, as handlers do. */
static int raise_again(void *exception)
{
	PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)exception), exception);
	Py_DECREF((PyObject *)exception);
	return -1;
}

/* False: no handler has raised it. Its traceback begins in the handler again. */
static bool give_back(PyObject *exception)
{
	PyObject *traceback = PyException_GetTraceback(exception);
	PyObject *part = NULL;
	bool is_given = false;

	if (traceback && wti_python.thrown_part)
		part = PyObject_CallFunctionObjArgs(wti_python.thrown_part, traceback, NULL);
	if (part && part != Py_None && PyException_SetTraceback(exception, part) == 0) {
		Py_INCREF(exception);
		is_given = Py_AddPendingCall(raise_again, exception) == 0;
		if (!is_given)
			Py_DECREF(exception);
	}
	PyErr_Clear();
	Py_XDECREF(part);
	Py_XDECREF(traceback);
	return is_given;
}

void wti_own_call_failed(void)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	if (!type)
		return;
	PyErr_NormalizeException(&type, &value, &traceback);
	if (traceback)
		PyException_SetTraceback(value, traceback);
	if (!give_back(value)) {
		if (type == PyExc_KeyboardInterrupt)
			PyErr_SetInterrupt();
		else if (!PyErr_GivenExceptionMatches(type, PyExc_Exception))
			PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

void wti_own_call_begin(struct wti_guard *guard)
{
	wti_guard_begin(guard);
	wti_tracing_off(PyThreadState_Get());
}

void wti_own_call_end(const struct wti_guard *guard)
{
	if (PyErr_Occurred())
		wti_own_call_failed();
	wti_tracing_on(PyThreadState_Get());
	wti_guard_end(guard);
}

void wti_callback(const char *method, PyObject *argument)
{
	struct wti_guard guard;
	PyObject *result;

	if (!wti_python.callbacks)
		return;
	wti_own_call_begin(&guard);
	result = PyObject_CallMethod(wti_python.callbacks, method, "(O)", argument);
	wti_own_call_end(&guard);
	Py_XDECREF(result);
}
