/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow and whose items stay where they are: an item's address is good until all are
 * released, so others may keep it. Indexes count from 0. Where nobody keeps addresses, grow.h is
 * simpler, and its items lie in one piece.
 *
 *   wti_steady_init(&list, sizeof(struct item), ITEMS_MAX);
 *   item = wti_steady_add(&list);
 */
#ifndef WTI_BASE_STEADY_H
#define WTI_BASE_STEADY_H

#include <stddef.h>
#include <stdint.h>

#define WTI_STEADY_BITS 5 /* a segment has 2^5 items: few enough for the smallest of arrays */

struct wti_steady {
	char **segments;
	size_t segment_capacity;
	size_t item_bytes;
	size_t count;
	size_t ceiling;
	int status; /* of the last failure: WT_E_NOMEM, or WT_E_LIMIT at the ceiling */
};

void wti_steady_init(struct wti_steady *array, size_t item_bytes, size_t ceiling);
void wti_steady_release(struct wti_steady *array);
/* A new last item, all zero. NULL at the ceiling or out of memory, and `status` says which. */
void *wti_steady_add(struct wti_steady *array);

/* `index` has to be below the count, and `item_bytes` those of the array: a constant is faster. */
static inline void *wti_steady_at(const struct wti_steady *array, size_t index, size_t item_bytes)
{
	return array->segments[index >> WTI_STEADY_BITS] +
	       (index & (((size_t)1 << WTI_STEADY_BITS) - 1)) * item_bytes;
}

#endif
