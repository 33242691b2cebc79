/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks over chains. A chain is a sequence of operations of which each comes after the one
 * before: a queue that keeps its order is one, others are cut into as few as a greedy choice finds.
 * The clock of an operation says for each chain how much of it had to come before. So whether `a`
 * comes before `b` is one comparison.
 */
#include "races.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

enum {
	CHAINS_MAX = 4096,
	ENTRIES_MAX = 1 << 26, /* operations times chains: 256 MiB */
	OPEN_MAX = 1024,       /* accesses of one object that are compared with the next */
	RACES_MAX = 1000,
};

struct clocks {
	uint32_t *chain, *place; /* of each operation; places count from 1 */
	uint32_t *last;          /* of each chain: its last operation */
	uint32_t *times;         /* operations times chains */
	size_t chain_count;
};

struct open_access {
	const struct wti_replay_plan_access *access;
	uint32_t op;
};

struct open_list { /* of an object: accesses that nothing has followed yet */
	struct open_access *all;
	size_t count, capacity;
};

struct search {
	const struct wti_replay_plan *plan;
	struct clocks clocks;
	struct open_list *lists;
	struct wti_replay_races *races;
};

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* The chain that an operation continues: one whose last element comes before it; or a new one. */
static uint32_t choose_chain(const struct wti_replay_plan *plan, struct clocks *c, uint32_t op)
{
	const struct wti_replay_plan_op *about = &plan->ops[op];

	for (uint32_t i = 0; i < about->before_count; i++) {
		uint32_t before = plan->befores[about->before_first + i];

		if (c->place[before] && c->last[c->chain[before]] == before)
			return c->chain[before];
	}
	return (uint32_t)c->chain_count;
}

/* False: there are too many chains. */
static bool make_chains(const struct wti_replay_plan *plan, struct clocks *c)
{
	for (size_t i = 0; i < plan->serial_count; i++) {
		uint32_t op = plan->serial[i], chain = choose_chain(plan, c, op);

		if (chain == CHAINS_MAX)
			return false;
		c->place[op] = chain < c->chain_count ? c->place[c->last[chain]] + 1 : 1;
		c->chain_count += chain == c->chain_count;
		c->chain[op] = chain;
		c->last[chain] = op;
	}
	return c->chain_count * plan->op_count <= ENTRIES_MAX;
}

static void set_times(const struct wti_replay_plan *plan, struct clocks *c)
{
	for (size_t i = 0; i < plan->serial_count; i++) {
		uint32_t op = plan->serial[i];
		const struct wti_replay_plan_op *about = &plan->ops[op];
		uint32_t *own = c->times + op * c->chain_count;

		for (uint32_t k = 0; k < about->before_count; k++) {
			const uint32_t *other =
				c->times + plan->befores[about->before_first + k] * c->chain_count;

			for (size_t n = 0; n < c->chain_count; n++)
				own[n] = other[n] > own[n] ? other[n] : own[n];
		}
		own[c->chain[op]] = c->place[op];
	}
}

static bool comes_before(const struct clocks *c, uint32_t first, uint32_t second)
{
	return c->times[second * c->chain_count + c->chain[first]] >= c->place[first];
}

static int make_clocks(const struct wti_replay_plan *plan, struct clocks *c, bool *ret_unjudged)
{
	c->chain = calloc(plan->op_count + 1, sizeof(*c->chain));
	c->place = calloc(plan->op_count + 1, sizeof(*c->place));
	c->last = calloc(CHAINS_MAX + 1, sizeof(*c->last));
	if (!c->chain || !c->place || !c->last)
		return WT_E_NOMEM;
	*ret_unjudged = !make_chains(plan, c);
	if (*ret_unjudged)
		return 0;
	c->times = calloc(plan->op_count * c->chain_count + 1, sizeof(*c->times));
	if (!c->times)
		return WT_E_NOMEM;
	set_times(plan, c);
	return 0;
}

/* ---- Conflicts ------------------------------------------------------------------------------- */

static uint64_t end_of(const struct wti_replay_plan_access *access)
{
	return access->offset + access->bytes;
}

static bool covers(const struct wti_replay_plan_access *a, const struct wti_replay_plan_access *b)
{
	return a->offset <= b->offset && end_of(b) <= end_of(a);
}

static bool is_same(const struct wti_replay_plan *plan, const struct wti_replay_race *race,
		    uint32_t first, uint32_t second, uint32_t object)
{
	return race->object == object &&
	       !strcmp(plan->ops[race->first].name, plan->ops[first].name) &&
	       !strcmp(plan->ops[race->second].name, plan->ops[second].name);
}

