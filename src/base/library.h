/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that are looked for while the program runs, and what takes their place where
 * there can be none. */
#ifndef WTI_BASE_LIBRARY_H
#define WTI_BASE_LIBRARY_H

#include <stdbool.h>

#include <wheeltap/err.h>

/* Is this the static program, which runs without any libc, and has no libraries for other programs?
 */
bool wti_library_none(void);

/* Is a function of a library part of this program? */
bool wti_library_is_linked_in(const void *function);

/* `cure`, or in the static program what cures there: another package of wheeltap. */
const char *wti_library_cure(const char *cure);

/* Never unloaded. `missing` is the message if it is not there. */
int wti_library_open(const char *name, int flags, const char *missing, void **ret_library,
		     struct wt_err *err);

#endif
