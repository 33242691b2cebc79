/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some calls mean for the run: an object is made, a step ends, a loss is known, a batch comes.
 * One row a meaning: whose method the call is, and what is to be done before it, with its
 * arguments, with its result and after it.
 */
#include "pyagent.h"

#include <string.h>

enum {
	FLAG_TRAINING_KNOWN = 1,
	FLAG_TRAINING = 2,
	FLAG_GRAD = 4,
	FLAG_OUTERMOST = 32,
	FLAG_LEAF = 64,
};

struct given {
	PyObject *const *arguments;
	Py_ssize_t count;
	PyObject *names; /* or NULL */
};

/* ---- Modules ----------------------------------------------------------------------------------
 */

/* Gradients 4, autocast 8, inference mode 16, as set_modes() was told: the last is autocast too. */
static void ask_modes(void)
{
	static const uint32_t bits[WTI_MODES] = {FLAG_GRAD, 8, 16, 8};
	struct wti_python_thread *thread = &wti_python_thread;

	thread->modes = 0;
	for (int i = 0; i < WTI_MODES && wti_python.modes[i]; i++) {
		PyObject *is = PyObject_CallNoArgs(wti_python.modes[i]);

		if (is == Py_True)
			thread->modes |= bits[i];
		if (!is)
			PyErr_Clear();
		Py_XDECREF(is);
	}
	thread->modes_known = true;
}

static uint32_t training_of(PyObject *module)
{
	PyObject *value = wti_own_attribute(module, wti_python.words.training);

	if (value != Py_True && value != Py_False)
		return 0;
	return FLAG_TRAINING_KNOWN | (value == Py_True ? FLAG_TRAINING : 0);
}

static void model_called(struct wti_call *call, struct wti_live *live)
{
	bool training = call->flags & FLAG_TRAINING, was = live->training;

	if (!live->owner || !(call->flags & FLAG_TRAINING_KNOWN))
		return;
	if (live->count++ == 0 || was != training)
		wti_state_bool(live->full, WT_NAME("training"), live->count == 1 ? NULL : &was,
			       training);
	live->training = training;
	if (wti_context_model(live, call->flags)) {
		wti_state_model(NULL);
		wti_random_read();
		if (!wti_python.is_step_said)
			wti_pace_step();
	}
}

static void before_module(struct wti_call *call, const struct given *given)
{
	struct wti_live *live = wti_object_module(given->arguments[0]);

	if (call->is_outer || !wti_python_thread.modes_known)
		ask_modes();
	call->flags = training_of(given->arguments[0]) | wti_python_thread.modes |
		      (call->is_outer ? FLAG_OUTERMOST : 0);
	if (!live)
		return;
	call->object = live->full;
	if (call->is_outer)
		model_called(call, live);
}

/* The name of a parameter of forward(), borrowed. */
static PyObject *parameter_of_forward(PyObject *module, Py_ssize_t position)
{
	PyObject *forward = _PyType_Lookup(Py_TYPE(module), wti_python.words.forward);
	PyCodeObject *code;

	if (!forward || !PyObject_TypeCheck(forward, &PyFunction_Type))
		return NULL;
	code = (PyCodeObject *)PyFunction_GET_CODE(forward);
	if (position >= code->co_argcount)
		return NULL;
	return PyTuple_GET_ITEM(wti_code_parameters(code), position);
}

static bool tell_inputs(const struct wti_call *call, const struct given *given)
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
		place.name =
			name && PyUnicode_IsIdentifier(name) == 1 ? wti_name_of_text(name) : NULL;
		wti_data_tell(&place, given->arguments[i]);
	}
	return true;
}

static bool tell_outputs(const struct wti_call *call, PyObject *result)
{
	const struct wti_data_place place = {.call = call->seq, .position = -1};

	if (!call->is_outer)
		return false;
	wti_data_tell(&place, result);
	return true;
}

static void before_module_made(struct wti_call *call, const struct given *given)
{
	wti_object_module_new(given->arguments[0], WT_FOUND_MADE);
}

static void before_module_restored(struct wti_call *call, const struct given *given)
{
	bool is_copied = wti_python_thread.depths[WTI_ACTION_COPY] > 0;

	wti_object_module_new(given->arguments[0],
			      is_copied ? WT_FOUND_COPIED : WT_FOUND_UNPICKLED);
}

static void before_module_method(struct wti_call *call, const struct given *given)
{
	struct wti_live *live = call->is_outer ? wti_object_module(given->arguments[0]) : NULL;

	call->is_hidden = !call->is_outer;
	call->object = live ? live->full : NULL;
}

