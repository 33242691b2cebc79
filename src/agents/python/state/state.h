/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lives on from call to call: objects that are followed, and their states. And any value of
 * the program as a record, under the name that it is followed by. Hides how changes are found.
 */
#ifndef WTI_PYTHON_STATE_STATE_H
#define WTI_PYTHON_STATE_STATE_H

#include "python/tensor/tensor.h"

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
	PyObject *weak;        /* shows whether it lives */
	uint32_t type;         /* enum wti_live_type */
	uint32_t how;          /* enum wt_found */
	uint64_t site;         /* where it was made: generation << 32 | number */
	uint64_t order;        /* how many were followed before */
	struct wt_name *owner; /* under which its states are emitted; NULL: not named yet */
	struct wt_name *name;  /* there: fc1.weight; of a module its path */
	struct wt_name *full;  /* both together: Net.fc1 */
	struct wt_name *grad_name;
	struct wt_name *inner; /* of a wrapper: the model in it */
	uint64_t last_hash;    /* of a parameter; of an optimizer the print of its settings */
	uint64_t last_grad;
	uint64_t version; /* of an optimizer's groups when its settings were last looked at */
	uint64_t count;   /* of rounds, and of epochs before the first; of an optimizer the step in
			     which it last stepped, 0: none */
	uint64_t read_step; /* of a parameter: when it was last read */
	uint32_t grad;      /* enum wti_live_grad */
	uint32_t dtype;
	bool has_last;
	bool requires_grad;
	bool training;
	bool is_small;       /* a parameter of a few elements */
	bool is_busy;        /* a module: it has something to read in most steps */
	bool is_empty;       /* a module without tensors or modules */
	bool trains_in_eval; /* a model */
	bool is_optimized;   /* a parameter, or a model with one, that an optimizer has */
};

/* What a thread keeps of the room. */
struct wti_live_thread {
	uint64_t site; /* where what is being made is made: generation << 32 | number */
};

extern __thread struct wti_live_thread wti_live_thread WTI_THREAD_STATE;

/* False with an exception. */
bool wti_live_init(void);
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
/* A parameter no longer is as it was emitted: emits it again. */
void wti_object_changed(PyObject *parameter, struct wti_live *live,
			const struct wti_tensor *tensor);
/*
 * As it is now, emitted if that has changed: of two models that are trained in turns, one is often
 * frozen meanwhile.
 */
bool wti_object_requires_grad(PyObject *parameter, struct wti_live *live);
/* The module, named; asks the Python side the first time. NULL: it cannot be followed. */
struct wti_live *wti_object_module(PyObject *module);
extern PyMethodDef wti_object_methods[];

/* ---- known.c -------------------------------------------------------------------------------- */

struct wti_live_change {
	uint32_t type;  /* enum wt_value_type */
	uint32_t flags; /* enum wt_state_flags */
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
void wti_state_emit(struct wt_name *owner, struct wt_name *attribute,
		    const struct wti_live_change *change);
/* Emitted if it is another one than the last time. */
void wti_known_set(struct wt_name *owner, struct wt_name *attribute, uint32_t type, uint64_t value,
		   uint32_t flags);
/* Forgets all values: in a new process they have to be emitted again. */
void wti_known_forget(void);
void wti_known_text(struct wt_name *owner, struct wt_name *attribute, const char *text);
/* A number, a flag, a text or a word of torch's; others are left. */
void wti_known_object(struct wt_name *owner, struct wt_name *attribute, PyObject *value);

/* ---- state.c -------------------------------------------------------------------------------- */

/* Steps from one reading to the next of what is read in turn. */
enum { WTI_SPREAD = 8 };

/* From now on it is this step of the run: whose turn it is depends on it. */
void wti_state_begin_step(uint64_t step);
/* True if its statistics are to be emitted in this step. */
bool wti_state_turn(const struct wti_live *live);
/* True if in this step what is no state is read in full. */
bool wti_state_turn_of_all(void);

struct wti_reading {
	bool is_done;
	bool is_zero;
	uint64_t hash;
};
/* Reads a tensor; emits its statistics if it is its turn. */
struct wti_reading wti_state_read(PyObject *tensor, struct wt_name *owner, struct wt_name *name,
				  bool its_turn);
struct wti_reading wti_state_read_looked(const struct wti_tensor *tensor, struct wt_name *owner,
					 struct wt_name *name, bool its_turn);
/* Calls `each` for each parameter of an optimizer; owned while it is called. */
typedef void wti_each_parameter(PyObject *parameter, struct wti_live *live, void *with);
void wti_state_parameters(struct wti_live *optimizer, wti_each_parameter *each, void *with);
/* Whether it holds parameters itself, and is no mere wrapper of another. */
bool wti_state_has_groups(const struct wti_live *optimizer);

/* What an optimizer has made of it: parameters, settings, its own state. */
void wti_state_after_step(struct wti_live *optimizer, bool is_all_of_own);
/* Buffers of all models, and parameters that no optimizer has, in turn. */
void wti_state_models(void);
/* All parameters of a model, or with NULL of all. */
void wti_state_model(const struct wt_name *owner);
/* Of parameters that no optimizer has: which are frozen now. What they hold is read in turns. */
void wti_state_frozen(void);
void wti_state_bool(struct wt_name *owner, struct wt_name *attribute, const bool *was, bool is);

/* ---- value.c -------------------------------------------------------------------------------- */

struct wti_value_place {
	uint32_t call; /* seq of its call_begin */
	int32_t position;
	struct wt_name *name; /* or NULL */
};

void wti_value_emit(const struct wti_value_place *place, PyObject *object, uint64_t bytes_max);

#endif
