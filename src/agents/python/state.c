/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States at the end of a step: parameters and gradients each time, by hash; their statistics each
 * time, or in the lean level in turn; the optimizer's own tensors in turn, or in the full level
 * each time. In turn: each SPREAD steps apart. They are always read again, because memory can be
 * written behind torch's back.
 */
#include "pyagent.h"

#include <stdio.h>
#include <string.h>

enum {
	SPREAD = 8,
	NAME_BYTES = 256,
	SETTINGS_MAX = 8192, /* a power of two */
};

/* ---- Records ----------------------------------------------------------------------------------
 */

struct change {
	uint32_t type; /* enum wt_value_type */
	bool is_first;
	uint64_t old_value;
	uint64_t new_value;
};

static void tell_state(struct wt_name *owner, struct wt_name *attribute,
		       const struct change *change)
{
	const struct wti_here here = wti_here();
	struct wti_record_state *record;
	uint32_t ids[2];

	if (!here.ring)
		return;
	ids[0] = wti_name(here, owner);
	ids[1] = wti_name(here, attribute);
	record = wti_open(here, WT_KIND_STATE, sizeof(*record));
	if (!record)
		return;
	record->owner = ids[0];
	record->attribute = ids[1];
	record->type = change->type;
	record->flags = change->is_first;
	record->old = change->old_value;
	record->new_ = change->new_value;
	record->text_bytes = 0;
	wti_commit(here, sizeof(*record));
}

void wti_state_bool(struct wt_name *owner, struct wt_name *attribute, const bool *was, bool is)
{
	const struct change change = {WT_VALUE_TYPE_BOOL, !was, was && *was, is};

	tell_state(owner, attribute, &change);
}

/* ---- Tensors that live on ---------------------------------------------------------------------
 */

struct reading {
	bool done;
	uint64_t hash;
};

/* Statistics are told as well when it is this one's turn. */
static struct reading read_tensor(PyObject *object, struct wt_name *owner, struct wt_name *name,
				  bool its_turn)
{
	const struct wti_tensor_names names = {owner, name, 0, 0};
	struct reading reading = {0};
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;

	if (wti_python.tensors == WTI_TENSORS_OFF || !wti_tensor_look(object, &tensor, &room))
		return reading;
	if (its_turn && tensor.data && wti_tensor_digest(&tensor, &digest)) {
		wti_tensor_tell(&tensor, &names, &digest);
		reading = (struct reading){true, digest.hash};
	} else if (tensor.data) {
		reading.done = wti_tensor_hash(&tensor, &reading.hash);
	} else if (its_turn) {
		wti_tensor_tell(&tensor, &names, NULL); /* not measured, and said so */
	}
	wti_tensor_release(&tensor);
	return reading;
}

/* Statistics of parameters and gradients. */
static bool is_turn(uint64_t index)
{
	return wti_python.detail != WTI_DETAIL_LEAN || (index + wti_python.step) % SPREAD == 0;
}

/* The optimizer's own tensors. */
static bool is_turn_of_own(uint64_t index)
{
	return wti_python.detail == WTI_DETAIL_FULL || (index + wti_python.step) % SPREAD == 0;
}

static void tell_hash(const struct wti_live *live, struct wt_name *name, uint64_t *last,
		      bool *has_last, uint64_t hash)
{
	const struct change change = {WT_VALUE_TYPE_HASH, !*has_last, *has_last ? *last : 0, hash};

	if (!*has_last || *last != hash)
		tell_state(live->owner, name, &change);
	*last = hash;
	*has_last = true;
}

/* A parameter that no known model has is called by its place in the optimizer. */
static struct wti_live *parameter_live(PyObject *parameter, const struct wti_live *optimizer,
				       Py_ssize_t group, Py_ssize_t index)
{
	struct wti_live *live = wti_live_add(parameter, WTI_LIVE_TENSOR);
	char text[64];

	if (live && !live->name) {
		snprintf(text, sizeof(text), "group%zd.%zd", group, index);
		live->owner = optimizer->owner;
		live->name = wti_name_find(text, strlen(text));
	}
	if (live && !live->grad_name)
		live->grad_name = wti_name_joined(live->name, wti_python.words.grad, -1);
	return live;
}

