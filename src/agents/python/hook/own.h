/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this room, for its own files.
 */
#ifndef WTI_PYTHON_HOOK_OWN_H
#define WTI_PYTHON_HOOK_OWN_H

#include "hook.h"

#include "python/torch/torch.h"

enum {
	WTI_HOOK_BUCKETS = 4096,
	WTI_HOOKED_ATTRIBUTES = 16,
};

/* An attribute of tensors: see slot.c. */
struct wti_hooked_attribute {
	PyGetSetDef definition; /* stands in for the original one */
	PyGetSetDef original;
	struct wti_hook get;
	struct wti_hook set;
};

struct wti_hook_state {
	struct {
		PyObject *name; /* "__name__" */
		PyObject *file; /* "__file__" */
	} words;                /* interned */
	bool is_missed;         /* something may have been made while we were stopped */
	bool is_depth_emitted;  /* that calls are too deep to be emitted */
	void (*made)(struct wti_hook *hook); /* gets each new hook, or NULL */
	uint32_t hook_count;
	uint32_t setter_count;
	uint32_t attribute_count;
	descrgetfunc get_original;  /* PyMethodDescr_Type's own tp_descr_get */
	PyTypeObject function_type; /* of hooked functions on 3.11 */
	PyObject *own_wanted; /* decides which of the program's functions are emitted; or NULL */
	PyObject *monitoring_disable; /* sys.monitoring's answer for what is not wanted */
	Py_ssize_t frame_extra;       /* index of our notes on their code */
	struct {
		binaryfunc get;
		objobjargproc set;
		struct wti_hook get_hook;
		struct wti_hook set_hook;
		struct wti_hook delete_hook;
	} indexing; /* see slot.c */
	struct wti_hooked_attribute attributes[WTI_HOOKED_ATTRIBUTES];
	/* Hooks of what has no method definition, by the address of the callable. */
	struct wti_hook *buckets[WTI_HOOK_BUCKETS];
};

struct wti_open_function;

/* What a thread keeps of the room: see frame.c. */
struct wti_hook_thread {
	uint32_t frame_depth; /* of evaluations of frames through us */
	uint32_t open_count;
	struct wti_open_function *opens; /* under way on this thread, and emitted */
};

extern struct wti_hook_state wti_hook_state WTI_HIDDEN;
extern __thread struct wti_hook_thread wti_hook_thread WTI_THREAD_STATE;

/* As the interpreter itself calls what has no vectorcall. */
PyObject *wti_hook_call_through_type(PyObject *callable, PyObject *const *arguments,
				     Py_ssize_t count, PyObject *names);

#endif
