/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about modes: dropout and normalisation behave differently in training and evaluation. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/modal.h"
#include "inspect/training/slots.h"

struct modes {
	struct wti_slots modules; /* struct mode of each that depends on the mode */
	struct wti_slots wholes;  /* struct whole of each track */
};

static void release_modes(void *state)
{
	struct modes *modes = state;

	wti_slots_release(&modes->modules);
	wti_slots_release(&modes->wholes);
}

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

enum { STEPS_TO_TELL = 2 };

/* Of a track: the outermost module that was called last. */
struct whole {
	bool is_training;
};

struct mode {
	bool has_trained;    /* called in training mode in a step that was made */
	bool called_train;   /* since the last step */
	bool called_eval;    /* with gradients on, since the last step */
	uint32_t eval_steps; /* in a row */
	uint32_t name;
	bool is_dropout;
};

/*
 * The mode of the outermost module around a call. Parts may be frozen on purpose; it is the whole
 * that is forgotten.
 */
static bool whole_trains(struct wti_slots *wholes, const struct wti_call *call)
{
	struct whole *whole =
		wti_slot(wholes, (uint64_t)call->stream << 32 | call->track, sizeof(*whole));

	if (!whole)
		return true;
	if (call->flags & WTI_CALL_OUTERMOST)
		whole->is_training = call->flags & WTI_CALL_TRAINING;
	return whole->is_training;
}

static void note_mode(struct wti_slots *modules, const struct wti_moment *moment,
		      bool is_whole_training)
{
	const struct wti_call *call = moment->call;
	struct mode *mode;

	if (!call->object || !(call->flags & WTI_CALL_SAYS_TRAINING) ||
	    !(call->flags & WTI_CALL_GRAD) || !wti_depends_on_mode(moment))
		return;
	mode = wti_slot(modules, (uint64_t)call->stream << 32 | call->object, sizeof(*mode));
	if (!mode)
		return;
	mode->name = call->object;
	mode->is_dropout = strstr(wti_moment_text(moment, call->callee), "Dropout");
	if (call->flags & WTI_CALL_TRAINING)
		mode->called_train = true;
	else if (!is_whole_training)
		mode->called_eval = true;
}

static void judge_mode(struct wti_case *account, struct mode *mode, const struct wti_moment *moment)
{
	if (mode->called_train) {
		mode->has_trained = true;
		mode->eval_steps = 0;
		wti_held(account);
	} else if (mode->called_eval && mode->has_trained && ++mode->eval_steps >= STEPS_TO_TELL) {
		wti_violated(
			account, moment, mode->name,
			"it was in training mode in earlier steps, and is in evaluation mode in "
			"the last %u",
			mode->eval_steps);
	}
	mode->called_train = mode->called_eval = false;
}

typedef void judge_fn(struct wti_case *account, struct mode *mode, const struct wti_moment *moment);

static void see_each(struct wti_case *account, struct modes *modes, const struct wti_moment *moment,
		     judge_fn *judge)
{
	struct wti_slots *modules = &modes->modules;

	if (moment->type == WTI_MOMENT_MODULE) {
		note_mode(modules, moment, whole_trains(&modes->wholes, moment->call));
		return;
	}
	for (size_t i = 0; i < modules->index.count; i++) {
		const struct wti_map_entry *entry = &modules->index.entries[i];

		if (entry->key >> 32 == moment->call->stream && entry->value)
			judge(account, wti_slot(modules, entry->key, sizeof(struct mode)), moment);
	}
}

static void see_modes(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	see_each(account, state, moment, judge_mode);
}

const struct wti_rule wti_rule_mode_001 = {
	.code = "WT-MODE-001",
	.severity = WT_ERROR,
	.title = "training goes on in evaluation mode",
	.means = "model.eval() was called for a validation and model.train() not called again: "
		 "dropout is off and batch normalisation no longer learns",
	.hint = "call model.train() at the beginning of each training epoch",
	.definition = "A module that depends on the mode (dropout, batch normalisation) and was "
		      "called in training mode for one optimizer step is not called in evaluation "
		      "mode, with gradients on, for two steps in a row while the model as a whole "
		      "is. A case is such a module in a "
		      "step.",
	.innocent = "Normalisation that is frozen from the beginning is not judged. Freezing it in "
		    "the middle of a run on purpose looks like this.",
	.needs = "no dropout or batch normalisation was called for a step in training mode",
	/* What is trained on in evaluation mode is taken for an evaluation. */
	.explains = (const char *const[]){"WT-ROWS-001", "WT-ROWS-002", "WT-ROWS-003", NULL},
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct modes),
	.watch = see_modes,
	.release = release_modes,
};

/* ---- WT-MODE-008: in evaluation mode from the beginning -------------------------------------- */

enum { STEPS_IN_EVALUATION = 8 };

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

