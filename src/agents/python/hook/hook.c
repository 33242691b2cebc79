/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks in place. Every callable here carries the function that is to be called for it
 * (vectorcall); the hook puts ours there. The object stays the same object, so that identity,
 * hashing, pickling and every reference that was taken before keep working.
 *
 * Interpreters from 3.11 on look at the flags of a method definition and call its C function at
 * once, past vectorcall, when the flags are exactly of a kind that they know. A hooked definition
 * has one more flag, that nobody else uses: the quick way does not apply, everything else masks it.
 *
 * 3.11 runs Python functions without asking their vectorcall, if their type is exactly the function
 * type. A hooked function gets a type of its own there, equal to and derived from the function
 * type.
 */
#include "own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HOOKS_MAX = 65536,
	WRAPPERS_MAX = 8,      /* around one another */
	FLAG_HOOKED = 1 << 20, /* no METH_ flag of any interpreter */
};

struct wti_hook_state wti_hook_state;
__thread struct wti_hook_thread wti_hook_thread WTI_THREAD_STATE;

/* ---- The way in ------------------------------------------------------------------------------ */

/*
 * As the interpreter itself does for what has no vectorcall. A dictionary without names is lost on
 * the way to us, and some functions distinguish it from none: f(**{}) gets one again.
 */
PyObject *wti_hook_call_through_type(PyObject *callable, PyObject *const *arguments,
				     Py_ssize_t count, PyObject *names)
{
	Py_ssize_t name_count = names ? PyTuple_GET_SIZE(names) : 0;
	PyObject *tuple = PyTuple_New(count);
	bool has_dict = name_count || wti_place_gives_dict(wti_place_here());
	PyObject *dict = has_dict ? PyDict_New() : NULL;
	PyObject *result = NULL;

	if (!tuple || (has_dict && !dict))
		goto out;
	for (Py_ssize_t i = 0; i < count; i++) {
		Py_INCREF(arguments[i]);
		PyTuple_SET_ITEM(tuple, i, arguments[i]);
	}
	for (Py_ssize_t i = 0; i < name_count; i++)
		if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), arguments[count + i]) < 0)
			goto out;
	if (Py_EnterRecursiveCall(" while calling a Python object"))
		goto out;
	result = Py_TYPE(callable)->tp_call(callable, tuple, dict);
	Py_LeaveRecursiveCall();
out:
	Py_XDECREF(tuple);
	Py_XDECREF(dict);
	return result;
}

static inline PyObject *call_original(const struct wti_hook *hook, PyObject *callable,
				      PyObject *const *arguments, size_t flagged_count,
				      PyObject *names)
{
	if (hook->original)
		return hook->original(callable, arguments, flagged_count, names);
	return wti_hook_call_through_type(callable, arguments, PyVectorcall_NARGS(flagged_count),
					  names);
}

/* The same, with our own part of the time on the bill. */
static PyObject *call_metered(struct wti_hooked_call *call, PyObject *callable,
			      PyObject *const *arguments, size_t flagged_count, PyObject *names)
{
	Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
	uint64_t from = wti_ticks(wti_agent.ring_flags), to;
	int saved_errno = errno;
	PyObject *result;

	wti_call_begin(call, arguments, count, names);
	to = wti_ticks(wti_agent.ring_flags);
	wti_pace_spent(to - from);
	errno = saved_errno;
	result = call_original(call->hook, callable, arguments, flagged_count, names);
	saved_errno = errno;
	from = wti_ticks(wti_agent.ring_flags);
	wti_call_end(call, arguments, count, result);
	wti_pace_spent(wti_ticks(wti_agent.ring_flags) - from);
	errno = saved_errno;
	return result;
}

static PyObject *call_emitted(const struct wti_hook *hook, struct wti_place place,
			      PyObject *callable, PyObject *const *arguments, size_t flagged_count,
			      PyObject *names)
{
	Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
	struct wti_hooked_call call = {.hook = hook, .place = place};
	int saved_errno = errno;
	PyObject *result;

	if (wti_unlikely(wti_python.pace.reason == WT_THINNING_BUDGET))
		return call_metered(&call, callable, arguments, flagged_count, names);
	wti_call_begin(&call, arguments, count, names);
	errno = saved_errno;
	result = call_original(hook, callable, arguments, flagged_count, names);
	saved_errno = errno;
	wti_call_end(&call, arguments, count, result);
	errno = saved_errno;
	return result;
}

