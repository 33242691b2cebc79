/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around a call of an operation in C: what it has made is perturbed, in memory, before anybody sees
 * it. torch's version counters, its graph and everything that Python can see stay as they are.
 *
 * An operation within which another one was perturbed is left: the noise is in its result already.
 * Only what the operation has made counts as its result: an object that nobody else holds, in
 * memory that it shares with no argument; or what it writes into, if its name or an `out` says so.
 */
#include "own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OUTPUTS_MAX = 4096, /* of one call */
	DEPTH_MAX = 4,      /* of tuples and lists in one another */
};

static bool is_quiet(void)
{
	return !wti_python.is_on || wti_python_thread.inside || wti_noise_thread.silent;
}

/* ---- What an operation writes ---------------------------------------------------------------- */

static bool has_name(PyObject *names, const char *name)
{
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
		if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0)
			return true;
	return false;
}

static Py_ssize_t all_count(const struct wti_operation *operation)
{
	return operation->count + (operation->names ? PyTuple_GET_SIZE(operation->names) : 0);
}

static bool is_argument(const struct wti_operation *operation, PyObject *object)
{
	for (Py_ssize_t i = 0; i < all_count(operation); i++)
		if (operation->arguments[i] == object)
			return true;
	return false;
}

static bool shares(PyObject *argument, const struct wti_tensor *result, int depth)
{
	struct wti_tensor tensor;
	Py_buffer room;
	bool is_shared = false;

	if (PyList_Check(argument) || PyTuple_Check(argument)) {
		for (Py_ssize_t i = 0; depth < 2 && i < PySequence_Fast_GET_SIZE(argument); i++)
			if (shares(PySequence_Fast_GET_ITEM(argument, i), result, depth + 1))
				return true;
		return false;
	}
	if (argument == result->object)
		return true;
	if (!wti_tensor_is(argument) && !wti_noise_is_array(argument))
		return false;
	if (wti_tensor_look(argument, &tensor, &room)) {
		is_shared = wti_noise_meet(&tensor, result);
		wti_tensor_release(&tensor);
	}
	return is_shared;
}

static bool is_view(const struct wti_operation *operation, const struct wti_tensor *result)
{
	for (Py_ssize_t i = 0; i < all_count(operation); i++)
		if (shares(operation->arguments[i], result, 0))
			return true;
	return false;
}

/* Bits of a significand; 0: not a floating type. */
static int significand_of(uint32_t dtype)
{
	switch (wti_dtype_real(dtype)) {
	case WT_DTYPE_F64:
		return 53;
	case WT_DTYPE_F32:
		return 24;
	case WT_DTYPE_F16:
		return 11;
	case WT_DTYPE_BF16:
		return 8;
	case WT_DTYPE_F8E4M3:
	case WT_DTYPE_F8E4M3FNUZ:
		return 4;
	case WT_DTYPE_F8E5M2:
	case WT_DTYPE_F8E5M2FNUZ:
		return 3;
	}
	return 0;
}

/* What a cast was made of has digits that its result has no room for. */
static bool is_narrowed(const struct wti_operation *operation, const struct wti_tensor *result)
{
	struct wti_tensor tensor;
	Py_buffer room;
	bool is_narrower;

	if (!operation->count || !wti_tensor_look(operation->arguments[0], &tensor, &room))
		return false;
	wti_tensor_release(&tensor);
	is_narrower = significand_of(tensor.dtype) > significand_of(result->dtype);
	return is_narrower;
}

/* ---- Perturbing ------------------------------------------------------------------------------ */

static void apply(struct wti_operation *operation, const struct wti_tensor *result)
{
	if (wti_noise_state.noise.mode == WTI_NOISE_CANCELLATION)
		wti_noise_cancelled(operation, result);
	else
		wti_noise_memory(result, &operation->key);
	operation->key.value++;
}

