/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension module _wheeltap: what the Python side of the agent (the package wheeltap) may
 * call. That side decides what is hooked and knows torch's names; this side does the work.
 */
#include "python/core/pyagent.h"

#include <string.h>

#include "common/text.h"
#include "python/hook/hook.h"
#include "python/noise/noise.h"
#include "python/shim/host.h"
#include "python/state/state.h"
#include "python/tensor/tensor.h"
#include "python/torch/torch.h"

enum { SETTINGS_BYTES_MAX = 1 << 20 }; /* the recorder's own ceiling */

/* ---- Setting up ------------------------------------------------------------------------------ */

static PyObject *configure(PyObject *self, PyObject *arguments, PyObject *words)
{
	static char *names[] = {"detail", "tensors", "digest_bytes_max", "libraries", NULL};
	unsigned long long bytes_max;
	unsigned detail, tensors;
	PyObject *libraries;

	if (!PyArg_ParseTupleAndKeywords(arguments, words, "IIKO!", names, &detail, &tensors,
					 &bytes_max, &PyTuple_Type, &libraries))
		return NULL;
	if (detail > WTI_DETAIL_FULL || tensors > WTI_TENSORS_FULL)
		return PyErr_Format(PyExc_ValueError, "no such level");
	if (!wti_site_init())
		return PyErr_Format(PyExc_RuntimeError, "no room for notes on code objects");
	wti_python.detail = detail;
	wti_python.tensors = tensors;
	wti_python.digest_bytes_max = bytes_max;
	Py_INCREF(libraries);
	Py_XSETREF(wti_python.library_prefixes, libraries);
	Py_RETURN_NONE;
}

/* set_thrown(part): wheeltap._thrown.part */
static PyObject *set_thrown(PyObject *self, PyObject *part)
{
	wti_own_call_set_thrown(part);
	Py_RETURN_NONE;
}

/* failed(exception): as if one of our callbacks had raised it */
static PyObject *failed(PyObject *self, PyObject *exception)
{
	PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
	wti_own_call_failed();
	Py_RETURN_NONE;
}

/* pace(budget, every, warmup, first, until, omitted) */
static PyObject *set_pace(PyObject *self, PyObject *arguments)
{
	struct wti_pace pace = {0};

	if (!PyArg_ParseTuple(arguments, "dIIIII", &pace.budget, &pace.every, &pace.warmup,
			      &pace.first, &pace.until, &pace.always))
		return NULL;
	wti_pace_set(&pace);
	Py_RETURN_NONE;
}

/* watch_functions(wanted): calls of the program's own functions, if wanted(module, name) is True */
static PyObject *watch_functions(PyObject *self, PyObject *wanted)
{
	return PyBool_FromLong(wti_frame_watch(wanted));
}

static PyObject *set_torch(PyObject *self, PyObject *arguments)
{
	PyObject *base, *tensor, *parameter, *module;

	if (!PyArg_ParseTuple(arguments, "O!O!O!O!", &PyType_Type, &base, &PyType_Type, &tensor,
			      &PyType_Type, &parameter, &PyType_Type, &module))
		return NULL;
	wti_tensor_set_types(base, tensor, parameter);
	wti_torch_set_module_type(module);
	Py_RETURN_NONE;
}

static PyObject *set_overrides(PyObject *self, PyObject *arguments)
{
	PyObject *count, *off;

	if (!PyArg_ParseTuple(arguments, "OO", &count, &off))
		return NULL;
	wti_overrides_set(count, off);
	Py_RETURN_NONE;
}

static PyObject *set_callbacks(PyObject *self, PyObject *callbacks)
{
	Py_INCREF(callbacks);
	Py_XSETREF(wti_python.callbacks, callbacks);
	Py_RETURN_NONE;
}

static PyObject *callbacks(PyObject *self, PyObject *nothing)
{
	PyObject *found = wti_python.callbacks ? wti_python.callbacks : Py_None;

	Py_INCREF(found);
	return found;
}

