/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's structs in capsules, as its PyCapsule interface names them. */
#include <stdlib.h>

#include "series.h"

/* Whoever takes a struct out moves it away and leaves `release` empty. */
#define CAPSULE(what, label)                                                                       \
	static void free_##what(PyObject *capsule)                                                 \
	{                                                                                          \
		struct what *held = PyCapsule_GetPointer(capsule, label);                          \
                                                                                                   \
		if (held && held->release)                                                         \
			held->release(held);                                                       \
		free(held);                                                                        \
	}                                                                                          \
	static PyObject *wrap_##what(const struct what *filled)                                    \
	{                                                                                          \
		struct what *held = malloc(sizeof(*held));                                         \
		PyObject *capsule = NULL;                                                          \
		struct what lost = *filled;                                                        \
                                                                                                   \
		if (held) {                                                                        \
			*held = *filled;                                                           \
			capsule = PyCapsule_New(held, label, free_##what);                         \
		} else {                                                                           \
			PyErr_NoMemory();                                                          \
		}                                                                                  \
		if (!capsule) {                                                                    \
			lost.release(&lost);                                                       \
			free(held);                                                                \
		}                                                                                  \
		return capsule;                                                                    \
	}

CAPSULE(ArrowSchema, "arrow_schema")
CAPSULE(ArrowArray, "arrow_array")
CAPSULE(ArrowArrayStream, "arrow_array_stream")

static const struct wti_column_slice *slice_of(PyObject *self)
{
	return &((struct series *)self)->slice;
}

/* What is asked for is a wish: the specification lets producers give what they have. */
static int parse_wish(PyObject *args, PyObject *keywords)
{
	static char *names[] = {"requested_schema", NULL};
	PyObject *wish;

	return PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &wish) ? 0 : -1;
}

PyObject *wti_series_arrow_schema(PyObject *self, PyObject *unused)
{
	struct ArrowSchema schema;

	return wti_arrow_schema(slice_of(self), &schema) ? PyErr_NoMemory()
							 : wrap_ArrowSchema(&schema);
}

PyObject *wti_series_arrow_array(PyObject *self, PyObject *args, PyObject *keywords)
{
	struct ArrowArray array;
	PyObject *schema, *data;

	if (parse_wish(args, keywords))
		return NULL;
	schema = wti_series_arrow_schema(self, NULL);
	if (!schema)
		return NULL;
	data = wti_arrow_array(slice_of(self), &array) ? PyErr_NoMemory() : wrap_ArrowArray(&array);
	if (!data) {
		Py_DECREF(schema);
		return NULL;
	}
	return Py_BuildValue("NN", schema, data);
}

PyObject *wti_series_arrow_stream(PyObject *self, PyObject *args, PyObject *keywords)
{
	struct ArrowArrayStream stream;

	if (parse_wish(args, keywords))
		return NULL;
	return wti_arrow_stream(slice_of(self), 1, false, &stream) ? PyErr_NoMemory()
								   : wrap_ArrowArrayStream(&stream);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The slices of a list of columns that have equally many rows; to be freed. NULL: raised. */
static struct wti_column_slice *slices_of(PyObject *module, PyObject *columns, size_t *ret_count)
{
	const struct wti_module *state = PyModule_GetState(module);
	Py_ssize_t count = PyList_Size(columns);
	struct wti_column_slice *slices;

	if (count < 0)
		return NULL;
	slices = calloc((size_t)count + 1, sizeof(*slices));
	if (!slices) {
		PyErr_NoMemory();
		return NULL;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *item = PyList_GetItem(columns, i);

		if (!PyObject_TypeCheck(item, state->column_type)) {
			PyErr_SetString(PyExc_TypeError, "not a column");
			free(slices);
			return NULL;
		}
		slices[i] = *slice_of(item);
		if (slices[i].rows != slices[0].rows) {
			PyErr_SetString(PyExc_ValueError, "columns of different lengths");
			free(slices);
			return NULL;
		}
	}
	*ret_count = (size_t)count;
	return slices;
}

PyObject *wti_table_stream(PyObject *module, PyObject *columns)
{
	struct ArrowArrayStream stream;
	size_t count;
	struct wti_column_slice *slices = slices_of(module, columns, &count);
	int r;

	if (!slices)
		return NULL;
	r = wti_arrow_stream(slices, count, true, &stream);
	free(slices);
	return r ? PyErr_NoMemory() : wrap_ArrowArrayStream(&stream);
}

PyObject *wti_table_schema(PyObject *module, PyObject *columns)
{
	struct ArrowSchema schema;
	size_t count;
	struct wti_column_slice *slices = slices_of(module, columns, &count);
	int r;

	if (!slices)
		return NULL;
	r = wti_arrow_table_schema(slices, count, &schema);
	free(slices);
	return r ? PyErr_NoMemory() : wrap_ArrowSchema(&schema);
}