/* Of the type and the extents of its first argument: what equals that was passed on. */
static void apply_to_changed(struct wti_operation *operation, const struct wti_tensor *result)
{
	struct wti_tensor first;
	Py_buffer room;
	char *before = NULL;

	if (operation->count && wti_tensor_look(operation->arguments[0], &first, &room)) {
		if (first.data && first.dtype == result->dtype && first.rank == result->rank &&
		    memcmp(first.sizes, result->sizes, first.rank * sizeof(first.sizes[0])) == 0)
			before = wti_noise_copy(&first);
		wti_tensor_release(&first);
	}
	if (before)
		wti_noise_changed(result, &operation->key, before);
	else
		wti_noise_memory(result, &operation->key);
	operation->key.value++;
	free(before);
}

static void perturb_tensor(struct wti_operation *operation, PyObject *object, bool is_written)
{
	struct wti_tensor result;

	if (!wti_noise_can(object, &result))
		return;
	if (!is_written && (Py_REFCNT(object) != 1 || is_view(operation, &result)))
		return;
	if (operation->rounding == WTI_ROUNDING_CAST && !is_narrowed(operation, &result))
		return;
	if (operation->rounding == WTI_ROUNDING_CHANGED && !is_written)
		apply_to_changed(operation, &result);
	else
		apply(operation, &result);
}

/* Of Python's own, in the user's code: other functions hand out what they were given. */
static bool makes_floats(const struct wti_operation *operation)
{
	const struct wti_place place = wti_place_here();

	return strcmp(operation->hook->module->text, "builtins") == 0 && place.code &&
	       !wti_site_in_library(place.code);
}

static void perturb_scalar(struct wti_operation *operation, PyObject *object)
{
	struct wti_tensor result;

	if (Py_REFCNT(object) != 1 || !wti_noise_look_at_scalar(object, &result))
		return;
	if (!PyFloat_CheckExact(object) || makes_floats(operation))
		apply(operation, &result);
}

static void perturb(struct wti_operation *operation, PyObject *object, bool is_written, int depth)
{
	if (operation->key.value > OUTPUTS_MAX)
		return;
	if (PyTuple_Check(object) || PyList_Check(object)) {
		for (Py_ssize_t i = 0; depth < DEPTH_MAX && i < PySequence_Fast_GET_SIZE(object);
		     i++)
			perturb(operation, PySequence_Fast_GET_ITEM(object, i), is_written,
				depth + 1);
		return;
	}
	if (wti_tensor_is(object) || wti_noise_is_array(object))
		perturb_tensor(operation, object, is_written);
	else
		perturb_scalar(operation, object);
}

/* What it was given to write into, of what returns nothing. */
static void perturb_arguments(struct wti_operation *operation)
{
	Py_ssize_t last = operation->count - 1;

	if (operation->rounding == WTI_ROUNDING_LAST && last >= 0)
		perturb(operation, operation->arguments[last], true, 0);
	if (operation->rounding == WTI_ROUNDING_FIRST && last >= 0)
		perturb(operation, operation->arguments[0], true, 0);
	/* Parameters, gradients, then what the optimizer keeps. */
	for (Py_ssize_t i = 0; operation->rounding == WTI_ROUNDING_FUSED && i < 4; i++)
		if (i != 1 && i <= last && PyList_Check(operation->arguments[i]))
			perturb(operation, operation->arguments[i], true, 0);
}

static void perturb_result(struct wti_operation *operation, PyObject *result)
{
	const uint32_t rounding = operation->rounding;

	if (rounding == WTI_ROUNDING_LAST || rounding == WTI_ROUNDING_FIRST ||
	    rounding == WTI_ROUNDING_FUSED) {
		perturb_arguments(operation);
		return;
	}
	if (result == Py_None)
		return;
	perturb(operation, result,
		operation->is_in_place || (operation->is_ufunc && is_argument(operation, result)),
		0);
}

/* ---- Elements that stay ---------------------------------------------------------------------- */

/* What a call that may leave elements alone writes into, as it was. */
struct kept {
	PyObject *object; /* borrowed; NULL: nothing is kept */
	char *before;
};

static PyObject *argument_named(const struct wti_operation *operation, const char *name)
{
	for (Py_ssize_t i = operation->count; i < all_count(operation); i++)
		if (PyUnicode_CompareWithASCIIString(
			    PyTuple_GET_ITEM(operation->names, i - operation->count), name) == 0)
			return operation->arguments[i];
	return NULL;
}

