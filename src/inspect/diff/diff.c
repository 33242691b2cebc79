/* SPDX-License-Identifier: Apache-2.0 */
/* What two runs did to each thing, side by side. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/cells.h"
#include "inspect/world/range.h"

/* A thing of one run, or of both. */
struct pair {
	const struct wti_thing *a, *b;
};

struct diffing {
	const struct wti_effects *a, *b;
	const struct wti_diff_options *options;
	struct wt_table *effects, *counts, *noise;
	struct wti_difference difference;
};

static bool is_noise(enum wti_thing_type type)
{
	return type == WTI_THING_KERNEL || type == WTI_THING_CHANNEL || type == WTI_THING_CACHE ||
	       type == WTI_THING_CONSOLE;
}

/* Effects that change the world or reach beyond the program; the others are counts. */
static bool is_outside(enum wti_thing_type type, const char *word)
{
	int effect = wti_effect_by_word(word);

	if (type == WTI_THING_LIBRARY || type == WTI_THING_CODE || type == WTI_THING_SYSTEM)
		return effect == WTI_EFFECT_LOADED || effect == WTI_EFFECT_OPENED;
	return effect >= 0 && effect != WTI_EFFECT_READ_BYTES && effect != WTI_EFFECT_OPENED &&
	       effect != WTI_EFFECT_CALLED;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static struct wt_table *new_table(struct wt_result *result, const char *key, const char *title)
{
	struct wt_table *table = wt_result_table(result, key, title);

	wt_table_column(table, "change", "", WT_CELL_TEXT);
	wt_table_column(table, "type", "what", WT_CELL_TEXT);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "count", "count of", WT_CELL_TEXT);
	wt_table_column(table, "a", "A", WT_CELL_COUNT);
	wt_table_column(table, "b", "B", WT_CELL_COUNT);
	wt_table_column(table, "step_a", "A, a step", WT_CELL_TEXT);
	wt_table_column(table, "step_b", "B, a step", WT_CELL_TEXT);
	return table;
}

static void add_steps(struct wt_table *table, const struct wti_tally *tally)
{
	struct wti_buf text;

	wti_buf_init(&text, 64);
	if (tally && tally->step_max)
		wti_range_text(&text, (struct wti_range){tally->step_min, tally->step_max});
	wti_table_word(table, wti_buf_cstr(&text));
	wti_buf_release(&text);
}

static const char *name_of(const struct diffing *d, const struct pair *pair)
{
	const struct wti_thing *thing = pair->a ? pair->a : pair->b;

	return d->options->raw ? thing->raw : thing->name;
}

static void add_row(struct diffing *d, const struct pair *pair, const char *word,
		    const struct wti_tally *a, const struct wti_tally *b)
{
	const struct wti_thing *thing = pair->a ? pair->a : pair->b;
	struct wt_table *table = d->counts;

	if (is_noise(thing->type)) {
		table = d->noise;
	} else if (is_outside(thing->type, word)) {
		table = d->effects;
		d->difference.effects++;
	} else {
		d->difference.counts++;
	}
	wt_table_row(table);
	wti_table_word(table, !a || !a->total ? "+" : !b || !b->total ? "-" : "~");
	wti_table_word(table, wti_thing_word(thing->type));
	wti_table_word(table, name_of(d, pair));
	wti_table_word(table, word);
	wt_table_count(table, a ? a->total : 0);
	wt_table_count(table, b ? b->total : 0);
	add_steps(table, a);
	add_steps(table, b);
}

