/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order among the acts of a training loop. The occasion is an act X; true is each act Y that came
 * since the X before (cover and lead are this, seen from either end), and for two of them which
 * came last: "the last zero_grad came before the last backward".
 *
 * Optimizers are kept apart: the acts of one do not stand for those of another. The first X, which
 * has none before it, is an occasion of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/learn/bag.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define ACTS_MAX 24u
#define FLOWS_MAX 4096u

/* clang-format off */
enum term {
	/* the second of a subject */
	FIRST,
};

static const struct wti_term terms[] = {
	[FIRST] = {"first", "first"},
	{0},
};
/* clang-format on */

struct act { /* X of one object, since it was there last */
	uint32_t function;
	uint32_t object;
	bool was_there;
	struct wti_bag since;
};

struct flow { /* of a process */
	struct act acts[ACTS_MAX];
	uint32_t count;
	uint64_t clock;
};

struct state {
	struct flow *flows;
	size_t count;
};

static struct flow *flow_of(struct state *state, size_t stream)
{
	if (wti_grow_zeroed(&state->flows, stream + 1, &state->count, FLOWS_MAX))
		return NULL;
	return &state->flows[stream];
}

static struct act *act_of(struct flow *flow, uint32_t function, uint32_t object)
{
	for (uint32_t i = 0; i < flow->count; i++)
		if (flow->acts[i].function == function && flow->acts[i].object == object)
			return &flow->acts[i];
	if (flow->count == ACTS_MAX)
		return NULL;
	flow->acts[flow->count] = (struct act){.function = function, .object = object};
	return &flow->acts[flow->count++];
}

static void say_order(struct wti_scene *scene, const struct wti_bag *since)
{
	for (uint32_t i = 0; i < since->count; i++)
		for (uint32_t j = 0; j < since->count; j++)
			if (since->items[i].last < since->items[j].last)
				wti_say(scene, WTI_FORM_BEFORE, since->items[i].symbol,
					since->items[j].symbol);
}

static uint32_t backwards(const struct wti_scene *scene, const struct act *act)
{
	const struct wti_bag_item *item =
		wti_bag_find(&act->since, scene->words[WTI_WORD_BACKWARD]);

	return !item ? 0 : item->count < 2 ? item->count : 2;
}

static void report_act(struct wti_scene *scene, const struct wti_moment *moment, struct act *act)
{
	wti_occasion(scene, &wti_relation_order, moment, act->function,
		     act->was_there ? 0 : wti_term(scene, &wti_relation_order, FIRST));
	wti_occasion_number(scene, WTI_FEATURE_BACKWARDS, backwards(scene, act));
	wti_occasion_inside(scene, moment);
	for (uint32_t i = 0; i < act->since.count; i++)
		wti_say(scene, WTI_FORM_SINCE, act->since.items[i].symbol, 0);
	say_order(scene, &act->since);
	wti_report(scene);
}

/* What belongs to another object of the same kind is not an act for this one. */
static bool concerns(const struct act *act, uint32_t function, uint32_t object, bool is_optimizer)
{
	return !is_optimizer || !act->object || act->object == object || act->function == function;
}

/* Forward passes and batches come whenever they are needed; what is done with them has an order. */
static bool is_judged(const struct wti_scene *scene, uint32_t function)
{
	return function != scene->words[WTI_WORD_FORWARD] &&
	       strncmp(wti_symbol_text(scene->symbols, function), "Loader.", 7);
}

/* A layer within a model is no act of the loop. */
static bool is_inside(const struct wti_moment *moment)
{
	return moment->call->flags & WT_CALL_MODE_KNOWN &&
	       !(moment->call->flags & WT_CALL_OUTERMOST);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	uint32_t function = wti_scene_function(scene, moment->call);
	bool is_optimizer = moment->object && moment->object->type == WT_OBJECT_TYPE_OPTIMIZER;
	uint32_t object = is_optimizer ? moment->object->name : 0;
	struct flow *flow;
	struct act *act;

	if (!wti_scene_is_act(scene, function) || moment->call->exception || is_inside(moment))
		return;
	if (function == wti_scene_word(scene, "Module.zero_grad"))
		function = scene->words[WTI_WORD_ZERO_GRAD]; /* it clears what optimizers hold */
	if (function == wti_scene_word(scene, "Wrapper.forward"))
		function = scene->words[WTI_WORD_FORWARD];
	flow = flow_of(opaque, moment->process->stream);
	act = flow ? act_of(flow, function, object) : NULL;
	if (!act)
		return;
	if (is_judged(scene, function))
		report_act(scene, moment, act);
	act->was_there = true;
	wti_bag_empty(&act->since);
	flow->clock++;
	for (uint32_t i = 0; i < flow->count; i++)
		if (&flow->acts[i] != act &&
		    concerns(&flow->acts[i], function, object, is_optimizer))
			wti_bag_add(&flow->acts[i].since, function, 1, flow->clock, ACTS_MAX);
}

static void release(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < state->count; i++)
		for (uint32_t j = 0; j < state->flows[i].count; j++)
			wti_bag_release(&state->flows[i].acts[j].since);
	free(state->flows);
}

/* "before each Scheduler.step, backward comes before clip, that before Optimizer.step" */
static void describe_chain(struct wti_buf *out, const struct wti_words *words)
{
	wti_buf_printf(out, "before %s %s, %s comes before %s",
		       words->subject_term[1] == FIRST ? "the first" : "each", words->subject[0],
		       words->a, words->b);
	for (uint32_t i = 0; i < words->then_count; i++)
		wti_buf_printf(out, ", that before %s", words->then[i]);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->form == WTI_FORM_SINCE && words->subject_term[1] == FIRST)
		wti_buf_printf(out, "before the first %s there is a %s", words->subject[0],
			       words->a);
	else if (words->form == WTI_FORM_SINCE)
		wti_buf_printf(out, "between one %s and the next there is a %s", words->subject[0],
			       words->a);
	else
		describe_chain(out, words);
}

static const char *kind_of(const struct wti_words *words)
{
	return words->subject[0];
}

const struct wti_relation wti_relation_order = {
	.name = "order",
	.code = "WT-LEARN-ORDER",
	.title = "out of order",
	.definition = "hypothesis: since the last X there was a Y (lead, cover), or the last Y "
		      "came before the last "
		      "Z. For: an X of which that is true. Against: an X of which it is not. X, Y "
		      "and Z are acts of a "
		      "training loop; those of different optimizers do not stand for each other.",
	.means = "the training loop does things in another order than good ones do, or leaves one "
		 "out",
	.hint = "look at the order of zero_grad, forward, backward, clip, step and the scheduler's "
		"step",
	.innocent = "gradient accumulation and several optimizers, if the pack was learned without "
		    "them",
	.needs = "that act never came in these circumstances",
	.moments = WTI_MOMENT_CALL,
	.features = 1u << WTI_FEATURE_INSIDE | 1u << WTI_FEATURE_OPTIMIZERS |
		    1u << WTI_FEATURE_SCALER | 1u << WTI_FEATURE_BACKWARDS,
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = kind_of,
	.needs_all = true,
};
