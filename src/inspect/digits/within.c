/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs by a file of tolerances: which values lie farther apart than those of correct runs.
 *
 * The runs may be of two versions of a program: lines have moved, calls are new or gone. A call of
 * both runs is compared if what went in corresponds: the same bits, or values that corresponding
 * calls have made. After a change nothing corresponds any more but names, and what comes out at the
 * end: results, from which nothing was computed. Each of one run is compared with that of the other
 * which is nearest, of the same shape.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "element.h"
#include "tally.h"
#include "unused.h"

#define ROWS_SHOWN 20u
#define MADE_MAX ((size_t)1 << 22)
#define KEYS_MAX ((size_t)1 << 20)
#define PAIRS_MAX 20000000u /* of results that are tried */

/* What is known of one of the two runs. */
struct version {
	struct wti_map made; /* hash of an output: number of the call, the same of partners */
	struct wti_map keys; /* of values: how often they occurred */
	struct wti_unused unused;
};

struct within {
	const struct wti_tolerances *tolerances;
	struct wti_word_ids *texts;
	struct wt_table *outside, *missing;
	struct wti_within *counts;
	struct version versions[2];
	uint64_t calls;
	int status;
};

/* Where a value of one run stands. */
struct place {
	char key[WTI_VALUE_KEY_BYTES];
	uint64_t occurrence;
	int64_t step;
};

static void place_of(struct within *within, unsigned run, const struct wti_item *item,
		     const struct wti_sampled *value, struct place *ret_place)
{
	uint64_t *slot;

	wti_value_key(within->texts, item, value, ret_place->key);
	slot = wti_map_text(&within->versions[run].keys, ret_place->key, strlen(ret_place->key));
	ret_place->occurrence = slot ? ++*slot : 1;
	ret_place->step = item->step;
}

/* ---- Two values ------------------------------------------------------------------------------ */

struct apart {
	double absolute; /* of two elements */
	double relative; /* to the norm of the value */
};

static bool merge(const double *a, const double *b, size_t reals, struct wti_spread *ret_spread)
{
	const double *const runs[] = {a, b};

	*ret_spread = (struct wti_spread){0};
	if (a && b)
		wti_merge_doubles(ret_spread, runs, 2, reals);
	return ret_spread->reals;
}

/* The mean of two lies in the middle: they are twice as far apart as each is from it. */
static bool apart_of(const struct wti_sampled *a, const struct wti_sampled *b,
		     struct apart *ret_apart)
{
	size_t reals = a->filled < b->filled ? a->filled : b->filled;
	bool has_hash = !((a->flags | b->flags) & WT_TENSOR_NO_HASH);
	struct wti_spread spread;
	double log2_of;

	*ret_apart = (struct apart){0};
	if (has_hash && a->hash == b->hash && a->dtype == b->dtype)
		return true;
	if (!merge(a->reals, b->reals, reals, &spread))
		return false;
	ret_apart->absolute = 2 * spread.farthest;
	log2_of = fmax(wti_spread_norm(&spread), wti_spread_farthest(&spread));
	if (merge(a->sketch, b->sketch, WTI_SKETCH_BUCKETS, &spread))
		log2_of = fmax(log2_of, wti_spread_norm(&spread));
	ret_apart->relative = exp2(1 + log2_of);
	return true;
}

static bool is_alike(const struct wti_sampled *a, const struct wti_sampled *b)
{
	return a->count == b->count && a->shape == b->shape && wti_element_of(a->dtype).is_float &&
	       wti_element_of(b->dtype).is_float;
}

static void show_outside(struct within *within, const struct place *place,
			 const struct apart *apart, const struct wti_tolerance *allowed)
{
	if (within->outside->row_count >= ROWS_SHOWN)
		return;
	wt_table_row(within->outside);
	wt_table_text(within->outside, place->key, strlen(place->key));
	wt_table_number(within->outside, (double)place->step);
	wt_table_number(within->outside, apart->absolute);
	wt_table_number(within->outside, allowed->absolute);
	wt_table_number(within->outside, allowed->relative);
}

