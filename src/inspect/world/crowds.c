/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows when files are a crowd: a data set, a folder full of outputs. Nobody reviews ten thousand
 * names; how many there are, and what was done to all of them, is said once.
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define CROWD_MIN 65
#define CROWDS_MAX (1u << 16)

/* Which effects there were on it: files with the same are alike. */
static uint64_t effects_of(const struct wti_effects *fx, uint32_t thing)
{
	uint64_t effects = 0;

	for (const struct wti_tally *t = wti_effects_first(fx, thing); t;
	     t = wti_effects_next(fx, t))
		if (t->total && t->effect < WTI_EFFECT_COUNT)
			effects |= (uint64_t)1 << t->effect;
	return effects;
}

/* The folder, a star, and the extension if there is one. */
static void name_crowd(struct wti_buf *out, const char *name)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');

	wti_buf_clear(out);
	if (slash)
		wti_buf_append(out, name, (size_t)(slash - name) + 1);
	wti_buf_text(out, "*");
	if (dot && dot[1])
		wti_buf_text(out, dot);
}

static uint64_t *crowd_of(struct wti_effects_state *s, struct wti_map *crowds, uint32_t thing)
{
	const struct wti_thing *it = &s->fx->things[thing];
	uint64_t effects = effects_of(s->fx, thing);

	if (it->type != WTI_THING_FILE || !effects)
		return NULL;
	name_crowd(&s->text, it->name);
	wti_buf_byte(&s->text, '\n');
	wti_buf_append(&s->text, &effects, sizeof(effects));
	if (wti_buf_status(&s->text))
		return NULL;
	return wti_map_text(crowds, (const char *)s->text.data, s->text.bytes);
}

static void add_files(struct wti_effects_state *s, uint32_t thing)
{
	s->process = 0;
	s->stack = 0;
	wti_world_add(s, thing, WTI_EFFECT_FILES, 1);
}

/* Members of crowds go to the thing that stands for all of them. */
static bool gather(struct wti_effects_state *s, struct wti_map *crowds, uint32_t *into,
		   uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t *members = crowd_of(s, crowds, i);
		uint32_t crowd;

		into[i] = i;
		if (!members || *members < CROWD_MIN)
			continue;
		name_crowd(&s->text, s->fx->things[i].name);
		crowd = wti_world_thing(s->fx, WTI_THING_FILE, wti_world_text(s->fx, &s->text),
					wti_world_text(s->fx, &s->text));
		if (crowd == UINT32_MAX || crowd < count)
			continue;
		into[i] = crowd;
		add_files(s, crowd);
		any = true;
	}
	return any;
}

void wti_world_crowds(struct wti_effects_state *s)
{
	uint32_t count = (uint32_t)s->fx->thing_count;
	uint32_t *into = malloc(2 * ((size_t)count + 1) * sizeof(*into));
	struct wti_map crowds;

	if (!into) {
		s->fx->failed = WT_E_NOMEM;
		return;
	}
	wti_map_init(&crowds, CROWDS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *members = crowd_of(s, &crowds, i);

		if (members)
			++*members;
	}
	if (gather(s, &crowds, into, count)) {
		for (uint32_t i = count; i < s->fx->thing_count; i++)
			into[i] = i; /* there are no more crowds than members */
		wti_world_join(s->fx, into);
	}
	wti_map_release(&crowds);
	free(into);
}