static inline PyObject *enter(const struct wti_hook *hook, PyObject *callable,
			      PyObject *const *arguments, size_t flagged_count, PyObject *names)
{
	struct wti_place place;

	if (wti_likely(!wti_call_wanted(hook, &place)))
		return call_original(hook, callable, arguments, flagged_count, names);
	return call_emitted(hook, place, callable, arguments, flagged_count, names);
}

static PyObject *enter_builtin(PyObject *callable, PyObject *const *arguments, size_t flagged_count,
			       PyObject *names)
{
	const struct wti_hook *hook = (void *)((PyCFunctionObject *)callable)->m_ml;

	return enter(hook, callable, arguments, flagged_count, names);
}

static PyObject *enter_method(PyObject *callable, PyObject *const *arguments, size_t flagged_count,
			      PyObject *names)
{
	const struct wti_hook *hook = (void *)((PyMethodDescrObject *)callable)->d_method;

	return enter(hook, callable, arguments, flagged_count, names);
}

/*
 * A method taken from its object first and called later (`f = x.add`, and before 3.11 every call by
 * keyword): an object of its own, made by the descriptor, with our definition in it. It is called
 * as the descriptor would be, with the object in front.
 */
static PyObject *enter_bound(PyObject *callable, PyObject *const *arguments, size_t flagged_count,
			     PyObject *names)
{
	const struct wti_hook *hook = (void *)((PyCFunctionObject *)callable)->m_ml;
	size_t count = (size_t)PyVectorcall_NARGS(flagged_count);
	size_t all = count + (names ? (size_t)PyTuple_GET_SIZE(names) : 0);
	PyObject *room[8], **copy = room, *result;

	if (all + 1 > sizeof(room) / sizeof(room[0]))
		copy = PyMem_New(PyObject *, all + 1);
	if (!copy)
		return PyErr_NoMemory();
	copy[0] = PyCFunction_GET_SELF(callable);
	memcpy(copy + 1, arguments, all * sizeof(*arguments));
	result = enter(hook, hook->object, copy, count + 1, names);
	if (copy != room)
		PyMem_Free(copy);
	return result;
}

static PyObject *get_bound(PyObject *method, PyObject *object, PyObject *type)
{
	PyObject *bound = wti_hook_state.get_original(method, object, type);

	if (bound && ((PyMethodDescrObject *)method)->vectorcall == enter_method &&
	    PyCFunction_CheckExact(bound))
		((PyCFunctionObject *)bound)->vectorcall = enter_bound;
	return bound;
}

/* Asked whenever a method is taken from an object; only hooked ones are touched. */
static void watch_bound_methods(void)
{
	if (wti_hook_state.get_original)
		return;
	wti_hook_state.get_original = PyMethodDescr_Type.tp_descr_get;
	PyMethodDescr_Type.tp_descr_get = get_bound;
}

static size_t bucket_of(PyObject *callable)
{
	uintptr_t address = (uintptr_t)callable;

	return (address >> 4 ^ address >> 16) % WTI_HOOK_BUCKETS;
}

struct wti_hook *wti_hook_find(PyObject *callable)
{
	struct wti_hook *hook = wti_hook_state.buckets[bucket_of(callable)];

	while (hook && hook->object != callable)
		hook = hook->next;
	return hook;
}

static PyObject *enter_by_address(PyObject *callable, PyObject *const *arguments,
				  size_t flagged_count, PyObject *names)
{
	const struct wti_hook *hook = wti_hook_find(callable);

	return enter(hook, callable, arguments, flagged_count, names);
}

/* ---- Putting hooks in ------------------------------------------------------------------------ */

