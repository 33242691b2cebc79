/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows when a process looks for a program: it asks for the same name in one folder after the
 * other and finds it in one of programs. The folders before are the machine's $PATH, not what the
 * program does. Whether the program is executed afterwards makes no difference: what was a search
 * in one run is a search in the next.
 */
#include <string.h>

#include "base/grow.h"
#include "model.h"

#define LOOKUPS_MAX (1u << 20)

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool is_among_programs(const char *name)
{
	const char *base = base_of(name);
	size_t bytes = (size_t)(base - name);

	return (bytes >= 5 && !memcmp(base - 5, "/bin/", 5)) ||
	       (bytes >= 6 && !memcmp(base - 6, "/sbin/", 6));
}

/* The search is over: its look-ups are given back, counted as a search or not. */
static void end_search(struct wti_effects_state *s, struct wti_actor *process, bool is_found)
{
	while (process->lookup) {
		uint32_t index = process->lookup - 1;

		if (is_found)
			s->fx->things[s->lookups[index].thing].searched_count++;
		process->lookup = s->lookups[index].before;
		s->lookups[index].before = s->free_lookup;
		s->free_lookup = index + 1;
	}
}

static void add_lookup(struct wti_effects_state *s, struct wti_actor *process, uint32_t thing)
{
	uint32_t index = s->free_lookup ? s->free_lookup - 1 : (uint32_t)s->lookup_count;

	if (s->free_lookup) {
		s->free_lookup = s->lookups[index].before;
	} else {
		if (wti_grow(&s->lookups, s->lookup_count + 1, &s->lookup_capacity, LOOKUPS_MAX))
			return;
		s->lookup_count++;
	}
	s->lookups[index] = (struct wti_lookup){.thing = thing, .before = process->lookup};
	process->lookup = index + 1;
}

void wti_searches_look(struct wti_effects_state *s, uint32_t thing, bool is_there)
{
	struct wti_actor *process = &s->fx->actors[s->process - 1];
	const char *name = s->fx->things[thing].name;

	if (process->lookup) {
		const struct wti_lookup *last = &s->lookups[process->lookup - 1];

		if (strcmp(base_of(s->fx->things[last->thing].name), base_of(name)))
			end_search(s, process, false);
	}
	if (!is_there)
		add_lookup(s, process, thing);
	else
		end_search(s, process,
			   s->fx->things[thing].type == WTI_THING_PROGRAM ||
				   is_among_programs(name));
}

static uint64_t times_looked(const struct wti_effects *fx, uint32_t thing)
{
	uint64_t count = 0;

	for (const struct wti_tally *t = wti_effects_first(fx, thing); t;
	     t = wti_effects_next(fx, t)) {
		if (t->total && !strstr(wti_effect_word(fx, t->effect), " ENOENT"))
			return UINT64_MAX;
		count += t->total;
	}
	return count;
}

void wti_searches_drop(struct wti_effects *fx)
{
	for (uint32_t i = 0; i < fx->thing_count; i++) {
		struct wti_thing *thing = &fx->things[i];

		if (thing->type == WTI_THING_FILE && thing->searched_count &&
		    times_looked(fx, i) == thing->searched_count)
			thing->type = WTI_THING_CACHE;
	}
}
