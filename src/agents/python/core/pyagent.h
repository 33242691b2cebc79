/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python agent: a guest in an interpreter. Calls of library functions are seen by hooks in the
 * functions themselves, tensors are read where they lie, states are read when a step ends.
 *
 * Its rooms, each of which may know those above it and no others (tools/check proves it):
 *
 *	core/    what all share: the state below, names, call sites, calls of ours into Python, how
 *	         much is measured, what a hook and a call under way are (call.h), and what differs
 *	         between interpreters (compat.h)
 *	shim/    the optional shim: a library in C++ that knows torch's own types, and its loader
 *	tensor/  what a tensor or an array is, where its elements lie, how they are read and emitted
 *	state/   objects that live on from call to call, their states, and any value as a record
 *	torch/   what is particular to torch: what some calls mean (handlers), context, gradients,
 *	         data, random number generators, modes, operators below Python
 *	hook/    puts hooks into callables, and emits the calls that go through them
 *	noise/   perturbs what operations return, where the recording asks for it
 *
 * module.c names what is in all rooms: it is what the Python side of the agent may call.
 *
 * A room has a header of its own name; own.h is its state, one struct, for its own files alone, and
 * what it keeps for each thread is one struct as well. Here are the state that all rooms share and
 * what core/ offers.
 *
 * All functions need the interpreter's lock, unless they say so. None leaves an exception pending
 * or changes errno, unless it says so.
 */
#ifndef WTI_PYTHON_CORE_PYAGENT_H
#define WTI_PYTHON_CORE_PYAGENT_H

#include "compat.h"

#include "common/agent.h"

/* Of declarations as well as definitions: what has it is reached without a table. */
#define WTI_HIDDEN __attribute__((visibility("hidden")))
#define WTI_THREAD_STATE __attribute__((visibility("hidden"), tls_model("initial-exec")))

enum wti_detail {
	WTI_DETAIL_LEAN,   /* steps, modules, states */
	WTI_DETAIL_NORMAL, /* and calls that cross from the user's code into a library */
	WTI_DETAIL_FULL,   /* and calls within libraries */
};

enum wti_tensors {
	WTI_TENSORS_OFF,    /* emitted, not read */
	WTI_TENSORS_DIGEST, /* hash and statistics, as far as the level goes */
	WTI_TENSORS_STATS,  /* of all, each time */
	WTI_TENSORS_FULL,   /* and their bytes are kept */
};

/* All that is read from memory at a step; losses and modes cost next to nothing. */
enum {
	WTI_OMITTED_STATES = WT_THINNED_PARAMETERS | WT_THINNED_GRADIENTS | WT_THINNED_BUFFERS |
			     WT_THINNED_OPTIMIZER | WT_THINNED_RNG | WT_THINNED_DATA,
};

