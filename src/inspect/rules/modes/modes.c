/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about modes: dropout and normalisation behave differently in training and evaluation. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/members.h"
#include "inspect/training/modal.h"

/* Modules whose forward depends on the mode; the callee is "Dropout.forward". */
bool wti_depends_on_mode(const struct wti_moment *moment)
{
	static const char *const classes[] = {"Dropout",     "AlphaDropout",  "FeatureAlphaDropout",
					      "BatchNorm",   "SyncBatchNorm", "LazyBatchNorm",
					      "InstanceNorm"};
	const char *callee = wti_moment_text(moment, moment->call->callee);

	if (wti_dropout_is_idle(moment->training, moment->call->stream, moment->call->object))
		return false;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strncmp(callee, classes[i], strlen(classes[i])))
			return true;
	return false;
}

/* ---- WT-MODE-001: trained in evaluation mode ------------------------------------------------ */

enum { OF_MODULE, OF_TRACK }; /* keeps */
enum { MODE_STEPS, MODE_TIMES };

/* Of a track: the outermost module that was called last. */
struct whole {
	bool is_training;
};

struct mode {
	bool has_trained;  /* called in training mode in a step that was made */
	bool called_train; /* since the last step */
	bool called_eval;  /* with gradients on, since the last step */
	uint32_t name;
	bool is_dropout;
	struct wti_patience row, all; /* steps in evaluation mode: in a row, and in all */
	bool has_returned;            /* to training mode, after such a step */
};

/*
 * The mode of the outermost module around a call. Parts may be frozen on purpose; it is the whole
 * that is forgotten.
 */
static bool whole_trains(struct wti_case *account, const struct wti_moment *moment)
{
	struct whole *whole = wti_kept(account, OF_TRACK, moment);

	if (!whole)
		return true;
	if (moment->call->flags & WT_CALL_OUTERMOST)
		whole->is_training = moment->call->flags & WT_CALL_TRAIN;
	return whole->is_training;
}

static void note_mode(struct wti_case *account, struct mode *mode, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	bool is_whole_training = whole_trains(account, moment);

	if (!(call->flags & WT_CALL_MODE_KNOWN) || !(call->flags & WT_CALL_GRAD) ||
	    !wti_depends_on_mode(moment))
		return;
	mode->name = call->object;
	mode->is_dropout = strstr(wti_moment_text(moment, call->callee), "Dropout");
	if (call->flags & WT_CALL_TRAIN)
		mode->called_train = true;
	else if (!is_whole_training)
		mode->called_eval = true;
}

/* Whether the optimizer that steps has a parameter of the model that this is a part of. */
static bool is_part_of_trained(const struct wti_moment *moment, uint32_t name)
{
	const char *part = wti_moment_text(moment, name);
	size_t bytes = strcspn(part, ".");

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const char *owner = wti_moment_text(
			moment, wti_object_member(moment->training, moment->object, i)->owner);

		if (strlen(owner) == bytes && !memcmp(owner, part, bytes))
			return true;
	}
	return false;
}

static enum wti_answer judge_mode(struct wti_case *account, struct mode *mode,
				  const struct wti_moment *moment)
{
	bool is_row, is_often;

	if (mode->called_train) {
		mode->has_trained = true;
		mode->has_returned |= mode->all.count > 0;
		mode->row = (struct wti_patience){0};
		return WTI_RULE_HELD;
	}
	if (!mode->called_eval || !mode->has_trained || !is_part_of_trained(moment, mode->name))
		return WTI_RULE_NO_CASE;
	is_often = wti_waited(account, &mode->all, moment, MODE_TIMES);
	is_row = wti_waited(account, &mode->row, moment, MODE_STEPS);
	if (!is_row && !is_often)
		return WTI_RULE_NO_CASE;
	if (mode->has_returned)
		return wti_violated(
			account, moment, mode->name,
			"it is in evaluation mode in %u steps so far, and in training "
			"mode before and after: steps are made on what is evaluated, or "
			"on some batches in the wrong mode",
			mode->all.count);
	return wti_violated(account, moment, mode->name,
			    "it was in training mode in earlier steps, and then in evaluation "
			    "mode in %u steps in a row",
			    mode->row.count);
}

typedef enum wti_answer judge_fn(struct wti_case *account, struct mode *mode,
				 const struct wti_moment *moment);

/* How a module is called is known as it is called, and judged when a step was made. */
static enum wti_answer see_module(struct wti_case *account, struct mode *mode,
				  const struct wti_moment *moment, judge_fn *judge)
{
	enum wti_answer answer;

	if (moment->type == WTI_MOMENT_MODULE) {
		note_mode(account, mode, moment);
		return WTI_RULE_NO_CASE;
	}
	answer = judge(account, mode, moment);
	mode->called_train = mode->called_eval = false;
	return answer;
}

static enum wti_answer see_modes(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	return see_module(account, kept, moment, judge_mode);
}

