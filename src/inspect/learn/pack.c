/* SPDX-License-Identifier: Apache-2.0 */
/* Packs in memory: learned, merged, put in order, suppressed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "pack.h"
#include "phrases.h"
#include "reduce.h"
#include "relation.h"

#define NAME_MAX_BYTES 65536u
#define PHRASE_BYTES 512
#define TIMES_MAX 4294967295.0 /* calls on one occasion: a partial result may name any number */

int wti_pack_new(struct wti_pack **ret_pack, struct wt_err *err)
{
	struct wti_pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_symbols_init(&pack->symbols);
	*ret_pack = pack;
	return 0;
}

void wti_pack_free(struct wti_pack *pack)
{
	if (!pack)
		return;
	for (size_t i = 0; i < pack->suppression_count; i++) {
		free(pack->suppressions[i].pattern);
		free(pack->suppressions[i].reason);
		free(pack->suppressions[i].until);
	}
	free(pack->suppressions);
	free(pack->invariants);
	free(pack->source);
	wti_symbols_release(&pack->symbols);
	free(pack);
}

struct wti_invariant *wti_pack_add(struct wti_pack *pack)
{
	if (wti_grow(&pack->invariants, pack->count + 1, &pack->capacity, WTI_INVARIANTS_MAX))
		return NULL;
	memset(&pack->invariants[pack->count], 0, sizeof(*pack->invariants));
	return &pack->invariants[pack->count++];
}

/* ---- Names ---------------------------------------------------------------------------------- */

void wti_invariant_read(struct wti_words *words, const struct wti_pack *pack,
			const struct wti_invariant *invariant)
{
	const char *const subject[] = {wti_symbol_text(&pack->symbols, invariant->subject[0]),
				       wti_symbol_text(&pack->symbols, invariant->subject[1])};

	wti_words_init(words, wti_relations[invariant->relation], subject, invariant->fact.form,
		       wti_symbol_text(&pack->symbols, invariant->fact.a),
		       wti_symbol_text(&pack->symbols, invariant->fact.b));
	words->low = invariant->low;
	words->high = invariant->high;
	words->then_count = invariant->then_count;
	for (uint32_t i = 0; i < invariant->then_count; i++)
		words->then[i] = wti_symbol_text(&pack->symbols, invariant->then[i]);
}

void wti_invariant_words(struct wti_buf *out, const struct wti_pack *pack,
			 const struct wti_invariant *invariant)
{
	struct wti_words words;

	wti_invariant_read(&words, pack, invariant);
	wti_relations[invariant->relation]->describe(out, &words);
	if (invariant->when.count)
		wti_buf_text(out, ", ");
	wti_precondition_words(out, &pack->symbols, &invariant->when);
}

/* An invariant without programs was written by hand, and is never put down to chance. */
bool wti_invariant_is_of_chance(const struct wti_pack *pack, const struct wti_invariant *invariant)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];
	struct wti_words words;

	if (!invariant->support.program_count)
		return false;
	wti_invariant_read(&words, pack, invariant);
	return wti_times_reach_zero(invariant->support.times_low, invariant->support.times_high) ||
	       (relation->is_of_chance && relation->is_of_chance(&words));
}

static void add_phrase(struct wti_buf *text, const struct wti_pack *pack,
		       const struct wti_invariant *invariant, uint32_t symbol)
{
	char phrase[PHRASE_BYTES];

	wti_buf_printf(text, "%s\n",
		       wti_phrase_of_word(wti_relations[invariant->relation]->name,
					  wti_symbol_text(&pack->symbols, symbol), phrase,
					  sizeof(phrase)));
}

/* What it says, not how well it is supported. */
static void name_invariant(const struct wti_pack *pack, struct wti_invariant *invariant)
{
	struct wti_buf text;

	wti_buf_init(&text, NAME_MAX_BYTES);
	wti_buf_printf(&text, "%s\n", wti_relations[invariant->relation]->name);
	add_phrase(&text, pack, invariant, invariant->subject[0]);
	add_phrase(&text, pack, invariant, invariant->subject[1]);
	wti_buf_printf(&text, "%s\n", wti_forms[invariant->fact.form]);
	add_phrase(&text, pack, invariant, invariant->fact.a);
	add_phrase(&text, pack, invariant, invariant->fact.b);
	wti_buf_printf(&text, "%.17g\n%.17g\n", invariant->low, invariant->high);
	for (uint32_t i = 0; i < invariant->then_count; i++)
		wti_buf_printf(&text, "%s\n", wti_symbol_text(&pack->symbols, invariant->then[i]));
	wti_precondition_words(&text, &pack->symbols, &invariant->when);
	snprintf(invariant->id, sizeof(invariant->id), "%s-%08x",
		 wti_relations[invariant->relation]->name,
		 (uint32_t)XXH3_64bits(text.data, text.bytes));
	wti_buf_release(&text);
}

