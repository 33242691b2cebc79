/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: what a hook is, what a call under way is, and what some calls mean. Knows nothing of
 * tensors or of what the agent keeps.
 */
#ifndef WTI_PYTHON_HOOK_H
#define WTI_PYTHON_HOOK_H

#include "compat.h"

#include "common/agent.h"

/* What a call means to the agent: finer than enum wt_action, which the trace has. */
enum wti_action {
	WTI_ACTION_NONE,
	WTI_ACTION_MODULE,          /* a module is called */
	WTI_ACTION_MODULE_MADE,     /* Module.__init__ */
	WTI_ACTION_MODULE_RESTORED, /* Module.__setstate__: unpickled or copied */
	WTI_ACTION_MODULE_METHOD,   /* of a module: state_dict, train */
	WTI_ACTION_MODULE_CLEAR,    /* Module.zero_grad */
	WTI_ACTION_MODULE_LOADED,   /* Module.load_state_dict */
	WTI_ACTION_COPY,            /* copy.deepcopy */
	WTI_ACTION_MADE,            /* an optimizer, a scheduler, a scaler or a loader is made */
	WTI_ACTION_METHOD,          /* of one of these */
	WTI_ACTION_CLEAR,           /* Optimizer.zero_grad */
	WTI_ACTION_GROUP_ADDED,     /* Optimizer.add_param_group */
	WTI_ACTION_OPTIMIZER_LOADED,
	WTI_ACTION_STEP, /* an optimizer steps */
	WTI_ACTION_SCHEDULE,
	WTI_ACTION_SCALE,    /* a gradient scaler's methods */
	WTI_ACTION_AVERAGE,  /* AveragedModel.update_parameters */
	WTI_ACTION_BACKWARD, /* the first argument is a loss */
	WTI_ACTION_SETTER,   /* the first argument is the new value of a setting of the thread */
	WTI_ACTION_SET,      /* the same for one of the process */
	WTI_ACTION_MODES,    /* modes of the thread may have changed */
	WTI_ACTION_SAVE,
	WTI_ACTION_LOAD,
	WTI_ACTION_EPOCH,     /* a loader begins to give batches */
	WTI_ACTION_BATCH,     /* and gives one */
	WTI_ACTION_FETCH,     /* a worker makes one */
	WTI_ACTION_WORKER,    /* a process becomes a worker of a loader */
	WTI_ACTION_GROUP,     /* the process becomes a rank of a group */
	WTI_ACTION_TRACE,     /* calls within only build a graph: nothing of them is emitted */
	WTI_ACTION_OVERRIDES, /* function modes of this thread come or go */
	WTI_ACTION_END,
};

enum {
	WTI_HOOK_ALWAYS = 1,    /* at every level, whoever calls */
	WTI_HOOK_QUIET = 2,     /* its action is done, the call itself is not emitted */
	WTI_HOOK_ARGUMENTS = 4, /* numbers, flags and texts among its arguments at every level */
	WTI_HOOK_SIZES = 8,     /* and the sizes of its tensors */
	WTI_HOOK_MAKES = 16,    /* missing one while stopped means to look for objects */
};

/*
 * A hook. For what has a method definition the hook stands in for it: `definition` is first, so
 * that the way from a callable to its hook is one load. The entry point in it stays the original
 * one, because callables are hashed and compared by it.
 */
struct wti_hook {
	PyMethodDef definition;
	PyMethodDef *original_definition;
	vectorcallfunc original; /* NULL: called through its type */
	PyObject *object;        /* kept alive */
	struct wt_name *callee;
	struct wt_name *module;
	uint32_t flags;
	uint32_t action;          /* enum wti_action */
	uint32_t setter;          /* of setters: which one */
	const char *suffix;       /* ".step": the call is named after the class; NULL: it is not */
	PyObject *parameters;     /* names, a tuple; NULL: not known */
	uint32_t parameter_count; /* of them that can be given by position */
	struct wti_hook *next;    /* in its bucket, for functions */
};

/* One call under way. */
struct wti_hooked_call {
	const struct wti_hook *hook;
	struct wti_place place;
	struct wt_name *callee;
	struct wt_name *module;
	struct wt_name *object; /* whose method it is, or NULL */
	uint32_t flags;         /* of its call_begin */
	uint32_t action;        /* of its call_begin: enum wt_action */
	uint32_t seq;           /* of its call_begin */
	uint64_t nodes;         /* how many nodes this thread had made when it began */
	bool is_emitted;        /* it has a call_begin */
	bool is_outer;          /* no call of the same action is around it on this thread */
	bool is_passed_on;      /* of a step: it is that of another optimizer in it */
	bool is_hidden;         /* its action is done, the call itself is not emitted */
	const char *stage;      /* of saving and loading: what it was before */
};

/* ---- hook.c --------------------------------------------------------------------------------- */

/*
 * Hooks a callable. Returns a word for how, or NULL with an exception: a TypeError if it is of no
 * kind that can be hooked. Hooking what is hooked changes nothing.
 */
const char *wti_hook_add(PyObject *callable, struct wt_name *module, struct wt_name *callee,
			 uint32_t flags, uint32_t action);
/* Puts the original back; what is not hooked is left. */
void wti_hook_remove(PyObject *callable);
bool wti_hook_is(PyObject *callable);
/* The program ends: functions are as they were, so that they go, and all that they hold, as ever.
 */
void wti_hook_let_go(void);
/* Readies the type that hooked functions have on 3.11. */
bool wti_hook_init(void);

/* ---- call.c --------------------------------------------------------------------------------- */

/* True if this call is to be emitted or acted upon. */
bool wti_call_wanted(const struct wti_hook *hook, struct wti_place *ret_place);
void wti_call_begin(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *names);
/* With the exception of the call pending if result is NULL; it stays pending. */
void wti_call_end(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *result);

/* ---- action.c ------------------------------------------------------------------------------- */

/* Of calls with an action. In this order: before the call is emitted, with its arguments, with its
 * result, when it is over. */
void wti_action_before(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count);
/* False: it has nothing to say about them. */
bool wti_action_arguments(const struct wti_hooked_call *call, PyObject *const *arguments,
			  Py_ssize_t count, PyObject *names);
bool wti_action_result(const struct wti_hooked_call *call, PyObject *result);
void wti_action_after(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result);

/* ---- slot.c --------------------------------------------------------------------------------- */

/* Hooks indexing of a type and of all that took it over from it. */
bool wti_slot_index(PyTypeObject *type, struct wt_name *module);
/* Hooks an attribute: a getset descriptor. */
bool wti_slot_attribute(PyObject *descriptor, struct wt_name *module, struct wt_name *name);

#endif
