/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps things, tallies and acts, and knows their ceilings. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/grow.h"
#include "base/secret.h"
#include "exactness.h"

#define THINGS_MAX (1u << 17)
#define TALLIES_MAX (1u << 20)
#define CALLS_MAX (1u << 14)
#define TEXT_MAX ((size_t)256 << 20)
#define ACTS_MAX ((uint64_t)8 << 20) /* of a run; 16 bytes each */
#define MOVES_MAX 8
#define VALUES_MAX (1u << 14)

const char *wti_world_text(struct wti_effects *fx, struct wti_buf *text)
{
	if (wti_buf_status(text) == WT_E_NOMEM)
		fx->failed = WT_E_NOMEM;
	return wti_buf_cstr(text);
}

void wti_world_init(struct wti_effects *fx)
{
	*fx = (struct wti_effects){0};
	wti_arena_init(&fx->arena, TEXT_MAX);
	wti_map_init(&fx->thing_index, THINGS_MAX);
	wti_map_init(&fx->tally_index, TALLIES_MAX);
	wti_map_init(&fx->staged, CALLS_MAX);
	wti_map_init(&fx->calls, CALLS_MAX);
	wti_map_init(&fx->value_index, VALUES_MAX);
}

void wti_effects_release(struct wti_effects *fx)
{
	for (size_t i = 0; i < fx->actor_count; i++)
		free(fx->actors[i].acts);
	free(fx->actors);
	free(fx->things);
	free(fx->tallies);
	free(fx->step_numbers);
	free(fx->step_ns);
	for (size_t i = 0; i < fx->value_count; i++)
		wti_quantiles_release(&fx->values[i].quantiles);
	free(fx->values);
	wti_map_release(&fx->thing_index);
	wti_map_release(&fx->tally_index);
	wti_map_release(&fx->staged);
	wti_map_release(&fx->calls);
	wti_map_release(&fx->value_index);
	wti_arena_release(&fx->arena);
	*fx = (struct wti_effects){0};
}

/* ---- Things ---------------------------------------------------------------------------------- */

#define NAME_MAX_BYTES 4096

/* Without what looks like a secret: names end up in files that are shared. */
static const char *masked(char out[NAME_MAX_BYTES + 1], const char *name)
{
	size_t bytes = strnlen(name, NAME_MAX_BYTES);

	memcpy(out, name, bytes);
	out[wti_secret_mask(out, bytes)] = 0;
	return out;
}

static bool may_hold_secret(enum wti_thing_type type)
{
	return type == WTI_THING_FILE || type == WTI_THING_PEER || type == WTI_THING_PROGRAM ||
	       type == WTI_THING_SYSTEM;
}

static uint64_t *thing_slot(struct wti_effects *fx, enum wti_thing_type type, const char *name)
{
	char key[4096 + 2];
	size_t bytes = strlen(name);

	bytes = bytes < sizeof(key) - 2 ? bytes : sizeof(key) - 2;
	key[0] = (char)('a' + type);
	memcpy(key + 1, name, bytes);
	return wti_map_text(&fx->thing_index, key, bytes + 1);
}

uint32_t wti_world_thing(struct wti_effects *fx, enum wti_thing_type type, const char *name,
			 const char *raw)
{
	char memory[NAME_MAX_BYTES + 1];
	const char *shown = may_hold_secret(type) ? masked(memory, name) : name;
	uint64_t *slot = thing_slot(fx, type, shown);
	struct wti_thing *thing;

	if (!slot) {
		fx->left_out_count++;
		return UINT32_MAX;
	}
	if (*slot)
		return (uint32_t)*slot - 1;
	if (wti_grow(&fx->things, fx->thing_count + 1, &fx->thing_capacity, THINGS_MAX)) {
		fx->failed = WT_E_NOMEM;
		return UINT32_MAX;
	}
	thing = &fx->things[fx->thing_count];
	*thing = (struct wti_thing){.type = type,
				    .name = wti_arena_text(&fx->arena, shown, strlen(shown))};
	masked(memory, raw);
	thing->raw = wti_arena_text(&fx->arena, memory, strlen(memory));
	if (!thing->name || !thing->raw) {
		fx->left_out_count++;
		return UINT32_MAX;
	}
	*slot = ++fx->thing_count;
	return (uint32_t)*slot - 1;
}

