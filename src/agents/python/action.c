/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some calls mean for the run: the table of actions, and the way from a call to its row. What
 * concerns models, their training and their data is in files of its own; here are settings and the
 * rest.
 */
#include "act.h"

/* ---- Settings, ranks, graphs -------------------------------------------------------------------
 */

static void after_setter(struct wti_hooked_call *call, const struct wti_given *given,
			 PyObject *result)
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

static void after_set(struct wti_hooked_call *call, const struct wti_given *given, PyObject *result)
{
	if (result)
		wti_known_object(WT_NAME("torch"), call->hook->callee, given->arguments[0]);
}

static void after_modes(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	wti_python_thread.modes_known = false;
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
	if (!wti_python.is_trace_said)
		wti_callback("graph_traced", Py_None);
	wti_python.is_trace_said = true;
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

/* ---- The table ---------------------------------------------------------------------------------
 */

static const struct wti_act row_setter = {NULL, NULL, NULL, after_setter, 1};
static const struct wti_act row_set = {NULL, NULL, NULL, after_set, 1};
static const struct wti_act row_modes = {NULL, NULL, NULL, after_modes, 0};
static const struct wti_act row_group = {NULL, NULL, NULL, after_group, 0};
static const struct wti_act row_trace = {before_trace, NULL, NULL, after_trace, 0};
static const struct wti_act row_overrides = {NULL, NULL, NULL, after_overrides, 0};

static const struct wti_act *const actions[WTI_ACTION_END] = {
	[WTI_ACTION_MODULE] = &wti_act_module,
	[WTI_ACTION_MODULE_MADE] = &wti_act_module_made,
	[WTI_ACTION_MODULE_RESTORED] = &wti_act_module_restored,
	[WTI_ACTION_MODULE_METHOD] = &wti_act_module_method,
	[WTI_ACTION_MODULE_CLEAR] = &wti_act_module_clear,
	[WTI_ACTION_MODULE_LOADED] = &wti_act_module_loaded,
	[WTI_ACTION_COPY] = &wti_act_copy,
	[WTI_ACTION_MADE] = &wti_act_made,
	[WTI_ACTION_METHOD] = &wti_act_method,
	[WTI_ACTION_CLEAR] = &wti_act_clear,
	[WTI_ACTION_GROUP_ADDED] = &wti_act_group_added,
	[WTI_ACTION_OPTIMIZER_LOADED] = &wti_act_optimizer_loaded,
	[WTI_ACTION_STEP] = &wti_act_step,
	[WTI_ACTION_SCHEDULE] = &wti_act_schedule,
	[WTI_ACTION_SCALE] = &wti_act_scale,
	[WTI_ACTION_AVERAGE] = &wti_act_average,
	[WTI_ACTION_BACKWARD] = &wti_act_backward,
	[WTI_ACTION_SETTER] = &row_setter,
	[WTI_ACTION_SET] = &row_set,
	[WTI_ACTION_MODES] = &row_modes,
	[WTI_ACTION_SAVE] = &wti_act_save,
	[WTI_ACTION_LOAD] = &wti_act_load,
	[WTI_ACTION_EPOCH] = &wti_act_epoch,
	[WTI_ACTION_BATCH] = &wti_act_batch,
	[WTI_ACTION_FETCH] = &wti_act_fetch,
	[WTI_ACTION_WORKER] = &wti_act_worker,
	[WTI_ACTION_GROUP] = &row_group,
	[WTI_ACTION_TRACE] = &row_trace,
	[WTI_ACTION_OVERRIDES] = &row_overrides,
};

static bool is_enough(const struct wti_hooked_call *call, Py_ssize_t count)
{
	return count >= actions[call->hook->action]->given_min;
}

void wti_action_before(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	const struct wti_act *action = actions[call->hook->action];
	const struct wti_given given = {arguments, count, NULL};

	call->action = action->action;
	call->is_outer = wti_python_thread.depths[call->hook->action]++ == 0;
	if (call->is_outer && call->hook->action != WTI_ACTION_MODULE &&
	    !(call->hook->flags & WTI_HOOK_QUIET))
		call->place = wti_site_user(call->place);
	if (action->before && is_enough(call, count))
		action->before(call, &given);
}

bool wti_action_arguments(const struct wti_hooked_call *call, PyObject *const *arguments,
			  Py_ssize_t count, PyObject *names)
{
	const struct wti_act *action = actions[call->hook->action];
	const struct wti_given given = {arguments, count, names};

	return action->arguments && is_enough(call, count) && action->arguments(call, &given);
}

bool wti_action_result(const struct wti_hooked_call *call, PyObject *result)
{
	const struct wti_act *action = actions[call->hook->action];

	return action->result && action->result(call, result);
}

void wti_action_after(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result)
{
	const struct wti_act *action = actions[call->hook->action];
	const struct wti_given given = {arguments, count, NULL};

	wti_python_thread.depths[call->hook->action]--;
	if (action->after && is_enough(call, count))
		action->after(call, &given, result);
}
