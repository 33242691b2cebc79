/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where the order of a run's acts deviates from a golden: the first act that is not where it
 * was, and what else stands where what stood. Acts of things that deviate themselves are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "deviation.h"

#define EXCHANGES_SHOWN 6

/* Names of things that are reported already: their acts add nothing. */
static int known_names(const struct wti_checking *c, struct wti_map *names)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct wti_deviation *d = &c->all[i];
		const char *reported[] = {
			d->thing ? d->thing->name : NULL, d->thing ? d->thing->via : NULL,
			d->golden ? d->golden->name : NULL, d->golden ? d->golden->via : NULL};

		for (size_t j = 0; j < 4; j++)
			if (reported[j] && !wti_map_text(names, reported[j], strlen(reported[j])))
				return WT_E_NOMEM;
	}
	return 0;
}

/* The name in "write $CWD/x" or "connect to 1.2.3.4:5": what follows the words of the effect. */
static const char *name_in(const struct wti_effects *fx, const char *text)
{
	for (uint32_t effect = 0; effect < WTI_EFFECT_COUNT; effect++) {
		const char *word = wti_act_word(fx, effect);
		size_t bytes = strlen(word);

		if (!strncmp(text, word, bytes) && text[bytes] == ' ')
			return text + bytes + 1;
	}
	return text;
}

static bool is_start(const char *text)
{
	return !strncmp(text, "start ", 6);
}

static bool has_start(const struct wti_order *order, const struct wti_way *way)
{
	for (size_t i = 0; i < way->acts.count; i++)
		if (is_start(wti_order_text(order, way->acts.tokens[i])))
			return true;
	return false;
}

static int filter(const struct wti_checking *c, const struct wti_order *order,
		  const struct wti_way *way, const struct wti_map *known, bool with_starts,
		  struct wti_order *common, struct wti_sequence *ret)
{
	ret->count = 0;
	for (size_t i = 0; i < way->acts.count; i++) {
		const char *text = wti_order_text(order, way->acts.tokens[i]);
		const char *name = name_in(c->run, text);

		if (wti_map_find_text(known, name, strlen(name)) ||
		    (!with_starts && is_start(text)))
			continue;
		if (!wti_sequence_add(ret, wti_order_token(common, text)))
			return WT_E_NOMEM;
	}
	return common->failed;
}

static size_t common_part(const struct wti_sequence *a, const struct wti_sequence *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && a->tokens[i] == b->tokens[i])
		i++;
	return i;
}

/* The act of the run that is not where it was; for its place in the source. */
static const struct wti_world_act *find_act(const struct wti_checking *c, const struct wti_way *way,
					    const char *text)
{
	const struct wti_world_act *found = NULL;
	struct wti_buf words;

	wti_buf_init(&words, 16384);
	for (size_t i = 0; i < c->run->actor_count && !found; i++) {
		const struct wti_actor *actor = &c->run->actors[i];

		for (size_t j = 0; j < actor->act_count && !found; j++) {
			if (actor->acts[j].step != way->first_step)
				continue;
			wti_buf_clear(&words);
			if (wti_act_text(c->run, &actor->acts[j], &words) &&
			    !strcmp(wti_buf_cstr(&words), text))
				found = &actor->acts[j];
		}
	}
	wti_buf_release(&words);
	return found;
}

struct comparing {
	const struct wti_order *order; /* of the run */
	struct wti_map known;
	struct wti_map seen; /* what stands where what stood */
	const struct wti_way *first;
	const struct wti_world_act *act;
	struct wti_buf expected, actual, others;
	struct wti_order common;
	struct wti_sequence mine, theirs;
};

/* The first is reported; others, such as the same in another process, with it. */
static void keep_exchange(const struct wti_checking *c, struct comparing *k,
			  const struct wti_way *way, const char *expected, const char *actual)
{
	struct wti_buf pair;
	uint64_t *slot;

	wti_buf_init(&pair, 32768);
	wti_buf_printf(&pair, "'%s' where '%s' was", actual, expected);
	slot = wti_map_text(&k->seen, wti_buf_cstr(&pair), pair.bytes);
	if (slot && !*slot) {
		if (!k->first) {
			k->first = way;
			k->act = find_act(c, way, actual);
			wti_buf_text(&k->expected, expected);
			wti_buf_text(&k->actual, actual);
		} else if (k->seen.count <= EXCHANGES_SHOWN) {
			wti_buf_printf(&k->others, "%s%s", k->others.bytes ? ", " : "",
				       wti_buf_cstr(&pair));
		}
		*slot = 1;
	}
	wti_buf_release(&pair);
}

