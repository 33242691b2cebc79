/* SPDX-License-Identifier: Apache-2.0 */
/* The type Column, between series.c and capsules.c. */
#ifndef WTI_PYTHON_SERIES_H
#define WTI_PYTHON_SERIES_H

#include "arrow.h"
#include "reader.h"

struct series {
	PyObject_HEAD struct wti_column_slice slice;
	Py_ssize_t shape; /* rows and bytes a row: where buffers point to */
	Py_ssize_t stride;
};

/* Takes a reference to the column of its own. */
PyObject *wti_series_new(const struct wti_module *module, const struct wti_column_slice *slice);

/* capsules.c */
PyObject *wti_series_arrow_schema(PyObject *self, PyObject *unused);
PyObject *wti_series_arrow_array(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *wti_series_arrow_stream(PyObject *self, PyObject *args, PyObject *keywords);

#endif
