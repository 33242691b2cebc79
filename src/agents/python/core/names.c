/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are put together from parts, and kept: "fc1.weight.exp_avg",
 * "Linear.forward". Small tables with one place for each key, where a newcomer replaces what was
 * there. A key that is an address is believed only if the text behind it is still the same.
 */
#include "pyagent.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum {
	PLACES = WTI_NAME_PLACES,
	TEXT_BYTES = 256,
};

static size_t place_of(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 48) % PLACES;
}

struct wt_name *wti_name_of_text(PyObject *text)
{
	Py_ssize_t bytes = 0;
	const char *data =
		text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &bytes) : NULL;

	if (!data) {
		PyErr_Clear();
		return wti_name_find("", 0);
	}
	return wti_name_find(data, (size_t)bytes);
}

void wti_type_names(PyTypeObject *type, struct wt_name **ret_module, const char **ret_name)
{
	const char *dot = strrchr(type->tp_name, '.');

	*ret_name = dot ? dot + 1 : type->tp_name;
	*ret_module = wti_name_find(type->tp_name, dot ? (size_t)(dot - type->tp_name) : 0);
	if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
		PyObject *module = PyDict_GetItemString(type->tp_dict, "__module__");

		if (module && PyUnicode_Check(module))
			*ret_module = wti_name_of_text(module);
	}
}

/* ---- Words ----------------------------------------------------------------------------------- */

struct wt_name *wti_name_of_word(PyObject *text)
{
	struct wti_word_name *word = &wti_python.names.words[place_of((uint64_t)(uintptr_t)text)];

	if (wti_likely(word->text == text))
		return word->name;
	if (!PyUnicode_CheckExact(text)) /* a class of the program's: not to be kept */
		return PyUnicode_IsIdentifier(text) == 1 ? wti_name_of_text(text) : NULL;
	word->name = PyUnicode_IsIdentifier(text) == 1 ? wti_name_of_text(text) : NULL;
	Py_INCREF(text);
	Py_XSETREF(word->text, text);
	return word->name;
}

/* ---- Two parts ------------------------------------------------------------------------------- */

static struct wt_name *join_text(const struct wt_name *left, PyObject *right, int32_t element)
{
	const char *part = PyUnicode_Check(right) ? PyUnicode_AsUTF8(right) : NULL;
	char text[TEXT_BYTES];
	int used;

	PyErr_Clear();
	used = snprintf(text, sizeof(text), "%.120s%s%.100s", left ? left->text : "",
			left && left->text[0] && part ? "." : "", part ? part : "");
	if (element >= 0)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "[%d]", element);
	return wti_name_find(text, (size_t)used);
}

struct wt_name *wti_name_joined(const struct wt_name *left, PyObject *right, int32_t element)
{
	uint64_t key =
		(uint64_t)(uintptr_t)left ^ (uint64_t)(uintptr_t)right << 7 ^ (uint64_t)element;
	struct wti_joined_name *joined = &wti_python.names.joined[place_of(key)];

	if (joined->name && joined->left == left && joined->right == right &&
	    joined->element == element)
		return joined->name;
	joined->name = join_text(left, right, element);
	joined->left = left;
	joined->element = element;
	Py_INCREF(right);
	Py_XSETREF(joined->right, right);
	return joined->name;
}

/* ---- Parts of a container -------------------------------------------------------------------- */

enum { CONTAINER_BYTES = 64, KEY_BYTES = 100 }; /* of their names that are shown */

static struct wt_name *part_text(const struct wt_name *container, const char *key)
{
	char text[TEXT_BYTES];
	int used = snprintf(text, sizeof(text), "%.*s[%.*s]", CONTAINER_BYTES,
			    container ? container->text : "", KEY_BYTES, key);

	return wti_name_find(text, (size_t)used);
}

struct wt_name *wti_name_element(const struct wt_name *container, Py_ssize_t index)
{
	uint64_t key = (uint64_t)(uintptr_t)container ^ (uint64_t)index;
	struct wti_element_name *element = &wti_python.names.elements[place_of(key)];
	char text[24];

	if (wti_likely(element->name && element->container == container && element->index == index))
		return element->name;
	snprintf(text, sizeof(text), "%zd", index);
	element->name = part_text(container, text);
	element->container = container;
	element->index = index;
	return element->name;
}

static struct wt_name *item_name(const struct wt_name *container, PyObject *key)
{
	const char *text = PyUnicode_AsUTF8(key);

	PyErr_Clear();
	return text && wti_private_may_keep(text, strlen(text)) ? part_text(container, text) : NULL;
}

struct wt_name *wti_name_item(const struct wt_name *container, PyObject *key)
{
	struct wti_item_name *item;

	if (!PyUnicode_CheckExact(key))
		return NULL;
	if (!PyUnicode_CHECK_INTERNED(key)) /* perhaps data of the program's: not to be kept */
		return item_name(container, key);
	item = &wti_python.names.items[place_of((uint64_t)(uintptr_t)container ^
						(uint64_t)(uintptr_t)key << 7)];
	if (wti_likely(item->key == key && item->container == container))
		return item->name;
	item->name = item_name(container, key);
	item->container = container;
	Py_INCREF(key);
	Py_XSETREF(item->key, key);
	return item->name;
}

/* ---- Methods of a type ----------------------------------------------------------------------- */

static bool is_same(const struct wti_method_name *method, const PyTypeObject *type,
		    const char *suffix)
{
	return method->type == type && method->suffix == suffix &&
	       strncmp(method->type_name, type->tp_name, sizeof(method->type_name) - 1) == 0;
}

void wti_method_names(PyTypeObject *type, const char *suffix, struct wt_name **ret_module,
		      struct wt_name **ret_callee)
{
	uint64_t key = (uint64_t)(uintptr_t)type ^ (uint64_t)(uintptr_t)suffix << 9;
	struct wti_method_name *method = &wti_python.names.methods[place_of(key)];
	char text[TEXT_BYTES];
	const char *name;

	if (!is_same(method, type, suffix)) {
		wti_type_names(type, &method->module, &name);
		snprintf(text, sizeof(text), "%.180s%s", name, suffix);
		method->callee = wti_name_find(text, strlen(text));
		method->type = type;
		method->suffix = suffix;
		snprintf(method->type_name, sizeof(method->type_name), "%s", type->tp_name);
	}
	*ret_module = method->module;
	*ret_callee = method->callee;
}
