/* SPDX-License-Identifier: Apache-2.0 */
/* A number as a text that is kept. */
#ifndef WTI_AGENTS_NUMBER_H
#define WTI_AGENTS_NUMBER_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WTI_NUMBER_BYTES = 40 };

/* As few digits as read back the same, whatever the program's locale calls a point. */
static inline const char *wti_number_text(char out[WTI_NUMBER_BYTES], double value)
{
	static const int precisions[] = {6, 9, 15, 17};
	char *comma;

	for (size_t i = 0; i < sizeof(precisions) / sizeof(*precisions); i++) {
		snprintf(out, WTI_NUMBER_BYTES, "%.*g", precisions[i], value);
		if (strtod(out, NULL) == value)
			break;
	}
	comma = strchr(out, ',');
	if (comma)
		*comma = '.';
	return out;
}

#endif
