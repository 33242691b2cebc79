/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type Scan: events in their order, taken as columns or as rows, a piece at a time. Memory is
 * that of the piece and of the blocks that overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "question.h"
#include "rows.h"

#define RUN_ROWS 4096u
/* Rows between two looks at signals: a fraction of a second. */
#define PATIENCE_ROWS (1u << 20)

struct scan {
	PyObject_HEAD PyObject *trace; /* keeps what the cursor reads */
	struct wti_question question;
	struct wt_cursor *cursor;
	struct wti_gather *gather; /* made when columns are first asked for */
	struct wti_row_keys keys;
	bool busy; /* in a thread that has let the interpreter go */
	struct wt_event first;
	uint32_t rows[RUN_ROWS];
	int64_t times_ns[RUN_ROWS];
};

static const struct wt_trace *trace_of(const struct scan *scan)
{
	return ((struct wti_trace_object *)scan->trace)->trace;
}

static const struct wti_module *module_of(const struct scan *scan)
{
	return PyType_GetModuleState(Py_TYPE((PyObject *)scan));
}

static void scan_dealloc(PyObject *object)
{
	struct scan *scan = (struct scan *)object;
	PyTypeObject *type = Py_TYPE(object);

	wt_cursor_free(scan->cursor);
	if (scan->gather)
		wti_gather_release(scan->gather);
	free(scan->gather);
	wti_row_keys_release(&scan->keys);
	wti_question_release(&scan->question);
	Py_DECREF(scan->trace);
	PyObject_Free(object);
	Py_DECREF(type);
}

PyObject *wti_scan_new(const struct wti_module *module, PyObject *trace, PyObject *args,
		       PyObject *keywords)
{
	struct scan *scan = PyObject_New(struct scan, module->scan_type);
	struct wt_err err = {.offset = -1};

	if (!scan)
		return NULL;
	memset((char *)scan + offsetof(struct scan, trace), 0,
	       sizeof(*scan) - offsetof(struct scan, trace));
	Py_INCREF(trace);
	scan->trace = trace;
	if (wti_question_parse(&scan->question, args, keywords)) {
		Py_DECREF((PyObject *)scan);
		return NULL;
	}
	for (size_t i = 0; i < scan->question.kinds.count; i++) {
		if (wti_check_kind(trace_of(scan), scan->question.kinds.items[i], &err)) {
			Py_DECREF((PyObject *)scan);
			return wti_raise(module, &err);
		}
	}
	return (PyObject *)scan;
}

/* Two threads must not move one cursor. */
static int claim(struct scan *scan)
{
	if (scan->busy) {
		PyErr_SetString(PyExc_ValueError, "the events are being read by another thread");
		return -1;
	}
	scan->busy = true;
	return 0;
}

static int gather_init(const struct wti_question *q, const struct wt_trace *trace,
		       struct wti_gather *gather, struct wt_err *err)
{
	int r = wti_gather_init(gather, trace, q->kinds.count ? q->kinds.items[0] : "",
				q->all_fields ? NULL : q->fields.items, q->fields.count,
				q->contexts.items, q->contexts.count, err);

	gather->bytes_max = q->bytes_max;
	return r;
}

/* Makes the gather and the cursor, which decodes only what the columns need. */
static int prepare_columns(struct scan *scan, struct wt_err *err)
{
	struct wti_gather *gather;
	int r;

	if (scan->gather)
		return 0;
	gather = calloc(1, sizeof(*gather));
	if (!gather) {
		err->code = WT_E_NOMEM;
		return WT_E_NOMEM;
	}
	r = gather_init(&scan->question, trace_of(scan), gather, err);
	if (r) {
		free(gather);
		return r;
	}
	scan->gather = gather;
	scan->question.query.fields = gather->fields;
	return 0;
}

static int open_cursor(struct scan *scan, struct wt_err *err)
{
	if (scan->cursor)
		return 0;
	return wt_cursor_open(trace_of(scan), &scan->question.query, &scan->cursor, err);
}

/* Up to `rows_max` more rows; how many, or an error. */
static int64_t gather_some(struct scan *scan, size_t rows_max, struct wt_err *err)
{
	struct wti_rows rows = {.rows = scan->rows, .times_ns = scan->times_ns};
	size_t total = 0;

	while (total < rows_max) {
		size_t want = rows_max - total < RUN_ROWS ? rows_max - total : RUN_ROWS;
		int count = wt_cursor_rows(scan->cursor, want, &rows.first, scan->rows,
					   scan->times_ns, err);
		int r;

		if (count <= 0)
			return count < 0 ? count : (int64_t)total;
		rows.count = (size_t)count;
		r = wti_gather_rows(scan->gather, &rows, err);
		if (r)
			return r;
		total += rows.count;
	}
	return (int64_t)total;
}

/* Fewer rows may come than the kind has. */
static bool narrows(const struct scan *scan)
{
	const struct wt_query *query = &scan->question.query;

	return query->from_ns != INT64_MIN || query->to_ns != INT64_MAX || query->name ||
	       query->track || query->condition_count;
}

