/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about evaluation: that what belongs to training is off in it. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/modal.h"

/* ---- The model that is running -------------------------------------------------------------- */

/* Of a track: the outermost module, while it is called. */
struct running {
	bool is_open;
	uint32_t flags;
	uint32_t object;
	struct wti_call call; /* without its values */
};

static void follow(struct running *running, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	if (!(call->flags & WT_CALL_OUTERMOST))
		return;
	if (moment->type == WTI_MOMENT_MODULE)
		*running = (struct running){.is_open = true,
					    .flags = call->flags,
					    .object = call->object,
					    .call = wti_call_without_values(call)};
	else if (moment->type == WTI_MOMENT_MODULE_END)
		running->is_open = false;
}

/* ---- WT-MODE-002: dropout in evaluation ----------------------------------------------------- */

/* By what it did; where tensors were not read, by its arguments: training=True is the default.
 */
static bool is_active(const struct wti_moment *moment, bool *ret_is_active)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	double p = 0.5, training = 1;

	if (!input || !result)
		return false;
	if (!((input->digest.flags | result->digest.flags) & WT_TENSOR_NO_HASH)) {
		*ret_is_active = input->digest.hash != result->digest.hash;
		return true;
	}
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "p"), 1, &p);
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "training"), 2,
			   &training);
	*ret_is_active = p > 0 && training != 0;
	return true;
}

static enum wti_answer see_dropout(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct running *running = kept;
	bool is_on;

	follow(running, moment);
	if (moment->type != WTI_MOMENT_CALL || !running->is_open ||
	    !(running->flags & WT_CALL_MODE_KNOWN) || running->flags & WT_CALL_TRAIN ||
	    !is_active(moment, &is_on))
		return WTI_RULE_NO_CASE;
	if (!is_on)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, running->object,
			    "%s is on although the model is in evaluation mode",
			    wti_moment_text(moment, moment->call->callee));
}

const struct wti_rule wti_rule_mode_002 = {
	.code = "WT-MODE-002",
	.severity = WT_WARNING,
	.title = "dropout is active in evaluation",
	.means = "results of the evaluation are random, and worse than the model is",
	.hint = "pass the mode on: F.dropout(x, p, training=self.training)",
	.definition = "The function dropout returns its input as it is while the outermost module "
		      "is in evaluation mode. A case is such a call.",
	.innocent = "Dropout that stays on to estimate uncertainty (Monte Carlo dropout).",
	.needs = "the function dropout was not called in evaluation mode",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_DROPOUT),
	.keeps = {{WTI_PER_TRACK, sizeof(struct running)}},
	.see = see_dropout,
};

/* ---- WT-MODE-003: evaluated in training mode ------------------------------------------------ */

enum { EVALUATION_OF_PROCESS, EVALUATION_OF_TRACK }; /* keeps */
enum { EVALUATION_STEPS, EVALUATION_ONE_IN };

/* Of a process. */
struct evaluation {
	uint32_t gaps; /* between two steps */
	uint32_t gaps_with;
	bool is_with; /* the present one */
};

/* "Net.fc1" and "Net.fc1.parametrizations" are within Net.fc1, and "Net.fc10" is not. */
static bool is_within(const struct wti_moment *moment, uint32_t part, uint32_t module)
{
	const char *inner = wti_moment_text(moment, part);
	const char *outer = wti_moment_text(moment, module);
	size_t bytes = strlen(outer);

	return !strncmp(inner, outer, bytes) && (!inner[bytes] || inner[bytes] == '.');
}

/* A part in training mode of a module that is not: eval() and train() reach all parts, so it was
 * put there by itself (Monte Carlo dropout). */
static bool is_set_alone(const struct wti_moment *moment)
{
	const struct wti_call *around = moment->parent;

	return around && around->flags & WT_CALL_MODE_KNOWN && !(around->flags & WT_CALL_TRAIN) &&
	       around->object != moment->call->object &&
	       is_within(moment, moment->call->object, around->object);
}

