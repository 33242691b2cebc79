/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what deviates from a golden: which things, in which counts, and the time of steps. Order is
 * left to golden_order.c, and which of them have one cause to golden_causes.c. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "deviation.h"

#define VARIES_SHARE 32    /* what varied at all may vary by this part of it */
#define LIMIT_SLACK 16     /* of what is only limited: few are too few to speak of */
#define STEPS_FOR_TIMES 20 /* fewer are not measured */

/* ---- Counts ---------------------------------------------------------------------------------- */

bool wti_golden_is_within(enum wti_thing_type type, struct wti_range range, uint64_t value)
{
	uint64_t slack = range.high - range.low;

	if (wti_thing_exactness(type) == WTI_COMPARE_LIMIT)
		return value / 2 <= range.high || value - range.high <= LIMIT_SLACK;
	/* A few runs do not show all of it: what is compressed, or holds a time, is of any size. */
	if (slack && slack < range.high / VARIES_SHARE)
		slack = range.high / VARIES_SHARE;
	if (slack)
		slack = slack < 2 ? 2 : slack;
	return (value >= range.low || range.low - value <= slack) &&
	       (value <= range.high || value - range.high <= slack);
}

static void add_off(struct wti_deviation *deviation, const struct wti_off *off)
{
	if (deviation->off_count == WTI_OFFS_MAX)
		deviation->off_more++;
	else
		deviation->offs[deviation->off_count++] = *off;
}

/* What processes did that the golden does not have is said with them. */
static uint64_t surplus_in(const struct wti_checking *c, const struct wti_tally *tally)
{
	uint64_t count = 0;

	for (size_t i = 0; tally && i < WTI_SHARES_MAX && tally->shares[i].count; i++)
		if (c->is_surplus[tally->shares[i].process - 1])
			count += tally->shares[i].count;
	return count;
}

/* Earlier formats did not have it. */
static bool is_unknown_to(const struct wti_golden *golden, const char *word)
{
	return golden->format < 3 && (!strncmp(word, "exit ", 5) || !strncmp(word, "signal ", 7) ||
				      !strcmp(word, "symlinked") || !strcmp(word, "at_once"));
}

static void compare_fact(const struct wti_checking *c, struct wti_deviation *deviation,
			 enum wti_thing_type type, struct wti_off off)
{
	uint64_t total = off.tally ? off.tally->total : 0;
	uint64_t low = off.tally ? off.tally->step_min : 0;
	uint64_t high = off.tally ? off.tally->step_max : 0;
	uint64_t surplus = type == WTI_THING_PROCESS ? 0 : surplus_in(c, off.tally);

	if (wti_thing_exactness(type) == WTI_COMPARE_PRESENCE || is_unknown_to(c->golden, off.word))
		return;
	/* As often as before in all: then it is of no interest who did it. */
	off.is_total = !wti_golden_is_within(type, off.total, total - surplus) &&
		       !wti_golden_is_within(type, off.total, total);
	if (wti_thing_exactness(type) == WTI_COMPARE_EXACT && c->run->whole_count && !surplus)
		off.is_step = !wti_golden_is_within(type, off.step, low) ||
			      !wti_golden_is_within(type, off.step, high);
	/* How many there are at once depends on the moment, unless it is one after the other. */
	if (!strcmp(off.word, "at_once"))
		off.is_total = off.total.high == 1 ? total > 1 : off.total.low > 2 && total == 1;
	/* Of what happens in steps there is more or less if there are more or fewer of them. */
	if (c->other_steps && !off.is_step && off.step.high)
		off.is_total = false;
	if (off.is_total || off.is_step)
		add_off(deviation, &off);
}

uint64_t wti_golden_total(const struct wti_effects *run, const struct wti_thing *thing,
			  const char *word)
{
	const struct wti_tally *tally = wti_effects_tally_by_word(run, thing, word);

	return tally ? tally->total : 0;
}

static bool has_fact(const struct wti_golden_thing *golden, const char *word)
{
	for (size_t i = 0; i < golden->fact_count; i++)
		if (!strcmp(golden->facts[i].word, word))
			return true;
	return false;
}