static bool is_module(PyObject *object)
{
	return wti_python.module_type && PyObject_TypeCheck(object, wti_python.module_type);
}

/* Every tensor and number of what is saved or was loaded. */
static void tell_contents(const struct wti_call *call, int position, PyObject *object)
{
	PyObject *told = Py_BuildValue("(IiO)", call->seq, position, object);

	if (told)
		wti_callback("contents", told);
	PyErr_Clear();
	Py_XDECREF(told);
}

static bool tell_loaded(const struct wti_call *call, const struct given *given)
{
	if (given->count > 1)
		tell_contents(call, 1, given->arguments[1]);
	return false;
}

static void after_module_loaded(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_live *live = wti_live_find(given->arguments[0], WTI_LIVE_MODULE);

	if (result && call->is_outer && live && live->owner)
		wti_state_model(live->inner ? live->inner : live->owner);
}

static void after_copy(struct wti_call *call, const struct given *given, PyObject *result)
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

/* ---- Optimizers, schedulers, scalers ----------------------------------------------------------
 */

static void after_made(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_live *live;

	if (!result || !call->is_outer)
		return;
	wti_python_thread.site = wti_site_made(given->arguments[0]);
	wti_callback("made", given->arguments[0]);
	wti_python_thread.site = 0;
	live = wti_live_find(given->arguments[0], WTI_LIVE_OPTIMIZER);
	if (live && live->owner)
		wti_state_after_step(live, false); /* where it begins */
}

/* The optimizer, told to the Python side if it is new to us. */
static struct wti_live *optimizer_of(PyObject *object)
{
	struct wti_live *live = wti_live_find(object, WTI_LIVE_OPTIMIZER);

	if (wti_likely(live && live->owner))
		return live;
	wti_callback("met", object);
	live = wti_live_find(object, WTI_LIVE_OPTIMIZER);
	return live && live->owner ? live : NULL;
}

static void before_method(struct wti_call *call, const struct given *given)
{
	/* Whatever a scheduler does while it is being made is not the program's step. */
	call->is_hidden = wti_python_thread.depths[WTI_ACTION_MADE] > 0;
	call->object = wti_live_name(given->arguments[0]);
}

static void before_step(struct wti_call *call, const struct given *given)
{
	struct wti_live *live = optimizer_of(given->arguments[0]);

	if (!live)
		return;
	call->object = live->owner;
	if (call->is_outer)
		wti_gradient_before_step(live);
}

static void after_step(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_live *live = call->is_outer && result ? optimizer_of(given->arguments[0]) : NULL;
	bool is_new;

	if (!live)
		return;
	wti_state_after_step(live, false);
	if (live->count >= wti_python.step)
		wti_state_models();
	is_new = wti_context_stepped(live);
	wti_random_read();
	if (is_new && !wti_python.is_step_said)
		wti_pace_step();
}

static void after_group_added(struct wti_call *call, const struct given *given, PyObject *result)
{
	if (result && wti_live_find(given->arguments[0], WTI_LIVE_OPTIMIZER))
		wti_callback("group_added", given->arguments[0]);
}

static void after_optimizer_loaded(struct wti_call *call, const struct given *given,
				   PyObject *result)
{
	struct wti_live *live = result ? optimizer_of(given->arguments[0]) : NULL;

	if (live)
		wti_state_after_step(live, true);
}

static void after_schedule(struct wti_call *call, const struct given *given, PyObject *result)
{
	PyObject *scheduler = given->arguments[0];
	PyObject *epoch = wti_own_attribute(scheduler, wti_python.words.last_epoch);
	PyObject *rates = wti_own_attribute(scheduler, wti_python.words.last_lr);

	if (!result || !call->object)
		return;
	if (epoch)
		wti_known_object(call->object, WT_NAME("last_epoch"), epoch);
	if (!rates || !PyList_Check(rates))
		return;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rates) && i < 16; i++)
		wti_known_object(call->object,
				 wti_name_joined(NULL, wti_python.words.last_lr, (int32_t)i),
				 PyList_GET_ITEM(rates, i));
}