static PyObject *learn_layout(PyObject *self, PyObject *probes)
{
	if (!wti_layout_learn(probes))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *load_shim(PyObject *self, PyObject *arguments)
{
	const char *identity;
	PyObject *path;
	unsigned what;
	bool done;

	if (!PyArg_ParseTuple(arguments, "O&sI", PyUnicode_FSConverter, &path, &identity, &what))
		return NULL;
	done = wti_shim_load(PyBytes_AS_STRING(path), identity, what,
			     wti_noise_host(&wti_operator_host));
	Py_DECREF(path);
	if (!done)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *check_shim(PyObject *self, PyObject *probes)
{
	if (!wti_seen_check(probes))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *hook(PyObject *self, PyObject *arguments)
{
	PyObject *callable, *module, *name;
	unsigned flags = 0, handling = 0;
	const char *how;

	if (!PyArg_ParseTuple(arguments, "OUU|II", &callable, &module, &name, &flags, &handling))
		return NULL;
	if (!wti_handle_is(handling))
		return PyErr_Format(PyExc_ValueError, "no such handling");
	how = wti_hook_add(callable, wti_name_of_text(module), wti_name_of_text(name), flags,
			   handling);
	return how ? PyUnicode_FromString(how) : NULL;
}

/* hook_index(type, module), hook_attribute(descriptor, module, name) */
static PyObject *hook_index(PyObject *self, PyObject *arguments)
{
	PyObject *type, *module;

	if (!PyArg_ParseTuple(arguments, "O!U", &PyType_Type, &type, &module))
		return NULL;
	if (!wti_slot_index((PyTypeObject *)type, wti_name_of_text(module)))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *hook_attribute(PyObject *self, PyObject *arguments)
{
	PyObject *descriptor, *module, *name;

	if (!PyArg_ParseTuple(arguments, "OUU", &descriptor, &module, &name))
		return NULL;
	return PyBool_FromLong(
		wti_slot_attribute(descriptor, wti_name_of_text(module), wti_name_of_text(name)));
}

static PyObject *unhook(PyObject *self, PyObject *callable)
{
	wti_hook_remove(callable);
	Py_RETURN_NONE;
}

/* The program ends; `is_whole` if it has not been cut off in the middle of something. */
static PyObject *end(PyObject *self, PyObject *is_whole)
{
	if (is_whole == Py_True && wti_recording() && wti_context_ends_step(NULL, 0))
		wti_handle_step_over();
	PyErr_Clear();
	wti_hook_let_go();
	Py_RETURN_NONE;
}

static PyObject *is_hooked(PyObject *self, PyObject *callable)
{
	return PyBool_FromLong(wti_hook_is(callable));
}

/* missed(): whether something may have been made while recording was stopped; asked once */
static PyObject *missed(PyObject *self, PyObject *nothing)
{
	return PyBool_FromLong(wti_hook_missed());
}

static PyObject *start(PyObject *self, PyObject *nothing)
{
	wti_python.is_on = wti_agent.control != NULL && wti_python.code_extra >= 0;
	if (wti_python.is_on && !wti_python.is_counted) {
		wti_python.is_counted = true;
		atomic_fetch_add(&wti_agent.control->python_count, 1);
	}
	if (wti_python.is_on) {
		wti_pace_begin();
		wti_shim_start();
	}
	return PyBool_FromLong(wti_python.is_on);
}

static PyObject *stop(PyObject *self, PyObject *nothing)
{
	wti_python.is_on = false;
	wti_shim_stop();
	Py_RETURN_NONE;
}

static PyObject *recording(PyObject *self, PyObject *nothing)
{
	return PyBool_FromLong(wti_python.is_on && wti_recording());
}

/*
 * The settings that the recorder has left; None if nobody records. Sub-interpreters are left alone:
 * what we keep belongs to the main one.
 */
static PyObject *settings_text(PyObject *self, PyObject *nothing)
{
	PyObject *text = NULL;
	struct wti_guard guard;
	ssize_t bytes;
	char *room;

	if (!wti_agent.control || PyInterpreterState_Get() != PyInterpreterState_Main())
		Py_RETURN_NONE;
	room = PyMem_Malloc(SETTINGS_BYTES_MAX);
	if (!room)
		return PyErr_NoMemory();
	wti_guard_begin(&guard);
	bytes = wti_meeting_read(&wti_agent.meeting, WTI_SETTINGS_FILE, room, SETTINGS_BYTES_MAX);
	wti_guard_end(&guard);
	text = PyUnicode_DecodeUTF8(room, bytes > 0 ? bytes : 0, "replace");
	PyMem_Free(room);
	return text;
}

/* ---- For tests and for people ---------------------------------------------------------------- */

/* (readable, dtype, count, hash, nan, inf, zeros, min, max, mean, m2), or None: not a tensor. */
static PyObject *digest(PyObject *self, PyObject *object)
{
	struct wt_digest emitted = {0};
	struct wti_tensor tensor;
	Py_buffer room;
	bool readable;

	if (!wti_tensor_look(object, &tensor, &room))
		Py_RETURN_NONE;
	readable = (tensor.data || tensor.count == 0) && wti_dtype_bytes(tensor.dtype) &&
		   wti_recent_digest(&tensor, &emitted);
	wti_tensor_release(&tensor);
	return Py_BuildValue("(OIKKKKKdddd)", readable ? Py_True : Py_False, tensor.dtype,
			     (unsigned long long)tensor.count, (unsigned long long)emitted.hash,
			     (unsigned long long)emitted.nan, (unsigned long long)emitted.inf,
			     (unsigned long long)emitted.zeros, emitted.min, emitted.max,
			     emitted.mean, emitted.m2);
}

static PyObject *layout_known(PyObject *self, PyObject *nothing)
{
	return PyBool_FromLong(wti_layout_known());
}

static PyMethodDef methods[] = {
	{"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, NULL},
	{"watch_functions", watch_functions, METH_O, NULL},
	{"set_thrown", set_thrown, METH_O, NULL},
	{"failed", failed, METH_O, NULL},
	{"pace", set_pace, METH_VARARGS, NULL},
	{"set_torch", set_torch, METH_VARARGS, NULL},
	{"set_overrides", set_overrides, METH_VARARGS, NULL},
	{"set_callbacks", set_callbacks, METH_O, NULL},
	{"callbacks", callbacks, METH_NOARGS, NULL},
	{"learn_layout", learn_layout, METH_O, NULL},
	{"load_shim", load_shim, METH_VARARGS, NULL},
	{"check_shim", check_shim, METH_O, NULL},
	{"layout_known", layout_known, METH_NOARGS, NULL},
	{"hook", hook, METH_VARARGS, NULL},
	{"hook_index", hook_index, METH_VARARGS, NULL},
	{"hook_attribute", hook_attribute, METH_VARARGS, NULL},
	{"unhook", unhook, METH_O, NULL},
	{"end", end, METH_O, NULL},
	{"is_hooked", is_hooked, METH_O, NULL},
	{"missed", missed, METH_NOARGS, NULL},
	{"start", start, METH_NOARGS, NULL},
	{"stop", stop, METH_NOARGS, NULL},
	{"recording", recording, METH_NOARGS, NULL},
	{"settings_text", settings_text, METH_NOARGS, NULL},
	{"digest", digest, METH_O, NULL},
	{NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_wheeltap",
	.m_doc = "The C side of wheeltap's Python agent.",
	.m_size = -1,
	.m_methods = methods,
};

static int add_constants(PyObject *module)
{
	static const struct {
		const char *name;
		long value;
	} constants[] = {
		{"LEAN", WTI_DETAIL_LEAN},
		{"NORMAL", WTI_DETAIL_NORMAL},
		{"FULL", WTI_DETAIL_FULL},
		{"TENSORS_OFF", WTI_TENSORS_OFF},
		{"TENSORS_DIGEST", WTI_TENSORS_DIGEST},
		{"WATCH_BACKWARD", WTI_SHIM_BACKWARD},
		{"WATCH_REGIONS", WTI_SHIM_REGIONS},
		{"WATCH_OPERATORS", WTI_SHIM_OPERATORS},
		{"WATCH_OUTPUTS", WTI_SHIM_OUTPUTS},
		{"WATCH_NOISE", WTI_SHIM_NOISE},
		{"SPREAD", WTI_SPREAD},
		{"ALWAYS", WTI_HOOK_ALWAYS},
		{"QUIET", WTI_HOOK_QUIET},
		{"ARGUMENTS", WTI_HOOK_ARGUMENTS},
		{"SIZES", WTI_HOOK_SIZES},
		{"MAKES", WTI_HOOK_MAKES},
		{"MODULE", WT_ACTION_FORWARD},
		{"MODULE_MADE", WTI_HANDLING_MODULE_MADE},
		{"MODULE_RESTORED", WTI_HANDLING_MODULE_RESTORED},
		{"MODULE_METHOD", WTI_HANDLING_MODULE_METHOD},
		{"MODULE_CLEAR", WTI_HANDLING_MODULE_CLEAR},
		{"MODULE_LOADED", WTI_HANDLING_MODULE_LOADED},
		{"COPY", WTI_HANDLING_COPY},
		{"MADE", WTI_HANDLING_MADE},
		{"METHOD", WTI_HANDLING_METHOD},
		{"CLEAR", WT_ACTION_ZERO_GRAD},
		{"GROUP_ADDED", WTI_HANDLING_GROUP_ADDED},
		{"OPTIMIZER_LOADED", WTI_HANDLING_OPTIMIZER_LOADED},
		{"STEP", WT_ACTION_STEP},
		{"SCHEDULE", WT_ACTION_SCHEDULER_STEP},
		{"SCALE", WT_ACTION_SCALER},
		{"AVERAGE", WTI_HANDLING_AVERAGE},
		{"BACKWARD", WT_ACTION_BACKWARD},
		{"SETTER", WTI_HANDLING_SETTER},
		{"SET", WTI_HANDLING_SET},
		{"MODES", WTI_HANDLING_MODES},
		{"SAVE", WT_ACTION_SAVE},
		{"LOAD", WT_ACTION_LOAD},
		{"ARRAY_SAVED", WTI_HANDLING_ARRAY_SAVED},
		{"ARRAYS_SAVED", WTI_HANDLING_ARRAYS_SAVED},
		{"ARRAY_LOADED", WTI_HANDLING_ARRAY_LOADED},
		{"ARRAY_TAKEN", WTI_HANDLING_ARRAY_TAKEN},
		{"EPOCH", WT_ACTION_ROUND},
		{"BATCH", WT_ACTION_BATCH},
		{"FETCH", WTI_HANDLING_FETCH},
		{"WORKER", WTI_HANDLING_WORKER},
		{"GROUP", WTI_HANDLING_GROUP},
		{"TRACE", WTI_HANDLING_TRACE},
		{"OVERRIDES", WTI_HANDLING_OVERRIDES},
		{"CONFIGURED", WTI_HANDLING_CONFIGURED},
		{"LIVE_MODULE", WTI_LIVE_MODULE},
		{"LIVE_TENSOR", WTI_LIVE_TENSOR},
		{"LIVE_OPTIMIZER", WTI_LIVE_OPTIMIZER},
		{"LIVE_LOADER", WTI_LIVE_LOADER},
		{"LIVE_OTHER", WTI_LIVE_OTHER},
	};

	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
			return -1;
	return 0;
}

/* Once in a process, whatever interpreters import us. */
static bool make_rooms(void)
{
	if (wti_python.is_ready)
		return true;
	wti_python_init();
	return wti_tensor_init() && wti_live_init() && wti_torch_init() && wti_hook_init();
}

PyMODINIT_FUNC PyInit__wheeltap(void);

PyMODINIT_FUNC PyInit__wheeltap(void)
{
	PyObject *module;

	if (!make_rooms())
		return NULL;
	module = PyModule_Create(&definition);
	if (module &&
	    (add_constants(module) < 0 || PyModule_AddFunctions(module, wti_object_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_annotate_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_configuration_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_modes_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_frame_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_noise_methods) < 0 ||
	     PyModule_AddFunctions(module, wti_random_methods) < 0))
		Py_CLEAR(module);
	return module;
}
