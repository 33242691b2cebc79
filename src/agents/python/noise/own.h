/* SPDX-License-Identifier: Apache-2.0 */
/* The state of this room and what its files share, for them alone. */
#ifndef WTI_PYTHON_NOISE_OWN_H
#define WTI_PYTHON_NOISE_OWN_H

#include "python/noise/noise.h"

#include "noise/noise.h"
#include "python/hook/hook.h"
#include "python/shim/shim.h"
#include "python/tensor/tensor.h"
#include "python/torch/torch.h"

/* What an operation does to numbers. */
enum wti_rounding {
	WTI_ROUNDING_UNKNOWN, /* not looked up yet */
	WTI_ROUNDING_NONE,    /* moves, chooses, compares, makes or draws numbers */
	WTI_ROUNDING_ALL,
	WTI_ROUNDING_CAST,     /* only to a narrower type */
	WTI_ROUNDING_CHANGED,  /* only elements that differ from its first argument */
	WTI_ROUNDING_METHOD,   /* of a ufunc: as that ufunc */
	WTI_ROUNDING_FIRST,    /* in the lists that are its first argument; it returns nothing */
	WTI_ROUNDING_FUSED,    /* in the lists of parameters and moments that it is given */
	WTI_ROUNDING_LAST,     /* in its last argument; it returns nothing */
	WTI_ROUNDING_SILENCES, /* a function in Python within which nothing is perturbed */
};

/* Patterns of --noise-only or --noise-skip. */
struct wti_noise_patterns {
	PyObject *names; /* tuple of bytes, patterns over full names */
	PyObject *lines; /* tuple of (bytes, int): end of a path, line */
};

enum {
	WTI_NOISE_SCALARS = 5,    /* types of numpy's */
	WTI_NOISE_SLOTS = 9,      /* of their operators */
	WTI_NOISE_TYPES_MAX = 256 /* of Fortran's functions: each module has its own */
};

struct wti_noise_inputs;

struct wti_noise_state {
	struct wti_noise noise;
	struct wti_noise_patterns only;
	struct wti_noise_patterns skip;
	Py_ssize_t code_extra; /* index of our notes on code objects; -1: none yet */
	uint64_t loose_count;  /* calls without a place */
	struct {
		PyTypeObject *types[WTI_NOISE_SCALARS]; /* NULL: not hooked */
		PyNumberMethods originals[WTI_NOISE_SCALARS];
		struct wti_hook hooks[WTI_NOISE_SCALARS][WTI_NOISE_SLOTS];
	} scalars; /* see scalar.c */
	struct {
		bool is_hooked;
		PyNumberMethods originals;
		struct wti_hook hooks[WTI_NOISE_SLOTS];
	} floats; /* see float.c */
	struct {
		binaryfunc get; /* NULL: not hooked */
		ssizeargfunc item;
		objobjargproc set;
		struct wti_hook get_hook;
		struct wti_hook set_hook;
	} indexing; /* see index.c */
	struct {
		PyTypeObject *types[WTI_NOISE_TYPES_MAX];
		ternaryfunc calls[WTI_NOISE_TYPES_MAX];
		uint32_t count;
		struct wti_hook hook;
	} fortran;                 /* see scalar.c */
	struct wti_shim_host host; /* that of torch/, with noise */
};

struct wti_noise_thread {
	uint64_t done_count;  /* operations that were, or could have been, perturbed */
	const void *made;     /* where the result of the last of them is, or was */
	uint32_t depth;       /* of operations in C under way that a hook has seen */
	const void *frame;    /* from which the innermost of them was called; NULL: there is none */
	uint32_t silent;      /* of functions within which nothing is perturbed */
	uint64_t below_count; /* operators within backward so far */
	uint64_t index_count; /* numbers taken out of arrays, or put into them, so far */
	uint64_t index_cost;  /* elements of arrays that were read for that */
	const struct wti_noise_inputs *inputs; /* of the last call under way that has some */
};

extern struct wti_noise_state wti_noise_state;
extern __thread struct wti_noise_thread wti_noise_thread __attribute__((tls_model("initial-exec")));

/* ---- enter.c -------------------------------------------------------------------------------- */

/* A call of an operation. */
struct wti_operation {
	const struct wti_hook *hook;
	PyObject *const *arguments;
	Py_ssize_t count;
	PyObject *names; /* of those behind the first `count`, or NULL */
	uint32_t rounding;
	bool is_in_place; /* it writes into what it is given */
	bool is_ufunc;    /* an argument that it returns is what it wrote into */
	bool has_place;   /* `key` and the next are known */
	bool is_wanted;   /* the recording wants noise here */
	struct wti_noise_key key;
	uint64_t done_count;     /* of the thread, when it began */
	const void *outer_frame; /* of the thread, when it began */
	uint64_t emitted_max;    /* of a scalar's: so many of an instruction are emitted */
};

