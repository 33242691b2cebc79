/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python agent: a guest in an interpreter. Calls of library functions are seen by hooks in the
 * functions themselves, tensors are read where they lie, states are read when a step ends.
 *
 *	hook.c     puts a hook into a callable and takes it out again
 *	call.c     what a hook does: records of a call, its arguments and its returns
 *	action.c   what some calls mean, by a table (act.h): act_model.c, act_train.c, act_data.c
 *	context.c  step, epoch and stage, derived from that
 *	site.c     where a call comes from, and whether that is the user's code
 *	value.c    an argument as a record
 *	tensor.c   what is known of a tensor, as a record
 *	layout.c   where torch keeps that, found by trial and checked
 *	array.c    the same of arrays: numpy, buffers, DLPack
 *	read.c     the elements of a tensor in order, and their digest
 *	guarded.c  memory that may go away while it is read
 *	late.c     tensors on an accelerator, told when they have been copied
 *	names.c    names that are put together from parts
 *	slot.c     indexing and attributes of tensors, which have no callable to hook
 *	live.c     objects that are followed, by their address while they live
 *	object.c   objects and their tensors as records, and what the Python side says of them
 *	known.c    the last value of each state that is a number or a text
 *	state.c    parameters, buffers and settings at the end of a step
 *	gradient.c gradients before a backward and before a step
 *	random.c   the states of random number generators
 *	data.c     batches, inputs and outputs of models, and rows of them
 *	shim.c     the optional shim: a library that knows torch's own types
 *	operator.c what torch runs below Python, as the shim tells it
 *	threads.c  what threads of torch need of one another
 *	frame.c    calls of the program's own Python functions
 *	pace.c     how much is measured: samples, budgets
 *	overrides.c keeps what we do from the program's function modes
 *	say.c      what the program, and the agent itself, say in so many words
 *	module.c   what the Python side of the agent may call
 *
 * All functions need the interpreter's lock, but for those of operator.c and threads.c. None leaves
 * an exception pending or changes errno, unless it says so.
 */
#ifndef WTI_PYTHON_PYAGENT_H
#define WTI_PYTHON_PYAGENT_H

#include "compat.h"

#include "common/agent.h"
#include "common/digest.h"

enum wti_detail {
	WTI_DETAIL_LEAN,   /* steps, modules, states */
	WTI_DETAIL_NORMAL, /* and calls that cross from the user's code into a library */
	WTI_DETAIL_FULL,   /* and calls within libraries */
};

/* Steps from one reading to the next of what is read in turn. */
enum { WTI_SPREAD = 8 };

enum wti_tensors {
	WTI_TENSORS_OFF,    /* told, not read */
	WTI_TENSORS_DIGEST, /* hash and statistics, as far as the level goes */
	WTI_TENSORS_STATS,  /* of all, each time */
	WTI_TENSORS_FULL,   /* and their bytes are kept */
};

/* What a call means, beyond being a call. */
enum wti_action {
	WTI_ACTION_NONE,
	WTI_ACTION_MODULE,          /* a module is called */
	WTI_ACTION_MODULE_MADE,     /* Module.__init__ */
	WTI_ACTION_MODULE_RESTORED, /* Module.__setstate__: unpickled or copied */
	WTI_ACTION_MODULE_METHOD,   /* of a module: zero_grad, state_dict */
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
	WTI_ACTION_TRACE,     /* calls within only build a graph: nothing of them is told */
	WTI_ACTION_OVERRIDES, /* function modes of this thread come or go */
	WTI_ACTION_END,
};

