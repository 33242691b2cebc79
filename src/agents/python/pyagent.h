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
 *	recent.c   statistics of contents that were digested a moment ago
 *	guarded.c  memory that may go away while it is read
 *	late.c     tensors on an accelerator, emitted when they have been copied
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
 *	ask.c      calls of ours into Python, kept from the program's tracers and handlers
 *	overrides.c keeps what we do from the program's function modes
 *	say.c      explicit annotations of the program, and lines of the agent itself
 *	module.c   what the Python side of the agent may call
 *
 * Calls are declared in hook.h, tensors in tensor.h, what lives on in live.h; the rest, and the
 *state that all share, here.
 *
 * All functions need the interpreter's lock, but for those of operator.c and threads.c. None leaves
 * an exception pending or changes errno, unless it says so.
 */
#ifndef WTI_PYTHON_PYAGENT_H
#define WTI_PYTHON_PYAGENT_H

#include "compat.h"

#include "common/agent.h"
#include "common/digest.h"

#include "hook.h"
#include "live.h"
#include "tensor.h"

enum wti_detail {
	WTI_DETAIL_LEAN,   /* steps, modules, states */
	WTI_DETAIL_NORMAL, /* and calls that cross from the user's code into a library */
	WTI_DETAIL_FULL,   /* and calls within libraries */
};

/* Steps from one reading to the next of what is read in turn. */
enum { WTI_SPREAD = 8 };

enum wti_tensors {
	WTI_TENSORS_OFF,    /* emitted, not read */
	WTI_TENSORS_DIGEST, /* hash and statistics, as far as the level goes */
	WTI_TENSORS_STATS,  /* of all, each time */
	WTI_TENSORS_FULL,   /* and their bytes are kept */
};

enum { WTI_MODES = 4 };

/* All that is read from memory at a step; losses and modes cost next to nothing. */
enum {
	WTI_OMITTED_STATES = WT_THINNED_PARAMETERS | WT_THINNED_GRADIENTS | WT_THINNED_BUFFERS |
			     WT_THINNED_OPTIMIZER | WT_THINNED_RNG | WT_THINNED_DATA,
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
	bool is_counted;           /* the recorder knows that there is a Python agent here */
	uint32_t detail;           /* enum wti_detail */
	uint32_t tensors;          /* enum wti_tensors */
	uint64_t digest_bytes_max; /* larger arguments and returns of calls are emitted, not read */
	uint64_t code_age;         /* how many code objects with a note have gone */
	Py_ssize_t code_extra;     /* index of our notes on code objects */
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
	uint64_t step;              /* see context.c */
	uint64_t epoch;
	const char *stage;       /* a literal */
	uint64_t context_change; /* counts changes of the three */
	bool is_depth_said;      /* that calls are too deep to be emitted */
	bool is_step_said;       /* the program says what the step is */
	bool is_stage_said;
	bool is_trace_said;      /* that there are graphs into which we do not see */
	bool is_guard_forbidden; /* the kernel does not copy for us */
	struct wti_pace pace;
	PyObject *thrown_part; /* wheeltap._thrown.part, or NULL */
	PyObject *own_wanted;  /* says which of the program's functions are emitted; or NULL */
	PyObject *monitoring_disable; /* sys.monitoring's answer for what is not wanted */
	Py_ssize_t frame_extra;       /* index of our notes on their code */
};

