/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where libhdf5 is and what of it is used. */
#include "hdf5_library.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/library.h"

#define LIBRARY "libhdf5_serial.so.103"

/* clang-format off */
static bool find_all(struct wti_hdf5_library *h, void *library)
{
	bool is_whole = true;

#define X(name) is_whole &= (*(void **)&h->name = dlsym(library, "H5" #name)) != NULL;
	WTI_HDF5_FUNCTIONS(X)
#undef X
#define X(name) is_whole &= (*(void **)&h->name = dlsym(library, "H5" #name "_g")) != NULL;
	WTI_HDF5_VARIABLES(X)
#undef X
	return is_whole;
}
/* clang-format on */

int wti_hdf5_load(struct wti_hdf5_library *h, struct wt_err *err)
{
	void *library;
	bool is_whole;
	int r = wti_library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE,
				 "hdf5 needs " LIBRARY ": install it (Debian: libhdf5-103-1)",
				 &library, err);

	if (r)
		return r;
	is_whole = find_all(h, library);
	dlclose(library);
	if (!is_whole)
		return wti_err(err, WT_E_MISSING,
			       LIBRARY " does not have all functions that "
				       "hdf5 needs");
	h->dont_atexit();
	if (h->open() < 0)
		return wti_err(err, WT_E_NOMEM, LIBRARY " does not start");
	h->Eset_auto2(H5E_DEFAULT, NULL, NULL);
	return 0;
}