const struct wti_thing *wti_effects_thing(const struct wti_effects *fx, enum wti_thing_type type,
					  const char *name)
{
	char key[4096 + 2];
	size_t bytes = strlen(name);
	const uint64_t *slot;

	bytes = bytes < sizeof(key) - 2 ? bytes : sizeof(key) - 2;
	key[0] = (char)('a' + type);
	memcpy(key + 1, name, bytes);
	slot = wti_map_find_text(&fx->thing_index, key, bytes + 1);
	return slot && *slot ? &fx->things[*slot - 1] : NULL;
}

uint32_t wti_thing_now(const struct wti_effects *fx, uint32_t thing)
{
	for (int i = 0; i < MOVES_MAX && thing != UINT32_MAX && fx->things[thing].moved_to; i++)
		thing = fx->things[thing].moved_to - 1;
	return thing;
}

uint32_t wti_world_call(struct wti_effects *fx, const char *name)
{
	uint64_t *slot = wti_map_text(&fx->calls, name, strlen(name));

	if (!slot) {
		fx->left_out_count++;
		return UINT32_MAX;
	}
	if (!*slot)
		*slot = fx->calls.count;
	return WTI_EFFECT_CALL + (uint32_t)*slot - 1;
}

/* ---- Tallies --------------------------------------------------------------------------------- */

static uint64_t tally_key(uint32_t thing, uint32_t effect)
{
	return (uint64_t)thing << 32 | effect;
}

static uint32_t tally_of(struct wti_effects *fx, uint32_t thing, uint32_t effect)
{
	uint64_t *slot = wti_map_number(&fx->tally_index, tally_key(thing, effect));

	if (!slot) {
		fx->left_out_count++;
		return UINT32_MAX;
	}
	if (*slot)
		return (uint32_t)*slot - 1;
	if (wti_grow(&fx->tallies, fx->tally_count + 1, &fx->tally_capacity, TALLIES_MAX)) {
		fx->failed = WT_E_NOMEM;
		return UINT32_MAX;
	}
	fx->tallies[fx->tally_count] = (struct wti_tally){.thing = thing,
							  .effect = effect,
							  .step_min = UINT64_MAX,
							  .first_step = WTI_NO_STEP,
							  .next = fx->things[thing].first_tally};
	*slot = ++fx->tally_count;
	fx->things[thing].first_tally = (uint32_t)*slot;
	return (uint32_t)*slot - 1;
}

const struct wti_tally *wti_effects_tally(const struct wti_effects *fx, uint32_t thing,
					  uint32_t effect)
{
	const uint64_t *slot = wti_map_find_number(&fx->tally_index, tally_key(thing, effect));

	return slot && *slot ? &fx->tallies[*slot - 1] : NULL;
}

const struct wti_tally *wti_effects_first(const struct wti_effects *fx, uint32_t thing)
{
	uint32_t first = fx->things[thing].first_tally;

	return first ? &fx->tallies[first - 1] : NULL;
}

const struct wti_tally *wti_effects_next(const struct wti_effects *fx,
					 const struct wti_tally *tally)
{
	return tally->next ? &fx->tallies[tally->next - 1] : NULL;
}

static void add_site(struct wti_tally *tally, uint32_t stack, uint64_t count)
{
	for (size_t i = 0; i < WTI_SITES_MAX; i++) {
		struct wti_site *site = &tally->sites[i];

		if (!site->count)
			site->stack = stack;
		if (site->stack == stack) {
			site->count += count;
			return;
		}
	}
}

