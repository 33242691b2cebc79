/* SPDX-License-Identifier: Apache-2.0 */
/* Consequences among the invariants of a pack. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fields.h"
#include "reduce.h"
#include "relation.h"

struct reducing {
	struct wti_pack *pack;
	struct wti_map index; /* bytes of a key: the first invariant with it, plus one */
	uint32_t *next;       /* with the same key, plus one */
	bool *is_gone;
	bool *is_suppressed; /* it may not be asked, so that nothing can rest on it */
	uint32_t last;       /* on which something was found to rest, plus one */
};

static const char *text_of(const struct reducing *reducing, uint32_t symbol)
{
	return wti_symbol_text(&reducing->pack->symbols, symbol);
}

static uint32_t symbol_of(struct reducing *reducing, const char *text)
{
	return wti_symbol_word(&reducing->pack->symbols, text);
}

/* ---- What stands for what ------------------------------------------------------------------- */

static bool is_same_clause(const struct wti_clause *a, const struct wti_clause *b)
{
	return a->type == b->type && a->feature == b->feature && a->other == b->other &&
	       a->value == b->value && a->low == b->low && a->high == b->high;
}

static bool has_clause(const struct wti_conjunction *conjunction, const struct wti_clause *clause)
{
	for (uint32_t i = 0; i < conjunction->count; i++)
		if (is_same_clause(&conjunction->clauses[i], clause))
			return true;
	return false;
}

/* What has all clauses of the other, and maybe more, is a case of it. */
static bool is_case_of(const struct wti_conjunction *special, const struct wti_conjunction *general)
{
	for (uint32_t i = 0; i < general->count; i++)
		if (!has_clause(special, &general->clauses[i]))
			return false;
	return true;
}

/* Whether the one is asked wherever the other is. */
static bool covers(const struct wti_precondition *general, const struct wti_precondition *special)
{
	if (!general->count)
		return true;
	if (!special->count || general->is_inverted || special->is_inverted)
		return false;
	for (uint32_t i = 0; i < special->count; i++) {
		bool is_covered = false;

		for (uint32_t j = 0; j < general->count && !is_covered; j++)
			is_covered = is_case_of(&special->any[i], &general->any[j]);
		if (!is_covered)
			return false;
	}
	return true;
}

/* An invariant with that key on which a consequence can rest. What chance decides is violated by
 * many occasions only, so that nothing rests on it that one occasion violates. */
static const struct wti_invariant *premise(struct reducing *reducing,
					   const struct wti_entry_key *key,
					   const struct wti_invariant *consequence)
{
	const uint64_t *slot = wti_map_find_text(&reducing->index, (const char *)key, sizeof(*key));

	for (uint32_t at = slot ? (uint32_t)*slot : 0; at; at = reducing->next[at - 1]) {
		const struct wti_invariant *other = &reducing->pack->invariants[at - 1];

		if (other != consequence && !reducing->is_gone[at - 1] &&
		    !reducing->is_suppressed[at - 1] && covers(&other->when, &consequence->when) &&
		    other->support.against_count <= consequence->support.against_count &&
		    (!wti_invariant_is_of_chance(reducing->pack, other) ||
		     wti_invariant_is_of_chance(reducing->pack, consequence))) {
			reducing->last = at;
			return other;
		}
	}
	return NULL;
}

static bool has_premise(struct reducing *reducing, const struct wti_invariant *consequence,
			uint32_t form, uint32_t a, uint32_t b)
{
	struct wti_entry_key key = wti_invariant_key(consequence);

	key.form = form;
	key.a = a;
	key.b = b;
	return premise(reducing, &key, consequence);
}

/* The invariants of one relation and subject lie together: the first of them, and the end. */
static void span_of(const struct reducing *reducing, size_t number, size_t *ret_from,
		    size_t *ret_to)
{
	const struct wti_invariant *all = reducing->pack->invariants;
	size_t from = number, to = number + 1;

	while (from && all[from - 1].relation == all[number].relation &&
	       all[from - 1].subject[0] == all[number].subject[0] &&
	       all[from - 1].subject[1] == all[number].subject[1])
		from--;
	while (to < reducing->pack->count && all[to].relation == all[number].relation &&
	       all[to].subject[0] == all[number].subject[0] &&
	       all[to].subject[1] == all[number].subject[1])
		to++;
	*ret_from = from;
	*ret_to = to;
}