static struct wti_hook *hook_new(PyObject *callable, PyMethodDef *definition)
{
	struct wti_hook *hook =
		wti_hook_state.hook_count < HOOKS_MAX ? calloc(1, sizeof(*hook)) : NULL;

	if (!hook) {
		PyErr_SetString(PyExc_MemoryError, "no room for another hook");
		return NULL;
	}
	wti_hook_state.hook_count++;
	Py_INCREF(callable);
	hook->object = callable;
	if (definition) {
		hook->original_definition = definition;
		hook->definition = *definition;
		if (!(definition->ml_flags & METH_VARARGS))
			hook->definition.ml_flags |= FLAG_HOOKED;
	}
	return hook;
}

static struct wti_hook *hook_builtin(PyCFunctionObject *function)
{
	struct wti_hook *hook = hook_new((PyObject *)function, function->m_ml);

	if (!hook)
		return NULL;
	hook->original = function->vectorcall;
	function->m_ml = &hook->definition;
	function->vectorcall = enter_builtin;
	return hook;
}

static struct wti_hook *hook_method(PyMethodDescrObject *method)
{
	struct wti_hook *hook = hook_new((PyObject *)method, method->d_method);

	if (!hook)
		return NULL;
	hook->original = method->vectorcall;
	watch_bound_methods();
	method->d_method = &hook->definition;
	method->vectorcall = enter_method;
	return hook;
}

static struct wti_hook *hook_by_address(PyObject *callable)
{
	struct wti_hook *hook = hook_new(callable, NULL);
	size_t bucket = bucket_of(callable);

	if (!hook)
		return NULL;
	hook->next = wti_hook_state.buckets[bucket];
	wti_hook_state.buckets[bucket] = hook;
	return hook;
}

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
/* Functions are pickled by name, which pickle knows of their exact type only. */
static PyObject *reduce(PyObject *self, PyObject *nothing)
{
	return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *get_class(PyObject *self, void *closure)
{
	Py_INCREF(&PyFunction_Type);
	return (PyObject *)&PyFunction_Type;
}

static PyMethodDef hooked_function_methods[] = {
	{"__reduce__", reduce, METH_NOARGS, NULL},
	{NULL},
};

static PyGetSetDef hooked_function_getset[] = {
	{"__class__", get_class, NULL, NULL, NULL},
	{NULL},
};

static bool ready_function_type(void)
{
	PyTypeObject *type = &wti_hook_state.function_type;

	if (type->tp_flags & Py_TPFLAGS_READY)
		return true;
	*type = PyFunction_Type;
	Py_SET_REFCNT(type, 1);
	type->tp_base = &PyFunction_Type;
	type->tp_dict = type->tp_mro = type->tp_bases = type->tp_cache = NULL;
	type->tp_subclasses = type->tp_weaklist = NULL;
	type->tp_version_tag = 0;
	type->tp_flags &= ~(unsigned long)(Py_TPFLAGS_READY | Py_TPFLAGS_READYING |
					   Py_TPFLAGS_VALID_VERSION_TAG);
	type->tp_methods = hooked_function_methods;
	type->tp_getset = hooked_function_getset;
	type->tp_members = NULL;
	/* Its own documentation would hide that of each function. */
	if (PyType_Ready(type) < 0 || PyDict_DelItemString(type->tp_dict, "__doc__") < 0)
		return false;
	PyType_Modified(type);
	return true;
}

static void function_set(PyFunctionObject *function, vectorcallfunc enter_with)
{
	function->vectorcall = enter_with;
	Py_SET_TYPE(function, enter_with == enter_by_address ? &wti_hook_state.function_type
							     : &PyFunction_Type);
}

static bool is_function(PyObject *callable)
{
	return PyFunction_Check(callable) || Py_IS_TYPE(callable, &wti_hook_state.function_type);
}
#else
static bool ready_function_type(void)
{
	return true;
}

static void function_set(PyFunctionObject *function, vectorcallfunc enter_with)
{
#if PY_VERSION_HEX >= 0x030c0000
	PyFunction_SetVectorcall(function, enter_with);
#else
	function->vectorcall = enter_with;
#endif
}

static bool is_function(PyObject *callable)
{
	return PyFunction_Check(callable);
}
#endif

bool wti_hook_init(void)
{
	const struct wti_own_word words[] = {{&wti_hook_state.words.name, "__name__"},
					     {&wti_hook_state.words.file, "__file__"}};

	wti_hook_state.is_missed = true; /* whatever was made before we came */
	return wti_words_make(words, 2) && ready_function_type();
}

bool wti_hook_missed(void)
{
	bool was = wti_hook_state.is_missed;

	wti_hook_state.is_missed = false;
	return was;
}

static void learn_parameters(struct wti_hook *hook, PyCodeObject *code)
{
	hook->parameters = wti_code_parameters(code);
	hook->parameter_count = (uint32_t)code->co_argcount;
	Py_XINCREF(hook->parameters);
}

/*
 * A wrapper that only passes on what it is given has no names of its own: those of what it wraps
 * hold, as they do for inspect.signature().
 */
static PyFunctionObject *named_by(PyFunctionObject *function)
{
	for (int i = 0; i < WRAPPERS_MAX; i++) {
		PyCodeObject *code = (PyCodeObject *)function->func_code;
		PyObject *wrapped;

		if (code->co_argcount || !(code->co_flags & CO_VARARGS) || !function->func_dict)
			break;
		wrapped = PyDict_GetItemString(function->func_dict, "__wrapped__");
		if (!wrapped || !is_function(wrapped))
			break;
		function = (PyFunctionObject *)wrapped;
	}
	return function;
}

static struct wti_hook *hook_function(PyFunctionObject *function)
{
	struct wti_hook *hook = hook_by_address((PyObject *)function);

	if (!hook)
		return NULL;
	hook->original = function->vectorcall;
	learn_parameters(hook, (PyCodeObject *)named_by(function)->func_code);
	function_set(function, enter_by_address);
	return hook;
}

/* Others that carry their vectorcall in themselves, such as numpy's ufuncs and dispatchers. */
static vectorcallfunc *carried(PyObject *callable)
{
	PyTypeObject *type = Py_TYPE(callable);

	if (PyType_Check(callable) || PyMethod_Check(callable) ||
	    !PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) || type->tp_vectorcall_offset <= 0)
		return NULL;
	return (vectorcallfunc *)((char *)callable + type->tp_vectorcall_offset);
}

