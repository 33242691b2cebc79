/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about evaluation: that what belongs to training is off in it. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/modal.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- The model that is running -------------------------------------------------------------- */

/* Of a track: the outermost module, while it is called. */
struct running {
	bool is_open;
	uint32_t flags;
	uint32_t object;
	bool is_counted;      /* in the present gap between two steps */
	struct wti_call call; /* without its values */
};

static struct running *follow(struct wti_slots *slots, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct running *running =
		wti_slot(slots, (uint64_t)call->stream << 32 | call->track, sizeof(*running));

	if (!running || !(call->flags & WTI_CALL_OUTERMOST))
		return running;
	if (moment->type == WTI_MOMENT_MODULE) {
		*running = (struct running){.is_open = true,
					    .flags = call->flags,
					    .object = call->object,
					    .is_counted = running->is_counted,
					    .call = *call};
		running->call.values = NULL;
		running->call.value_count = 0;
	} else if (moment->type == WTI_MOMENT_MODULE_END) {
		running->is_open = false;
	}
	return running;
}

/* ---- WT-MODE-002: dropout in evaluation ----------------------------------------------------- */

/* By what it did; where tensors were not read, by what it was told: training=True is the default.
 */
static bool is_active(const struct wti_moment *moment, bool *ret_is_active)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	double p = 0.5, training = 1;

	if (!input || !result)
		return false;
	if (!((input->digest.flags | result->digest.flags) & WTI_TENSOR_NO_HASH)) {
		*ret_is_active = input->digest.hash != result->digest.hash;
		return true;
	}
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "p"), 1, &p);
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "training"), 2,
			   &training);
	*ret_is_active = p > 0 && training != 0;
	return true;
}

static void see_dropout(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct running *running;
	bool is_on;

	if (moment->type == WTI_MOMENT_CALL && call->what != WTI_CALLEE_DROPOUT)
		return;
	running = follow(state, moment);
	if (!running || moment->type != WTI_MOMENT_CALL || !running->is_open ||
	    !(running->flags & WTI_CALL_SAYS_TRAINING) || running->flags & WTI_CALL_TRAINING)
		return;
	if (!is_active(moment, &is_on))
		return;
	if (!is_on)
		wti_held(account);
	else
		wti_violated(account, moment, running->object,
			     "%s is on although the model is in evaluation mode",
			     wti_moment_text(moment, call->callee));
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
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_dropout,
	.release = release_slots,
};

/* ---- WT-MODE-003: evaluated in training mode ------------------------------------------------ */

enum { GAPS_TO_JUDGE = 4 };

struct evaluation {
	struct wti_slots running;
	uint32_t gaps; /* between two steps */
	uint32_t gaps_with;
	bool is_with; /* the present one */
};

static void release_evaluation(void *state)
{
	struct evaluation *evaluation = state;

	wti_slots_release(&evaluation->running);
}

/*
 * What happens around every step without gradients belongs to the training: targets of a slow
 * copy, samples of a generator. What happens now and then is an evaluation.
 */
static void judge_call(struct wti_case *account, struct evaluation *evaluation,
		       struct running *running, const struct wti_moment *moment)
{
	struct wti_moment outermost = *moment; /* where the program evaluates */

	if (evaluation->is_with ||
	    !wti_model_is_trained(moment->training, moment->process->stream, running->object))
		return;
	evaluation->is_with = true;
	outermost.call = &running->call;
	if (evaluation->gaps < GAPS_TO_JUDGE)
		return;
	if (moment->call->flags & WTI_CALL_TRAINING) {
		if (evaluation->gaps_with * 4 < evaluation->gaps)
			wti_violated(account, &outermost, moment->call->object,
				     "it is in training mode while %s is called without gradients, "
				     "after %u steps",
				     wti_moment_text(moment, running->object), evaluation->gaps);
	} else {
		wti_held(account);
	}
}

static void see_evaluation(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct evaluation *evaluation = state;
	struct running *running;

	if (moment->type == WTI_MOMENT_STEPPED) {
		evaluation->gaps++;
		evaluation->gaps_with += evaluation->is_with;
		evaluation->is_with = false;
		return;
	}
	running = follow(&evaluation->running, moment);
	if (moment->type != WTI_MOMENT_MODULE || !running || !running->is_open ||
	    running->flags & WTI_CALL_GRAD || !wti_depends_on_mode(moment))
		return;
	judge_call(account, evaluation, running, moment);
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
		"around every step, its dropout and batch normalisation are in evaluation mode. A "
		"case is the first such call between two steps.",
	.innocent = "Statistics that are computed anew on purpose (torch.optim.swa_utils."
		    "update_bn); samples that a network in training mode makes now and then.",
	.needs = "no model with dropout or batch normalisation was called without gradients "
		 "between steps",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct evaluation),
	.watch = see_evaluation,
	.release = release_evaluation,
};

/* ---- WT-MODE-004: a frozen normalisation follows -------------------------------------------- */

enum {
	STEPS_TO_TELL = 2,
	STEPS_BETWEEN_LOOKS = 8, /* of an agent at what is in no optimizer */
};

