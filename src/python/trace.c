/* SPDX-License-Identifier: Apache-2.0 */
/* The type Trace: a run that is open, and what it says about itself. */
#include "reader.h"

#include <string.h>

static const struct wti_module *module_of(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

static const struct wt_trace *trace_of(PyObject *self)
{
	return ((struct wti_trace_object *)self)->trace;
}

static PyObject *trace_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"path", NULL};
	struct wt_err err = {.offset = -1};
	struct wti_trace_object *self;
	struct wt_trace *trace = NULL;
	PyObject *path;
	const char *bytes;
	int r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&:Trace", names, PyUnicode_FSConverter,
					 &path))
		return NULL;
	bytes = PyBytes_AsString(path);
	Py_BEGIN_ALLOW_THREADS r = wt_trace_open(bytes, &trace, &err);
	Py_END_ALLOW_THREADS Py_DECREF(path);
	if (r)
		return wti_raise(PyType_GetModuleState(type), &err);
	self = PyObject_New(struct wti_trace_object, type);
	if (self)
		self->trace = trace;
	else
		wt_trace_free(trace);
	return (PyObject *)self;
}

static void trace_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	wt_trace_free(((struct wti_trace_object *)self)->trace);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Appends to `list`, which it releases on failure; takes the item over. */
static PyObject *append(PyObject *list, PyObject *item)
{
	if (!list || !item || PyList_Append(list, item)) {
		Py_XDECREF(item);
		Py_XDECREF(list);
		return NULL;
	}
	Py_DECREF(item);
	return list;
}

/* ---- Streams and tracks ---------------------------------------------------------------------- */

static uint64_t event_count(const struct wt_reader *reader)
{
	uint64_t count = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++)
		count += wt_reader_block(reader, i)->rows;
	return count;
}

static PyObject *stream_item(const struct wt_trace *trace, size_t index)
{
	const struct wt_reader *reader = wt_trace_stream(trace, index);
	const struct wt_identity *who = wt_reader_identity(reader);
	PyObject *path = PyUnicode_DecodeFSDefault(wt_reader_path(reader));
	PyObject *command = wti_unicode(who->command, strnlen(who->command, sizeof(who->command)));

	if (!path || !command) {
		Py_XDECREF(path);
		Py_XDECREF(command);
		return NULL;
	}
	return Py_BuildValue("nNNIIIKKKN", (Py_ssize_t)index, path, command, who->pid, who->exec,
			     who->segment, (unsigned long long)who->start_time,
			     (unsigned long long)event_count(reader),
			     (unsigned long long)wt_reader_file_bytes(reader),
			     PyBool_FromLong(wt_reader_finished(reader)));
}

static PyObject *streams(PyObject *self, PyObject *unused)
{
	const struct wt_trace *trace = trace_of(self);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < wt_trace_stream_count(trace); i++)
		list = append(list, stream_item(trace, i));
	return list;
}

static PyObject *track_item(const struct wt_track *track, size_t stream)
{
	static const char *const types[] = {"?", "thread", "queue", "rank", "recorder"};
	const char *type =
		track->type < sizeof(types) / sizeof(types[0]) ? types[track->type] : types[0];
	PyObject *name = wti_unicode(track->name, track->name_bytes);

	return name ? Py_BuildValue("nIsIIN", (Py_ssize_t)stream, track->id, type, track->tid,
				    track->device, name)
		    : NULL;
}

static PyObject *tracks(PyObject *self, PyObject *unused)
{
	const struct wt_trace *trace = trace_of(self);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; list && j < wt_reader_track_count(reader); j++) {
			const struct wt_track *track = wt_reader_track_at(reader, j);

			if (track)
				list = append(list, track_item(track, i));
		}
	}
	return list;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

