/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the name of the loader. */
#include "api.h"

#include <dlfcn.h>

#include "base/err.h"
#include "base/library.h"

#define LOADER "libOpenCL.so.1"

int wti_replay_api_open(struct wti_replay_api *ret_api, struct wt_err *err)
{
	struct wti_replay_api api = {0};
	const char *missing = NULL;
	int r = wti_library_open(LOADER, RTLD_NOW | RTLD_LOCAL,
				 "no OpenCL loader '" LOADER "': install ocl-icd-libopencl1 and a "
				 "driver, on Debian pocl-opencl-icd for the processor",
				 &api.library, err);

	if (r)
		return r;
#define FIND(name) api.name = (__typeof__(api.name))dlsym(api.library, #name);
#define NEED(name)                                                                                 \
	FIND(name)                                                                                 \
	if (!api.name)                                                                             \
		missing = #name;
	WTI_REPLAY_NEEDED(NEED)
	WTI_REPLAY_OPTIONAL(FIND)
	if (missing) {
		dlclose(api.library);
		return wti_err(err, WT_E_MISSING,
			       "the OpenCL loader '" LOADER "' has no '%s': it must be of OpenCL "
			       "1.2 or later",
			       missing);
	}
	*ret_api = api;
	return 0;
}

/* Drivers leave threads behind: their code has to stay. */
void wti_replay_api_close(struct wti_replay_api *api)
{
	*api = (struct wti_replay_api){0};
}
