/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the program's own Python functions, when asked for. There is no object to hook: the main
 * module defines its functions while it runs. So frames are watched, and decided upon by their
 * code, once for each (a code extra, freed with it).
 *
 * Up to 3.11 the interpreter lets its evaluation of frames be replaced; ours emits what is wanted
 * and leaves the rest to the original. That costs every call of a Python function some 20 ns, as
 * the interpreter then makes none of them within itself. From 3.12 on sys.monitoring calls us when
 * functions begin and end, and for code that is not wanted only once.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>

struct note {
	struct wti_hook hook; /* stands for the function: names and parameters */
	bool is_wanted;
	bool is_decided;
};

static void release_note(void *note)
{
	free(note);
}

static bool is_function(PyCodeObject *code)
{
	const char *name = PyUnicode_AsUTF8(code->co_name);

	if (!name) {
		PyErr_Clear();
		return false;
	}
	/* Bodies of modules and classes are not optimized; comprehensions are no functions. */
	return code->co_flags & CO_OPTIMIZED && (name[0] != '<' || strcmp(name, "<lambda>") == 0);
}

/* Whether the patterns of the user want it: the Python side decides. */
static bool matches(PyObject *module, PyObject *function)
{
	struct wti_guard guard;
	PyObject *answer;
	bool is_wanted;

	wti_python_thread.inside++;
	wti_own_call_begin(&guard);
	answer = PyObject_CallFunctionObjArgs(wti_hook_state.own_wanted, module, function, NULL);
	wti_own_call_end(&guard);
	wti_python_thread.inside--;
	is_wanted = answer == Py_True;
	Py_XDECREF(answer);
	return is_wanted;
}

/* Text that its module has under this name; borrowed, or NULL. */
static PyObject *global_text(PyObject *globals, PyObject *name)
{
	PyObject *text =
		globals && PyDict_Check(globals) ? PyDict_GetItemWithError(globals, name) : NULL;

	PyErr_Clear();
	return text && PyUnicode_Check(text) ? text : NULL;
}

/* Code that was made from text, as dataclasses do, belongs to the module that it was made for. */
static bool is_in_library(PyCodeObject *code, PyObject *globals)
{
	PyObject *file = global_text(globals, wti_hook_state.words.file);

	if (wti_site_in_library(code))
		return true;
	return file && PyUnicode_GET_LENGTH(code->co_filename) > 0 &&
	       PyUnicode_READ_CHAR(code->co_filename, 0) == '<' && wti_site_file_in_library(file);
}

static void decide(struct note *note, PyCodeObject *code, PyObject *globals)
{
	PyObject *module = global_text(globals, wti_hook_state.words.name);
#if PY_VERSION_HEX >= 0x030b0000
	PyObject *function = code->co_qualname;
#else
	PyObject *function = code->co_name;
#endif

	note->is_decided = true;
	if (!module || !is_function(code) || is_in_library(code, globals))
		return;
	note->hook.callee = wti_name_of_text(function);
	note->hook.module = wti_name_of_text(module);
	note->hook.parameters = wti_code_parameters(code);
	note->hook.parameter_count = (uint32_t)(code->co_argcount + code->co_kwonlyargcount);
	note->is_wanted = matches(module, function);
}

/* NULL: not wanted. */
static const struct note *wanted_note(PyCodeObject *code, PyObject *globals)
{
	void *found = NULL;
	struct note *note;

	if (wti_code_extra_get(code, wti_hook_state.frame_extra, &found) < 0)
		PyErr_Clear();
	note = found;
	if (wti_unlikely(!note)) {
		note = calloc(1, sizeof(*note));
		if (!note || wti_code_extra_set(code, wti_hook_state.frame_extra, note) < 0) {
			PyErr_Clear();
			free(note);
			return NULL;
		}
	}
	if (wti_unlikely(!note->is_decided))
		decide(note, code, globals);
	return note->is_wanted ? note : NULL;
}

static bool is_watching(void)
{
	return wti_python.is_on && !wti_python_thread.inside &&
	       wti_python.detail != WTI_DETAIL_LEAN;
}

static void emit_depth(void)
{
	if (!wti_hook_state.is_depth_emitted)
		wti_line_emit(WT_LEVEL_WARNING, "calls_of_own_functions_too_deep_to_be_told");
	wti_hook_state.is_depth_emitted = true;
}

