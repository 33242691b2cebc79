/* SPDX-License-Identifier: Apache-2.0 */
/* Violations put together by what they are about. */
#include <stdlib.h>
#include <string.h>

#include "causes.h"

#define TOPICS_MAX (4u * WTI_INVARIANTS_MAX)

/*
 * What a fact is about, by how its name ends; the first row that fits. What goes from one value to
 * the next (NaN, types) has one topic whoever notices it; what an act is there for has the act as
 * its topic.
 */
static const struct {
	const char *relation; /* NULL: any */
	const char *ending;
	const char *topic;
} topics[] = {
	{"mode", "", "modes"},
	{"argument", "the training flag of the module around it", "modes"},
	{"consistent", "is like no other", "beginnings"},
	{"consistent", "", "ranks"},
	{"schedule", "is used", "Scheduler.step"},
	{"schedule", "follows a step of its optimizer", "Scheduler.step"},
	{"schedule", "", "rates"},
	{"saved", "", "checkpoints"},
	{"changes", "are cleared between two steps", "Optimizer.zero_grad"},
	{"changes", "has no NaN", "numbers"},
	{"changes", "", "movement"},
	{"contain", "parameter changes", "movement"},
	{"loss", "leads to a step", "Optimizer.step"},
	{"loss", "is made from parameters", "gradients"},
	{NULL, ".requires_grad", "gradients"},
	{NULL, "has no NaN", "numbers"},
	{NULL, "is finite", "numbers"},
	{NULL, "finds finite gradients", "numbers"},
	{NULL, "dtype", "types"},
	{NULL, ".shape", "shapes"},
	{NULL, ".shape[0]", "shapes"},
	{NULL, ".ndim", "shapes"},
	{NULL, "is as large as one of its parts", "shapes"},
	{NULL, "is not constant", "contents"},
	{NULL, "is not all zeros", "contents"},
	{NULL, "is not nearly all zeros", "contents"},
	{NULL, "has negative elements", "contents"},
	{NULL, "is not within 0 and 1", "contents"},
	{NULL, "of the trained", "contents"},
	{NULL, "than the trained", "contents"},
	{NULL, "differs from the last", "repetition"},
	{NULL, "differs from that of the epoch before", "repetition"},
	{NULL, "differs on each rank", "repetition"},
	{NULL, "is new in its epoch", "repetition"},
	{NULL, "each time", "repetition"},
	{NULL, "each time in a step", "repetition"},
};

static bool ends_with(const char *text, const char *ending)
{
	size_t bytes = strlen(text), of_ending = strlen(ending);

	return bytes >= of_ending && !strcmp(text + bytes - of_ending, ending);
}

static const char *topic_of(const char *relation, const char *fact, const char *other)
{
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		if ((!topics[i].relation || !strcmp(topics[i].relation, relation)) &&
		    (ends_with(fact, topics[i].ending) || ends_with(other, topics[i].ending)))
			return topics[i].topic;
	return NULL;
}

/* ---- Acts ----------------------------------------------------------------------------------- */

static uint32_t act_of(const struct wti_invariant *invariant, uint32_t place)
{
	return place == 0   ? invariant->fact.a
	       : place == 1 ? invariant->fact.b
			    : invariant->then[place - 2];
}

/* An act that has its place in a pair that was right is not what is missing. */
static bool is_in_place(const struct wti_account *account, uint32_t place)
{
	uint32_t right = account->first_facts;

	return right >> place & 1 || (place && right >> (place - 1) & 1);
}

size_t wti_causes_acts(const struct wti_account *account, uint32_t acts[WTI_ACTS_MAX])
{
	const struct wti_invariant *invariant = account->invariant;
	uint32_t count = invariant->then_count + 2;
	size_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!is_in_place(account, i))
			acts[found++] = act_of(invariant, i);
	for (uint32_t i = 0; !found && i < count; i++)
		acts[i] = act_of(invariant, i);
	return found ? found : count;
}

/* ---- Putting together ----------------------------------------------------------------------- */

struct joining {
	struct wti_map topics; /* who came first with it: place plus one */
	struct wti_cause *causes;
};

static uint32_t first_of(const struct joining *joining, uint32_t place)
{
	while (joining->causes[place].first != place)
		place = joining->causes[place].first;
	return place;
}

static bool join(struct joining *joining, uint32_t place, const void *topic, size_t bytes)
{
	uint64_t *slot = wti_map_text(&joining->topics, topic, bytes);
	uint32_t a, b;

	if (!slot)
		return false;
	if (!*slot)
		*slot = place + 1;
	a = first_of(joining, place);
	b = first_of(joining, (uint32_t)*slot - 1);
	joining->causes[a < b ? b : a].first = a < b ? a : b;
	return true;
}

static bool join_acts(const struct wti_checker *checker, struct joining *joining, uint32_t place,
		      const struct wti_account *account)
{
	uint32_t acts[WTI_ACTS_MAX] = {account->invariant->fact.a};
	size_t count = account->invariant->fact.form == WTI_FORM_BEFORE
			       ? wti_causes_acts(account, acts)
			       : 1;
	bool done = true;

	for (size_t i = 0; i < count && done; i++) {
		const char *name = wti_symbol_text(&checker->pack->symbols, acts[i]);

		done = join(joining, place, name, strlen(name));
	}
	return done;
}

static bool join_one(const struct wti_checker *checker, struct joining *joining, uint32_t place,
		     const struct wti_account *account)
{
	const struct wti_invariant *invariant = account->invariant;
	const struct wti_symbols *symbols = &checker->pack->symbols;
	/* What is published has itself as its second: those of one function have one cause. */
	const bool is_published = wti_relations[invariant->relation]->publication;
	const uint32_t subject[] = {invariant->relation, invariant->subject[0],
				    is_published ? 0 : invariant->subject[1]};
	const char *topic;

	if (!join(joining, place, subject, sizeof(subject)))
		return false;
	if (invariant->fact.form == WTI_FORM_CALLS || invariant->fact.form == WTI_FORM_SINCE ||
	    invariant->fact.form == WTI_FORM_BEFORE)
		return join_acts(checker, joining, place, account);
	topic = topic_of(wti_relations[invariant->relation]->name,
			 wti_symbol_text(symbols, invariant->fact.a),
			 wti_symbol_text(symbols, invariant->fact.b));
	return !topic || join(joining, place, topic, strlen(topic));
}

static int by_first(const void *a, const void *b)
{
	const struct wti_cause *left = a, *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

bool wti_causes_find(const struct wti_checker *checker, struct wti_account *const *violated,
		     size_t count, struct wti_cause *ret_causes)
{
	struct joining joining = {.causes = ret_causes};
	bool done = true;

	wti_map_init(&joining.topics, TOPICS_MAX);
	for (uint32_t i = 0; i < count; i++)
		ret_causes[i] = (struct wti_cause){i, i};
	for (uint32_t i = 0; i < count && done; i++)
		done = join_one(checker, &joining, i, violated[i]);
	for (uint32_t i = 0; i < count; i++)
		ret_causes[i].first = first_of(&joining, i);
	if (count)
		qsort(ret_causes, count, sizeof(*ret_causes), by_first);
	wti_map_release(&joining.topics);
	return done;
}
