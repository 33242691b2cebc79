/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of what trains a model: optimizers, schedulers, gradient scalers, and a backward with its
 * loss. Knows where these keep their numbers.
 */
#include "handler.h"

#include <string.h>

#include "emit.h"

/* ---- Objects --------------------------------------------------------------------------------- */

static void after_made(struct wti_hooked_call *call, const struct wti_given *given,
		       PyObject *result)
{
	struct wti_live *live;

	if (!result || !call->is_outer)
		return;
	wti_live_thread.site = wti_site_made(given->arguments[0]);
	wti_callback("made", given->arguments[0]);
	wti_live_thread.site = 0;
	live = wti_live_find(given->arguments[0], WTI_LIVE_OPTIMIZER);
	if (live && live->owner)
		wti_state_after_step(live, false); /* where it begins */
}

/* The optimizer, shown to the Python side if it is new to us. */
static struct wti_live *optimizer_of(PyObject *object)
{
	struct wti_live *live = wti_live_find(object, WTI_LIVE_OPTIMIZER);

	if (wti_likely(live && live->owner))
		return live;
	wti_callback("met", object);
	live = wti_live_find(object, WTI_LIVE_OPTIMIZER);
	return live && live->owner ? live : NULL;
}

static void before_method(struct wti_hooked_call *call, const struct wti_given *given)
{
	/* Whatever a scheduler does while it is being made is not the program's step. */
	call->is_hidden = wti_torch_thread.depths[WTI_HANDLING_MADE] > 0;
	call->object = wti_live_name(given->arguments[0]);
}

static void before_clear(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *live = optimizer_of(given->arguments[0]);

	before_method(call, given);
	if (live && !call->is_hidden && wti_context_is_backward_unused())
		wti_gradient_before_clear(live);
}

/* What wraps an optimizer has no groups of its own: the first one inside that has some steps. */
static void pass_on(struct wti_hooked_call *call)
{
	call->is_outer = false;
	call->is_passed_on = true;
	call->action = WT_ACTION_NONE;
	wti_torch_thread.depths[WT_ACTION_STEP]--;
}

static void before_step(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *live = optimizer_of(given->arguments[0]);

	if (!live) {
		call->action = WT_ACTION_NONE;
		return;
	}
	if (call->is_outer && !wti_state_has_groups(live)) {
		pass_on(call);
		return;
	}
	call->object = live->owner;
	if (!call->is_outer)
		return;
	wti_gradient_before_step(live);
	if (!(live->count & (live->count + 1))) /* the steps 1, 2, 4, 8 ... of it */
		wti_state_frozen();
}

/* What the step changed is in the states before this; rules read them as one. */
static void emit_step_end(const struct wti_hooked_call *call)
{
	const struct wti_here here = wti_here();

	if (!here.ring || !call->is_emitted || call->action != WT_ACTION_STEP)
		return;
	wti_emit_step_end(here, &(struct wti_record_step_end){
					.object = wti_name(here, call->object), .call = call->seq});
}

static void after_step(struct wti_hooked_call *call, const struct wti_given *given,
		       PyObject *result)
{
	struct wti_live *live = call->is_outer && result ? optimizer_of(given->arguments[0]) : NULL;
	bool is_new;

	if (call->is_passed_on)
		wti_torch_thread.depths[WT_ACTION_STEP]++;
	if (live) {
		wti_state_after_step(live, false);
		if (wti_context_begins_step(live))
			wti_state_models();
	}
	if (result)
		emit_step_end(call);
	if (!live)
		return;
	is_new = wti_context_stepped(live);
	wti_random_read();
	if (is_new && !wti_torch_state.is_step_given)
		wti_pace_step();
}

static void after_group_added(struct wti_hooked_call *call, const struct wti_given *given,
			      PyObject *result)
{
	if (result && wti_live_find(given->arguments[0], WTI_LIVE_OPTIMIZER))
		wti_callback("group_added", given->arguments[0]);
}

static void after_optimizer_loaded(struct wti_hooked_call *call, const struct wti_given *given,
				   PyObject *result)
{
	struct wti_live *live = result ? optimizer_of(given->arguments[0]) : NULL;

	if (live)
		wti_state_after_step(live, true);
}

static void after_schedule(struct wti_hooked_call *call, const struct wti_given *given,
			   PyObject *result)
{
	PyObject *scheduler = given->arguments[0];
	PyObject *epoch = wti_own_attribute(scheduler, wti_torch_state.words.last_epoch);
	PyObject *rates = wti_own_attribute(scheduler, wti_torch_state.words.last_lr);

	if (!result || !call->object)
		return;
	if (epoch)
		wti_known_object(call->object, WT_NAME("last_epoch"), epoch);
	if (!rates || !PyList_Check(rates))
		return;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rates) && i < 16; i++)
		wti_known_object(call->object,
				 wti_name_joined(NULL, wti_torch_state.words.last_lr, (int32_t)i),
				 PyList_GET_ITEM(rates, i));
}

