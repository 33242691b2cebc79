/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is particular to torch: what some calls mean for the run, and what follows from it: step,
 * epoch and stage, gradients, data, random number generators, modes, and what torch runs below
 * Python. Hides where torch's objects keep it.
 */
#ifndef WTI_PYTHON_TORCH_TORCH_H
#define WTI_PYTHON_TORCH_TORCH_H

#include "python/core/call.h"
#include "python/state/state.h"

struct wti_thread_note;

/* What a thread keeps of the room. */
struct wti_torch_thread {
	bool has_overrides; /* the program sees what is done with tensors: overrides.c */
	bool modes_known;
	uint32_t modes;          /* bits of call_begin's flags */
	uint32_t settings_known; /* a bit for each setter: torch keeps these by thread */
	uint32_t settings;
	uint32_t depths[WTI_HANDLING_END]; /* calls under way, by handling */
	struct {
		struct wti_thread_note *note;
		uint64_t followed; /* whose context this thread has */
		uint32_t followed_version;
		bool is_following; /* the context that is being emitted is another's */
	} own;                     /* see threads.c */
};

extern __thread struct wti_torch_thread wti_torch_thread WTI_THREAD_STATE;

/* False with an exception. */
bool wti_torch_init(void);
/* torch.nn.Module */
void wti_torch_set_module_type(PyObject *type);

/* ---- handler.c ------------------------------------------------------------------------------ */

/* Whether there is one: enum wt_action or enum wti_handling. */
bool wti_handle_is(uint32_t handling);
/* Of calls that have a handler. In this order: before the call is emitted, with its arguments, with
 * its result, when it is over. */
void wti_handle_before(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count);
/* False: they are still to be emitted. */
bool wti_handle_arguments(const struct wti_hooked_call *call, PyObject *const *arguments,
			  Py_ssize_t count, PyObject *names);
bool wti_handle_result(const struct wti_hooked_call *call, PyObject *result);
void wti_handle_after(struct wti_hooked_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result);

/* A step of a program without an optimizer is over. */
void wti_handle_step_over(void); /* handle_model.c */

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
/* Emits on this thread what has changed on others, or before a fork. */
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

/* ---- annotate.c ----------------------------------------------------------------------------- */

extern PyMethodDef wti_annotate_methods[];

/* ---- handle_configuration.c ----------------------------------------------------------------- */

extern PyMethodDef wti_configuration_methods[];

/* ---- modes.c -------------------------------------------------------------------------------- */

/* The modes of this thread as torch's own functions report them, as bits of a call's flags. */
uint32_t wti_modes_asked(void);
/* Looks at them again, for wti_torch_thread. */
void wti_modes_look(void);
extern PyMethodDef wti_modes_methods[];

/* ---- overrides.c ---------------------------------------------------------------------------- */

/* torch's functions that count modes of this thread, and that leave them out. */
void wti_overrides_set(PyObject *count, PyObject *off);
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

/* ---- gradient.c ----------------------------------------------------------------------------- */

/* The gradients that an optimizer is about to use, and that a backward will add to. */
void wti_gradient_before_step(struct wti_live *optimizer);
void wti_gradient_before_backward(void);
/* Before zero_grad(): whether there are gradients that no step has used. */
void wti_gradient_before_clear(struct wti_live *optimizer);

/* ---- random.c ------------------------------------------------------------------------------- */

/* Emits the states that have changed; all of them in a new process. */
void wti_random_read(void);
extern PyMethodDef wti_random_methods[];

/* ---- data.c --------------------------------------------------------------------------------- */

struct wti_data_place {
	uint32_t call;
	int32_t position;
	struct wt_name *owner; /* of rows; NULL: rows are not emitted */
	struct wt_name *name;  /* of the whole, or NULL */
};
/* All tensors in it, however they are packed into containers. */
void wti_data_emit(const struct wti_data_place *place, PyObject *object);

/* ---- operator.c ----------------------------------------------------------------------------- */

struct wti_shim_host;
/* What the shim watches, as records. Needs no lock. */
extern const struct wti_shim_host wti_operator_host;

#endif