static enum wti_answer judge_call(struct wti_case *account, const struct evaluation *evaluation,
				  const struct running *running, const struct wti_moment *moment)
{
	struct wti_moment outermost = *moment; /* where the program evaluates */

	if (evaluation->gaps < wti_threshold(account, EVALUATION_STEPS))
		return WTI_RULE_NO_CASE;
	if (!(moment->call->flags & WT_CALL_TRAIN))
		return WTI_RULE_HELD;
	if (evaluation->gaps_with * wti_threshold(account, EVALUATION_ONE_IN) >= evaluation->gaps ||
	    is_set_alone(moment))
		return WTI_RULE_NO_CASE;
	outermost.call = &running->call;
	return wti_violated(account, &outermost, moment->call->object,
			    "it is in training mode while %s is called without gradients, after %u "
			    "steps",
			    wti_moment_text(moment, running->object), evaluation->gaps);
}

static enum wti_answer see_evaluation(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	struct evaluation *evaluation = kept;
	struct running *running;

	if (moment->type == WTI_MOMENT_STEPPED) {
		evaluation->gaps++;
		evaluation->gaps_with += evaluation->is_with;
		evaluation->is_with = false;
		return WTI_RULE_NO_CASE;
	}
	running = wti_kept(account, EVALUATION_OF_TRACK, moment);
	if (!running)
		return WTI_RULE_NO_CASE;
	follow(running, moment);
	if (moment->type != WTI_MOMENT_MODULE || !running->is_open ||
	    running->flags & WT_CALL_GRAD || evaluation->is_with || !wti_depends_on_mode(moment) ||
	    !wti_model_is_trained(moment->training, moment->process->stream, running->object))
		return WTI_RULE_NO_CASE;
	evaluation->is_with = true;
	return judge_call(account, evaluation, running, moment);
}

const struct wti_rule wti_rule_mode_003 = {
	.code = "WT-MODE-003",
	.severity = WT_WARNING,
	.title = "the model is evaluated in training mode",
	.means = "dropout is on, and batch normalisation uses and learns the statistics of the "
		 "evaluation's batches",
	.hint = "call model.eval() before the evaluation and model.train() after it",
	.definition =
		"When a model that is trained is called without gradients, now and then and not "
		"around every step, its dropout and batch normalisation are in evaluation mode, "
		"except where the module around them is and they were put into training mode by "
		"themselves. A case is the first such call between two steps.",
	.innocent = "Statistics that are recomputed on purpose (torch.optim.swa_utils.update_bn); "
		    "samples that a network in training mode makes now and then.",
	.needs = "no model with dropout or batch normalisation was called without gradients "
		 "between steps",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_STEPPED,
	.keeps = {[EVALUATION_OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct evaluation)},
		  [EVALUATION_OF_TRACK] = {WTI_PER_TRACK, sizeof(struct running)}},
	.see = see_evaluation,
	/* What happens around every step without gradients belongs to the training: targets of a
	 * slow copy, samples of a generator. What happens now and then is an evaluation. */
	.thresholds = {{"steps", 4, "before them it is not known what happens around every step"},
		       {"one_in", 4,
			"of the gaps between steps: what comes more often belongs to training"}},
};

/* ---- WT-MODE-004: a frozen normalisation follows -------------------------------------------- */

enum { FROZEN_IN_A_ROW, FROZEN_LOOKS };

struct norm {
	uint32_t object;
	bool called_train; /* by a model with gradients on, since the last step */
	bool is_shut_off;  /* then, itself with gradients off */
	bool is_silent;    /* what it last returned did not require a gradient */
	uint64_t doubts;   /* steps for which it may have been unfrozen: since it was silent */
};

static bool is_batch_norm(const struct wti_moment *moment)
{
	return strstr(wti_moment_text(moment, moment->call->callee), "BatchNorm") != NULL;
}

/*
 * A part that returned nothing that requires a gradient, and now does, may have been unfrozen:
 * whether a parameter in no optimizer requires one is known some steps later.
 */
static void note_returned(struct wti_case *account, struct norm *norm, const struct wti_call *call)
{
	const struct wti_value_row *value = wti_call_tensor(call, true, 0);

	if (!value || !(call->flags & WT_CALL_GRAD))
		return;
	if (!(value->digest.flags & WT_TENSOR_REQUIRES_GRAD)) {
		norm->is_silent = true;
		norm->doubts = 0;
	} else if (norm->is_silent) {
		norm->is_silent = false;
		norm->doubts = wti_threshold(account, FROZEN_LOOKS);
	}
}

static void note_norm(struct wti_case *account, struct norm *norm, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	if ((!(call->flags & WT_CALL_GRAD) && !call->is_shut_off) || !is_batch_norm(moment))
		return;
	if (moment->type == WTI_MOMENT_MODULE_END) {
		note_returned(account, norm, call);
	} else if (call->flags & WT_CALL_TRAIN) {
		norm->object = call->object;
		norm->called_train = true;
		norm->is_shut_off = call->is_shut_off;
	}
}

