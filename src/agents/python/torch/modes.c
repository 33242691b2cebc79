/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modes that a call runs in: gradients, autocast, inference. The shim reports them if it has
 * done so rightly in each; otherwise torch's own functions are called.
 */
#include "own.h"

#include "python/shim/host.h"

/* In the order of set_modes(): some versions of torch have autocast twice. */
uint32_t wti_modes_asked(void)
{
	static const uint32_t bits[WTI_MODES] = {WT_CALL_GRAD, WT_CALL_AUTOCAST, WT_CALL_INFERENCE,
						 WT_CALL_AUTOCAST};
	uint32_t modes = 0;

	for (int i = 0; i < WTI_MODES && wti_torch_state.modes[i]; i++) {
		PyObject *is = PyObject_CallNoArgs(wti_torch_state.modes[i]);

		if (is == Py_True)
			modes |= bits[i];
		if (!is)
			PyErr_Clear();
		Py_XDECREF(is);
	}
	return modes;
}

void wti_modes_look(void)
{
	struct wti_torch_thread *thread = &wti_torch_thread;

	if (!wti_shim_modes(&thread->modes))
		thread->modes = wti_modes_asked();
	thread->modes_known = true;
}

/* set_modes(functions): that return whether gradients, autocast and inference mode are on */
static PyObject *set_modes(PyObject *self, PyObject *functions)
{
	if (!PyTuple_Check(functions) || PyTuple_GET_SIZE(functions) > WTI_MODES)
		return PyErr_Format(PyExc_TypeError, "a tuple of up to %d functions", WTI_MODES);
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(functions); i++) {
		Py_INCREF(PyTuple_GET_ITEM(functions, i));
		Py_XSETREF(wti_torch_state.modes[i], PyTuple_GET_ITEM(functions, i));
	}
	Py_RETURN_NONE;
}

/* modes_agree(): whether the shim reports the same of this thread, now */
static PyObject *modes_agree(PyObject *self, PyObject *nothing)
{
	return PyBool_FromLong(wti_shim_modes_are(wti_modes_asked()));
}

/* trust_modes(is_right): whether it did in each mode */
static PyObject *trust_modes(PyObject *self, PyObject *is_right)
{
	wti_shim_modes_trust(is_right == Py_True);
	Py_RETURN_NONE;
}

PyMethodDef wti_modes_methods[] = {
	{"set_modes", set_modes, METH_O, NULL},
	{"modes_agree", modes_agree, METH_NOARGS, NULL},
	{"trust_modes", trust_modes, METH_O, NULL},
	{NULL},
};