const struct wti_rule wti_rule_mode_001 = {
	.code = "WT-MODE-001",
	.severity = WT_ERROR,
	.title = "training goes on in evaluation mode",
	.means = "optimizer steps are made while the model is in evaluation mode: model.train() is "
		 "not called after a validation, so that dropout is off and batch normalisation no "
		 "longer learns, or the validation itself makes steps and trains on its rows",
	.hint = "call model.train() at the beginning of each training epoch, and make no step in a "
		"validation",
	.definition = "A module that depends on the mode (dropout, batch normalisation) and was "
		      "called in training mode for one optimizer step is not called in evaluation "
		      "mode, with gradients on, for two steps in a row, or for three in all, of an "
		      "optimizer that trains its model, while the whole model is in evaluation "
		      "mode. A case is such a module in a step.",
	.innocent = "Normalisation that is frozen from the beginning is not judged. Freezing it in "
		    "the middle of a run on purpose looks like this.",
	.needs = "no dropout or batch normalisation was called for a step in training mode",
	/* What is trained on in evaluation mode is taken for an evaluation. */
	.explains = (const char *const[]){"WT-ROWS-001", "WT-ROWS-002", "WT-ROWS-003", NULL},
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.keeps = {[OF_MODULE] = {WTI_PER_MODULE, sizeof(struct mode)},
		  [OF_TRACK] = {WTI_PER_TRACK, sizeof(struct whole)}},
	.sweeps = WTI_MOMENT_STEPPED,
	.see = see_modes,
	.thresholds = {[MODE_STEPS] = {"steps", 2,
				       "in a row: a single one may belong to the evaluation "
				       "before it"},
		       [MODE_TIMES] = {"times", 3,
				       "in all: what happens again in each epoch is no "
				       "accident"}},
};

/* ---- WT-MODE-008: in evaluation mode from the beginning -------------------------------------- */

/* Normalisation may be meant to stay as it is; dropout that never drops anything is not. */
static enum wti_answer judge_beginning(struct wti_case *account, struct mode *mode,
				       const struct wti_moment *moment)
{
	if (mode->called_train) {
		mode->has_trained = true;
		return WTI_RULE_HELD;
	}
	if (!mode->called_eval || mode->has_trained || !mode->is_dropout ||
	    !is_part_of_trained(moment, mode->name))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, mode->name,
			    "the model was in evaluation mode in all of the first %u steps, and "
			    "this part of it does nothing then",
			    wti_streak(account));
}

static enum wti_answer see_beginning(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	return see_module(account, kept, moment, judge_beginning);
}

const struct wti_rule wti_rule_mode_008 = {
	.code = "WT-MODE-008",
	.severity = WT_WARNING,
	.title = "the model is in evaluation mode from the beginning of its training",
	.means = "some libraries load models in evaluation mode: dropout is off, and batch "
		 "normalisation does not learn",
	.hint = "call model.train() before training",
	.definition =
		"Dropout of a model that an optimizer trains is called in training mode in one of "
		"the first eight steps, or not at all while the model as a whole is in "
		"evaluation mode. A case is a module that depends on the mode, called in "
		"training mode in a step.",
	.innocent = "Dropout that is switched off by eval() on purpose, as in some fine-tuning. "
		    "Dropout with a rate of 0 is not judged.",
	.needs = "no dropout or batch normalisation was called for a step in training mode",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.keeps = {[OF_MODULE] = {WTI_PER_MODULE, sizeof(struct mode)},
		  [OF_TRACK] = {WTI_PER_TRACK, sizeof(struct whole)}},
	.sweeps = WTI_MOMENT_STEPPED,
	.see = see_beginning,
	.thresholds = {{WTI_IN_A_ROW, 8, "some programs set the mode after a few steps"}},
};

/* ---- WT-MODE-007: nothing is trained, and all is in training mode --------------------------- */

enum { CALLS };
enum { OF_MODEL, OF_RUNNING }; /* keeps */

/* Of a track: the model that is running, and the input that it was given last. */
struct running {
	uint32_t object;
	uint64_t input;
	bool is_repeated;     /* the same input again: samples of one answer are wanted */
	struct wti_call call; /* without its values */
};

/* Of a model. */
struct asked {
	uint32_t object;
	uint32_t part; /* of it that depends on the mode and was in training mode */
	uint64_t calls_training;
	uint64_t calls_evaluating;
	struct wti_call call; /* the first in training mode */
	uint32_t loads;       /* of a state */
	uint32_t other_loads; /* of those, of what another model held */
};

/* Whether what is loaded is what another model holds. */
static bool is_of_other(const struct wti_moment *moment)
{
	const struct wti_value_row *value = wti_call_tensor(moment->call, false, 0);

	for (size_t i = 0; value && i < moment->training->parameters.count; i++) {
		const struct wti_parameter *other = wti_parameter_at(moment->training, i);

		if (other->stream == moment->call->stream && other->has_hash &&
		    other->owner != moment->object->name && other->hash == value->digest.hash)
			return true;
	}
	return !value;
}

