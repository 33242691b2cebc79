/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension `wheeltap._reader`: the trace library for Python.
 *
 *   Trace    a run that is open                                        trace.c
 *   Scan     the events that a query asks for, as columns or as rows   scan.c
 *   Column   one column: buffer protocol, Arrow, single values         series.c, arrow.c
 *
 * It is written against the limited API and takes only what CPython 3.9 has, so that one binary
 * serves 3.9 and everything later. (The buffer protocol belongs to the limited API since 3.11; its
 * struct has not changed since 3.0.) The interpreter's lock is let go while blocks are decoded.
 */
#ifndef WTI_PYTHON_READER_H
#define WTI_PYTHON_READER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <wheeltap/trace.h>

#include "column.h"

/* Of the module: found through the types, which belong to it. */
struct wti_module {
	PyObject *error; /* wheeltap.TraceError */
	PyTypeObject *trace_type;
	PyTypeObject *scan_type;
	PyTypeObject *column_type;
};

struct wti_trace_object {
	PyObject_HEAD struct wt_trace *trace;
};

extern PyType_Spec wti_trace_spec;
extern PyType_Spec wti_scan_spec;
extern PyType_Spec wti_column_spec;

/* Raises what `err` says: MemoryError, or TraceError with `code` and `offset`. Returns NULL. */
PyObject *wti_raise(const struct wti_module *module, const struct wt_err *err);
/* Text that may not be UTF-8, replaced as in columns and by the command line. */
PyObject *wti_unicode(const char *data, size_t bytes);
/* For people: controls, and what else a terminal would obey, are escaped. */
PyObject *wti_printable_unicode(const char *data, size_t bytes);
/* As tp_new of types that only this module makes. */
PyObject *wti_no_new(PyTypeObject *type, PyObject *args, PyObject *keywords);

/* Arguments of trace.scan() and trace.calls(). */
PyObject *wti_scan_new(const struct wti_module *module, PyObject *trace, PyObject *args,
		       PyObject *keywords);
PyObject *wti_calls_table(const struct wti_module *module, PyObject *trace, PyObject *args,
			  PyObject *keywords);

/* Takes a reference of its own. */
PyObject *wti_column_object(const struct wti_module *module, struct wti_column *column);

/* Functions of the module: Arrow's stream of a table, made from columns of equal length. */
PyObject *wti_table_stream(PyObject *module, PyObject *columns);
PyObject *wti_table_schema(PyObject *module, PyObject *columns);

#endif