static const char *type_name(uint8_t type)
{
	static const char *const names[] = {"?",    "u32",  "u64",   "i32", "i64",  "f64",
					    "name", "hash", "ticks", "str", "enum", "bytes"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : names[0];
}

static PyObject *enum_names(const struct wt_field *field)
{
	PyObject *list = PyList_New(0);
	PyObject *tuple;

	for (int i = 0; list && i < field->enum_count; i++)
		list = append(list,
			      wti_unicode(field->enum_names[i], strlen(field->enum_names[i])));
	tuple = list ? PyList_AsTuple(list) : NULL;
	Py_XDECREF(list);
	return tuple;
}

static PyObject *field_item(const struct wt_field *field)
{
	PyObject *name = wti_unicode(field->name, strlen(field->name));
	PyObject *unit = wti_unicode(field->unit, strlen(field->unit));
	PyObject *doc = wti_unicode(field->doc, strlen(field->doc));
	PyObject *values = enum_names(field);

	if (name && unit && doc && values)
		return Py_BuildValue("NsNNN", name, type_name(field->type), unit, doc, values);
	Py_XDECREF(name);
	Py_XDECREF(unit);
	Py_XDECREF(doc);
	Py_XDECREF(values);
	return NULL;
}

static PyObject *kind_item(const struct wt_kind *kind, uint64_t count)
{
	PyObject *fields = PyList_New(0);
	PyObject *name = wti_unicode(kind->name, strlen(kind->name));
	PyObject *doc = wti_unicode(kind->doc, strlen(kind->doc));

	for (int i = 0; fields && i < kind->field_count; i++)
		fields = append(fields, field_item(&kind->fields[i]));
	if (fields && name && doc)
		return Py_BuildValue("NINNK", name, (unsigned)kind->number, doc, fields,
				     (unsigned long long)count);
	Py_XDECREF(fields);
	Py_XDECREF(name);
	Py_XDECREF(doc);
	return NULL;
}

static uint64_t rows_of(const struct wt_reader *reader, uint16_t number)
{
	uint64_t count = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		count += block->kind == number ? block->rows : 0;
	}
	return count;
}

/* Every stream describes the kinds that it has; who asks puts those of one name together. */
static PyObject *kinds(PyObject *self, PyObject *unused)
{
	const struct wt_trace *trace = trace_of(self);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; list && j < wt_reader_kind_count(reader); j++) {
			const struct wt_kind *kind = wt_reader_kind_at(reader, j);

			list = append(list, kind_item(kind, rows_of(reader, kind->number)));
		}
	}
	return list;
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static PyObject *damage_item(PyObject *path, const struct wt_err *err)
{
	PyObject *message = wti_unicode(err->message, strlen(err->message));

	if (path && message)
		return Py_BuildValue("NNL", path, message, (long long)err->offset);
	Py_XDECREF(path);
	Py_XDECREF(message);
	return NULL;
}

static PyObject *damage(PyObject *self, PyObject *unused)
{
	const struct wt_trace *trace = trace_of(self);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < wt_trace_failed_count(trace); i++)
		list = append(list,
			      damage_item(PyUnicode_FromString(""), wt_trace_failed(trace, i)));
	for (size_t i = 0; list && i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);
		const struct wt_err *err = wt_reader_damage(reader);

		if (err->code)
			list = append(list,
				      damage_item(PyUnicode_DecodeFSDefault(wt_reader_path(reader)),
						  err));
	}
	return list;
}

static PyObject *start_realtime_ns(PyObject *self, void *unused)
{
	return PyLong_FromLongLong(wt_trace_start_realtime_ns(trace_of(self)));
}

static PyObject *clock_error_ns(PyObject *self, void *unused)
{
	return PyLong_FromUnsignedLongLong(wt_trace_clock_error_ns(trace_of(self)));
}

static PyObject *scan(PyObject *self, PyObject *args, PyObject *keywords)
{
	return wti_scan_new(module_of(self), self, args, keywords);
}

static PyObject *calls(PyObject *self, PyObject *args, PyObject *keywords)
{
	return wti_calls_table(module_of(self), self, args, keywords);
}

static PyMethodDef methods[] = {
	{"streams", streams, METH_NOARGS, "What is known of each stream."},
	{"tracks", tracks, METH_NOARGS, "What is known of each track."},
	{"kinds", kinds, METH_NOARGS, "The kinds of each stream, with their fields."},
	{"damage", damage, METH_NOARGS, "What could not be read: path, text, byte."},
	{"scan", (PyCFunction)(void (*)(void))scan, METH_VARARGS | METH_KEYWORDS,
	 "The events that a query asks for."},
	{"calls", (PyCFunction)(void (*)(void))calls, METH_VARARGS | METH_KEYWORDS,
	 "Begins and ends matched: a list of columns."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
	{"start_realtime_ns", start_realtime_ns, NULL, "Since 1970; 0: not known.", NULL},
	{"clock_error_ns", clock_error_ns, NULL, "How far times of streams may be off.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "A run, or one stream, that is open for reading."},
	{Py_tp_new, trace_new},
	{Py_tp_dealloc, trace_dealloc},
	{Py_tp_methods, methods},
	{Py_tp_getset, properties},
	{0, NULL},
};

PyType_Spec wti_trace_spec = {
	.name = "wheeltap._reader.Trace",
	.basicsize = sizeof(struct wti_trace_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
