/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call contains: other calls at any depth, and changes of state. The occasion is the end of
 * a call that had something inside, or has had before; optimizer steps are complete when their
 * states have come.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "inspect/learn/bag.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define INSIDE_MAX 48u
#define DEPTH_MAX 64u

/* clang-format off */
enum term {
	/* the second of a subject */
	PARAMETER,
	/* facts */
	SOME_PARAMETER_CHANGES, EVERY_PARAMETER_CHANGES,
};

static const struct wti_term terms[] = {
	[PARAMETER] = {"parameter", "parameter"},
	[SOME_PARAMETER_CHANGES] = {"some_parameter_changes", "some parameter changes", WTI_TOPIC_MOVEMENT},
	[EVERY_PARAMETER_CHANGES] = {"every_parameter_changes", "every parameter changes", WTI_TOPIC_MOVEMENT},
	{0},
};
/* clang-format on */

struct flow { /* of a track */
	struct wti_bag inside[DEPTH_MAX];
};

struct state {
	struct wti_map index; /* stream and track: place plus one */
	struct flow *flows;
	size_t count, capacity;
	struct wti_map parents; /* functions that ever had something inside */
	bool is_ready;
};

static struct flow *flow_of(struct state *state, const struct wti_call *call)
{
	uint64_t *slot;

	if (!state->is_ready) {
		wti_map_init(&state->index, 4096);
		wti_map_init(&state->parents, 65536);
		state->is_ready = true;
	}
	slot = wti_map_number(&state->index, (uint64_t)call->stream << 32 | call->track);
	if (!slot)
		return NULL;
	if (!*slot) {
		if (wti_grow(&state->flows, state->count + 1, &state->capacity, WTI_NO_CEILING))
			return NULL;
		state->flows[state->count] = (struct flow){0};
		*slot = ++state->count;
	}
	return &state->flows[*slot - 1];
}

static void report_call(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function,
			const struct wti_bag *inside)
{
	wti_occasion(scene, &wti_relation_contain, moment, function, 0);
	for (uint32_t i = 0; i < inside->count; i++)
		wti_say_called(scene, inside->items[i].symbol, inside->items[i].count);
	wti_report(scene);
}

/* A call contains everything that the calls inside it contain. */
static void pass_on(struct wti_bag *outer, const struct wti_bag *inner, uint32_t function)
{
	wti_bag_add(outer, function, 1, 0, INSIDE_MAX);
	for (uint32_t i = 0; i < inner->count; i++)
		wti_bag_add(outer, inner->items[i].symbol, inner->items[i].count, 0, INSIDE_MAX);
}

static void see_call(struct wti_scene *scene, struct state *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct flow *flow = flow_of(state, call);
	uint32_t function;
	uint64_t *is_parent;

	if (!flow || call->depth >= DEPTH_MAX)
		return;
	function = wti_scene_function(scene, call);
	is_parent = wti_map_number(&state->parents, function);
	if (is_parent && flow->inside[call->depth].count)
		*is_parent = 1;
	if (is_parent && *is_parent && !call->exception)
		report_call(scene, moment, function, &flow->inside[call->depth]);
	if (call->depth)
		pass_on(&flow->inside[call->depth - 1], &flow->inside[call->depth], function);
	for (uint32_t i = call->depth; i < DEPTH_MAX && flow->inside[i].count; i++)
		wti_bag_empty(&flow->inside[i]);
}

/* An optimizer's step, with what became of its parameters. */
static void see_stepped(struct wti_scene *scene, const struct wti_moment *moment)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < moment->object->member_count; i++)
		moved += wti_object_member(scene->training, moment->object, i)->moved;
	wti_occasion(scene, &wti_relation_contain, moment, scene->words[WTI_WORD_OPTIMIZER_STEP],
		     wti_term(scene, &wti_relation_contain, PARAMETER));
	if (moved)
		wti_say_term(scene, SOME_PARAMETER_CHANGES);
	if (moved && moved == moment->object->member_count)
		wti_say_term(scene, EVERY_PARAMETER_CHANGES);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_CALL)
		see_call(scene, opaque, moment);
	else if (moment->object)
		see_stepped(scene, moment);
}

static void release(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < state->count; i++)
		for (uint32_t j = 0; j < DEPTH_MAX; j++)
			wti_bag_release(&state->flows[i].inside[j]);
	free(state->flows);
	wti_map_release(&state->index);
	wti_map_release(&state->parents);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->form == WTI_FORM_CALLS)
		wti_buf_printf(out, "each %s calls %s", words->subject[0], words->a);
	else
		wti_buf_printf(out, "in each %s %s", words->subject[0], words->a);
}

/* Some batches do not reach every parameter. */
static bool is_of_chance(const struct wti_words *words)
{
	return words->a_term == EVERY_PARAMETER_CHANGES;
}

const struct wti_relation wti_relation_contain = {
	.name = "contain",
	.code = "WT-LEARN-CONTAIN",
	.title = "something is missing in a call that it contains in good runs",
	.definition = "hypothesis: each call of X calls Y, directly or not, or changes state in a "
		      "certain way. For: a "
		      "call of X that does. Against: one that ended without. Calls that raise are "
		      "not counted.",
	.means = "a function does less, or something else, than it does in good runs",
	.hint = "look at what that call does, and at what was put in its place",
	.innocent = "another version of the library, other modules inside",
	.needs = "that function was never called in these circumstances",
	.measures = WTI_NEEDS_PARAMETERS,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.features = WTI_FEATURES_OF_CALLS | 1u << WTI_FEATURE_SCALER | 1u << WTI_FEATURE_RATE,
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.is_of_chance = is_of_chance,
	.needs_all = true,
};