struct wti_entry_key wti_invariant_key(const struct wti_invariant *invariant)
{
	return (struct wti_entry_key){
		.relation = invariant->relation,
		.subject = {invariant->subject[0], invariant->subject[1]},
		.form = invariant->fact.form,
		.a = invariant->fact.a,
		.b = invariant->fact.b,
	};
}

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct wti_invariant *left = a, *right = b;
	struct wti_entry_key left_key = wti_invariant_key(left),
			     right_key = wti_invariant_key(right);
	int order = wti_entry_compare(symbols, &left_key, &right_key);

	if (!order)
		order = strcmp(left->id, right->id);
	if (!order)
		order = (left->support.for_count < right->support.for_count) -
			(left->support.for_count > right->support.for_count);
	return order;
}

void wti_pack_settle(struct wti_pack *pack)
{
	size_t kept = 0;

	for (size_t i = 0; i < pack->count; i++)
		name_invariant(pack, &pack->invariants[i]);
	if (pack->count)
		qsort_r(pack->invariants, pack->count, sizeof(*pack->invariants), by_name,
			&pack->symbols);
	for (size_t i = 0; i < pack->count; i++) {
		if (!kept || strcmp(pack->invariants[kept - 1].id, pack->invariants[i].id))
			pack->invariants[kept++] = pack->invariants[i];
		else
			pack->invariants[kept - 1].origins |= pack->invariants[i].origins;
	}
	pack->count = kept;
}

/* ---- Learning ------------------------------------------------------------------------------- */

static uint32_t carry(struct wti_symbols *to, const struct wti_symbols *from, uint32_t symbol)
{
	return wti_symbol_word(to, wti_symbol_text(from, symbol));
}

static void carry_clauses(struct wti_symbols *to, const struct wti_symbols *from,
			  struct wti_precondition *when)
{
	for (uint32_t i = 0; i < when->count; i++)
		for (uint32_t j = 0; j < when->any[i].count; j++) {
			struct wti_clause *clause = &when->any[i].clauses[j];

			if (!wti_features[clause->feature].is_number)
				clause->value = carry(to, from, clause->value);
		}
}

static void carry_invariant(struct wti_symbols *to, const struct wti_symbols *from,
			    struct wti_invariant *invariant)
{
	invariant->subject[0] = carry(to, from, invariant->subject[0]);
	invariant->subject[1] = carry(to, from, invariant->subject[1]);
	invariant->fact.a = carry(to, from, invariant->fact.a);
	invariant->fact.b = carry(to, from, invariant->fact.b);
	for (uint32_t i = 0; i < invariant->then_count; i++)
		invariant->then[i] = carry(to, from, invariant->then[i]);
	carry_clauses(to, from, &invariant->when);
}

static void bounds_of(const struct wti_entry *entry, double *ret_low, double *ret_high)
{
	*ret_low = entry->cells[0].low;
	*ret_high = entry->cells[0].high;
	for (uint32_t i = 1; i < entry->cell_count; i++) {
		if (entry->cells[i].low < *ret_low)
			*ret_low = entry->cells[i].low;
		if (entry->cells[i].high > *ret_high)
			*ret_high = entry->cells[i].high;
	}
}

/* What found no room for its name is not one thing: nothing is known of it. */
static bool is_nameless(const struct wti_entry_key *key)
{
	return key->subject[0] == WTI_SYMBOL_OTHER || key->subject[1] == WTI_SYMBOL_OTHER ||
	       key->a == WTI_SYMBOL_OTHER || key->b == WTI_SYMBOL_OTHER;
}

static bool learn_one(struct wti_pack *pack, const struct wti_tables *tables,
		      const struct wti_entry *entry, const struct wti_demand *demand)
{
	const struct wti_entry *total = wti_tables_total(tables, entry);
	struct wti_invariant learned = {
		.relation = entry->key.relation,
		.subject = {entry->key.subject[0], entry->key.subject[1]},
		.fact = {entry->key.form, entry->key.a, entry->key.b},
	};
	struct wti_invariant *place;
	double low, high;

	if (!total || !entry->cell_count || is_nameless(&entry->key) ||
	    !wti_precondition_find(tables, entry, total, demand, &learned.when, &learned.support))
		return true;
	bounds_of(entry, &low, &high);
	if (entry->key.form == WTI_FORM_RANGE) {
		learned.low = low;
		learned.high = high;
	} else if (entry->key.form == WTI_FORM_CALLS && low >= 0 && low < high &&
		   high <= TIMES_MAX) {
		learned.support.times_low = (uint64_t)low;
		learned.support.times_high = (uint64_t)high;
	}
	if (learned.low < learned.high && !wti_relations[entry->key.relation]->keeps_ranges)
		return true;
	learned.confidence = wti_wilson(learned.support.for_count, learned.support.against_count);
	carry_invariant(&pack->symbols, tables->symbols, &learned);
	place = wti_pack_add(pack);
	if (place)
		*place = learned;
	return place;
}