/* ---- Facts of the same subject -------------------------------------------------------------- */

/* As its relation knows it: a gradient that is not zero is there. */
static bool follows_by_relation(struct reducing *reducing, const struct wti_invariant *invariant)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];
	int term = wti_term_by_word(relation, text_of(reducing, invariant->fact.a));

	if (invariant->fact.form != WTI_FORM_TRUE || term == WTI_NO_TERM)
		return false;
	for (size_t i = 0; i < relation->consequence_count; i++) {
		const struct wti_consequence *known = &relation->consequences[i];
		struct wti_entry_key key = wti_invariant_key(invariant);

		key.a = symbol_of(reducing, relation->terms[known->fact].word);
		if (known->follows == term && premise(reducing, &key, invariant))
			return true;
	}
	return false;
}

/* What is said of a tensor: what is finite has no NaN, what has one shape has one length. */
static bool follows_by_field(struct reducing *reducing, size_t number)
{
	const struct wti_invariant *invariant = &reducing->pack->invariants[number];
	size_t from, to;

	span_of(reducing, number, &from, &to);
	for (size_t i = from; i < to; i++) {
		const struct wti_invariant *other = &reducing->pack->invariants[i];
		struct wti_entry_key key = wti_invariant_key(other);

		if (i != number && !reducing->is_gone[i] &&
		    wti_fact_implies(&reducing->pack->symbols, &other->fact, &invariant->fact) &&
		    premise(reducing, &key, invariant))
			return true;
	}
	return false;
}

/* Two that are both the same value are the same. */
static bool follows_by_values(struct reducing *reducing, size_t number)
{
	const struct wti_invariant *invariant = &reducing->pack->invariants[number];
	size_t from, to;

	if (invariant->fact.form != WTI_FORM_SAME)
		return false;
	span_of(reducing, number, &from, &to);
	for (size_t i = from; i < to; i++) {
		const struct wti_fact *fact = &reducing->pack->invariants[i].fact;

		if (fact->form == WTI_FORM_IS && fact->a == invariant->fact.a &&
		    has_premise(reducing, invariant, WTI_FORM_IS, invariant->fact.a, fact->b) &&
		    has_premise(reducing, invariant, WTI_FORM_IS, invariant->fact.b, fact->b))
			return true;
	}
	return false;
}

/* "The dtype is f32, where the dtype is f32" says nothing. */
static bool says_nothing(const struct reducing *reducing, const struct wti_invariant *invariant)
{
	const struct wti_clause is_it = {.type = WTI_CLAUSE_CONSTANT,
					 .feature = WTI_FEATURE_DTYPE,
					 .value = invariant->fact.b};

	if (invariant->fact.form != WTI_FORM_IS || !invariant->when.count ||
	    invariant->when.is_inverted ||
	    strcmp(wti_field_kind(text_of(reducing, invariant->fact.a)), ".dtype"))
		return false;
	for (uint32_t i = 0; i < invariant->when.count; i++) {
		bool has = false;

		for (uint32_t j = 0; j < invariant->when.any[i].count; j++) {
			const struct wti_clause *clause = &invariant->when.any[i].clauses[j];

			has |= clause->type == is_it.type && clause->feature == is_it.feature &&
			       clause->value == is_it.value;
		}
		if (!has)
			return false;
	}
	return true;
}

/* ---- Calls and orders ----------------------------------------------------------------------- */

/* Y is called because B is, and B calls Y. What B does it does wherever it is called. */
static bool follows_by_call(struct reducing *reducing, size_t number)
{
	const struct wti_invariant *invariant = &reducing->pack->invariants[number];
	struct wti_entry_key inner = {.relation = (uint32_t)wti_relation_by_name("contain"),
				      .form = WTI_FORM_CALLS};
	size_t from, to;

	if (invariant->fact.form != WTI_FORM_CALLS)
		return false;
	inner.a = invariant->fact.a;
	span_of(reducing, number, &from, &to);
	for (size_t i = from; i < to; i++) {
		const struct wti_invariant *outer = &reducing->pack->invariants[i];
		const struct wti_invariant *found;
		struct wti_entry_key key = wti_invariant_key(outer);

		if (outer->fact.form != WTI_FORM_CALLS || outer->fact.a == invariant->fact.a ||
		    !premise(reducing, &key, invariant))
			continue;
		inner.subject[0] = outer->fact.a;
		found = premise(reducing, &inner, invariant);
		if (found && !found->when.count)
			return true;
	}
	return false;
}

