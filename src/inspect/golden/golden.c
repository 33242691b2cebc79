/* SPDX-License-Identifier: Apache-2.0 */
/* What a golden is made of, and how exactly it holds a run to each sort of thing. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

/* ---- What is compared ------------------------------------------------------------------------ */

enum wti_compare wti_golden_compares(enum wti_thing_type type)
{
	switch (type) {
	case WTI_THING_FILE:
	case WTI_THING_PEER:
	case WTI_THING_PROGRAM:
	case WTI_THING_PROCESS:
	case WTI_THING_CONSOLE:
		return WTI_COMPARE_EXACT;
	case WTI_THING_LIBRARY:
	case WTI_THING_CODE:
	case WTI_THING_SYSTEM:
		return WTI_COMPARE_PRESENCE;
	case WTI_THING_KERNEL:
		return WTI_COMPARE_LIMIT;
	default:
		return WTI_COMPARE_NOT;
	}
}

/* Of libraries and the system's files only that they were used; of the console only how much. */
bool wti_golden_keeps(enum wti_thing_type type, const char *word)
{
	switch (type) {
	case WTI_THING_LIBRARY:
		return !strcmp(word, "loaded");
	case WTI_THING_CODE:
	case WTI_THING_SYSTEM:
		return !strcmp(word, "opened");
	case WTI_THING_CONSOLE:
		return !strcmp(word, "written_bytes");
	default:
		return wti_golden_compares(type) != WTI_COMPARE_NOT;
	}
}

/* ---- Keys and ranges ------------------------------------------------------------------------- */

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

void wti_range_text(struct wti_buf *out, struct wti_range range)
{
	if (range.low == range.high)
		wti_buf_printf(out, "%llu", (unsigned long long)range.low);
	else
		wti_buf_printf(out, "%llu..%llu", (unsigned long long)range.low,
			       (unsigned long long)range.high);
}

bool wti_range_parse(const char *text, struct wti_range *ret_range)
{
	const char *dots = strstr(text, "..");
	struct wti_range range;
	char low[24];

	if (!dots || dots - text >= (ptrdiff_t)sizeof(low))
		return false;
	memcpy(low, text, (size_t)(dots - text));
	low[dots - text] = 0;
	if (!wti_parse_u64(low, &range.low) || !wti_parse_u64(dots + 2, &range.high) ||
	    range.low > range.high)
		return false;
	*ret_range = range;
	return true;
}