/*
 * What stands in for a Python function, such as numpy's dispatchers, says so as functools does;
 * Cython's functions have a code object, as those of Python do.
 */
static void learn_likeness(struct wti_hook *hook)
{
	PyObject *wrapped = PyObject_GetAttrString(hook->object, "__wrapped__");
	PyObject *code = wrapped ? NULL : PyObject_GetAttrString(hook->object, "__code__");

	if (wrapped && is_function(wrapped))
		learn_parameters(hook,
				 (PyCodeObject *)named_by((PyFunctionObject *)wrapped)->func_code);
	else if (code && PyCode_Check(code))
		learn_parameters(hook, (PyCodeObject *)code);
	Py_XDECREF(wrapped);
	Py_XDECREF(code);
	PyErr_Clear();
}

static struct wti_hook *hook_carried(PyObject *callable, vectorcallfunc *field)
{
	struct wti_hook *hook = hook_by_address(callable);

	if (!hook)
		return NULL;
	learn_likeness(hook);
	hook->original = *field;
	*field = enter_by_address;
	return hook;
}

bool wti_hook_is(PyObject *callable)
{
	vectorcallfunc *field = carried(callable);

	return field &&
	       (*field == enter_builtin || *field == enter_method || *field == enter_by_address);
}

/* Methods that are inherited, and emitted under the name of the object's own class. */
static bool is_named_after_class(uint32_t handling)
{
	switch (handling) {
	case WTI_HANDLING_MODULE_METHOD:
	case WTI_HANDLING_MODULE_CLEAR:
	case WTI_HANDLING_MODULE_LOADED:
	case WTI_HANDLING_METHOD:
	case WT_ACTION_ZERO_GRAD:
	case WTI_HANDLING_GROUP_ADDED:
	case WTI_HANDLING_OPTIMIZER_LOADED:
	case WT_ACTION_STEP:
	case WT_ACTION_SCHEDULER_STEP:
	case WT_ACTION_SCALER:
	case WTI_HANDLING_AVERAGE:
		return true;
	}
	return false;
}