/* Whatever has a place in an order is there; an order of three is two orders of two. */
static bool follows_by_order(struct reducing *reducing, size_t number)
{
	const struct wti_invariant *invariant = &reducing->pack->invariants[number];
	const struct wti_fact *fact = &invariant->fact;
	size_t from, to;

	if (fact->form != WTI_FORM_SINCE && fact->form != WTI_FORM_BEFORE)
		return false;
	span_of(reducing, number, &from, &to);
	for (size_t i = from; i < to; i++) {
		const struct wti_fact *other = &reducing->pack->invariants[i].fact;

		if (i == number || other->form != WTI_FORM_BEFORE)
			continue;
		if (fact->form == WTI_FORM_SINCE && (other->a == fact->a || other->b == fact->a) &&
		    has_premise(reducing, invariant, WTI_FORM_BEFORE, other->a, other->b))
			return true;
		if (fact->form == WTI_FORM_BEFORE && other->a == fact->a && other->b != fact->b &&
		    has_premise(reducing, invariant, WTI_FORM_BEFORE, fact->a, other->b) &&
		    has_premise(reducing, invariant, WTI_FORM_BEFORE, other->b, fact->b))
			return true;
	}
	return false;
}

/* ---- Chains --------------------------------------------------------------------------------- */

static bool is_same_when(const struct wti_precondition *a, const struct wti_precondition *b)
{
	return a->count == b->count && a->is_inverted == b->is_inverted && covers(a, b) &&
	       covers(b, a);
}

static bool can_join(const struct wti_invariant *a, const struct wti_invariant *b)
{
	return a->fact.form == WTI_FORM_BEFORE && b->fact.form == WTI_FORM_BEFORE &&
	       a->relation == b->relation && a->subject[0] == b->subject[0] &&
	       a->subject[1] == b->subject[1] && is_same_when(&a->when, &b->when) &&
	       a->support.for_count == b->support.for_count &&
	       a->support.against_count == b->support.against_count;
}

static uint32_t last_act(const struct wti_invariant *invariant)
{
	return invariant->then_count ? invariant->then[invariant->then_count - 1]
				     : invariant->fact.b;
}

static bool is_act_of(const struct wti_invariant *invariant, uint32_t act)
{
	bool is = invariant->fact.a == act || invariant->fact.b == act;

	for (uint32_t i = 0; i < invariant->then_count; i++)
		is = is || invariant->then[i] == act;
	return is;
}

/* Appends the first pair that goes on where the chain ends; false: there is none. */
static bool lengthen(struct reducing *reducing, size_t number, size_t from, size_t to)
{
	struct wti_invariant *chain = &reducing->pack->invariants[number];

	if (chain->then_count == WTI_CHAIN_MAX)
		return false;
	for (size_t i = from; i < to; i++) {
		const struct wti_invariant *pair = &reducing->pack->invariants[i];

		if (i == number || reducing->is_gone[i] || pair->then_count ||
		    pair->fact.a != last_act(chain) || is_act_of(chain, pair->fact.b) ||
		    !can_join(chain, pair))
			continue;
		chain->then[chain->then_count++] = pair->fact.b;
		chain->origins |= pair->origins;
		reducing->is_gone[i] = true;
		return true;
	}
	return false;
}

/* Whether another leads to where this one begins, and has room for it. */
static bool is_led_to(const struct reducing *reducing, size_t number, size_t from, size_t to)
{
	const struct wti_invariant *all = reducing->pack->invariants;

	for (size_t i = from; i < to; i++)
		if (i != number && !reducing->is_gone[i] && all[i].then_count < WTI_CHAIN_MAX &&
		    last_act(&all[i]) == all[number].fact.a && can_join(&all[i], &all[number]))
			return true;
	return false;
}

