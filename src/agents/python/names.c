/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are put together from parts, and kept: a shape, "fc1.weight.exp_avg",
 * "Linear.forward". Small tables with one place for each key, where a newcomer replaces what was
 * there. A key that is an address is believed only if the text behind it is still the same.
 */
#include "pyagent.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum {
	PLACES = 1024, /* a power of two */
	TEXT_BYTES = 256,
	SHAPE_RANK = 6, /* shapes of a higher rank are put together each time */
};

static size_t place_of(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 48) % PLACES;
}

/* ---- Shapes -----------------------------------------------------------------------------------
 */

static struct shape {
	struct wt_name *name;
	uint32_t rank;
	int64_t sizes[SHAPE_RANK];
} shapes[PLACES] __attribute__((aligned(64))); /* each has a line of the cache */

static struct wt_name *shape_text(const struct wti_tensor *tensor)
{
	char text[TEXT_BYTES];
	int used = 0;

	for (uint32_t i = 0; i < tensor->rank && used < TEXT_BYTES - 24; i++)
		used += snprintf(text + used, (size_t)(TEXT_BYTES - used), "%s%lld", i ? "x" : "",
				 (long long)tensor->sizes[i]);
	return wti_name_find(text, (size_t)used);
}

struct wt_name *wti_shape_name(const struct wti_tensor *tensor)
{
	uint64_t key = tensor->rank;
	struct shape *shape;

	if (tensor->rank > SHAPE_RANK)
		return shape_text(tensor);
	for (uint32_t i = 0; i < tensor->rank; i++)
		key = key * 0x100000001b3u ^ (uint64_t)tensor->sizes[i];
	shape = &shapes[place_of(key)];
	if (shape->name && shape->rank == tensor->rank &&
	    memcmp(shape->sizes, tensor->sizes, tensor->rank * sizeof(int64_t)) == 0)
		return shape->name;
	shape->name = shape_text(tensor);
	shape->rank = tensor->rank;
	memcpy(shape->sizes, tensor->sizes, tensor->rank * sizeof(int64_t));
	return shape->name;
}

/* ---- Words ------------------------------------------------------------------------------------
 */

static struct word {
	PyObject *text; /* kept, so that its address stays its own */
	struct wt_name *name;
} words[PLACES];

struct wt_name *wti_name_of_word(PyObject *text)
{
	struct word *word = &words[place_of((uint64_t)(uintptr_t)text)];

	if (wti_likely(word->text == text))
		return word->name;
	if (!PyUnicode_CheckExact(text)) /* a class of the program's: not to be kept */
		return PyUnicode_IsIdentifier(text) == 1 ? wti_name_of_text(text) : NULL;
	word->name = PyUnicode_IsIdentifier(text) == 1 ? wti_name_of_text(text) : NULL;
	Py_INCREF(text);
	Py_XSETREF(word->text, text);
	return word->name;
}

/* ---- Two parts --------------------------------------------------------------------------------
 */

static struct joined {
	struct wt_name *name;
	const struct wt_name *left;
	PyObject *right; /* kept, so that its address stays its own */
	int32_t element;
} joineds[PLACES];

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
	struct joined *joined = &joineds[place_of(key)];

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

/* ---- Parts of a container ---------------------------------------------------------------------
 */

enum { CONTAINER_BYTES = 64, KEY_BYTES = 100 }; /* of their names that are shown */

static struct wt_name *part_text(const struct wt_name *container, const char *key)
{
	char text[TEXT_BYTES];
	int used = snprintf(text, sizeof(text), "%.*s[%.*s]", CONTAINER_BYTES,
			    container ? container->text : "", KEY_BYTES, key);

	return wti_name_find(text, (size_t)used);
}

static struct element {
	const struct wt_name *container;
	struct wt_name *name; /* NULL: none yet */
	Py_ssize_t index;
} elements[PLACES];

struct wt_name *wti_name_element(const struct wt_name *container, Py_ssize_t index)
{
	uint64_t key = (uint64_t)(uintptr_t)container ^ (uint64_t)index;
	struct element *element = &elements[place_of(key)];
	char text[24];

	if (wti_likely(element->name && element->container == container && element->index == index))
		return element->name;
	snprintf(text, sizeof(text), "%zd", index);
	element->name = part_text(container, text);
	element->container = container;
	element->index = index;
	return element->name;
}

static struct item {
	const struct wt_name *container;
	PyObject *key;        /* kept, so that its address stays its own; NULL: none yet */
	struct wt_name *name; /* NULL: its key is not to be told */
} items[PLACES];

static struct wt_name *item_name(const struct wt_name *container, PyObject *key)
{
	const char *text = PyUnicode_AsUTF8(key);

	PyErr_Clear();
	return text && wti_private_may_keep(text, strlen(text)) ? part_text(container, text) : NULL;
}

struct wt_name *wti_name_item(const struct wt_name *container, PyObject *key)
{
	struct item *item;

	if (!PyUnicode_CheckExact(key))
		return NULL;
	if (!PyUnicode_CHECK_INTERNED(key)) /* perhaps data of the program's: not to be kept */
		return item_name(container, key);
	item = &items[place_of((uint64_t)(uintptr_t)container ^ (uint64_t)(uintptr_t)key << 7)];
	if (wti_likely(item->key == key && item->container == container))
		return item->name;
	item->name = item_name(container, key);
	item->container = container;
	Py_INCREF(key);
	Py_XSETREF(item->key, key);
	return item->name;
}

/* ---- Methods of a type ------------------------------------------------------------------------
 */

static struct method {
	const PyTypeObject *type;
	const char *suffix; /* a literal */
	struct wt_name *callee;
	struct wt_name *module;
	char type_name[64];
} methods[PLACES];

static bool is_same(const struct method *method, const PyTypeObject *type, const char *suffix)
{
	return method->type == type && method->suffix == suffix &&
	       strncmp(method->type_name, type->tp_name, sizeof(method->type_name) - 1) == 0;
}

void wti_method_names(PyTypeObject *type, const char *suffix, struct wt_name **ret_module,
		      struct wt_name **ret_callee)
{
	uint64_t key = (uint64_t)(uintptr_t)type ^ (uint64_t)(uintptr_t)suffix << 9;
	struct method *method = &methods[place_of(key)];
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
