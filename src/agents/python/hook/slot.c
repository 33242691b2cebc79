/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexing and attributes of tensors: `x[0]`, `x[m] = v`, `x.data`, `x.grad`. There is no callable
 * to hook: the interpreter takes indexing from the slots of the type, and an attribute from a
 * getset descriptor. Both are replaced where they stand; types and descriptors stay the same
 * objects.
 *
 * A type takes its slots over from its base when it is made, and new types take them from the
 * descriptor of the base; so all types that exist are walked, and the descriptor gets our function
 * as well.
 */
#include "own.h"

#include <errno.h>
#include <stdlib.h>

enum {
	TYPES_MAX = 4096,
};

/* ---- Calls ----------------------------------------------------------------------------------- */

static void begin(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	int saved_errno = errno;

	wti_call_begin(call, arguments, count, NULL);
	errno = saved_errno;
}

static void end(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		PyObject *result)
{
	int saved_errno = errno;

	wti_call_end(call, arguments, count, result);
	errno = saved_errno;
}

/* ---- Indexing -------------------------------------------------------------------------------- */

static PyObject *get_item(PyObject *self, PyObject *index)
{
	PyObject *arguments[] = {self, index}, *result;
	struct wti_hooked_call call = {.hook = &wti_hook_state.indexing.get_hook};

	if (wti_likely(!wti_call_wanted(call.hook, &call.place)))
		return wti_hook_state.indexing.get(self, index);
	begin(&call, arguments, 2);
	result = wti_hook_state.indexing.get(self, index);
	end(&call, arguments, 2, result);
	return result;
}

static int set_item(PyObject *self, PyObject *index, PyObject *value)
{
	PyObject *arguments[] = {self, index, value};
	struct wti_hooked_call call = {.hook = value ? &wti_hook_state.indexing.set_hook
						     : &wti_hook_state.indexing.delete_hook};
	Py_ssize_t count = value ? 3 : 2;
	int status;

	if (wti_likely(!wti_call_wanted(call.hook, &call.place)))
		return wti_hook_state.indexing.set(self, index, value);
	begin(&call, arguments, count);
	status = wti_hook_state.indexing.set(self, index, value);
	end(&call, arguments, count, status < 0 ? NULL : Py_None);
	return status;
}

static void hook_type(PyTypeObject *type)
{
	PyMappingMethods *mapping = type->tp_as_mapping;

	if (!mapping)
		return;
	if (mapping->mp_subscript == wti_hook_state.indexing.get)
		mapping->mp_subscript = get_item;
	if (mapping->mp_ass_subscript == wti_hook_state.indexing.set)
		mapping->mp_ass_subscript = set_item;
}

/* `Tensor.__getitem__(x, 0)`, and types that are made later. */
static void hook_wrapper(PyTypeObject *type, const char *name, void *was, void *is)
{
	PyObject *descriptor = PyDict_GetItemString(type->tp_dict, name);

	if (descriptor && Py_IS_TYPE(descriptor, &PyWrapperDescr_Type) &&
	    ((PyWrapperDescrObject *)descriptor)->d_wrapped == was)
		((PyWrapperDescrObject *)descriptor)->d_wrapped = is;
}

static bool hook_subclasses(PyTypeObject *type)
{
	PyObject *all = PyList_New(0), *found = NULL;

	if (!all || PyList_Append(all, (PyObject *)type) < 0)
		goto out;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all) && i < TYPES_MAX; i++) {
		PyObject *each = PyList_GET_ITEM(all, i);

		hook_type((PyTypeObject *)each);
		/* type.__subclasses__, whatever the metaclass says. */
		Py_XSETREF(found, PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__",
						      "O", each));
		if (!found ||
		    PyList_SetSlice(all, PyList_GET_SIZE(all), PyList_GET_SIZE(all), found) < 0)
			break;
	}
out:
	Py_XDECREF(found);
	Py_XDECREF(all);
	return !PyErr_Occurred();
}

