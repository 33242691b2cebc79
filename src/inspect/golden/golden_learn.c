/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a golden: for everything that some run did, the range over all runs. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "golden_vary.h"

#define WORDS_MAX 4096 /* of one thing */

static void widen(struct wti_range *range, uint64_t value)
{
	if (value < range->low)
		range->low = value;
	if (value > range->high)
		range->high = value;
}

/* ---- One thing over all runs ----------------------------------------------------------------- */

struct learning {
	struct wti_golden *golden;
	struct wti_effects *runs;
	size_t count;
	struct wt_err *err;
};

static void learn_fact(const struct learning *l, struct wti_golden_fact *fact,
		       enum wti_thing_type type, const char *name)
{
	bool is_presence = wti_thing_exactness(type) == WTI_COMPARE_PRESENCE;

	for (size_t i = 0; i < l->count; i++) {
		const struct wti_effects *fx = &l->runs[i];
		const struct wti_thing *thing = wti_effects_thing(fx, type, name);
		const struct wti_tally *tally = wti_effects_tally_by_word(fx, thing, fact->word);
		uint64_t total = tally ? tally->total : 0;

		widen(&fact->total, is_presence ? total > 0 : total);
		if (is_presence || type == WTI_THING_KERNEL || !fx->step_count)
			continue;
		widen(&fact->step, tally ? tally->step_min : 0);
		widen(&fact->step, tally ? tally->step_max : 0);
	}
	if (fact->step.low == UINT64_MAX)
		fact->step.low = 0;
}

static bool has_word(const struct wti_golden_thing *thing, const char *word)
{
	for (size_t i = 0; i < thing->fact_count; i++)
		if (!strcmp(thing->facts[i].word, word))
			return true;
	return false;
}

static int add_word(const struct learning *l, struct wti_golden_thing *thing, const char *word)
{
	struct wti_golden_fact *fact;

	if (has_word(thing, word) || !wti_thing_keeps(thing->type, word))
		return 0;
	if (thing->fact_count == WORDS_MAX)
		return wti_err(l->err, WT_E_LIMIT, "too many different calls to '%s'", thing->name);
	if (wti_grow(&thing->facts, thing->fact_count + 1, &thing->fact_capacity, WORDS_MAX))
		return wti_err(l->err, WT_E_NOMEM, "out of memory");
	fact = &thing->facts[thing->fact_count++];
	*fact = (struct wti_golden_fact){.word = wti_golden_keep(l->golden, word),
					 .total = {UINT64_MAX, 0},
					 .step = {UINT64_MAX, 0}};
	learn_fact(l, fact, thing->type, thing->name);
	return 0;
}

static int by_word(const void *a, const void *b)
{
	const struct wti_golden_fact *x = a, *y = b;
	int i = wti_effect_by_word(x->word), j = wti_effect_by_word(y->word);

	if (i != j)
		return i < 0 ? 1 : j < 0 ? -1 : i - j;
	return strcmp(x->word, y->word);
}

/* Permissions and the way it came to be count only if they were the same in all runs. */
static void learn_traits(struct wti_golden_thing *thing, const struct wti_thing *seen,
			 bool is_first)
{
	uint32_t permissions = seen->permissions & ~WTI_UMASK_SET;

	if (is_first) {
		thing->permissions = permissions;
		thing->via = seen->via;
	} else if (thing->permissions != permissions) {
		thing->permissions = 0;
	}
	if (!is_first && thing->via && (!seen->via || strcmp(thing->via, seen->via)))
		thing->via = NULL;
}

static int learn_thing(const struct learning *l, struct wti_golden_thing *thing)
{
	size_t seen_count = 0;
	int r = 0;

	for (size_t i = 0; i < l->count && !r; i++) {
		const struct wti_effects *fx = &l->runs[i];
		const struct wti_thing *seen = wti_effects_thing(fx, thing->type, thing->name);

		if (!seen || !wti_golden_uses(fx, seen))
			continue;
		learn_traits(thing, seen, !seen_count++);
		for (const struct wti_tally *t = wti_effects_first(fx, wti_effects_index(fx, seen));
		     t && !r; t = wti_effects_next(fx, t))
			if (t->total)
				r = add_word(l, thing, wti_effect_word(fx, t->effect));
	}
	thing->is_optional = seen_count < l->count;
	if (thing->via)
		thing->via = wti_golden_keep(l->golden, thing->via);
	if (thing->fact_count)
		qsort(thing->facts, thing->fact_count, sizeof(*thing->facts), by_word);
	return r;
}

/* ---- All things ------------------------------------------------------------------------------ */