enum {
	WTI_HOOK_ALWAYS = 1,    /* at every level, whoever calls */
	WTI_HOOK_QUIET = 2,     /* its action is done, the call itself is not told */
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
struct wti_call {
	const struct wti_hook *hook;
	struct wti_place place;
	struct wt_name *callee;
	struct wt_name *module;
	struct wt_name *object; /* whose method it is, or NULL */
	uint32_t flags;         /* of its call_begin */
	uint32_t seq;           /* of its call_begin */
	uint64_t nodes;         /* how many nodes this thread had made when it began */
	bool is_told;           /* it has a call_begin */
	bool is_outer;          /* no call of the same action is around it on this thread */
	bool is_hidden;         /* its action is done, the call itself is not told */
	const char *stage;      /* of saving and loading: what it was before */
};

enum { WTI_MODES = 4 };

/* What is not measured, for a while or at all. The bits of `lacks` in the kind `thinned`. */
enum {
	WTI_LACKS_DIGESTS = 1, /* of arguments and returns */
	WTI_LACKS_ARGUMENTS = 2,
	WTI_LACKS_CALLS = 4, /* that the lean level does not tell */
	WTI_LACKS_PARAMETERS = 8,
	WTI_LACKS_GRADIENTS = 16,
	WTI_LACKS_BUFFERS = 32,
	WTI_LACKS_OPTIMIZER = 64,
	WTI_LACKS_MODES = 128,
	WTI_LACKS_RNG = 256,
	WTI_LACKS_LOSSES = 512,
	WTI_LACKS_DATA = 1024,
	WTI_LACKS_STATISTICS = 2048,
	WTI_LACKS_UNNEEDED = 4096, /* calls that no invariant needs */
	/* All that is read from memory at a step; losses and modes cost next to nothing. */
	WTI_LACKS_STATES = WTI_LACKS_PARAMETERS | WTI_LACKS_GRADIENTS | WTI_LACKS_BUFFERS |
			   WTI_LACKS_OPTIMIZER | WTI_LACKS_RNG | WTI_LACKS_DATA,
};

/* See pace.c. The first five are what was chosen. */
struct wti_pace {
	double budget;       /* a share of the program's own time; 0: none */
	uint32_t every;      /* of so many steps one is full */
	uint32_t warmup;     /* so many full steps, then thin ones; 0: not so */
	uint32_t always;     /* what lacks in every step */
	uint32_t detail;     /* of full steps: enum wti_detail */
	uint32_t reason;     /* enum wt_thinning; none: all steps are alike */
	uint32_t lacks;      /* now */
	uint32_t rung;       /* of the budget: how thin thin steps are */
	uint32_t thin_count; /* on this rung */
	uint64_t period;     /* steps, or slices of time, so far */
	uint64_t since_full; /* thin ones since the last full one */
	uint64_t begun_ticks;
	uint64_t begun_ns;
	uint64_t own_ticks; /* since then */
	uint64_t call_count;
	double full_ticks; /* our own part of a full step, of a thin one, and a step without us */
	double thin_ticks;
	double bare_ticks;
	double cost; /* share that this is reckoned to be */
	bool is_full;
	bool has_steps;
};

struct wti_python {
	bool is_on;
	bool is_counted;            /* the recorder knows that there is a Python agent here */
	uint32_t detail;            /* enum wti_detail */
	uint32_t tensors;           /* enum wti_tensors */
	uint64_t digest_bytes_max;  /* larger arguments and returns of calls are told, not read */
	Py_ssize_t code_extra;      /* index of our notes on code objects */
	PyObject *library_prefixes; /* tuple of str: code under them is not the user's */
	PyObject *callbacks; /* object with the methods of wheeltap._torch.Callbacks, or NULL */
	PyTypeObject *tensor_type;    /* torch._C._TensorBase, or NULL */
	PyObject *override_count;     /* torch's, of function modes on this thread, or NULL */
	PyObject *overrides_off;      /* torch's context that leaves them out */
	PyTypeObject *plain_types[2]; /* torch.Tensor and torch.nn.Parameter */
	struct {
		PyObject *requires_grad;
		PyObject *grad;
		PyObject *name; /* "__name__" */
		PyObject *is_leaf;
		PyObject *param_groups;
		PyObject *params;
		PyObject *state;
		PyObject *parameters;
		PyObject *buffers;
		PyObject *modules;
		PyObject *training;
		PyObject *forward;
		PyObject *torch_function;
		PyObject *last_epoch;
		PyObject *last_lr;
		PyObject *scale;
		PyObject *growth_tracker;
		PyObject *per_optimizer_states;
		PyObject *found_inf_per_device;
	} words;                    /* interned */
	PyTypeObject *module_type;  /* torch.nn.Module, or NULL */
	PyObject *modes[WTI_MODES]; /* functions that say whether a mode is on, or NULL */
	bool is_missed;             /* something may have been made while we were stopped */
	uint64_t step;              /* how often the optimizer that steps most has stepped */
	uint64_t epoch;
	const char *stage;       /* a literal */
	uint64_t context_change; /* counts changes of the three */
	bool is_depth_said;      /* that calls are too deep to be told */
	bool is_step_said;       /* the program says what the step is */
	bool is_stage_said;
	bool is_trace_said;      /* that there are graphs into which we do not see */
	bool is_guard_forbidden; /* the kernel does not copy for us */
	struct wti_pace pace;
	PyObject *own_wanted;         /* says which of the program's functions are told; or NULL */
	PyObject *monitoring_disable; /* sys.monitoring's answer for what is not wanted */
	Py_ssize_t frame_extra;       /* index of our notes on their code */
};

struct wti_python_thread {
	uint32_t frame_depth; /* of evaluations of frames through us */
	uint32_t inside;      /* we are at work, or a graph is: what is called is not told */
	bool has_overrides;   /* the program is told of what is done with tensors */
	uint32_t depths[WTI_ACTION_END]; /* calls under way, by action */
	uint32_t settings_known;         /* a bit for each setter: torch keeps these by thread */
	uint32_t settings;
	uint32_t modes; /* bits of call_begin's flags */
	bool modes_known;
	uint64_t context_change; /* up to which it has been said on this thread */
	uint32_t generation;     /* of the process in which that was */
	uint64_t site;           /* where what is being made is made: generation << 32 | number */
};

extern struct wti_python wti_python;
extern __thread struct wti_python_thread wti_python_thread
	__attribute__((tls_model("initial-exec")));

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

/* True if this call is to be told or acted upon. */
bool wti_call_wanted(const struct wti_hook *hook, struct wti_place *ret_place);
void wti_call_begin(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *names);
/* With the exception of the call pending if result is NULL; it stays pending. */
void wti_call_end(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *result);

/* ---- action.c ------------------------------------------------------------------------------- */

/* In this order: before the call is told, with its arguments, with its result, when it is over. */
void wti_action_before(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count);
/* False: it has nothing to say about them. */
bool wti_action_arguments(const struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
			  PyObject *names);
bool wti_action_result(const struct wti_call *call, PyObject *result);
void wti_action_after(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result);

struct wti_live;

/* ---- context.c ------------------------------------------------------------------------------ */

void wti_stage_set(const char *stage);
/* An optimizer has stepped; true if that began a new step of the run. */
bool wti_context_stepped(struct wti_live *optimizer);
/* A loader begins, and gives a batch. */
void wti_context_loader_begun(struct wti_live *loader);
void wti_context_batch(const struct wti_live *loader);
/*
 * In a program without optimizers: whether a step is over when this model is called, outermost, in
 * these modes; or, without a model, when the program ends. And that it is.
 */
/* Whether there was a backward since the last step of an optimizer. */
bool wti_context_is_backward_unused(void);
bool wti_context_ends_step(const struct wti_live *model, uint32_t modes);
void wti_context_step_over(void);
/* A model is called, outermost, in these modes. */
void wti_context_model(struct wti_live *model, uint32_t modes);
void wti_context_backward(void);
/* Says on this thread what has changed on others, or before a fork. */
void wti_context_catch_up(void);
static inline void wti_context_current(void)
{
	if (wti_unlikely(wti_python_thread.context_change != wti_python.context_change ||
			 wti_python_thread.generation != wti_slot_of_thread->generation))
		wti_context_catch_up();
}
void wti_context_int(struct wt_name *key, int64_t value);
void wti_context_float(struct wt_name *key, double value);
void wti_context_text(struct wt_name *key, const char *text);
struct wti_kept_text;
/* Needs no lock. `text` NULL: none. */
void wti_context_tell(struct wt_name *key, uint32_t type, uint64_t value,
		      const struct wti_kept_text *text);
void wti_counter(struct wt_name *name, double value);

/* ---- site.c --------------------------------------------------------------------------------- */

bool wti_site_init(void);
/* True if this place is in a library: under one of the prefixes. */
bool wti_site_in_library(PyCodeObject *code);
/* The number of a place as a call site; 0: there is none. */
uint32_t wti_site_of(struct wti_here here, struct wti_place place);
/* The place in the user's code from which this one was reached; itself, if there is none. */
struct wti_place wti_site_user(struct wti_place place);
/* Where an object is made: outside its own methods and, if there is such a place, outside
 * libraries. generation << 32 | number. */
uint64_t wti_site_made(PyObject *object);

/* ---- value.c -------------------------------------------------------------------------------- */

struct wti_value_place {
	uint32_t call; /* seq of its call_begin */
	int32_t position;
	struct wt_name *name; /* or NULL */
};

void wti_value_tell(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max);
struct wt_name *wti_name_of_text(PyObject *text);
/* "torch.nn.modules.linear" and "Linear" of a type. */
void wti_type_names(PyTypeObject *type, struct wt_name **ret_module, const char **ret_name);

/* ---- names.c -------------------------------------------------------------------------------- */

struct wti_tensor;
/* "3x4" */
struct wt_name *wti_shape_name(const struct wti_tensor *tensor);
/* "left.right", or "left.right[2]" for an element; left may be NULL. */
struct wt_name *wti_name_joined(const struct wt_name *left, PyObject *right, int32_t element);
/* "Linear.forward" and its module; suffix is a literal. */
void wti_method_names(PyTypeObject *type, const char *suffix, struct wt_name **ret_module,
		      struct wt_name **ret_callee);

/* ---- tensor.c, layout.c, array.c, read.c, guarded.c ------------------------------------------ */

enum { WTI_RANK_MAX = 64 };

struct wti_tensor {
	const void *data; /* NULL: not to be read */
	uint32_t dtype;   /* enum wt_dtype */
	uint32_t item_bytes;
	uint32_t rank;
	bool is_packed;    /* in row-major order without holes */
	bool is_conjugate; /* what is in memory has yet to be conjugated, or negated */
	bool is_negative;
	bool is_guarded; /* its memory may go away at any moment */
	bool requires_grad;
	uint64_t count;
	struct wt_name *device; /* NULL: not known */
	struct wt_name *sort;   /* NULL: elements in memory; otherwise what it is instead */
	int64_t sizes[WTI_RANK_MAX];
	int64_t strides[WTI_RANK_MAX]; /* in elements, or bytes for buffers: see stride_unit */
	uint32_t stride_unit;          /* bytes that a stride of 1 means */
	bool is_late;                  /* told after what it belongs to */
	bool is_hash_alone;            /* told without statistics */
	PyObject *object;              /* that was looked at, borrowed; NULL: not known */
	const char *impl;              /* torch's, where it was read by layout; otherwise NULL */
	const void *parameter;         /* whose gradient it is, if nobody holds it; its impl */
	Py_buffer *buffer;             /* to be released; NULL: none */
};

bool wti_tensor_is(PyObject *object);
/* Looks at a tensor or an array. False: it is neither. */
bool wti_tensor_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room);
void wti_tensor_release(struct wti_tensor *tensor);
/* True if extents and strides say that elements lie in row-major order without holes. */
bool wti_tensor_is_packed(const struct wti_tensor *tensor);
/* Reads it. False: it cannot be read. Needs no lock, as the next two. */
bool wti_tensor_digest(const struct wti_tensor *tensor, struct wt_digest *ret);
bool wti_tensor_hash(const struct wti_tensor *tensor, uint64_t *ret_hash);
/* Elements from first to last, a piece at a time; false of `take` ends it. */
typedef bool wti_take_bytes(void *self, const void *bytes, size_t count);
bool wti_tensor_bytes(const struct wti_tensor *tensor, wti_take_bytes *take, void *self);