static void name_hook(struct wti_hook *hook, PyObject *object, struct wt_name *module,
		      struct wt_name *callee)
{
	Py_INCREF(object);
	hook->object = object;
	hook->module = module;
	hook->callee = callee;
}

bool wti_slot_index(PyTypeObject *type, struct wt_name *module)
{
	PyMappingMethods *mapping = type->tp_as_mapping;

	if (!mapping || !mapping->mp_subscript || !mapping->mp_ass_subscript ||
	    wti_hook_state.indexing.get)
		return true;
	name_hook(&wti_hook_state.indexing.get_hook, (PyObject *)type, module,
		  WT_NAME("Tensor.__getitem__"));
	name_hook(&wti_hook_state.indexing.set_hook, (PyObject *)type, module,
		  WT_NAME("Tensor.__setitem__"));
	name_hook(&wti_hook_state.indexing.delete_hook, (PyObject *)type, module,
		  WT_NAME("Tensor.__delitem__"));
	wti_hook_state.indexing.get = mapping->mp_subscript;
	wti_hook_state.indexing.set = mapping->mp_ass_subscript;
	hook_wrapper(type, "__getitem__", (void *)(uintptr_t)wti_hook_state.indexing.get,
		     (void *)(uintptr_t)get_item);
	hook_wrapper(type, "__setitem__", (void *)(uintptr_t)wti_hook_state.indexing.set,
		     (void *)(uintptr_t)set_item);
	hook_wrapper(type, "__delitem__", (void *)(uintptr_t)wti_hook_state.indexing.set,
		     (void *)(uintptr_t)set_item);
	return hook_subclasses(type);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static PyObject *get_attribute(PyObject *self, void *closure)
{
	const struct wti_hooked_attribute *attribute = closure;
	struct wti_hooked_call call = {.hook = &attribute->get};
	PyObject *result;

	if (wti_likely(!wti_call_wanted(call.hook, &call.place)))
		return attribute->original.get(self, attribute->original.closure);
	begin(&call, &self, 1);
	result = attribute->original.get(self, attribute->original.closure);
	end(&call, &self, 1, result);
	return result;
}

static int set_attribute(PyObject *self, PyObject *value, void *closure)
{
	const struct wti_hooked_attribute *attribute = closure;
	PyObject *arguments[] = {self, value ? value : Py_None};
	struct wti_hooked_call call = {.hook = &attribute->set};
	int status;

	if (wti_likely(!wti_call_wanted(call.hook, &call.place)))
		return attribute->original.set(self, value, attribute->original.closure);
	begin(&call, arguments, 2);
	status = attribute->original.set(self, value, attribute->original.closure);
	end(&call, arguments, 2, status < 0 ? NULL : Py_None);
	return status;
}

bool wti_slot_attribute(PyObject *descriptor, struct wt_name *module, struct wt_name *name)
{
	PyGetSetDescrObject *getset = (PyGetSetDescrObject *)descriptor;
	struct wti_hooked_attribute *attribute =
		&wti_hook_state.attributes[wti_hook_state.attribute_count];
	PyObject *setter;

	if (!Py_IS_TYPE(descriptor, &PyGetSetDescr_Type) ||
	    wti_hook_state.attribute_count == WTI_HOOKED_ATTRIBUTES ||
	    getset->d_getset->get == get_attribute || !getset->d_getset->get)
		return false;
	setter = PyUnicode_InternFromString("__set__");
	if (!setter)
		return false;
	attribute->original = *getset->d_getset;
	attribute->definition = attribute->original;
	attribute->definition.closure = attribute;
	attribute->definition.get = get_attribute;
	if (attribute->original.set)
		attribute->definition.set = set_attribute;
	name_hook(&attribute->get, descriptor, module, name);
	name_hook(&attribute->set, descriptor, module, wti_name_joined(name, setter, -1));
	Py_DECREF(setter);
	wti_hook_state.attribute_count++;
	getset->d_getset = &attribute->definition;
	return true;
}