static PyObject *written_in_part(const struct wti_operation *operation)
{
	PyObject *out = argument_named(operation, "out");

	if (strcmp(operation->hook->callee->text, "ufunc.at") == 0)
		return operation->count > 1 ? operation->arguments[1] : NULL;
	if (out && has_name(operation->names, "where"))
		return PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1 ? PyTuple_GET_ITEM(out, 0)
									: out;
	if (operation->rounding == WTI_ROUNDING_CHANGED && operation->is_in_place &&
	    operation->count)
		return operation->arguments[0];
	return NULL;
}

static void keep(struct wti_operation *operation, struct kept *ret)
{
	struct wti_tensor tensor;

	ret->object = written_in_part(operation);
	ret->before = NULL;
	if (ret->object && wti_noise_can(ret->object, &tensor))
		ret->before = wti_noise_copy(&tensor);
}

static void perturb_kept(struct wti_operation *operation, const struct kept *kept)
{
	struct wti_tensor tensor;

	if (kept->before && wti_noise_can(kept->object, &tensor) &&
	    wti_noise_state.noise.mode != WTI_NOISE_CANCELLATION)
		wti_noise_changed(&tensor, &operation->key, kept->before);
}

/* ---- The way in ------------------------------------------------------------------------------ */

static struct wti_hook *hook_of(PyObject *callable)
{
	if (PyCFunction_Check(callable))
		return (void *)((PyCFunctionObject *)callable)->m_ml;
	if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
		return (void *)((PyMethodDescrObject *)callable)->d_method;
	return wti_hook_find(callable);
}

static uint32_t rounding_of(const struct wti_hook *hook, PyObject *const *arguments,
			    Py_ssize_t count)
{
	const struct wti_hook *ufunc;

	if (hook->rounding != WTI_ROUNDING_METHOD || count < 1)
		return hook->rounding;
	ufunc = wti_hook_find(arguments[0]);
	return ufunc && ufunc->rounding == WTI_ROUNDING_NONE ? WTI_ROUNDING_NONE : WTI_ROUNDING_ALL;
}

static bool is_ufunc(const struct wti_hook *hook)
{
	return strcmp(Py_TYPE(hook->object)->tp_name, "numpy.ufunc") == 0 ||
	       hook->rounding == WTI_ROUNDING_METHOD;
}

static PyObject *call(const struct wti_operation *operation, PyObject *callable,
		      PyObject *const *arguments, size_t flagged_count)
{
	const void *outer_frame = wti_noise_thread.frame;
	PyObject *result;

	wti_noise_thread.depth++;
	wti_noise_thread.frame = wti_frame_here(PyThreadState_Get());
	result = wti_hook_call_unperturbed(operation->hook, callable, arguments, flagged_count,
					   operation->names);
	wti_noise_thread.frame = outer_frame;
	wti_noise_thread.depth--;
	return result;
}

static PyObject *call_with_inputs(struct wti_operation *operation, PyObject *callable,
				  size_t flagged_count)
{
	struct wti_noise_inputs inputs;
	PyObject *result;

	operation->has_place = true;
	operation->is_wanted = wti_noise_place(operation->hook, &operation->key);
	if (!operation->is_wanted || !wti_noise_inputs_make(operation, &inputs))
		return call(operation, callable, operation->arguments, flagged_count);
	result = call(operation, callable, inputs.arguments + 1, flagged_count);
	wti_noise_inputs_release(&inputs);
	return result;
}

static void finish(struct wti_operation *operation, PyObject *result, const struct kept *kept)
{
	PyObject *overrides = wti_torch_thread.has_overrides ? wti_overrides_off() : NULL;

	wti_python_thread.inside++;
	wti_noise_thread.done_count++;
	wti_noise_thread.made = result;
	if (!operation->has_place)
		operation->is_wanted = wti_noise_place(operation->hook, &operation->key);
	if (operation->is_wanted) {
		if (kept->object)
			perturb_kept(operation, kept);
		else
			perturb_result(operation, result);
	}
	wti_python_thread.inside--;
	wti_overrides_on(overrides);
}