static void add_share(struct wti_tally *tally, uint32_t process, uint64_t count)
{
	for (size_t i = 0; process && i < WTI_SHARES_MAX; i++) {
		struct wti_share *share = &tally->shares[i];

		if (!share->count)
			share->process = process;
		if (share->process == process) {
			share->count += count;
			return;
		}
	}
}

/* The tally is one of those to be looked at when the step ends. */
static void touch(struct wti_effects_state *s, uint32_t index)
{
	struct wti_tally *tally = &s->fx->tallies[index];

	if (tally->current_index == s->fx->step_count + 1)
		return;
	if (wti_grow(&s->touched, s->touched_count + 1, &s->touched_capacity, WTI_NO_CEILING)) {
		s->fx->failed = WT_E_NOMEM;
		return;
	}
	tally->current_index = s->fx->step_count + 1;
	tally->current = 0;
	s->touched[s->touched_count++] = index;
}

void wti_world_add(struct wti_effects_state *s, uint32_t thing, uint32_t effect, uint64_t amount)
{
	uint32_t index = thing == UINT32_MAX || effect == UINT32_MAX
				 ? UINT32_MAX
				 : tally_of(s->fx, thing, effect);
	struct wti_tally *tally;
	struct wti_thing *it;

	if (index == UINT32_MAX || !amount)
		return;
	tally = &s->fx->tallies[index];
	it = &s->fx->things[thing];
	if (!it->is_touched)
		it->process = s->process;
	else if (it->process != s->process)
		it->process = 0;
	it->is_touched = true;
	if (!tally->total)
		tally->first_step = s->fx->step_count ? s->step : WTI_NO_STEP;
	tally->total += amount;
	touch(s, index);
	tally->current += amount;
	add_share(tally, s->process, amount);
	if (s->stack)
		add_site(tally, s->stack, amount);
}

void wti_world_stage(struct wti_effects_state *s, uint32_t thing, uint32_t effect)
{
	char key[WTI_STAGE_BYTES + 64];
	uint64_t *count;

	if (!*s->stage || wti_thing_exactness(s->fx->things[thing].type) != WTI_COMPARE_EXACT)
		return;
	snprintf(key, sizeof(key), "%s\t%s", s->stage, wti_effect_word(s->fx, effect));
	count = wti_map_text(&s->fx->staged, key, strlen(key));
	if (count)
		++*count;
	else
		s->fx->left_out_count++;
}

void wti_world_end_step(struct wti_effects_state *s, bool is_whole)
{
	for (size_t i = 0; i < s->touched_count; i++) {
		struct wti_tally *tally = &s->fx->tallies[s->touched[i]];

		if (!s->fx->step_count) {
			tally->before += tally->current;
			tally->first_step = WTI_NO_STEP;
		} else if (!is_whole) {
			tally->after += tally->current;
		} else if (tally->current) {
			tally->step_count++;
			if (tally->current < tally->step_min)
				tally->step_min = tally->current;
			if (tally->current > tally->step_max)
				tally->step_max = tally->current;
		}
		tally->current = 0;
		tally->current_index = 0;
	}
	s->touched_count = 0;
}

void wti_world_finish(struct wti_effects *fx)
{
	for (size_t i = 0; i < fx->tally_count; i++)
		if (fx->tallies[i].step_count < fx->whole_count ||
		    fx->tallies[i].step_min == UINT64_MAX)
			fx->tallies[i].step_min = 0;
}

static void merge_origins(struct wti_tally *into, const struct wti_tally *from)
{
	for (size_t i = 0; i < WTI_SHARES_MAX && from->shares[i].count; i++)
		add_share(into, from->shares[i].process, from->shares[i].count);
	for (size_t i = 0; i < WTI_SITES_MAX && from->sites[i].count; i++)
		add_site(into, from->sites[i].stack, from->sites[i].count);
}