struct wti_python_thread {
	uint32_t frame_depth; /* of evaluations of frames through us */
	uint32_t inside;      /* we are at work, or a graph is: what is called is not emitted */
	const PyCodeObject *library_code; /* only compared, and only while no code object went */
	uint64_t library_age;             /* wti_python.code_age of then */
	bool has_overrides;               /* the program is told of what is done with tensors */
	uint32_t depths[WTI_ACTION_END];  /* calls under way, by action */
	uint32_t settings_known;          /* a bit for each setter: torch keeps these by thread */
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

/* ---- context.c ------------------------------------------------------------------------------ */

void wti_stage_set(const char *stage);
/* Whether an optimizer that steps now begins a new step of the run. */
bool wti_context_begins_step(const struct wti_live *optimizer);
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
void wti_context_emit(struct wt_name *key, uint32_t type, uint64_t value,
		      const struct wti_kept_text *text);
void wti_counter(struct wt_name *name, double value);

/* ---- site.c --------------------------------------------------------------------------------- */

bool wti_site_init(void);
/* What a cell of a notebook is known by, of the file that it was compiled under; NULL: it is none.
 */
struct wt_name *wti_cell_name(PyObject *file); /* cell.c */
/* True if this place is in a library: under one of the prefixes. */
bool wti_site_in_library(PyCodeObject *code);
/* The same, kept in mind for wti_site_in_same_library(). */
bool wti_site_in_library_again(PyCodeObject *code);
/* True if this is the code that called last from within a library: most calls there come in rows.
 */
static inline bool wti_site_in_same_library(const PyCodeObject *code)
{
	return code == wti_python_thread.library_code &&
	       wti_python_thread.library_age == wti_python.code_age;
}
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

void wti_value_emit(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max);
struct wt_name *wti_name_of_text(PyObject *text);
/* "torch.nn.modules.linear" and "Linear" of a type. */
void wti_type_names(PyTypeObject *type, struct wt_name **ret_module, const char **ret_name);

/* ---- names.c -------------------------------------------------------------------------------- */

/* "3x4" */
struct wt_name *wti_shape_name(const struct wti_tensor *tensor);
/* Of a parameter or a keyword, a str; NULL: it does not look like a name. */
struct wt_name *wti_name_of_word(PyObject *text);
/* "left.right", or "left.right[2]" for an element; left may be NULL. */
struct wt_name *wti_name_joined(const struct wt_name *left, PyObject *right, int32_t element);
/* "params[2]"; the container's name may be NULL. */
struct wt_name *wti_name_element(const struct wt_name *container, Py_ssize_t index);
/* "group[lr]"; NULL: the key is no text, or one that is not to be told. */
struct wt_name *wti_name_item(const struct wt_name *container, PyObject *key);
/* "Linear.forward" and its module; suffix is a literal. */
void wti_method_names(PyTypeObject *type, const char *suffix, struct wt_name **ret_module,
		      struct wt_name **ret_callee);

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

/* For the budget, in this step: then not even what the lean level has is emitted. */
static inline bool wti_is_thinned(uint32_t what)
{
	return wti_unlikely(wti_lacks(what)) && wti_python.pace.reason == WT_THINNING_BUDGET &&
	       !wti_python.pace.is_full;
}

/* ---- overrides.c ---------------------------------------------------------------------------- */

void wti_overrides_changed(void);
/* Leaves function modes out; the result is to be given to wti_overrides_on(). */
PyObject *wti_overrides_off(void);
void wti_overrides_on_again(PyObject *off);
/* Around every call, and hardly ever with something to do: NULL. */
static inline void wti_overrides_on(PyObject *off)
{
	if (wti_unlikely(off != NULL))
		wti_overrides_on_again(off);
}

/* ---- say.c ---------------------------------------------------------------------------------- */

/* A line of our own, a literal. */
void wti_say(unsigned level, const char *text);
extern PyMethodDef wti_say_methods[];

/* ---- frame.c -------------------------------------------------------------------------------- */

/* Emits calls of the program's own functions from now on. False: it cannot be done here. */
bool wti_frame_watch(PyObject *wanted);
extern PyMethodDef wti_frame_methods[];

/* ---- ask.c ---------------------------------------------------------------------------------- */

/*
 * Around each call of ours into Python, and what is made of its answer. What it raises is
 * forgotten, but for what was the program's.
 */
void wti_ask_begin(struct wti_guard *guard);
void wti_ask_end(const struct wti_guard *guard);
/* Forgets an exception in the same way. */
void wti_ask_failed(void);
/* wheeltap._thrown.part: says where in a traceback a handler of the program's begins. */
void wti_ask_set_thrown(PyObject *part);

/* ---- module.c ------------------------------------------------------------------------------- */

/* Calls a method of the callbacks with one argument; nothing of it reaches the program. */
void wti_callback(const char *method, PyObject *argument);

#endif
