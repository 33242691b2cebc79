/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments and returns as records: numbers as they are, tensors as digests, texts if they may be
 * kept, containers by their first elements, everything else by the name of its type. No code of the
 * program runs for it: nothing here calls str() or repr() on what is not one of a few known types.
 */
#include "own.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "emit.h"

enum {
	ELEMENTS_MAX = 16, /* of a container that are emitted */
	SUMMARY_BYTES = 256,
};

/* ---- Records --------------------------------------------------------------------------------- */

static void emit(const struct wti_value_place *place, uint32_t type, uint64_t value,
		 const struct wti_kept_text *kept)
{
	const struct wti_here here = wti_here();
	struct wti_record_argument argument;

	if (!here.ring)
		return;
	argument = (struct wti_record_argument){
		.call = place->call,
		.position = place->position,
		.name = place->name ? wti_name(here, place->name) : 0,
		.type = type,
		.value = value,
	};
	wti_emit_argument(here, &argument, kept);
}

/* Words of ours: names of types, lengths. */
static void emit_words(const struct wti_value_place *place, uint32_t type, const char *words)
{
	struct wti_kept_text kept = {.data = words, .bytes = (uint32_t)strlen(words)};

	kept.bytes = (uint32_t)wti_text_cut(words, kept.bytes, SUMMARY_BYTES);
	emit(place, type, 0, &kept);
}

static void emit_text(const struct wti_value_place *place, PyObject *object)
{
	struct wti_kept_text kept;
	const char *text = PyUnicode_AsUTF8(object);

	if (!text) {
		PyErr_Clear();
		emit_words(place, WT_VALUE_TYPE_NONE, "<str>");
		return;
	}
	wti_keep_text(&kept, text);
	emit(place, WT_VALUE_TYPE_TEXT, 0, &kept);
}

static void emit_float(const struct wti_value_place *place, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	emit(place, WT_VALUE_TYPE_FLOAT, bits, NULL);
}

static void emit_int(const struct wti_value_place *place, PyObject *object)
{
	int overflow;
	long long value = PyLong_AsLongLongAndOverflow(object, &overflow);

	/* Its hash is the same in all processes; a subclass could run code of its own for it. */
	if (overflow)
		emit(place, WT_VALUE_TYPE_HASH, (uint64_t)PyLong_Type.tp_hash(object), NULL);
	else
		emit(place, WT_VALUE_TYPE_INT, (uint64_t)value, NULL);
}

static void emit_type_of(const struct wti_value_place *place, PyObject *object)
{
	char words[SUMMARY_BYTES];

	snprintf(words, sizeof(words), "<%.200s>", Py_TYPE(object)->tp_name);
	emit_words(place, WT_VALUE_TYPE_NONE, words);
}

/* ---- Tensors and containers ------------------------------------------------------------------ */

static bool emit_tensor(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	struct wti_tensor_names names = {NULL, place->name, place->call, place->position};
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;
	bool is_read;

	if (!wti_tensor_look(object, &tensor, &room))
		return false;
	is_read = tensor.data && tensor.count <= bytes_max / tensor.item_bytes &&
		  wti_recent_digest(&tensor, &digest);
	wti_tensor_emit(&tensor, &names, is_read ? &digest : NULL);
	if (tensor.kind)
		wti_tensor_emit_parts(object, &tensor, &names, bytes_max);
	wti_tensor_release(&tensor);
	return true;
}

/* "(3, 4)" if all elements are small integers. */
static bool emit_integers(const struct wti_value_place *place, PyObject *const *items,
			  Py_ssize_t count)
{
	char words[SUMMARY_BYTES];
	int used = 0;

	if (count == 0 || count > ELEMENTS_MAX)
		return false;
	for (Py_ssize_t i = 0; i < count; i++) {
		int overflow = 1;
		long value = PyLong_CheckExact(items[i])
				     ? PyLong_AsLongAndOverflow(items[i], &overflow)
				     : 0;

		if (overflow || used > SUMMARY_BYTES - 32)
			return false;
		used += snprintf(words + used, (size_t)(SUMMARY_BYTES - used), "%s%ld",
				 i ? ", " : "(", value);
	}
	snprintf(words + used, (size_t)(SUMMARY_BYTES - used), ")");
	emit_words(place, WT_VALUE_TYPE_TEXT, words);
	return true;
}

static bool is_simple(PyObject *object)
{
	return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
	       PyUnicode_CheckExact(object) || wti_tensor_is(object) || wti_scalar_is(object);
}