static uint64_t meter_begin(void)
{
	return wti_python.pace.reason == WT_THINNING_BUDGET ? wti_ticks(wti_agent.ring_flags) : 0;
}

static void meter_end(uint64_t from)
{
	if (from)
		wti_pace_spent(wti_ticks(wti_agent.ring_flags) - from);
}

#if PY_VERSION_HEX < 0x030c0000
/* ---- Evaluation of frames, up to 3.11 -------------------------------------------------------- */

/* So deep calls are left to the interpreter, which needs no stack for them. */
enum { DEPTH_MAX = 2000 };

/* The arguments in a frame that begins, up to the first that stands elsewhere: in a cell. */
static Py_ssize_t argument_count(const struct note *note, PyObject *const *locals)
{
	Py_ssize_t count = 0;

	while (count < note->hook.parameter_count && locals[count])
		count++;
	return count;
}

static PyObject *emitted(PyThreadState *thread, wti_frame *frame, const struct note *note)
{
	struct wti_hooked_call call = {.hook = &note->hook, .place = wti_place_here()};
	PyObject *const *locals = wti_frame_locals(frame);
	Py_ssize_t count = argument_count(note, locals);
	uint64_t from = meter_begin();
	PyObject *result;

	wti_call_begin(&call, locals, count, NULL);
	meter_end(from);
	result = _PyEval_EvalFrameDefault(thread, frame, 0);
	from = meter_begin();
	wti_call_end(&call, NULL, 0, result);
	meter_end(from);
	return result;
}

static PyObject *evaluate(PyThreadState *thread, wti_frame *frame, int is_throw)
{
	const struct note *note;
	PyObject *result;

	if (is_throw || !is_watching() || wti_frame_is_generator(frame))
		note = NULL;
	else
		note = wanted_note(wti_frame_code(frame), wti_frame_globals(frame));
	if (wti_unlikely(++wti_hook_thread.frame_depth == DEPTH_MAX)) {
		emit_depth();
		_PyInterpreterState_SetEvalFrameFunc(thread->interp, _PyEval_EvalFrameDefault);
	}
	result = note ? emitted(thread, frame, note)
		      : _PyEval_EvalFrameDefault(thread, frame, is_throw);
	if (wti_unlikely(wti_hook_thread.frame_depth-- == DEPTH_MAX))
		_PyInterpreterState_SetEvalFrameFunc(thread->interp, evaluate);
	return result;
}

static bool watch(void)
{
	PyInterpreterState *interpreter = PyThreadState_Get()->interp;

	if (_PyInterpreterState_GetEvalFrameFunc(interpreter) != _PyEval_EvalFrameDefault)
		return false; /* somebody else's */
	_PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
	return true;
}

PyMethodDef wti_frame_methods[] = {{NULL}};
#else
/* ---- sys.monitoring, from 3.12 on ------------------------------------------------------------ */

enum {
	OPEN_MAX = 1024,     /* calls under way on a thread that get an end */
	ARGUMENTS_MAX = 256, /* of a call that are emitted */
	NOT_CALLED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR,
};

/* Functions under way on this thread that have been emitted. */
struct wti_open_function {
	PyCodeObject *code; /* borrowed: it runs */
	struct wti_hooked_call call;
};

/* With the interpreter's state of the thread, which is its own business to end. */
static void release_opens(PyObject *capsule)
{
	struct wti_open_function *room = PyCapsule_GetPointer(capsule, NULL);

	if (room == wti_hook_thread.opens) {
		wti_hook_thread.opens = NULL;
		wti_hook_thread.open_count = 0;
	}
	free(room);
}

static bool make_opens(void)
{
	PyObject *dict = PyThreadState_GetDict(), *capsule = NULL;
	struct wti_open_function *room = calloc(OPEN_MAX, sizeof(*room));

	if (room)
		capsule = PyCapsule_New(room, NULL, release_opens);
	if (!capsule)
		free(room);
	else if (dict && PyDict_SetItemString(dict, "wheeltap", capsule) == 0)
		wti_hook_thread.opens = room;
	PyErr_Clear();
	Py_XDECREF(capsule);
	return wti_hook_thread.opens != NULL;
}

static PyObject *answer(bool is_wanted)
{
	PyObject *object = is_wanted ? Py_None : wti_hook_state.monitoring_disable;

	return Py_NewRef(object);
}