static int by_key(const void *a, const void *b, void *symbols)
{
	const struct wti_entry *const *left = a, *const *right = b;

	return wti_entry_compare(symbols, &(*left)->key, &(*right)->key);
}

/* In the order of names, so that a pack that is full is full of the same. */
static int learn_all(struct wti_pack *pack, const struct wti_tables *tables,
		     const struct wti_demand *demand, struct wt_err *err)
{
	const struct wti_entry **sorted;
	size_t count = 0;

	sorted = calloc(tables->entry_count + 1, sizeof(*sorted));
	if (!sorted)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < tables->entry_count; i++)
		if (!tables->entries[i].is_dropped && tables->entries[i].key.form != WTI_FORM_TOTAL)
			sorted[count++] = &tables->entries[i];
	qsort_r(sorted, count, sizeof(*sorted), by_key, tables->symbols);
	for (size_t i = 0; i < count; i++)
		if (!learn_one(pack, tables, sorted[i], demand))
			break;
	free(sorted);
	return 0;
}

int wti_pack_learn(struct wti_pack *pack, struct wti_tables *tables,
		   const struct wti_demand *demand, struct wt_err *err)
{
	struct wti_demand full = *demand;
	struct wti_priors priors;
	int r;

	wti_tables_settle(tables);
	full.unit = wti_unit_of(tables);
	full.priors = &priors;
	r = wti_priors_learn(&priors, tables, full.unit, err);
	r = r ? r : learn_all(pack, tables, &full, err);
	wti_priors_release(&priors);
	if (r)
		return r;
	pack->run_count += tables->run_count;
	pack->levels |= tables->levels;
	r = wti_pack_reduce(pack, err);
	return !r && tables->failed ? wti_err(err, WT_E_NOMEM, "out of memory") : r;
}

/* ---- Merging and suppressing ---------------------------------------------------------------- */

void wti_pack_mark(struct wti_pack *pack, size_t number)
{
	for (size_t i = 0; i < pack->count && number < 64; i++)
		pack->invariants[i].origins |= 1ull << number;
}

int wti_pack_merge(struct wti_pack *pack, const struct wti_pack *other, struct wt_err *err)
{
	for (size_t i = 0; i < other->count; i++) {
		struct wti_invariant *place = wti_pack_add(pack);

		if (!place)
			return wti_err(err, WT_E_LIMIT, "too many invariants: more than %d",
				       WTI_INVARIANTS_MAX);
		*place = other->invariants[i];
		carry_invariant(&pack->symbols, &other->symbols, place);
	}
	for (size_t i = 0; i < other->suppression_count; i++) {
		const struct wti_suppression *s = &other->suppressions[i];
		int r = wti_pack_suppress(pack, s->pattern, s->reason, s->until, err);

		if (r)
			return r;
	}
	pack->run_count += other->run_count;
	pack->levels |= other->levels;
	return wti_pack_reduce(pack, err);
}

int wti_pack_suppress(struct wti_pack *pack, const char *pattern, const char *reason,
		      const char *until, struct wt_err *err)
{
	if (pack->suppression_count >= WTI_SUPPRESSIONS_MAX)
		return wti_err(err, WT_E_LIMIT, "too many suppressions: more than %d",
			       WTI_SUPPRESSIONS_MAX);
	if (wti_grow(&pack->suppressions, pack->suppression_count + 1, &pack->suppression_capacity,
		     WTI_SUPPRESSIONS_MAX))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	pack->suppressions[pack->suppression_count++] = (struct wti_suppression){
		strdup(pattern), strdup(reason), until ? strdup(until) : NULL, 0};
	return 0;
}

const struct wti_suppression *wti_pack_suppressed(const struct wti_pack *pack,
						  const struct wti_invariant *invariant,
						  const char *today)
{
	const char *code = wti_relations[invariant->relation]->code;

	for (size_t i = 0; i < pack->suppression_count; i++) {
		const struct wti_suppression *s = &pack->suppressions[i];

		if (s->until && strcmp(s->until, today) < 0)
			continue;
		if (wti_glob(s->pattern, invariant->id, strlen(invariant->id)) ||
		    wti_glob(s->pattern, code, strlen(code)))
			return s;
	}
	return NULL;
}
