/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type Column: a part of a struct wti_column as Python sees it. Whoever takes its buffer refers
 * to the object, and the object to the column.
 */
#include "series.h"

#include <string.h>

static struct series *series_of(PyObject *self)
{
	return (struct series *)self;
}

static const struct wti_module *module_of(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

PyObject *wti_series_new(const struct wti_module *module, const struct wti_column_slice *slice)
{
	struct series *series = PyObject_New(struct series, module->column_type);
	size_t width;

	if (!series)
		return NULL;
	width = wti_column_format(slice->column->type)->width;
	series->slice = *slice;
	wti_column_ref(slice->column);
	series->shape = (Py_ssize_t)slice->rows;
	series->stride = (Py_ssize_t)width;
	return (PyObject *)series;
}

PyObject *wti_column_object(const struct wti_module *module, struct wti_column *column)
{
	struct wti_column_slice slice = {.column = column, .rows = column->rows};

	return wti_series_new(module, &slice);
}

static void series_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	wti_column_unref(series_of(self)->slice.column);
	PyObject_Free(self);
	Py_DECREF(type);
}

static bool is_text(const struct series *series)
{
	return series->slice.column->type == WTI_COLUMN_TEXT && !series->slice.codes;
}

/* ---- The buffer protocol --------------------------------------------------------------------- */

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct series *series = series_of(self);
	const struct wti_column_format *format = wti_column_format(series->slice.column->type);
	const char *refusal = NULL;

	if (is_text(series))
		refusal = "a column of texts has no buffer; take .codes and .categories";
	else if (flags & PyBUF_WRITABLE)
		refusal = "columns are read-only";
	if (refusal) {
		view->obj = NULL;
		PyErr_SetString(PyExc_BufferError, refusal);
		return -1;
	}
	*view = (Py_buffer){
		.buf = (char *)series->slice.column->data + series->slice.offset * format->width,
		.len = series->shape * series->stride,
		.itemsize = series->stride,
		.readonly = 1,
		.ndim = 1,
		.format = flags & PyBUF_FORMAT ? (char *)format->buffer : NULL,
		.shape = flags & PyBUF_ND ? &series->shape : NULL,
		.strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &series->stride : NULL,
		.obj = self,
	};
	Py_INCREF(self);
	return 0;
}

/* ---- Single values --------------------------------------------------------------------------- */

static PyObject *number_at(const struct wti_column *column, size_t row)
{
	switch (column->type) {
	case WTI_COLUMN_FLAG:
		return PyBool_FromLong(((const uint8_t *)column->data)[row]);
	case WTI_COLUMN_U32:
		return PyLong_FromUnsignedLong(((const uint32_t *)column->data)[row]);
	case WTI_COLUMN_I64:
		return PyLong_FromLongLong(((const int64_t *)column->data)[row]);
	case WTI_COLUMN_U64:
		return PyLong_FromUnsignedLongLong(((const uint64_t *)column->data)[row]);
	case WTI_COLUMN_F64:
		return PyFloat_FromDouble(((const double *)column->data)[row]);
	default:
		return PyLong_FromLong(((const int32_t *)column->data)[row]);
	}
}

/* `texts` has a string for each code, or is NULL: it is made. */
static PyObject *value_at(const struct series *series, size_t index, PyObject *texts)
{
	const struct wti_column *column = series->slice.column;
	size_t row = series->slice.offset + index;
	struct wt_text text;
	PyObject *item;
	int32_t code;

	if (wti_column_is_null(column, row)) {
		Py_INCREF(Py_None);
		return Py_None;
	}
	if (!is_text(series))
		return number_at(column, row);
	code = ((const int32_t *)column->data)[row];
	if (texts) {
		item = PyList_GetItem(texts, code);
		Py_XINCREF(item);
		return item;
	}
	text = wti_column_text(column, code);
	return wti_unicode(text.data, text.bytes);
}

static Py_ssize_t series_length(PyObject *self)
{
	return series_of(self)->shape;
}

static PyObject *series_item(PyObject *self, Py_ssize_t index)
{
	struct series *series = series_of(self);

	if (index < 0 || index >= series->shape) {
		PyErr_SetString(PyExc_IndexError, "row out of range");
		return NULL;
	}
	return value_at(series, (size_t)index, NULL);
}

