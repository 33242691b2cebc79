/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States at the end of a step: parameters that were stepped each time, by hash; their statistics
 * each time, or in the lean level in turn; buffers by hash, likewise; the optimizer's own tensors
 * in turn, or in the full level each time; parameters that no optimizer has stepped in turn. In
 * turn: each SPREAD steps apart. They are always read again, because memory can be written behind
 * torch's back.
 *
 * On the way it is seen whether a model still has the parameters that it had.
 */
#include "own.h"

#include <stdio.h>
#include <string.h>

enum {
	SPREAD = WTI_SPREAD,
	SMALL_BYTES = 8192,       /* a tensor up to this size is small */
	PARAMETERS_MAX = 1 << 20, /* of a group, followed */
	CHANGED_MAX = 256,        /* modules with other parameters than before, in one step */
};

void wti_state_begin_step(uint64_t step)
{
	wti_live_state.step = step;
}

/*
 * Large ones in different steps, so that no step is much longer than others; small ones in the
 * same, where the second costs a fraction of the first: what is long unused has left the caches.
 */
static bool is_turn_of(const struct wti_live *live)
{
	uint64_t order = live->is_small ? 0 : live->order;

	return (order + wti_live_state.step) % SPREAD == 0;
}

bool wti_state_turn(const struct wti_live *live)
{
	if (wti_omits(WT_THINNED_STATISTICS))
		return false;
	return wti_python.detail != WTI_DETAIL_LEAN || wti_python.tensors >= WTI_TENSORS_STATS ||
	       is_turn_of(live);
}

bool wti_state_turn_of_all(void)
{
	return wti_python.detail != WTI_DETAIL_LEAN || wti_python.tensors >= WTI_TENSORS_STATS ||
	       wti_live_state.step < SPREAD || wti_live_state.step % SPREAD == 0;
}

/* The optimizer's own tensors. */
static bool is_turn_of_own(const struct wti_live *live)
{
	return wti_python.detail == WTI_DETAIL_FULL || wti_python.tensors >= WTI_TENSORS_STATS ||
	       is_turn_of(live);
}

void wti_state_bool(struct wt_name *owner, struct wt_name *attribute, const bool *was, bool is)
{
	const struct wti_live_change change = {.type = WT_VALUE_TYPE_BOOL,
					       .flags = was ? 0 : WT_STATE_FIRST,
					       .old_value = was && *was,
					       .new_value = is};

	wti_state_emit(owner, attribute, &change);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

struct wti_reading wti_state_read_looked(const struct wti_tensor *tensor, struct wt_name *owner,
					 struct wt_name *name, bool its_turn)
{
	const struct wti_tensor_names names = {.owner = owner, .name = name};
	struct wti_reading reading = {0};
	struct wt_digest digest;

	if (wti_python.tensors == WTI_TENSORS_OFF)
		return reading;
	if (its_turn && tensor->data && wti_recent_digest(tensor, &digest)) {
		wti_tensor_emit(tensor, &names, &digest);
		reading.hash = digest.hash;
		reading.is_done = wti_tensor_is_zero_by(tensor, &digest, &reading.is_zero);
	} else if (tensor->data) {
		reading.is_done = wti_tensor_hash(tensor, &reading.hash) &&
				  wti_tensor_is_zero(tensor, &reading.is_zero);
	} else if (its_turn) {
		wti_tensor_emit(tensor, &names, NULL); /* not measured, and that is emitted */
	}
	return reading;
}

struct wti_reading wti_state_read(PyObject *object, struct wt_name *owner, struct wt_name *name,
				  bool its_turn)
{
	struct wti_reading reading = {0};
	struct wti_tensor tensor;
	Py_buffer room;

	if (!wti_tensor_look(object, &tensor, &room))
		return reading;
	reading = wti_state_read_looked(&tensor, owner, name, its_turn);
	wti_tensor_release(&tensor);
	return reading;
}

static void emit_hash(struct wti_live *live, const struct wti_reading *reading)
{
	const struct wti_live_change change = {.type = WT_VALUE_TYPE_HASH,
					       .flags = (live->has_last ? 0 : WT_STATE_FIRST) |
							(reading->is_zero ? WT_STATE_ZEROS : 0),
					       .old_value = live->has_last ? live->last_hash : 0,
					       .new_value = reading->hash};

	if (!live->has_last || live->last_hash != reading->hash)
		wti_state_emit(live->owner, live->name, &change);
	live->last_hash = reading->hash;
	live->has_last = true;
}

static void read_parameter(PyObject *parameter, struct wti_live *live)
{
	struct wti_reading reading;
	struct wti_tensor tensor;
	Py_buffer room;

	live->read_step = wti_live_state.step;
	if (!wti_tensor_look(parameter, &tensor, &room))
		return;
	if (tensor.requires_grad != live->requires_grad || tensor.dtype != live->dtype)
		wti_object_changed(parameter, live, &tensor);
	live->is_small = tensor.count <= SMALL_BYTES / 8;
	reading = wti_state_read_looked(&tensor, live->owner, live->name, wti_state_turn(live));
	wti_tensor_release(&tensor);
	if (reading.is_done)
		emit_hash(live, &reading);
}

/* ---- Walking an optimizer -------------------------------------------------------------------- */

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
		live->grad_name = wti_name_joined(live->name, wti_live_state.words.grad, -1);
	return live;
}