static enum wti_answer see_norm(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct norm *norm = kept;

	if (moment->type != WTI_MOMENT_STEPPED) {
		note_norm(account, norm, moment);
		return WTI_RULE_NO_CASE;
	}
	if (!norm->called_train)
		return WTI_RULE_NO_CASE;
	norm->called_train = false;
	if (norm->is_shut_off && wti_has_trained_twin(moment, norm->object))
		return WTI_RULE_NO_CASE;
	if (norm->doubts) {
		norm->doubts--;
		return WTI_RULE_NO_CASE;
	}
	if (!wti_module_is_frozen(moment->training, moment->process->stream, norm->object))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, norm->object,
			    "its parameters are frozen, and it is in training mode: its running "
			    "statistics follow the data");
}

const struct wti_rule wti_rule_mode_004 = {
	.code = "WT-MODE-004",
	.severity = WT_WARNING,
	.title = "batch normalisation of a frozen part still follows the data",
	.means = "requires_grad=False does not stop the running statistics: the part that should "
		 "stay as it is changes with every batch",
	.hint = "put the frozen part into evaluation mode after model.train(): body.eval()",
	.definition =
		"A batch normalisation whose parameters do not require gradients is not called in "
		"training mode in two steps in a row, with gradients on or by a model that has "
		"them on. A case is a batch normalisation in training mode in a step. There is no "
		"case in the eight steps after its output begins to require a gradient: it may "
		"have been unfrozen, which is recorded with that delay.",
	.innocent = "Statistics that are meant to adapt to new data while everything else stays "
		    "fixed. A part that runs without gradients beside a trained one of the same "
		    "structure (its average) is not judged.",
	.needs = "no batch normalisation was in training mode in a step",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_MODULE, sizeof(struct norm)}},
	.sweeps = WTI_MOMENT_STEPPED,
	.see = see_norm,
	.thresholds = {{WTI_IN_A_ROW, 2, "in one step it may be frozen before its mode is set"},
		       {"looks", 8,
			"steps between two checks by the agent of parameters that are in no "
			"optimizer"}},
};

/* ---- WT-MODE-005: before the first iteration ------------------------------------------------ */

/* Of a module; of a model. */
struct iterated {
	bool is_judged;
	bool is_loaded;
};

/* A vector of the power iteration that spectral normalisation does in training mode. */
static bool is_iterated(const struct wti_moment *moment, uint32_t module, uint32_t *ret_owner)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);
		const char *name = wti_moment_text(moment, parameter->name);
		size_t bytes = strlen(name);

		if (parameter->is_buffer && parameter->stream == moment->process->stream &&
		    bytes > 2 && !strcmp(name + bytes - 2, "_u") &&
		    is_within(moment, parameter->module, module)) {
			*ret_owner = parameter->owner;
			return true;
		}
	}
	return false;
}

static enum wti_answer see_iterated(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct iterated *iterated = kept;
	const struct iterated *model;
	uint32_t owner;

	if (moment->type == WTI_MOMENT_CALL) {
		iterated->is_loaded = true;
		return WTI_RULE_NO_CASE;
	}
	if (iterated->is_judged || call->flags & WT_CALL_OUTERMOST ||
	    !(call->flags & WT_CALL_MODE_KNOWN))
		return WTI_RULE_NO_CASE;
	iterated->is_judged = true;
	if (!is_iterated(moment, call->object, &owner))
		return WTI_RULE_NO_CASE;
	model = wti_kept_find_key(account, 0, call->stream, owner);
	if (call->flags & WT_CALL_TRAIN || (model && model->is_loaded))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->object,
			    "its first call is in evaluation mode, which does not iterate: the "
			    "norm is that of a random direction");
}

const struct wti_rule wti_rule_mode_005 = {
	.code = "WT-MODE-005",
	.severity = WT_WARNING,
	.title = "a spectral norm is used before it was ever estimated",
	.means = "the weight is divided by the norm along a random direction: results of this "
		 "evaluation are arbitrary",
	.hint = "call the model once in training mode, or load it, before evaluating it",
	.definition = "The first call of a module with spectral normalisation is in training mode, "
		      "unless its model was loaded. A case is such a module.",
	.innocent = "A dry run whose results nobody looks at.",
	.needs = "no module has spectral normalisation",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {{WTI_PER_MODULE, sizeof(struct iterated)}},
	.see = see_iterated,
};

