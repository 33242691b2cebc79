/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers things that are known by two numbers: the first pair is 1, the next new one 2. Two words
 * are enough for whatever a trace calls a thing by (stream and symbol, line and function), so no
 * caller has to squeeze parts into bits and to bound them for it. There is a ceiling.
 */
#ifndef WTI_BASE_PAIRS_H
#define WTI_BASE_PAIRS_H

#include "map.h"

struct wti_pair {
	uint64_t first, second;
};

struct wti_pairs {
	struct wti_pair *items; /* by number, from 1: items[number - 1] */
	size_t count;
	size_t capacity;
	struct wti_map index; /* of the mixed words: number */
};

void wti_pairs_init(struct wti_pairs *pairs, size_t ceiling);
void wti_pairs_release(struct wti_pairs *pairs);
/* 0: it is not there. */
size_t wti_pairs_find(const struct wti_pairs *pairs, struct wti_pair pair);
/* 0: no room, or out of memory. */
size_t wti_pairs_add(struct wti_pairs *pairs, struct wti_pair pair);

#endif
