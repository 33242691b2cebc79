/* SPDX-License-Identifier: Apache-2.0 */
/* Violations put together by what they are about. */
#include <stdlib.h>
#include <string.h>

#include "causes.h"

#define TOPICS_MAX (4u * WTI_INVARIANTS_MAX)

static const char topic_of_modes[] = "modes";
static const char topic_of_clearing[] = "Optimizer.zero_grad";

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
	{"mode", "", topic_of_modes},
	{"argument", "the training flag of the module around it", topic_of_modes},
	{"consistent", "is like no other", "beginnings"},
	{"consistent", "", "ranks"},
	{"schedule", "is used", "Scheduler.step"},
	{"schedule", "follows a step of its optimizer", "Scheduler.step"},
	{"schedule", "", "rates"},
	{"saved", "", "checkpoints"},
	{"changes", "are cleared between two steps", topic_of_clearing},
	{"changes", "has no NaN", "numbers"},
	{"changes", "", "movement"},
	{"contain", "parameter changes", "movement"},
	{"loss", "leads to a step", "Optimizer.step"},
	{"parts", "is used by a step", "Optimizer.step"},
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

static const char *topic_of_invariant(const struct wti_symbols *symbols,
				      const struct wti_invariant *invariant)
{
	return topic_of(wti_relations[invariant->relation]->name,
			wti_symbol_text(symbols, invariant->fact.a),
			wti_symbol_text(symbols, invariant->fact.b));
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
	struct wti_map acts;   /* likewise, of what is not said by an order */
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

/* What is called to set modes is what modes are about. */
static bool join_setter(struct joining *joining, uint32_t place, const char *act)
{
	if (strcmp(act, "Module.train") && strcmp(act, "Module.eval"))
		return true;
	return join(joining, place, topic_of_modes, strlen(topic_of_modes));
}

static bool note_act(struct joining *joining, uint32_t place, const char *name)
{
	uint64_t *slot = wti_map_text(&joining->acts, name, strlen(name));

	if (slot && !*slot)
		*slot = place + 1;
	return slot;
}

/* Gradients are cleared by one or the other. */
static const char *act_name(const struct wti_checker *checker, uint32_t act)
{
	const char *name = wti_symbol_text(&checker->pack->symbols, act);

	return strcmp(name, "Module.zero_grad") ? name : topic_of_clearing;
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
		const char *name = act_name(checker, acts[i]);

		done = join(joining, place, name, strlen(name)) &&
		       join_setter(joining, place, name);
		if (account->invariant->fact.form != WTI_FORM_BEFORE)
			done = done && note_act(joining, place, name);
	}
	return done;
}

/* An order that is broken between two acts, of which one is missing, as another violation says.
 * Another act of its name may be in its place here. */
static void join_order(const struct wti_checker *checker, struct joining *joining, uint32_t place,
		       const struct wti_account *account)
{
	uint32_t count = account->invariant->then_count + 2;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = act_name(checker, act_of(account->invariant, i));
		bool is_broken = (i + 1 < count && !(account->first_facts >> i & 1)) ||
				 (i && !(account->first_facts >> (i - 1) & 1));

		if (is_broken && wti_map_find_text(&joining->acts, name, strlen(name)))
			join(joining, place, name, strlen(name));
	}
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
	topic = topic_of_invariant(symbols, invariant);
	return !topic ||
	       (join(joining, place, topic, strlen(topic)) && note_act(joining, place, topic));
}

/* ---- What follows from acts ------------------------------------------------------------------ */

/* What a violation is, as a link of a chain of causes. */
enum link {
	LINK_OTHER,
	LINK_ACT,   /* something is not done, or done too often, or in another mode */
	LINK_VALUE, /* what comes of it: contents, changes, counts of a run that goes on longer */
};

