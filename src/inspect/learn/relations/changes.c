/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes and stays: what becomes of each parameter and buffer from one optimizer step to the next,
 * whether it got a gradient, and whether what is trained is held and what is held is used. The
 * occasion is a parameter when an optimizer of its process has stepped; its circumstances are what
 * it is (trained, frozen, used, held), what gradient it had and at which rate.
 */
#include "inspect/learn/relation.h"
#include "relations.h"

#define PARAMETERS_MAX 4096u /* looked at in one step; models with more are sampled by name */
#define PATIENCE 4u          /* steps without any gradient that may be chance */
#define COPY_PATIENCE 30u    /* steps that a copy may lag behind */
#define SETTLED 2u           /* steps from which on it is known what is used */

/* clang-format off */
enum term {
	/* subjects */
	PARAMETER, BUFFER, GRADIENT, FROZEN_PARAMETER, FROZEN_BUFFER, MODEL_COPY,
	TRAINED_PARAMETER, HELD_PARAMETER, OLD_GRADIENTS, OPTIMIZER,
	/* the second of a subject */
	GROUPS,
	/* facts */
	CHANGES, STAYS, HAS_NO_NAN, STAYS_AS_IT_IS, FOLLOWS_MODEL, IS_THERE, IS_NOT_ZERO,
	IS_NOT_ALWAYS_ZERO, IS_HELD_BY_OPTIMIZER, IS_USED, ARE_CLEARED_BETWEEN_STEPS,
	HAS_NO_EMPTY_GROUP, IS_KEPT_BETWEEN_STEPS,
};

static const struct wti_term terms[] = {
	[PARAMETER] = {"parameter", "parameter"},
	[BUFFER] = {"buffer", "buffer"},
	[GRADIENT] = {"gradient", "gradient"},
	[FROZEN_PARAMETER] = {"frozen_parameter", "frozen parameter"},
	[FROZEN_BUFFER] = {"frozen_buffer", "frozen buffer"},
	[MODEL_COPY] = {"model_copy", "copy of a model"},
	[TRAINED_PARAMETER] = {"trained_parameter", "trained parameter"},
	[HELD_PARAMETER] = {"held_parameter", "held parameter"},
	[OLD_GRADIENTS] = {"old_gradients", "old gradients"},
	[OPTIMIZER] = {"optimizer", "optimizer"},
	[GROUPS] = {"groups", "groups"},
	[CHANGES] = {"changes", "changes"},
	[STAYS] = {"stays", "stays"},
	[HAS_NO_NAN] = {"has_no_nan", "has no NaN", WTI_TOPIC_NUMBERS},
	[STAYS_AS_IT_IS] = {"stays_as_it_is", "stays as it is"},
	[FOLLOWS_MODEL] = {"follows_model", "follows it"},
	[IS_THERE] = {"is_there", "is there"},
	[IS_NOT_ZERO] = {"is_not_zero", "is not zero"},
	[IS_NOT_ALWAYS_ZERO] = {"is_not_always_zero", "is not always zero"},
	[IS_HELD_BY_OPTIMIZER] = {"is_held_by_optimizer", "is held by an optimizer"},
	[IS_USED] = {"is_used", "is used"},
	[ARE_CLEARED_BETWEEN_STEPS] = {"are_cleared_between_steps", "are cleared between two steps", WTI_TOPIC_CLEARING},
	[HAS_NO_EMPTY_GROUP] = {"has_no_empty_group", "has no empty group"},
	[IS_KEPT_BETWEEN_STEPS] = {"is_kept_between_steps", "is kept from step to step"},
	{0},
};
/* clang-format on */

