/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that concern whole models: they are made, copied, called, saved and loaded. Knows which
 * modes a call runs in, and what went in and came out.
 */
#include "handler.h"

static uint32_t training_of(PyObject *module)
{
	PyObject *value = wti_own_attribute(module, wti_torch_state.words.training);

	if (value != Py_True && value != Py_False)
		return 0;
	return WT_CALL_MODE_KNOWN | (value == Py_True ? WT_CALL_TRAIN : 0);
}

/* In a program without an optimizer: what the step that is over has left, as its own. */
void wti_handle_step_over(void)
{
	wti_state_model(NULL);
	wti_random_read();
	wti_context_step_over();
	if (!wti_torch_state.is_step_given)
		wti_pace_step();
}

static void model_called(struct wti_hooked_call *call, struct wti_live *live, PyObject *module)
{
	bool training = call->flags & WT_CALL_TRAIN, was;

	if (!live->owner || !(call->flags & WT_CALL_MODE_KNOWN))
		return;
	if (wti_torch_state.is_loaded_anew) { /* what became of it before it was used */
		wti_torch_state.is_loaded_anew = false;
		wti_state_model(NULL);
	}
	if (live->count == 0) {
		wti_callback("model_begins", module);
		live = wti_live_find(module, WTI_LIVE_MODULE);
		if (!live)
			return;
	}
	was = live->training;
	if (live->count++ == 0 || was != training)
		wti_state_bool(live->full, WT_NAME("training"), live->count == 1 ? NULL : &was,
			       training);
	live->training = training;
	if (wti_context_ends_step(live, call->flags))
		wti_handle_step_over();
	wti_context_model(live, call->flags);
}

static void before_module(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *live;

	/* Only of the model as a whole more comes than the call. */
	if (!call->is_outer && call->hook->flags & WTI_HOOK_QUIET)
		return;
	live = wti_object_module(given->arguments[0]);
	if (call->is_outer || !wti_torch_thread.modes_known)
		wti_modes_look();
	call->flags = training_of(given->arguments[0]) | wti_torch_thread.modes |
		      (call->is_outer ? WT_CALL_OUTERMOST : 0);
	if (!live)
		return;
	call->object = live->full;
	if (call->is_outer)
		model_called(call, live, given->arguments[0]);
}

/* The name of a parameter of forward(), borrowed. */
static PyObject *parameter_of_forward(PyObject *module, Py_ssize_t position)
{
	PyObject *forward = _PyType_Lookup(Py_TYPE(module), wti_torch_state.words.forward);
	PyCodeObject *code;

	if (!forward || !PyObject_TypeCheck(forward, &PyFunction_Type))
		return NULL;
	code = (PyCodeObject *)PyFunction_GET_CODE(forward);
	if (position >= code->co_argcount)
		return NULL;
	return PyTuple_GET_ITEM(wti_code_parameters(code), position);
}

static bool emit_inputs(const struct wti_hooked_call *call, const struct wti_given *given)
{
	Py_ssize_t name_count = given->names ? PyTuple_GET_SIZE(given->names) : 0;
	struct wti_data_place place = {.call = call->seq, .owner = call->object};

	if (!call->is_outer)
		return false;
	for (Py_ssize_t i = 1; i < given->count + name_count; i++) {
		PyObject *name = i < given->count
					 ? parameter_of_forward(given->arguments[0], i)
					 : PyTuple_GET_ITEM(given->names, i - given->count);

		place.position = (int32_t)i;
		place.name = name ? wti_name_of_word(name) : NULL;
		wti_data_emit(&place, given->arguments[i]);
	}
	return true;
}

static bool emit_outputs(const struct wti_hooked_call *call, PyObject *result)
{
	const struct wti_data_place place = {.call = call->seq, .position = -1};

	if (!call->is_outer)
		return false;
	wti_data_emit(&place, result);
	return true;
}

static void before_module_made(struct wti_hooked_call *call, const struct wti_given *given)
{
	wti_object_module_new(given->arguments[0], WT_FOUND_MADE);
}

static void before_module_restored(struct wti_hooked_call *call, const struct wti_given *given)
{
	bool is_copied = wti_torch_thread.depths[WTI_HANDLING_COPY] > 0;

	wti_object_module_new(given->arguments[0],
			      is_copied ? WT_FOUND_COPIED : WT_FOUND_UNPICKLED);
}

static void before_module_method(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *live = call->is_outer ? wti_object_module(given->arguments[0]) : NULL;

	call->is_hidden = !call->is_outer;
	call->object = live ? live->full : NULL;
}

static bool is_module(PyObject *object)
{
	return wti_torch_state.module_type &&
	       PyObject_TypeCheck(object, wti_torch_state.module_type);
}

/* ---- Whole models: copied, saved, loaded ----------------------------------------------------- */

void wti_handle_contents(const struct wti_hooked_call *call, int position, PyObject *object)
{
	PyObject *emitted = Py_BuildValue("(IiO)", call->seq, position, object);

	if (emitted)
		wti_callback("contents", emitted);
	PyErr_Clear();
	Py_XDECREF(emitted);
}

/* An argument, by its position or by its name; borrowed. NULL: it was not given. */
PyObject *wti_handle_argument(const struct wti_given *given, Py_ssize_t position, const char *name)
{
	Py_ssize_t name_count = given->names ? PyTuple_GET_SIZE(given->names) : 0;

	if (position < given->count)
		return given->arguments[position];
	for (Py_ssize_t i = 0; i < name_count; i++)
		if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(given->names, i), name) == 0)
			return given->arguments[given->count + i];
	return NULL;
}