/* ---- WT-MODE-006: train() with effects, never called ---------------------------------------- */

enum { TRAIN_OF_NAME = 1 }; /* keeps; of most moments nothing */
enum { TRAIN_STEPS };

/* Of a model, and, for calls that come before it has a name, of a class. */
struct overridden {
	uint32_t by; /* the class that has a train() of its own; 0: none */
	bool is_called;
	uint32_t steps;
};

/* "Net.train" -> the symbol of "Net"; 0: it is another function. */
static uint32_t trained_class(const struct wti_moment *moment)
{
	const char *callee = wti_moment_text(moment, moment->call->callee);
	const char *dot = strrchr(callee, '.');

	if (!dot || strcmp(dot, ".train"))
		return 0;
	return wti_symbol(moment->training->symbols, callee, (size_t)(dot - callee));
}

static struct overridden *overridden_of(struct wti_case *account, const struct wti_moment *moment,
					uint32_t name)
{
	return name ? wti_kept_of_key(account, TRAIN_OF_NAME, moment->process->stream, name) : NULL;
}

static void note_called(struct wti_case *account, const struct wti_moment *moment, uint32_t name)
{
	struct overridden *model = overridden_of(account, moment, name);

	if (model)
		model->is_called = true;
}

/* train() of the model, of one of its parts, or of anything of their classes. */
static bool is_train_called(struct wti_case *account, const struct wti_moment *moment,
			    uint32_t owner, uint32_t by)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, owner);
	const uint32_t names[] = {owner, by, object ? object->class_name : 0};

	for (size_t i = 0; i < 3; i++) {
		const struct overridden *known = overridden_of(account, moment, names[i]);

		if (known && known->is_called)
			return true;
	}
	return false;
}

static enum wti_answer judge_model(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *first = wti_object_member(moment->training, moment->object, 0);
	struct overridden *model = first ? overridden_of(account, moment, first->owner) : NULL;

	if (!model || !model->by)
		return WTI_RULE_NO_CASE;
	if (is_train_called(account, moment, first->owner, model->by))
		return WTI_RULE_HELD;
	if (++model->steps < wti_threshold(account, TRAIN_STEPS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, first->owner,
			    "train() of %s freezes parts of the model, and was not called in %u "
			    "steps",
			    wti_moment_text(moment, model->by), model->steps);
}

static void note_override(struct wti_case *account, const struct wti_moment *moment)
{
	struct overridden *model;

	if (strcmp(wti_moment_text(moment, moment->attribute), "overrides_train"))
		return;
	model = overridden_of(account, moment, moment->owner);
	if (model)
		model->by = wti_symbol_of(moment->training->symbols, moment->event,
					  WT_STATE_FIELD_TEXT);
}

static enum wti_answer see_train(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	uint32_t class_name;

	if (moment->type == WTI_MOMENT_STEPPED)
		return judge_model(account, moment);
	if (moment->type == WTI_MOMENT_STATE) {
		note_override(account, moment);
		return WTI_RULE_NO_CASE;
	}
	class_name = trained_class(moment);
	if (class_name) {
		note_called(account, moment, class_name);
		if (moment->call->object)
			note_called(account, moment,
				    wti_root_of(moment->training, moment->call->object));
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_mode_006 = {
	.code = "WT-MODE-006",
	.severity = WT_WARNING,
	.title = "a model's own train(), which freezes parts of it, is never called",
	.means = "train() of a class freezes parameters or parts of the model, besides setting "
		 "the mode; modules are in training mode when they are made, so the missing call "
		 "goes unnoticed",
	.hint = "call model.train() before training",
	.definition =
		"A model with a module whose class (not torch's) has a train() of its own, in "
		"which parameters are frozen or parts of the model put into evaluation mode, is "
		"not "
		"trained for two steps before that is called. A case is a step of its optimizer.",
	.innocent = "A train() whose other effects are not wanted here.",
	.needs = "no model with a train() of its own that freezes something was trained",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.keeps = {[TRAIN_OF_NAME] = {WTI_PER_KEY, sizeof(struct overridden)}},
	.see = see_train,
	.thresholds = {{"steps", 2, "one may be made to try the model out"}},
};
