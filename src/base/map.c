/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries lie in order of insertion; a table of slots, at most half full, holds their indexes plus
 * one (0: empty) and is probed linearly. Nothing is ever removed, so there are no tombstones.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "err.h"

#define FIRST_CAPACITY 16
/* An index and one must fit into a slot, and twice as many slots into a size_t. */
#define CEILING_MAX ((size_t)UINT32_MAX / 2)

void wti_map_init(struct wti_map *map, size_t ceiling)
{
	*map = (struct wti_map){.ceiling = ceiling < CEILING_MAX ? ceiling : CEILING_MAX};
}

void wti_map_release(struct wti_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->count; i++)
		free((char *)map->entries[i].text);
	free(map->entries);
	free(map->slots);
	wti_map_init(map, map->ceiling);
}

/* Spreads every bit of the key over the whole hash: the slot is taken from its low bits. */
static uint64_t hash_number(uint64_t key)
{
	key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93;
	key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93;
	return key ^ (key >> 32);
}

static bool same(const struct wti_map_entry *a, const struct wti_map_entry *b)
{
	if (a->hash != b->hash || a->bytes != b->bytes || !a->text != !b->text)
		return false;
	return a->text ? !memcmp(a->text, b->text, a->bytes) : a->key == b->key;
}

/* The slot that holds the entry, or the empty one where it belongs. */
static uint32_t *find_slot(const struct wti_map *map, const struct wti_map_entry *wanted)
{
	size_t mask = map->slot_count - 1;
	size_t at = wanted->hash & mask;

	while (map->slots[at] && !same(&map->entries[map->slots[at] - 1], wanted))
		at = (at + 1) & mask;
	return &map->slots[at];
}

static const uint64_t *find(const struct wti_map *map, const struct wti_map_entry *wanted)
{
	uint32_t slot = map->slot_count ? *find_slot(map, wanted) : 0;

	return slot ? &map->entries[slot - 1].value : NULL;
}

static bool grow(struct wti_map *map)
{
	size_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
	size_t slot_count = capacity * 2;
	struct wti_map_entry *entries;
	uint32_t *slots;

	entries = reallocarray(map->entries, capacity, sizeof(*entries));
	if (!entries)
		return false;
	map->entries = entries;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return false;
	free(map->slots);
	map->slots = slots;
	map->slot_count = slot_count;
	map->capacity = capacity;
	for (size_t i = 0; i < map->count; i++)
		*find_slot(map, &entries[i]) = (uint32_t)i + 1;
	return true;
}

static uint64_t *find_or_add(struct wti_map *map, struct wti_map_entry *wanted)
{
	struct wti_map_entry *entry;
	char *text;

	if (map->count == map->capacity) {
		uint64_t *value = (uint64_t *)find(map, wanted);

		if (value || map->count >= map->ceiling)
			return value;
		if (!grow(map)) {
			map->failed = true;
			return NULL;
		}
	}
	uint32_t *slot = find_slot(map, wanted);
	if (*slot)
		return &map->entries[*slot - 1].value;
	if (map->count >= map->ceiling)
		return NULL;
	if (wanted->text) {
		text = malloc(wanted->bytes + 1);
		if (!text) {
			map->failed = true;
			return NULL;
		}
		memcpy(text, wanted->text, wanted->bytes);
		text[wanted->bytes] = 0;
		wanted->text = text;
	}
	entry = &map->entries[map->count++];
	*entry = *wanted;
	*slot = (uint32_t)map->count;
	return &entry->value;
}

int wti_map_failed(const struct wti_map *map, struct wt_err *err, const char *what)
{
	if (map->count < map->ceiling)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_err(err, WT_E_LIMIT, "too many %s: more than %zu", what, map->ceiling);
}

static struct wti_map_entry number_entry(uint64_t key)
{
	return (struct wti_map_entry){.hash = hash_number(key), .key = key};
}

static struct wti_map_entry text_entry(const char *text, size_t bytes)
{
	/* An entry is one of text because it has one, be it empty. */
	return (struct wti_map_entry){
		.hash = XXH3_64bits(text, bytes), .text = text ? text : "", .bytes = bytes};
}

uint64_t *wti_map_number(struct wti_map *map, uint64_t key)
{
	struct wti_map_entry wanted = number_entry(key);

	return find_or_add(map, &wanted);
}

uint64_t *wti_map_text(struct wti_map *map, const char *text, size_t bytes)
{
	struct wti_map_entry wanted = text_entry(text, bytes);

	return find_or_add(map, &wanted);
}

const uint64_t *wti_map_find_number(const struct wti_map *map, uint64_t key)
{
	struct wti_map_entry wanted = number_entry(key);

	return find(map, &wanted);
}

const uint64_t *wti_map_find_text(const struct wti_map *map, const char *text, size_t bytes)
{
	struct wti_map_entry wanted = text_entry(text, bytes);

	return find(map, &wanted);
}
