/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs in order of arrival; a map from their mixed words to the place. */
#include "pairs.h"

#include <stdlib.h>

#include "grow.h"

void wti_pairs_init(struct wti_pairs *pairs, size_t ceiling)
{
	*pairs = (struct wti_pairs){0};
	wti_map_init(&pairs->index, ceiling);
}

void wti_pairs_release(struct wti_pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->items);
	wti_map_release(&pairs->index);
	*pairs = (struct wti_pairs){0};
}

/* Odd factors, so that no word is lost; that two pairs meet is allowed for. */
static uint64_t mix(struct wti_pair pair)
{
	uint64_t mixed = pair.first * 0x9e3779b97f4a7c15u ^ pair.second;

	mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
	return mixed ^ mixed >> 32;
}

static bool is_at(const struct wti_pairs *pairs, uint64_t number, struct wti_pair pair)
{
	const struct wti_pair *item = &pairs->items[number - 1];

	return item->first == pair.first && item->second == pair.second;
}

/* Pairs that mix to one key stand under the keys that follow it. */
size_t wti_pairs_find(const struct wti_pairs *pairs, struct wti_pair pair)
{
	const uint64_t *number;
	uint64_t key = mix(pair);

	while ((number = wti_map_find_number(&pairs->index, key++)) && *number)
		if (is_at(pairs, *number, pair))
			return (size_t)*number;
	return 0;
}

size_t wti_pairs_add(struct wti_pairs *pairs, struct wti_pair pair)
{
	uint64_t key = mix(pair), *number;

	while ((number = wti_map_number(&pairs->index, key++)) && *number)
		if (is_at(pairs, *number, pair))
			return (size_t)*number;
	if (!number ||
	    wti_grow(&pairs->items, pairs->count + 1, &pairs->capacity, pairs->index.ceiling))
		return 0;
	pairs->items[pairs->count++] = pair;
	return (size_t)(*number = pairs->count);
}
