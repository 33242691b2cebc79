/* SPDX-License-Identifier: Apache-2.0 */
/* Knows by which variables drivers load libraries, and where CUDA is installed. */
#include "gpu.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/library.h"
#include "collect/interpreter.h"
#include "library.h"

#define CUDA_LIBRARY "libwheeltap-cuda.so"
#define ROCM_LIBRARY "libwheeltap-rocm.so"

extern char **environ;

/* ---- libcupti -------------------------------------------------------------------------------- */

/* The last of them, which is the newest. */
static bool find(const char *folder, const char *below, char ret_path[PATH_MAX])
{
	char pattern[2 * PATH_MAX], real[PATH_MAX];
	glob_t found = {0};
	bool ok = false;

	snprintf(pattern, sizeof(pattern), "%s/%s/libcupti.so*", folder, below);
	if (!glob(pattern, 0, NULL, &found) && found.gl_pathc)
		ok = realpath(found.gl_pathv[found.gl_pathc - 1], real) != NULL;
	globfree(&found);
	if (ok)
		memcpy(ret_path, real, sizeof(real));
	return ok;
}

/* nvidia-cuda-cupti-cu11 and -cu12; nvidia-cuda-cupti from CUDA 13 on. */
static bool find_in_packages(const char *prefix, char ret_path[PATH_MAX])
{
	return find(prefix, "lib/python3*/site-packages/nvidia/cu13/lib", ret_path) ||
	       find(prefix, "lib/python3*/site-packages/nvidia/cuda_cupti/lib", ret_path);
}

/* "/venv/bin/python" lies in "/venv"; what it is a link to, in the base that it was made from. */
static bool find_by_python(char *const *argv, char ret_path[PATH_MAX])
{
	char interpreter[PATH_MAX], real[PATH_MAX];
	char *const places[] = {interpreter, real};

	if (wti_python_of(argv, environ, interpreter, NULL) || !realpath(interpreter, real))
		return false;
	for (size_t i = 0; i < 2; i++) {
		for (size_t up = 0; up < 2; up++) {
			char *slash = strrchr(places[i], '/');

			if (!slash)
				break;
			*slash = 0;
		}
		if (find_in_packages(places[i], ret_path))
			return true;
	}
	return false;
}

static bool find_in_toolkit(const char *home, char ret_path[PATH_MAX])
{
	return home && *home &&
	       (find(home, "extras/CUPTI/lib64", ret_path) || find(home, "lib64", ret_path) ||
		find(home, "lib", ret_path));
}

bool wti_record_gpu_cupti(char *const *argv, char ret_path[PATH_MAX])
{
	return find_in_toolkit(getenv("CUDA_HOME"), ret_path) ||
	       find_in_toolkit(getenv("CUDA_PATH"), ret_path) ||
	       (argv && argv[0] && find_by_python(argv, ret_path)) ||
	       find_in_toolkit("/usr/local/cuda", ret_path);
}

/* ---- The variables --------------------------------------------------------------------------- */

static int add(char **variables, size_t room, const char *name, const char *before,
	       const char *value, struct wt_err *err)
{
	size_t count = 0;

	while (count + 1 < room && variables[count])
		count++;
	if (count + 1 >= room ||
	    asprintf(&variables[count], "%s=%s%s%s", name, before ? before : "",
		     before && *before ? ":" : "", value) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

static int library(const char *folder, const char *file, const char *option, char path[PATH_MAX],
		   struct wt_err *err)
{
	if (wti_record_library(folder, file, path))
		return 0;
	return wti_err(err, WT_E_MISSING,
		       "there is no %s beside this program; %s, or leave %s away", file,
		       wti_library_cure("install wheeltap again"), option);
}

/* NVTX loads CUPTI by a variable of its own; without it, ranges are not reported. */
static int add_cuda(char *const *argv, char **variables, size_t room, struct wt_err *err)
{
	const char *given = getenv("CUDA_INJECTION64_PATH");
	char path[PATH_MAX], cupti[PATH_MAX];
	int r = library("cuda", CUDA_LIBRARY, "--cuda", path, err);

	if (r)
		return r;
	if (given && *given && strcmp(given, path) != 0)
		return wti_err(err, WT_E_ARG,
			       "CUDA_INJECTION64_PATH names '%.200s' already, and CUDA loads one "
			       "library; unset it, or leave --cuda away",
			       given);
	r = add(variables, room, "CUDA_INJECTION64_PATH", NULL, path, err);
	if (r || getenv("NVTX_INJECTION64_PATH") || !wti_record_gpu_cupti(argv, cupti))
		return r;
	return add(variables, room, "NVTX_INJECTION64_PATH", NULL, cupti, err);
}

static int add_rocm(char **variables, size_t room, struct wt_err *err)
{
	char path[PATH_MAX];
	int r = library("rocm", ROCM_LIBRARY, "--rocm", path, err);

	if (!r && strchr(path, ':'))
		r = wti_err(err, WT_E_ARG,
			    "'%s' cannot be named in ROCP_TOOL_LIBRARIES because of the colon in "
			    "its path; install wheeltap elsewhere",
			    path);
	return r ? r
		 : add(variables, room, "ROCP_TOOL_LIBRARIES", getenv("ROCP_TOOL_LIBRARIES"), path,
		       err);
}

static bool is_on(const char *value)
{
	return value && strcmp(value, "no") != 0 && strcmp(value, "false") != 0;
}

static int check_cuda(const char *value, struct wt_err *err)
{
	static const char *const known[] = {"yes", "true", "nodes", "graphs"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(value, known[i]))
			return 0;
	return wti_err(err, WT_E_ARG,
		       "bad value '%.64s' for '--cuda'; give nodes, the default, for every kernel "
		       "of a graph, or graphs for one entry a graph",
		       value);
}

int wti_record_gpu_variables(const struct wti_record_gpu *gpu, char *const *argv, char **variables,
			     size_t room, struct wt_err *err)
{
	int r = 0;

	if (is_on(gpu->cuda))
		r = check_cuda(gpu->cuda, err);
	if (!r && is_on(gpu->cuda))
		r = add_cuda(argv, variables, room, err);
	if (!r && gpu->rocm)
		r = add_rocm(variables, room, err);
	return r;
}

int wti_record_gpu_settings(const struct wti_record_gpu *gpu, char *const *argv, char **settings,
			    struct wt_err *err)
{
	char cupti[PATH_MAX];
	bool found;
	char *more;

	if (!is_on(gpu->cuda))
		return 0;
	found = wti_record_gpu_cupti(argv, cupti) && !strchr(cupti, '\n');
	if (asprintf(&more, "%s%s%s%s%s", *settings, found ? "cuda_cupti=" : "", found ? cupti : "",
		     found ? "\n" : "",
		     strcmp(gpu->cuda, "graphs") ? "" : "cuda_graphs=whole\n") < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	free(*settings);
	*settings = more;
	return 0;
}
