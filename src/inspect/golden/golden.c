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

const char *wti_golden_keep_bytes(struct wti_golden *golden, const char *text, size_t bytes)
{
	const char *copy = text ? wti_arena_text(&golden->arena, text, bytes) : NULL;

	return copy ? copy : "";
}

const char *wti_golden_keep(struct wti_golden *golden, const char *text)
{
	return wti_golden_keep_bytes(golden, text, text ? strlen(text) : 0);
}

/* ---- Things ---------------------------------------------------------------------------------- */

static int compare(const struct wti_golden_thing *thing, enum wti_thing_type type, const char *name)
{
	if (thing->type != type)
		return thing->type < type ? -1 : 1;
	return strcmp(thing->name, name);
}

static int by_name(const void *a, const void *b)
{
	const struct wti_golden_thing *other = b;

	return compare(a, other->type, other->name);
}

void wti_golden_sort(struct wti_golden *golden)
{
	if (golden->thing_count)
		qsort(golden->things, golden->thing_count, sizeof(*golden->things), by_name);
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

bool wti_golden_uses(const struct wti_effects *fx, const struct wti_thing *thing)
{
	for (const struct wti_tally *t = wti_effects_first(fx, wti_effects_index(fx, thing)); t;
	     t = wti_effects_next(fx, t))
		if (t->total && wti_thing_keeps(thing->type, wti_effect_word(fx, t->effect)))
			return true;
	return false;
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
