/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mode of modules against the grad mode. The occasion is the call of a model, or of a layer
 * that behaves differently in training; true is whether it trains. Stage and training flag are what
 * is asked about, and no circumstances here.
 */
#include <string.h>

#include "inspect/learn/relation.h"
#include "inspect/training/modal.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	LAYER_WITH_MODES,
	/* the second of a subject */
	MODULE_AROUND, WITHOUT_GRADIENTS, FROZEN,
	/* facts */
	TRAINS, EVALUATES, IS_IN_MODE_OF_MODULE_AROUND,
};

static const struct wti_term terms[] = {
	[LAYER_WITH_MODES] = {"layer_with_modes", "layer with modes"},
	[MODULE_AROUND] = {"module_around", "module around"},
	[WITHOUT_GRADIENTS] = {"without_gradients", "without gradients"},
	[FROZEN] = {"frozen", "frozen"},
	[TRAINS] = {"trains", "trains"},
	[EVALUATES] = {"evaluates", "evaluates"},
	[IS_IN_MODE_OF_MODULE_AROUND] = {"is_in_mode_of_module_around", "is in the mode of the module around it"},
	{0},
};
/* clang-format on */

static bool has_modes(const char *name)
{
	return strstr(name, "dropout") || strstr(name, "batch_norm");
}

/* A layer that has modes is in that of the module around it; a function is given it. */
static void report_around(struct wti_scene *scene, const struct wti_moment *moment,
			  uint32_t function, bool trains)
{
	const struct wti_call *around = moment->parent;

	for (uint32_t k = 2; around && !(around->flags & WT_CALL_MODE_KNOWN); k++)
		around = wti_call_around(moment, k);
	if (!around)
		return;
	wti_occasion(scene, &wti_relation_mode, moment, function,
		     wti_term(scene, &wti_relation_mode, MODULE_AROUND));
	if (trains == !!(around->flags & WT_CALL_TRAIN))
		wti_say_term(scene, IS_IN_MODE_OF_MODULE_AROUND);
	wti_report(scene);
}

/* Whether an optimizer holds a parameter of this model. */
static bool is_trained(const struct wti_scene *scene, const struct wti_call *model)
{
	for (size_t i = 0; i < scene->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(scene->training, i);

		if (parameter->stream == model->stream && parameter->owner == model->object &&
		    parameter->optimizer)
			return true;
	}
	return false;
}

/* A model that is trained elsewhere, called without gradients: its layers that have modes evaluate.
 * What decides is the outermost call: gradients are switched off further inside for other reasons.
 */
static void report_evaluation(struct wti_scene *scene, const struct wti_moment *moment, bool trains)
{
	const struct wti_call *model = moment->parent;

	for (uint32_t k = 2; model && !(model->flags & WT_CALL_OUTERMOST); k++)
		model = wti_call_around(moment, k);
	if (!model || model->flags & WT_CALL_GRAD || !is_trained(scene, model))
		return;
	wti_occasion_of_term(scene, &wti_relation_mode, moment, LAYER_WITH_MODES,
			     WITHOUT_GRADIENTS);
	if (!trains)
		wti_say_term(scene, EVALUATES);
	wti_report(scene);
}

/* A normalisation whose parameters stay, within a model that is being trained: its statistics stay
 * too, unless it is the average of one that is trained. */
static void report_frozen(struct wti_scene *scene, const struct wti_moment *moment,
			  uint32_t function, bool trains)
{
	const struct wti_call *call = moment->call;

	if ((!(call->flags & WT_CALL_GRAD) && !call->is_shut_off) ||
	    !strstr(wti_symbol_text(scene->symbols, function), "batch_norm") ||
	    !wti_module_is_frozen(scene->training, call->stream, call->object) ||
	    (call->is_shut_off && wti_has_trained_twin(moment, call->object)))
		return;
	wti_occasion_of_term(scene, &wti_relation_mode, moment, LAYER_WITH_MODES, FROZEN);
	if (!trains)
		wti_say_term(scene, EVALUATES);
	wti_report(scene);
}

static void see_module(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	bool is_model = call->flags & WT_CALL_OUTERMOST;
	bool trains = call->flags & WT_CALL_TRAIN;
	uint32_t function;

	if (!(call->flags & WT_CALL_MODE_KNOWN))
		return;
	function = is_model ? scene->words[WTI_WORD_FORWARD] : wti_scene_function(scene, call);
	if (!is_model && !has_modes(wti_symbol_text(scene->symbols, function)))
		return;
	wti_occasion(scene, &wti_relation_mode, moment, function, 0);
	wti_occasion_word(scene, WTI_FEATURE_GRAD_MODE,
			  scene->words[call->flags & WT_CALL_GRAD ? WTI_WORD_ON : WTI_WORD_OFF]);
	wti_say_term(scene, trains ? TRAINS : EVALUATES);
	wti_report(scene);
	if (is_model)
		return;
	report_around(scene, moment, function, trains);
	report_evaluation(scene, moment, trains);
	report_frozen(scene, moment, function, trains);
}

static void see_function(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	uint32_t name = wti_scene_word(scene, "training");
	uint32_t function;
	bool trains;

	if (call->flags & WT_CALL_MODE_KNOWN || call->exception)
		return;
	function = wti_scene_function(scene, call);
	if (!has_modes(wti_symbol_text(scene->symbols, function)))
		return;
	/* Dropout that is not given the mode trains; batch norm does not. */
	trains = strstr(wti_symbol_text(scene->symbols, function), "dropout");
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].name == name && call->values[i].type == WT_VALUE_TYPE_BOOL)
			trains = call->values[i].bits;
	report_around(scene, moment, function, trains);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_MODULE)
		see_module(scene, moment);
	else
		see_function(scene, moment);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	bool is_without_gradients = words->subject_term[1] == WITHOUT_GRADIENTS;

	if (words->subject_term[1] == FROZEN)
		wti_buf_printf(out, "each frozen %s %s while others are trained", words->subject[0],
			       words->a);
	else
		wti_buf_printf(out, "each %s %s%s%s", words->subject[0], words->a,
			       is_without_gradients ? " when a trained model is called " : "",
			       is_without_gradients ? words->subject[1] : "");
}

static const char *kind_of(const struct wti_words *words)
{
	return *words->subject[1] ? words->subject[1] : words->a_word;
}

const struct wti_relation wti_relation_mode = {
	.name = "mode",
	.code = "WT-LEARN-MODE",
	.title = "a module in another mode",
	.definition =
		"hypothesis: a model, or a layer that has modes (dropout, batch norm), is in "
		"training mode, or in "
		"evaluation mode, when it is called, or in the mode of the module around it; a "
		"batch norm whose parameters are frozen evaluates while others are "
		"trained. "
		"For and against: each call, by grad "
		"mode and by the call "
		"around it.",
	.means = "train() or eval() is missing",
	.hint = "call model.train() before training and model.eval() before evaluation",
	.innocent = "layers that are kept in evaluation mode, Monte-Carlo dropout",
	.needs = "no such module was called in these circumstances",
	.measures = WTI_NEEDS_MODES,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.features = 1u << WTI_FEATURE_GRAD_MODE | 1u << WTI_FEATURE_AVERAGE,
	.terms = terms,
	.topic = WTI_TOPIC_MODES,
	.see = see,
	.describe = describe,
	.kind_of = kind_of,
};
