/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about copies of a model that live beside it: that they are copies, and that all of them is
 * kept up, statistics of normalisation included.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/members.h"
#include "inspect/training/slots.h"

/* ---- WT-EMA-004: loaded with its own state -------------------------------------------------- */

enum { LOADS_TO_TELL = 2 };

/* Of a process: whose state was taken last, and in which line. */
struct taken {
	uint32_t object;
	const char *file; /* a symbol's text */
	int64_t line;
	uint64_t steps;
};

struct loads {
	struct wti_slots taken; /* by process */
	struct wti_slots own;   /* of objects: after which step they were last given their own */
};

static void release_loads(void *state)
{
	struct loads *loads = state;

	wti_slots_release(&loads->taken);
	wti_slots_release(&loads->own);
}

/* Calls of one line have sites of their own. */
static bool is_same_line(const struct taken *taken, const struct wti_where *where)
{
	if (!taken->file || !where->file)
		return taken->file == where->file;
	return taken->line == where->line && !strcmp(taken->file, where->file);
}

struct own_loads {
	uint64_t count, steps;
};

/* target.load_state_dict(model.state_dict()), with target being the model. */
static void judge_load(struct wti_case *account, struct loads *loads, struct taken *taken,
		       const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct wti_where where = wti_moment_where(moment);
	uint64_t steps = moment->process->step_count;
	struct own_loads *own;

	if (!taken->object || !is_same_line(taken, &where) || taken->steps != steps)
		return;
	own = wti_slot(&loads->own, (uint64_t)call->stream << 32 | call->object, sizeof(*own));
	if (!own)
		return;
	if (taken->object != call->object) {
		wti_held(account);
	} else if (!own->count || own->steps != steps) {
		own->steps = steps;
		if (++own->count >= LOADS_TO_TELL)
			wti_violated(account, moment, call->object,
				     "it was given its own state %llu times, with training between",
				     (unsigned long long)own->count);
	}
	taken->object = 0;
}

static void see_own_state(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct loads *loads = state;
	struct taken *taken = wti_slot(&loads->taken, moment->process->stream, sizeof(*taken));
	struct wti_where where;

	if (!taken || !moment->call->object || !moment->call->site)
		return;
	if (moment->call->what == WTI_CALLEE_STATE_DICT) {
		where = wti_moment_where(moment);
		*taken = (struct taken){.object = moment->call->object,
					.file = where.file,
					.line = where.line,
					.steps = moment->process->step_count};
	} else if (moment->call->what == WTI_CALLEE_LOAD_STATE_DICT) {
		judge_load(account, loads, taken, moment);
	}
}

const struct wti_rule wti_rule_ema_004 = {
	.code = "WT-EMA-004",
	.severity = WT_ERROR,
	.title = "a model is given its own state, as if it were another",
	.means =
		"the target network or the copy was assigned and not copied: there is one network, "
		"and it chases itself",
	.hint = "make the copy with copy.deepcopy(model)",
	.definition =
		"A line that takes a state with state_dict() and loads it in one go does not load "
		"it into the object that it came from, twice with a step of an optimizer between. "
		"A case is such a line that loads another object.",
	.innocent = "None is known: it changes nothing.",
	.needs = "no line took a state and loaded it",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct loads),
	.watch = see_own_state,
	.release = release_loads,
};

/* ---- WT-MODE-009: statistics of another model ----------------------------------------------- */

struct statistics {
	struct wti_slots owners;  /* objects: whether a parameter of theirs has changed */
	struct wti_slots buffers; /* enum change */
	struct wti_slots modules; /* that are called */
};

enum change {
	CHANGED = 1,
	CHANGED_TO_THAT_OF_MODEL, /* of a copy: to what the model that it was copied from has */
};

struct normalisation {
	uint32_t place;     /* of its running mean, plus one */
	bool has_estimated; /* it was called in training mode */
};

static void release_statistics(void *state)
{
	struct statistics *statistics = state;

	wti_slots_release(&statistics->owners);
	wti_slots_release(&statistics->buffers);
	wti_slots_release(&statistics->modules);
}

