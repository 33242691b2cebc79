/* SPDX-License-Identifier: Apache-2.0 */
/* What a golden is made of. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((size_t)256 << 20)

void wti_golden_init(struct wti_golden *golden)
{
	*golden = (struct wti_golden){.format = WTI_GOLDEN_FORMAT,
				      .slower = WTI_GOLDEN_SLOWER,
				      .recorded = "all",
				      .name = ""};
	wti_arena_init(&golden->arena, MEMORY_MAX);
	wti_order_init(&golden->order);
}

void wti_golden_release(struct wti_golden *golden)
{
	for (size_t i = 0; i < golden->thing_count; i++)
		free(golden->things[i].facts);
	free(golden->things);
	wti_order_release(&golden->order);
	wti_arena_release(&golden->arena);
	*golden = (struct wti_golden){0};
}

static int compare(const struct wti_golden_thing *thing, enum wti_thing_type type, const char *name)
{
	if (thing->type != type)
		return thing->type < type ? -1 : 1;
	return strcmp(thing->name, name);
}

const struct wti_golden_thing *wti_golden_thing(const struct wti_golden *golden,
						enum wti_thing_type type, const char *name)
{
	size_t low = 0, high = golden->thing_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(&golden->things[middle], type, name);

		if (!order)
			return &golden->things[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

size_t wti_golden_thing_key(char key[WTI_GOLDEN_KEY_BYTES], enum wti_thing_type type,
			    const char *name)
{
	int bytes = snprintf(key, WTI_GOLDEN_KEY_BYTES, "thing %u %s", type, name);

	return bytes < WTI_GOLDEN_KEY_BYTES ? (size_t)bytes : WTI_GOLDEN_KEY_BYTES - 1;
}

size_t wti_golden_order_key(char key[WTI_GOLDEN_KEY_BYTES], const char *role, enum wti_when when)
{
	int bytes = snprintf(key, WTI_GOLDEN_KEY_BYTES, "order %u %s", when, role);

	return bytes < WTI_GOLDEN_KEY_BYTES ? (size_t)bytes : WTI_GOLDEN_KEY_BYTES - 1;
}
