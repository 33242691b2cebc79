/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows temporary files by their lives: made as mkstemp() and mkdtemp() make theirs, and gone at
 * the end. That the letters they drew look like a word was chance (classes.c takes it for one).
 * Others make theirs with the permissions of what they become: new, gone at the end, and with a
 * name that ends as mkstemp() ends it.
 */
#include <ctype.h>
#include <string.h>

#include "model.h"

#define DRAWN 6
#define RENAMED_MAX (1u << 17)

static bool may_be_random(const char *base)
{
	size_t bytes = strcspn(base, ".");

	return bytes >= 6 && bytes <= 16 &&
	       strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
		       bytes;
}

/* The six letters and digits behind the last separator; NULL: it does not end so. */
static const char *drawn_tail(const char *base)
{
	size_t bytes = strlen(base);
	const char *tail = bytes > DRAWN + 1 ? base + bytes - DRAWN : NULL;

	if (!tail || !strchr("._-", tail[-1]))
		return NULL;
	for (size_t i = 0; i < DRAWN; i++)
		if (!isalnum((unsigned char)tail[i]))
			return NULL;
	return tail;
}

/* Where what was drawn begins in its name; NULL: it was none. */
static const char *temporary_part(const struct wti_thing *thing)
{
	const char *slash = strrchr(thing->name, '/');

	if (!(thing->is_gone || thing->moved_to) || thing->type != WTI_THING_FILE || !slash)
		return NULL;
	if (thing->is_made_as_temp && may_be_random(slash + 1))
		return slash + 1;
	return thing->is_made_alone ? drawn_tail(slash + 1) : NULL;
}

/* The new name, kept; NULL: out of memory. */
static const char *rename_thing(struct wti_effects_state *s, uint32_t thing)
{
	struct wti_effects *fx = s->fx;
	const char *old = fx->things[thing].name, *part = temporary_part(&fx->things[thing]);
	const char *dot = strchr(part, '.'), *name;

	wti_buf_clear(&s->text);
	wti_buf_append(&s->text, old, (size_t)(part - old));
	wti_buf_printf(&s->text, "<temp>%s", dot ? dot : "");
	name = wti_arena_text(&fx->arena, wti_world_text(fx, &s->text), s->text.bytes);
	return name && wti_effects_rename(fx, thing, name) ? name : NULL;
}

void wti_world_temporary(struct wti_effects_state *s)
{
	struct wti_effects *fx = s->fx;
	struct wti_map renamed; /* old name, by its address: the new one's */

	wti_map_init(&renamed, RENAMED_MAX);
	for (uint32_t i = 0; i < fx->thing_count; i++) {
		uint64_t *slot;

		if (!temporary_part(&fx->things[i]))
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