/* Those in a frame that begins, borrowed, up to the first that stands elsewhere: in a cell. */
static Py_ssize_t arguments_of(const struct note *note, wti_frame *frame, PyObject **ret)
{
	Py_ssize_t count = 0;

	for (; count < note->hook.parameter_count && count < ARGUMENTS_MAX; count++) {
		ret[count] = wti_variable(frame->localsplus[count]);
		if (!ret[count])
			break;
	}
	return count;
}

static void begin(struct wti_open_function *open, const struct note *note, wti_frame *frame)
{
	PyObject *arguments[ARGUMENTS_MAX];
	Py_ssize_t count = arguments_of(note, frame, arguments);

	open->call.place = wti_place_of(wti_frame_back(frame));
	wti_call_begin(&open->call, arguments, count, NULL);
}

/* began(code, offset) */
static PyObject *began(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	wti_frame *frame = wti_frame_here(PyThreadState_Get());
	const struct note *note;
	struct wti_open_function *open;
	uint64_t from;

	if (!is_watching())
		Py_RETURN_NONE;
	if (!frame || count < 1 || wti_place_of(frame).code != (PyCodeObject *)arguments[0])
		Py_RETURN_NONE;
	note = wanted_note((PyCodeObject *)arguments[0], frame->f_globals);
	if (!note || ((PyCodeObject *)arguments[0])->co_flags & NOT_CALLED)
		return answer(false);
	if (!wti_hook_thread.opens && !make_opens())
		Py_RETURN_NONE;
	if (wti_hook_thread.open_count == OPEN_MAX) {
		emit_depth();
		Py_RETURN_NONE;
	}
	from = meter_begin();
	open = &wti_hook_thread.opens[wti_hook_thread.open_count++];
	*open = (struct wti_open_function){(PyCodeObject *)arguments[0], {.hook = &note->hook}};
	begin(open, note, frame);
	meter_end(from);
	Py_RETURN_NONE;
}

static void end(PyObject *code, PyObject *result)
{
	uint64_t from = meter_begin();

	if (!wti_hook_thread.open_count ||
	    wti_hook_thread.opens[wti_hook_thread.open_count - 1].code != (PyCodeObject *)code)
		return; /* its begin was not emitted */
	wti_call_end(&wti_hook_thread.opens[--wti_hook_thread.open_count].call, NULL, 0, result);
	meter_end(from);
}

/* returned(code, offset, result) */
static PyObject *returned(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	void *found = NULL;

	if (count < 3)
		Py_RETURN_NONE;
	if (wti_code_extra_get(arguments[0], wti_hook_state.frame_extra, &found) < 0)
		PyErr_Clear();
	if (found && !((struct note *)found)->is_wanted)
		return answer(false);
	end(arguments[0], arguments[2]);
	Py_RETURN_NONE;
}

/* unwound(code, offset, exception) */
static PyObject *unwound(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	if (count < 3 || !wti_hook_thread.open_count ||
	    wti_hook_thread.opens[wti_hook_thread.open_count - 1].code !=
		    (PyCodeObject *)arguments[0])
		Py_RETURN_NONE;
	PyErr_SetRaisedException(Py_NewRef(arguments[2]));
	end(arguments[0], NULL);
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyObject *set_disable(PyObject *self, PyObject *object)
{
	Py_XSETREF(wti_hook_state.monitoring_disable, Py_NewRef(object));
	Py_RETURN_NONE;
}

static bool watch(void)
{
	return true; /* the Python side asks for the calls */
}

PyMethodDef wti_frame_methods[] = {
	{"function_began", (PyCFunction)(void (*)(void))began, METH_FASTCALL, NULL},
	{"function_returned", (PyCFunction)(void (*)(void))returned, METH_FASTCALL, NULL},
	{"function_unwound", (PyCFunction)(void (*)(void))unwound, METH_FASTCALL, NULL},
	{"set_disable", set_disable, METH_O, NULL},
	{NULL},
};
#endif

bool wti_frame_watch(PyObject *wanted)
{
	if (wti_hook_state.own_wanted)
		return true;
	wti_hook_state.frame_extra = wti_code_extra_index(release_note);
	if (wti_hook_state.frame_extra < 0)
		return false;
	Py_INCREF(wanted);
	wti_hook_state.own_wanted = wanted;
	return watch();
}
