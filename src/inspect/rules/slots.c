/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of rules, by object or parameter. */
#include <stdlib.h>
#include <string.h>

#include "slots.h"

#define SLOTS_MAX (1u << 20)

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
	if (*place)
		return slots->memory + (*place - 1) * bytes;
	if (!(slots->count & (slots->count - 1))) {
		void *bigger =
			realloc(slots->memory, (slots->count ? slots->count * 2 : 1) * bytes);

		if (!bigger)
			return NULL;
		slots->memory = bigger;
	}
	*place = ++slots->count;
	return memset(slots->memory + (*place - 1) * bytes, 0, bytes);
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
	free(slots->memory);
	wti_map_release(&slots->index);
	*slots = (struct wti_slots){0};
}