static void move_tally(struct wti_effects_state *s, uint32_t index, uint32_t to)
{
	uint32_t target = tally_of(s->fx, to, s->fx->tallies[index].effect);
	struct wti_tally *from, *into;

	if (target == UINT32_MAX)
		return;
	touch(s, target);
	from = &s->fx->tallies[index];
	into = &s->fx->tallies[target];
	if (!into->total)
		into->first_step = from->first_step;
	into->total += from->total;
	into->before += from->before;
	into->current += from->current_index == s->fx->step_count + 1 ? from->current : 0;
	into->step_count += from->step_count;
	if (from->step_count && from->step_min < into->step_min)
		into->step_min = from->step_min;
	if (from->step_max > into->step_max)
		into->step_max = from->step_max;
	merge_origins(into, from);
}

/* Its making is no event of its own: it was made to be renamed. */
void wti_world_move(struct wti_effects_state *s, uint32_t from, uint32_t to)
{
	uint32_t index = s->fx->things[from].first_tally;

	while (index) {
		struct wti_tally *tally = &s->fx->tallies[index - 1];
		uint32_t next = tally->next;

		if (tally->effect != WTI_EFFECT_MADE && tally->effect != WTI_EFFECT_CHANGED &&
		    tally->total)
			move_tally(s, index - 1, to);
		tally = &s->fx->tallies[index - 1];
		tally->total = tally->before = tally->after = tally->current = 0;
		tally->step_count = tally->step_max = 0;
		tally->step_min = UINT64_MAX;
		memset(tally->sites, 0, sizeof(tally->sites));
		memset(tally->shares, 0, sizeof(tally->shares));
		index = next;
	}
}

/* ---- Other names ----------------------------------------------------------------------------- */

static void merge_tally(struct wti_effects *fx, uint32_t from, uint32_t to)
{
	uint32_t target = tally_of(fx, to, fx->tallies[from].effect);
	const struct wti_tally *mine = &fx->tallies[from];
	struct wti_tally *into;

	if (target == UINT32_MAX)
		return;
	mine = &fx->tallies[from];
	into = &fx->tallies[target];
	if (!into->total) {
		into->first_step = mine->first_step;
		into->step_min = mine->step_min;
	}
	into->total += mine->total;
	into->before += mine->before;
	into->after += mine->after;
	into->step_count += mine->step_count;
	if (mine->step_min < into->step_min)
		into->step_min = mine->step_min;
	if (mine->step_max > into->step_max)
		into->step_max = mine->step_max;
	merge_origins(into, mine);
}

/* One of several that is elsewhere must not be forgotten. */
static void keep_place(struct wti_thing *thing, const struct wti_thing *other)
{
	if (thing->place || !other->place)
		return;
	thing->place = other->place;
	thing->place_raw = other->place_raw;
}

static void merge_things(struct wti_effects *fx, uint32_t from, uint32_t to)
{
	for (uint32_t index = fx->things[from].first_tally; index;) {
		uint32_t next = fx->tallies[index - 1].next;

		merge_tally(fx, index - 1, to);
		fx->tallies[index - 1].total = 0;
		index = next;
	}
	if (fx->things[to].process != fx->things[from].process)
		fx->things[to].process = 0;
	keep_place(&fx->things[to], &fx->things[from]);
	for (size_t i = 0; i < fx->actor_count; i++)
		for (size_t j = 0; j < fx->actors[i].act_count; j++)
			if (fx->actors[i].acts[j].thing == from)
				fx->actors[i].acts[j].thing = to;
}

/* Only what both had: several at once are cheaper than one by one. */
bool wti_world_join(struct wti_effects *fx, uint32_t *into)
{
	for (uint32_t i = 0; i < fx->thing_count; i++) {
		if (into[i] == i)
			continue;
		for (uint32_t index = fx->things[i].first_tally; index;) {
			uint32_t next = fx->tallies[index - 1].next;

			merge_tally(fx, index - 1, into[i]);
			fx->tallies[index - 1].total = 0;
			index = next;
		}
		if (!fx->things[into[i]].permissions)
			fx->things[into[i]].permissions = fx->things[i].permissions;
		keep_place(&fx->things[into[i]], &fx->things[i]);
	}
	for (size_t i = 0; i < fx->actor_count; i++)
		for (size_t j = 0; j < fx->actors[i].act_count; j++)
			fx->actors[i].acts[j].thing = into[fx->actors[i].acts[j].thing];
	return !fx->failed;
}