static void read_parameter(PyObject *parameter, struct wti_live *live, uint64_t index)
{
	struct reading reading = read_tensor(parameter, live->owner, live->name, is_turn(index));

	if (reading.done)
		tell_hash(live, live->name, &live->last_hash, &live->has_last, reading.hash);
}

static void read_gradient(PyObject *parameter, struct wti_live *live, uint64_t index)
{
	PyObject *gradient = PyObject_GetAttr(parameter, wti_python.words.grad);
	struct reading reading;

	if (!gradient || gradient == Py_None) {
		const struct change gone = {WT_VALUE_TYPE_NONE, false, live->last_grad, 0};

		if (live->has_grad)
			tell_state(live->owner, live->grad_name, &gone);
		live->has_grad = false;
	} else {
		reading = read_tensor(gradient, live->owner, live->grad_name, is_turn(index));
		if (reading.done)
			tell_hash(live, live->grad_name, &live->last_grad, &live->has_grad,
				  reading.hash);
	}
	PyErr_Clear();
	Py_XDECREF(gradient);
}

/* ---- Settings: numbers of a parameter group ---------------------------------------------------
 */

/* The last value of each setting, by a hash of whose it is. */
static struct setting {
	uint64_t key; /* 0: free */
	uint64_t value;
	uint32_t type; /* enum wt_value_type; none: nothing known yet */
} settings[SETTINGS_MAX];

static struct setting *setting_of(const struct wti_live *optimizer, const struct wt_name *name)
{
	uint64_t whose = (uint64_t)(uintptr_t)name ^ (uint64_t)optimizer->serial << 48;
	uint64_t key = whose * 0x9e3779b97f4a7c15u | 1;

	for (size_t i = 0; i < 16; i++) {
		struct setting *setting = &settings[((key >> 32) + i) % SETTINGS_MAX];

		if (setting->key == 0 || setting->key == key) {
			setting->key = key;
			return setting;
		}
	}
	return NULL;
}

static bool number_of(PyObject *object, uint32_t *ret_type, uint64_t *ret_value)
{
	if (PyBool_Check(object)) {
		*ret_type = WT_VALUE_TYPE_BOOL;
		*ret_value = object == Py_True;
	} else if (PyFloat_Check(object)) {
		double value = PyFloat_AS_DOUBLE(object);

		*ret_type = WT_VALUE_TYPE_FLOAT;
		memcpy(ret_value, &value, sizeof(value));
	} else if (PyLong_Check(object)) {
		int overflow;

		*ret_type = WT_VALUE_TYPE_INT;
		*ret_value = (uint64_t)PyLong_AsLongLongAndOverflow(object, &overflow);
		return !overflow;
	} else {
		return false;
	}
	return true;
}

static void read_setting(const struct wti_live *optimizer, struct wt_name *name, PyObject *object)
{
	struct change change = {0};
	struct setting *setting;

	if (!number_of(object, &change.type, &change.new_value))
		return;
	setting = setting_of(optimizer, name);
	if (!setting || (setting->type == change.type && setting->value == change.new_value))
		return;
	change.is_first = setting->type == WT_VALUE_TYPE_NONE;
	change.old_value = setting->value;
	setting->type = change.type;
	setting->value = change.new_value;
	tell_state(optimizer->owner, name, &change);
}

/* "lr" in the first group, "group1.lr" in the next; "betas[0]" of a pair. */
static void read_settings(const struct wti_live *optimizer, Py_ssize_t group, PyObject *dict)
{
	const struct wt_name *prefix = NULL;
	PyObject *key, *value;
	Py_ssize_t at = 0;
	char text[32];

	if (group) {
		snprintf(text, sizeof(text), "group%zd", group);
		prefix = wti_name_find(text, strlen(text));
	}
	while (PyDict_Next(dict, &at, &key, &value)) {
		if (key == wti_python.words.params)
			continue;
		if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) <= 4) {
			for (int i = 0; i < (int)PyTuple_GET_SIZE(value); i++)
				read_setting(optimizer, wti_name_joined(prefix, key, i),
					     PyTuple_GET_ITEM(value, i));
		} else if (PyFloat_Check(value) || PyLong_Check(value)) {
			read_setting(optimizer, wti_name_joined(prefix, key, -1), value);
		}
	}
}

/* ---- The optimizer's own tensors --------------------------------------------------------------
 */

