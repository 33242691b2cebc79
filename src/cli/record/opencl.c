/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how OpenCL's loader finds layers. */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/library.h"
#include "library.h"

#define LAYERS "OPENCL_LAYERS"
#define LIBRARY "libwheeltap-opencl.so"

/* Behind those that the user has: ours is then the nearest to the program's call. */
int wti_record_opencl_variable(char **ret_variable, struct wt_err *err)
{
	const char *given = getenv(LAYERS);
	char path[PATH_MAX];

	if (!wti_record_library("opencl", LIBRARY, path))
		return wti_err(
			err, WT_E_MISSING,
			"there is no " LIBRARY " beside this program; %s, or leave --opencl away",
			wti_library_cure("install opencl-c-headers and build wheeltap again"));
	if (strchr(path, ':'))
		return wti_err(err, WT_E_ARG,
			       "'%s' cannot be named in " LAYERS " because of the colon in its "
			       "path; install wheeltap elsewhere",
			       path);
	if (asprintf(ret_variable, LAYERS "=%s%s%s", given ? given : "", given && *given ? ":" : "",
		     path) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

int wti_record_opencl_settings(const struct wti_record_opencl *opencl, char **settings,
			       struct wt_err *err)
{
	char *more;

	if (asprintf(&more, "%s%s%s", *settings, opencl->replayable ? "opencl_replayable=1\n" : "",
		     opencl->stacks ? "opencl_stacks=1\n" : "") < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	free(*settings);
	*settings = more;
	return 0;
}