/* A tensor of one element, if it can be read here. */
static bool number_in(PyObject *object, double *ret)
{
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;
	bool is_read;

	if (PyFloat_Check(object)) {
		*ret = PyFloat_AS_DOUBLE(object);
		return true;
	}
	if (!wti_tensor_is(object) || !wti_tensor_look(object, &tensor, &room))
		return false;
	is_read = tensor.count == 1 && tensor.data && wti_tensor_digest(&tensor, &digest);
	wti_tensor_release(&tensor);
	if (!is_read)
		return false;
	*ret = digest.nan ? __builtin_nan("") : digest.mean;
	if (digest.inf)
		*ret = __builtin_inf();
	return true;
}

static void tell_number(struct wt_name *owner, struct wt_name *attribute, PyObject *object)
{
	double number;
	uint64_t bits;

	if (!object || !number_in(object, &number))
		return;
	memcpy(&bits, &number, sizeof(bits));
	wti_known_set(owner, attribute, WT_VALUE_TYPE_FLOAT, bits, 0);
}

/* found_inf of each optimizer that was unscaled since the last update. */
static void tell_found_inf(struct wt_name *owner, PyObject *states)
{
	PyObject *key, *state, *device, *value;
	Py_ssize_t at = 0, inner = 0;
	bool is_found = false, is_known = false;
	double number;

	while (PyDict_Next(states, &at, &key, &state)) {
		PyObject *found = PyDict_Check(state)
					  ? PyDict_GetItemWithError(
						    state, wti_python.words.found_inf_per_device)
					  : NULL;

		inner = 0;
		while (found && PyDict_Check(found) && PyDict_Next(found, &inner, &device, &value))
			if (number_in(value, &number)) {
				is_known = true;
				is_found = is_found || number != 0;
			}
	}
	PyErr_Clear();
	if (is_known)
		wti_known_set(owner, WT_NAME("found_inf"), WT_VALUE_TYPE_BOOL, is_found, 0);
}

static void after_scale(struct wti_call *call, const struct given *given, PyObject *result)
{
	PyObject *scaler = given->arguments[0];
	PyObject *states = wti_own_attribute(scaler, wti_python.words.per_optimizer_states);

	if (!call->object || !result)
		return;
	tell_number(call->object, WT_NAME("scale"),
		    wti_own_attribute(scaler, wti_python.words.scale));
	tell_number(call->object, WT_NAME("growth_tracker"),
		    wti_own_attribute(scaler, wti_python.words.growth_tracker));
	if (states && PyDict_Check(states))
		tell_found_inf(call->object, states);
}

/* ---- Losses and settings ----------------------------------------------------------------------
 */

static void before_backward(struct wti_call *call, const struct given *given)
{
	PyObject *loss = given->arguments[0], *leaf;
	double value;

	call->is_hidden = !call->is_outer;
	if (!call->is_outer)
		return;
	wti_context_backward();
	wti_gradient_before_backward();
	if (!wti_tensor_is(loss))
		return;
	if (!wti_lacks(WTI_LACKS_LOSSES) && number_in(loss, &value))
		wti_counter(WT_NAME("loss"), value);
	leaf = wti_tensor_is_tame(loss) ? PyObject_GetAttr(loss, wti_python.words.is_leaf) : NULL;
	if (leaf == Py_True)
		call->flags |= FLAG_LEAF;
	PyErr_Clear();
	Py_XDECREF(leaf);
}

static void after_setter(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_python_thread *thread = &wti_python_thread;
	PyObject *value = given->arguments[0];
	uint32_t bit = 1u << call->hook->setter;
	bool was = thread->settings & bit, is = value == Py_True;
	bool is_known = thread->settings_known & bit;

	thread->modes_known = false;
	/* Optimizers switch gradients off for themselves: that is no news. */
	if (!result || !PyBool_Check(value) || (is_known && was == is) ||
	    thread->depths[WTI_ACTION_STEP] > 0)
		return;
	wti_state_bool(WT_NAME("torch"), call->hook->callee, is_known ? &was : NULL, is);
	thread->settings_known |= bit;
	thread->settings = is ? thread->settings | bit : thread->settings & ~bit;
}

static void after_set(struct wti_call *call, const struct given *given, PyObject *result)
{
	if (result)
		wti_known_object(WT_NAME("torch"), call->hook->callee, given->arguments[0]);
}

static void after_modes(struct wti_call *call, const struct given *given, PyObject *result)
{
	wti_python_thread.modes_known = false;
}

/* ---- Saving and loading -----------------------------------------------------------------------
 */

static void before_save(struct wti_call *call, const struct given *given)
{
	call->stage = wti_python.stage;
	wti_stage_set("save");
	wti_state_model(NULL); /* so that what is saved can be compared with what is */
	wti_random_read();
}