struct norm {
	uint32_t object;
	bool called_train; /* by a model with gradients on, since the last step */
	bool is_shut_off;  /* then, itself with gradients off */
	bool is_silent;    /* what it last returned did not require a gradient */
	uint32_t doubts;   /* steps for which it may have been unfrozen: since it was silent */
	uint32_t steps;    /* in a row, frozen and in training mode */
};

/* "key.1.weight" -> "1.weight" */
static const char *name_below(const struct wti_moment *moment,
			      const struct wti_parameter *parameter)
{
	const char *name = wti_moment_text(moment, parameter->name);
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

static bool has_twin_of(const struct wti_moment *moment, const struct wti_parameter *own)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *other = wti_parameter_at(moment->training, i);

		if (other->stream == own->stream && other->owner == own->owner &&
		    other->requires_grad && other->shape == own->shape &&
		    !strcmp(name_below(moment, other), name_below(moment, own)))
			return true;
	}
	return false;
}

bool wti_has_trained_twin(const struct wti_moment *moment, uint32_t module)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *own = wti_parameter_at(moment->training, i);

		if (own->stream == moment->process->stream && own->module == module &&
		    !own->is_buffer)
			return has_twin_of(moment, own);
	}
	return false;
}

static bool is_batch_norm(const struct wti_moment *moment)
{
	return strstr(wti_moment_text(moment, moment->call->callee), "BatchNorm") != NULL;
}

/*
 * A part that returned nothing that requires a gradient, and now does, may have been unfrozen:
 * whether a parameter in no optimizer requires one is known some steps later.
 */
static void note_returned(struct norm *norm, const struct wti_call *call)
{
	const struct wti_value_row *value = wti_call_tensor(call, true, 0);

	if (!value || !(call->flags & WTI_CALL_GRAD))
		return;
	if (!(value->digest.flags & WTI_TENSOR_REQUIRES_GRAD)) {
		norm->is_silent = true;
		norm->doubts = 0;
	} else if (norm->is_silent) {
		norm->is_silent = false;
		norm->doubts = STEPS_BETWEEN_LOOKS;
	}
}

static void judge_norm(struct wti_case *account, struct norm *norm, const struct wti_moment *moment)
{
	if (!norm->called_train)
		return;
	norm->called_train = false;
	if (norm->is_shut_off && wti_has_trained_twin(moment, norm->object))
		return;
	if (norm->doubts) {
		norm->doubts--;
		return;
	}
	if (!wti_module_is_frozen(moment->training, moment->process->stream, norm->object)) {
		norm->steps = 0;
		wti_held(account);
	} else if (++norm->steps >= STEPS_TO_TELL) {
		wti_violated(account, moment, norm->object,
			     "its parameters are frozen, and it is in training mode: its running "
			     "statistics follow the data");
	}
}

static void see_norm(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct wti_slots *norms = state;
	const struct wti_call *call = moment->call;

	if (moment->type != WTI_MOMENT_STEPPED) {
		struct norm *norm;

		if (!call->object || (!(call->flags & WTI_CALL_GRAD) && !call->is_shut_off) ||
		    !is_batch_norm(moment))
			return;
		norm = wti_slot(norms, (uint64_t)call->stream << 32 | call->object, sizeof(*norm));
		if (norm && moment->type == WTI_MOMENT_MODULE_END) {
			note_returned(norm, call);
		} else if (norm && call->flags & WTI_CALL_TRAINING) {
			norm->object = call->object;
			norm->called_train = true;
			norm->is_shut_off = call->is_shut_off;
		}
		return;
	}
	for (size_t i = 0; i < norms->index.count; i++) {
		const struct wti_map_entry *entry = &norms->index.entries[i];

		if (entry->key >> 32 == call->stream && entry->value)
			judge_norm(account, wti_slot(norms, entry->key, sizeof(struct norm)),
				   moment);
	}
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
		"them on. A case is a batch normalisation in training mode in a step; for eight "
		"steps after what it returns has begun to require a gradient it is none, since it "
		"may have been unfrozen, which is recorded that late.",
	.innocent = "Statistics that are to adapt to new data while all else stays. A part that "
		    "runs without gradients beside a trained one of the same structure, its "
		    "average, is not judged.",
	.needs = "no batch normalisation was in training mode in a step",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_norm,
	.release = release_slots,
};

/* ---- WT-MODE-005: before the first iteration ------------------------------------------------ */

struct iterated {
	bool is_judged;
	bool has_trained;
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
		    !strncmp(wti_moment_text(moment, parameter->module),
			     wti_moment_text(moment, module),
			     strlen(wti_moment_text(moment, module)))) {
			*ret_owner = parameter->owner;
			return true;
		}
	}
	return false;
}

static uint64_t loaded_key(size_t stream, uint32_t owner)
{
	return 1ull << 63 | (uint64_t)stream << 32 | owner;
}

