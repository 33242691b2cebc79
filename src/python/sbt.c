/* SPDX-License-Identifier: Apache-2.0 */
/* TraceSmith's files as columns, and tuples as such a file. */
#include "sbt.h"

#include <string.h>

#include <wheeltap/sbt.h>

/* Columns, in the order in which they are handed out. */
enum {
	TYPE,
	TIMESTAMP,
	DURATION,
	DEVICE,
	STREAM,
	CORRELATION,
	NAME,
	GRID,
	BLOCK = GRID + 3,
	SHARED = BLOCK + 3,
	REGISTERS,
	SOURCE,
	DESTINATION,
	BYTES,
	COLUMNS,
};

static const struct {
	const char *name, *unit, *doc;
	enum wti_column_type type;
} layout[COLUMNS] = {
	[TYPE] = {"type", "", "EventType", WTI_COLUMN_U32},
	[TIMESTAMP] = {"timestamp", "ns", "when it began", WTI_COLUMN_U64},
	[DURATION] = {"duration", "ns", "0: not known", WTI_COLUMN_U64},
	[DEVICE] = {"device_id", "", "", WTI_COLUMN_U32},
	[STREAM] = {"stream_id", "", "", WTI_COLUMN_U32},
	[CORRELATION] = {"correlation_id", "", "", WTI_COLUMN_U64},
	[NAME] = {"name", "", "", WTI_COLUMN_TEXT},
	[GRID] = {"grid_x", "", "of a kernel", WTI_COLUMN_U32},
	[GRID + 1] = {"grid_y", "", "of a kernel", WTI_COLUMN_U32},
	[GRID + 2] = {"grid_z", "", "of a kernel", WTI_COLUMN_U32},
	[BLOCK] = {"block_x", "", "of a kernel", WTI_COLUMN_U32},
	[BLOCK + 1] = {"block_y", "", "of a kernel", WTI_COLUMN_U32},
	[BLOCK + 2] = {"block_z", "", "of a kernel", WTI_COLUMN_U32},
	[SHARED] = {"shared_mem_bytes", "bytes", "of a kernel", WTI_COLUMN_U32},
	[REGISTERS] = {"registers_per_thread", "", "of a kernel", WTI_COLUMN_U32},
	[SOURCE] = {"src_address", "", "of a copy", WTI_COLUMN_U64},
	[DESTINATION] = {"dst_address", "", "of a copy", WTI_COLUMN_U64},
	[BYTES] = {"size_bytes", "bytes", "of a copy", WTI_COLUMN_U64},
};

/* ---- Reading --------------------------------------------------------------------------------- */

static bool add_number(struct wti_column *column, uint64_t value, bool is_known)
{
	void *at = wti_column_reserve(column, 1);
	uint32_t narrow = (uint32_t)value;

	if (!at)
		return false;
	if (column->type == WTI_COLUMN_U32)
		memcpy(at, &narrow, sizeof(narrow));
	else
		memcpy(at, &value, sizeof(value));
	wti_column_added(column, 1);
	return is_known || !wti_column_null(column, column->rows - 1);
}

static bool add_text(struct wti_column *column, struct wt_text text)
{
	int32_t *at = wti_column_reserve(column, 1);

	if (!at || wti_column_code(column, text, at))
		return false;
	wti_column_added(column, 1);
	return true;
}

static bool add_event(struct wti_column *columns[COLUMNS], const struct wt_sbt_event *event)
{
	const uint64_t plain[] = {event->type,      event->timestamp, event->duration,
				  event->device_id, event->stream_id, event->correlation_id};
	const uint64_t kernel[] = {
		event->kernel.grid[0],          event->kernel.grid[1],
		event->kernel.grid[2],          event->kernel.block[0],
		event->kernel.block[1],         event->kernel.block[2],
		event->kernel.shared_mem_bytes, event->kernel.registers_per_thread};
	const uint64_t memory[] = {event->memory.src_address, event->memory.dst_address,
				   event->memory.size_bytes};
	bool ok = add_text(columns[NAME], event->name);

	for (int i = TYPE; ok && i < NAME; i++)
		ok = add_number(columns[i], plain[i], true);
	for (int i = GRID; ok && i < SOURCE; i++)
		ok = add_number(columns[i], kernel[i - GRID], event->has_kernel_params);
	for (int i = SOURCE; ok && i < COLUMNS; i++)
		ok = add_number(columns[i], memory[i - SOURCE], event->has_memory_params);
	return ok;
}

static bool gather(struct wti_column *columns[COLUMNS], struct wt_sbt_reader *reader)
{
	struct wt_sbt_event event;
	bool ok = true;

	for (int i = 0; ok && i < COLUMNS; i++) {
		columns[i] = wti_column_new(layout[i].type, layout[i].name, layout[i].unit,
					    layout[i].doc);
		ok = columns[i];
	}
	while (ok && wt_sbt_read(reader, &event))
		ok = add_event(columns, &event);
	return ok;
}

static PyObject *about_of(const struct wt_sbt_reader *reader)
{
	const struct wt_sbt_about *about = wt_sbt_reader_about(reader);
	const struct wt_err *damage = wt_sbt_reader_damage(reader);

	return Py_BuildValue(
		"{s:N,s:N,s:N,s:I,s:O,s:N}", "application",
		wti_unicode(about->application.data, about->application.bytes), "command_line",
		wti_unicode(about->command_line.data, about->command_line.bytes), "host",
		wti_unicode(about->host.data, about->host.bytes), "pid", about->pid, "complete",
		about->event_count == UINT64_MAX || damage->code ? Py_False : Py_True, "damage",
		wti_printable_unicode(damage->message, strlen(damage->message)));
}

