/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit annotations: by the program (steps, stages, numbers, lines, ranges), by the
 * Python side of the agent about itself, and by the agent when it cannot do something.
 */
#include "own.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "emit.h"

static PyObject *give_step(PyObject *self, PyObject *argument)
{
	long long step = PyLong_AsLongLong(argument);

	if (step == -1 && PyErr_Occurred())
		return NULL;
	wti_torch_state.is_step_given = true;
	if (wti_python.is_on) {
		wti_context_int(WT_NAME("step"), step);
		wti_pace_step();
	}
	Py_RETURN_NONE;
}

static PyObject *give_stage(PyObject *self, PyObject *argument)
{
	const char *stage = PyUnicode_AsUTF8(argument);

	if (!stage)
		return NULL;
	wti_torch_state.is_stage_given = true;
	if (wti_python.is_on)
		wti_context_text(WT_NAME("stage"), stage);
	Py_RETURN_NONE;
}

/* Where every run begins, as long as the program does not give another stage. */
static PyObject *begin(PyObject *self, PyObject *nothing)
{
	if (!wti_torch_state.stage)
		wti_torch_state.stage = "init";
	wti_context_catch_up();
	Py_RETURN_NONE;
}

static PyObject *emit_context(PyObject *self, PyObject *arguments)
{
	PyObject *key, *value;
	struct wt_name *name;

	if (!PyArg_ParseTuple(arguments, "UO", &key, &value))
		return NULL;
	if (!wti_python.is_on)
		Py_RETURN_NONE;
	name = wti_name_of_text(key);
	if (PyLong_Check(value)) {
		int overflow;
		long long number = PyLong_AsLongLongAndOverflow(value, &overflow);

		if (overflow)
			return PyErr_Format(PyExc_OverflowError, "'%U' does not fit 64 bits", key);
		wti_context_int(name, number);
	} else if (PyFloat_Check(value)) {
		wti_context_float(name, PyFloat_AS_DOUBLE(value));
	} else if (PyUnicode_Check(value) && PyUnicode_AsUTF8(value)) {
		wti_context_text(name, PyUnicode_AsUTF8(value));
	} else {
		PyErr_Clear();
		return PyErr_Format(PyExc_TypeError, "'%U' must be int, float or str", key);
	}
	Py_RETURN_NONE;
}

static void emit_setting(struct wt_name *key, uint32_t type, uint64_t value, const char *text)
{
	const struct wti_here here = wti_here();
	struct wti_record_setting setting = {.type = type, .value = value};
	struct wti_kept_text kept = {.data = text};

	if (!here.ring)
		return;
	kept.bytes = text ? (uint32_t)wti_text_cut(text, strlen(text), WTI_TEXT_MAX) : 0;
	setting.key = wti_name(here, key);
	wti_emit_setting(here, &setting, &kept);
}

/* How we are to record: {key: int, float or str}. */
static PyObject *emit_settings(PyObject *self, PyObject *dict)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (PyDict_Check(dict) && PyDict_Next(dict, &at, &key, &value)) {
		struct wt_name *name = wti_name_of_text(key);

		if (PyLong_Check(value)) {
			emit_setting(name, WT_VALUE_TYPE_INT, PyLong_AsUnsignedLongLong(value),
				     NULL);
		} else if (PyFloat_Check(value)) {
			double number = PyFloat_AS_DOUBLE(value);
			uint64_t bits;

			memcpy(&bits, &number, sizeof(bits));
			emit_setting(name, WT_VALUE_TYPE_FLOAT, bits, NULL);
		} else if (PyUnicode_Check(value)) {
			emit_setting(name, WT_VALUE_TYPE_TEXT, 0, PyUnicode_AsUTF8(value));
		}
	}
	PyErr_Clear();
	Py_RETURN_NONE;
}

/* What is not measured from the beginning. */
static PyObject *emit_omitted(PyObject *self, PyObject *nothing)
{
	wti_pace_emit();
	Py_RETURN_NONE;
}

static PyObject *emit_rank(PyObject *self, PyObject *arguments)
{
	const struct wti_here here = wti_here();
	unsigned rank, world, local;
	PyObject *group;

	if (!PyArg_ParseTuple(arguments, "IIIU", &rank, &world, &local, &group))
		return NULL;
	if (!wti_python.is_on || !here.ring)
		Py_RETURN_NONE;
	wti_emit_rank(here,
		      &(struct wti_record_rank){.rank = rank,
						.world = world,
						.local = local,
						.group = wti_name(here, wti_name_of_text(group))});
	Py_RETURN_NONE;
}

