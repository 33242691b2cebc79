/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of what is compared. */
#include "exactness.h"

#include <string.h>

enum wti_exactness wti_thing_exactness(enum wti_thing_type type)
{
	switch (type) {
	case WTI_THING_FILE:
	case WTI_THING_PEER:
	case WTI_THING_PROGRAM:
	case WTI_THING_PROCESS:
	case WTI_THING_CONSOLE:
		return WTI_COMPARE_EXACT;
	case WTI_THING_LIBRARY:
	case WTI_THING_CODE:
	case WTI_THING_SYSTEM:
		return WTI_COMPARE_PRESENCE;
	case WTI_THING_KERNEL:
		return WTI_COMPARE_LIMIT;
	default:
		return WTI_COMPARE_NOT;
	}
}

/* Of libraries and the system's files only that they were used; of the console only how much. */
bool wti_thing_keeps(enum wti_thing_type type, const char *word)
{
	switch (type) {
	case WTI_THING_LIBRARY:
		return !strcmp(word, "loaded");
	case WTI_THING_CODE:
	case WTI_THING_SYSTEM:
		return !strcmp(word, "opened");
	case WTI_THING_CONSOLE:
		return !strcmp(word, "written_bytes");
	default:
		return wti_thing_exactness(type) != WTI_COMPARE_NOT;
	}
}