static uint64_t owner_key(const struct wti_parameter *parameter)
{
	return (uint64_t)parameter->stream << 32 | parameter->owner;
}

static const struct wti_parameter *original_of(const struct wti_training *training,
					       const struct wti_parameter *parameter)
{
	const struct wti_object *copy =
		wti_training_object(training, parameter->stream, parameter->owner);

	return copy && copy->how == WT_FOUND_COPIED
		       ? wti_parameter_find(training, parameter->stream, copy->of, parameter->name)
		       : NULL;
}

static enum change change_of(const struct wti_training *training,
			     const struct wti_parameter *parameter)
{
	const struct wti_parameter *original = original_of(training, parameter);

	return original && original->has_hash && original->hash == parameter->hash
		       ? CHANGED_TO_THAT_OF_MODEL
		       : CHANGED;
}

static void note_change(struct statistics *statistics, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	uint8_t *changed;

	if (!parameter || wt_event_u64(moment->event, WT_STATE_FIELD_FLAGS) & 1)
		return; /* it is told for the first time */
	changed = parameter->is_buffer ? wti_slot_of_parameter(&statistics->buffers, parameter, 1)
				       : wti_slot(&statistics->owners, owner_key(parameter), 1);
	if (changed)
		*changed = (uint8_t)(parameter->is_buffer ? change_of(moment->training, parameter)
							  : CHANGED);
}

static bool has_changed(struct wti_slots *slots, const struct wti_parameter *parameter)
{
	const uint8_t *changed = wti_slot_of_parameter(slots, parameter, 1);

	return changed && *changed;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length >= wanted && !strcmp(text + length - wanted, end);
}

static bool is_mean_of(const struct wti_moment *moment, const struct wti_parameter *parameter)
{
	return parameter->is_buffer && parameter->stream == moment->call->stream &&
	       parameter->module == moment->call->object &&
	       ends_with(wti_moment_text(moment, parameter->name), "running_mean");
}

/* The running mean of a module that is called; NULL: it has none. */
static const struct wti_parameter *mean_of(struct normalisation *module,
					   const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;

	for (size_t i = 0; !module->place && i < training->parameters.count; i++)
		if (is_mean_of(moment, wti_parameter_at(training, i)))
			module->place = (uint32_t)i + 1;
	return module->place ? wti_parameter_at(training, module->place - 1) : NULL;
}

/* A mean of the weights of several epochs, far from those of the last: one that follows closely
 * (an exponential average) may have the statistics of the model. */
static bool is_equal_average(const struct wti_moment *moment)
{
	for (size_t i = 0; i < moment->training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(moment->training, i);

		if (object->stream == moment->process->stream &&
		    object->type == WT_OBJECT_TYPE_SCHEDULER &&
		    !strcmp(wti_moment_text(moment, object->class_name), "SWALR"))
			return true;
	}
	return false;
}

static void judge_statistics(struct wti_case *account, struct statistics *statistics,
			     const struct wti_moment *moment, struct normalisation *module)
{
	const struct wti_parameter *mean = mean_of(module, moment);
	const struct wti_parameter *original = mean ? original_of(moment->training, mean) : NULL;
	struct wti_moment made;
	const uint8_t *changed, *change;

	if (!original)
		return;
	changed = wti_slot(&statistics->owners, owner_key(mean), 1);
	change = wti_slot_of_parameter(&statistics->buffers, mean, 1);
	if (!changed || !*changed || !change || !has_changed(&statistics->buffers, original))
		return;
	made = wti_moment_of_object(
		moment->training, wti_training_object(moment->training, mean->stream, mean->owner));
	made.scope = moment->scope;
	if (module->has_estimated || *change == CHANGED ||
	    (*change == CHANGED_TO_THAT_OF_MODEL && !is_equal_average(moment)))
		wti_held(account);
	else if (*change)
		wti_violated(account, &made, mean->name,
			     "it is evaluated with the running mean of the model, which belongs to "
			     "the weights of the last step and not to their average");
	else
		wti_violated(account, &made, mean->name,
			     "it is evaluated with the running mean that it was copied with, while "
			     "its parameters and the running mean of the model have changed");
}