/* A part of the column, without copying. */
static PyObject *part(PyObject *self, PyObject *key)
{
	struct wti_column_slice slice = series_of(self)->slice;
	Py_ssize_t begin, end, step;

	if (PySlice_Unpack(key, &begin, &end, &step))
		return NULL;
	if (step != 1) {
		PyErr_SetString(PyExc_ValueError,
				"columns are cut without copying, in steps of one");
		return NULL;
	}
	slice.rows = (size_t)PySlice_AdjustIndices((Py_ssize_t)slice.rows, &begin, &end, step);
	slice.offset += (size_t)begin;
	return wti_series_new(module_of(self), &slice);
}

static PyObject *series_subscript(PyObject *self, PyObject *key)
{
	Py_ssize_t index;

	if (PySlice_Check(key))
		return part(self, key);
	index = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (index == -1 && PyErr_Occurred())
		return NULL;
	return series_item(self, index < 0 ? index + series_of(self)->shape : index);
}

static PyObject *texts_of(const struct series *series)
{
	const struct wti_column *column = series->slice.column;
	Py_ssize_t count = (Py_ssize_t)column->texts.count;
	PyObject *list = PyList_New(count);

	for (Py_ssize_t i = 0; list && i < count; i++) {
		struct wt_text text = wti_column_text(column, (int32_t)i);
		PyObject *item = wti_unicode(text.data, text.bytes);

		if (!item || PyList_SetItem(list, i, item))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *to_list(PyObject *self, PyObject *unused)
{
	struct series *series = series_of(self);
	PyObject *texts = is_text(series) ? texts_of(series) : NULL;
	PyObject *list = texts || !is_text(series) ? PyList_New(series->shape) : NULL;

	for (Py_ssize_t i = 0; list && i < series->shape; i++) {
		PyObject *value = value_at(series, (size_t)i, texts);

		if (!value || PyList_SetItem(list, i, value))
			Py_CLEAR(list);
	}
	Py_XDECREF(texts);
	return list;
}

/* ---- What it is ------------------------------------------------------------------------------ */

static PyObject *get_name(PyObject *self, void *unused)
{
	const char *name = series_of(self)->slice.column->name;

	return wti_unicode(name, strlen(name));
}

static PyObject *get_unit(PyObject *self, void *unused)
{
	const char *unit = series_of(self)->slice.column->unit;

	return wti_unicode(unit, strlen(unit));
}

static PyObject *get_doc(PyObject *self, void *unused)
{
	const char *doc = series_of(self)->slice.column->doc;

	return wti_unicode(doc, strlen(doc));
}

static PyObject *get_type(PyObject *self, void *unused)
{
	const struct series *series = series_of(self);

	return PyUnicode_FromString(series->slice.codes
					    ? "int32"
					    : wti_column_format(series->slice.column->type)->name);
}

static size_t nulls_of(const struct wti_column_slice *slice)
{
	size_t count = 0;

	if (slice->rows == slice->column->rows)
		return slice->column->null_count;
	for (size_t i = 0; slice->column->null_count && i < slice->rows; i++)
		count += wti_column_is_null(slice->column, slice->offset + i);
	return count;
}

static PyObject *get_null_count(PyObject *self, void *unused)
{
	return PyLong_FromSize_t(nulls_of(&series_of(self)->slice));
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
	const struct series *series = series_of(self);

	return PyLong_FromSsize_t(series->shape * series->stride);
}

static PyObject *get_codes(PyObject *self, void *unused)
{
	struct wti_column_slice slice = series_of(self)->slice;

	if (!is_text(series_of(self))) {
		PyErr_SetString(PyExc_TypeError, "only columns of texts have codes");
		return NULL;
	}
	slice.codes = true;
	return wti_series_new(module_of(self), &slice);
}

static PyObject *get_categories(PyObject *self, void *unused)
{
	if (!is_text(series_of(self))) {
		PyErr_SetString(PyExc_TypeError, "only columns of texts have categories");
		return NULL;
	}
	return texts_of(series_of(self));
}

static PyObject *get_valid(PyObject *self, void *unused)
{
	const struct wti_column_slice *slice = &series_of(self)->slice;
	struct wti_column *flags = wti_column_new(WTI_COLUMN_FLAG, slice->column->name, "", "");
	uint8_t *out = flags ? wti_column_reserve(flags, slice->rows) : NULL;
	PyObject *object = NULL;

	for (size_t i = 0; out && i < slice->rows; i++)
		out[i] = !wti_column_is_null(slice->column, slice->offset + i);
	if (out) {
		wti_column_added(flags, slice->rows);
		object = wti_column_object(module_of(self), flags);
	} else {
		PyErr_NoMemory();
	}
	wti_column_unref(flags);
	return object;
}

static PyObject *series_repr(PyObject *self)
{
	const char *own = series_of(self)->slice.column->name;
	PyObject *name = wti_printable_unicode(own, strlen(own));
	PyObject *type = get_type(self, NULL);
	PyObject *text = NULL;

	if (name && type)
		text = PyUnicode_FromFormat("<wheeltap.Column %U: %U, %zd rows>", name, type,
					    series_of(self)->shape);
	Py_XDECREF(name);
	Py_XDECREF(type);
	return text;
}

/* For texts, and for those who ask for another type: an array that is made, not shared. */
static PyObject *to_array(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"dtype", "copy", NULL};
	PyObject *dtype = Py_None, *copy = Py_None, *numpy = NULL, *values = NULL, *array = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy))
		return NULL;
	numpy = PyImport_ImportModule("numpy");
	if (numpy && is_text(series_of(self))) {
		values = to_list(self, NULL);
		if (values)
			array = PyObject_CallMethod(
				numpy, "array", "OO", values,
				dtype == Py_None ? (PyObject *)&PyBaseObject_Type : dtype);
	} else if (numpy) {
		values = PyMemoryView_FromObject(self);
		if (values)
			array = PyObject_CallMethod(numpy, "asarray", "OO", values, dtype);
	}
	Py_XDECREF(numpy);
	Py_XDECREF(values);
	return array;
}