/* Of code and libraries it counts that they are used; how they are searched for does not. */
static bool differs(enum wti_thing_type type, const struct wti_tally *a, const struct wti_tally *b)
{
	uint64_t x = a ? a->total : 0, y = b ? b->total : 0;

	if (wti_thing_exactness(type) == WTI_COMPARE_PRESENCE)
		return !x != !y;
	return x != y || (a && b && (a->step_min != b->step_min || a->step_max != b->step_max));
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static void compare_pair(struct diffing *d, const struct pair *pair)
{
	const struct wti_thing *thing = pair->a ? pair->a : pair->b;
	for (int side = 0; side < 2; side++) {
		const struct wti_effects *fx = side ? d->b : d->a;
		const struct wti_thing *mine = side ? pair->b : pair->a;
		const struct wti_tally *t;

		t = mine ? wti_effects_first(fx, wti_effects_index(fx, mine)) : NULL;
		for (; t; t = wti_effects_next(fx, t)) {
			const char *word = wti_effect_word(fx, t->effect);
			const struct wti_tally *a =
				side ? wti_effects_tally_by_word(d->a, pair->a, word) : t;
			const struct wti_tally *b =
				side ? t : wti_effects_tally_by_word(d->b, pair->b, word);

			if (side && a)
				continue; /* seen from the other side */
			if (wti_thing_exactness(thing->type) == WTI_COMPARE_PRESENCE &&
			    !wti_thing_keeps(thing->type, word))
				continue;
			/* How many run at once depends on the moment, unless it is one. */
			if (t->effect == WTI_EFFECT_AT_ONCE && a && b && a->total > 1 &&
			    b->total > 1)
				continue;
			if (differs(thing->type, a, b))
				add_row(d, pair, word, a, b);
		}
	}
}

static void compare_traits(struct diffing *d, const struct pair *pair)
{
	if (!pair->a || !pair->b || !pair->a->permissions || !pair->b->permissions ||
	    !((pair->a->permissions ^ pair->b->permissions) & 07777))
		return;
	d->difference.effects++;
	wt_table_row(d->effects);
	wti_table_word(d->effects, "~");
	wti_table_word(d->effects, wti_thing_word(pair->a->type));
	wti_table_word(d->effects, name_of(d, pair));
	wti_table_word(d->effects, pair->a->type == WTI_THING_PROCESS ? "umask" : "mode");
	/* Octal digits read as such in decimal. */
	for (int side = 0; side < 2; side++) {
		uint32_t mode = (side ? pair->b : pair->a)->permissions & 07777;

		wt_table_count(d->effects, (mode >> 9) * 1000 + (mode >> 6 & 7) * 100 +
						   (mode >> 3 & 7) * 10 + (mode & 7));
	}
	wti_table_word(d->effects, "");
	wti_table_word(d->effects, "");
}

static int by_name(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	const struct wti_thing *i = x->a ? x->a : x->b, *j = y->a ? y->a : y->b;

	if (i->type != j->type)
		return i->type < j->type ? -1 : 1;
	return strcmp(i->name, j->name);
}

static size_t pair_up(const struct diffing *d, struct pair *pairs)
{
	size_t count = 0;

	for (size_t i = 0; i < d->a->thing_count; i++) {
		const struct wti_thing *thing = &d->a->things[i];

		pairs[count++] =
			(struct pair){thing, wti_effects_thing(d->b, thing->type, thing->name)};
	}
	for (size_t i = 0; i < d->b->thing_count; i++) {
		const struct wti_thing *thing = &d->b->things[i];

		if (!wti_effects_thing(d->a, thing->type, thing->name))
			pairs[count++] = (struct pair){NULL, thing};
	}
	return count;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static uint64_t staged(const struct wti_effects *fx, const struct wti_map_entry *entry)
{
	const uint64_t *count = wti_map_find_text(&fx->staged, entry->text, entry->bytes);

	return count ? *count : 0;
}

static void add_staged(struct diffing *d, const struct wti_map_entry *entry)
{
	uint64_t a = staged(d->a, entry), b = staged(d->b, entry);
	const char *call = strrchr(entry->text, '\t');

	if (a == b || !call)
		return;
	d->difference.counts++;
	wt_table_row(d->counts);
	wti_table_word(d->counts, !a ? "+" : !b ? "-" : "~");
	wti_table_word(d->counts, "stage");
	wt_table_text(d->counts, entry->text, (size_t)(call - entry->text));
	wti_table_word(d->counts, call + 1);
	wt_table_count(d->counts, a);
	wt_table_count(d->counts, b);
	wti_table_word(d->counts, "");
	wti_table_word(d->counts, "");
}

/* Also where the sums are the same: what was done while training may be done while saving now. */
static void compare_stages(struct diffing *d)
{
	for (size_t i = 0; i < d->a->staged.count; i++)
		add_staged(d, &d->a->staged.entries[i]);
	for (size_t i = 0; i < d->b->staged.count; i++)
		if (!staged(d->a, &d->b->staged.entries[i]))
			add_staged(d, &d->b->staged.entries[i]);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static const struct wti_value *value_of(const struct wti_effects *fx, const char *name)
{
	for (size_t i = 0; i < fx->value_count; i++)
		if (!strcmp(fx->values[i].name, name))
			return &fx->values[i];
	return NULL;
}

static void add_number(struct wt_table *table, const struct wti_value *value, bool is_first)
{
	if (value)
		wt_table_number(table, is_first ? value->first : value->last);
	else
		wt_table_empty(table);
}

static void add_value(struct wt_table *table, const char *name, const struct wti_value *a,
		      const struct wti_value *b)
{
	wt_table_row(table);
	wti_table_word(table, name);
	wt_table_count(table, a ? a->count : 0);
	wt_table_count(table, b ? b->count : 0);
	add_number(table, a, true);
	add_number(table, b, true);
	add_number(table, a, false);
	add_number(table, b, false);
}

static bool same_value(const struct wti_value *a, const struct wti_value *b)
{
	return a && b && a->count == b->count && !memcmp(&a->first, &b->first, sizeof(a->first)) &&
	       a->hash == b->hash;
}

/* Counters and settings: all that were emitted, not only their ends, must be the same. */
static void compare_values(struct diffing *d, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "values", "values");

	wt_table_column(table, "name", "value", WT_CELL_TEXT);
	wt_table_column(table, "count_a", "times in A", WT_CELL_COUNT);
	wt_table_hide(table, 3);
	wt_table_column(table, "count_b", "in B", WT_CELL_COUNT);
	wt_table_hide(table, 4);
	wt_table_column(table, "first_a", "first in A", WT_CELL_NUMBER);
	wt_table_hide(table, 1);
	wt_table_column(table, "first_b", "in B", WT_CELL_NUMBER);
	wt_table_hide(table, 2);
	wt_table_column(table, "last_a", "last in A", WT_CELL_NUMBER);
	wt_table_column(table, "last_b", "in B", WT_CELL_NUMBER);
	for (size_t i = 0; i < d->a->value_count; i++) {
		const struct wti_value *a = &d->a->values[i], *b = value_of(d->b, a->name);

		if (!same_value(a, b)) {
			add_value(table, a->name, a, b);
			d->difference.values++;
		}
	}
	for (size_t i = 0; i < d->b->value_count; i++) {
		if (value_of(d->a, d->b->values[i].name))
			continue;
		add_value(table, d->b->values[i].name, NULL, &d->b->values[i]);
		d->difference.values++;
	}
}

int wti_diff(const struct wti_effects *a, const struct wti_effects *b,
	     const struct wti_diff_options *options, struct wt_result *result,
	     struct wti_difference *ret_difference, struct wt_err *err)
{
	struct diffing d = {.a = a, .b = b, .options = options};
	struct pair *pairs = calloc(a->thing_count + b->thing_count + 1, sizeof(*pairs));
	size_t count;
	int r;

	if (!pairs)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	d.effects = new_table(result, "effects", "effects");
	d.counts = new_table(result, "counts", "counts");
	d.noise = new_table(result, "noise", "");
	count = pair_up(&d, pairs);
	if (count)
		qsort(pairs, count, sizeof(*pairs), by_name);
	for (size_t i = 0; i < count; i++) {
		compare_pair(&d, &pairs[i]);
		compare_traits(&d, &pairs[i]);
	}
	free(pairs);
	compare_stages(&d);
	compare_values(&d, result);
	r = wti_diff_order(a, b, options, result, &d.difference.order, err);
	if (!r)
		*ret_difference = d.difference;
	return r;
}
