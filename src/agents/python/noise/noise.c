/* SPDX-License-Identifier: Apache-2.0 */
/* What the recording asks for, as the Python side has read it in the settings. */
#include "own.h"

struct wti_noise_state wti_noise_state = {.code_extra = -1};
__thread struct wti_noise_thread wti_noise_thread __attribute__((tls_model("initial-exec")));

const struct wti_shim_host *wti_noise_host(const struct wti_shim_host *host)
{
	if (wti_noise_state.noise.mode == WTI_NOISE_OFF)
		return host;
	wti_noise_state.host = *host;
	wti_noise_state.host.perturb = wti_noise_below;
	return &wti_noise_state.host;
}

static void take(PyObject **place, PyObject *tuple)
{
	Py_INCREF(tuple);
	Py_XSETREF(*place, tuple);
}

/* noise(mode, seed, only names, only lines, skip names, skip lines): before anything is hooked */
static PyObject *set_noise(PyObject *self, PyObject *arguments)
{
	PyObject *only_names, *only_lines, *skip_names, *skip_lines;
	struct wti_noise noise = {0};
	unsigned long long seed;
	const char *mode;

	if (!PyArg_ParseTuple(arguments, "sKO!O!O!O!", &mode, &seed, &PyTuple_Type, &only_names,
			      &PyTuple_Type, &only_lines, &PyTuple_Type, &skip_names, &PyTuple_Type,
			      &skip_lines))
		return NULL;
	if (!wti_noise_parse(mode, &noise))
		return PyErr_Format(PyExc_ValueError, "no such noise: '%.100s'", mode);
	noise.seed = seed;
	wti_noise_state.noise = noise;
	take(&wti_noise_state.only.names, only_names);
	take(&wti_noise_state.only.lines, only_lines);
	take(&wti_noise_state.skip.names, skip_names);
	take(&wti_noise_state.skip.lines, skip_lines);
	wti_python.by_user_line = noise.mode != WTI_NOISE_OFF;
	wti_hook_set_maker(noise.mode == WTI_NOISE_OFF ? NULL : wti_noise_hook);
	Py_RETURN_NONE;
}

/* rounding(module, name): what is done to numbers, as a word; for tests */
static PyObject *rounding(PyObject *self, PyObject *arguments)
{
	static const char *const words[] = {"unknown", "none",  "all",   "cast", "changed",
					    "method",  "first", "fused", "last", "silences"};
	const char *module, *name;

	if (!PyArg_ParseTuple(arguments, "ss", &module, &name))
		return NULL;
	return PyUnicode_FromString(words[wti_rounding_of(module, name)]);
}

PyMethodDef wti_noise_methods[] = {
	{"noise", set_noise, METH_VARARGS, NULL},
	{"noise_scalars", wti_noise_hook_scalars, METH_O, NULL},
	{"noise_floats", wti_noise_hook_floats, METH_NOARGS, NULL},
	{"noise_index", wti_noise_hook_index, METH_O, NULL},
	{"noise_type", wti_noise_hook_type, METH_O, NULL},
	{"rounding", rounding, METH_VARARGS, NULL},
	{NULL},
};