static void join_orders(struct reducing *reducing)
{
	for (size_t i = 0; i < reducing->pack->count; i++) {
		size_t from, to;

		if (reducing->is_gone[i] || reducing->is_suppressed[i] ||
		    reducing->pack->invariants[i].fact.form != WTI_FORM_BEFORE)
			continue;
		span_of(reducing, i, &from, &to);
		if (is_led_to(reducing, i, from, to))
			continue;
		while (lengthen(reducing, i, from, to))
			;
	}
}

/* Pairs again, as they were before they were put together: packs are merged that way. What is
 * suppressed keeps its name. */
static int split_chains(struct wti_pack *pack, struct wt_err *err)
{
	for (size_t i = 0; i < pack->count; i++)
		while (pack->invariants[i].then_count &&
		       !wti_pack_suppressed(pack, &pack->invariants[i], "")) {
			struct wti_invariant *place = wti_pack_add(pack);
			struct wti_invariant *chain = &pack->invariants[i];
			uint32_t last = chain->then_count - 1;

			if (!place)
				return wti_err(err, WT_E_LIMIT, "too many invariants: more than %d",
					       WTI_INVARIANTS_MAX);
			*place = *chain;
			place->then_count = 0;
			place->fact.a = last ? chain->then[last - 1] : chain->fact.b;
			place->fact.b = chain->then[last];
			chain->then_count = last;
		}
	return 0;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static bool follows(struct reducing *reducing, size_t number)
{
	const struct wti_invariant *invariant = &reducing->pack->invariants[number];

	return says_nothing(reducing, invariant) || follows_by_relation(reducing, invariant) ||
	       follows_by_field(reducing, number) || follows_by_values(reducing, number) ||
	       follows_by_call(reducing, number) || follows_by_order(reducing, number);
}

/* What it rests on stands for it, whichever pack it comes from. */
static void leave_out(struct reducing *reducing, size_t number)
{
	struct wti_invariant *all = reducing->pack->invariants;

	reducing->last = 0;
	reducing->is_gone[number] = follows(reducing, number);
	if (reducing->is_gone[number] && reducing->last)
		all[reducing->last - 1].origins |= all[number].origins;
}

static bool begin(struct reducing *reducing, struct wti_pack *pack)
{
	size_t count = pack->count + 1;

	*reducing = (struct reducing){.pack = pack};
	wti_map_init(&reducing->index, WTI_INVARIANTS_MAX);
	reducing->next = calloc(count, sizeof(*reducing->next));
	reducing->is_gone = calloc(count, sizeof(*reducing->is_gone));
	reducing->is_suppressed = calloc(count, sizeof(*reducing->is_suppressed));
	if (!reducing->next || !reducing->is_gone || !reducing->is_suppressed)
		return false;
	for (uint32_t i = 0; i < pack->count; i++) {
		struct wti_entry_key key = wti_invariant_key(&pack->invariants[i]);
		uint64_t *slot = wti_map_text(&reducing->index, (const char *)&key, sizeof(key));

		if (!slot)
			return false;
		reducing->next[i] = (uint32_t)*slot;
		*slot = i + 1;
		/* On whatever day: a suppression that ends must not change the pack. */
		reducing->is_suppressed[i] = wti_pack_suppressed(pack, &pack->invariants[i], "");
	}
	return true;
}

static void end(struct reducing *reducing)
{
	wti_map_release(&reducing->index);
	free(reducing->next);
	free(reducing->is_gone);
	free(reducing->is_suppressed);
}

int wti_pack_reduce(struct wti_pack *pack, struct wt_err *err)
{
	struct reducing reducing;
	size_t kept = 0;
	int r = split_chains(pack, err);

	if (r)
		return r;
	wti_pack_settle(pack);
	if (!begin(&reducing, pack)) {
		end(&reducing);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < pack->count; i++)
		leave_out(&reducing, i);
	join_orders(&reducing);
	for (size_t i = 0; i < pack->count; i++)
		if (!reducing.is_gone[i])
			pack->invariants[kept++] = pack->invariants[i];
	pack->count = kept;
	end(&reducing);
	wti_pack_settle(pack);
	return 0;
}