static PyObject *emit_counter(PyObject *self, PyObject *arguments)
{
	PyObject *name;
	double value;

	if (!PyArg_ParseTuple(arguments, "Ud", &name, &value))
		return NULL;
	if (wti_python.is_on)
		wti_counter(wti_name_of_text(name), value);
	Py_RETURN_NONE;
}

static PyObject *emit_line(PyObject *self, PyObject *arguments)
{
	struct wti_kept_text kept;
	const char *text;
	unsigned level;

	if (!PyArg_ParseTuple(arguments, "Is", &level, &text))
		return NULL;
	if (!wti_python.is_on || !wti_here().ring)
		Py_RETURN_NONE;
	wti_keep_text(&kept, text);
	wti_line_emit_kept(level, &kept);
	Py_RETURN_NONE;
}

/* The agent's own words: a sentence of ours is not private. */
static PyObject *emit_own_line(PyObject *self, PyObject *arguments)
{
	const char *text;
	unsigned level;

	if (!PyArg_ParseTuple(arguments, "Is", &level, &text))
		return NULL;
	wti_line_emit(level, text);
	Py_RETURN_NONE;
}

/* (name, status, comparator, expected, actual, detail, unit, file, line, tolerance, n, ns) */
static PyObject *emit_check(PyObject *self, PyObject *arguments)
{
	const struct wti_here here = wti_here();
	struct wti_kept_text kept[3];
	const struct wti_kept_text *const pointers[] = {&kept[0], &kept[1], &kept[2]};
	const char *texts[3];
	PyObject *name, *unit, *file;
	unsigned status, comparator, line;
	unsigned long long n;
	long long duration;
	double tolerance;
	struct wti_record_check check;

	if (!PyArg_ParseTuple(arguments, "UIIsssUUIdKL", &name, &status, &comparator, &texts[0],
			      &texts[1], &texts[2], &unit, &file, &line, &tolerance, &n, &duration))
		return NULL;
	if (!wti_python.is_on || !here.ring)
		Py_RETURN_NONE;
	check = (struct wti_record_check){.name = wti_name(here, wti_name_of_text(name)),
					  .status = status,
					  .comparator = comparator,
					  .unit = wti_name(here, wti_name_of_text(unit)),
					  .file = wti_name(here, wti_name_of_text(file)),
					  .line = line,
					  .tolerance = tolerance,
					  .n = n,
					  .duration = duration};
	for (size_t i = 0; i < 3; i++)
		wti_keep_text(&kept[i], texts[i]);
	wti_emit_check(here, &check, pointers);
	Py_RETURN_NONE;
}

static PyObject *emit_span(PyObject *argument, uint16_t kind)
{
	struct wti_record_span_begin *record;
	struct wti_here here = wti_here();
	uint32_t id, seq;

	if (!PyUnicode_Check(argument))
		return PyErr_Format(PyExc_TypeError, "the name of a range must be a str");
	if (!wti_python.is_on || !here.ring)
		Py_RETURN_NONE;
	id = wti_name(here, wti_name_of_text(argument));
	record = wti_open(here, kind, sizeof(*record));
	if (record) {
		record->name = id;
		seq = record->record.seq;
		record->flags = 0;
		wti_commit(here, sizeof(*record));
		if (kind == WT_KIND_SPAN_BEGIN)
			wti_external_begin(here, seq);
	}
	if (kind == WT_KIND_SPAN_END)
		wti_external_end();
	Py_RETURN_NONE;
}

static PyObject *span_begin(PyObject *self, PyObject *argument)
{
	return emit_span(argument, WT_KIND_SPAN_BEGIN);
}

static PyObject *span_end(PyObject *self, PyObject *argument)
{
	return emit_span(argument, WT_KIND_SPAN_END);
}

PyMethodDef wti_annotate_methods[] = {
	{"settings", emit_settings, METH_O, NULL}, {"omitted", emit_omitted, METH_NOARGS, NULL},
	{"step", give_step, METH_O, NULL},         {"stage", give_stage, METH_O, NULL},
	{"begin", begin, METH_NOARGS, NULL},       {"context", emit_context, METH_VARARGS, NULL},
	{"rank", emit_rank, METH_VARARGS, NULL},   {"counter", emit_counter, METH_VARARGS, NULL},
	{"line", emit_line, METH_VARARGS, NULL},   {"own_line", emit_own_line, METH_VARARGS, NULL},
	{"check", emit_check, METH_VARARGS, NULL}, {"span_begin", span_begin, METH_O, NULL},
	{"span_end", span_end, METH_O, NULL},      {NULL},
};
