/* SPDX-License-Identifier: Apache-2.0 */
/* Occasions against a pack. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "checker.h"
#include "example.h"

/* ---- The index ------------------------------------------------------------------------------ */

static uint32_t here(const struct wti_checker *checker, uint32_t symbol)
{
	return wti_symbol_word(checker->symbols, wti_symbol_text(&checker->pack->symbols, symbol));
}

static struct wti_precondition when_here(const struct wti_checker *checker,
					 const struct wti_precondition *when)
{
	struct wti_precondition result = *when;

	for (uint32_t i = 0; i < result.count; i++)
		for (uint32_t j = 0; j < result.any[i].count; j++) {
			struct wti_clause *clause = &result.any[i].clauses[j];

			if (!wti_features[clause->feature].is_number)
				clause->value = here(checker, clause->value);
		}
	return result;
}

/* Chains the account in front of those with the same key. */
static bool chain(struct wti_map *map, const void *key, size_t bytes, uint32_t number,
		  uint32_t *ret_next)
{
	uint64_t *slot = wti_map_text(map, key, bytes);

	if (!slot)
		return false;
	*ret_next = (uint32_t)*slot;
	*slot = number + 1;
	return true;
}

static bool index_fact(struct wti_checker *checker, uint32_t number, uint32_t bit,
		       const struct wti_entry_key *key)
{
	uint32_t place = checker->fact_count;

	if (!chain(&checker->facts, key, sizeof(*key), place, &checker->fact_of[place].next))
		return false;
	checker->fact_of[place].account = number;
	checker->fact_of[place].bit = bit;
	checker->fact_count++;
	checker->accounts[number].all_facts |= 1u << bit;
	return true;
}

/* Its fact; of an order, one for each pair. */
static bool index_facts(struct wti_checker *checker, uint32_t number, struct wti_entry_key *key)
{
	const struct wti_invariant *invariant = &checker->pack->invariants[number];
	bool done = index_fact(checker, number, 0, key);

	for (uint32_t i = 0; i < invariant->then_count && done; i++) {
		key->a = key->b;
		key->b = here(checker, invariant->then[i]);
		done = index_fact(checker, number, i + 1, key);
	}
	return done;
}

static bool index_invariant(struct wti_checker *checker, uint32_t number, const char *today)
{
	const struct wti_invariant *invariant = &checker->pack->invariants[number];
	struct wti_account *account = &checker->accounts[number];
	struct wti_entry_key key = {
		.relation = invariant->relation,
		.subject = {here(checker, invariant->subject[0]),
			    here(checker, invariant->subject[1])},
		.form = invariant->fact.form,
		.a = here(checker, invariant->fact.a),
		.b = here(checker, invariant->fact.b),
	};

	*account = (struct wti_account){.invariant = invariant, .first_step = -1, .last_step = -1};
	checker->when[number] = when_here(checker, &invariant->when);
	account->is_suppressed = wti_pack_suppressed(checker->pack, invariant, today);
	account->is_of_chance = wti_invariant_is_of_chance(checker->pack, invariant);
	checker->suppressed_count += account->is_suppressed;
	checker->relations |= 1u << invariant->relation;
	return chain(&checker->subjects, &key, offsetof(struct wti_entry_key, form), number,
		     &account->next) &&
	       index_facts(checker, number, &key);
}

int wti_checker_init(struct wti_checker *checker, const struct wti_pack *pack,
		     struct wti_symbols *symbols, const char *today, struct wt_err *err)
{
	size_t count = pack->count, facts = pack->count;
	bool done;

