/* SPDX-License-Identifier: Apache-2.0 */
/* Small bags: a search from the end finds what comes again and again soon. */
#include <stdlib.h>

#include "base/grow.h"
#include "bag.h"

void wti_bag_release(struct wti_bag *bag)
{
	free(bag->items);
	*bag = (struct wti_bag){0};
}

void wti_bag_empty(struct wti_bag *bag)
{
	bag->count = 0;
}

const struct wti_bag_item *wti_bag_find(const struct wti_bag *bag, uint32_t symbol)
{
	for (uint32_t i = bag->count; i-- > 0;)
		if (bag->items[i].symbol == symbol)
			return &bag->items[i];
	return NULL;
}

void wti_bag_add(struct wti_bag *bag, uint32_t symbol, uint32_t count, uint64_t when,
		 uint32_t ceiling)
{
	struct wti_bag_item *item = (struct wti_bag_item *)wti_bag_find(bag, symbol);

	if (item) {
		item->count += count;
		item->last = when;
		return;
	}
	if (bag->count >= ceiling)
		return;
	if (wti_grow(&bag->items, bag->count + 1, &bag->capacity, ceiling))
		return;
	bag->items[bag->count++] = (struct wti_bag_item){symbol, count, when};
}
