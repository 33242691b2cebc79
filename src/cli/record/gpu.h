/* SPDX-License-Identifier: Apache-2.0 */
/* `record --cuda` and `record --rocm`: the libraries that drivers load into the program. */
#ifndef WTI_CLI_RECORD_GPU_H
#define WTI_CLI_RECORD_GPU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <wheeltap/err.h>

struct wti_record_gpu {
	const char *cuda; /* nodes or graphs, or yes: nodes; NULL: off */
	bool rocm;
};

/*
 * The variables of the environment that name the libraries, appended to those that are there (with
 * room for `room` in all, the last of which stays NULL); to be freed.
 */
int wti_record_gpu_variables(const struct wti_record_gpu *gpu, char *const *argv, char **variables,
			     size_t room, struct wt_err *err);
/* Appends to the settings of agents, which it may move. */
int wti_record_gpu_settings(const struct wti_record_gpu *gpu, char *const *argv, char **settings,
			    struct wt_err *err);
/*
 * Where libcupti is: $CUDA_HOME, $CUDA_PATH, the packages of the Python that `argv` starts (or
 * NULL), or /usr/local/cuda. False: in none of them.
 */
bool wti_record_gpu_cupti(char *const *argv, char ret_path[PATH_MAX]);

#endif
