/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hook does around a call: decide whether it is emitted, emit that it begins with its
 * arguments, and that it ends with its returns or its exception. While we are at work on a thread,
 * what we call ourselves is not emitted (`inside`).
 */
#include "own.h"

#include <string.h>

#include "emit.h"
#include "python/shim/host.h"
#include "python/torch/threads.h"

bool wti_call_wanted(const struct wti_hook *hook, struct wti_place *ret_place)
{
	if (!wti_python.is_on || wti_python_thread.inside) {
		wti_hook_state.is_missed |= !wti_python.is_on && hook->flags & WTI_HOOK_MAKES;
		return false;
	}
	if (!(hook->flags & WTI_HOOK_ALWAYS) && wti_python.detail == WTI_DETAIL_LEAN)
		return false;
	*ret_place = wti_place_here();
	if (wti_python.by_user_line && wti_site_is_formatting(*ret_place))
		return false;
	if (hook->flags & WTI_HOOK_ALWAYS)
		return true;
	if (wti_python.detail == WTI_DETAIL_FULL)
		return !ret_place->code || !wti_site_is_ours(ret_place->code);
	if (wti_likely(wti_site_in_same_library(ret_place->code)))
		return false;
	return ret_place->code && !wti_site_in_library_again(ret_place->code);
}

/* Most calls mean nothing but themselves: they are not taken through the table of handlers. */
static bool is_handled(const struct wti_hooked_call *call)
{
	return call->hook->handling != WT_ACTION_NONE;
}

static uint64_t bytes_max(void)
{
	return wti_python.tensors == WTI_TENSORS_OFF || wti_omits(WT_THINNED_DIGESTS)
		       ? 0
		       : wti_python.digest_bytes_max;
}

/*
 * A module is called by the name of its class, whose forward() it is; a method of another object of
 * the run, though it may be inherited, by that of the object's class.
 */
static void name_call(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	call->callee = call->hook->callee;
	call->module = call->hook->module;
	if (count < 1)
		return;
	if (call->hook->handling == WT_ACTION_FORWARD)
		wti_method_names(Py_TYPE(arguments[0]), ".forward", &call->module, &call->callee);
	else if (call->hook->suffix)
		wti_method_names(Py_TYPE(arguments[0]), call->hook->suffix, &call->module,
				 &call->callee);
}

static void emit_begin(struct wti_hooked_call *call)
{
	const struct wti_here here = wti_here();
	struct wti_record_call_begin begin;

	if (!here.ring)
		return;
	begin = (struct wti_record_call_begin){
		.callee = wti_name(here, call->callee),
		.module = wti_name(here, call->module),
		.site = wti_site_of(here, wti_python.by_user_line ? wti_site_user(call->place)
								  : call->place),
		.flags = call->flags,
		.object = call->object ? wti_name(here, call->object) : 0,
		.action = call->action,
	};
	if (wti_python.by_user_line && wti_site_depth(call->place) > 1)
		begin.flags |= WT_CALL_INNER;
	if (!wti_emit_call_begin(here, &begin))
		return;
	call->is_emitted = true;
	call->nodes = wti_shim_sequence();
	call->seq = begin.record.seq;
	wti_external_begin(here, call->seq);
}

static struct wt_name *parameter_name(const struct wti_hook *hook, Py_ssize_t position)
{
	if (hook->parameters && position < hook->parameter_count &&
	    position < PyTuple_GET_SIZE(hook->parameters))
		return wti_name_of_word(PyTuple_GET_ITEM(hook->parameters, position));
	if (position == 0 && Py_IS_TYPE(hook->object, &PyMethodDescr_Type))
		return WT_NAME("self");
	return NULL;
}

/* What the lean level emits of an argument, if it emits arguments of this call at all. */
static bool is_short(const struct wti_hook *hook, PyObject *value)
{
	return PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
	       PyUnicode_CheckExact(value) || hook->flags & WTI_HOOK_SIZES;
}

static uint64_t bytes_max_of(const struct wti_hook *hook)
{
	return wti_python.detail == WTI_DETAIL_LEAN && hook->flags & WTI_HOOK_SIZES ? 0
										    : bytes_max();
}

static void emit_arguments(const struct wti_hooked_call *call, PyObject *const *arguments,
			   Py_ssize_t count, PyObject *names)
{
	Py_ssize_t name_count = names ? PyTuple_GET_SIZE(names) : 0;
	struct wti_value_place place = {.call = call->seq};

	for (Py_ssize_t i = 0; i < count + name_count; i++) {
		if (wti_python.detail == WTI_DETAIL_LEAN && !is_short(call->hook, arguments[i]))
			continue;
		place.position = (int32_t)i;
		place.name = i < count ? parameter_name(call->hook, i)
				       : wti_name_of_word(PyTuple_GET_ITEM(names, i - count));
		wti_value_emit(&place, arguments[i], bytes_max_of(call->hook));
	}
}

static bool is_among(PyObject *names, PyObject *name)
{
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
		if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0)
			return true;
	return false;
}