static int add_race(struct search *search, const struct open_access *before,
		    const struct open_access *now)
{
	struct wti_replay_races *races = search->races;
	const struct wti_replay_plan_access *a = before->access, *b = now->access;
	int r;

	for (size_t i = 0; i < races->count; i++) {
		struct wti_replay_race *race = &races->all[i];

		if (is_same(search->plan, race, before->op, now->op, b->object)) {
			race->count++;
			return 0;
		}
	}
	r = wti_grow(&races->all, races->count + 1, &races->capacity, RACES_MAX);
	if (r == WT_E_LIMIT) {
		races->unjudged_count++;
		return 0;
	}
	if (r)
		return r;
	races->all[races->count++] = (struct wti_replay_race){
		.first = before->op,
		.second = now->op,
		.object = b->object,
		.from = a->offset > b->offset ? a->offset : b->offset,
		.to = end_of(a) < end_of(b) ? end_of(a) : end_of(b),
		.count = 1,
		.both_write = wti_replay_plan_writes(search->plan, a) &&
			      wti_replay_plan_writes(search->plan, b),
	};
	return 0;
}

static bool conflicts(const struct wti_replay_plan *plan, const struct open_access *a,
		      const struct open_access *b)
{
	return (wti_replay_plan_writes(plan, a->access) ||
		wti_replay_plan_writes(plan, b->access)) &&
	       a->access->offset < end_of(b->access) && b->access->offset < end_of(a->access);
}

/* Whoever comes after `now`, or races with it, does so with `before`, too. */
static bool replaces(const struct wti_replay_plan *plan, const struct open_access *now,
		     const struct open_access *before)
{
	return covers(now->access, before->access) &&
	       (wti_replay_plan_writes(plan, now->access) ||
		!wti_replay_plan_writes(plan, before->access));
}

static int see(struct search *search, const struct open_access *now)
{
	const struct wti_replay_plan *plan = search->plan;
	struct open_list *list = &search->lists[now->access->object];
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct open_access before = list->all[i];
		bool is_ordered =
			before.op == now->op || comes_before(&search->clocks, before.op, now->op);

		if (!r && !is_ordered && conflicts(plan, &before, now))
			r = add_race(search, &before, now);
		if (!is_ordered || before.op == now->op || !replaces(plan, now, &before))
			list->all[kept++] = before;
	}
	list->count = kept;
	if (r)
		return r;
	r = wti_grow(&list->all, list->count + 1, &list->capacity, OPEN_MAX);
	if (r == WT_E_LIMIT) {
		search->races->unjudged_count++;
		return 0;
	}
	if (!r)
		list->all[list->count++] = *now;
	return r;
}

static int see_all(struct search *search)
{
	const struct wti_replay_plan *plan = search->plan;
	int r = 0;

	for (size_t i = 0; !r && i < plan->serial_count; i++) {
		const struct wti_replay_plan_op *op = &plan->ops[plan->serial[i]];

		if (!wti_replay_plan_is_command(op) || op->refusal)
			continue;
		for (uint32_t k = 0; !r && k < op->access_count; k++) {
			const struct open_access now = {&plan->accesses[op->access_first + k],
							plan->serial[i]};

			if (now.access->bytes && (wti_replay_plan_reads(plan, now.access) ||
						  wti_replay_plan_writes(plan, now.access)))
				r = see(search, &now);
		}
	}
	return r;
}

int wti_replay_races_find(const struct wti_replay_plan *plan, struct wti_replay_races *ret_races,
			  struct wt_err *err)
{
	struct wti_replay_races races = {0};
	struct search search = {.plan = plan, .races = &races};
	int r = make_clocks(plan, &search.clocks, &races.is_unjudged);

	search.lists = calloc(plan->object_count + 1, sizeof(*search.lists));
	if (!search.lists)
		r = WT_E_NOMEM;
	if (!r && !races.is_unjudged)
		r = see_all(&search);
	for (size_t i = 0; search.lists && i < plan->object_count; i++)
		free(search.lists[i].all);
	free(search.lists);
	free(search.clocks.chain);
	free(search.clocks.place);
	free(search.clocks.last);
	free(search.clocks.times);
	if (r) {
		wti_replay_races_release(&races);
		return wti_err(err, r, "out of memory for races");
	}
	*ret_races = races;
	return 0;
}

void wti_replay_races_release(struct wti_replay_races *races)
{
	free(races->all);
	*races = (struct wti_replay_races){0};
}
