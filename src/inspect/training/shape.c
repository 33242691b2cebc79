/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the text of a shape. */
#include <stdlib.h>

#include "shape.h"

struct wti_shape wti_shape_read(const char *text)
{
	struct wti_shape shape = {0};
	char *end;

	while (shape.rank < WTI_EXTENTS_MAX) {
		uint64_t extent = strtoull(text, &end, 10);

		if (end == text)
			break;
		shape.extents[shape.rank++] = extent;
		if (*end != 'x')
			break;
		text = end + 1;
	}
	return shape;
}
