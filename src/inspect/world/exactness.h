/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How exactly two runs are compared in each type of thing: the program's files in everything,
 * libraries by presence, memory by a limit, waiting not at all. Goldens and `diff` agree on it.
 */
#ifndef WTI_WORLD_EXACTNESS_H
#define WTI_WORLD_EXACTNESS_H

#include "names.h"

enum wti_exactness {
	WTI_COMPARE_NOT,      /* not at all */
	WTI_COMPARE_PRESENCE, /* whether it was used */
	WTI_COMPARE_LIMIT,    /* not much more often */
	WTI_COMPARE_EXACT,    /* everything */
};
enum wti_exactness wti_thing_exactness(enum wti_thing_type type);
/* Whether this effect on such a thing is compared. */
bool wti_thing_keeps(enum wti_thing_type type, const char *word);

#endif