static void read_own_state(const struct wti_live *optimizer, PyObject *states, PyObject *parameter,
			   const struct wti_live *live)
{
	PyObject *state = PyDict_GetItemWithError(states, parameter);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	PyErr_Clear();
	if (!state || !PyDict_Check(state))
		return;
	while (PyDict_Next(state, &at, &key, &value)) {
		if (PyUnicode_Check(key) && wti_tensor_is(value))
			read_tensor(value, optimizer->owner, wti_name_joined(live->name, key, -1),
				    true);
	}
}

/* ---- Walking an optimizer ---------------------------------------------------------------------
 */

struct walk {
	const struct wti_live *optimizer;
	PyObject *states; /* NULL: gradients are read, not parameters */
	uint64_t index;
};

static void walk_parameter(struct walk *walk, PyObject *parameter, Py_ssize_t group,
			   Py_ssize_t index)
{
	struct wti_live *live;

	if (!wti_tensor_is(parameter))
		return;
	live = parameter_live(parameter, walk->optimizer, group, index);
	if (!live)
		return;
	if (!walk->states) {
		read_gradient(parameter, live, walk->index);
	} else {
		read_parameter(parameter, live, walk->index);
		if (PyDict_Check(walk->states) && is_turn_of_own(walk->index))
			read_own_state(walk->optimizer, walk->states, parameter, live);
	}
	walk->index++;
}

static void walk_group(struct walk *walk, PyObject *dict, Py_ssize_t group)
{
	PyObject *parameters =
		PyDict_Check(dict) ? PyDict_GetItemWithError(dict, wti_python.words.params) : NULL;

	if (!parameters || !PyList_Check(parameters))
		return;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parameters); i++) {
		PyObject *parameter = PyList_GET_ITEM(parameters, i);

		Py_INCREF(parameter);
		walk_parameter(walk, parameter, group, i);
		Py_DECREF(parameter);
	}
	if (walk->states)
		read_settings(walk->optimizer, group, dict);
}

static void walk_optimizer(PyObject *optimizer, bool is_after)
{
	PyObject *groups = PyObject_GetAttr(optimizer, wti_python.words.param_groups);
	struct walk walk = {.optimizer = wti_state_optimizer(optimizer)};

	if (is_after)
		walk.states = PyObject_GetAttr(optimizer, wti_python.words.state);
	if (is_after && !walk.states) {
		Py_INCREF(Py_None);
		walk.states = Py_None;
	}
	if (groups && PyList_Check(groups) && walk.optimizer)
		for (Py_ssize_t i = 0; i < PyList_GET_SIZE(groups); i++)
			walk_group(&walk, PyList_GET_ITEM(groups, i), i);
	PyErr_Clear();
	Py_XDECREF(walk.states);
	Py_XDECREF(groups);
}

/* ---- Buffers ----------------------------------------------------------------------------------
 */

static void read_buffers(const struct wti_live *live)
{
	PyObject *buffers = PyObject_GetAttr(live->object, wti_python.words.buffers);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (buffers && PyDict_Check(buffers) && PyDict_Next(buffers, &at, &key, &value)) {
		if (PyUnicode_Check(key) && wti_tensor_is(value))
			read_tensor(value, live->owner, wti_name_joined(live->name, key, -1), true);
	}
	PyErr_Clear();
	Py_XDECREF(buffers);
}

static void read_all_buffers(void)
{
	struct wti_live *live = NULL;

	while ((live = wti_live_next(live, WTI_LIVE_BUFFERS)))
		read_buffers(live);
}

struct wti_live *wti_state_optimizer(PyObject *optimizer)
{
	struct wti_live *live = wti_live_add(optimizer, WTI_LIVE_OPTIMIZER);
	struct wt_name *module;
	const char *name;
	char text[NAME_BYTES];

	if (live && !live->owner) {
		wti_type_names(Py_TYPE(optimizer), &module, &name);
		if (live->serial)
			snprintf(text, sizeof(text), "%.200s#%u", name, live->serial);
		else
			snprintf(text, sizeof(text), "%.200s", name);
		live->owner = live->name = wti_name_find(text, strlen(text));
	}
	return live;
}

void wti_state_before_step(PyObject *optimizer)
{
	walk_optimizer(optimizer, false);
}

void wti_state_after_step(PyObject *optimizer)
{
	walk_optimizer(optimizer, true);
	read_all_buffers();
}