static bool is_one_of(const char *word, const char *const *words)
{
	for (; word && *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static enum link link_of(const struct wti_checker *checker, const struct wti_account *account)
{
	static const char *const acts[] = {topic_of_modes, "Scheduler.step", "Optimizer.step",
					   topic_of_clearing, NULL};
	static const char *const values[] = {"contents", "numbers",   "movement",
					     "rates",    "gradients", NULL};
	static const char *const measures[] = {"output", "loss", "changes", "count", NULL};
	const struct wti_invariant *invariant = account->invariant;
	const char *topic = topic_of_invariant(&checker->pack->symbols, invariant);

	if (wti_relations[invariant->relation]->publication)
		return LINK_OTHER;
	if (invariant->fact.form == WTI_FORM_CALLS || invariant->fact.form == WTI_FORM_SINCE ||
	    invariant->fact.form == WTI_FORM_BEFORE || is_one_of(topic, acts))
		return LINK_ACT;
	if (is_one_of(topic, values) ||
	    (!topic && is_one_of(wti_relations[invariant->relation]->name, measures)))
		return LINK_VALUE;
	return LINK_OTHER;
}

/* What was put together so far, at its first place. */
struct whole {
	int64_t first_step;
	int64_t act_first, act_last; /* steps, of acts alone; act_first is INT64_MAX: it has none */
	int64_t mode_first;          /* likewise, of modes */
	uint32_t head;               /* what is shown, a place plus one */
	bool head_is_act;
	bool is_value;  /* and nothing else */
	bool is_staged; /* what a step of a stage does, or values */
	uint32_t cause; /* the whole that it is part of */
};

static bool is_staged(const struct wti_account *account)
{
	return wti_relations[account->invariant->relation]->is_by_stage &&
	       account->invariant->subject[1];
}

static void add_to_whole(struct whole *whole, const struct wti_checker *checker,
			 const struct wti_account *account, uint32_t place)
{
	enum link link = link_of(checker, account);
	const char *topic = topic_of_invariant(&checker->pack->symbols, account->invariant);
	bool is_act = link == LINK_ACT;

	if (!whole->head)
		*whole = (struct whole){.first_step = account->first_step,
					.act_first = INT64_MAX,
					.act_last = INT64_MIN,
					.mode_first = INT64_MAX,
					.is_value = true,
					.is_staged = true};
	/* They come sorted by their first step: an act is the head if nothing was before it. */
	if (!whole->head ||
	    (is_act && !whole->head_is_act && account->first_step == whole->first_step)) {
		whole->head = place + 1;
		whole->head_is_act = is_act;
	}
	whole->is_value &= link == LINK_VALUE;
	whole->is_staged &= link == LINK_VALUE || is_staged(account);
	if (!is_act)
		return;
	if (account->first_step < whole->act_first)
		whole->act_first = account->first_step;
	if (account->last_step > whole->act_last)
		whole->act_last = account->last_step;
	if (topic && !strcmp(topic, topic_of_modes) && account->first_step < whole->mode_first)
		whole->mode_first = account->first_step;
}

/*
 * Whether one follows from the other: values from an act that is missing, from its step on and as
 * long as it is; what a stage is made of from a mode, as stages go by it.
 */
static bool is_followed(const struct whole *cause, const struct whole *other)
{
	if (other->is_staged && cause->mode_first <= other->first_step)
		return true;
	return other->is_value && cause->act_first <= other->first_step &&
	       other->first_step <= cause->act_last + 1;
}

/* The first that this one follows from, or itself. */
static uint32_t cause_of(const struct whole *wholes, size_t count, uint32_t place)
{
	for (uint32_t i = 0; i < count; i++)
		if (wholes[i].head && i != place && !wholes[i].is_value &&
		    is_followed(&wholes[i], &wholes[place]) &&
		    !is_followed(&wholes[place], &wholes[i]))
			return i;
	return place;
}

/* Each whole that follows from another becomes part of that. Values may follow from what a stage
 * is made of, and that from a mode: there are no longer chains. */
static void follow_acts(const struct wti_checker *checker, struct wti_account *const *violated,
			size_t count, struct wti_cause *causes, struct whole *wholes)
{
	for (uint32_t i = 0; i < count; i++)
		add_to_whole(&wholes[causes[i].first], checker, violated[i], i);
	for (uint32_t i = 0; i < count; i++)
		if (wholes[i].head)
			wholes[i].cause = cause_of(wholes, count, cause_of(wholes, count, i));
	for (uint32_t i = 0; i < count; i++)
		causes[i].first = wholes[wholes[causes[i].first].cause].head - 1;
}

/* The head comes first. */
static int by_first(const void *a, const void *b)
{
	const struct wti_cause *left = a, *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	if ((left->place == left->first) != (right->place == right->first))
		return left->place == left->first ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

bool wti_causes_find(const struct wti_checker *checker, struct wti_account *const *violated,
		     size_t count, struct wti_cause *ret_causes)
{
	struct joining joining = {.causes = ret_causes};
	struct whole *wholes = calloc(count + 1, sizeof(*wholes));
	bool done = wholes;

	wti_map_init(&joining.topics, TOPICS_MAX);
	wti_map_init(&joining.acts, TOPICS_MAX);
	for (uint32_t i = 0; i < count; i++)
		ret_causes[i] = (struct wti_cause){i, i};
	for (uint32_t i = 0; i < count && done; i++)
		done = join_one(checker, &joining, i, violated[i]);
	for (uint32_t i = 0; i < count && done; i++)
		if (violated[i]->invariant->fact.form == WTI_FORM_BEFORE)
			join_order(checker, &joining, i, violated[i]);
	for (uint32_t i = 0; i < count; i++)
		ret_causes[i].first = first_of(&joining, i);
	if (done)
		follow_acts(checker, violated, count, ret_causes, wholes);
	if (count)
		qsort(ret_causes, count, sizeof(*ret_causes), by_first);
	wti_map_release(&joining.topics);
	wti_map_release(&joining.acts);
	free(wholes);
	return done;
}
