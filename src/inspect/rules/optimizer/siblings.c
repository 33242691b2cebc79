/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about models of one build that are used side by side: ensembles, pairs of generators. */
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-OPT-014: one of them was forgotten -------------------------------------------------- */

enum { STEPS_MIN = 4, MODELS_MAX = 256 };

struct model {
	size_t stream;
	uint32_t owner, class_name;
	uint64_t build; /* shapes of its parameters, in their order */
	bool is_optimized,
		is_free; /* a parameter is in an optimizer; all are trainable, and none */
};

struct siblings {
	struct wti_slots loaded; /* objects that were given a state */
	struct model models[MODELS_MAX];
	size_t count;
};

static void release_siblings(void *state)
{
	wti_slots_release(&((struct siblings *)state)->loaded);
}

static void see_loaded(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct siblings *siblings = state;
	uint8_t *loaded;

	(void)account;
	if (moment->call->what != WTI_CALLEE_LOAD_STATE_DICT || !moment->call->object)
		return;
	loaded = wti_slot(&siblings->loaded,
			  (uint64_t)moment->call->stream << 32 | moment->call->object, 1);
	if (loaded)
		*loaded = 1;
}

static struct model *model_of(struct siblings *siblings, const struct wti_training *training,
			      const struct wti_parameter *parameter)
{
	const struct wti_object *object;

	for (size_t i = siblings->count; i-- > 0;)
		if (siblings->models[i].stream == parameter->stream &&
		    siblings->models[i].owner == parameter->owner)
			return &siblings->models[i];
	object = wti_training_object(training, parameter->stream, parameter->owner);
	if (!object || object->type != WT_OBJECT_TYPE_MODULE || siblings->count == MODELS_MAX)
		return NULL;
	siblings->models[siblings->count] = (struct model){.stream = parameter->stream,
							   .owner = parameter->owner,
							   .class_name = object->class_name,
							   .is_free = true};
	return &siblings->models[siblings->count++];
}

static void take_parameter(struct siblings *siblings, const struct wti_training *training,
			   const struct wti_parameter *parameter)
{
	struct model *model = parameter->is_member && !parameter->is_buffer
				      ? model_of(siblings, training, parameter)
				      : NULL;

	if (!model)
		return;
	model->build = (model->build ^ parameter->shape) * 0x9e3779b97f4a7c15u;
	model->is_optimized |=
		parameter->optimizer &&
		wti_object_at(training, parameter->optimizer - 1)->step_count >= STEPS_MIN;
	/* What changes without an optimizer is kept up by the program: an average. */
	model->is_free &= !parameter->optimizer && parameter->requires_grad && !parameter->moved &&
			  wti_parameter_is_used(training, parameter);
}

static bool is_own(const struct siblings *siblings, const struct wti_training *training,
		   const struct model *model)
{
	const struct wti_object *object =
		wti_training_object(training, model->stream, model->owner);

	return object->how != WT_FOUND_COPIED &&
	       !wti_slot_find(&siblings->loaded, (uint64_t)model->stream << 32 | model->owner);
}

static void judge_model(struct wti_case *account, const struct siblings *siblings,
			const struct wti_training *training, const struct model *trained)
{
	struct wti_moment end = wti_moment_of_end(training, trained->stream);

	for (size_t i = 0; i < siblings->count; i++) {
		const struct model *other = &siblings->models[i];

		if (other == trained || other->stream != trained->stream ||
		    other->class_name != trained->class_name || other->build != trained->build)
			continue;
		if (other->is_optimized)
			wti_held(account);
		else if (other->is_free && is_own(siblings, training, other))
			wti_violated(account, &end, other->owner,
				     "it is called with gradients on, is built as %s, which is "
				     "trained, and is in no optimizer",
				     wti_symbol_text(training->symbols, trained->owner));
	}
}

static void finish_siblings(struct wti_case *account, void *state,
			    const struct wti_training *training)
{
	struct siblings *siblings = state;

	for (size_t i = 0; i < training->parameters.count; i++)
		take_parameter(siblings, training, wti_parameter_at(training, i));
	for (size_t i = 0; i < siblings->count; i++)
		if (siblings->models[i].is_optimized)
			judge_model(account, siblings, training, &siblings->models[i]);
}

const struct wti_rule wti_rule_opt_014 = {
	.code = "WT-OPT-014",
	.severity = WT_WARNING,
	.title = "of several models of one build, not all are trained",
	.means =
		"the optimizer was made from one of them: the others of the ensemble, or the other "
		"generator, stay as they were initialised",
	.hint = "give the optimizer all: itertools.chain(a.parameters(), b.parameters())",
	.definition =
		"If an optimizer that steps four times or more has parameters of a model, each "
		"model of the same class and with parameters of the same shapes, all of which "
		"require gradients and are used with gradients on, is in an optimizer too, unless "
		"it is a copy, a state was loaded into it, or its parameters change all the same. "
		"A case is a pair of which both are.",
	.innocent = "A fixed random network of the same build, that is not frozen (random network "
		    "distillation).",
	.needs = "no two models of one build were trained",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct siblings),
	.watch = see_loaded,
	.conclude = finish_siblings,
	.release = release_siblings,
};