/* Looks at an array: numpy's, or whatever has a buffer or DLPack's exchange interface. */
bool wti_array_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room);

/* True if another thread may be running that could free what we read. */
bool wti_must_guard(void);
/* Copies memory that may not be there. False: it is not. */
bool wti_guarded_copy(void *to, const void *from, size_t bytes);
/* Copies `count` elements that lie `stride` bytes apart. */
bool wti_guarded_gather(char *to, const char *from, size_t count, int64_t stride,
			size_t item_bytes);

struct wti_tensor_names {
	struct wt_name *owner; /* or NULL */
	struct wt_name *name;  /* or NULL */
	uint32_t call;
	int32_t position;
	struct wt_name *shape; /* or NULL: to be put together */
};
/* `digest` NULL: told without having been read. */
void wti_tensor_tell(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
		     const struct wt_digest *digest);
/* What a sparse tensor is made of: indices and values, as tensors under its name. */
void wti_tensor_tell_parts(PyObject *object, const struct wti_tensor *whole,
			   const struct wti_tensor_names *names, uint64_t bytes_max);

/* Asks for a copy of a tensor that lies elsewhere. Only within the interpreter's lock. */
void wti_late_begin(const struct wti_tensor *tensor, const struct wti_tensor_names *names);
/* Tells what has been copied meanwhile for this thread. */
void wti_late_poll(void);

