/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows temporary files by their lives: made as mkstemp() and mkdtemp() make theirs, and gone at
 * the end. That the letters they drew look like a word was chance (classes.c takes it for one).
 */
#include <string.h>

#include "model.h"

#define RENAMED_MAX (1u << 17)

static bool may_be_random(const char *base)
{
	size_t bytes = strcspn(base, ".");

	return bytes >= 6 && bytes <= 16 &&
	       strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
		       bytes;
}

static bool was_temporary(const struct wti_thing *thing)
{
	const char *slash = strrchr(thing->name, '/');

	return thing->is_made_as_temp && (thing->is_gone || thing->moved_to) &&
	       thing->type == WTI_THING_FILE && slash && may_be_random(slash + 1);
}

/* The new name, kept; NULL: out of memory. */
static const char *rename_thing(struct wti_effects_state *s, uint32_t thing)
{
	struct wti_effects *fx = s->fx;
	const char *old = fx->things[thing].name, *slash = strrchr(old, '/');
	const char *dot = strchr(slash, '.'), *name;

	wti_buf_clear(&s->text);
	wti_buf_append(&s->text, old, (size_t)(slash - old) + 1);
	wti_buf_printf(&s->text, "<temp>%s", dot ? dot : "");
	name = wti_arena_text(&fx->arena, wti_model_text(fx, &s->text), s->text.bytes);
	return name && wti_effects_rename(fx, thing, name) ? name : NULL;
}

void wti_model_temporary(struct wti_effects_state *s)
{
	struct wti_effects *fx = s->fx;
	struct wti_map renamed; /* old name, by its address: the new one's */

	wti_map_init(&renamed, RENAMED_MAX);
	for (uint32_t i = 0; i < fx->thing_count; i++) {
		uint64_t *slot;

		if (!was_temporary(&fx->things[i]))
			continue;
		slot = wti_map_number(&renamed, (uintptr_t)fx->things[i].name);
		if (slot)
			*slot = (uintptr_t)rename_thing(s, i);
		if (!slot || !*slot)
			fx->failed = WT_E_NOMEM;
	}
	for (uint32_t i = 0; i < fx->thing_count && renamed.count; i++) {
		const uint64_t *slot = wti_map_find_number(&renamed, (uintptr_t)fx->things[i].via);

		if (fx->things[i].via && slot && *slot)
			fx->things[i].via = (const char *)(uintptr_t)*slot;
	}
	wti_map_release(&renamed);
}
