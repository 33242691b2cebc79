/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes and stays: what becomes of each parameter and buffer from one optimizer step to the next,
 * whether it got a gradient, and whether what is trained is held and what is held is used. The
 * occasion is a parameter when an optimizer of its process has stepped; its circumstances are what
 * it is (trained, frozen, used, held), what gradient it had and at which rate.
 */
#include <string.h>

#include "inspect/learn/relation.h"
#include "inspect/training/slots.h"
#include "relations.h"

#define PARAMETERS_MAX 4096u /* looked at in one step; models with more are sampled by name */
#define PATIENCE 4u          /* steps without any gradient that may be chance */
#define COPY_PATIENCE 30u    /* steps that a copy may lag behind */
#define SETTLED 2u           /* steps from which on it is known what is used */

struct seen {
	uint64_t hash;
	bool has_hash;
	uint32_t still_count; /* steps without a change */
};

struct use {            /* of a module */
	uint64_t clock; /* of the process, when it was called last */
};

struct held {           /* of an optimizer */
	bool was_clear; /* its gradients, at a backward since its last step */
	bool was_looked_at;
	bool had_backward; /* before the step; a closure has its own within it */
};

struct flow {           /* of a process */
	uint64_t clock; /* optimizer steps */
	bool was_new;   /* the optimizer of the last step */
};

struct state {
	struct wti_slots parameters;
	struct wti_slots uses;
	struct wti_slots optimizers;
	struct wti_slots steps;
	struct wti_slots flows;
};

/* Whether its module was called since the optimizer's last step, with gradients or without. */
static bool is_used_now(struct state *state, const struct wti_parameter *parameter, uint64_t since)
{
	struct use *use = wti_slot(
		&state->uses, (uint64_t)parameter->stream << 32 | parameter->module, sizeof(*use));

	return use && use->clock > since;
}

/* Whether no parameter of a buffer's module is trained. */
static bool is_of_frozen_module(const struct wti_training *training,
				const struct wti_parameter *buffer)
{
	bool any = false;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != buffer->stream || parameter->module != buffer->module ||
		    parameter->is_buffer)
			continue;
		if (parameter->requires_grad)
			return false;
		any = true;
	}
	return any;
}

/* What is frozen and takes part in training stays. */
static void tell_frozen(struct wti_scene *scene, const struct wti_moment *moment,
			const struct wti_parameter *parameter, bool changed)
{
	bool takes_part = parameter->optimizer || wti_parameter_is_used(scene->training, parameter);

	if (!takes_part || (parameter->is_buffer ? !is_of_frozen_module(scene->training, parameter)
						 : parameter->requires_grad))
		return;
	wti_occasion(
		scene, &wti_relation_changes, moment,
		wti_scene_word(scene, parameter->is_buffer ? "frozen buffer" : "frozen parameter"),
		0);
	scene->occasion.about = parameter->name;
	if (!changed)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "stays as it is"), 0);
	wti_tell(scene);
}

/* A copy of a model that no optimizer holds follows it: an average, a target. */
static void tell_copy(struct wti_scene *scene, const struct wti_moment *moment,
		      const struct wti_parameter *parameter, uint32_t still_count)
{
	const struct wti_object *owner =
		wti_training_object(scene->training, parameter->stream, parameter->owner);

	if (!owner || owner->how != WT_FOUND_COPIED || parameter->optimizer || parameter->is_buffer)
		return;
	wti_occasion(scene, &wti_relation_changes, moment, wti_scene_word(scene, "copy of a model"),
		     0);
	scene->occasion.about = parameter->name;
	if (still_count < COPY_PATIENCE)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "follows it"), 0);
	wti_tell(scene);
}

static void tell_change(struct wti_scene *scene, struct state *state,
			const struct wti_moment *moment, const struct wti_parameter *parameter,
			bool is_held, uint64_t since)
{
	struct seen *seen = wti_slot_of_parameter(&state->parameters, parameter, sizeof(*seen));
	bool is_known, changed;

	if (!seen || !parameter->has_hash)
		return;
	is_known = seen->has_hash;
	changed = seen->hash != parameter->hash;
	*seen = (struct seen){parameter->hash, true, changed ? 0 : seen->still_count + 1};
	if (!is_known)
		return;
	tell_copy(scene, moment, parameter, seen->still_count);
	wti_occasion(scene, &wti_relation_changes, moment,
		     scene->words[parameter->is_buffer ? WTI_WORD_BUFFER : WTI_WORD_PARAMETER], 0);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_flag(scene, WTI_FEATURE_OPTIMIZED, is_held);
	wti_occasion_flag(scene, WTI_FEATURE_USED, is_used_now(state, parameter, since));
	wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, changed ? "changes" : "stays"), 0);
	if (!parameter->has_statistics || !parameter->statistics.nan)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "has no NaN"), 0);
	wti_tell(scene);
	tell_frozen(scene, moment, parameter, changed);
}

