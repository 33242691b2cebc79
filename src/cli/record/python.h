/* SPDX-License-Identifier: Apache-2.0 */
/* How the Python agent gets into a program: where it lies, and its settings. */
#ifndef WTI_CLI_RECORD_PYTHON_H
#define WTI_CLI_RECORD_PYTHON_H

#include <limits.h>
#include <stdbool.h>

#include <wheeltap/err.h>

#include "cli/verb.h"

/* The folder with the package wheeltap/: in the build tree, or where it is installed. */
bool wti_python_home(char ret_home[PATH_MAX]);

struct wti_python_plan {
	char *additions[2];           /* to the environment of the program; ends with NULL */
	char *settings;               /* for the agent */
	char entrance[PATH_MAX + 16]; /* the folder that is put into PYTHONPATH; empty if none is */
};

struct wti_python_choice {
	const char *detail;
	const char *tensors;
	const char *arguments; /* whether those of calls, and returns, are recorded */
	const char *operators; /* what of torch below Python is recorded */
	/* Separated by commas, or @FILE with one a line; or NULL. */
	const char *modules; /* libraries that are hooked; NULL: torch */
	bool with_system;    /* and what of the standard library makes system calls */
	bool with_opencl;    /* and pyopencl */
	const char *only;    /* patterns of full names */
	const char *skip;
	struct wti_list include_files; /* of rules: a module and a function a line */
	struct wti_list exclude_files;
	const char *budget;     /* per cent; or NULL, as the next two */
	const char *sample;     /* every=N or warmup=K */
	const char *invariants; /* a file: only what they need is hooked and read */
};

/* What a recording needs so that Python programs join it. */
int wti_python_plan(struct wti_python_plan *plan, const struct wti_python_choice *choice,
		    struct wt_err *err);
void wti_python_plan_release(struct wti_python_plan *plan);

#endif
