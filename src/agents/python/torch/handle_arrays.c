/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of numpy that are saved and loaded: numpy.save(), savez(), load() and what is taken out of
 * an archive. Knows how numpy names arrays and files. Nothing of the program's runs for it.
 */
#include "handler.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES_MAX = 200 }; /* longer keys are not emitted */

/* What files call an array that is saved alone. */
static struct wt_name *alone(void)
{
	return WT_NAME("array");
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Keys that look like names; others may be private and are replaced by their number. */
static bool is_name(const char *text, size_t bytes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-/";

	return bytes > 0 && bytes <= KEY_BYTES_MAX && *text != '.' && *text != '-' &&
	       *text != '/' && strspn(text, letters) == bytes;
}

static struct wt_name *key_name(PyObject *key, Py_ssize_t number)
{
	Py_ssize_t bytes = 0;
	const char *text =
		key && PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &bytes) : NULL;
	char words[32];

	PyErr_Clear();
	if (text && is_name(text, (size_t)bytes))
		return wti_name_find(text, (size_t)bytes);
	snprintf(words, sizeof(words), "<%zd>", number);
	return wti_name_find(words, strlen(words));
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static void emit_text(const struct wti_hooked_call *call, PyObject *text)
{
	const struct wti_value_place place = {call->seq, 1, WT_NAME("path")};

	if (text && PyUnicode_Check(text))
		wti_value_emit(&place, text, UINT64_MAX);
	PyErr_Clear();
}

/* numpy adds its ending where a name has none. */
static void emit_target(const struct wti_hooked_call *call, PyObject *file, const char *ending)
{
	PyObject *text = wti_handle_path(file);
	Py_ssize_t bytes = 0;
	const char *path = text ? PyUnicode_AsUTF8AndSize(text, &bytes) : NULL;
	size_t ending_bytes = strlen(ending);

	if (path && ((size_t)bytes < ending_bytes ||
		     strcmp(path + (size_t)bytes - ending_bytes, ending) != 0))
		Py_XSETREF(text, PyUnicode_FromFormat("%U%s", text, ending));
	emit_text(call, text);
	Py_XDECREF(text);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* A file that is mapped (mmap_mode) may be far larger than the memory: it is described, not read.
 */
static bool is_mapped(PyObject *object)
{
	const PyTypeObject *type = Py_TYPE(object);
	const char *dot = strrchr(type->tp_name, '.');

	return !strcmp(dot ? dot + 1 : type->tp_name, "memmap");
}

/* What is no array becomes one inside of numpy: it is in the file, and not in the trace. */
static void emit_array(const struct wti_hooked_call *call, int32_t position, struct wt_name *name,
		       PyObject *object)
{
	const struct wti_value_place place = {call->seq, position, name};
	const struct wti_value_place more = {call->seq, position, WT_NAME("...")};
	struct wti_tensor tensor;
	Py_buffer room;

	if (object && wti_tensor_look(object, &tensor, &room)) {
		wti_tensor_release(&tensor);
		wti_value_emit(&place, object, is_mapped(object) ? 0 : UINT64_MAX);
	} else {
		wti_value_emit(&more, Py_None, 0);
	}
	PyErr_Clear();
}

/* save(file, arr) */
static bool emit_one(const struct wti_hooked_call *call, const struct wti_given *given)
{
	emit_target(call, wti_handle_argument(given, 0, "file"), ".npy");
	emit_array(call, 1, alone(), wti_handle_argument(given, 1, "arr"));
	return true;
}

/* savez(file, *args, **kwds): the ones by position are called arr_0, arr_1. */
static bool emit_many(const struct wti_hooked_call *call, const struct wti_given *given)
{
	Py_ssize_t name_count = given->names ? PyTuple_GET_SIZE(given->names) : 0;
	char words[32];

	emit_target(call, wti_handle_argument(given, 0, "file"), ".npz");
	for (Py_ssize_t i = 1; i < given->count; i++) {
		snprintf(words, sizeof(words), "arr_%zd", i - 1);
		emit_array(call, 1, wti_name_find(words, strlen(words)), given->arguments[i]);
	}
	for (Py_ssize_t i = 0; i < name_count; i++) {
		PyObject *key = PyTuple_GET_ITEM(given->names, i);

		if (!given->count && PyUnicode_CompareWithASCIIString(key, "file") == 0)
			continue;
		emit_array(call, 1, key_name(key, i), given->arguments[given->count + i]);
	}
	return true;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* What a loader reads for its batches is data, and is emitted as such. */
static void before_load(struct wti_hooked_call *call, const struct wti_given *given)
{
	call->is_hidden = wti_torch_thread.depths[WT_ACTION_BATCH] > 0 ||
			  wti_torch_thread.depths[WTI_HANDLING_FETCH] > 0;
}

static bool emit_source(const struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *text = wti_handle_path(wti_handle_argument(given, 0, "file"));

	emit_text(call, text);
	Py_XDECREF(text);
	return true;
}

/* An archive gives its arrays one by one, when it is asked for them. */
static bool emit_loaded(const struct wti_hooked_call *call, PyObject *result)
{
	struct wti_tensor tensor;
	Py_buffer room;

	if (wti_tensor_look(result, &tensor, &room)) {
		wti_tensor_release(&tensor);
		emit_array(call, -1, alone(), result);
	}
	PyErr_Clear();
	return true;
}

/* An attribute as it is stored, borrowed; NULL: there is none. */
static PyObject *stored(PyObject *object, const char *name)
{
	PyObject *dict = object ? PyObject_GenericGetDict(object, NULL) : NULL;
	PyObject *found = dict && PyDict_CheckExact(dict) ? PyDict_GetItemString(dict, name) : NULL;

	PyErr_Clear();
	Py_XDECREF(dict);
	return found;
}

/* NpzFile.__getitem__(self, key) */
static void before_taken(struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *key = given->count > 1 ? given->arguments[1] : NULL;

	before_load(call, given);
	call->taken = key_name(key, 0);
}

static bool emit_archive(const struct wti_hooked_call *call, const struct wti_given *given)
{
	emit_text(call, stored(stored(given->arguments[0], "zip"), "filename"));
	return true;
}

static bool emit_taken(const struct wti_hooked_call *call, PyObject *result)
{
	const char *name = call->taken->text;
	size_t bytes = strlen(name);

	/* "weight" and "weight.npy" are the same entry. */
	if (bytes > 4 && !strcmp(name + bytes - 4, ".npy"))
		bytes -= 4;
	emit_array(call, -1, wti_name_find(name, bytes), result);
	return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const struct wti_handler wti_handler_array_saved = {NULL, emit_one, NULL, NULL, 0, WT_ACTION_SAVE};
const struct wti_handler wti_handler_arrays_saved = {NULL, emit_many, NULL,
						     NULL, 0,         WT_ACTION_SAVE};
const struct wti_handler wti_handler_array_loaded = {before_load, emit_source, emit_loaded,
						     NULL,        0,           WT_ACTION_LOAD};
const struct wti_handler wti_handler_array_taken = {
	before_taken, emit_archive, emit_taken, NULL, 2, WT_ACTION_LOAD};