static void see_iterated(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct iterated *iterated, *loaded;
	uint32_t owner;

	if (moment->type == WTI_MOMENT_CALL) {
		if (call->what == WTI_CALLEE_LOAD_STATE_DICT && call->object) {
			loaded = wti_slot(state, loaded_key(call->stream, call->object),
					  sizeof(*loaded));
			if (loaded)
				loaded->has_trained = true;
		}
		return;
	}
	if (!call->object || call->flags & WTI_CALL_OUTERMOST ||
	    !(call->flags & WTI_CALL_SAYS_TRAINING))
		return;
	iterated = wti_slot(state, (uint64_t)call->stream << 32 | call->object, sizeof(*iterated));
	if (!iterated || iterated->is_judged)
		return;
	iterated->is_judged = true;
	if (!is_iterated(moment, call->object, &owner))
		return;
	loaded = wti_slot(state, loaded_key(call->stream, owner), sizeof(*loaded));
	if (call->flags & WTI_CALL_TRAINING || (loaded && loaded->has_trained))
		wti_held(account);
	else
		wti_violated(account, moment, call->object,
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
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_iterated,
	.release = release_slots,
};

/* ---- WT-MODE-006: train() with effects, never called ---------------------------------------- */

/* Of a model, and, for calls that come before it has a name, of a class. */
struct overridden {
	uint32_t by; /* the class that has a train() of its own; 0: none */
	bool is_called;
	uint32_t steps;
};

/* "Net.backbone" -> "Net" */
static uint32_t root_of(const struct wti_moment *moment, uint32_t object)
{
	const char *text = wti_moment_text(moment, object);
	const char *dot = strchr(text, '.');

	return dot ? wti_symbol(moment->training->symbols, text, (size_t)(dot - text)) : object;
}

/* "Net.train" -> the symbol of "Net"; 0: it is another function. */
static uint32_t trained_class(const struct wti_moment *moment)
{
	const char *callee = wti_moment_text(moment, moment->call->callee);
	const char *dot = strrchr(callee, '.');

	if (!dot || strcmp(dot, ".train"))
		return 0;
	return wti_symbol(moment->training->symbols, callee, (size_t)(dot - callee));
}

static struct overridden *overridden_of(struct wti_slots *slots, const struct wti_moment *moment,
					uint32_t name)
{
	return wti_slot(slots, (uint64_t)moment->process->stream << 32 | name,
			sizeof(struct overridden));
}

static void note_called(struct wti_slots *slots, const struct wti_moment *moment, uint32_t name)
{
	struct overridden *model = name ? overridden_of(slots, moment, name) : NULL;

	if (model)
		model->is_called = true;
}

/* train() of the model, of one of its parts, or of anything of their classes. */
static bool is_train_called(struct wti_slots *slots, const struct wti_moment *moment,
			    uint32_t owner, uint32_t by)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, owner);
	const uint32_t names[] = {owner, by, object ? object->class_name : 0};

	for (size_t i = 0; i < 3; i++) {
		const struct overridden *known =
			names[i] ? overridden_of(slots, moment, names[i]) : NULL;

		if (known && known->is_called)
			return true;
	}
	return false;
}

static void judge_models(struct wti_case *account, struct wti_slots *slots,
			 const struct wti_moment *moment)
{
	const struct wti_parameter *first = wti_object_member(moment->training, moment->object, 0);
	struct overridden *model = first ? overridden_of(slots, moment, first->owner) : NULL;

	if (!model || !model->by)
		return;
	if (is_train_called(slots, moment, first->owner, model->by)) {
		wti_held(account);
		return;
	}
	model = overridden_of(slots, moment, first->owner);
	if (model && ++model->steps >= STEPS_TO_TELL)
		wti_violated(account, moment, first->owner,
			     "train() of %s freezes parts of the model, and was not called in %u "
			     "steps",
			     wti_moment_text(moment, model->by), model->steps);
}

static void see_train(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct overridden *model;
	uint32_t class_name;

	switch (moment->type) {
	case WTI_MOMENT_STEPPED:
		judge_models(account, state, moment);
		break;
	case WTI_MOMENT_STATE:
		if (strcmp(wti_moment_text(moment, moment->attribute), "overrides_train"))
			return;
		model = overridden_of(state, moment, moment->owner);
		if (model)
			model->by = wti_symbol_of(moment->training->symbols, moment->event,
						  WT_STATE_FIELD_TEXT);
		break;
	default:
		class_name = trained_class(moment);
		if (!class_name)
			return;
		note_called(state, moment, class_name);
		if (moment->call->object)
			note_called(state, moment, root_of(moment, moment->call->object));
	}
}

const struct wti_rule wti_rule_mode_006 = {
	.code = "WT-MODE-006",
	.severity = WT_WARNING,
	.title = "a model's own train(), which freezes parts of it, is never called",
	.means = "train() of a class freezes parameters or parts of the model, besides setting the "
		 "mode; modules are in training mode when they are made, so that nobody notices "
		 "that it was left out",
	.hint = "call model.train() before training",
	.definition =
		"A model with a module whose class (not torch's) has a train() of its own, in "
		"which "
		"parameters are frozen or parts of the model put into evaluation mode, is not "
		"trained for two steps before that is called. A case is a step of its optimizer.",
	.innocent = "A train() whose other effects are not wanted here.",
	.needs = "no model with a train() of its own that freezes something was trained",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_train,
	.release = release_slots,
};
