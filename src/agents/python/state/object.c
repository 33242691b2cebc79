/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models, optimizers and other objects of a run, and the tensors that belong to them, as records.
 * That a module exists is noted here when it is made; which modules make up a model, and what it is
 * called, is for the Python side to decide (wheeltap/_objects.py), when it is first needed.
 */
#include "own.h"

#include <string.h>

#include "emit.h"

/* ---- Modules --------------------------------------------------------------------------------- */

void wti_object_module_new(PyObject *module, uint32_t how)
{
	struct wti_live *live = wti_live_find(module, WTI_LIVE_MODULE);

	if (live)
		return;
	live = wti_live_add(module, WTI_LIVE_MODULE);
	if (!live)
		return;
	live->how = how;
	live->site = wti_site_made(module);
}

static bool has_some(PyObject *module, PyObject *word)
{
	PyObject *dict = wti_own_attribute(module, word);

	return dict && PyDict_Check(dict) && PyDict_GET_SIZE(dict) > 0;
}

static bool is_empty(PyObject *module)
{
	return !has_some(module, wti_live_state.words.parameters) &&
	       !has_some(module, wti_live_state.words.buffers) &&
	       !has_some(module, wti_live_state.words.modules);
}

struct wti_live *wti_object_module(PyObject *module)
{
	struct wti_live *live = wti_live_find(module, WTI_LIVE_MODULE);

	if (wti_likely(live && (live->full || live->is_empty)))
		return live;
	if (!live) {
		live = wti_live_add(module, WTI_LIVE_MODULE);
		if (!live)
			return NULL;
		live->how = WT_FOUND_CALLED;
	}
	live->is_empty = is_empty(module);
	if (!live->is_empty)
		wti_callback("model_found", module);
	return wti_live_find(module, WTI_LIVE_MODULE);
}

/* ---- Records --------------------------------------------------------------------------------- */

struct object {
	PyTypeObject *type;
	struct wt_name *name;
	struct wt_name *of;
	uint32_t object_type; /* enum wt_object_type */
	uint32_t how;         /* enum wt_found */
	uint64_t site;
};

static void emit_object(const struct object *object)
{
	const struct wti_here here = wti_here();
	struct wti_record_object found;
	struct wt_name *module;
	const char *class;

	if (!here.ring || !wti_python.is_on)
		return;
	wti_type_names(object->type, &module, &class);
	found = (struct wti_record_object){
		.name = wti_name(here, object->name),
		.type = object->object_type,
		.class = wti_name(here, wti_name_find(class, strlen(class))),
		.module = wti_name(here, module),
		.of = wti_name(here, object->of),
		.how = object->how,
		.site = object->site >> 32 == here.slot->generation ? (uint32_t)object->site : 0,
	};
	wti_emit_object(here, &found);
}

struct member {
	struct wt_name *object;
	struct wt_name *name;
	struct wt_name *placement;
	uint32_t role; /* enum wt_role */
	uint32_t group;
};

static void emit_member(const struct member *member, const struct wti_live *live,
			const struct wti_tensor *tensor)
{
	const struct wti_here here = wti_here();
	struct wti_record_member belongs;

	if (!here.ring || !wti_python.is_on)
		return;
	belongs = (struct wti_record_member){
		.object = wti_name(here, member->object),
		.name = wti_name(here, member->name),
		.owner = wti_name(here, live ? live->owner : member->object),
		.known_as = wti_name(here, live ? live->name : member->name),
		.role = member->role,
		.group = member->group,
		.dtype = tensor->dtype,
		.shape = wti_name(here, wti_shape_name(tensor)),
		.placement = wti_name(here, member->placement),
		.flags = tensor->requires_grad ? WT_MEMBER_REQUIRES_GRAD : 0,
	};
	wti_emit_member(here, &belongs);
}

void wti_object_changed(PyObject *parameter, struct wti_live *live, const struct wti_tensor *tensor)
{
	const struct member member = {live->owner, live->name, wti_name_find("", 0),
				      WT_ROLE_PARAMETER, 0};

	live->requires_grad = tensor->requires_grad;
	live->dtype = tensor->dtype;
	emit_member(&member, live, tensor);
}