/* Flags and numbers that were not given but count: set_to_none=False. */
static void emit_defaults(const struct wti_hooked_call *call, Py_ssize_t count, PyObject *names)
{
	const struct wti_hook *hook = call->hook;
	/* Of Python functions alone the parameters are known. */
	PyObject *defaults =
		hook->parameters ? ((PyFunctionObject *)hook->object)->func_defaults : NULL;
	struct wti_value_place place = {.call = call->seq};
	Py_ssize_t first;

	if (!defaults)
		return;
	first = hook->parameter_count - PyTuple_GET_SIZE(defaults);
	for (Py_ssize_t i = first > count ? first : count; i < hook->parameter_count; i++) {
		PyObject *value = PyTuple_GET_ITEM(defaults, i - first);
		PyObject *name = PyTuple_GET_ITEM(hook->parameters, i);

		if (value == Py_None || !is_short(hook, value) || is_among(names, name))
			continue;
		place.position = (int32_t)i;
		place.name = wti_name_of_word(name);
		wti_value_emit(&place, value, 0);
	}
	PyErr_Clear();
}

static void emit_given(const struct wti_hooked_call *call, PyObject *const *arguments,
		       Py_ssize_t count, PyObject *names)
{
	bool is_short_emitted = call->hook->flags & (WTI_HOOK_ARGUMENTS | WTI_HOOK_SIZES) &&
				!wti_omits_for_budget(WT_THINNED_ARGUMENTS);

	if (is_handled(call) && wti_handle_arguments(call, arguments, count, names))
		return;
	if (wti_omits(WT_THINNED_ARGUMENTS) && !is_short_emitted)
		return;
	if (wti_python.detail != WTI_DETAIL_LEAN || is_short_emitted)
		emit_arguments(call, arguments, count, names);
	if (is_short_emitted)
		emit_defaults(call, count, names);
}

void wti_call_begin(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *names)
{
	PyObject *overrides = wti_torch_thread.has_overrides ? wti_overrides_off() : NULL;

	wti_python_thread.inside++;
	wti_context_current();
	if (is_handled(call))
		wti_handle_before(call, arguments, count);
	if (!(call->hook->flags & WTI_HOOK_QUIET) && !call->is_hidden) {
		name_call(call, arguments, count);
		emit_begin(call);
		if (call->is_emitted)
			emit_given(call, arguments, count, names);
	}
	wti_python_thread.inside--;
	wti_overrides_on(overrides);
}

/* Nodes of the autograd graph: when they run, an edge leads back to this call. */
static void nodes_made(const struct wti_hooked_call *call)
{
	uint64_t nodes = wti_shim_sequence();

	if (nodes > call->nodes)
		wti_threads_made(call->nodes, nodes, call->seq);
}

static void emit_end(const struct wti_hooked_call *call, PyObject *exception)
{
	const struct wti_here here = wti_here();
	const char *text = exception ? ((PyTypeObject *)exception)->tp_name : NULL;
	struct wti_record_call_end end;

	wti_external_end();
	if (!here.ring)
		return;
	end = (struct wti_record_call_end){.callee = wti_name(here, call->callee)};
	if (text)
		end.exception = wti_name(here, wti_name_find(text, strlen(text)));
	wti_emit_call_end(here, &end);
}

static bool emits_result(const struct wti_hook *hook, PyObject *result)
{
	return (wti_python.detail != WTI_DETAIL_LEAN && !wti_omits(WT_THINNED_ARGUMENTS)) ||
	       (hook->flags & WTI_HOOK_ARGUMENTS && wti_tensor_is(result) &&
		!wti_omits_for_budget(WT_THINNED_ARGUMENTS));
}

/*
 * The exception is put aside only when something is done that could raise another; its type alone
 * is emitted, as its text may be private.
 */
void wti_call_end(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *result)
{
	struct wti_value_place place = {.call = call->seq, .position = -1};
	PyObject *type = NULL, *value = NULL, *traceback = NULL, *overrides = NULL;

	if (!call->is_emitted && !is_handled(call))
		return;
	wti_python_thread.inside++;
	if (!result)
		PyErr_Fetch(&type, &value, &traceback);
	if (wti_torch_thread.has_overrides)
		overrides = wti_overrides_off();
	if (call->is_emitted) {
		nodes_made(call);
		if (result && (result != Py_None || call->filled) &&
		    !(is_handled(call) && wti_handle_result(call, result)) &&
		    emits_result(call->hook, result))
			wti_value_emit(&place, result, bytes_max());
		emit_end(call, type);
	}
	if (is_handled(call))
		wti_handle_after(call, arguments, count, result);
	wti_overrides_on(overrides);
	if (!result)
		PyErr_Restore(type, value, traceback);
	wti_python_thread.inside--;
}

/* ---- Noise ----------------------------------------------------------------------------------- */

void wti_hook_set_maker(void (*made)(struct wti_hook *hook))
{
	wti_hook_state.made = made;
}

PyObject *wti_hook_call_unperturbed(const struct wti_hook *hook, PyObject *callable,
				    PyObject *const *arguments, size_t flagged_count,
				    PyObject *names)
{
	if (hook->unperturbed)
		return hook->unperturbed(callable, arguments, flagged_count, names);
	return wti_hook_call_through_type(callable, arguments, PyVectorcall_NARGS(flagged_count),
					  names);
}