bool wti_effects_rename(struct wti_effects *fx, uint32_t thing, const char *name)
{
	uint64_t *slot = thing_slot(fx, fx->things[thing].type, name);

	if (!slot)
		return false;
	if (*slot) {
		if (*slot - 1 != thing)
			merge_things(fx, thing, (uint32_t)*slot - 1);
		return !fx->failed;
	}
	fx->things[thing].name = wti_arena_text(&fx->arena, name, strlen(name));
	if (!fx->things[thing].name) {
		fx->things[thing].name = "";
		return false;
	}
	*slot = thing + 1;
	return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Extremes and mean of what is finite: one NaN must not hide the best of all others. */
static void add_finite(struct wti_value *it, double value)
{
	if (!isfinite(value))
		return;
	it->min = it->finite_count && it->min < value ? it->min : value;
	it->max = it->finite_count && it->max > value ? it->max : value;
	it->sum += value;
	it->finite_count++;
}

void wti_world_value(struct wti_effects *fx, const char *name, double value, bool is_counter)
{
	uint64_t *slot = wti_map_text(&fx->value_index, name, strlen(name));
	struct wti_value *it;

	if (!slot) {
		fx->left_out_count++;
		return;
	}
	if (!*slot) {
		if (wti_grow(&fx->values, fx->value_count + 1, &fx->value_capacity, VALUES_MAX)) {
			fx->failed = WT_E_NOMEM;
			return;
		}
		it = &fx->values[fx->value_count];
		*it = (struct wti_value){.name = wti_arena_text(&fx->arena, name, strlen(name)),
					 .is_counter = is_counter,
					 .first = value};
		wti_quantiles_init(&it->quantiles);
		if (!it->name) {
			fx->left_out_count++;
			return;
		}
		*slot = ++fx->value_count;
	}
	it = &fx->values[*slot - 1];
	it->count++;
	it->last = value;
	add_finite(it, value);
	wti_quantiles_add(&it->quantiles, value);
	it->hash = XXH3_64bits_withSeed(&value, sizeof(value), it->hash);
}

/* ---- Acts ------------------------------------------------------------------------------------ */

void wti_world_act(struct wti_effects_state *s, uint32_t thing, uint32_t effect)
{
	struct wti_actor *actor = s->actor ? &s->fx->actors[s->actor - 1] : NULL;

	if (!actor || thing == UINT32_MAX || effect == UINT32_MAX)
		return;
	if (s->fx->act_count >= ACTS_MAX) {
		s->fx->order_is_cut = true;
		return;
	}
	if (wti_grow(&actor->acts, actor->act_count + 1, &actor->act_capacity, ACTS_MAX)) {
		s->fx->failed = WT_E_NOMEM;
		return;
	}
	actor->acts[actor->act_count++] =
		(struct wti_world_act){thing, effect, s->stack, (uint32_t)s->fx->step_count};
	s->fx->act_count++;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t wti_effects_step_number(const struct wti_effects *fx, uint64_t n)
{
	uint64_t count = fx->step_number_count;

	if (!count || !n)
		return (int64_t)n;
	return n <= count ? fx->step_numbers[n - 1]
			  : fx->step_numbers[count - 1] + (int64_t)(n - count);
}

int64_t wti_effects_step_ns(const struct wti_effects *fx, double share)
{
	size_t count = fx->step_time_count;
	int64_t *sorted, value;

	if (!count)
		return -1;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -1;
	memcpy(sorted, fx->step_ns, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_size);
	value = sorted[(size_t)(share * (double)(count - 1))];
	free(sorted);
	return value;
}