/* Normalisation may be meant to stay as it is; dropout that never drops anything is not. */
static void judge_beginning(struct wti_case *account, struct mode *mode,
			    const struct wti_moment *moment)
{
	if (mode->called_train) {
		mode->has_trained = true;
		wti_held(account);
	} else if (mode->called_eval && !mode->has_trained && mode->is_dropout &&
		   is_part_of_trained(moment, mode->name) &&
		   ++mode->eval_steps >= STEPS_IN_EVALUATION) {
		wti_violated(account, moment, mode->name,
			     "the model was in evaluation mode in all of the first %u steps, and "
			     "this part of it does nothing then",
			     mode->eval_steps);
	}
	mode->called_train = mode->called_eval = false;
}

static void see_beginning(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	see_each(account, state, moment, judge_beginning);
}

const struct wti_rule wti_rule_mode_008 = {
	.code = "WT-MODE-008",
	.severity = WT_WARNING,
	.title = "the model is in evaluation mode from the beginning of its training",
	.means = "models that are loaded come in evaluation mode with some libraries: dropout is "
		 "off, and batch normalisation does not learn",
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
	.state_bytes = sizeof(struct modes),
	.watch = see_beginning,
	.release = release_modes,
};

/* ---- WT-MODE-007: nothing is trained, and all is in training mode --------------------------- */

enum { CALLS_TO_TELL = 4 };

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
};

struct asking {
	struct wti_slots running;
	struct wti_slots models;
};

static void release_asking(void *state)
{
	struct asking *asking = state;

	wti_slots_release(&asking->running);
	wti_slots_release(&asking->models);
}

static void note_whole(struct running *running, const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	uint64_t hash =
		input && !(input->digest.flags & WTI_TENSOR_NO_HASH) ? input->digest.hash : 0;

	running->is_repeated = hash && hash == running->input && call->object == running->object;
	running->object = call->object;
	running->input = hash;
	running->call = *call;
	running->call.values = NULL;
	running->call.value_count = 0;
	running->call.value_capacity = 0;
}

static void see_asked(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct asking *asking = state;
	const struct wti_call *call = moment->call;
	struct running *running = wti_slot(
		&asking->running, (uint64_t)call->stream << 32 | call->track, sizeof(*running));
	struct asked *asked;

	if (!running || call->flags & WTI_CALL_GRAD)
		return;
	if (call->flags & WTI_CALL_OUTERMOST)
		note_whole(running, call);
	if (!running->object || running->is_repeated || !(call->flags & WTI_CALL_SAYS_TRAINING) ||
	    !wti_depends_on_mode(moment))
		return;
	asked = wti_slot(&asking->models, (uint64_t)call->stream << 32 | running->object,
			 sizeof(*asked));
	if (!asked)
		return;
	asked->object = running->object;
	if (!(call->flags & WTI_CALL_TRAINING)) {
		asked->calls_evaluating++;
		wti_held(account);
		return;
	}
	if (!asked->calls_training++) {
		asked->part = call->object;
		asked->call = running->call;
	}
}

static void finish_asked(struct wti_case *account, void *state, const struct wti_training *training)
{
	struct wti_slots *models = &((struct asking *)state)->models;

	for (size_t i = 0; i < models->count; i++) {
		uint64_t key = models->index.entries[i].key;
		struct asked *asked = wti_slot(models, key, sizeof(*asked));
		struct wti_moment end = wti_moment_of_end(training, key >> 32);

		if (!asked || asked->calls_training < CALLS_TO_TELL || asked->calls_evaluating ||
		    !end.process || end.process->step_count || end.process->backward_count)
			continue;
		end.call = &asked->call;
		end.scope = asked->call.scope;
		wti_violated(account, &end, asked->object,
			     "%s was in training mode in all of %llu calls, and nothing is trained "
			     "here",
			     wti_moment_text(&end, asked->part),
			     (unsigned long long)asked->calls_training);
	}
}

const struct wti_rule wti_rule_mode_007 = {
	.code = "WT-MODE-007",
	.severity = WT_WARNING,
	.title = "a program that trains nothing runs a model in training mode",
	.means = "modules are in training mode when they are made: dropout is on, and batch "
		 "normalisation uses and learns the statistics of what is evaluated",
	.hint = "call model.eval() before the model is used",
	.definition =
		"In a process without a backward() and a step of an optimizer, dropout and batch "
		"normalisation of a model that is called without gradients are not in training "
		"mode in all calls, if there are four; calls with the same input as the one "
		"before do not count. A case is such a module in evaluation mode.",
	.innocent = "Statistics that are estimated anew; uncertainty by dropout on inputs that "
		    "differ; sampling as a generator was trained.",
	.needs = "no model with dropout or batch normalisation was called without gradients",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct asking),
	.watch = see_asked,
	.conclude = finish_asked,
	.release = release_asking,
};