static void each_of_group(struct wti_live *optimizer, PyObject *dict, Py_ssize_t group,
			  wti_each_parameter *each, void *with)
{
	PyObject *parameters = PyDict_Check(dict)
				       ? PyDict_GetItemWithError(dict, wti_live_state.words.params)
				       : NULL;

	if (!parameters || !PyList_Check(parameters))
		return;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parameters) && i < PARAMETERS_MAX; i++) {
		PyObject *parameter = PyList_GET_ITEM(parameters, i);
		struct wti_live *live;

		if (!wti_tensor_is(parameter))
			continue;
		live = parameter_live(parameter, optimizer, group, i);
		Py_INCREF(parameter);
		if (live)
			each(parameter, live, with);
		Py_DECREF(parameter);
	}
}

/* The list of groups, owned, or NULL. */
static PyObject *groups_of(const struct wti_live *optimizer)
{
	PyObject *groups = wti_own_attribute(optimizer->object, wti_live_state.words.param_groups);

	if (!groups || !PyList_Check(groups))
		return NULL;
	Py_INCREF(groups);
	return groups;
}

bool wti_state_has_groups(const struct wti_live *optimizer)
{
	PyObject *groups = groups_of(optimizer);

	Py_XDECREF(groups);
	return groups;
}

void wti_state_parameters(struct wti_live *optimizer, wti_each_parameter *each, void *with)
{
	PyObject *groups = groups_of(optimizer);

	for (Py_ssize_t i = 0; groups && i < PyList_GET_SIZE(groups); i++)
		each_of_group(optimizer, PyList_GET_ITEM(groups, i), i, each, with);
	PyErr_Clear();
	Py_XDECREF(groups);
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
		if (key == wti_live_state.words.params)
			continue;
		if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) <= 4) {
			for (int i = 0; i < (int)PyTuple_GET_SIZE(value); i++)
				wti_known_object(optimizer->owner, wti_name_joined(prefix, key, i),
						 PyTuple_GET_ITEM(value, i));
		} else if (PyFloat_Check(value) || PyLong_Check(value)) {
			wti_known_object(optimizer->owner, wti_name_joined(prefix, key, -1), value);
		}
	}
}

/* Of all settings of a group: equal ones have equal prints. */
static uint64_t print_of(PyObject *dict, uint64_t print)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (PyDict_Next(dict, &at, &key, &value)) {
		if (key == wti_live_state.words.params)
			continue;
		print = wti_mix(print, (uintptr_t)key);
		if (!PyTuple_Check(value))
			print = wti_mix(print, wti_number_bits(value));
		for (Py_ssize_t i = 0; PyTuple_Check(value) && i < PyTuple_GET_SIZE(value); i++)
			print = wti_mix(print, wti_number_bits(PyTuple_GET_ITEM(value, i)));
	}
	return print;
}

/*
 * Interpreters up to 3.11 give a dictionary another number whenever it is changed, which no other
 * ever has; what is in it that we emit cannot change itself. 0: there are no such numbers.
 */
