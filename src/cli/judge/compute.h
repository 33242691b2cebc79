/* SPDX-License-Identifier: Apache-2.0 */
/* The person's own program that runs a model: `model verify --compute COMMAND`. */
#ifndef WTI_CLI_COMPUTE_H
#define WTI_CLI_COMPUTE_H

#include <limits.h>

#include <wheeltap/err.h>

struct wti_compute {
	const char *command;    /* a line for the shell; NULL: there is none */
	char folder[PATH_MAX];  /* of the outputs; empty: not made yet */
	char outputs[PATH_MAX]; /* the file in it */
};

/*
 * Runs COMMAND MODEL INPUTS OUTPUTS and gives the path of OUTPUTS, a file in a folder of its own,
 * that is there until the next call or wti_compute_release(). `self` is a struct wti_compute.
 */
int wti_compute_run(void *self, const char *model, const char *inputs, char ret_outputs[PATH_MAX],
		    struct wt_err *err);
void wti_compute_release(struct wti_compute *compute);

#endif