static bool tell_saved(const struct wti_call *call, const struct given *given)
{
	tell_contents(call, 0, given->arguments[0]);
	return false;
}

static void before_load(struct wti_call *call, const struct given *given)
{
	call->stage = wti_python.stage;
	wti_stage_set("load");
}

static bool tell_found(const struct wti_call *call, PyObject *result)
{
	tell_contents(call, -1, result);
	return true;
}

static void after_stage(struct wti_call *call, const struct given *given, PyObject *result)
{
	if (call->stage)
		wti_stage_set(call->stage);
}

/* ---- Loaders ----------------------------------------------------------------------------------
 */

static struct wti_live *loader_of(PyObject *object)
{
	struct wti_live *live = wti_live_find(object, WTI_LIVE_LOADER);

	if (live && live->owner)
		return live;
	wti_callback("met", object);
	live = wti_live_find(object, WTI_LIVE_LOADER);
	return live && live->owner ? live : NULL;
}

static void before_epoch(struct wti_call *call, const struct given *given)
{
	struct wti_live *loader = loader_of(given->arguments[0]);

	wti_random_read();
	if (!loader)
		return;
	call->object = loader->owner;
	wti_context_loader_begun(loader);
}

/* The iterator gives batches in the name of its loader. */
static void after_epoch(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_live *loader = wti_live_find(given->arguments[0], WTI_LIVE_LOADER);
	struct wti_live *iterator =
		result && loader ? wti_live_add(result, WTI_LIVE_ITERATOR) : NULL;

	if (!iterator)
		return;
	iterator->owner = iterator->full = loader->owner;
	iterator->count = loader->count;
	wti_callback("loader_begun", given->arguments[0]);
}

static void before_batch(struct wti_call *call, const struct given *given)
{
	struct wti_live *iterator = wti_live_find(given->arguments[0], WTI_LIVE_ITERATOR);

	call->is_hidden = !call->is_outer;
	call->object = iterator ? iterator->owner : NULL;
}

static bool tell_batch(const struct wti_call *call, PyObject *result)
{
	const struct wti_data_place place = {
		.call = call->seq, .position = -1, .owner = call->object};

	wti_data_tell(&place, result);
	return true;
}

static void after_batch(struct wti_call *call, const struct given *given, PyObject *result)
{
	struct wti_live *iterator = wti_live_find(given->arguments[0], WTI_LIVE_ITERATOR);

	if (result && iterator && iterator->owner)
		wti_context_batch(iterator);
}

/* In the process that also takes the batch it is told there. */
static void before_fetch(struct wti_call *call, const struct given *given)
{
	call->is_hidden = wti_python_thread.depths[WTI_ACTION_BATCH] > 0;
	if (!call->is_hidden)
		wti_random_read();
}

static bool tell_fetched(const struct wti_call *call, PyObject *result)
{
	const struct wti_data_place place = {.call = call->seq, .position = -1};

	wti_data_tell(&place, result);
	return true;
}

static bool tell_worker(const struct wti_call *call, const struct given *given)
{
	PyObject *all = PyTuple_New(given->count);

	for (Py_ssize_t i = 0; all && i < given->count; i++) {
		Py_INCREF(given->arguments[i]);
		PyTuple_SET_ITEM(all, i, given->arguments[i]);
	}
	if (all)
		wti_callback("worker_begun", all);
	PyErr_Clear();
	Py_XDECREF(all);
	return true;
}

static void after_group(struct wti_call *call, const struct given *given, PyObject *result)
{
	if (result)
		wti_callback("group_made", result);
}

/*
 * torch.compile, fx and the like run a program on stand-ins for tensors. What it calls then is no
 * part of the run, and to look at a stand-in can change what becomes of the graph.
 */
static void before_trace(struct wti_call *call, const struct given *given)
{
	if (!wti_python.is_trace_said)
		wti_callback("graph_traced", Py_None);
	wti_python.is_trace_said = true;
	wti_python_thread.inside++;
}

static void after_trace(struct wti_call *call, const struct given *given, PyObject *result)
{
	wti_python_thread.inside--;
}

static void after_overrides(struct wti_call *call, const struct given *given, PyObject *result)
{
	wti_overrides_changed();
}

/* ---- The table --------------------------------------------------------------------------------
 */

