/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks in callables, and the calls that go through them as records. Hides how each kind of
 * callable is hooked, what is emitted of a call, and at which level.
 */
#ifndef WTI_PYTHON_HOOK_HOOK_H
#define WTI_PYTHON_HOOK_HOOK_H

#include "python/core/call.h"

/* ---- hook.c --------------------------------------------------------------------------------- */

/*
 * Hooks a callable. Returns a word for how, or NULL with an exception: a TypeError if it is of no
 * kind that can be hooked. Hooking what is hooked changes nothing.
 */
const char *wti_hook_add(PyObject *callable, struct wt_name *module, struct wt_name *callee,
			 uint32_t flags, uint32_t handling);
/* From now on each hook that is made goes through this, too; NULL: none does. */
void wti_hook_set_maker(void (*made)(struct wti_hook *hook));
/* Of what has no method definition; NULL: it is not hooked. */
struct wti_hook *wti_hook_find(PyObject *callable);
/* Calls what is hooked as if it were not, without noise. */
PyObject *wti_hook_call_unperturbed(const struct wti_hook *hook, PyObject *callable,
				    PyObject *const *arguments, size_t flagged_count,
				    PyObject *names);
/* Puts the original back; what is not hooked is left. */
void wti_hook_remove(PyObject *callable);
bool wti_hook_is(PyObject *callable);
/* The program ends: functions are as they were, so that they go, and all that they hold, as ever.
 */
void wti_hook_let_go(void);
/* False with an exception. */
bool wti_hook_init(void);
/* Whether something may have been made while recording was stopped; asked once. */
bool wti_hook_missed(void);

/* ---- call.c --------------------------------------------------------------------------------- */

/* True if this call is to be emitted or acted upon. */
bool wti_call_wanted(const struct wti_hook *hook, struct wti_place *ret_place);
void wti_call_begin(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *names);
/* With the exception of the call pending if result is NULL; it stays pending. */
void wti_call_end(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *result);

/* ---- slot.c --------------------------------------------------------------------------------- */

/* Hooks indexing of a type and of all that took it over from it. */
bool wti_slot_index(PyTypeObject *type, struct wt_name *module);
/* Hooks an attribute: a getset descriptor. */
bool wti_slot_attribute(PyObject *descriptor, struct wt_name *module, struct wt_name *name);

/* ---- frame.c -------------------------------------------------------------------------------- */

/* Emits calls of the program's own functions from now on. False: it cannot be done here. */
bool wti_frame_watch(PyObject *wanted);
extern PyMethodDef wti_frame_methods[];

#endif
