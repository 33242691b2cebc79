/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some calls mean for the run: the table of handlers, and the way from a call to its row. What
 * concerns models, their training and their data is in files of its own; here are settings and the
 * rest.
 */
#include "handler.h"

/* ---- Settings, ranks, graphs ----------------------------------------------------------------- */

static void after_setter(struct wti_hooked_call *call, const struct wti_given *given,
			 PyObject *result)
{
	struct wti_torch_thread *thread = &wti_torch_thread;
	PyObject *value = given->arguments[0];
	uint32_t bit = 1u << call->hook->setter;
	bool was = thread->settings & bit, is = value == Py_True;
	bool is_known = thread->settings_known & bit;

	thread->modes_known = false;
	/* Optimizers switch gradients off for themselves: that is no news. */
	if (!result || !PyBool_Check(value) || (is_known && was == is) ||
	    thread->depths[WT_ACTION_STEP] > 0)
		return;
	wti_state_bool(WT_NAME("torch"), call->hook->callee, is_known ? &was : NULL, is);
	thread->settings_known |= bit;
	thread->settings = is ? thread->settings | bit : thread->settings & ~bit;
}

static void after_set(struct wti_hooked_call *call, const struct wti_given *given, PyObject *result)
{
	if (result)
		wti_known_object(WT_NAME("torch"), call->hook->callee, given->arguments[0]);
}

static void after_modes(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	wti_torch_thread.modes_known = false;
}

static void after_group(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	if (result)
		wti_callback("group_made", result);
}

/*
 * torch.compile, fx and the like run a program on stand-ins for tensors. What it calls then is no
 * part of the run, and to look at a stand-in can change what becomes of the graph.
 */
static void before_trace(struct wti_hooked_call *call, const struct wti_given *given)
{
	if (!wti_torch_state.is_graph_noted)
		wti_callback("graph_traced", Py_None);
	wti_torch_state.is_graph_noted = true;
	wti_python_thread.inside++;
}

static void after_trace(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	wti_python_thread.inside--;
}

static void after_overrides(struct wti_hooked_call *call, const struct wti_given *given,
			    PyObject *result)
{
	wti_overrides_changed();
}

/* ---- The room -------------------------------------------------------------------------------- */

struct wti_torch_state wti_torch_state;
__thread struct wti_torch_thread wti_torch_thread WTI_THREAD_STATE;

bool wti_torch_init(void)
{
	const struct wti_own_word words[] = {
		{&wti_torch_state.words.grad, "grad"},
		{&wti_torch_state.words.is_leaf, "is_leaf"},
		{&wti_torch_state.words.training, "training"},
		{&wti_torch_state.words.forward, "forward"},
		{&wti_torch_state.words.last_epoch, "last_epoch"},
		{&wti_torch_state.words.last_lr, "_last_lr"},
		{&wti_torch_state.words.scale, "_scale"},
		{&wti_torch_state.words.growth_tracker, "_growth_tracker"},
		{&wti_torch_state.words.per_optimizer_states, "_per_optimizer_states"},
		{&wti_torch_state.words.found_inf_per_device, "found_inf_per_device"},
	};

	wti_torch_state.epoch = UINT64_MAX; /* none yet */
	return wti_words_make(words, sizeof(words) / sizeof(words[0]));
}