static void see_statistics(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct statistics *statistics = state;
	const struct wti_call *call = moment->call;
	struct normalisation *module;

	if (moment->type == WTI_MOMENT_STATE) {
		note_change(statistics, moment);
		return;
	}
	if (!(call->flags & WTI_CALL_SAYS_TRAINING) ||
	    !strstr(wti_moment_text(moment, call->callee), "Norm"))
		return;
	module = wti_slot(&statistics->modules, (uint64_t)call->stream << 32 | call->object,
			  sizeof(*module));
	if (!module)
		return;
	if (call->flags & WTI_CALL_TRAINING)
		module->has_estimated = true;
	else
		judge_statistics(account, statistics, moment, module);
}

const struct wti_rule wti_rule_mode_009 = {
	.code = "WT-MODE-009",
	.severity = WT_WARNING,
	.title = "an averaged copy normalises with statistics that are not its own",
	.means =
		"only the parameters of the copy are kept up: the running mean and variance of its "
		"batch normalisation are those of the model that it was copied from, often of one "
		"that had seen nothing",
	.hint = "estimate them anew: torch.optim.swa_utils.update_bn(); a copy that follows the "
		"model closely may take over its buffers instead",
	.definition =
		"A batch normalisation of a copy of a model that is called in evaluation mode was "
		"called in training mode before, or its running mean has changed since the copy "
		"was made, if parameters of the copy have, and the running mean of the model that "
		"it was copied from; with stochastic weight averaging (SWALR), not to that of the "
		"model. A case is such a call.",
	.innocent =
		"A copy that is trained with normalisation frozen, beside a model whose is not.",
	.needs = "no copy of a model with batch normalisation, that had changed, was evaluated",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct statistics),
	.watch = see_statistics,
	.release = release_statistics,
};

/* ---- WT-EMA-005: the beginning as a teacher -------------------------------------------------- */

enum { TEACHING_STEPS = 30, TEACHING_EPOCHS = 2, ELEMENTS_TO_TELL = 64 };

struct teachers {
	struct wti_slots begun; /* stream and hash: a trained parameter, place plus one */
	struct wti_slots twins; /* of parameters outside of optimizers */
	struct wti_slots asked; /* modules that are called */
};

struct twin {
	uint64_t contents; /* what it was first seen with, as a key of `begun`; 0: it was not */
	bool has_changed;
};

struct asked {
	uint64_t steps;   /* in which it was called */
	uint64_t last;    /* of them, from 1 */
	bool has_learned; /* called with gradients on */
};

static void release_teachers(void *state)
{
	struct teachers *teachers = state;

	wti_slots_release(&teachers->begun);
	wti_slots_release(&teachers->twins);
	wti_slots_release(&teachers->asked);
}

static uint64_t contents_key(const struct wti_parameter *parameter)
{
	return (parameter->hash ^ (uint64_t)parameter->stream << 48) * 0x9e3779b97f4a7c15u;
}

/* What is outside of optimizers may be read long after the first step. */
static void note_contents(struct teachers *teachers, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	uint32_t *begun;
	struct twin *twin;

	if (!parameter || parameter->is_buffer || moment->attribute != parameter->name)
		return;
	if (parameter->optimizer) {
		begun = parameter->step_count ? NULL
					      : wti_slot(&teachers->begun, contents_key(parameter),
							 sizeof(*begun));
		if (begun && !*begun)
			*begun = parameter->place + 1;
		return;
	}
	twin = wti_slot_of_parameter(&teachers->twins, parameter, sizeof(*twin));
	if (!twin)
		return;
	if (!twin->contents)
		twin->contents = contents_key(parameter);
	else if (twin->contents != contents_key(parameter))
		twin->has_changed = true;
}

static void note_asked(struct teachers *teachers, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct asked *asked = wti_slot(&teachers->asked,
				       (uint64_t)call->stream << 32 | call->object, sizeof(*asked));

	if (!asked)
		return;
	if (call->flags & WTI_CALL_GRAD)
		asked->has_learned = true;
	asked->steps += asked->last != moment->process->step_count + 1;
	asked->last = moment->process->step_count + 1;
}