/* An array of numpy's, where elements are kept: what a library returns within something. */
static bool is_array(PyObject *object)
{
	const PyTypeObject *type = Py_TYPE(object);

	return wti_agent.elements &&
	       (!strcmp(type->tp_name, "numpy.ndarray") ||
		(type->tp_base && !strcmp(type->tp_base->tp_name, "numpy.ndarray")));
}

static bool is_part(PyObject *object)
{
	return is_simple(object) || is_array(object);
}

static void emit_simple(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max);

/* Its length, and what is simple among the first elements, each under "name[i]". */
static void emit_sequence(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
	PyObject *const *items = PySequence_Fast_ITEMS(object);
	char words[SUMMARY_BYTES];

	if (emit_integers(place, items, count))
		return;
	snprintf(words, sizeof(words), "<%.100s of %zd>", Py_TYPE(object)->tp_name, count);
	emit_words(place, WT_VALUE_TYPE_NONE, words);
	for (Py_ssize_t i = 0; i < count && i < ELEMENTS_MAX; i++) {
		struct wti_value_place inner = *place;

		if (!is_part(items[i]))
			continue;
		inner.name = wti_name_element(place->name, i);
		emit_simple(&inner, items[i], bytes_max);
	}
}

static void emit_items(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	struct wti_value_place inner = *place;
	PyObject *key, *value;
	Py_ssize_t at = 0;

	for (int i = 0; i < ELEMENTS_MAX && PyDict_Next(object, &at, &key, &value); i++) {
		inner.name = is_part(value) ? wti_name_item(place->name, key) : NULL;
		if (inner.name)
			emit_simple(&inner, value, bytes_max);
	}
}

static void emit_dict(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	char words[SUMMARY_BYTES];

	snprintf(words, sizeof(words), "<dict of %zd>", PyDict_GET_SIZE(object));
	emit_words(place, WT_VALUE_TYPE_NONE, words);
	emit_items(place, object, bytes_max);
}

/* Of what a call returns, where elements are kept: attributes too, as they are stored. */
static void emit_object(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	PyObject *stored = wti_agent.elements && place->position < 0 && !PyCallable_Check(object)
				   ? PyObject_GenericGetDict(object, NULL)
				   : NULL;

	PyErr_Clear();
	emit_type_of(place, object);
	if (stored && PyDict_CheckExact(stored))
		emit_items(place, stored, bytes_max);
	Py_XDECREF(stored);
}

static void emit_simple(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	if (wti_tensor_is(object) || wti_scalar_is(object) || is_array(object))
		emit_tensor(place, object, bytes_max);
	else if (PyBool_Check(object))
		emit(place, WT_VALUE_TYPE_BOOL, object == Py_True, NULL);
	else if (PyLong_CheckExact(object))
		emit_int(place, object);
	else if (PyFloat_CheckExact(object))
		emit_float(place, PyFloat_AS_DOUBLE(object));
	else
		emit_text(place, object);
}

/* What is followed by the name that it has there; types by theirs. */
static bool emit_named(const struct wti_value_place *place, PyObject *object)
{
	const struct wt_name *known;
	struct wt_name *module;
	const char *name;

	if (PyType_Check(object)) {
		wti_type_names((PyTypeObject *)object, &module, &name);
		emit_words(place, WT_VALUE_TYPE_TEXT, name);
		return true;
	}
	known = wti_live_name(object);
	if (known)
		emit_words(place, WT_VALUE_TYPE_TEXT, known->text);
	return known != NULL;
}

/* torch.float32, cpu, strided: types of torch whose str() is C and short. */
static bool emit_torch_word(const struct wti_value_place *place, PyObject *object)
{
	const char *type = Py_TYPE(object)->tp_name;
	PyObject *text;

	if (strcmp(type, "torch.dtype") != 0 && strcmp(type, "torch.device") != 0 &&
	    strcmp(type, "torch.layout") != 0 && strcmp(type, "torch.memory_format") != 0)
		return false;
	text = PyObject_Str(object);
	if (text)
		emit_text(place, text);
	PyErr_Clear();
	Py_XDECREF(text);
	return true;
}

void wti_value_emit(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max)
{
	if (object == Py_None)
		emit(place, WT_VALUE_TYPE_NONE, 0, NULL);
	else if (is_simple(object))
		emit_simple(place, object, bytes_max);
	else if (PyTuple_Check(object) || PyList_Check(object))
		emit_sequence(place, object, bytes_max);
	else if (PyDict_Check(object))
		emit_dict(place, object, bytes_max);
	else if (!emit_torch_word(place, object) && !emit_named(place, object) &&
		 !emit_tensor(place, object, bytes_max))
		emit_object(place, object, bytes_max);
}