void wti_torch_set_module_type(PyObject *type)
{
	Py_INCREF(type);
	Py_XSETREF(wti_torch_state.module_type, (PyTypeObject *)type);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct wti_handler row_setter = {NULL, NULL, NULL, after_setter, 1};
static const struct wti_handler row_set = {NULL, NULL, NULL, after_set, 1};
static const struct wti_handler row_modes = {NULL, NULL, NULL, after_modes, 0};
static const struct wti_handler row_group = {NULL, NULL, NULL, after_group, 0};
static const struct wti_handler row_trace = {before_trace, NULL, NULL, after_trace, 0};
static const struct wti_handler row_overrides = {NULL, NULL, NULL, after_overrides, 0};

static const struct wti_handler *const handlers[WTI_HANDLING_END] = {
	[WT_ACTION_FORWARD] = &wti_handler_module,
	[WTI_HANDLING_MODULE_MADE] = &wti_handler_module_made,
	[WTI_HANDLING_MODULE_RESTORED] = &wti_handler_module_restored,
	[WTI_HANDLING_MODULE_METHOD] = &wti_handler_module_method,
	[WTI_HANDLING_MODULE_CLEAR] = &wti_handler_module_clear,
	[WTI_HANDLING_MODULE_LOADED] = &wti_handler_module_loaded,
	[WTI_HANDLING_COPY] = &wti_handler_copy,
	[WTI_HANDLING_MADE] = &wti_handler_made,
	[WTI_HANDLING_METHOD] = &wti_handler_method,
	[WT_ACTION_ZERO_GRAD] = &wti_handler_clear,
	[WTI_HANDLING_GROUP_ADDED] = &wti_handler_group_added,
	[WTI_HANDLING_OPTIMIZER_LOADED] = &wti_handler_optimizer_loaded,
	[WT_ACTION_STEP] = &wti_handler_step,
	[WT_ACTION_SCHEDULER_STEP] = &wti_handler_schedule,
	[WT_ACTION_SCALER] = &wti_handler_scale,
	[WTI_HANDLING_AVERAGE] = &wti_handler_average,
	[WT_ACTION_BACKWARD] = &wti_handler_backward,
	[WTI_HANDLING_SETTER] = &row_setter,
	[WTI_HANDLING_SET] = &row_set,
	[WTI_HANDLING_MODES] = &row_modes,
	[WT_ACTION_SAVE] = &wti_handler_save,
	[WT_ACTION_LOAD] = &wti_handler_load,
	[WTI_HANDLING_ARRAY_SAVED] = &wti_handler_array_saved,
	[WTI_HANDLING_ARRAYS_SAVED] = &wti_handler_arrays_saved,
	[WTI_HANDLING_ARRAY_LOADED] = &wti_handler_array_loaded,
	[WTI_HANDLING_ARRAY_TAKEN] = &wti_handler_array_taken,
	[WT_ACTION_ROUND] = &wti_handler_epoch,
	[WT_ACTION_BATCH] = &wti_handler_batch,
	[WTI_HANDLING_FETCH] = &wti_handler_fetch,
	[WTI_HANDLING_WORKER] = &wti_handler_worker,
	[WTI_HANDLING_GROUP] = &row_group,
	[WTI_HANDLING_TRACE] = &row_trace,
	[WTI_HANDLING_OVERRIDES] = &row_overrides,
	[WTI_HANDLING_CONFIGURED] = &wti_handler_configured,
};

bool wti_handle_is(uint32_t handling)
{
	return handling < WTI_HANDLING_END && (handling == WT_ACTION_NONE || handlers[handling]);
}

static bool is_enough(const struct wti_hooked_call *call, Py_ssize_t count)
{
	return count >= handlers[call->hook->handling]->given_min;
}

void wti_handle_before(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	const struct wti_handler *handler = handlers[call->hook->handling];
	const struct wti_given given = {arguments, count, NULL};

	call->action = handler->action;
	call->is_outer = wti_torch_thread.depths[call->hook->handling]++ == 0;
	if (call->is_outer && call->hook->handling != WT_ACTION_FORWARD &&
	    !(call->hook->flags & WTI_HOOK_QUIET))
		call->place = wti_site_user(call->place);
	if (handler->before && is_enough(call, count))
		handler->before(call, &given);
}

bool wti_handle_arguments(const struct wti_hooked_call *call, PyObject *const *arguments,
			  Py_ssize_t count, PyObject *names)
{
	const struct wti_handler *handler = handlers[call->hook->handling];
	const struct wti_given given = {arguments, count, names};

	return handler->arguments && is_enough(call, count) && handler->arguments(call, &given);
}

bool wti_handle_result(const struct wti_hooked_call *call, PyObject *result)
{
	const struct wti_handler *handler = handlers[call->hook->handling];

	return handler->result && handler->result(call, result);
}

void wti_handle_after(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result)
{
	const struct wti_handler *handler = handlers[call->hook->handling];
	const struct wti_given given = {arguments, count, NULL};

	wti_torch_thread.depths[call->hook->handling]--;
	if (handler->after && is_enough(call, count))
		handler->after(call, &given, result);
}