struct seen {
	uint64_t hash;
	bool has_hash;
	uint32_t still_count; /* steps without a change */
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

enum memory {
	PARAMETERS,
	USES, /* of modules: the clock of the process when it was called last */
	OPTIMIZERS,
	STEPS, /* of optimizers: the clock at the last one */
	FLOWS,
};

/* Whether its module was called since the optimizer's last step, with gradients or without. */
static bool is_used_now(const struct wti_scene *scene, const struct wti_parameter *parameter,
			uint64_t since)
{
	const uint64_t *used =
		wti_recall_find_key(scene, USES, parameter->stream, parameter->module);

	return used && *used > since;
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
static void report_frozen(struct wti_scene *scene, const struct wti_moment *moment,
			  const struct wti_parameter *parameter, bool changed)
{
	bool takes_part = parameter->optimizer || wti_parameter_is_used(scene->training, parameter);

	if (!takes_part || (parameter->is_buffer ? !is_of_frozen_module(scene->training, parameter)
						 : parameter->requires_grad))
		return;
	wti_occasion_of_term(scene, &wti_relation_changes, moment,
			     parameter->is_buffer ? FROZEN_BUFFER : FROZEN_PARAMETER, WTI_NO_TERM);
	scene->occasion.about = parameter->name;
	if (!changed)
		wti_say_term(scene, STAYS_AS_IT_IS);
	wti_report(scene);
}

/* A copy of a model that no optimizer holds follows it: an average, a target. */
static void report_copy(struct wti_scene *scene, const struct wti_moment *moment,
			const struct wti_parameter *parameter, uint32_t still_count)
{
	const struct wti_object *owner =
		wti_training_object(scene->training, parameter->stream, parameter->owner);

	if (!owner || owner->how != WT_FOUND_COPIED || parameter->optimizer || parameter->is_buffer)
		return;
	wti_occasion_of_term(scene, &wti_relation_changes, moment, MODEL_COPY, WTI_NO_TERM);
	scene->occasion.about = parameter->name;
	if (still_count < COPY_PATIENCE)
		wti_say_term(scene, FOLLOWS_MODEL);
	wti_report(scene);
}

static void report_change(struct wti_scene *scene, const struct wti_moment *moment,
			  const struct wti_parameter *parameter, bool is_held, uint64_t since)
{
	struct seen *seen = wti_recall_of_parameter(scene, PARAMETERS, parameter);
	bool is_known, changed;

	if (!seen || !parameter->has_hash)
		return;
	is_known = seen->has_hash;
	changed = seen->hash != parameter->hash;
	*seen = (struct seen){parameter->hash, true, changed ? 0 : seen->still_count + 1};
	if (!is_known)
		return;
	report_copy(scene, moment, parameter, seen->still_count);
	wti_occasion_of_term(scene, &wti_relation_changes, moment,
			     parameter->is_buffer ? BUFFER : PARAMETER, WTI_NO_TERM);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_flag(scene, WTI_FEATURE_OPTIMIZED, is_held);
	wti_occasion_flag(scene, WTI_FEATURE_USED, is_used_now(scene, parameter, since));
	/* What is trained and stays, such as a model that has converged, does not have to. */
	if (changed)
		wti_say_term(scene, CHANGES);
	else if (!is_held || parameter->grad != WTI_GRAD_NONZERO)
		wti_say_term(scene, STAYS);
	if (!parameter->has_statistics || !parameter->statistics.nan)
		wti_say_term(scene, HAS_NO_NAN);
	wti_report(scene);
	report_frozen(scene, moment, parameter, changed);
}

/* A parameter that took part in the forward pass has a gradient when it is stepped. */
static void report_gradient(struct wti_scene *scene, const struct wti_moment *moment,
			    const struct wti_parameter *parameter, uint64_t since)
{
	if (parameter->grad == WTI_GRAD_UNKNOWN || !parameter->requires_grad ||
	    !is_used_now(scene, parameter, since))
		return;
	wti_occasion_of_term(scene, &wti_relation_changes, moment, GRADIENT, WTI_NO_TERM);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_word(scene, WTI_FEATURE_GRADIENT, 0);
	if (parameter->grad != WTI_GRAD_NONE)
		wti_say_term(scene, IS_THERE);
	if (parameter->grad == WTI_GRAD_NONZERO)
		wti_say_term(scene, IS_NOT_ZERO);
	if (!parameter->has_grad_statistics || !parameter->grad_statistics.nan)
		wti_say_term(scene, HAS_NO_NAN);
	if (parameter->with_grad_count || parameter->step_count < PATIENCE)
		wti_say_term(scene, IS_NOT_ALWAYS_ZERO);
	wti_report(scene);
}

static void plain_occasion(struct wti_scene *scene, const struct wti_moment *moment,
			   const struct wti_parameter *parameter, enum term subject)
{
	wti_occasion_of_term(scene, &wti_relation_changes, moment, subject, WTI_NO_TERM);
	wti_occasion_parameter(scene, parameter);
	wti_occasion_word(scene, WTI_FEATURE_OPTIMIZED, 0);
	wti_occasion_word(scene, WTI_FEATURE_USED, 0);
	wti_occasion_word(scene, WTI_FEATURE_GRADIENT, 0);
	wti_occasion_word(scene, WTI_FEATURE_RATE, 0);
}

/* What is trained is held by an optimizer, what is held is used. */
static void report_membership(struct wti_scene *scene, const struct wti_moment *moment,
			      const struct wti_parameter *parameter)
{
	bool is_used = wti_parameter_is_used(scene->training, parameter);

	if (parameter->is_buffer)
		return;
	if (is_used && parameter->requires_grad) {
		plain_occasion(scene, moment, parameter, TRAINED_PARAMETER);
		if (parameter->optimizer)
			wti_say_term(scene, IS_HELD_BY_OPTIMIZER);
		wti_report(scene);
	}
	if (parameter->optimizer && parameter->is_member) {
		plain_occasion(scene, moment, parameter, HELD_PARAMETER);
		if (is_used)
			wti_say_term(scene, IS_USED);
		wti_report(scene);
	}
}

static void report_clear(struct wti_scene *scene, const struct wti_moment *moment,
			 struct held *held)
{
	if (held->was_looked_at) {
		wti_occasion_of_term(scene, &wti_relation_changes, moment, OLD_GRADIENTS,
				     WTI_NO_TERM);
		if (held->was_clear)
			wti_say_term(scene, ARE_CLEARED_BETWEEN_STEPS);
		wti_report(scene);
	}
	*held = (struct held){0};
}

/* A group that has a learning rate has parameters. */
static void report_groups(struct wti_scene *scene, const struct wti_moment *moment)
{
	uint32_t filled = 0;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		uint32_t group = wti_object_member(scene->training, moment->object, i)->group;

		filled |= group < WTI_GROUPS_MAX ? 1u << group : 0;
	}
	if (!moment->object->lr_known || !filled)
		return;
	wti_occasion_of_term(scene, &wti_relation_changes, moment, OPTIMIZER, GROUPS);
	if (!(moment->object->lr_known & ~filled))
		wti_say_term(scene, HAS_NO_EMPTY_GROUP);
	wti_report(scene);
}

/* An optimizer that lives for one step only has no state; two in a row are no coincidence. */
static void report_optimizer(struct wti_scene *scene, const struct wti_moment *moment,
			     struct flow *flow)
{
	bool is_new = moment->object->step_count < 2;