static const struct action {
	void (*before)(struct wti_call *call, const struct given *given);
	/* True: it has told them all. */
	bool (*arguments)(const struct wti_call *call, const struct given *given);
	bool (*result)(const struct wti_call *call, PyObject *result);
	void (*after)(struct wti_call *call, const struct given *given, PyObject *result);
	Py_ssize_t given_min;
} actions[WTI_ACTION_END] = {
	[WTI_ACTION_MODULE] = {before_module, tell_inputs, tell_outputs, NULL, 1},
	[WTI_ACTION_MODULE_MADE] = {before_module_made, NULL, NULL, NULL, 1},
	[WTI_ACTION_MODULE_RESTORED] = {before_module_restored, NULL, NULL, NULL, 1},
	[WTI_ACTION_MODULE_METHOD] = {before_module_method, NULL, NULL, NULL, 1},
	[WTI_ACTION_MODULE_LOADED] = {before_module_method, tell_loaded, NULL, after_module_loaded,
				      1},
	[WTI_ACTION_COPY] = {NULL, NULL, NULL, after_copy, 1},
	[WTI_ACTION_MADE] = {NULL, NULL, NULL, after_made, 1},
	[WTI_ACTION_METHOD] = {before_method, NULL, NULL, NULL, 1},
	[WTI_ACTION_GROUP_ADDED] = {before_method, NULL, NULL, after_group_added, 1},
	[WTI_ACTION_OPTIMIZER_LOADED] = {before_method, tell_loaded, NULL, after_optimizer_loaded,
					 1},
	[WTI_ACTION_STEP] = {before_step, NULL, NULL, after_step, 1},
	[WTI_ACTION_SCHEDULE] = {before_method, NULL, NULL, after_schedule, 1},
	[WTI_ACTION_SCALE] = {before_method, NULL, NULL, after_scale, 1},
	[WTI_ACTION_AVERAGE] = {before_module_method, NULL, NULL, after_module_loaded, 1},
	[WTI_ACTION_BACKWARD] = {before_backward, NULL, NULL, NULL, 1},
	[WTI_ACTION_SETTER] = {NULL, NULL, NULL, after_setter, 1},
	[WTI_ACTION_SET] = {NULL, NULL, NULL, after_set, 1},
	[WTI_ACTION_MODES] = {NULL, NULL, NULL, after_modes, 0},
	[WTI_ACTION_SAVE] = {before_save, tell_saved, NULL, after_stage, 1},
	[WTI_ACTION_LOAD] = {before_load, NULL, tell_found, after_stage, 1},
	[WTI_ACTION_EPOCH] = {before_epoch, NULL, NULL, after_epoch, 1},
	[WTI_ACTION_BATCH] = {before_batch, NULL, tell_batch, after_batch, 1},
	[WTI_ACTION_FETCH] = {before_fetch, NULL, tell_fetched, NULL, 1},
	[WTI_ACTION_WORKER] = {NULL, tell_worker, NULL, NULL, 1},
	[WTI_ACTION_GROUP] = {NULL, NULL, NULL, after_group, 0},
	[WTI_ACTION_TRACE] = {before_trace, NULL, NULL, after_trace, 0},
	[WTI_ACTION_OVERRIDES] = {NULL, NULL, NULL, after_overrides, 0},
};

static bool is_enough(const struct wti_call *call, Py_ssize_t count)
{
	return count >= actions[call->hook->action].given_min;
}

void wti_action_before(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	const struct action *action = &actions[call->hook->action];
	const struct given given = {arguments, count, NULL};

	wti_context_current();
	if (call->hook->action == WTI_ACTION_NONE)
		return;
	call->is_outer = wti_python_thread.depths[call->hook->action]++ == 0;
	if (call->is_outer && call->hook->action != WTI_ACTION_MODULE &&
	    !(call->hook->flags & WTI_HOOK_QUIET))
		call->place = wti_site_user(call->place);
	if (action->before && is_enough(call, count))
		action->before(call, &given);
}

bool wti_action_arguments(const struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
			  PyObject *names)
{
	const struct action *action = &actions[call->hook->action];
	const struct given given = {arguments, count, names};

	return action->arguments && is_enough(call, count) && action->arguments(call, &given);
}

bool wti_action_result(const struct wti_call *call, PyObject *result)
{
	const struct action *action = &actions[call->hook->action];

	return action->result && action->result(call, result);
}

void wti_action_after(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result)
{
	const struct action *action = &actions[call->hook->action];
	const struct given given = {arguments, count, NULL};

	if (call->hook->action == WTI_ACTION_NONE)
		return;
	wti_python_thread.depths[call->hook->action]--;
	if (action->after && is_enough(call, count))
		action->after(call, &given, result);
}