/* ---- Numbers of scalers, losses -------------------------------------------------------------- */

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
	/* Every loss comes this way, once a step: a digest of one number would be long. */
	if (tensor.dtype == WT_DTYPE_F32 && tensor.count == 1 && tensor.data &&
	    !tensor.is_guarded && !tensor.is_negative) {
		float value;

		memcpy(&value, tensor.data, sizeof(value));
		wti_tensor_release(&tensor);
		*ret = value;
		return true;
	}
	is_read = tensor.count == 1 && tensor.data && wti_tensor_digest(&tensor, &digest);
	wti_tensor_release(&tensor);
	if (!is_read)
		return false;
	*ret = digest.nan ? __builtin_nan("") : digest.mean;
	if (digest.inf)
		*ret = __builtin_inf();
	return true;
}

static void emit_number(struct wt_name *owner, struct wt_name *attribute, PyObject *object)
{
	double number;
	uint64_t bits;

	if (!object || !number_in(object, &number))
		return;
	memcpy(&bits, &number, sizeof(bits));
	wti_known_set(owner, attribute, WT_VALUE_TYPE_FLOAT, bits, 0);
}

/* found_inf of each optimizer that was unscaled since the last update. */
static void emit_found_inf(struct wt_name *owner, PyObject *states)
{
	PyObject *key, *state, *device, *value;
	Py_ssize_t at = 0, inner = 0;
	bool is_found = false, is_known = false;
	double number;

	while (PyDict_Next(states, &at, &key, &state)) {
		PyObject *found =
			PyDict_Check(state)
				? PyDict_GetItemWithError(
					  state, wti_torch_state.words.found_inf_per_device)
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

static void after_scale(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	PyObject *scaler = given->arguments[0];
	PyObject *states = wti_own_attribute(scaler, wti_torch_state.words.per_optimizer_states);

	if (!call->object || !result)
		return;
	emit_number(call->object, WT_NAME("scale"),
		    wti_own_attribute(scaler, wti_torch_state.words.scale));
	emit_number(call->object, WT_NAME("growth_tracker"),
		    wti_own_attribute(scaler, wti_torch_state.words.growth_tracker));
	if (states && PyDict_Check(states))
		emit_found_inf(call->object, states);
}

static bool is_leaf(PyObject *loss)
{
	PyObject *asked;
	bool is = false;

	if (!wti_tensor_is_tame(loss) || wti_seen_is_leaf(loss, &is))
		return is;
	asked = PyObject_GetAttr(loss, wti_torch_state.words.is_leaf);
	is = asked == Py_True;
	PyErr_Clear();
	Py_XDECREF(asked);
	return is;
}

static void before_backward(struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *loss = given->arguments[0];
	double value;

	call->is_hidden = !call->is_outer;
	if (!call->is_outer)
		return;
	wti_context_backward();
	wti_gradient_before_backward();
	if (!wti_tensor_is(loss))
		return;
	if (!wti_omits(WT_THINNED_LOSSES) && number_in(loss, &value))
		wti_counter(WT_NAME("loss"), value);
	if (is_leaf(loss))
		call->flags |= WT_CALL_LEAF;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const struct wti_handler wti_handler_made = {NULL, NULL, NULL, after_made, 1};
const struct wti_handler wti_handler_method = {before_method, NULL, NULL, NULL, 1};
const struct wti_handler wti_handler_clear = {before_clear, NULL, NULL,
					      NULL,         1,    WT_ACTION_ZERO_GRAD};
const struct wti_handler wti_handler_group_added = {before_method, NULL, NULL, after_group_added,
						    1};
const struct wti_handler wti_handler_optimizer_loaded = {before_method, wti_handle_contents_given,
							 NULL, after_optimizer_loaded, 1};
const struct wti_handler wti_handler_step = {before_step, NULL, NULL,
					     after_step,  1,    WT_ACTION_STEP};
const struct wti_handler wti_handler_schedule = {before_method,  NULL, NULL,
						 after_schedule, 1,    WT_ACTION_SCHEDULER_STEP};
const struct wti_handler wti_handler_scale = {before_method, NULL, NULL,
					      after_scale,   1,    WT_ACTION_SCALER};
const struct wti_handler wti_handler_backward = {before_backward,   NULL, NULL, NULL, 1,
						 WT_ACTION_BACKWARD};
