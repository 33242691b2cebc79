/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols with how often they came, emptied again and again: what happened in a step, within a
 * call, since the last occasion. Each remembers when it came last. Beyond the ceiling nothing is
 * added.
 */
#ifndef WTI_LEARN_BAG_H
#define WTI_LEARN_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wti_bag_item {
	uint32_t symbol;
	uint32_t count;
	uint64_t last; /* when, as the caller counts */
};

struct wti_bag {
	struct wti_bag_item *items; /* in the order in which they came first */
	uint32_t count;
	size_t capacity;
};

/* Zeroed memory is an empty bag. */
void wti_bag_release(struct wti_bag *bag);
void wti_bag_add(struct wti_bag *bag, uint32_t symbol, uint32_t count, uint64_t when,
		 uint32_t ceiling);
void wti_bag_empty(struct wti_bag *bag);
const struct wti_bag_item *wti_bag_find(const struct wti_bag *bag, uint32_t symbol);

#endif
