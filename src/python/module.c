/* SPDX-License-Identifier: Apache-2.0 */
/* The module: its types, its error, what all of its files need. */
#include "reader.h"

#include <string.h>

#include "base/text.h"
#include "sbt.h"

static const char *code_name(int code)
{
	static const char *const names[] = {
		[0] = "ok",
		[-WT_E_IO] = "io",
		[-WT_E_FORMAT] = "format",
		[-WT_E_VERSION] = "version",
		[-WT_E_LIMIT] = "limit",
		[-WT_E_NOMEM] = "memory",
		[-WT_E_ARG] = "argument",
		[-WT_E_MISSING] = "missing",
		[-WT_E_EXISTS] = "exists",
		[-WT_E_BUSY] = "busy",
	};
	int count = (int)(sizeof(names) / sizeof(names[0]));

	return code <= 0 && -code < count ? names[-code] : "?";
}

PyObject *wti_unicode(const char *data, size_t bytes)
{
	struct wti_buf scratch;
	struct wt_text text;
	PyObject *object;

	wti_buf_init(&scratch, (size_t)1 << 30);
	text = wti_utf8_text(&scratch, (struct wt_text){data, bytes});
	object = PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.bytes, "replace");
	wti_buf_release(&scratch);
	return object;
}

PyObject *wti_printable_unicode(const char *data, size_t bytes)
{
	struct wti_buf text;
	PyObject *object;

	wti_buf_init(&text, (size_t)1 << 30);
	wti_printable(&text, data, bytes);
	object = wti_buf_status(&text) ? PyErr_NoMemory()
				       : wti_unicode((const char *)text.data, text.bytes);
	wti_buf_release(&text);
	return object;
}

static int set_attribute(PyObject *object, const char *name, PyObject *value)
{
	int r = value ? PyObject_SetAttrString(object, name, value) : -1;

	Py_XDECREF(value);
	return r;
}

PyObject *wti_raise(const struct wti_module *module, const struct wt_err *err)
{
	PyObject *text, *error;

	if (err->code == WT_E_NOMEM)
		return PyErr_NoMemory();
	text = wti_printable_unicode(err->message, strlen(err->message));
	error = text ? PyObject_CallFunctionObjArgs(module->error, text, NULL) : NULL;
	Py_XDECREF(text);
	if (!error)
		return NULL;
	if (!set_attribute(error, "code", PyUnicode_FromString(code_name(err->code))) &&
	    !set_attribute(error, "offset", PyLong_FromLongLong(err->offset)))
		PyErr_SetObject(module->error, error);
	Py_DECREF(error);
	return NULL;
}

PyObject *wti_no_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	PyErr_SetString(PyExc_TypeError, "made by wheeltap.open(), not by itself");
	return NULL;
}

static PyObject *new_error(void)
{
	PyObject *attributes = Py_BuildValue("{s:s,s:i}", "code", "?", "offset", -1);
	PyObject *error = NULL;

	if (attributes)
		error = PyErr_NewExceptionWithDoc(
			"wheeltap.TraceError",
			"A run that cannot be read, or a question that it cannot answer.\n\n"
			"code is one of io, format, version, limit, argument, missing; offset is "
			"the byte in the file, or -1.",
			NULL, attributes);
	Py_XDECREF(attributes);
	return error;
}

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **ret_type)
{
	PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

	if (!type)
		return -1;
	*ret_type = (PyTypeObject *)type;
	return PyModule_AddType(module, *ret_type);
}

static int execute(PyObject *object)
{
	struct wti_module *module = PyModule_GetState(object);

	module->error = new_error();
	if (!module->error)
		return -1;
	Py_INCREF(module->error);
	if (PyModule_AddObject(object, "TraceError", module->error)) {
		Py_DECREF(module->error);
		return -1;
	}
	if (add_type(object, &wti_trace_spec, &module->trace_type) ||
	    add_type(object, &wti_scan_spec, &module->scan_type) ||
	    add_type(object, &wti_column_spec, &module->column_type))
		return -1;
	return PyModule_AddStringConstant(object, "version", WTI_VERSION);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
	struct wti_module *module = PyModule_GetState(object);

	Py_VISIT(module->error);
	Py_VISIT(module->trace_type);
	Py_VISIT(module->scan_type);
	Py_VISIT(module->column_type);
	return 0;
}

static int clear(PyObject *object)
{
	struct wti_module *module = PyModule_GetState(object);

	Py_CLEAR(module->error);
	Py_CLEAR(module->trace_type);
	Py_CLEAR(module->scan_type);
	Py_CLEAR(module->column_type);
	return 0;
}

static PyMethodDef functions[] = {
	{"table_stream", wti_table_stream, METH_O,
	 "Columns of equal length as an Arrow stream of one chunk, in a capsule."},
	{"table_schema", wti_table_schema, METH_O, "Their Arrow schema, in a capsule."},
	{"sbt_read", wti_sbt_read, METH_O,
	 "A file of TraceSmith: its events as columns, and what is known of it."},
	{"sbt_write", wti_sbt_write, METH_VARARGS, "Writes tuples as a file of TraceSmith."},
	{NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, execute},
	{0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "wheeltap._reader",
	.m_doc = "Reads wheeltap traces; the package wraps it.",
	.m_size = sizeof(struct wti_module),
	.m_methods = functions,
	.m_slots = slots,
	.m_traverse = traverse,
	.m_clear = clear,
};

PyMODINIT_FUNC PyInit__reader(void);

__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__reader(void)
{
	return PyModuleDef_Init(&definition);
}