/* A parameter that took part in the forward pass has a gradient when it is stepped. */
static void tell_gradient(struct wti_scene *scene, struct state *state,
			  const struct wti_moment *moment, const struct wti_parameter *parameter,
			  uint64_t since)
{
	if (parameter->grad == WTI_GRAD_UNKNOWN || !parameter->requires_grad ||
	    !is_used_now(state, parameter, since))
		return;
	wti_occasion(scene, &wti_relation_changes, moment, wti_scene_word(scene, "gradient"), 0);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_word(scene, WTI_FEATURE_GRADIENT, 0);
	if (parameter->grad != WTI_GRAD_NONE)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is there"), 0);
	if (parameter->grad == WTI_GRAD_NONZERO)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is not zero"), 0);
	if (!parameter->has_grad_statistics || !parameter->grad_statistics.nan)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "has no NaN"), 0);
	if (parameter->with_grad_count || parameter->step_count < PATIENCE)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is not always zero"), 0);
	wti_tell(scene);
}

static void plain_occasion(struct wti_scene *scene, const struct wti_moment *moment,
			   const struct wti_parameter *parameter, const char *subject)
{
	wti_occasion(scene, &wti_relation_changes, moment, wti_scene_word(scene, subject), 0);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_word(scene, WTI_FEATURE_OPTIMIZED, 0);
	wti_occasion_word(scene, WTI_FEATURE_USED, 0);
	wti_occasion_word(scene, WTI_FEATURE_GRADIENT, 0);
	wti_occasion_word(scene, WTI_FEATURE_RATE, 0);
}

/* What is trained is held by an optimizer, what is held is used. */
static void tell_membership(struct wti_scene *scene, const struct wti_moment *moment,
			    const struct wti_parameter *parameter)
{
	bool is_used = wti_parameter_is_used(scene->training, parameter);

	if (parameter->is_buffer)
		return;
	if (is_used && parameter->requires_grad) {
		plain_occasion(scene, moment, parameter, "trained parameter");
		if (parameter->optimizer)
			wti_say(scene, WTI_FORM_TRUE,
				wti_scene_word(scene, "is held by an optimizer"), 0);
		wti_tell(scene);
	}
	if (parameter->optimizer && parameter->is_member) {
		plain_occasion(scene, moment, parameter, "held parameter");
		if (is_used)
			wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is used"), 0);
		wti_tell(scene);
	}
}

static void tell_clear(struct wti_scene *scene, const struct wti_moment *moment, struct held *held)
{
	if (held->was_looked_at) {
		wti_occasion(scene, &wti_relation_changes, moment,
			     wti_scene_word(scene, "old gradients"), 0);
		if (held->was_clear)
			wti_say(scene, WTI_FORM_TRUE,
				wti_scene_word(scene, "are cleared between two steps"), 0);
		wti_tell(scene);
	}
	*held = (struct held){0};
}

/* A group that has a learning rate has parameters. */
static void tell_groups(struct wti_scene *scene, const struct wti_moment *moment)
{
	uint32_t filled = 0;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		uint32_t group = wti_object_member(scene->training, moment->object, i)->group;

		filled |= group < WTI_GROUPS_MAX ? 1u << group : 0;
	}
	if (!moment->object->lr_known || !filled)
		return;
	wti_occasion(scene, &wti_relation_changes, moment, wti_scene_word(scene, "optimizer"),
		     wti_scene_word(scene, "groups"));
	if (!(moment->object->lr_known & ~filled))
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "has no empty group"), 0);
	wti_tell(scene);
}

/* An optimizer that lives for one step only has no state; two in a row are no coincidence. */
static void tell_optimizer(struct wti_scene *scene, const struct wti_moment *moment,
			   struct flow *flow)
{
	bool is_new = moment->object->step_count < 2;

	if (flow->clock > 2) {
		wti_occasion(scene, &wti_relation_changes, moment,
			     wti_scene_word(scene, "optimizer"), 0);
		if (!is_new || !flow->was_new)
			wti_say(scene, WTI_FORM_TRUE,
				wti_scene_word(scene, "is kept from step to step"), 0);
		wti_tell(scene);
	}
	flow->was_new = is_new;
}