static void note_load(struct wti_case *account, const struct wti_moment *moment)
{
	struct asked *asked = moment->object && moment->object->type == WT_OBJECT_TYPE_MODULE
				      ? wti_kept_of_key(account, OF_MODEL, moment->call->stream,
							moment->object->name)
				      : NULL;

	if (asked && !moment->call->exception) {
		asked->loads++;
		asked->other_loads += is_of_other(moment);
	}
}

static void note_whole(struct running *running, const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	uint64_t hash =
		input && !(input->digest.flags & WT_TENSOR_NO_HASH) ? input->digest.hash : 0;

	running->is_repeated = hash && hash == running->input && call->object == running->object;
	running->object = call->object;
	running->input = hash;
	running->call = wti_call_without_values(call);
}

static enum wti_answer see_asked(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct running *running = wti_kept(account, OF_RUNNING, moment);
	struct asked *asked;

	if (moment->type != WTI_MOMENT_MODULE) {
		note_load(account, moment);
		return WTI_RULE_NO_CASE;
	}
	if (!running || call->flags & WT_CALL_GRAD)
		return WTI_RULE_NO_CASE;
	if (call->flags & WT_CALL_OUTERMOST)
		note_whole(running, call);
	if (!running->object || running->is_repeated || !(call->flags & WT_CALL_MODE_KNOWN) ||
	    !wti_depends_on_mode(moment))
		return WTI_RULE_NO_CASE;
	asked = wti_kept_of_key(account, OF_MODEL, call->stream, running->object);
	if (!asked)
		return WTI_RULE_NO_CASE;
	asked->object = running->object;
	if (!(call->flags & WT_CALL_TRAIN)) {
		asked->calls_evaluating++;
		return WTI_RULE_HELD;
	}
	if (!asked->calls_training++) {
		asked->part = call->object;
		asked->call = running->call;
	}
	return WTI_RULE_NO_CASE;
}

static bool is_idle(const struct wti_trained_process *process)
{
	return !process->step_count && !process->backward_count;
}

/* Whether all parameters of a model are in another one too, by name and shape. */
static bool is_like(const struct wti_training *training, size_t stream, uint32_t model,
		    uint32_t other)
{
	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *own = wti_parameter_at(training, i), *twin;

		if (own->stream != stream || own->owner != model || own->is_buffer)
			continue;
		twin = wti_parameter_find(training, stream, other, own->name);
		if (!twin || twin->shape != own->shape)
			return false;
	}
	return true;
}

/* Loaded once, and only asked while others learn. An average of another model is no such model: it
 * is loaded from that one, or has its structure. */
static bool is_teacher(const struct asked *asked, const struct wti_moment *end)
{
	const struct wti_training *training = end->training;
	size_t stream = end->process->stream;

	if (asked->loads != 1 || asked->other_loads ||
	    wti_model_is_trained(training, stream, asked->object))
		return false;
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *other = wti_object_at(training, i);

		if (other->stream == stream && other->type == WT_OBJECT_TYPE_MODULE &&
		    other->name != asked->object &&
		    is_like(training, stream, asked->object, other->name))
			return false;
	}
	return true;
}

static enum wti_answer finish_asked(struct wti_case *account, void *kept,
				    const struct wti_moment *end)
{
	const struct asked *asked = kept;
	struct wti_moment at = *end;

	if (asked->calls_training < wti_threshold(account, CALLS) || asked->calls_evaluating ||
	    !end->process || !(is_idle(end->process) || is_teacher(asked, end)))
		return WTI_RULE_NO_CASE;
	at.call = &asked->call;
	at.scope = asked->call.scope;
	return wti_violated(
		account, &at, asked->object, "%s was in training mode in all of %llu calls, and %s",
		wti_moment_text(&at, asked->part), (unsigned long long)asked->calls_training,
		is_idle(end->process) ? "nothing is trained here"
				      : "the model is loaded and not trained here");
}

const struct wti_rule wti_rule_mode_007 = {
	.code = "WT-MODE-007",
	.severity = WT_WARNING,
	.title = "a model that is not trained runs in training mode",
	.means = "modules are in training mode when they are made: dropout is on, and batch "
		 "normalisation uses and learns the statistics of what is evaluated",
	.hint = "call model.eval() before the model is used",
	.definition =
		"In a process without backward() and without optimizer steps, dropout and batch "
		"normalisation of a model that is called without gradients are not in training "
		"mode in all calls, if there are four; calls with the same input as the one "
		"before do not count. The same holds beside a training for a model that was "
		"loaded once, from no other model, is never stepped, and has no trained "
		"counterpart of the "
		"same structure (a teacher). A case is such a module in evaluation mode.",
	.innocent = "Statistics that are re-estimated; uncertainty estimated by dropout on "
		    "different inputs; sampling from a generator in the mode in which it was "
		    "trained.",
	.needs = "no model with dropout or batch normalisation was called without gradients",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {[OF_MODEL] = {WTI_PER_MODULE, sizeof(struct asked)},
		  [OF_RUNNING] = {WTI_PER_TRACK, sizeof(struct running)}},
	.see = see_asked,
	.finish = finish_asked,
	.thresholds = {{"calls", 4, "a model may be tried out before its mode is set"}},
};
