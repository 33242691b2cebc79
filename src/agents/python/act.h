/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls of one action mean: one row an action, defined beside its functions, entered into the
 * table of action.c.
 */
#ifndef WTI_PYTHON_ACT_H
#define WTI_PYTHON_ACT_H

#include "pyagent.h"

struct wti_given {
	PyObject *const *arguments;
	Py_ssize_t count;
	PyObject *names; /* or NULL */
};

struct wti_act {
	void (*before)(struct wti_hooked_call *call, const struct wti_given *given);
	/* True: it has told them all. */
	bool (*arguments)(const struct wti_hooked_call *call, const struct wti_given *given);
	bool (*result)(const struct wti_hooked_call *call, PyObject *result);
	void (*after)(struct wti_hooked_call *call, const struct wti_given *given,
		      PyObject *result);
	Py_ssize_t given_min; /* arguments without which nothing is done */
	uint32_t action;      /* of the call_begin: enum wt_action */
};

/* Models, and what is done with whole ones: act_model.c */
extern const struct wti_act wti_act_module, wti_act_module_made, wti_act_module_restored,
	wti_act_module_method, wti_act_module_clear, wti_act_module_loaded, wti_act_average,
	wti_act_copy, wti_act_save, wti_act_load;
/* What trains them: act_train.c */
extern const struct wti_act wti_act_made, wti_act_method, wti_act_clear, wti_act_group_added,
	wti_act_optimizer_loaded, wti_act_step, wti_act_schedule, wti_act_scale, wti_act_backward;
/* What feeds them: act_data.c */
extern const struct wti_act wti_act_epoch, wti_act_batch, wti_act_fetch, wti_act_worker;

/* The modes of this thread as torch's own functions say, as bits of a call's flags; act_model.c. */
uint32_t wti_act_modes_asked(void);
/* A step of a program without an optimizer is over; act_model.c. */
void wti_act_step_over(void);
/* Every tensor and number of what is saved or was loaded; act_model.c. */
void wti_act_contents(const struct wti_hooked_call *call, int position, PyObject *object);
bool wti_act_contents_given(const struct wti_hooked_call *call, const struct wti_given *given);

#endif
