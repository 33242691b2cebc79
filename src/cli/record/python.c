/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python agent enters through the interpreter's start-up hook: a sitecustomize in a folder that
 * stands first in PYTHONPATH, before whatever the program has there. It is a part of the package,
 * which lies beside this program in the build tree, under the library folder of the same prefix
 * when installed, and around it when pip has installed it (wheeltap/bin/wheeltap).
 */
#include "python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "python_needs.h"
#include "python_rules.h"

#define SETTINGS_BYTES_MAX (1u << 20)

static bool is_home(const char *home)
{
	char path[PATH_MAX + 256];

	snprintf(path, sizeof(path), "%s/wheeltap/inject/sitecustomize.py", home);
	return access(path, R_OK) == 0;
}

bool wti_python_home(char ret_home[PATH_MAX])
{
	static const char *const places[] = {"python", "../" WTI_LIBDIR "/wheeltap/python",
					     "../.."}; /* the last: in site-packages */
	char self[PATH_MAX], path[PATH_MAX + 128];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (bytes <= 0)
		return false;
	self[bytes] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, places[i]);
		if (is_home(path) && realpath(path, ret_home))
			return true;
	}
	return false;
}

/* Modules in C through which Python reaches the kernel. */
#define SYSTEM_MODULES                                                                             \
	"io,_io,posix,_socket,_ssl,_posixsubprocess,select,fcntl,mmap,time,_signal,_thread,"       \
	"_multiprocessing,_posixshmem,resource,termios,_ctypes,_dbm,_gdbm,_sqlite3"

/* Through which Python reaches OpenCL. */
#define OPENCL_MODULES "pyopencl"

static int plan_path(struct wti_python_plan *plan, const char *home, struct wt_err *err)
{
	const char *own = getenv("PYTHONPATH");
	struct wti_buf path;

	wti_buf_init(&path, 1u << 20);
	snprintf(plan->entrance, sizeof(plan->entrance), "%s/wheeltap/inject", home);
	wti_buf_printf(&path, "PYTHONPATH=%s", plan->entrance);
	if (own && own[0])
		wti_buf_printf(&path, ":%s", own);
	plan->additions[0] = wti_buf_status(&path) ? NULL : strdup(wti_buf_cstr(&path));
	wti_buf_release(&path);
	return plan->additions[0] ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for PYTHONPATH");
}

static int plan_settings(struct wti_python_plan *plan, const struct wti_python_choice *choice,
			 struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, SETTINGS_BYTES_MAX);
	wti_buf_printf(&text, "tensors=%s\noperators=%s\narguments=%s\n", choice->tensors,
		       choice->operators, choice->arguments);
	r = wti_python_detail(&text, choice->detail, choice->invariants, err);
	if (!r)
		r = wti_python_names(&text, "modules", choice->modules, err);
	if (!r && choice->with_system)
		r = wti_python_names(&text, "also", SYSTEM_MODULES, err);
	if (!r && choice->with_opencl)
		r = wti_python_names(&text, "also", OPENCL_MODULES, err);
	if (!r)
		r = wti_python_names(&text, "only", choice->only, err);
	if (!r)
		r = wti_python_names(&text, "skip", choice->skip, err);
	if (!r)
		r = wti_python_rules(&text, "include", &choice->include_files, err);
	if (!r)
		r = wti_python_rules(&text, "exclude", &choice->exclude_files, err);
	if (!r)
		r = wti_python_budget(&text, choice->budget, err);
	if (!r)
		r = wti_python_sample(&text, choice->sample, err);
	if (!r)
		r = wti_python_needs(&text, choice->invariants, err);
	if (!r && wti_buf_status(&text))
		r = wti_err(err, WT_E_ARG, "too many names, patterns and rules; the limit is %u kB",
			    SETTINGS_BYTES_MAX >> 10);
	plan->settings = r ? NULL : strdup(wti_buf_cstr(&text));
	wti_buf_release(&text);
	return r || plan->settings ? r : wti_err(err, WT_E_NOMEM, "out of memory");
}

int wti_python_plan(struct wti_python_plan *plan, const struct wti_python_choice *choice,
		    struct wt_err *err)
{
	char home[PATH_MAX];
	int r = plan_settings(plan, choice, err);

	if (!r && wti_python_home(home))
		r = plan_path(plan, home, err);
	return r;
}

void wti_python_plan_release(struct wti_python_plan *plan)
{
	free(plan->additions[0]);
	free(plan->settings);
	*plan = (struct wti_python_plan){0};
}
