/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from 64-bit keys or byte strings to a 64-bit value, open addressing, with a ceiling.
 * Strings are copied into the map. Iteration is in order of insertion, so output is stable.
 */
#ifndef WTI_BASE_MAP_H
#define WTI_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

struct wti_map_entry {
	uint64_t hash;
	uint64_t key;     /* of number maps */
	const char *text; /* of string maps, NUL-terminated */
	size_t bytes;
	uint64_t value;
};

struct wti_map {
	struct wti_map_entry *entries; /* in order of insertion */
	uint32_t *slots;
	size_t count;
	size_t capacity;
	size_t slot_count; /* a power of two */
	size_t ceiling;    /* of entries */
	bool failed;       /* memory ran out, once: something is not in it */
};

void wti_map_init(struct wti_map *map, size_t ceiling);
void wti_map_release(struct wti_map *map);
/* The entry's value slot, made with 0 if absent; NULL when full or out of memory. */
uint64_t *wti_map_number(struct wti_map *map, uint64_t key);
uint64_t *wti_map_text(struct wti_map *map, const char *text, size_t bytes);
/* Says why there was none: WT_E_LIMIT, "too many <what>", or WT_E_NOMEM. */
int wti_map_failed(const struct wti_map *map, struct wt_err *err, const char *what);
/* NULL if absent. */
const uint64_t *wti_map_find_number(const struct wti_map *map, uint64_t key);
const uint64_t *wti_map_find_text(const struct wti_map *map, const char *text, size_t bytes);

/* For values that are never 0: 0 if absent. */
static inline uint64_t wti_map_get(const struct wti_map *map, uint64_t key)
{
	const uint64_t *slot = wti_map_find_number(map, key);

	return slot ? *slot : 0;
}

/* False: full, or out of memory. */
static inline bool wti_map_put(struct wti_map *map, uint64_t key, uint64_t value)
{
	uint64_t *slot = wti_map_number(map, key);

	if (slot)
		*slot = value;
	return slot;
}

#endif