/* Where one of the two has no order of children, as they come and go, it is not compared. */
static int filter_both(const struct wti_checking *c, struct comparing *k, const struct wti_way *way,
		       const struct wti_way *before)
{
	bool with_starts = has_start(k->order, way) && has_start(&c->golden->order, before);
	int r = filter(c, k->order, way, &k->known, with_starts, &k->common, &k->mine);

	return r ? r
		 : filter(c, &c->golden->order, before, &k->known, with_starts, &k->common,
			  &k->theirs);
}

/* One way of the run against all of the golden's. */
static int check_way(const struct wti_checking *c, struct comparing *k, const struct wti_way *way,
		     bool *ret_off)
{
	const struct wti_order *golden = &c->golden->order;
	const char *expected = NULL, *actual = NULL;
	bool any = false, is_cut = false;
	size_t best = 0;
	int r = 0;

	*ret_off = false;
	for (size_t i = 0; i < golden->way_count && !r; i++) {
		size_t same;

		if (golden->ways[i].when != way->when || strcmp(golden->ways[i].role, way->role))
			continue;
		r = filter_both(c, k, way, &golden->ways[i]);
		if (r || wti_sequence_equal(&k->mine, &k->theirs) || !k->mine.count)
			return r;
		same = common_part(&k->mine, &k->theirs);
		if (any && same <= best)
			continue;
		any = true;
		best = same;
		is_cut = same == k->mine.count;
		expected = same < k->theirs.count
				   ? wti_order_text(&k->common, k->theirs.tokens[same])
				   : "nothing more";
		actual = is_cut ? "nothing more" : wti_order_text(&k->common, k->mine.tokens[same]);
	}
	/* What should have come next may have come unseen. */
	if (r || !any || (is_cut && c->run->unseen.alive_count))
		return r;
	*ret_off = true;
	keep_exchange(c, k, way, expected, actual);
	return 0;
}

/* Acts of processes that are started more or less often are said with them; where children run at
 * once, who comes first decides. */
static bool is_explained(const struct wti_checking *c, const char *role)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct wti_deviation *d = &c->all[i];
		size_t bytes = d->thing ? strlen(d->thing->name) : 0;

		if (!d->thing || d->thing->type != WTI_THING_PROCESS ||
		    strncmp(role, d->thing->name, bytes) != 0)
			continue;
		for (size_t j = 0; j < d->off_count; j++)
			if ((!role[bytes] && !strcmp(d->offs[j].word, "started")) ||
			    ((!role[bytes] || role[bytes] == ' ') &&
			     !strcmp(d->offs[j].word, "at_once")))
				return true;
	}
	return false;
}

int wti_golden_check_order(const struct wti_checking *c, struct wti_map *ret_deviating)
{
	struct wti_order mine;
	struct comparing k = {.order = &mine};
	struct wt_err err;
	char key[WTI_GOLDEN_KEY_BYTES];
	int r;

	wti_order_init(&mine);
	wti_order_init(&k.common);
	wti_map_init(&k.known, 4 * WTI_DEVIATIONS_MAX);
	wti_map_init(&k.seen, WTI_DEVIATIONS_MAX);
	wti_buf_init(&k.expected, 16384);
	wti_buf_init(&k.actual, 16384);
	wti_buf_init(&k.others, 65536);
	r = wti_order_add(&mine, c->run, &err);
	r = r ? r : known_names(c, &k.known);
	for (size_t i = 0; i < mine.way_count && !r; i++) {
		const struct wti_way *way = &mine.ways[i];
		bool off = false;

		/* The last step is another one if there are more or fewer. */
		if (c->other_steps && way->when == WTI_WHEN_END)
			continue;
		if (!is_explained(c, way->role) && !wti_order_varies(&mine, way->role, way->when) &&
		    !wti_order_varies(&c->golden->order, way->role, way->when))
			r = check_way(c, &k, way, &off);
		if (off && ret_deviating)
			wti_map_text(ret_deviating, key,
				     wti_golden_order_key(key, way->role, way->when));
	}
	if (!r && k.first)
		wti_golden_report_order(c, k.first, wti_buf_cstr(&k.expected),
					wti_buf_cstr(&k.actual), wti_buf_cstr(&k.others), k.act);
	free(k.mine.tokens);
	free(k.theirs.tokens);
	wti_buf_release(&k.expected);
	wti_buf_release(&k.actual);
	wti_buf_release(&k.others);
	wti_map_release(&k.known);
	wti_map_release(&k.seen);
	wti_order_release(&k.common);
	wti_order_release(&mine);
	return r;
}