	if (flow->clock > 2) {
		wti_occasion_of_term(scene, &wti_relation_changes, moment, OPTIMIZER, WTI_NO_TERM);
		if (!is_new || !flow->was_new)
			wti_say_term(scene, IS_KEPT_BETWEEN_STEPS);
		wti_report(scene);
	}
	flow->was_new = is_new;
}

static void see_stepped(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_training *training = scene->training;
	size_t stride = 1 + training->parameters.count / PARAMETERS_MAX;
	struct flow *flow = wti_recall(scene, FLOWS, moment);
	uint64_t *last = wti_recall(scene, STEPS, moment);
	struct held *held = wti_recall(scene, OPTIMIZERS, moment);
	uint64_t since = last ? *last : 0;
	bool had_backward = held && held->had_backward;

	if (!flow || !last || !held)
		return;
	report_optimizer(scene, moment, flow);
	report_groups(scene, moment);
	if (moment->object->step_count > 1)
		report_clear(scene, moment, held);
	for (size_t i = 0; i < training->parameters.count; i += stride) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);
		bool is_held = parameter->optimizer == moment->object->place + 1;

		if (parameter->stream != moment->process->stream)
			continue;
		report_change(scene, moment, parameter, is_held, since);
		if (is_held && had_backward)
			report_gradient(scene, moment, parameter, since);
		if (moment->object->step_count >= SETTLED)
			report_membership(scene, moment, parameter);
	}
	*last = ++flow->clock;
}

