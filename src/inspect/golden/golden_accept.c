/* SPDX-License-Identifier: Apache-2.0 */
/* Takes over into a golden what runs deviate in, and leaves alone all that they do not. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "golden.h"

static bool is_off(const struct wti_map *deviating, const char *key, size_t bytes)
{
	return wti_map_find_text(deviating, key, bytes) != NULL;
}

static int copy_thing(struct wti_golden *golden, struct wti_golden_thing *into,
		      const struct wti_golden_thing *from)
{
	struct wti_golden_fact *facts = calloc(from->fact_count + 1, sizeof(*facts));

	if (!facts)
		return WT_E_NOMEM;
	*into = *from;
	into->name = wti_golden_keep(golden, from->name);
	into->via = from->via ? wti_golden_keep(golden, from->via) : NULL;
	into->facts = facts;
	into->fact_capacity = from->fact_count + 1;
	for (size_t i = 0; i < from->fact_count; i++) {
		facts[i] = from->facts[i];
		facts[i].word = wti_golden_keep(golden, from->facts[i].word);
	}
	return 0;
}

/* Old things that do not deviate, then those of the fresh golden that do. */
static int accept_things(struct wti_golden *golden, const struct wti_golden *fresh,
			 const struct wti_map *deviating)
{
	size_t most = golden->thing_count + fresh->thing_count, count = 0;
	struct wti_golden_thing *things = calloc(most + 1, sizeof(*things));
	char key[WTI_GOLDEN_KEY_BYTES];
	int r = things ? 0 : WT_E_NOMEM;

	for (size_t i = 0; i < golden->thing_count && !r; i++) {
		struct wti_golden_thing *thing = &golden->things[i];

		if (is_off(deviating, key, wti_golden_thing_key(key, thing->type, thing->name)))
			free(thing->facts);
		else
			things[count++] = *thing;
		thing->facts = NULL;
	}
	for (size_t i = 0; i < fresh->thing_count && !r; i++) {
		const struct wti_golden_thing *thing = &fresh->things[i];

		if (is_off(deviating, key, wti_golden_thing_key(key, thing->type, thing->name)))
			r = copy_thing(golden, &things[count++], thing);
	}
	if (!things)
		return r;
	free(golden->things);
	golden->things = things;
	golden->thing_count = count;
	golden->thing_capacity = most + 1;
	wti_golden_sort(golden);
	return r;
}

static int copy_way(struct wti_order *into, const struct wti_order *order,
		    const struct wti_way *way)
{
	struct wti_sequence acts = {0};
	int r = 0;

	for (size_t i = 0; i < way->acts.count && !r; i++)
		if (!wti_sequence_add(
			    &acts,
			    wti_order_token(into, wti_order_text(order, way->acts.tokens[i]))))
			r = WT_E_NOMEM;
	r = r ? r : wti_order_way(into, way->role, way->when, &acts, 0);
	free(acts.tokens);
	return r ? r : into->failed;
}

/* Acts on things that deviate have changed too: all of the order is the fresh one's then. */
static int accept_order(struct wti_golden *golden, const struct wti_golden *fresh)
{
	struct wti_order order;
	int r = 0;

	wti_order_init(&order);
	for (size_t i = 0; i < golden->order.varying.count; i++) {
		const char *key = golden->order.varying.entries[i].text;

		wti_order_vary(&order, key + 2, (enum wti_when)(key[0] - '0'));
	}
	for (size_t i = 0; i < fresh->order.way_count && !r; i++)
		r = copy_way(&order, &fresh->order, &fresh->order.ways[i]);
	if (r) {
		wti_order_release(&order);
		return r;
	}
	wti_order_release(&golden->order);
	golden->order = order;
	return 0;
}

int wti_golden_accept(struct wti_golden *golden, const struct wti_golden *fresh,
		      const struct wti_map *deviating, struct wt_err *err)
{
	int r = accept_things(golden, fresh, deviating);

	if (!r && deviating->count)
		r = accept_order(golden, fresh);
	if (is_off(deviating, "steps", 5))
		golden->steps = fresh->steps;
	if (is_off(deviating, "times", 5) && fresh->has_times)
		golden->step_ns = fresh->step_ns;
	if (!r && golden->arena.status)
		r = golden->arena.status;
	return r ? wti_err(err, r, "out of memory") : 0;
}