bool wti_layout_known(void);
/* probes: a list of (tensor, impl, storage impl, data, bytes, sizes, strides, offset, dtype, item,
 * requires_grad). False with an exception. */
bool wti_layout_learn(PyObject *probes);
bool wti_layout_read(PyObject *tensor, struct wti_tensor *ret);
/* The same of an implementation that nobody holds for us, and that may go away while it is read. */
bool wti_layout_read_loose(const void *impl, struct wti_tensor *ret);
/* False: while its memory was read, it was given another, or other extents, or went away. */
bool wti_layout_holds(const struct wti_tensor *tensor);

/* ---- live.c --------------------------------------------------------------------------------- */

enum wti_live_type {
	WTI_LIVE_MODULE = 1,
	WTI_LIVE_TENSOR, /* a parameter */
	WTI_LIVE_OPTIMIZER,
	WTI_LIVE_LOADER,
	WTI_LIVE_ITERATOR, /* of a loader */
	WTI_LIVE_OTHER,    /* schedulers, scalers, samplers */
	WTI_LIVE_END,
};

enum wti_live_grad {
	WTI_GRAD_UNKNOWN,
	WTI_GRAD_NONE,
	WTI_GRAD_HASH,
};

/* An object that is followed while it lives. */
struct wti_live {
	PyObject *object;      /* borrowed: only its address */
	PyObject *weak;        /* tells whether it lives */
	uint32_t type;         /* enum wti_live_type */
	uint32_t how;          /* enum wt_found */
	uint64_t site;         /* where it was made: generation << 32 | number */
	uint64_t order;        /* how many were followed before */
	struct wt_name *owner; /* under which its states are told; NULL: not named yet */
	struct wt_name *name;  /* there: fc1.weight; of a module its path */
	struct wt_name *full;  /* both together: Net.fc1 */
	struct wt_name *grad_name;
	struct wt_name *inner; /* of a wrapper: the model in it */
	uint64_t last_hash;    /* of a parameter; of an optimizer the print of its settings */
	uint64_t last_grad;
	uint64_t count;     /* of steps, of rounds */
	uint64_t read_step; /* of a parameter: when it was last read */
	uint32_t grad;      /* enum wti_live_grad */
	uint32_t dtype;
	bool has_last;
	bool requires_grad;
	bool training;
	bool is_small;       /* a parameter of a few elements */
	bool has_buffers;    /* a module, when last looked at */
	bool is_empty;       /* a module without tensors or modules */
	bool trains_in_eval; /* a model */
	bool is_optimized;   /* a parameter, or a model with one, that an optimizer has */
};

