/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of rules, by object or parameter. */
#include <stdlib.h>

#include "slots.h"

#define SLOTS_MAX ((1u << WTI_SLOT_SEGMENTS) - 1)

/* Segments double and never move. */
static char *slot_at(const struct wti_slots *slots, uint64_t place)
{
	unsigned segment = 63 - (unsigned)__builtin_clzll(place);

	return slots->segments[segment] + (place - (1ull << segment)) * slots->bytes;
}

static bool make_room(struct wti_slots *slots, uint64_t place)
{
	unsigned segment = 63 - (unsigned)__builtin_clzll(place);

	if (!slots->segments[segment])
		slots->segments[segment] = calloc(1ull << segment, slots->bytes);
	return slots->segments[segment];
}

void *wti_slot_find(const struct wti_slots *slots, uint64_t key)
{
	const uint64_t *place = wti_map_find_number(&slots->index, key);

	return place && *place ? slot_at(slots, *place) : NULL;
}

void *wti_slot(struct wti_slots *slots, uint64_t key, size_t bytes)
{
	uint64_t *place;

	if (!slots->index.ceiling)
		wti_map_init(&slots->index, SLOTS_MAX);
	if (!slots->bytes)
		slots->bytes = bytes;
	if (slots->bytes != bytes)
		return NULL;
	place = wti_map_number(&slots->index, key);
	if (!place)
		return NULL;
	if (!*place) {
		if (!make_room(slots, slots->count + 1))
			return NULL;
		*place = ++slots->count;
	}
	return slot_at(slots, *place);
}

void *wti_slot_of_object(struct wti_slots *slots, const struct wti_object *object, size_t bytes)
{
	return object ? wti_slot(slots, (uint64_t)object->stream << 32 | object->name, bytes)
		      : NULL;
}

/* The same three that make its key in the training's table. */
void *wti_slot_of_parameter(struct wti_slots *slots, const struct wti_parameter *parameter,
			    size_t bytes)
{
	if (!parameter)
		return NULL;
	return wti_slot(slots,
			(uint64_t)parameter->stream << 40 | (uint64_t)parameter->owner << 20 |
				parameter->name,
			bytes);
}

void wti_slots_release(struct wti_slots *slots)
{
	for (size_t i = 0; i < WTI_SLOT_SEGMENTS; i++)
		free(slots->segments[i]);
	wti_map_release(&slots->index);
	*slots = (struct wti_slots){0};
}
