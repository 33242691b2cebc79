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

enum { WTI_STEADY_SEGMENTS = 24 };

/* No array has more items, whatever its ceiling. */
#define WTI_STEADY_MAX (((size_t)1 << WTI_STEADY_SEGMENTS) - 1)

struct wti_steady {
	char *segments[WTI_STEADY_SEGMENTS]; /* number n: the indexes from 2^n - 1, 2^n of them */
	size_t item_bytes;
	size_t count;
	size_t ceiling;
	int status; /* of the last failure: WT_E_NOMEM, or WT_E_LIMIT at the ceiling */
};

void wti_steady_init(struct wti_steady *array, size_t item_bytes, size_t ceiling);
void wti_steady_release(struct wti_steady *array);
/* A new last item, all zero. NULL at the ceiling or out of memory, and `status` says which. */
void *wti_steady_add(struct wti_steady *array);

/* `index` has to be below the count. */
static inline void *wti_steady_at(const struct wti_steady *array, size_t index)
{
	unsigned segment = 63 - (unsigned)__builtin_clzll((uint64_t)index + 1);

	return array->segments[segment] + (index + 1 - ((size_t)1 << segment)) * array->item_bytes;
}

#endif