static PyMethodDef methods[] = {
	{"to_list", to_list, METH_NOARGS,
	 "All values as Python objects; None where there is none."},
	{"__array__", (PyCFunction)(void (*)(void))to_array, METH_VARARGS | METH_KEYWORDS,
	 "Texts as an array of objects. Numbers are taken by the buffer protocol."},
	{"__arrow_c_schema__", wti_series_arrow_schema, METH_NOARGS,
	 "Its Arrow type, in a capsule."},
	{"__arrow_c_array__", (PyCFunction)(void (*)(void))wti_series_arrow_array,
	 METH_VARARGS | METH_KEYWORDS, "Its Arrow type and array, in capsules, without copying."},
	{"__arrow_c_stream__", (PyCFunction)(void (*)(void))wti_series_arrow_stream,
	 METH_VARARGS | METH_KEYWORDS, "The same as a stream of one chunk."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
	{"name", get_name, NULL, "Name of the column.", NULL},
	{"type", get_type, NULL, "int32, uint32, int64, uint64, float64, uint8 or text.", NULL},
	{"unit", get_unit, NULL, "Unit, such as ns; empty: none.", NULL},
	{"doc", get_doc, NULL, "What the column means.", NULL},
	{"nbytes", get_nbytes, NULL, "Bytes of its rows.", NULL},
	{"null_count", get_null_count, NULL, "Rows without a value.", NULL},
	{"valid", get_valid, NULL, "A column of flags: whether a row has a value.", NULL},
	{"codes", get_codes, NULL, "Of texts: which of the categories; -1: none. Not copied.",
	 NULL},
	{"categories", get_categories, NULL, "Of texts: the different texts.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "A column of a table; read-only, shared without copying."},
	{Py_tp_new, wti_no_new},
	{Py_tp_dealloc, series_dealloc},
	{Py_tp_repr, series_repr},
	{Py_tp_methods, methods},
	{Py_tp_getset, properties},
	{Py_sq_length, series_length},
	{Py_sq_item, series_item},
	{Py_mp_length, series_length},
	{Py_mp_subscript, series_subscript},
	{Py_bf_getbuffer, get_buffer},
	{0, NULL},
};

PyType_Spec wti_column_spec = {
	.name = "wheeltap._reader.Column",
	.basicsize = sizeof(struct series),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