bool wti_object_requires_grad(PyObject *parameter, struct wti_live *live)
{
	struct wti_tensor tensor;
	Py_buffer room;
	bool is_now;

	if (!wti_tensor_requires_grad(parameter, &is_now) || is_now == live->requires_grad)
		return live->requires_grad;
	if (wti_tensor_look(parameter, &tensor, &room)) {
		wti_object_changed(parameter, live, &tensor);
		wti_tensor_release(&tensor);
	}
	return is_now;
}

/* ---- What the Python side adds --------------------------------------------------------------- */

/* object(thing, live type, object type, name, of, how, emitted) */
static PyObject *add_object(PyObject *self, PyObject *arguments)
{
	PyObject *thing, *name, *of;
	unsigned live_type, object_type, how;
	struct wti_live *live;
	struct object object;

	if (!PyArg_ParseTuple(arguments, "OIIUUI", &thing, &live_type, &object_type, &name, &of,
			      &how))
		return NULL;
	if (live_type == 0 || live_type >= WTI_LIVE_END)
		return PyErr_Format(PyExc_ValueError, "no such type of object");
	live = wti_live_add(thing, live_type);
	if (!live)
		Py_RETURN_FALSE;
	if (live_type != WTI_LIVE_MODULE) {
		live->how = how;
		live->site = wti_live_thread.site;
		live->owner = live->full = wti_name_of_text(name);
		live->name = wti_name_find("", 0);
	}
	object = (struct object){
		.type = Py_TYPE(thing),
		.name = wti_name_of_text(name),
		.of = wti_name_of_text(of),
		.object_type = object_type,
		.how = live_type == WTI_LIVE_MODULE && how == WT_FOUND_CALLED ? live->how : how,
		.site = live->site,
	};
	if (object_type == WT_OBJECT_TYPE_WRAPPER || object_type == WT_OBJECT_TYPE_AVERAGE)
		live->inner = object.of;
	emit_object(&object);
	Py_RETURN_TRUE;
}

/* follow_module(module, owner, path, full): a module of a model */
static PyObject *follow_module(PyObject *self, PyObject *arguments)
{
	PyObject *module, *owner, *path, *full;
	struct wti_live *live;

	if (!PyArg_ParseTuple(arguments, "OUUU", &module, &owner, &path, &full))
		return NULL;
	live = wti_live_add(module, WTI_LIVE_MODULE);
	if (live && PyUnicode_GET_LENGTH(owner) == 0) {
		live->is_empty = true; /* too many of its class: it stays without a name */
	} else if (live) {
		live->owner = wti_name_of_text(owner);
		live->name = wti_name_of_text(path);
		live->full = wti_name_of_text(full);
	}
	return PyBool_FromLong(live != NULL);
}

/* A parameter keeps the first name that it is given. */
static struct wti_live *follow_parameter(PyObject *tensor, const struct member *member)
{
	struct wti_live *live = wti_live_add(tensor, WTI_LIVE_TENSOR);

	if (live && !live->owner) {
		live->owner = member->object;
		live->name = member->name;
		live->grad_name = NULL;
	}
	if (live && member->role == WT_ROLE_OPTIMIZED)
		live->is_optimized = true;
	return live;
}

/* member(object, name, tensor, role, group, placement) */
static PyObject *add_member(PyObject *self, PyObject *arguments)
{
	PyObject *object, *name, *thing, *placement;
	struct wti_live *live = NULL;
	struct wti_tensor tensor;
	struct member member;
	Py_buffer room;

	if (!PyArg_ParseTuple(arguments, "UUOIIU", &object, &name, &thing, &member.role,
			      &member.group, &placement))
		return NULL;
	member.object = wti_name_of_text(object);
	member.name = wti_name_of_text(name);
	member.placement = wti_name_of_text(placement);
	if (!wti_tensor_is(thing) || !wti_tensor_look(thing, &tensor, &room))
		Py_RETURN_FALSE;
	if (member.role != WT_ROLE_BUFFER)
		live = follow_parameter(thing, &member);
	if (live) {
		live->requires_grad = tensor.requires_grad;
		live->dtype = tensor.dtype;
	}
	emit_member(&member, live, &tensor);
	wti_tensor_release(&tensor);
	Py_RETURN_TRUE;
}