static void see_teachers(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	(void)account;
	if (moment->type == WTI_MOMENT_STATE)
		note_contents(state, moment);
	else
		note_asked(state, moment);
}

/*
 * As torch initialises the weights of layers: evenly up to one over the root of what an output is
 * the sum of. Training, however little, moves some of them beyond.
 */
static bool is_untrained(const struct wti_training *training, const struct wti_parameter *parameter)
{
	const struct wti_digest_row *digest = &parameter->statistics;
	const char *shape = wti_symbol_text(training->symbols, parameter->shape);
	unsigned long rows = strtoul(shape, NULL, 10);
	double bound;

	if (!parameter->has_statistics || !rows || !strchr(shape, 'x') ||
	    digest->count < ELEMENTS_TO_TELL)
		return false;
	bound = 1 / sqrt((double)digest->count / (double)rows);
	return digest->max <= bound * (1 + 1e-6) && digest->min >= -bound * (1 + 1e-6) &&
	       digest->max >= 0.9 * bound && digest->min <= -0.9 * bound;
}

static void judge_teacher(struct wti_case *account, struct teachers *teachers,
			  const struct wti_training *training,
			  const struct wti_parameter *parameter)
{
	const struct twin *twin = wti_slot_of_parameter(&teachers->twins, parameter, sizeof(*twin));
	const struct asked *asked = wti_slot_find(
		&teachers->asked, (uint64_t)parameter->stream << 32 | parameter->module);
	const struct wti_parameter *trained;
	const uint32_t *begun;
	struct wti_moment end;

	if (!twin || !twin->contents || !asked || asked->has_learned || parameter->optimizer)
		return;
	begun = wti_slot_find(&teachers->begun, twin->contents);
	if (!begun)
		return;
	trained = wti_parameter_at(training, *begun - 1);
	if (trained->moved_count < TEACHING_STEPS || asked->steps * 10 < trained->step_count * 9 ||
	    trained->shape != parameter->shape)
		return;
	if (twin->has_changed) {
		wti_held(account);
		return;
	}
	if (!is_untrained(training, parameter)) {
		wti_not_measured(account, "the copies that are asked in every step may be of a "
					  "model that had been trained: they may be meant to stay");
		return;
	}
	if (wti_process_at(training, parameter->stream)->last_epoch + 1 < TEACHING_EPOCHS) {
		wti_not_measured(account, "no two epochs are known: a target network may be "
					  "refreshed later than the run has ended");
		return;
	}
	end = wti_moment_of_end(training, parameter->stream);
	wti_violated(account, &end, parameter->module,
		     "its %s is outside of every optimizer, was asked without gradients in %llu of "
		     "%llu steps, and still holds the random values that the trained %s began with",
		     wti_symbol_text(training->symbols, parameter->name),
		     (unsigned long long)asked->steps, (unsigned long long)trained->step_count,
		     wti_symbol_text(training->symbols, trained->name));
}

static void finish_teachers(struct wti_case *account, void *state,
			    const struct wti_training *training)
{
	for (size_t i = 0; i < training->parameters.count; i++)
		judge_teacher(account, state, training, wti_parameter_at(training, i));
}

const struct wti_rule wti_rule_ema_005 = {
	.code = "WT-EMA-005",
	.severity = WT_WARNING,
	.title = "the teacher is a copy of the untrained model, and never follows it",
	.means = "a momentum encoder, a mean teacher or a target network is asked in every step "
		 "and keeps the random weights that the model began with: its update is missing",
	.hint = "call the update after optimizer.step(): for each pair of parameters "
		"slow.lerp_(fast, 1 - momentum)",
	.definition =
		"A weight outside of every optimizer, whose module is called without gradients in "
		"nine of ten steps, and which holds what a trained one of the same shape held "
		"before its first step, changes within two epochs and thirty steps, if these are "
		"values as torch initialises a layer with. A case is such a weight that changes.",
	.innocent = "A random teacher on purpose; a target network that is refreshed more rarely "
		    "than every two epochs.",
	.needs = "no copy of a trained weight, as it was in the beginning, was asked in every step",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct teachers),
	.watch = see_teachers,
	.conclude = finish_teachers,
	.release = release_teachers,
};