/* Leads calls through this hook by us; a new one, as it is made. */
void wti_noise_hook(struct wti_hook *hook);
/* Around an operation that is no call of a hooked callable. False: it is not perturbed. */
bool wti_noise_begin(struct wti_operation *operation);
void wti_noise_end(struct wti_operation *operation, PyObject *result);

/* ---- exact.c -------------------------------------------------------------------------------- */

enum wti_rounding wti_rounding_of(const char *module, const char *callee);
/* Of an operator of torch's, "aten::add_". */
bool wti_rounds_below(const char *op);
/* True if a name says that the operation writes into its first argument. */
bool wti_writes_in_place(const char *callee);

/* ---- place.c -------------------------------------------------------------------------------- */

/* Where this call comes from and how often it was here. False: nothing is perturbed there. */
bool wti_noise_place(const struct wti_hook *hook, struct wti_noise_key *ret);
/* Of an operator within a node of backward. Needs no lock. */
bool wti_noise_wants_below(const char *node, const char *op);
uint64_t wti_noise_hash(uint64_t seed, const char *text, size_t bytes);

/* ---- memory.c ------------------------------------------------------------------------------- */

/* Perturbs the elements of a value; those with more than one place in it stay. */
void wti_noise_memory(const struct wti_tensor *tensor, const struct wti_noise_key *key);
/* Only those that differ from `before`: packed in logical order. */
void wti_noise_changed(const struct wti_tensor *tensor, const struct wti_noise_key *key,
		       const char *before);
/* A copy of all elements in logical order, to be freed; NULL: there is no room. */
char *wti_noise_copy(const struct wti_tensor *tensor);
/* A value that may be perturbed: floating, in memory that may be written. */
bool wti_noise_can(PyObject *object, struct wti_tensor *ret);
/* A scalar of numpy's or a float of Python's: the value lies behind the head. */
bool wti_noise_look_at_scalar(PyObject *object, struct wti_tensor *ret);
void wti_noise_scalar(PyObject *object, const struct wti_noise_key *key);
/* An array of numpy's, or derived from one. */
bool wti_noise_is_array(PyObject *object);
/* True if two values have memory in common. */
bool wti_noise_meet(const struct wti_tensor *a, const struct wti_tensor *b);

/* ---- cancel.c ------------------------------------------------------------------------------- */

void wti_noise_cancelled(const struct wti_operation *operation, const struct wti_tensor *result);

/* ---- input.c -------------------------------------------------------------------------------- */

enum { WTI_NOISE_INPUTS_MAX = 32 };

struct wti_noise_inputs {
	PyObject *arguments[WTI_NOISE_INPUTS_MAX + 1]; /* the first is free for the interpreter */
	const struct wti_noise_inputs *outer;          /* of the call around this one, or NULL */
	PyObject *made[WTI_NOISE_INPUTS_MAX];
	Py_ssize_t made_count;
};

/* Puts perturbed copies in the place of inputs; true: `ret->arguments + 1` are to be used. */
bool wti_noise_inputs_make(const struct wti_operation *operation, struct wti_noise_inputs *ret);
void wti_noise_inputs_release(struct wti_noise_inputs *inputs);

/* The operands of an operator of scalars: copies, where they are perturbed. */
struct wti_noise_pair {
	PyObject *given[2];
	PyObject *made[2]; /* NULL: the original is given */
};

void wti_noise_pair_make(struct wti_operation *operation, struct wti_noise_pair *operands);
void wti_noise_pair_release(struct wti_noise_pair *operands);

/* ---- scalar.c ------------------------------------------------------------------------------- */

/* Emits an operation that was no call of a hooked callable, after it is done. */
void wti_noise_emit(const struct wti_hook *hook, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *result);
/* Calls the slot of a binary operator of scalars, or that of power, perturbed and emitted. */
PyObject *wti_noise_operate(struct wti_operation *operation, binaryfunc binary, ternaryfunc power);
/* noise_scalars(types), noise_type(type) */
PyObject *wti_noise_hook_scalars(PyObject *self, PyObject *types);
PyObject *wti_noise_hook_type(PyObject *self, PyObject *type);

/* ---- float.c -------------------------------------------------------------------------------- */

/* noise_floats(): once */
PyObject *wti_noise_hook_floats(PyObject *self, PyObject *unused);

/* ---- general.c ------------------------------------------------------------------------------ */

/* The interpreter goes on to call the slots of types at this place, whatever it has seen there. */
void wti_general_keep(struct wti_place place);
/* Prepares code that is to run for the first time, where that is needed. */
void wti_general_init(void);

/* ---- index.c -------------------------------------------------------------------------------- */

/* noise_index(type) */
PyObject *wti_noise_hook_index(PyObject *self, PyObject *type);

/* ---- backward.c ----------------------------------------------------------------------------- */

/* An operator within a node of backward has returned this. Needs no lock. */
void wti_noise_below(const char *node, const char *op, const struct wti_shim_tensor *seen,
		     uint32_t position);

#endif