/* `inherited`: how far apart what it was made from is, where the call added nothing to that. */
static void judge(struct within *within, const struct place places[2], const struct wti_sampled *a,
		  const struct wti_sampled *b, double inherited)
{
	const struct wti_tolerance *allowed =
		wti_tolerances_find_at(within->tolerances, places[0].key, places[0].occurrence);
	struct apart apart;

	if (!allowed)
		allowed = wti_tolerances_find_at(within->tolerances, places[1].key,
						 places[1].occurrence);
	if (!apart_of(a, b, &apart)) {
		within->counts->unsampled++;
		return;
	}
	if (!allowed) {
		within->counts->unknown++;
		return;
	}
	within->counts->compared++;
	if (apart.absolute <= fmax(allowed->absolute, inherited) ||
	    apart.relative <= allowed->relative)
		return;
	within->counts->outside++;
	show_outside(within, &places[0], &apart, allowed);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Something is computed from it: it is not only moved, picked from or looked at. */
static bool computes_from(const struct within *within, const struct wti_item *item,
			  const struct wti_sampled *input)
{
	const char *callee = wti_texts_at(within->texts, item->callee);

	return !wti_is_selection(callee) && !wti_is_access(callee) && wti_is_used_by(item, input);
}

static void use_inputs(struct within *within, unsigned run, const struct wti_item *item)
{
	for (size_t i = 0; i < item->value_count; i++) {
		if (item->values[i].position >= 0 && computes_from(within, item, &item->values[i]))
			wti_unused_use(&within->versions[run].unused, item->values[i].hash);
	}
}

/*
 * What only passes a value on has not made it. Of calls of both runs, both have to: abs() passes a
 * value without negative elements on, and makes another one.
 */
static bool is_passed_on(const struct wti_item *item, const struct wti_item *partner, size_t index)
{
	return wti_is_moved(item, &item->values[index]) &&
	       (!partner || wti_is_moved(partner, &partner->values[index]));
}

/* `partner`: the call of the other run that corresponds, with as many values; NULL: there is none.
 */
static void note_made(struct within *within, unsigned run, const struct wti_item *item,
		      const struct wti_item *partner)
{
	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->position >= 0 || is_passed_on(item, partner, i))
			continue;
		wti_map_put(&within->versions[run].made, value->hash, within->calls);
	}
}

/* A call that the other run does not have, or whose inputs are others. */
static void take_alone(struct within *within, unsigned run, const struct wti_item *item)
{
	within->calls++;
	use_inputs(within, run, item);
	note_made(within, run, item, NULL);
	within->counts->alone += item->value_count > 0;
	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];
		struct place place;
		int r;

		place_of(within, run, item, value, &place);
		if (value->position >= 0 || item->is_inner ||
		    !wti_element_of(value->dtype).is_float)
			continue;
		r = wti_unused_add(&within->versions[run].unused, place.key, place.occurrence,
				   place.step, value);
		within->status = r ? r : within->status;
	}
}

/* The value of the other run at the same position; NULL: there is none of that kind. */
static const struct wti_sampled *partner_of(const struct wti_item *item, size_t index,
					    const struct wti_sampled *value)
{
	const struct wti_sampled *other = index < item->value_count ? &item->values[index] : NULL;

	return other && other->position == value->position && other->name == value->name ? other
											 : NULL;
}

/* Whether both went in for the same: who made them corresponds, or nobody that was seen did. */
static bool correspond(const struct within *within, const struct wti_sampled *a,
		       const struct wti_sampled *b)
{
	if (!wti_element_of(a->dtype).is_float || a->hash == b->hash)
		return true;
	return is_alike(a, b) && wti_map_get(&within->versions[0].made, a->hash) ==
					 wti_map_get(&within->versions[1].made, b->hash);
}

static bool is_comparable(const struct within *within, const struct wti_item *a,
			  const struct wti_item *b)
{
	if (a->value_count != b->value_count)
		return false;
	for (size_t i = 0; i < a->value_count; i++) {
		const struct wti_sampled *value = &a->values[i], *other = partner_of(b, i, value);

		if (!other ||
		    (value->position >= 0 && a->is_call && !correspond(within, value, other)))
			return false;
	}
	return true;
}