	for (size_t i = 0; i < count; i++)
		facts += pack->invariants[i].then_count;
	*checker = (struct wti_checker){.pack = pack, .symbols = symbols, .rules_since = INT64_MAX};
	wti_map_init(&checker->subjects, WTI_INVARIANTS_MAX);
	wti_map_init(&checker->facts, facts + 1);
	checker->accounts = calloc(count + 1, sizeof(*checker->accounts));
	checker->when = calloc(count + 1, sizeof(*checker->when));
	checker->fact_of = calloc(facts + 1, sizeof(*checker->fact_of));
	done = checker->accounts && checker->when && checker->fact_of;
	for (uint32_t i = 0; i < count && done; i++)
		done = index_invariant(checker, i, today);
	return done ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

void wti_checker_release(struct wti_checker *checker)
{
	wti_map_release(&checker->subjects);
	wti_map_release(&checker->facts);
	free(checker->accounts);
	free(checker->when);
	free(checker->fact_of);
	*checker = (struct wti_checker){0};
}

/* ---- Occasions ------------------------------------------------------------------------------ */

static void mark(struct wti_checker *checker, const struct wti_entry_key *key, double measure)
{
	const uint64_t *slot = wti_map_find_text(&checker->facts, (const char *)key, sizeof(*key));

	for (uint32_t at = slot ? (uint32_t)*slot : 0; at; at = checker->fact_of[at - 1].next) {
		const struct wti_fact_of *of = &checker->fact_of[at - 1];
		struct wti_account *account = &checker->accounts[of->account];

		if (account->stamp != checker->occasion_count)
			account->true_facts = 0;
		account->stamp = checker->occasion_count;
		account->true_facts |= 1u << of->bit;
		account->measured = measure;
	}
}

static void remember_about(struct wti_account *account, uint32_t about)
{
	for (uint32_t i = 0; i < account->about_count && i < WTI_ABOUT_SHOWN; i++)
		if (account->about[i] == about)
			return;
	if (!about)
		return;
	if (account->about_count < WTI_ABOUT_SHOWN)
		account->about[account->about_count] = about;
	account->about_count++;
}

/* What it is where it should be something else. */
static uint32_t found_instead(const struct wti_checker *checker, const struct wti_account *account,
			      const struct wti_occasion *occasion)
{
	const struct wti_invariant *invariant = account->invariant;
	uint32_t a = here(checker, invariant->fact.a);

	if (invariant->fact.form != WTI_FORM_IS)
		return 0;
	for (uint32_t i = 0; i < occasion->fact_count; i++)
		if (occasion->facts[i].form == WTI_FORM_IS && occasion->facts[i].a == a)
			return occasion->facts[i].b;
	return 0;
}

static void violated(struct wti_checker *checker, struct wti_account *account,
		     const struct wti_occasion *occasion)
{
	const struct wti_moment *moment = occasion->moment;

	/* Of chance only many are news. */
	if (account->is_of_chance)
		checker->has_news = true;
	wti_steps_widen(&account->first_step, &account->last_step, moment->scope.step,
			!account->violation_count);
	if (!account->violation_count++) {
		checker->has_news = true;
		account->where = wti_moment_where(moment);
		account->actual = account->measured;
		account->instead = found_instead(checker, account, occasion);
		account->first = occasion->vector;
		account->first_facts =
			account->stamp == checker->occasion_count ? account->true_facts : 0;
	}
	if (moment->scope.rank >= 0 && moment->scope.rank < 64)
		account->ranks |= 1ull << moment->scope.rank;
	remember_about(account, occasion->about);
}

bool wti_account_is_violated(const struct wti_account *account)
{
	const struct wti_support *support = &account->invariant->support;

	if (!account->violation_count || !account->is_of_chance)
		return account->violation_count;
	return wti_is_beyond_chance(
		account->violation_count, account->violation_count + account->held_count,
		wti_units_of_support(support->run_count, support->program_count));
}

static bool is_within(const struct wti_account *account)
{
	return account->measured >= account->invariant->low &&
	       account->measured <= account->invariant->high;
}

static void judge(struct wti_checker *checker, uint32_t number, const struct wti_occasion *occasion)
{
	struct wti_account *account = &checker->accounts[number];
	bool is_said = account->stamp == checker->occasion_count &&
		       account->true_facts == account->all_facts;

	if (!wti_precondition_holds(&checker->when[number], &occasion->vector))
		return;
	switch (wti_outcome_of(account->invariant->fact.form, is_said, is_within(account))) {
	case WTI_OUTCOME_FOR:
		account->held_count++;
		break;
	case WTI_OUTCOME_AGAINST:
		violated(checker, account, occasion);
		break;
	default:
		break;
	}
}

struct judging {
	struct wti_checker *checker;
	const struct wti_occasion *occasion;
	uint32_t first; /* account of the subject, plus one */
};

/* Whether anything is known of the subject. */
static bool begin_subject(void *opaque, const struct wti_entry_key *subject)
{
	struct judging *judging = opaque;
	const uint64_t *slot = wti_map_find_text(&judging->checker->subjects, (const char *)subject,
						 offsetof(struct wti_entry_key, form));

	judging->checker->occasion_count += slot != NULL;
	judging->first = slot ? (uint32_t)*slot : 0;
	return slot;
}

static void mark_said(void *opaque, const struct wti_entry_key *key, double measure)
{
	const struct judging *judging = opaque;

	mark(judging->checker, key, measure);
}

static void judge_subject(void *opaque, const struct wti_entry_key *subject)
{
	const struct judging *judging = opaque;

	for (uint32_t at = judging->first; at; at = judging->checker->accounts[at - 1].next)
		judge(judging->checker, at - 1, judging->occasion);
}

void wti_checker_take(void *opaque, const struct wti_occasion *occasion)
{
	struct judging judging = {.checker = opaque, .occasion = occasion};

	wti_examples(occasion, &(struct wti_example_taker){
				       .self = &judging,
				       .begin = begin_subject,
				       .said = mark_said,
				       .end = judge_subject,
				       .with_general = true,
			       });
}
