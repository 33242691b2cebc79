/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of one size, none of which is ever moved; only the list of them grows. */
#include "steady.h"

#include <stdlib.h>

#include <wheeltap/err.h>

#include "grow.h"

#define SEGMENT_ITEMS ((size_t)1 << WTI_STEADY_BITS)

void wti_steady_init(struct wti_steady *array, size_t item_bytes, size_t ceiling)
{
	*array = (struct wti_steady){.item_bytes = item_bytes, .ceiling = ceiling};
}

void wti_steady_release(struct wti_steady *array)
{
	if (!array)
		return;
	for (size_t i = 0; i < array->segment_capacity; i++)
		free(array->segments[i]);
	free(array->segments);
	wti_steady_init(array, array->item_bytes, array->ceiling);
}

/* The segment for one more item. */
static int make_room(struct wti_steady *array)
{
	size_t segment = array->count / SEGMENT_ITEMS;

	if (array->count >= array->ceiling)
		return WT_E_LIMIT;
	if (wti_grow_zeroed(&array->segments, segment + 1, &array->segment_capacity,
			    WTI_NO_CEILING))
		return WT_E_NOMEM;
	if (!array->segments[segment])
		array->segments[segment] = calloc(SEGMENT_ITEMS, array->item_bytes);
	return array->segments[segment] ? 0 : WT_E_NOMEM;
}

void *wti_steady_add(struct wti_steady *array)
{
	int r = make_room(array);

	if (r) {
		array->status = r;
		return NULL;
	}
	return wti_steady_at(array, array->count++, array->item_bytes);
}