struct wti_live *wti_live_find(PyObject *object, uint32_t type);
/* Finds or adds. NULL: it cannot be followed. */
struct wti_live *wti_live_add(PyObject *object, uint32_t type);
/* The next one of a type that lives, after `at`; begins with NULL. */
struct wti_live *wti_live_next(const struct wti_live *at, uint32_t type);
/* What an object is called, whatever it is; NULL: it is not followed. */
struct wt_name *wti_live_name(PyObject *object);

/* ---- object.c ------------------------------------------------------------------------------- */

/* A module that has just been made, or restored from elsewhere. */
void wti_object_module_new(PyObject *module, uint32_t how);
/* A parameter no longer is as it was told: tells it again. */
void wti_object_changed(PyObject *parameter, struct wti_live *live,
			const struct wti_tensor *tensor);
/* The module, named; asks the Python side the first time. NULL: it cannot be followed. */
struct wti_live *wti_object_module(PyObject *module);
/* An attribute from the dictionary of the instance, borrowed: no code runs. NULL: none there. */
PyObject *wti_own_attribute(PyObject *object, PyObject *name);
extern PyMethodDef wti_object_methods[];

/* ---- known.c -------------------------------------------------------------------------------- */

enum {
	WTI_STATE_FIRST = 1,
	WTI_STATE_ZERO = 2,
};