static void see_step(struct wti_scene *scene, const struct wti_moment *moment)
{
	struct held *held = wti_recall(scene, OPTIMIZERS, moment);

	if (held)
		held->had_backward = moment->object->backward_count;
}

static void see_module(struct wti_scene *scene, const struct wti_moment *moment)
{
	struct flow *flow = wti_recall(scene, FLOWS, moment);
	uint64_t *used = wti_recall(scene, USES, moment);

	if (flow && used)
		*used = flow->clock + 1;
}

/* Just before a backward: what stands in .grad of each optimizer's parameters. */
static void see_gradients(struct wti_scene *scene, const struct wti_moment *moment)
{
	struct held *held;

	if (wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_BACKWARD)
		return;
	held = wti_recall(scene, OPTIMIZERS, moment);
	if (!held)
		return;
	held->was_looked_at = true;
	held->was_clear |= !wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	switch (moment->type) {
	case WTI_MOMENT_STEPPED:
		see_stepped(scene, moment);
		break;
	case WTI_MOMENT_MODULE:
		see_module(scene, moment);
		break;
	case WTI_MOMENT_STEP:
		see_step(scene, moment);
		break;
	default:
		see_gradients(scene, moment);
	}
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	switch (words->subject_term[0]) {
	case OPTIMIZER:
		wti_buf_printf(out, "an %s %s", words->subject[0], words->a);
		break;
	case OLD_GRADIENTS:
		wti_buf_printf(out, "%s %s of an optimizer", words->subject[0], words->a);
		break;
	case GRADIENT:
		wti_buf_printf(out, "when a parameter is stepped, its gradient %s", words->a);
		break;
	case PARAMETER:
	case BUFFER:
		wti_buf_printf(out, "from one optimizer step to the next a %s %s",
			       words->subject[0], words->a);
		break;
	default:
		wti_buf_printf(out, "a %s %s", words->subject[0], words->a);
	}
}

static const struct wti_consequence consequences[] = {
	{IS_NOT_ZERO, IS_THERE},
	{IS_NOT_ZERO, IS_NOT_ALWAYS_ZERO},
};

/* Some batches do not reach every parameter. */
static bool is_of_chance(const struct wti_words *words)
{
	return words->a_term == CHANGES || words->a_term == IS_NOT_ZERO;
}

const struct wti_relation wti_relation_changes = {
	.name = "changes",
	.code = "WT-LEARN-CHANGE",
	.title = "a state changes that should stay fixed, or stays fixed that should change",
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
	.keeps = {[PARAMETERS] = {WTI_PER_PARAMETER, sizeof(struct seen)},
		  [USES] = {WTI_PER_MODULE, sizeof(uint64_t)},
		  [OPTIMIZERS] = {WTI_PER_OBJECT, sizeof(struct held)},
		  [STEPS] = {WTI_PER_OBJECT, sizeof(uint64_t)},
		  [FLOWS] = {WTI_PER_PROCESS, sizeof(struct flow)}},
	.terms = terms,
	.topic = WTI_TOPIC_MOVEMENT,
	.see = see,
	.describe = describe,
	.consequences = consequences,
	.consequence_count = sizeof(consequences) / sizeof(consequences[0]),
	.kind_of = wti_kind_by_fact,
	.is_of_chance = is_of_chance,
	.is_of_values = true,
};
