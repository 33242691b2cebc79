/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens in every step. The occasion is the end of a step, in each stage that had calls in
 * it; true is that a function was called; measured is how often, of those that make up a training
 * loop.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "inspect/learn/bag.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define FUNCTIONS_MAX 192u
#define STAGES_MAX 6u

/* clang-format off */
enum term {
	/* subjects */
	STEP,
};

static const struct wti_term terms[] = {
	[STEP] = {"step", "step"},
	{0},
};
/* clang-format on */

struct window {
	uint32_t stage;
	struct wti_bag calls;
};

struct flow { /* of a process */
	int64_t step;
	bool has_step;
	bool is_first;
	struct window windows[STAGES_MAX];
	uint32_t window_count;
	struct wti_moment last; /* where the step ended; without its calls */
};

struct state {
	struct flow *flows;
	size_t count;
};

static struct flow *flow_of(struct state *state, size_t stream)
{
	size_t before = state->count;

	if (wti_grow(&state->flows, stream + 1, &state->count, WTI_NO_CEILING))
		return NULL;
	for (size_t i = before; i < state->count; i++)
		state->flows[i] = (struct flow){.is_first = true};
	return &state->flows[stream];
}

static struct window *window_of(struct flow *flow, uint32_t stage)
{
	for (uint32_t i = 0; i < flow->window_count; i++)
		if (flow->windows[i].stage == stage)
			return &flow->windows[i];
	if (flow->window_count == STAGES_MAX)
		return NULL;
	flow->windows[flow->window_count] = (struct window){.stage = stage};
	return &flow->windows[flow->window_count++];
}

static void end_window(struct wti_scene *scene, struct flow *flow, struct window *window)
{
	struct wti_moment moment = flow->last;

	moment.scope.step = flow->step;
	moment.scope.stage = window->stage;
	wti_occasion(scene, &wti_relation_every_step, &moment,
		     wti_term(scene, &wti_relation_every_step, STEP), window->stage);
	wti_occasion_flag(scene, WTI_FEATURE_FIRST, flow->is_first);
	for (uint32_t i = 0; i < window->calls.count; i++) {
		const struct wti_bag_item *item = &window->calls.items[i];

		wti_say_called(scene, item->symbol, item->count);
		if (wti_scene_is_act(scene, item->symbol))
			wti_measure(scene, item->symbol, item->count);
	}
	wti_report(scene);
	wti_bag_empty(&window->calls);
}

static void end_step(struct wti_scene *scene, struct flow *flow)
{
	for (uint32_t i = 0; i < flow->window_count; i++)
		if (flow->windows[i].calls.count)
			end_window(scene, flow, &flow->windows[i]);
	flow->is_first = false;
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct flow *flow = flow_of(opaque, moment->process->stream);
	struct window *window;

	if (!flow || moment->scope.step < 0)
		return;
	if (flow->has_step && flow->step != moment->scope.step)
		end_step(scene, flow);
	flow->has_step = true;
	flow->step = moment->scope.step;
	window = window_of(flow, moment->scope.stage);
	if (window)
		wti_bag_add(&window->calls, wti_scene_function(scene, moment->call), 1, 0,
			    FUNCTIONS_MAX);
	flow->last = *moment;
	flow->last.parent = NULL;
	flow->last.call = NULL;
	flow->last.event = NULL;
}

static void release(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < state->count; i++)
		for (uint32_t j = 0; j < state->flows[i].window_count; j++)
			wti_bag_release(&state->flows[i].windows[j].calls);
	free(state->flows);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (*words->subject[1])
		wti_buf_printf(out, "in stage %s, ", words->subject[1]);
	if (words->form == WTI_FORM_RANGE && words->low == words->high)
		wti_buf_printf(out, "a step that calls %s does so %g time%s", words->a, words->low,
			       words->low == 1 ? "" : "s");
	else if (words->form == WTI_FORM_RANGE)
		wti_buf_printf(out, "a step that calls %s does so %g to %g times", words->a,
			       words->low, words->high);
	else
		wti_buf_printf(out, "every step calls %s", words->a);
}

/* Acts of the loop are few and belong to it; other functions are many. */
static const char *kind_of(const struct wti_words *words)
{
	return wti_is_of_a_role(words->a) ? words->a : "";
}

/* A step that has begun and did not end says nothing: the last one is left out. */
const struct wti_relation wti_relation_every_step = {
	.name = "every-step",
	.code = "WT-LEARN-STEP",
	.title = "something is missing in a step that every step has",
	.definition = "hypothesis: every step (of a stage) calls this function, or calls it so "
		      "often. For: a step "
		      "that does. Against: a step that ended and did not.",
	.means = "something that belongs to every step was left out, or is done too often",
	.hint = "compare the training loop with the one of the runs that this was learned from",
	.innocent = "a loop that is meant to differ from those it was learned from",
	.needs = "no step in these circumstances",
	.moments = WTI_MOMENT_CALL,
	.features = 1u << WTI_FEATURE_FIRST,
	.state_bytes = sizeof(struct state),
	.is_by_stage = true,
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = kind_of,
	.needs_all = true,
};
