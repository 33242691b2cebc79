/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's configuration. Here it is noticed that a library has resolved one, and its values
 * become records; what is in it is read by the Python side (wheeltap._configuration).
 */
#include "handler.h"

#include "common/text.h"
#include "emit.h"

/* Of nested calls the outermost: what a parser calls inside is not yet the answer. */
static void after_configured(struct wti_hooked_call *call, const struct wti_given *given,
			     PyObject *result)
{
	PyObject *first = given->count ? given->arguments[0] : Py_None, *answer;
	bool in_library = call->place.code && wti_site_in_library(call->place.code);
	struct wti_guard guard;

	if (!result || !call->is_outer || !wti_python.configured)
		return;
	wti_own_call_begin(&guard);
	answer = PyObject_CallFunction(wti_python.configured, "sOOO", call->hook->callee->text,
				       first, result, in_library ? Py_True : Py_False);
	wti_own_call_end(&guard);
	Py_XDECREF(answer);
}

const struct wti_handler wti_handler_configured = {NULL, NULL, NULL, after_configured, 0};

/* set_configured(take): take(callee, first argument, result, whether a library has called it) */
static PyObject *set_configured(PyObject *self, PyObject *take)
{
	Py_INCREF(take);
	Py_XSETREF(wti_python.configured, take);
	Py_RETURN_NONE;
}

/* (key, source, type, is_default, value) */
static PyObject *emit_configuration(PyObject *self, PyObject *arguments)
{
	const struct wti_here here = wti_here();
	struct wti_record_configuration record;
	struct wti_kept_text kept;
	PyObject *key, *source;
	const char *value;
	unsigned type;
	int is_default;

	if (!PyArg_ParseTuple(arguments, "UUIps", &key, &source, &type, &is_default, &value))
		return NULL;
	if (!wti_python.is_on || !here.ring)
		Py_RETURN_NONE;
	record = (struct wti_record_configuration){
		.key = wti_name(here, wti_name_of_text(key)),
		.source = wti_name(here, wti_name_of_text(source)),
		.type = type,
		.flags = is_default ? WT_CONFIGURATION_DEFAULT : 0};
	wti_keep_value(&kept, wti_name_of_text(key)->text, value);
	wti_emit_configuration(here, &record, &kept);
	Py_RETURN_NONE;
}

PyMethodDef wti_configuration_methods[] = {
	{"set_configured", set_configured, METH_O, NULL},
	{"configuration", emit_configuration, METH_VARARGS, NULL},
	{NULL},
};