const char *wti_hook_add(PyObject *callable, struct wt_name *module, struct wt_name *callee,
			 uint32_t flags, uint32_t handling)
{
	vectorcallfunc *field = carried(callable);
	struct wti_hook *hook = NULL;
	const char *how = NULL;

	if (wti_hook_is(callable))
		return "hooked";
	if (PyCFunction_CheckExact(callable) || Py_IS_TYPE(callable, &PyCMethod_Type)) {
		hook = hook_builtin((PyCFunctionObject *)callable);
		how = "builtin";
	} else if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
		hook = hook_method((PyMethodDescrObject *)callable);
		how = "method";
	} else if (is_function(callable)) {
		hook = hook_function((PyFunctionObject *)callable);
		how = "function";
	} else if (field && *field) {
		hook = hook_carried(callable, field);
		how = "carried";
	} else {
		PyErr_Format(PyExc_TypeError, "cannot hook an object of type '%.100s'",
			     Py_TYPE(callable)->tp_name);
	}
	if (!hook)
		return NULL;
	hook->callee = callee;
	hook->module = module;
	hook->flags = flags;
	hook->handling = handling;
	if (handling == WTI_HANDLING_SETTER)
		hook->setter = wti_hook_state.setter_count++ % 32;
	if (is_named_after_class(handling))
		hook->suffix = strrchr(callee->text, '.');
	if (wti_hook_state.made)
		wti_hook_state.made(hook);
	return how;
}

/* What the callable had. */
static vectorcallfunc original_of(const struct wti_hook *hook)
{
	return hook->rounding ? hook->unperturbed : hook->original;
}

/* ---- Taking them out ------------------------------------------------------------------------- */

static void forget(PyObject *callable)
{
	struct wti_hook **at = &wti_hook_state.buckets[bucket_of(callable)];

	while (*at && (*at)->object != callable)
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
}

/* The hook itself stays: a call through it may be under way, on any thread. */
void wti_hook_remove(PyObject *callable)
{
	struct wti_hook *hook;

	if (!wti_hook_is(callable))
		return;
	if (PyCFunction_Check(callable)) {
		PyCFunctionObject *function = (PyCFunctionObject *)callable;

		hook = (void *)function->m_ml;
		function->m_ml = hook->original_definition;
		function->vectorcall = original_of(hook);
	} else if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
		PyMethodDescrObject *method = (PyMethodDescrObject *)callable;

		hook = (void *)method->d_method;
		method->d_method = hook->original_definition;
		method->vectorcall = original_of(hook);
	} else {
		hook = wti_hook_find(callable);
		if (is_function(callable))
			function_set((PyFunctionObject *)callable, original_of(hook));
		else
			*carried(callable) = original_of(hook);
		forget(callable);
	}
}

static struct wti_hook *take_function(size_t bucket)
{
	struct wti_hook **at = &wti_hook_state.buckets[bucket], *hook;

	while (*at && !is_function((*at)->object))
		at = &(*at)->next;
	hook = *at;
	if (hook)
		*at = hook->next;
	return hook;
}

/* A thread that is left may be in the middle of a call. */
static bool is_alone(void)
{
	PyThreadState *here = PyThreadState_Get();

	return PyInterpreterState_ThreadHead(here->interp) == here && !PyThreadState_Next(here);
}

void wti_hook_let_go(void)
{
	bool alone = is_alone();

	for (size_t bucket = 0; bucket < WTI_HOOK_BUCKETS; bucket++) {
		struct wti_hook *hook;

		while ((hook = take_function(bucket))) {
			function_set((PyFunctionObject *)hook->object, original_of(hook));
			if (alone)
				Py_DECREF(hook->object);
		}
	}
}
