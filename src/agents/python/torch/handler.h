/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done at calls that mean something for the run: one row for each handling, defined beside
 * its functions, entered into the table of handler.c.
 */
#ifndef WTI_PYTHON_TORCH_HANDLER_H
#define WTI_PYTHON_TORCH_HANDLER_H

#include "own.h"

struct wti_given {
	PyObject *const *arguments;
	Py_ssize_t count;
	PyObject *names; /* or NULL */
};

struct wti_handler {
	void (*before)(struct wti_hooked_call *call, const struct wti_given *given);
	/* True: it has emitted them all. */
	bool (*arguments)(const struct wti_hooked_call *call, const struct wti_given *given);
	bool (*result)(const struct wti_hooked_call *call, PyObject *result);
	void (*after)(struct wti_hooked_call *call, const struct wti_given *given,
		      PyObject *result);
	Py_ssize_t given_min; /* arguments without which nothing is done */
	uint32_t action;      /* of the call_begin: enum wt_action */
};

/* Models, and what is done with whole ones: handle_model.c */
extern const struct wti_handler wti_handler_module, wti_handler_module_made,
	wti_handler_module_restored, wti_handler_module_method, wti_handler_module_clear,
	wti_handler_module_loaded, wti_handler_average, wti_handler_copy, wti_handler_save,
	wti_handler_load;
/* What trains them: handle_train.c */
extern const struct wti_handler wti_handler_made, wti_handler_method, wti_handler_clear,
	wti_handler_group_added, wti_handler_optimizer_loaded, wti_handler_step,
	wti_handler_schedule, wti_handler_scale, wti_handler_backward;
/* What feeds them: handle_data.c */
extern const struct wti_handler wti_handler_epoch, wti_handler_batch, wti_handler_fetch,
	wti_handler_worker;
/* What they run with: handle_configuration.c */
extern const struct wti_handler wti_handler_configured;

/* Arrays of numpy: handle_arrays.c */
extern const struct wti_handler wti_handler_array_saved, wti_handler_arrays_saved,
	wti_handler_array_loaded, wti_handler_array_taken;

/* An argument, by its position or by its name; borrowed. NULL: it was not given. handle_model.c. */
PyObject *wti_handle_argument(const struct wti_given *given, Py_ssize_t position, const char *name);
/* The text of a path, to be released; NULL: it is a file object, or another that is left alone. */
PyObject *wti_handle_path(PyObject *file);
/* Every tensor and number of what is saved or was loaded; handle_model.c. */
void wti_handle_contents(const struct wti_hooked_call *call, int position, PyObject *object);
bool wti_handle_contents_given(const struct wti_hooked_call *call, const struct wti_given *given);

#endif