static PyObject *columns_of(const struct wti_module *module, struct wti_column *columns[COLUMNS])
{
	PyObject *list = PyList_New(0);

	for (int i = 0; list && i < COLUMNS; i++) {
		PyObject *column;

		wti_column_seal(columns[i]);
		column = wti_column_object(module, columns[i]);
		if (!column || PyList_Append(list, column))
			Py_CLEAR(list);
		Py_XDECREF(column);
	}
	return list;
}

PyObject *wti_sbt_read(PyObject *self, PyObject *path)
{
	const struct wti_module *module = PyModule_GetState(self);
	struct wti_column *columns[COLUMNS] = {0};
	struct wt_err err = {.offset = -1};
	struct wt_sbt_reader *reader;
	PyObject *bytes, *list = NULL, *about = NULL, *result = NULL;
	bool ok;
	int r;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = wt_sbt_reader_open(PyBytes_AsString(bytes), &reader, &err);
	ok = !r && gather(columns, reader);
	Py_END_ALLOW_THREADS;
	Py_DECREF(bytes);
	if (r)
		return wti_raise(module, &err);
	list = ok ? columns_of(module, columns) : PyErr_NoMemory();
	about = list ? about_of(reader) : NULL;
	if (about)
		result = PyTuple_Pack(2, list, about);
	Py_XDECREF(list);
	Py_XDECREF(about);
	for (int i = 0; i < COLUMNS; i++)
		wti_column_unref(columns[i]);
	wt_sbt_reader_free(reader);
	return result;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Numbers that do not fit are refused, not cut. */
static int wide(PyObject *object, void *ret_number)
{
	unsigned long long number = PyLong_AsUnsignedLongLong(object);

	if (PyErr_Occurred())
		return 0;
	*(uint64_t *)ret_number = number;
	return 1;
}

static int narrow(PyObject *object, void *ret_number)
{
	uint64_t number;

	if (!wide(object, &number))
		return 0;
	if (number > UINT32_MAX) {
		PyErr_SetString(PyExc_OverflowError, "a number of an event is above 2^32 - 1");
		return 0;
	}
	*(uint32_t *)ret_number = (uint32_t)number;
	return 1;
}

/* (type, timestamp, duration, device, stream, correlation, name, 8 numbers or None, 3 or None) */
static bool write_event(struct wt_sbt_writer *writer, PyObject *tuple)
{
	struct wt_sbt_event event = {0};
	PyObject *kernel, *memory;
	Py_ssize_t bytes;
	const char *name;

	if (!PyTuple_Check(tuple)) {
		PyErr_SetString(PyExc_TypeError, "an event is a tuple");
		return false;
	}
	if (!PyArg_ParseTuple(tuple, "bO&O&O&O&O&s#OO", &event.type, wide, &event.timestamp, wide,
			      &event.duration, narrow, &event.device_id, narrow, &event.stream_id,
			      wide, &event.correlation_id, &name, &bytes, &kernel, &memory))
		return false;
	event.name = (struct wt_text){name, (size_t)bytes};
	event.has_kernel_params = kernel != Py_None;
	event.has_memory_params = memory != Py_None;
	if (event.has_kernel_params &&
	    !PyArg_ParseTuple(kernel, "O&O&O&O&O&O&O&O&", narrow, &event.kernel.grid[0], narrow,
			      &event.kernel.grid[1], narrow, &event.kernel.grid[2], narrow,
			      &event.kernel.block[0], narrow, &event.kernel.block[1], narrow,
			      &event.kernel.block[2], narrow, &event.kernel.shared_mem_bytes,
			      narrow, &event.kernel.registers_per_thread))
		return false;
	if (event.has_memory_params &&
	    !PyArg_ParseTuple(memory, "O&O&O&", wide, &event.memory.src_address, wide,
			      &event.memory.dst_address, wide, &event.memory.size_bytes))
		return false;
	wt_sbt_write(writer, &event);
	return true;
}

static bool write_events(struct wt_sbt_writer *writer, PyObject *events)
{
	PyObject *iterator = PyObject_GetIter(events), *item;
	bool ok = iterator;

	while (ok && (item = PyIter_Next(iterator))) {
		ok = write_event(writer, item);
		Py_DECREF(item);
	}
	Py_XDECREF(iterator);
	return ok && !PyErr_Occurred();
}

PyObject *wti_sbt_write(PyObject *self, PyObject *args)
{
	const struct wti_module *module = PyModule_GetState(self);
	struct wt_err err = {.offset = -1};
	struct wt_sbt_writer *writer;
	PyObject *bytes, *events;
	int r;

	if (!PyArg_ParseTuple(args, "O&O", PyUnicode_FSConverter, &bytes, &events))
		return NULL;
	r = wt_sbt_writer_create(PyBytes_AsString(bytes), &writer, &err);
	Py_DECREF(bytes);
	if (r)
		return wti_raise(module, &err);
	if (!write_events(writer, events)) {
		wt_sbt_writer_free(writer);
		return NULL;
	}
	r = wt_sbt_writer_finish(writer, &err);
	wt_sbt_writer_free(writer);
	if (r)
		return wti_raise(module, &err);
	Py_INCREF(Py_None);
	return Py_None;
}