struct wti_change {
	uint32_t type;  /* enum wt_value_type */
	uint32_t flags; /* WTI_STATE_ */
	uint64_t old_value;
	uint64_t new_value;
	const char *text; /* or NULL */
};

/* The value of a number, a flag or nothing as one word; 0 of others. */
uint64_t wti_number_bits(PyObject *value);
static inline uint64_t wti_mix(uint64_t print, uint64_t word)
{
	print = (print ^ word) * 0x9e3779b97f4a7c15u;
	return print ^ print >> 29;
}
void wti_state_tell(struct wt_name *owner, struct wt_name *attribute,
		    const struct wti_change *change);
/* Told if it is another one than the last time. */
void wti_known_set(struct wt_name *owner, struct wt_name *attribute, uint32_t type, uint64_t value,
		   uint32_t flags);
/* Forgets all values: in a new process they have to be told again. */
void wti_known_forget(void);
void wti_known_text(struct wt_name *owner, struct wt_name *attribute, const char *text);
/* A number, a flag, a text or a word of torch's; others are left. */
void wti_known_object(struct wt_name *owner, struct wt_name *attribute, PyObject *value);

/* ---- state.c, gradient.c -------------------------------------------------------------------- */

/* Of a type whose attributes are torch's own: to ask others would run the program's code. */
bool wti_tensor_is_tame(PyObject *tensor);
/* False: it cannot be read. */
bool wti_tensor_is_zero(const struct wti_tensor *tensor, bool *ret_is_zero);
/* True if its statistics are to be told in this step. */
bool wti_state_turn(const struct wti_live *live);
/* True if in this step what is no state is read in full. */
bool wti_state_turn_of_all(void);

struct wti_reading {
	bool is_done;
	bool is_zero;
	uint64_t hash;
};
/* Reads a tensor; tells its statistics if it is its turn. */
struct wti_reading wti_state_read(PyObject *tensor, struct wt_name *owner, struct wt_name *name,
				  bool its_turn);
struct wti_reading wti_state_read_looked(const struct wti_tensor *tensor, struct wt_name *owner,
					 struct wt_name *name, bool its_turn);
/* Calls `each` for each parameter of an optimizer; owned while it is called. */
typedef void wti_each_parameter(PyObject *parameter, struct wti_live *live, void *with);
void wti_state_parameters(struct wti_live *optimizer, wti_each_parameter *each, void *with);

/* What an optimizer has made of it: parameters, settings, its own state. */
void wti_state_after_step(struct wti_live *optimizer, bool is_all_of_own);
/* Buffers of all models, and parameters that no optimizer has, in turn. */
void wti_state_models(void);
/* All parameters of a model, or with NULL of all. */
void wti_state_model(const struct wt_name *owner);
void wti_state_bool(struct wt_name *owner, struct wt_name *attribute, const bool *was, bool is);

/* The gradients that an optimizer is about to use, and that a backward will add to. */
void wti_gradient_before_step(struct wti_live *optimizer);
void wti_gradient_before_backward(void);
/* Before zero_grad(): whether there are gradients that no step has used. */
void wti_gradient_before_clear(struct wti_live *optimizer);