static void see_stepped(struct wti_scene *scene, struct state *state,
			const struct wti_moment *moment)
{
	const struct wti_training *training = scene->training;
	size_t stride = 1 + training->parameters.count / PARAMETERS_MAX;
	struct flow *flow = wti_slot(&state->flows, moment->process->stream, sizeof(*flow));
	uint64_t *last = wti_slot_of_object(&state->steps, moment->object, sizeof(*last));
	struct held *held = wti_slot_of_object(&state->optimizers, moment->object, sizeof(*held));
	uint64_t since = last ? *last : 0;
	bool had_backward = held && held->had_backward;

	if (!flow || !last || !held)
		return;
	tell_optimizer(scene, moment, flow);
	tell_groups(scene, moment);
	if (moment->object->step_count > 1)
		tell_clear(scene, moment, held);
	for (size_t i = 0; i < training->parameters.count; i += stride) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);
		bool is_held = parameter->optimizer == moment->object->place + 1;

		if (parameter->stream != moment->process->stream)
			continue;
		tell_change(scene, state, moment, parameter, is_held, since);
		if (is_held && had_backward)
			tell_gradient(scene, state, moment, parameter, since);
		if (moment->object->step_count >= SETTLED)
			tell_membership(scene, moment, parameter);
	}
	flow = wti_slot(&state->flows, moment->process->stream, sizeof(*flow));
	*last = ++flow->clock;
}

static void see_step(struct state *state, const struct wti_moment *moment)
{
	struct held *held = wti_slot_of_object(&state->optimizers, moment->object, sizeof(*held));

	if (held)
		held->had_backward = moment->object->backward_count;
}

static void see_module(struct state *state, const struct wti_moment *moment)
{
	struct flow *flow = wti_slot(&state->flows, moment->process->stream, sizeof(*flow));
	struct use *use;

	if (!flow || !moment->call->object)
		return;
	use = wti_slot(&state->uses, (uint64_t)moment->process->stream << 32 | moment->call->object,
		       sizeof(*use));
	if (use)
		use->clock = flow->clock + 1;
}

/* Just before a backward: what stands in .grad of each optimizer's parameters. */
static void see_gradients(struct state *state, const struct wti_moment *moment)
{
	struct held *held;

	if (wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_BACKWARD)
		return;
	held = wti_slot_of_object(&state->optimizers, moment->object, sizeof(*held));
	if (!held)
		return;
	held->was_looked_at = true;
	held->was_clear |= !wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	switch (moment->type) {
	case WTI_MOMENT_STEPPED:
		see_stepped(scene, opaque, moment);
		break;
	case WTI_MOMENT_MODULE:
		see_module(opaque, moment);
		break;
	case WTI_MOMENT_STEP:
		see_step(opaque, moment);
		break;
	default:
		see_gradients(opaque, moment);
	}
}

static void release(void *opaque)
{
	struct state *state = opaque;

	wti_slots_release(&state->parameters);
	wti_slots_release(&state->uses);
	wti_slots_release(&state->optimizers);
	wti_slots_release(&state->steps);
	wti_slots_release(&state->flows);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	switch (words->subject[0][0]) {
	case 'o':
		if (words->subject[0][1] == 'p') {
			wti_buf_printf(out, "an %s %s", words->subject[0], words->a);
			break;
		}
		wti_buf_printf(out, "%s %s of an optimizer", words->subject[0], words->a);
		break;
	case 'g':
		wti_buf_printf(out, "when a parameter is stepped, its gradient %s", words->a);
		break;
	case 'c':
	case 'f':
	case 't':
	case 'h':
		wti_buf_printf(out, "a %s %s", words->subject[0], words->a);
		break;
	default:
		wti_buf_printf(out, "from one optimizer step to the next a %s %s",
			       words->subject[0], words->a);
	}
}

static const struct wti_consequence consequences[] = {
	{"is not zero", "is there"},
	{"is not zero", "is not always zero"},
	{0},
};

/* Some batches do not reach every parameter. */
static bool is_of_chance(const struct wti_words *words)
{
	return !strcmp(words->a, "changes") || !strcmp(words->a, "is not zero");
}

const struct wti_relation wti_relation_changes = {
	.name = "changes",
	.code = "WT-LEARN-CHANGE",
	.title = "a state moves that should rest, or rests that should move",
	.definition = "hypothesis: a parameter (a buffer) changes, or stays as it is, from one "
		      "optimizer step to the "
		      "next; it has a gradient; gradients are cleared between two steps; what is "
		      "trained is held by an "
		      "optimizer and what is held is used. For and against: each parameter at each "
		      "step, by the hash of "
		      "all its bytes.",
	.means = "a part of the model is not trained although it should be, or is although it "
		 "should not",
	.hint = "look at requires_grad, at what was given to the optimizer, and at the gradients",
	.innocent = "parameters that only some batches reach",
	.needs = "no parameter in these circumstances was seen over two steps",
	.measures = WTI_NEEDS_PARAMETERS | WTI_NEEDS_GRADIENTS | WTI_NEEDS_BUFFERS |
		    WTI_NEEDS_OPTIMIZER,
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_STEPPED | WTI_MOMENT_MODULE | WTI_MOMENT_GRADIENTS,
	.features = WTI_FEATURES_OF_STATES,
	.state_bytes = sizeof(struct state),
	.see = see,
	.release = release,
	.describe = describe,
	.consequences = consequences,
	.sort = wti_sort_by_fact,
	.is_of_chance = is_of_chance,
};
