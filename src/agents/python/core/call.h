/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hook is, and what a call under way is: hook/ fills them, the handlers of torch/ read them.
 */
#ifndef WTI_PYTHON_CORE_CALL_H
#define WTI_PYTHON_CORE_CALL_H

#include "pyagent.h"

/*
 * What the agent does at a hooked call, where that is no action of the schema's: continues enum
 * wt_action, so that one number stands for either.
 */
enum wti_handling {
	WTI_HANDLING_MODULE_MADE = 32, /* Module.__init__; beyond all of enum wt_action */
	WTI_HANDLING_MODULE_RESTORED,  /* Module.__setstate__: unpickled or copied */
	WTI_HANDLING_MODULE_METHOD,    /* of a module: state_dict, train */
	WTI_HANDLING_MODULE_CLEAR,     /* Module.zero_grad */
	WTI_HANDLING_MODULE_LOADED,    /* Module.load_state_dict */
	WTI_HANDLING_COPY,             /* copy.deepcopy */
	WTI_HANDLING_MADE,             /* an optimizer, a scheduler, a scaler or a loader is made */
	WTI_HANDLING_METHOD,           /* of one of these */
	WTI_HANDLING_GROUP_ADDED,      /* Optimizer.add_param_group */
	WTI_HANDLING_OPTIMIZER_LOADED,
	WTI_HANDLING_AVERAGE,   /* AveragedModel.update_parameters */
	WTI_HANDLING_SETTER,    /* the first argument is the new value of a setting of the thread */
	WTI_HANDLING_SET,       /* the same for one of the process */
	WTI_HANDLING_MODES,     /* modes of the thread may have changed */
	WTI_HANDLING_FETCH,     /* a worker makes a batch */
	WTI_HANDLING_WORKER,    /* a process becomes a worker of a loader */
	WTI_HANDLING_GROUP,     /* the process becomes a rank of a group */
	WTI_HANDLING_TRACE,     /* calls within only build a graph: nothing of them is emitted */
	WTI_HANDLING_OVERRIDES, /* function modes of this thread come or go */
	WTI_HANDLING_CONFIGURED,   /* the program's configuration, or a part of it, is resolved */
	WTI_HANDLING_ARRAY_SAVED,  /* numpy.save */
	WTI_HANDLING_ARRAYS_SAVED, /* numpy.savez and savez_compressed */
	WTI_HANDLING_ARRAY_LOADED, /* numpy.load */
	WTI_HANDLING_ARRAY_TAKEN,  /* out of an archive of arrays */
	WTI_HANDLING_END,
};

enum {
	WTI_HOOK_ALWAYS = 1,    /* at every level, whoever calls */
	WTI_HOOK_QUIET = 2,     /* it is handled, the call itself is not emitted */
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
	vectorcallfunc original;    /* NULL: called through its type */
	vectorcallfunc unperturbed; /* of operations under noise: the original one */
	uint32_t rounding;          /* of these: enum wti_rounding; 0 of all others */
	PyObject *object;           /* kept alive */
	struct wt_name *callee;
	struct wt_name *module;
	uint32_t flags;
	uint32_t handling;        /* enum wt_action or enum wti_handling; 0: none */
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
	bool is_outer;          /* no call of the same handling is around it on this thread */
	bool is_passed_on;      /* of a step: it is that of another optimizer in it */
	bool is_hidden;         /* it is handled, the call itself is not emitted */
	const char *stage;      /* of saving and loading: what it was before */
	struct wt_name *taken;  /* out of an archive: its name there */
	PyObject *filled;       /* of a load into what it was given: that, borrowed; or NULL */
};

#endif