/* See pace.c. The first seven are what was chosen. */
struct wti_pace {
	double budget;       /* a share of the program's own time; 0: none */
	uint32_t every;      /* of so many steps one is full */
	uint32_t warmup;     /* so many full steps, then thin ones; 0: not so */
	uint32_t first;      /* with `until`: full steps from this one on */
	uint32_t until;      /* up to the one before this; 0: not so */
	uint32_t always;     /* what is omitted in every step */
	uint32_t detail;     /* of full steps: enum wti_detail */
	uint32_t reason;     /* enum wt_thinning; none: all steps are alike */
	uint32_t omitted;    /* now */
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

/* See names.c: tables with one place for each key. */
enum { WTI_NAME_PLACES = 1024 }; /* a power of two */

struct wti_name_tables {
	struct wti_word_name {
		PyObject *text; /* kept, so that its address stays its own */
		struct wt_name *name;
	} words[WTI_NAME_PLACES];
	struct wti_joined_name {
		struct wt_name *name;
		const struct wt_name *left;
		PyObject *right; /* kept, so that its address stays its own */
		int32_t element;
	} joined[WTI_NAME_PLACES];
	struct wti_element_name {
		const struct wt_name *container;
		struct wt_name *name; /* NULL: none yet */
		Py_ssize_t index;
	} elements[WTI_NAME_PLACES];
	struct wti_item_name {
		const struct wt_name *container;
		PyObject *key;        /* kept, so that its address stays its own; NULL: none yet */
		struct wt_name *name; /* NULL: its key is not to be emitted */
	} items[WTI_NAME_PLACES];
	struct wti_method_name {
		const PyTypeObject *type;
		const char *suffix; /* a literal */
		struct wt_name *callee;
		struct wt_name *module;
		char type_name[64];
	} methods[WTI_NAME_PLACES];
};

/* What all rooms share. */
struct wti_python {
	bool is_ready; /* all rooms have been initialized */
	bool is_on;
	bool by_user_line; /* calls within libraries count for the line of the user's code */
	bool is_counted;   /* the recorder knows that there is a Python agent here */
	uint32_t detail;   /* enum wti_detail */
	uint32_t tensors;  /* enum wti_tensors */
	uint64_t digest_bytes_max; /* larger arguments and returns of calls are emitted, not read */
	uint64_t context_change;   /* counts changes of step, epoch and stage: torch/context.c */
	uint64_t code_age;         /* how many code objects with a note have gone */
	Py_ssize_t code_extra;     /* index of our notes on code objects */
	PyObject
		*library_prefixes; /* tuple of str: code under them is not the user's; ours first */
	PyObject *callbacks;   /* object with the methods of wheeltap._torch.Callbacks, or NULL */
	PyObject *configured;  /* wheeltap._configuration.Resolved.take, or NULL */
	PyObject *thrown_part; /* wheeltap._thrown.part, or NULL */
	struct wti_pace pace;
	struct wti_name_tables names;
};

struct wti_python_thread {
	uint32_t inside;         /* we are at work, or a graph is: what is called is not emitted */
	uint32_t generation;     /* of the process in which the context was emitted */
	uint64_t context_change; /* up to which it has been emitted on this thread */
	const PyCodeObject *library_code; /* only compared, and only while no code object went */
	uint64_t library_age;             /* wti_python.code_age of then */
};

extern struct wti_python wti_python WTI_HIDDEN;
extern __thread struct wti_python_thread wti_python_thread WTI_THREAD_STATE;

/* ---- pyagent.c ------------------------------------------------------------------------------ */

void wti_python_init(void);

/* ---- site.c --------------------------------------------------------------------------------- */

bool wti_site_init(void);
/* What a cell of a notebook is known by, of the file that it was compiled under; NULL: it is none.
 */
struct wt_name *wti_cell_name(PyObject *file); /* cell.c */
/* True if this place is in a library: under one of the prefixes. */
bool wti_site_in_library(PyCodeObject *code);
bool wti_site_file_in_library(PyObject *file);
/* A file of this package: what it calls is no work of the program. */
bool wti_site_is_ours(PyCodeObject *code);
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
/* How many functions of libraries lie between the two; 0 if there is no such place. */
unsigned wti_site_depth(struct wti_place place);
/* True if a library formats something for reading: no computation of the program. */
bool wti_site_is_formatting(struct wti_place place);
/* Where an object is made: outside its own methods and, if there is such a place, outside
 * libraries. generation << 32 | number. */
uint64_t wti_site_made(PyObject *object);

/* ---- names.c -------------------------------------------------------------------------------- */

struct wt_name *wti_name_of_text(PyObject *text);
/* "torch.nn.modules.linear" and "Linear" of a type. */
void wti_type_names(PyTypeObject *type, struct wt_name **ret_module, const char **ret_name);
/* Of a parameter or a keyword, a str; NULL: it does not look like a name. */
struct wt_name *wti_name_of_word(PyObject *text);
/* "left.right", or "left.right[2]" for an element; left may be NULL. */
struct wt_name *wti_name_joined(const struct wt_name *left, PyObject *right, int32_t element);
/* "params[2]"; the container's name may be NULL. */
struct wt_name *wti_name_element(const struct wt_name *container, Py_ssize_t index);
/* "group[lr]"; NULL: the key is no text, or one that is not to be emitted. */
struct wt_name *wti_name_item(const struct wt_name *container, PyObject *key);
/* "Linear.forward" and its module; suffix is a literal. */
void wti_method_names(PyTypeObject *type, const char *suffix, struct wt_name **ret_module,
		      struct wt_name **ret_callee);

/* ---- word.c --------------------------------------------------------------------------------- */

/* A text of ours that names an attribute of the program's objects, interned. */
struct wti_own_word {
	PyObject **word;
	const char *text;
};
/* False with an exception. */
bool wti_words_make(const struct wti_own_word *words, size_t count);
/* An attribute from the dictionary of the instance, borrowed: no code runs. NULL: none there. */
PyObject *wti_own_attribute(PyObject *object, PyObject *name);

/* ---- pace.c --------------------------------------------------------------------------------- */

void wti_pace_set(const struct wti_pace *choice);
/* Emits what is omitted from the beginning. */
void wti_pace_emit(void);
/* A period begins now: what was before is not reckoned with. */
void wti_pace_begin(void);
/* A step has ended. */
void wti_pace_step(void);
/* We have been at work for so long; asked for only when there is a budget. */
void wti_pace_spent(uint64_t ticks);

static inline bool wti_omits(uint32_t what)
{
	return wti_python.pace.omitted & what;
}

static inline bool wti_omits_all(uint32_t what)
{
	return (wti_python.pace.omitted & what) == what;
}

/* For the budget, in this step: then not even what the lean level has is emitted. */
static inline bool wti_omits_for_budget(uint32_t what)
{
	return wti_unlikely(wti_omits(what)) && wti_python.pace.reason == WT_THINNING_BUDGET &&
	       !wti_python.pace.is_full;
}

/* ---- line.c --------------------------------------------------------------------------------- */

struct wti_kept_text;
/* A line of the log, of the program's or ours. */
void wti_line_emit_kept(unsigned level, const struct wti_kept_text *kept);
/* A line of our own: not private. */
void wti_line_emit(unsigned level, const char *text);

/* ---- own_call.c ----------------------------------------------------------------------------- */

/*
 * Around each call of ours into Python, and what is made of its answer. What it raises is
 * forgotten, but for what was the program's.
 */
void wti_own_call_begin(struct wti_guard *guard);
void wti_own_call_end(const struct wti_guard *guard);
/* Forgets an exception in the same way. */
void wti_own_call_failed(void);
/* wheeltap._thrown.part: says where in a traceback a handler of the program's begins. */
void wti_own_call_set_thrown(PyObject *part);

/* Calls a method of the callbacks with one argument; nothing of it reaches the program. */
void wti_callback(const char *method, PyObject *argument);

#endif
