/* SPDX-License-Identifier: Apache-2.0 */
/* Segments double, so that there are few of them, and none is ever moved. */
#include "steady.h"

#include <stdlib.h>

#include <wheeltap/err.h>

void wti_steady_init(struct wti_steady *array, size_t item_bytes, size_t ceiling)
{
	*array = (struct wti_steady){
		.item_bytes = item_bytes,
		.ceiling = ceiling < WTI_STEADY_MAX ? ceiling : WTI_STEADY_MAX,
	};
}

void wti_steady_release(struct wti_steady *array)
{
	if (!array)
		return;
	for (size_t i = 0; i < WTI_STEADY_SEGMENTS; i++)
		free(array->segments[i]);
	wti_steady_init(array, array->item_bytes, array->ceiling);
}

void *wti_steady_add(struct wti_steady *array)
{
	unsigned segment = 63 - (unsigned)__builtin_clzll((uint64_t)array->count + 1);

	if (array->count >= array->ceiling) {
		array->status = WT_E_LIMIT;
		return NULL;
	}
	if (!array->segments[segment])
		array->segments[segment] = calloc((size_t)1 << segment, array->item_bytes);
	if (!array->segments[segment]) {
		array->status = WT_E_NOMEM;
		return NULL;
	}
	return wti_steady_at(array, array->count++);
}
