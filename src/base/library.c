/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which libraries there can be. The static program loads none: they would bring the system's
 * libc into a process that has another one.
 */
#include "library.h"

#include <dlfcn.h>

#include "err.h"

#define ELSEWHERE "use wheeltap's wheel, or its tarball for glibc"

#ifdef WTI_STATIC
bool wti_library_is_linked_in(const void *function)
{
	return true;
}

bool wti_library_none(void)
{
	return true;
}

const char *wti_library_cure(const char *cure)
{
	return "the static program has none: " ELSEWHERE;
}

int wti_library_open(const char *name, int flags, const char *missing, void **ret_library,
		     struct wt_err *err)
{
	return wti_err(err, WT_E_MISSING, "the static program cannot load '%s': " ELSEWHERE, name);
}
#else
bool wti_library_is_linked_in(const void *function)
{
	Dl_info theirs, ours;

	return dladdr(function, &theirs) && dladdr(&wti_library_is_linked_in, &ours) &&
	       theirs.dli_fbase == ours.dli_fbase;
}

bool wti_library_none(void)
{
	return false;
}

const char *wti_library_cure(const char *cure)
{
	return cure;
}

int wti_library_open(const char *name, int flags, const char *missing, void **ret_library,
		     struct wt_err *err)
{
	void *library = dlopen(name, flags);

	if (!library)
		return wti_err(err, WT_E_MISSING, "%s", missing);
	*ret_library = library;
	return 0;
}
#endif
