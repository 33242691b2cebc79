/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code is the program's own. What comes with the interpreter or from a package is not where
 * people look for their mistakes, as is what has no file ("<frozen importlib>") unless it was
 * typed.
 */
#ifndef WTI_INSPECT_LIBRARY_H
#define WTI_INSPECT_LIBRARY_H

#include <stdbool.h>

#include <wheeltap/trace.h>

bool wti_is_library(const char *file);
/* The same of the file of a call site; a site that the reader does not know is not the program's.
 */
bool wti_is_library_site(const struct wt_reader *reader, uint32_t site);

/* "<string>": what a library generated (the __init__ of a dataclass), for which
 * wti_is_library() takes it, or the program itself, given to `python -c`: where there is no other.
 */
bool wti_is_string(const char *file);
bool wti_is_string_site(const struct wt_reader *reader, uint32_t site);

#endif