/* Every element of the output is one of an input, up to its sign. */
static bool is_picked(const struct wti_item *item, const struct wti_sampled *output)
{
	for (size_t i = 0; i < output->filled; i++) {
		bool is_found = false;

		for (size_t k = 0; k < item->value_count && !is_found; k++) {
			const struct wti_sampled *input = &item->values[k];

			for (size_t j = 0; input->position >= 0 && j < input->filled; j++)
				is_found |= fabs(input->reals[j]) == fabs(output->reals[i]);
		}
		if (!is_found)
			return false;
	}
	return output->filled;
}

/*
 * What is picked out of two values is no farther apart than they are, and they are judged
 * themselves: the largest element of a residual may be the same in all noisy runs and one rounding
 * of its parts away in the next.
 */
static double inherited_by(const struct wti_item *a, const struct wti_item *b, size_t index)
{
	double farthest = 0;

	if (!a->is_call || a->values[index].position >= 0 ||
	    a->values[index].hash == b->values[index].hash || !is_picked(a, &a->values[index]) ||
	    !is_picked(b, &b->values[index]))
		return 0;
	for (size_t i = 0; i < a->value_count; i++) {
		const struct wti_sampled *one = &a->values[i], *other = &b->values[i];
		struct apart apart;

		if (one->position >= 0 && is_alike(one, other) && apart_of(one, other, &apart))
			farthest = fmax(farthest, apart.absolute);
	}
	return farthest;
}

static void take_both(struct within *within, const struct wti_item *a, const struct wti_item *b)
{
	const struct wti_item *const items[] = {a, b};

	within->calls++;
	for (unsigned run = 0; run < 2; run++) {
		use_inputs(within, run, items[run]);
		note_made(within, run, items[run], items[!run]);
	}
	for (size_t i = 0; i < a->value_count; i++) {
		struct place places[2];

		place_of(within, 0, a, &a->values[i], &places[0]);
		place_of(within, 1, b, &b->values[i], &places[1]);
		if (is_alike(&a->values[i], &b->values[i]))
			judge(within, places, &a->values[i], &b->values[i], inherited_by(a, b, i));
	}
}

static int take(void *opaque, const struct wti_matched *group)
{
	struct within *within = opaque;

	if (group->found == 2 && is_comparable(within, group->items[0], group->items[1])) {
		take_both(within, group->items[0], group->items[1]);
		return within->status;
	}
	for (unsigned run = 0; run < 2; run++) {
		if (group->items[run])
			take_alone(within, run, group->items[run]);
	}
	return within->status;
}

static int take_lone(void *opaque, const struct wti_item *item, unsigned run)
{
	struct within *within = opaque;

	take_alone(within, run, item);
	return within->status;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void show_missing(struct within *within, unsigned run, const struct wti_unused_value *result)
{
	within->counts->not_compared++;
	if (within->missing->row_count >= ROWS_SHOWN)
		return;
	wt_table_row(within->missing);
	wt_table_text(within->missing, result->key, strlen(result->key));
	wt_table_number(within->missing, (double)result->step);
	wt_table_text(within->missing, run ? "b" : "a", 1);
}

static bool is_open(const struct wti_unused_value *result)
{
	return result->key && !result->is_taken;
}

/* The result of the other run that is nearest; NULL: it has none of that shape. */
static struct wti_unused_value *nearest_to(struct wti_unused *others, const struct wti_sampled *to,
					   uint64_t *tries)
{
	struct wti_unused_value *nearest = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < others->count; i++) {
		struct wti_unused_value *other = &others->all[i];
		struct apart apart;

		if (!is_open(other) || !is_alike(to, &other->value))
			continue;
		if (nearest && ++*tries > PAIRS_MAX)
			break;
		if (!apart_of(to, &other->value, &apart))
			apart.relative = INFINITY;
		if (!nearest || apart.relative < least) {
			nearest = other;
			least = apart.relative;
		}
		if (least == 0)
			break;
	}
	return nearest;
}

