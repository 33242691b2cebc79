/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about models of one architecture that are used side by side: ensembles, pairs of
 * generators. */
#include "inspect/judge/rule.h"

/* ---- WT-OPT-014: one of them was forgotten -------------------------------------------------- */

enum { STEPS };
enum { OF_PROCESS, OF_LOADED, OF_MODEL }; /* keeps; OF_LOADED: modules that were given a state */
enum { MODELS_MAX = 256 };

struct siblings {
	uint32_t count; /* of models */
};

struct model {
	uint32_t owner, class_name;
	uint64_t build;    /* shapes of its parameters, in their order */
	bool is_optimized; /* a parameter is in an optimizer */
	bool is_free;      /* all are trainable, and none is in one */
};

static enum wti_answer see_loaded(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_CALL)
		wti_kept(account, OF_LOADED, moment);
	return WTI_RULE_NO_CASE;
}

static struct model *model_of(struct wti_case *account, struct siblings *siblings,
			      const struct wti_training *training,
			      const struct wti_parameter *parameter)
{
	const struct wti_object *object =
		wti_training_object(training, parameter->stream, parameter->owner);
	struct model *model;

	if (!object || object->type != WT_OBJECT_TYPE_MODULE)
		return NULL;
	if (siblings->count == MODELS_MAX &&
	    !wti_kept_find_key(account, OF_MODEL, parameter->stream, parameter->owner))
		return NULL;
	model = wti_kept_of_key(account, OF_MODEL, parameter->stream, parameter->owner);
	if (model && !model->owner) {
		siblings->count++;
		*model = (struct model){.owner = parameter->owner,
					.class_name = object->class_name,
					.is_free = true};
	}
	return model;
}

static void take_parameter(struct wti_case *account, struct siblings *siblings,
			   const struct wti_training *training,
			   const struct wti_parameter *parameter)
{
	struct model *model = parameter->is_member && !parameter->is_buffer
				      ? model_of(account, siblings, training, parameter)
				      : NULL;

	if (!model)
		return;
	model->build = (model->build ^ parameter->shape) * 0x9e3779b97f4a7c15u;
	model->is_optimized |= parameter->optimizer &&
			       wti_object_at(training, parameter->optimizer - 1)->step_count >=
				       wti_threshold(account, STEPS);
	/* What changes without an optimizer is kept up by the program: an average. */
	model->is_free &= !parameter->optimizer && parameter->requires_grad && !parameter->moved &&
			  wti_parameter_is_used(training, parameter);
}

/* Its values are its own: neither copied nor loaded. */
static bool is_own(const struct wti_case *account, const struct wti_moment *end,
		   const struct model *model)
{
	size_t stream = end->process->stream;

	return wti_training_object(end->training, stream, model->owner)->how != WT_FOUND_COPIED &&
	       !wti_kept_find_key(account, OF_LOADED, stream, model->owner);
}

static void judge_model(struct wti_case *account, const struct wti_moment *end,
			const struct model *trained)
{
	const struct model *other;
	size_t place = 0;

	while ((other = wti_kept_next(account, OF_MODEL, end->process->stream, &place))) {
		if (other == trained || other->class_name != trained->class_name ||
		    other->build != trained->build)
			continue;
		if (other->is_optimized)
			wti_held(account);
		else if (other->is_free && is_own(account, end, other))
			wti_violated(account, end, other->owner,
				     "it is called with gradients on, has the architecture of %s, "
				     "which is trained, and is in no optimizer",
				     wti_moment_text(end, trained->owner));
	}
}

static enum wti_answer finish_siblings(struct wti_case *account, void *kept,
				       const struct wti_moment *end)
{
	const struct wti_training *training = end->training;
	const struct model *model;
	size_t place = 0;

	for (size_t i = 0; i < training->parameters.count; i++)
		if (wti_parameter_at(training, i)->stream == end->process->stream)
			take_parameter(account, kept, training, wti_parameter_at(training, i));
	while ((model = wti_kept_next(account, OF_MODEL, end->process->stream, &place)))
		if (model->is_optimized)
			judge_model(account, end, model);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_014 = {
	.code = "WT-OPT-014",
	.severity = WT_WARNING,
	.title = "of several models of the same architecture, not all are trained",
	.means =
		"the optimizer was made from one of them: the others of the ensemble, or the other "
		"generator, stay as they were initialised",
	.hint = "give the optimizer all: itertools.chain(a.parameters(), b.parameters())",
	.definition =
		"If an optimizer that steps four times or more has parameters of a model, each "
		"model of the same class and with parameters of the same shapes, all of which "
		"require gradients and are used with gradients on, is in an optimizer too, unless "
		"it is a copy, a state was loaded into it, or its parameters change all the same. "
		"A case is a pair of models that are both in an optimizer.",
	.innocent = "A fixed random network of the same architecture that is not frozen (random "
		    "network "
		    "distillation).",
	.needs = "no two models of the same architecture were trained",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct siblings)},
		  [OF_LOADED] = {WTI_PER_MODULE, 0},
		  [OF_MODEL] = {WTI_PER_KEY, sizeof(struct model)}},
	.see = see_loaded,
	.finish = finish_siblings,
	.thresholds = {[STEPS] = {"steps", 4,
				  "models of an ensemble may be trained in turns, each with an "
				  "optimizer that is made when its turn comes"}},
};
