/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of rules, by object or parameter. */
#include "slots.h"

#define SLOTS_MAX ((1u << 21) - 1)

void *wti_slot_find(const struct wti_slots *slots, uint64_t key)
{
	const uint64_t *place = wti_map_find_number(&slots->index, key);

	return place && *place ? wti_steady_at(&slots->memory, *place - 1, slots->memory.item_bytes)
			       : NULL;
}

void *wti_slot(struct wti_slots *slots, uint64_t key, size_t bytes)
{
	uint64_t *place;
	void *slot;

	if (!slots->index.ceiling) {
		wti_map_init(&slots->index, SLOTS_MAX);
		wti_steady_init(&slots->memory, bytes, SLOTS_MAX);
	}
	if (slots->memory.item_bytes != bytes)
		return NULL;
	place = wti_map_number(&slots->index, key);
	if (!place)
		return NULL;
	if (*place)
		return wti_steady_at(&slots->memory, *place - 1, bytes);
	slot = wti_steady_add(&slots->memory);
	if (slot)
		*place = ++slots->count;
	return slot;
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

uint64_t wti_line_of(const struct wti_call *call)
{
	return ((uint64_t)call->stream << 32 | call->site) ^ (uint64_t)call->callee << 40;
}

void wti_slots_release(struct wti_slots *slots)
{
	wti_steady_release(&slots->memory);
	wti_map_release(&slots->index);
	*slots = (struct wti_slots){0};
}