/* In a mode that perturbs inputs alone, outputs are, where inputs cannot be. */
static bool wants_outputs(const struct wti_operation *operation)
{
	return wti_noise_state.noise.mode != WTI_NOISE_PB ||
	       operation->rounding == WTI_ROUNDING_FIRST ||
	       operation->rounding == WTI_ROUNDING_FUSED ||
	       operation->rounding == WTI_ROUNDING_LAST;
}

/* sum() adds floats by itself, whatever has been perturbed to make them. */
static bool adds_up(const struct wti_operation *operation, PyObject *result)
{
	return PyFloat_CheckExact(result) && strcmp(operation->hook->module->text, "builtins") == 0;
}

static PyObject *call_perturbed(struct wti_operation *operation, PyObject *callable,
				size_t flagged_count)
{
	const uint64_t done = wti_noise_thread.done_count;
	struct kept kept;
	PyObject *result;
	int saved_errno;

	operation->is_in_place = wti_writes_in_place(operation->hook->callee->text) ||
				 has_name(operation->names, "out");
	operation->is_ufunc = is_ufunc(operation->hook);
	keep(operation, &kept);
	if (wti_noise_of_inputs(&wti_noise_state.noise))
		result = call_with_inputs(operation, callable, flagged_count);
	else
		result = call(operation, callable, operation->arguments, flagged_count);
	saved_errno = errno;
	if (result && wants_outputs(operation) &&
	    (done == wti_noise_thread.done_count || adds_up(operation, result)))
		finish(operation, result, &kept);
	free(kept.before);
	errno = saved_errno;
	return result;
}

/* Slots of types come this way. */
bool wti_noise_begin(struct wti_operation *operation)
{
	if (is_quiet())
		return false;
	operation->done_count = wti_noise_thread.done_count;
	operation->outer_frame = wti_noise_thread.frame;
	wti_noise_thread.made = NULL;
	wti_noise_thread.depth++;
	wti_noise_thread.frame = wti_frame_here(PyThreadState_Get());
	return true;
}

void wti_noise_end(struct wti_operation *operation, PyObject *result)
{
	const struct kept none = {NULL, NULL};
	int saved_errno = errno;

	wti_noise_thread.frame = operation->outer_frame;
	wti_noise_thread.depth--;
	if (result && result != Py_NotImplemented && wants_outputs(operation) &&
	    operation->done_count == wti_noise_thread.done_count)
		finish(operation, result, &none);
	errno = saved_errno;
}

static PyObject *enter(PyObject *callable, PyObject *const *arguments, size_t flagged_count,
		       PyObject *names)
{
	struct wti_operation operation = {
		.hook = hook_of(callable),
		.arguments = arguments,
		.count = PyVectorcall_NARGS(flagged_count),
		.names = names,
	};
	PyObject *result;

	if (is_quiet())
		return wti_hook_call_unperturbed(operation.hook, callable, arguments, flagged_count,
						 names);
	operation.rounding = rounding_of(operation.hook, arguments, operation.count);
	if (operation.rounding == WTI_ROUNDING_NONE)
		return call(&operation, callable, arguments, flagged_count);
	if (operation.rounding != WTI_ROUNDING_SILENCES)
		return call_perturbed(&operation, callable, flagged_count);
	wti_noise_thread.silent++;
	result = call(&operation, callable, arguments, flagged_count);
	wti_noise_thread.silent--;
	return result;
}

/* What is written in Python is no operation, what it calls is; numpy's dispatchers pass on to that.
 */
static bool is_in_python(PyObject *callable)
{
	/* On 3.11 a hooked function is of a type derived from that of functions. */
	return PyObject_TypeCheck(callable, &PyFunction_Type) ||
	       strstr(Py_TYPE(callable)->tp_name, "FunctionDispatcher");
}

void wti_noise_hook(struct wti_hook *hook)
{
	if (!is_in_python(hook->object))
		hook->rounding = wti_rounding_of(hook->module->text, hook->callee->text);
	else if (strcmp(hook->callee->text, "linspace") == 0) /* makes numbers, with rounded ones */
		hook->rounding = WTI_ROUNDING_SILENCES;
	else
		return;
	hook->unperturbed = hook->original;
	hook->original = enter;
}
