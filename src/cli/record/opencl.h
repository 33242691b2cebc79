/* SPDX-License-Identifier: Apache-2.0 */
/* `record --opencl`: the layer that OpenCL's loader puts into the program, and its settings. */
#ifndef WTI_CLI_RECORD_OPENCL_H
#define WTI_CLI_RECORD_OPENCL_H

#include <stdbool.h>

#include <wheeltap/err.h>

struct wti_record_opencl {
	bool is_on;
	bool replayable; /* keep programs, arguments and contents */
	bool stacks;
};

/* The variable of the environment that names the layer; to be freed. */
int wti_record_opencl_variable(char **ret_variable, struct wt_err *err);
/* Appends to the settings of agents, which it may move. */
int wti_record_opencl_settings(const struct wti_record_opencl *opencl, char **settings,
			       struct wt_err *err);

#endif