/* 0, an error, or 1: Python has raised something. */
static int gather_all(struct scan *scan, size_t rows_max, struct wt_err *err)
{
	size_t total = 0, expected = 0;
	int64_t count;
	int r;

	if (!narrows(scan) && scan->question.kinds.count)
		expected = wti_trace_rows(trace_of(scan), scan->question.kinds.items[0]);
	Py_BEGIN_ALLOW_THREADS r = prepare_columns(scan, err);
	if (!r)
		r = open_cursor(scan, err);
	if (!r)
		r = wti_gather_begin(scan->gather, err);
	if (!r && !narrows(scan))
		wti_gather_expect(scan->gather, expected < rows_max ? expected : rows_max);
	Py_END_ALLOW_THREADS while (!r && total < rows_max)
	{
		size_t want = rows_max - total < PATIENCE_ROWS ? rows_max - total : PATIENCE_ROWS;

		Py_BEGIN_ALLOW_THREADS count = gather_some(scan, want, err);
		Py_END_ALLOW_THREADS if (count < 0) return (int)count;
		total += (size_t)count;
		if ((size_t)count < want)
			break;
		if (PyErr_CheckSignals())
			return 1;
	}
	if (!r)
		wti_gather_seal(scan->gather);
	return r;
}

static PyObject *columns_of(const struct wti_module *module, const struct wti_gather *gather)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < gather->count; i++) {
		PyObject *column = wti_column_object(module, gather->sources[i].column);

		if (!column || PyList_Append(list, column)) {
			Py_DECREF(list);
			list = NULL;
		}
		Py_XDECREF(column);
	}
	return list;
}

static PyObject *scan_columns(PyObject *self, PyObject *argument)
{
	struct scan *scan = (struct scan *)self;
	Py_ssize_t rows_max = PyLong_AsSsize_t(argument);
	struct wt_err err = {.offset = -1};
	PyObject *list = NULL;
	int r;

	if (rows_max < 0) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_ValueError, "the number of rows is negative");
		return NULL;
	}
	if (claim(scan))
		return NULL;
	r = gather_all(scan, (size_t)rows_max, &err);
	if (!r)
		list = columns_of(module_of(scan), scan->gather);
	scan->busy = false;
	return r < 0 ? wti_raise(module_of(scan), &err) : list;
}

static PyObject *scan_rows(PyObject *self, PyObject *argument)
{
	struct scan *scan = (struct scan *)self;
	Py_ssize_t rows_max = PyLong_AsSsize_t(argument);
	struct wt_err err = {.offset = -1};
	struct wti_rows rows = {.rows = scan->rows, .times_ns = scan->times_ns};
	PyObject *list = NULL;
	int count;

	if (rows_max < 0 && PyErr_Occurred())
		return NULL;
	if (rows_max > RUN_ROWS || rows_max < 0)
		rows_max = RUN_ROWS;
	if (claim(scan))
		return NULL;
	Py_BEGIN_ALLOW_THREADS count = open_cursor(scan, &err);
	if (!count)
		count = wt_cursor_rows(scan->cursor, (size_t)rows_max, &rows.first, scan->rows,
				       scan->times_ns, &err);
	Py_END_ALLOW_THREADS if (count >= 0)
	{
		rows.count = (size_t)count;
		list = wti_rows_list(&scan->keys, &rows,
				     scan->question.all_fields ? NULL : &scan->question.fields);
	}
	scan->busy = false;
	return count < 0 ? wti_raise(module_of(scan), &err) : list;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static int append_column(const struct wti_module *module, PyObject *list, struct wti_column *column)
{
	PyObject *object = wti_column_object(module, column);
	int r = object ? PyList_Append(list, object) : -1;

	Py_XDECREF(object);
	return r;
}

static PyObject *calls_columns(const struct wti_module *module, const struct wti_call_table *calls)
{
	struct wti_column *more[] = {calls->duration, calls->self, calls->parent, calls->depth,
				     calls->exception};
	PyObject *list = columns_of(module, &calls->gather);

	for (size_t i = 0; list && i < sizeof(more) / sizeof(more[0]); i++) {
		if (more[i] && append_column(module, list, more[i])) {
			Py_DECREF(list);
			list = NULL;
		}
	}
	return list;
}

PyObject *wti_calls_table(const struct wti_module *module, PyObject *object, PyObject *args,
			  PyObject *keywords)
{
	const struct wt_trace *trace = ((struct wti_trace_object *)object)->trace;
	struct wt_err err = {.offset = -1};
	struct wti_question question;
	struct wti_call_table calls = {0};
	PyObject *list = NULL;
	int r;

	if (wti_question_parse(&question, args, keywords))
		return NULL;
	Py_BEGIN_ALLOW_THREADS r = gather_init(&question, trace, &calls.gather, &err);
	if (!r)
		r = wti_calls_read(&calls, &question.query, &err);
	Py_END_ALLOW_THREADS if (!r) list = calls_columns(module, &calls);
	wti_calls_release(&calls);
	wti_gather_release(&calls.gather);
	wti_question_release(&question);
	return r ? wti_raise(module, &err) : list;
}

static PyMethodDef methods[] = {
	{"columns", scan_columns, METH_O,
	 "Columns with up to so many rows; without rows at the end."},
	{"rows", scan_rows, METH_O,
	 "Up to so many events as (time_ns, kind, stream, track, seq, fields); [] at the end."},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "Events that a query asks for, a piece at a time."},
	{Py_tp_new, wti_no_new},
	{Py_tp_dealloc, scan_dealloc},
	{Py_tp_methods, methods},
	{0, NULL},
};

PyType_Spec wti_scan_spec = {
	.name = "wheeltap._reader.Scan",
	.basicsize = sizeof(struct scan),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