static void compare_two(struct within *within, struct wti_unused_value *const results[2])
{
	struct place places[2];

	for (unsigned run = 0; run < 2; run++) {
		results[run]->is_taken = true;
		snprintf(places[run].key, sizeof(places[run].key), "%s", results[run]->key);
		places[run].occurrence = results[run]->occurrence;
		places[run].step = results[run]->step;
	}
	judge(within, places, &results[0]->value, &results[1]->value, 0);
}

/* Compares those that are the nearest of each other; false: there are no more such pairs. */
static bool compare_nearest(struct within *within, uint64_t *tries)
{
	struct wti_unused *a = &within->versions[0].unused, *b = &within->versions[1].unused;
	bool is_any = false;

	for (size_t i = 0; i < a->count; i++) {
		struct wti_unused_value *one = &a->all[i], *other = NULL;

		if (is_open(one))
			other = nearest_to(b, &one->value, tries);
		if (!other || (nearest_to(a, &other->value, tries) != one && *tries <= PAIRS_MAX))
			continue;
		compare_two(within, (struct wti_unused_value *const[]){one, other});
		is_any = true;
	}
	return is_any;
}

static void compare_results(struct within *within)
{
	uint64_t tries = 0;

	while (compare_nearest(within, &tries))
		;
	for (unsigned run = 0; run < 2; run++) {
		const struct wti_unused *unused = &within->versions[run].unused;

		within->counts->not_compared += unused->left_out;
		for (size_t i = 0; i < unused->count; i++) {
			if (is_open(&unused->all[i]))
				show_missing(within, run, &unused->all[i]);
		}
	}
}

/* ---- All ------------------------------------------------------------------------------------- */

static void add_tables(struct within *within, struct wt_result *result)
{
	within->outside = wt_result_table(result, "outside", "");
	wt_table_column(within->outside, "value", "value", WT_CELL_TEXT);
	wt_table_column(within->outside, "step", "step", WT_CELL_NUMBER);
	wt_table_column(within->outside, "distance", "apart", WT_CELL_NUMBER);
	wt_table_column(within->outside, "absolute", "allowed", WT_CELL_NUMBER);
	wt_table_column(within->outside, "relative", "of the norm", WT_CELL_NUMBER);
	within->missing = wt_result_table(result, "not_compared", "");
	wt_table_column(within->missing, "value", "value", WT_CELL_TEXT);
	wt_table_column(within->missing, "step", "step", WT_CELL_NUMBER);
	wt_table_column(within->missing, "run", "run", WT_CELL_TEXT);
}

int wti_digits_within(const struct wti_digits_run runs[2], const struct wti_tolerances *tolerances,
		      struct wt_result *result, struct wti_within *ret_within, struct wt_err *err)
{
	struct wt_trace *const traces[] = {runs[0].trace, runs[1].trace};
	struct wti_word_ids texts;
	struct within within = {.tolerances = tolerances, .texts = &texts, .counts = ret_within};
	const struct wti_match_how how = {
		.taker = take, .lone = take_lone, .cookie = &within, .any_line = true};
	struct wti_divergence divergence;
	struct wti_match_run about[2];
	int r;

	*ret_within = (struct wti_within){0};
	wti_texts_init(&texts);
	add_tables(&within, result);
	for (unsigned run = 0; run < 2; run++) {
		wti_map_init(&within.versions[run].made, MADE_MAX);
		wti_map_init(&within.versions[run].keys, KEYS_MAX);
		wti_unused_init(&within.versions[run].unused);
	}
	r = wti_match(traces, 2, &texts, &how, &divergence, about, err);
	if (!r)
		compare_results(&within);
	for (unsigned run = 0; run < 2; run++) {
		wti_map_release(&within.versions[run].made);
		wti_map_release(&within.versions[run].keys);
		wti_unused_release(&within.versions[run].unused);
	}
	wti_texts_release(&texts);
	return r;
}