static uint64_t version_of(PyObject *groups)
{
	uint64_t version = 0;

#if PY_VERSION_HEX < 0x030c0000
	version = wti_slot_of_thread->generation;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(groups); i++) {
		PyObject *group = PyList_GET_ITEM(groups, i);

		if (PyDict_Check(group))
			version = wti_mix(version, ((PyDictObject *)group)->ma_version_tag);
	}
#endif
	return version;
}

/* They seldom change: to see that they have not costs less than to look up each. */
static bool are_settings_new(struct wti_live *optimizer, PyObject *groups)
{
	uint64_t print = wti_slot_of_thread->generation;
	uint64_t version = version_of(groups);

	if (version && optimizer->version == version)
		return false;
	optimizer->version = version;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(groups); i++)
		if (PyDict_Check(PyList_GET_ITEM(groups, i)))
			print = print_of(PyList_GET_ITEM(groups, i), print);
	if (optimizer->has_last && optimizer->last_hash == print)
		return false;
	optimizer->has_last = true;
	optimizer->last_hash = print;
	return true;
}

static void read_all_settings(struct wti_live *optimizer, PyObject *groups)
{
	if (wti_omits(WT_THINNED_OPTIMIZER) || !are_settings_new(optimizer, groups))
		return;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(groups); i++)
		if (PyDict_Check(PyList_GET_ITEM(groups, i)))
			read_settings(optimizer, i, PyList_GET_ITEM(groups, i));
}

struct after {
	const struct wti_live *optimizer;
	PyObject *states; /* or NULL */
	bool is_all_of_own;
};

/*
 * torch hashes a tensor by its address, in Python: no code has to run for it. A subclass that does
 * otherwise is the program's, and not asked.
 */
static PyObject *own_state_of(PyObject *states, PyObject *parameter)
{
	PyObject *state =
		_PyDict_GetItem_KnownHash(states, parameter, (Py_hash_t)(uintptr_t)parameter);

	PyErr_Clear();
	return state;
}

static void read_own_state(const struct after *after, PyObject *parameter,
			   const struct wti_live *live)
{
	PyObject *state = own_state_of(after->states, parameter);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	if (!state || !PyDict_Check(state))
		return;
	while (PyDict_Next(state, &at, &key, &value)) {
		struct wt_name *name;

		if (!PyUnicode_Check(key))
			continue;
		name = wti_name_joined(live->name, key, -1);
		if (wti_tensor_is(value))
			wti_state_read(value, after->optimizer->owner, name, true);
		else if (PyFloat_Check(value) || PyLong_Check(value))
			wti_known_object(after->optimizer->owner, name, value);
	}
}

static void after_parameter(PyObject *parameter, struct wti_live *live, void *with)
{
	const struct after *after = with;

	live->is_optimized = true;
	if (!wti_omits(WT_THINNED_PARAMETERS))
		read_parameter(parameter, live);
	if (after->states && !wti_omits(WT_THINNED_OPTIMIZER) &&
	    (after->is_all_of_own || is_turn_of_own(live)))
		read_own_state(after, parameter, live);
}

void wti_state_after_step(struct wti_live *optimizer, bool is_all_of_own)
{
	PyObject *states = wti_own_attribute(optimizer->object, wti_live_state.words.state);
	PyObject *groups = wti_omits_all(WT_THINNED_PARAMETERS | WT_THINNED_OPTIMIZER)
				   ? NULL
				   : groups_of(optimizer);
	struct after after = {optimizer, states && PyDict_Check(states) ? states : NULL,
			      is_all_of_own};

	Py_XINCREF(states);
	for (Py_ssize_t i = 0; groups && i < PyList_GET_SIZE(groups); i++)
		each_of_group(optimizer, PyList_GET_ITEM(groups, i), i, after_parameter, &after);
	if (groups)
		read_all_settings(optimizer, groups);
	PyErr_Clear();
	Py_XDECREF(groups);
	Py_XDECREF(states);
	wti_late_poll();
}

/* ---- Walking models -------------------------------------------------------------------------- */

