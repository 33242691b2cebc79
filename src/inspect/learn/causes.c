/* SPDX-License-Identifier: Apache-2.0 */
/* Violations put together by what they are about. */
#include <stdlib.h>
#include <string.h>

#include "causes.h"

#define TOPICS_MAX (4u * WTI_INVARIANTS_MAX)

/* Acts are called as in packs, so that what an act is there for and the act itself are one. */
static const char *const topics[WTI_TOPIC_COUNT] = {
	[WTI_TOPIC_NONE] = "",
	[WTI_TOPIC_MODES] = "modes",
	[WTI_TOPIC_CLEARING] = "Optimizer.zero_grad",
	[WTI_TOPIC_OPTIMIZER_STEP] = "Optimizer.step",
	[WTI_TOPIC_SCHEDULER_STEP] = "Scheduler.step",
	[WTI_TOPIC_BEGINNINGS] = "beginnings",
	[WTI_TOPIC_CHECKPOINTS] = "checkpoints",
	[WTI_TOPIC_CONTENTS] = "contents",
	[WTI_TOPIC_GRADIENTS] = "gradients",
	[WTI_TOPIC_MOVEMENT] = "movement",
	[WTI_TOPIC_NUMBERS] = "numbers",
	[WTI_TOPIC_RANKS] = "ranks",
	[WTI_TOPIC_RATES] = "rates",
	[WTI_TOPIC_REPETITION] = "repetition",
	[WTI_TOPIC_SHAPES] = "shapes",
	[WTI_TOPIC_TYPES] = "types",
};

static enum wti_topic topic_of(const struct wti_checker *checker,
			       const struct wti_invariant *invariant)
{
	struct wti_words words;

	wti_invariant_read(&words, checker->pack, invariant);
	return wti_topic_of(wti_relations[invariant->relation], &words);
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
	return join(joining, place, topics[WTI_TOPIC_MODES], strlen(topics[WTI_TOPIC_MODES]));
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

	return strcmp(name, "Module.zero_grad") ? name : topics[WTI_TOPIC_CLEARING];
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
	/* What is published has itself as its second: those of one function have one cause. */
	const bool is_published = wti_relations[invariant->relation]->publication;
	const uint32_t subject[] = {invariant->relation, invariant->subject[0],
				    is_published ? 0 : invariant->subject[1]};
	enum wti_topic topic;

	if (!join(joining, place, subject, sizeof(subject)))
		return false;
	if (invariant->fact.form == WTI_FORM_CALLS || invariant->fact.form == WTI_FORM_SINCE ||
	    invariant->fact.form == WTI_FORM_BEFORE)
		return join_acts(checker, joining, place, account);
	topic = topic_of(checker, invariant);
	return !topic || (join(joining, place, topics[topic], strlen(topics[topic])) &&
			  note_act(joining, place, topics[topic]));
}

/* ---- What follows from acts ------------------------------------------------------------------ */

/* What a violation is, as a link of a chain of causes. */
enum link {
	LINK_OTHER,
	LINK_ACT,   /* something is not done, or done too often, or in another mode */
	LINK_VALUE, /* what comes of it: contents, changes, counts of a run that goes on longer */
};

static enum link link_of(const struct wti_invariant *invariant, enum wti_topic topic)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];

	if (relation->publication)
		return LINK_OTHER;
	if (invariant->fact.form == WTI_FORM_CALLS || invariant->fact.form == WTI_FORM_SINCE ||
	    invariant->fact.form == WTI_FORM_BEFORE)
		return LINK_ACT;
	switch (topic) {
	case WTI_TOPIC_MODES:
	case WTI_TOPIC_CLEARING:
	case WTI_TOPIC_OPTIMIZER_STEP:
	case WTI_TOPIC_SCHEDULER_STEP:
		return LINK_ACT;
	case WTI_TOPIC_CONTENTS:
	case WTI_TOPIC_GRADIENTS:
	case WTI_TOPIC_MOVEMENT:
	case WTI_TOPIC_NUMBERS:
	case WTI_TOPIC_RATES:
		return LINK_VALUE;
	case WTI_TOPIC_NONE:
		return relation->is_of_values ? LINK_VALUE : LINK_OTHER;
	default:
		return LINK_OTHER;
	}
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
	enum wti_topic topic = topic_of(checker, account->invariant);
	enum link link = link_of(account->invariant, topic);
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
	if (topic == WTI_TOPIC_MODES && account->first_step < whole->mode_first)
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