static int add_things(const struct learning *l, const struct wti_effects *fx, struct wti_map *known)
{
	struct wti_golden *golden = l->golden;
	char key[WTI_GOLDEN_KEY_BYTES];

	for (size_t i = 0; i < fx->thing_count; i++) {
		const struct wti_thing *thing = &fx->things[i];
		uint64_t *slot;

		if (!wti_golden_uses(fx, thing))
			continue;
		slot = wti_map_text(known, key,
				    wti_golden_thing_key(key, thing->type, thing->name));
		if (!slot)
			return wti_map_failed(known, l->err, "things for one golden");
		if (*slot)
			continue;
		*slot = 1;
		if (wti_grow(&golden->things, golden->thing_count + 1, &golden->thing_capacity,
			     WTI_GOLDEN_THINGS_MAX))
			return wti_err(l->err, WT_E_NOMEM, "out of memory");
		golden->things[golden->thing_count++] = (struct wti_golden_thing){
			.type = thing->type, .name = wti_golden_keep(golden, thing->name)};
	}
	return 0;
}

static int learn_things(const struct learning *l)
{
	struct wti_map known;
	int r = 0;

	wti_map_init(&known, WTI_GOLDEN_THINGS_MAX);
	for (size_t i = 0; i < l->count && !r; i++)
		r = add_things(l, &l->runs[i], &known);
	wti_map_release(&known);
	wti_golden_sort(l->golden);
	for (size_t i = 0; i < l->golden->thing_count && !r; i++)
		r = learn_thing(l, &l->golden->things[i]);
	return r;
}

static void learn_times(struct wti_golden *golden, const struct wti_effects *runs, size_t count)
{
	golden->step_ns = (struct wti_range){UINT64_MAX, 0};
	for (size_t i = 0; i < count; i++) {
		int64_t quiet_ns = wti_effects_step_ns(&runs[i], 0.25);

		if (quiet_ns > 0)
			widen(&golden->step_ns, (uint64_t)quiet_ns);
	}
	golden->has_times = golden->step_ns.high > 0;
}

/* Whether `order` has that way. */
static bool has_way(const struct wti_order *order, const struct wti_order *other,
		    const struct wti_way *way)
{
	for (size_t i = 0; i < order->way_count; i++) {
		const struct wti_way *mine = &order->ways[i];
		size_t j = 0;

		if (mine->when != way->when || mine->acts.count != way->acts.count ||
		    strcmp(mine->role, way->role))
			continue;
		while (j < way->acts.count && !strcmp(wti_order_text(order, mine->acts.tokens[j]),
						      wti_order_text(other, way->acts.tokens[j])))
			j++;
		if (j == way->acts.count)
			return true;
	}
	return false;
}

/* A way that not all runs went: who comes first decides, and there will be others. */
static void find_varying(struct wti_order *all, const struct wti_order *orders, size_t count)
{
	for (size_t i = 0; i < all->way_count; i++)
		for (size_t j = 0; j < count; j++)
			if (!has_way(&orders[j], all, &all->ways[i]))
				wti_order_vary(all, all->ways[i].role, all->ways[i].when);
}

/* Of a run that is too long for that, nothing is said of the order. */
static int learn_order(const struct learning *l)
{
	struct wti_order orders[WTI_GOLDEN_RUNS_MAX];
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < l->count; i++)
		if (l->runs[i].order_is_cut)
			return 0;
	for (; count < l->count && !r; count++) {
		wti_order_init(&orders[count]);
		r = wti_order_add(&orders[count], &l->runs[count], l->err);
		r = r ? r : wti_order_add(&l->golden->order, &l->runs[count], l->err);
	}
	if (!r)
		find_varying(&l->golden->order, orders, count);
	while (count)
		wti_order_release(&orders[--count]);
	return r;
}

static void drop_things(struct wti_golden *golden)
{
	for (size_t i = 0; i < golden->thing_count; i++)
		free(golden->things[i].facts);
	free(golden->things);
	golden->things = NULL;
	golden->thing_count = golden->thing_capacity = 0;
}

int wti_golden_learn(struct wti_golden *golden, struct wti_effects *runs, size_t count,
		     const struct wti_golden_options *options, struct wt_err *err)
{
	struct learning l = {golden, runs, count, err};
	bool any = false;
	int r;

	golden->name = wti_golden_keep(golden, options->name);
	golden->recorded = wti_golden_keep(golden, options->recorded ? options->recorded : "all");
	golden->arch = wti_golden_keep(golden, runs[0].arch);
	golden->run_count = count;
	golden->steps = (struct wti_range){UINT64_MAX, 0};
	for (size_t i = 0; i < count; i++)
		widen(&golden->steps, runs[i].step_count);
	if (options->with_times)
		learn_times(golden, runs, count);
	r = learn_things(&l);
	if (!r && wti_golden_unify(golden, runs, count, &any)) {
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	} else if (!r && any) {
		drop_things(golden);
		r = learn_things(&l);
	}
	r = r ? r : learn_order(&l);
	if (!r && golden->arena.status)
		r = wti_err(err, golden->arena.status, "out of memory");
	return r;
}