/* ---- random.c ------------------------------------------------------------------------------- */

/* Tells the states that have changed; all of them in a new process. */
void wti_random_read(void);
extern PyMethodDef wti_random_methods[];

/* ---- data.c --------------------------------------------------------------------------------- */

struct wti_data_place {
	uint32_t call;
	int32_t position;
	struct wt_name *owner; /* of rows; NULL: rows are not told */
	struct wt_name *name;  /* of the whole, or NULL */
};
/* All tensors in it, however they are packed into containers. */
void wti_data_tell(const struct wti_data_place *place, PyObject *object);

/* ---- slot.c --------------------------------------------------------------------------------- */

/* Hooks indexing of a type and of all that took it over from it. */
bool wti_slot_index(PyTypeObject *type, struct wt_name *module);
/* Hooks an attribute: a getset descriptor. */
bool wti_slot_attribute(PyObject *descriptor, struct wt_name *module, struct wt_name *name);

/* ---- shim.c --------------------------------------------------------------------------------- */

struct wti_shim_tensor;
struct wti_shim_host;
extern const struct wti_shim_host wti_operator_host; /* operator.c */

/* `what` is watched while recording is on: WTI_SHIM_*. False with an exception: not usable. */
bool wti_shim_load(const char *path, const char *identity, uint32_t what);
/* Compares what it says of tensors with what they are; probes as for the layout. Only then its word
 * counts. False with an exception. */
bool wti_shim_check(PyObject *probes);
void wti_shim_start(void);
void wti_shim_stop(void);
/* torch's number of this thread; 0: not known. Needs no lock, as the next. */
uint64_t wti_shim_thread(void);
/* The number of the next node that this thread makes; 0 where nothing is watched. */
uint64_t wti_shim_sequence(void);
bool wti_shim_tensor(const struct wti_shim_tensor *seen, struct wti_tensor *ret);
/* As wti_layout_read(). False: there is no shim, or it is no plain tensor. */
bool wti_shim_look(PyObject *tensor, struct wti_tensor *ret);
/* False: there is no shim. */
bool wti_shim_requires_grad(PyObject *tensor, bool *ret);
/* The gradient, without making an object for it. False: it has none that can be read so. */
bool wti_shim_grad(PyObject *tensor, struct wti_tensor *ret);
/* False: its parameter has another gradient by now. Of what is no gradient: true. */
bool wti_shim_grad_holds(const struct wti_tensor *grad);

/* ---- pace.c --------------------------------------------------------------------------------- */

void wti_pace_set(const struct wti_pace *choice);
/* Puts into the trace what lacks from the beginning. */
void wti_pace_say(void);
/* A period begins now: what was before is not reckoned with. */
void wti_pace_begin(void);
/* A step has ended. */
void wti_pace_step(void);
/* We have been at work for so long; asked for only when there is a budget. */
void wti_pace_spent(uint64_t ticks);

static inline bool wti_lacks(uint32_t what)
{
	return wti_python.pace.lacks & what;
}

static inline bool wti_lacks_all(uint32_t what)
{
	return (wti_python.pace.lacks & what) == what;
}

/* ---- overrides.c ---------------------------------------------------------------------------- */

void wti_overrides_changed(void);
/* Leaves function modes out; the result is to be given to wti_overrides_on(). */
PyObject *wti_overrides_off(void);
void wti_overrides_on(PyObject *guard);

/* ---- say.c ---------------------------------------------------------------------------------- */

/* A line of our own, a literal. */
void wti_say(unsigned level, const char *text);
extern PyMethodDef wti_say_methods[];

/* ---- frame.c -------------------------------------------------------------------------------- */

/* Tells calls of the program's own functions from now on. False: it cannot be done here. */
bool wti_frame_watch(PyObject *wanted);
extern PyMethodDef wti_frame_methods[];

/* ---- module.c ------------------------------------------------------------------------------- */

/* Calls a method of the callbacks with one argument; nothing of it reaches the program. */
/* Of a call of ours into Python that has raised: forgets that, but for what was the program's. */
void wti_callback_failed(void);
void wti_callback(const char *method, PyObject *argument);

#endif