/* Both directions: what the golden has, and what only the run has. */
static void compare_facts(const struct wti_checking *c, struct wti_deviation *deviation)
{
	const struct wti_golden_thing *golden = deviation->golden;
	const struct wti_effects *run = c->run;
	uint32_t index = wti_effects_index(run, deviation->thing);

	for (size_t i = 0; i < golden->fact_count; i++) {
		const struct wti_golden_fact *fact = &golden->facts[i];

		compare_fact(c, deviation, golden->type,
			     (struct wti_off){.word = fact->word,
					      .total = fact->total,
					      .step = fact->step,
					      .tally = wti_effects_tally_by_word(
						      run, deviation->thing, fact->word)});
	}
	for (const struct wti_tally *tally = wti_effects_first(run, index); tally;
	     tally = wti_effects_next(run, tally)) {
		const char *word = wti_effect_word(run, tally->effect);

		if (tally->total && wti_thing_keeps(golden->type, word) && !has_fact(golden, word))
			compare_fact(c, deviation, golden->type,
				     (struct wti_off){.word = word, .tally = tally});
	}
}

static uint64_t started_in(const struct wti_golden_thing *golden)
{
	for (size_t i = 0; i < golden->fact_count; i++)
		if (!strcmp(golden->facts[i].word, "started"))
			return golden->facts[i].total.high;
	return 0;
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* Processes of a kind that the golden does not have, or has fewer of: the last are too many. */
static int find_surplus(struct wti_checking *c)
{
	const struct wti_effects *run = c->run;
	struct wti_map seen;
	int r = 0;

	c->is_surplus = calloc(run->actor_count + 1, sizeof(*c->is_surplus));
	if (!c->is_surplus)
		return WT_E_NOMEM;
	wti_map_init(&seen, run->actor_count + 1);
	for (size_t i = 0; i < run->actor_count && !r; i++) {
		uint32_t thing = run->actors[i].thing;
		const struct wti_golden_thing *golden;
		uint64_t *count = thing ? wti_map_number(&seen, thing) : NULL;

		if (!thing)
			continue;
		golden =
			wti_golden_thing(c->golden, WTI_THING_PROCESS, run->things[thing - 1].name);
		r = count ? 0 : WT_E_NOMEM;
		if (count)
			c->is_surplus[i] = !golden || ++*count > started_in(golden);
	}
	wti_map_release(&seen);
	return r;
}

/* ---- Things ---------------------------------------------------------------------------------- */

static struct wti_deviation *new_deviation(struct wti_checking *c)
{
	if (wti_grow(&c->all, c->count + 1, &c->capacity, WTI_NO_CEILING))
		return NULL;
	c->all[c->count] = (struct wti_deviation){0};
	return &c->all[c->count];
}

/* A few calls that wait or allocate memory are not reported; many are. */
static void compare_new(const struct wti_checking *c, struct wti_deviation *deviation)
{
	uint32_t index = wti_effects_index(c->run, deviation->thing);

	for (const struct wti_tally *tally = wti_effects_first(c->run, index); tally;
	     tally = wti_effects_next(c->run, tally))
		compare_fact(c, deviation, deviation->thing->type,
			     (struct wti_off){.word = wti_effect_word(c->run, tally->effect),
					      .tally = tally});
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Of a process it counts, too, that it asks for its umask no more, or has begun to change it. */
static bool has_other_mode(const struct wti_golden *golden, const struct wti_golden_thing *before,
			   const struct wti_thing *now)
{
	bool is_umask = now->type == WTI_THING_PROCESS;

	if (before->permissions && now->permissions)
		return ((before->permissions ^ now->permissions) & 07777) != 0;
	if (!is_umask || golden->format < 3)
		return false;
	return before->permissions || now->permissions & WTI_UMASK_SET;
}

static int check_thing(struct wti_checking *c, const struct wti_thing *thing)
{
	struct wti_deviation *deviation = new_deviation(c);

	if (!deviation)
		return WT_E_NOMEM;
	deviation->thing = thing;
	deviation->golden = wti_golden_thing(c->golden, thing->type, thing->name);
	if (!deviation->golden) {
		if (wti_thing_exactness(thing->type) == WTI_COMPARE_LIMIT)
			compare_new(c, deviation);
		c->count += wti_thing_exactness(thing->type) != WTI_COMPARE_LIMIT ||
			    deviation->off_count;
		return 0;
	}
	compare_facts(c, deviation);
	deviation->is_mode = has_other_mode(c->golden, deviation->golden, thing);
	deviation->is_via =
		deviation->golden->via && !same_text(deviation->golden->via, thing->via);
	if (deviation->off_count || deviation->is_mode || deviation->is_via)
		c->count++;
	return 0;
}

static int check_missing(struct wti_checking *c, const struct wti_golden_thing *golden)
{
	const struct wti_thing *thing = wti_effects_thing(c->run, golden->type, golden->name);
	struct wti_deviation *deviation;

	if (golden->is_optional || (thing && wti_golden_uses(c->run, thing)) ||
	    wti_thing_exactness(golden->type) == WTI_COMPARE_LIMIT)
		return 0;
	deviation = new_deviation(c);
	if (!deviation)
		return WT_E_NOMEM;
	deviation->golden = golden;
	c->count++;
	return 0;
}

static int check_things(struct wti_checking *c)
{
	int r = 0;

	for (size_t i = 0; i < c->run->thing_count && !r && c->count < WTI_DEVIATIONS_MAX; i++)
		if (wti_golden_uses(c->run, &c->run->things[i]))
			r = check_thing(c, &c->run->things[i]);
	for (size_t i = 0; i < c->golden->thing_count && !r && c->count < WTI_DEVIATIONS_MAX; i++)
		r = check_missing(c, &c->golden->things[i]);
	return r;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool check_times(const struct wti_checking *c)
{
	const struct wti_golden *golden = c->golden;
	int64_t quiet_ns = wti_effects_step_ns(c->run, 0.25);
	double limit = (double)golden->step_ns.high * (1 + golden->slower);

	if (!golden->has_times)
		return false;
	if (c->run->step_time_count < STEPS_FOR_TIMES) {
		wt_result_note(
			c->result,
			"times were not measured: the run has %zu whole steps, %d are needed",
			c->run->step_time_count, STEPS_FOR_TIMES);
		return false;
	}
	limit += (double)(golden->step_ns.high - golden->step_ns.low);
	if ((double)quiet_ns <= limit)
		return false;
	wti_golden_report_times(c, quiet_ns);
	return true;
}

static void note_deviating(const struct wti_checking *c, struct wti_map *ret_deviating)
{
	char key[WTI_GOLDEN_KEY_BYTES];

	for (size_t i = 0; ret_deviating && i < c->count; i++) {
		const struct wti_deviation *d = &c->all[i];

		if (d->thing)
			wti_map_text(ret_deviating, key,
				     wti_golden_thing_key(key, d->thing->type, d->thing->name));
		if (d->golden)
			wti_map_text(ret_deviating, key,
				     wti_golden_thing_key(key, d->golden->type, d->golden->name));
	}
}

/* Older goldens had the same run with other steps. */
static bool has_other_parts(const struct wti_golden *golden, const struct wti_effects *run)
{
	return golden->format < 3 && run->has_start;
}

static bool has_other_steps(const struct wti_golden *golden, const struct wti_effects *run)
{
	return !wti_golden_is_within(WTI_THING_FILE, golden->steps, run->step_count) &&
	       !(has_other_parts(golden, run) &&
		 wti_golden_is_within(WTI_THING_FILE, golden->steps, run->step_count + 1));
}

int wti_golden_check(const struct wti_golden *golden, const struct wti_effects *run,
		     const struct wti_locator *locator, struct wt_result *result,
		     struct wti_map *ret_deviating, struct wt_err *err)
{
	struct wti_checking c = {
		.golden = golden, .run = run, .locator = locator, .result = result};
	int r;

	c.other_steps = has_other_steps(golden, run);
	if (c.other_steps) {
		wti_golden_report_steps(&c);
		if (ret_deviating)
			wti_map_text(ret_deviating, "steps", 5);
	}
	r = find_surplus(&c);
	r = r ? r : check_things(&c);
	r = r ? r : wti_golden_find_causes(&c);
	if (!r) {
		for (size_t i = 0; i < c.count; i++)
			if (!c.all[i].leader && !wti_golden_doubtful(&c, &c.all[i]))
				wti_golden_report(&c, &c.all[i]);
		note_deviating(&c, ret_deviating);
		if (!run->order_is_cut && !has_other_parts(golden, run))
			r = wti_golden_check_order(&c, ret_deviating);
	}
	if (!r && check_times(&c) && ret_deviating)
		wti_map_text(ret_deviating, "times", 5);
	if (c.count == WTI_DEVIATIONS_MAX)
		wt_result_note(result, "more than %u things deviate: the rest is not shown",
			       WTI_DEVIATIONS_MAX);
	free(c.all);
	free(c.is_surplus);
	return r ? wti_err(err, r, "out of memory") : 0;
}