bool wti_handle_contents_given(const struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *state = wti_handle_argument(given, 1, "state_dict");

	if (state)
		wti_handle_contents(call, 1, state);
	return false;
}

static void after_module_loaded(struct wti_hooked_call *call, const struct wti_given *given,
				PyObject *result)
{
	struct wti_live *live = wti_live_find(given->arguments[0], WTI_LIVE_MODULE);

	if (result && call->is_outer && live && live->owner) {
		wti_state_model(live->inner ? live->inner : live->owner);
		wti_torch_state.is_loaded_anew = true;
	}
}

static void after_copy(struct wti_hooked_call *call, const struct wti_given *given,
		       PyObject *result)
{
	PyObject *pair;

	if (!result || !call->is_outer || !is_module(result) || result == given->arguments[0])
		return;
	pair = PyTuple_Pack(2, given->arguments[0], result);
	if (pair)
		wti_callback("copied", pair);
	PyErr_Clear();
	Py_XDECREF(pair);
}

static void before_save(struct wti_hooked_call *call, const struct wti_given *given)
{
	call->stage = wti_torch_state.stage;
	wti_stage_set("save");
	wti_state_model(NULL); /* so that what is saved can be compared with what is */
	wti_random_read();
}

/* What is saved comes first, or by the name that the library has for it. */
static PyObject *saved_of(const struct wti_given *given)
{
	static const char *const names[] = {"obj", "tensors", "state_dict"};
	PyObject *saved = NULL;

	for (size_t i = 0; !saved && i < sizeof(names) / sizeof(*names); i++)
		saved = wti_handle_argument(given, 0, names[i]);
	return saved;
}

/* pathlib's paths are no texts. Others are left alone: nothing of the program's runs. */
static bool is_path(PyObject *file)
{
	PyObject *word = PyUnicode_InternFromString("__module__"), *module = NULL;

	if (word)
		module = _PyType_Lookup(Py_TYPE(file), word);
	PyErr_Clear();
	Py_XDECREF(word);
	return module && PyUnicode_Check(module) &&
	       (PyUnicode_CompareWithASCIIString(module, "pathlib") == 0 ||
		PyUnicode_CompareWithASCIIString(module, "pathlib._local") == 0);
}

PyObject *wti_handle_path(PyObject *file)
{
	PyObject *text = NULL;

	if (file && PyUnicode_Check(file)) {
		text = file;
		Py_INCREF(text);
	} else if (file && is_path(file)) {
		text = PyOS_FSPath(file);
	}
	PyErr_Clear();
	return text;
}

static void emit_path(const struct wti_hooked_call *call, PyObject *file)
{
	const struct wti_value_place place = {call->seq, 1, WT_NAME("path")};
	/* A text is emitted as the argument that it is. */
	PyObject *text = file && !PyUnicode_Check(file) ? wti_handle_path(file) : NULL;

	if (text)
		wti_value_emit(&place, text, UINT64_MAX);
	PyErr_Clear();
	Py_XDECREF(text);
}

static void emit_file(const struct wti_hooked_call *call, const struct wti_given *given,
		      Py_ssize_t position)
{
	static const char *const names[] = {"f", "filename", "checkpoint_id"};
	PyObject *file = NULL;

	for (size_t i = 0; !file && i < sizeof(names) / sizeof(*names); i++)
		file = wti_handle_argument(given, position, names[i]);
	emit_path(call, file);
}

static bool emit_saved(const struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *saved = saved_of(given);

	if (saved)
		wti_handle_contents(call, 0, saved);
	emit_file(call, given, 1);
	return false;
}

static bool emit_source(const struct wti_hooked_call *call, const struct wti_given *given)
{
	emit_file(call, given, 0);
	return false;
}

static void before_load(struct wti_hooked_call *call, const struct wti_given *given)
{
	call->stage = wti_torch_state.stage;
	wti_stage_set("load");
	/* torch.distributed.checkpoint.load() fills what it is given. */
	if (given->count > 0 && PyDict_Check(given->arguments[0]))
		call->filled = given->arguments[0];
	else if (!given->count)
		call->filled = wti_handle_argument(given, 0, "state_dict");
}

static bool emit_found(const struct wti_hooked_call *call, PyObject *result)
{
	wti_handle_contents(call, -1, result == Py_None ? call->filled : result);
	return true;
}

static void after_stage(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	if (call->stage)
		wti_stage_set(call->stage);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const struct wti_handler wti_handler_module = {before_module, emit_inputs, emit_outputs,
					       NULL,          1,           WT_ACTION_FORWARD};
const struct wti_handler wti_handler_module_made = {before_module_made, NULL, NULL, NULL, 1};
const struct wti_handler wti_handler_module_restored = {before_module_restored, NULL, NULL, NULL,
							1};
const struct wti_handler wti_handler_module_method = {before_module_method, NULL, NULL, NULL, 1};
const struct wti_handler wti_handler_module_clear = {before_module_method, NULL, NULL, NULL, 1,
						     WT_ACTION_ZERO_GRAD};
const struct wti_handler wti_handler_module_loaded = {
	before_module_method, wti_handle_contents_given, NULL, after_module_loaded, 1};
const struct wti_handler wti_handler_average = {before_module_method, NULL, NULL,
						after_module_loaded, 1};
const struct wti_handler wti_handler_copy = {NULL, NULL, NULL, after_copy, 1};
const struct wti_handler wti_handler_save = {before_save, emit_saved, NULL,
					     after_stage, 0,          WT_ACTION_SAVE};
const struct wti_handler wti_handler_load = {before_load, emit_source, emit_found,
					     after_stage, 0,           WT_ACTION_LOAD};