static void read_buffers(struct wti_live *module)
{
	PyObject *buffers = wti_own_attribute(module->object, wti_live_state.words.buffers);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	if (!buffers || !PyDict_Check(buffers))
		return;
	module->is_busy |= PyDict_GET_SIZE(buffers) > 0;
	while (PyDict_Next(buffers, &at, &key, &value)) {
		struct wti_reading reading;
		struct wt_name *name;

		if (!PyUnicode_Check(key) || !wti_tensor_is(value))
			continue;
		name = wti_name_joined(module->name, key, -1);
		Py_INCREF(value);
		reading = wti_state_read(value, module->owner, name, wti_state_turn(module));
		Py_DECREF(value);
		if (reading.is_done)
			wti_known_set(module->owner, name, WT_VALUE_TYPE_HASH, reading.hash,
				      reading.is_zero ? WT_STATE_ZEROS : 0);
	}
}

enum which { IN_TURN, ALL };

/* False: the module has another parameter than before. */
static bool read_parameters(struct wti_live *module, enum which which)
{
	PyObject *parameters = wti_own_attribute(module->object, wti_live_state.words.parameters);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (parameters && PyDict_Check(parameters) &&
	       PyDict_Next(parameters, &at, &key, &value)) {
		struct wti_live *live;

		if (!wti_tensor_is(value))
			continue;
		live = wti_live_find(value, WTI_LIVE_TENSOR);
		if (!live || !live->owner)
			return false;
		if (which == IN_TURN && live->read_step == wti_live_state.step)
			continue;
		module->is_busy = true;
		if (which == IN_TURN && !is_turn_of(live))
			continue;
		Py_INCREF(value);
		read_parameter(value, live);
		Py_DECREF(value);
	}
	return true;
}

/* Adds to a list that is made when the first comes. */
static void note_changed(PyObject **list, PyObject *module)
{
	if (!*list)
		*list = PyList_New(0);
	if (*list && PyList_GET_SIZE(*list) < CHANGED_MAX)
		PyList_Append(*list, module);
	PyErr_Clear();
}

/*
 * Buffers may change in every step, parameters that no optimizer steps have turns of their own;
 * modules that have such are busy. Which parameters and buffers there are seldom changes, and not
 * unseen for more than a few steps: all modules have the same turn, so that in other steps there is
 * nothing to walk over where none is busy.
 */
static bool is_turn_of_modules(enum which which)
{
	return which == ALL || wti_python.detail != WTI_DETAIL_LEAN ||
	       wti_live_state.step < SPREAD || wti_live_state.step % SPREAD == 0;
}

static void read_modules(const struct wt_name *owner, enum which which)
{
	bool is_turn = is_turn_of_modules(which);
	struct wti_live *module = NULL;
	PyObject *changed = NULL, *object;

	if (wti_omits_all(WT_THINNED_PARAMETERS | WT_THINNED_BUFFERS) ||
	    (!is_turn && !wti_live_state.is_any_busy))
		return;
	if (is_turn && !owner)
		wti_live_state.is_any_busy = false;
	while ((module = wti_live_next(module, WTI_LIVE_MODULE))) {
		if (!module->owner || module->is_empty || (owner && module->owner != owner) ||
		    !(is_turn || module->is_busy))
			continue;
		module->is_busy = false;
		object = module->object; /* kept, so that the place in the list is */
		Py_INCREF(object);
		if (!wti_omits(WT_THINNED_PARAMETERS) && !read_parameters(module, which))
			note_changed(&changed, object);
		if (!wti_omits(WT_THINNED_BUFFERS))
			read_buffers(module);
		wti_live_state.is_any_busy |= module->is_busy;
		Py_DECREF(object);
	}
	if (changed)
		wti_callback("models_changed", changed);
	Py_XDECREF(changed);
}

void wti_state_models(void)
{
	read_modules(NULL, IN_TURN);
}

void wti_state_model(const struct wt_name *owner)
{
	read_modules(owner, ALL);
}

void wti_state_frozen(void)
{
	struct wti_live *live = NULL;
	PyObject *object;

	if (wti_omits(WT_THINNED_PARAMETERS))
		return;
	while ((live = wti_live_next(live, WTI_LIVE_TENSOR))) {
		if (!live->owner || live->is_optimized)
			continue;
		object = live->object; /* kept, so that the place in the list is */
		Py_INCREF(object);
		wti_object_requires_grad(object, live);
		Py_DECREF(object);
	}
}
