/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow: items, how many there are, and for how many there is room. It knows how to make
 * room, by doubling up to a ceiling; what the items are and how many are in use is the owner's.
 *
 *   int r = wti_grow(&list->items, list->count + 1, &list->capacity, ITEMS_MAX);
 *
 *   if (r)
 *           return r;
 *   list->items[list->count++] = item;
 */
#ifndef WTI_BASE_GROW_H
#define WTI_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where something else is the bound: a map of the same keys, the size of a file, another array. */
#define WTI_NO_CEILING SIZE_MAX

/*
 * Room for `wanted` items in all, where `items` is the address of the pointer to them. 0, or with
 * nothing changed WT_E_LIMIT beyond the ceiling, WT_E_NOMEM out of memory.
 */
#define wti_grow(items, wanted, capacity, ceiling)                                                 \
	wti_grow_items((items), WTI_ITEM_BYTES(items), (wanted), (capacity), (ceiling), false)
/* The same, and all new room is zero. */
#define wti_grow_zeroed(items, wanted, capacity, ceiling)                                          \
	wti_grow_items((items), WTI_ITEM_BYTES(items), (wanted), (capacity), (ceiling), true)

/* The cast is refused unless `items` points to a pointer: an array's address would fit as well. */
#define WTI_ITEM_BYTES(items) sizeof(*(typeof(*(items)))0)

int wti_grow_more(void *items, size_t item_bytes, size_t wanted, size_t *capacity, size_t ceiling,
		  bool zeroed);

/* For items whose size is known only now. Mostly there is room, and to see that costs no call. */
static inline int wti_grow_items(void *items, size_t item_bytes, size_t wanted, size_t *capacity,
				 size_t ceiling, bool zeroed)
{
	return wanted <= *capacity
		       ? 0
		       : wti_grow_more(items, item_bytes, wanted, capacity, ceiling, zeroed);
}

#endif