/* unfollow(owner, name): a parameter has gone from its model; it will be named anew. */
static PyObject *unfollow(PyObject *self, PyObject *arguments)
{
	PyObject *owner, *name;
	struct wti_live *live = NULL;

	if (!PyArg_ParseTuple(arguments, "UU", &owner, &name))
		return NULL;
	while ((live = wti_live_next(live, WTI_LIVE_TENSOR))) {
		if (live->owner != wti_name_of_text(owner) || live->name != wti_name_of_text(name))
			continue;
		live->owner = live->name = live->grad_name = NULL;
		live->has_last = false;
		live->grad = WTI_GRAD_UNKNOWN;
	}
	Py_RETURN_NONE;
}

/* living(type): all that are followed, in the order in which they were found */
static PyObject *living(PyObject *self, PyObject *argument)
{
	unsigned long type = PyLong_AsUnsignedLong(argument);
	struct wti_live *live = NULL;
	PyObject *list;

	if (type == 0 || type >= WTI_LIVE_END)
		return PyErr_Format(PyExc_ValueError, "no such type of object");
	list = PyList_New(0);
	while (list && (live = wti_live_next(live, (uint32_t)type)))
		if (PyList_Append(list, live->object) < 0)
			Py_CLEAR(list);
	if (list && PyList_Reverse(list) < 0)
		Py_CLEAR(list);
	return list;
}

/* known(object, type): (owner, name) of what is followed, or None */
static PyObject *known(PyObject *self, PyObject *arguments)
{
	const struct wti_live *live;
	PyObject *object;
	unsigned type;

	if (!PyArg_ParseTuple(arguments, "OI", &object, &type))
		return NULL;
	live = type < WTI_LIVE_END ? wti_live_find(object, type) : NULL;
	if (!live || !live->owner)
		Py_RETURN_NONE;
	return Py_BuildValue("(ss)", live->owner->text, live->name->text);
}

/* trained(owner): an optimizer has a parameter of this model */
static PyObject *trained(PyObject *self, PyObject *owner)
{
	const struct wt_name *name = wti_name_of_text(owner);
	struct wti_live *live = NULL;

	while ((live = wti_live_next(live, WTI_LIVE_MODULE)))
		if (live->owner == name || live->inner == name)
			live->is_optimized = true;
	Py_RETURN_NONE;
}

/* walked(module): found by looking at all objects */
static PyObject *walked(PyObject *self, PyObject *module)
{
	struct wti_live *live = wti_live_find(module, WTI_LIVE_MODULE);

	if (!live)
		live = wti_live_add(module, WTI_LIVE_MODULE);
	if (live && !live->full)
		live->how = WT_FOUND_WALKED;
	Py_RETURN_NONE;
}

/* state(owner, attribute, value) */
static PyObject *emit_state(PyObject *self, PyObject *arguments)
{
	PyObject *owner, *attribute, *value;

	if (!PyArg_ParseTuple(arguments, "UUO", &owner, &attribute, &value))
		return NULL;
	wti_known_object(wti_name_of_text(owner), wti_name_of_text(attribute), value);
	Py_RETURN_NONE;
}

/* value(call, position, name, value): of a call, as an argument or a tensor */
static PyObject *emit_value(PyObject *self, PyObject *arguments)
{
	struct wti_value_place place;
	PyObject *name, *value;

	if (!PyArg_ParseTuple(arguments, "IiUO", &place.call, &place.position, &name, &value))
		return NULL;
	place.name = wti_name_of_text(name);
	wti_value_emit(&place, value, UINT64_MAX);
	Py_RETURN_NONE;
}

PyMethodDef wti_object_methods[] = {
	{"object", add_object, METH_VARARGS, NULL},
	{"follow_module", follow_module, METH_VARARGS, NULL},
	{"member", add_member, METH_VARARGS, NULL},
	{"unfollow", unfollow, METH_VARARGS, NULL},
	{"living", living, METH_O, NULL},
	{"known", known, METH_VARARGS, NULL},
	{"trained", trained, METH_O, NULL},
	{"walked", walked, METH_O, NULL},
	{"state", emit_state, METH_VARARGS, NULL},
	{"value", emit_value, METH_VARARGS, NULL},
	{NULL},
};
