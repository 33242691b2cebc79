/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about copies of a model that live beside it: that they are copies, and that all of them is
 * kept up, statistics of normalisation included.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "inspect/judge/rule.h"
#include "inspect/training/members.h"
#include "inspect/training/shape.h"

/* ---- WT-EMA-004: loaded with its own state -------------------------------------------------- */

enum { LOADS };
enum { OF_PROCESS, OF_OWN }; /* keeps */

/* Of a process: whose state was taken last, and in which line. */
struct taken {
	uint32_t object;
	const char *file; /* a symbol's text */
	int64_t line;
	uint64_t steps;
};

/* Of an object: loads of its own state, and after which step the last was. */
struct own_loads {
	struct wti_patience loads;
	uint64_t steps;
};

/* Calls of one line have sites of their own. */
static bool is_same_line(const struct taken *taken, const struct wti_where *where)
{
	if (!taken->file || !where->file)
		return taken->file == where->file;
	return taken->line == where->line && !strcmp(taken->file, where->file);
}

/* Several of one step are one time. */
static enum wti_answer judge_own(struct wti_case *account, const struct wti_moment *moment)
{
	struct own_loads *own =
		wti_kept_of_key(account, OF_OWN, moment->call->stream, moment->call->object);
	uint64_t steps = moment->process->step_count;

	if (!own || (own->loads.count && own->steps == steps))
		return WTI_RULE_NO_CASE;
	own->steps = steps;
	if (!wti_waited(account, &own->loads, moment, LOADS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->object,
			    "it was given its own state %u times, with training between",
			    own->loads.count);
}

/* target.load_state_dict(model.state_dict()), with target being the model. */
static enum wti_answer see_own_state(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	uint64_t steps = moment->process->step_count;
	struct taken *taken = kept;
	struct wti_where where;
	uint32_t object;

	if (!call->object || !call->site)
		return WTI_RULE_NO_CASE;
	where = wti_moment_where(moment);
	if (call->what == WTI_CALLEE_STATE_DICT) {
		*taken = (struct taken){call->object, where.file, where.line, steps};
		return WTI_RULE_NO_CASE;
	}
	if (!taken->object || !is_same_line(taken, &where) || taken->steps != steps)
		return WTI_RULE_NO_CASE;
	object = taken->object;
	taken->object = 0;
	return object == call->object ? judge_own(account, moment) : WTI_RULE_HELD;
}

const struct wti_rule wti_rule_ema_004 = {
	.code = "WT-EMA-004",
	.severity = WT_ERROR,
	.title = "a model is loaded with its own state, as if it were a copy",
	.means = "the target network or the copy was assigned instead of copied: there is only one "
		 "network, and it follows itself",
	.hint = "make the copy with copy.deepcopy(model)",
	.definition =
		"A line that takes a state with state_dict() and loads it at once does not load "
		"it into the object that it came from. `loads` such loads with an optimizer step "
		"between them are a violation. A case is a line that loads a state into another "
		"object.",
	.innocent = "None is known: such a load changes nothing.",
	.needs = "no line took a state and loaded it",
	.moments = WTI_MOMENT_CALL,
	.callees =
		WTI_CALLEE_SET(WTI_CALLEE_STATE_DICT) | WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct taken)},
		  [OF_OWN] = {WTI_PER_MODULE, sizeof(struct own_loads)}},
	.see = see_own_state,
	.thresholds = {{"loads", 2, "one may happen before the copy is made"}},
};

/* ---- WT-MODE-009: statistics of another model ----------------------------------------------- */

enum { OF_NOTHING, OF_NORMALISATION, OF_MODEL, OF_BUFFER }; /* keeps */

/* Of a module. */
struct normalisation {
	uint32_t mean;      /* place of its running mean, plus one; 0: it has none */
	bool has_estimated; /* it was called in training mode */
};

/* Of a buffer. */
enum change {
	UNCHANGED,
	CHANGED,
	CHANGED_TO_THAT_OF_MODEL, /* of a copy: to what the model that it was copied from has */
};

/* What has a running mean normalises with it. */
static void note_member(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	struct normalisation *normalisation;

	if (!parameter || !parameter->is_buffer ||
	    !wti_ends_with(wti_moment_text(moment, parameter->name), "running_mean"))
		return;
	normalisation =
		wti_kept_of_key(account, OF_NORMALISATION, parameter->stream, parameter->module);
	if (normalisation && !normalisation->mean)
		normalisation->mean = parameter->place + 1;
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

static void note_change(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter, *original;
	enum change *change;
	bool *has_changed;

	if (!parameter || wt_event_u64(moment->event, WT_STATE_FIELD_FLAGS) & 1)
		return; /* its first value is not a change */
	if (!parameter->is_buffer) {
		has_changed =
			wti_kept_of_key(account, OF_MODEL, parameter->stream, parameter->owner);
		if (has_changed)
			*has_changed = true;
		return;
	}
	original = original_of(moment->training, parameter);
	change = wti_kept_of_parameter(account, OF_BUFFER, parameter);
	if (change)
		*change = original && original->has_hash && original->hash == parameter->hash
				  ? CHANGED_TO_THAT_OF_MODEL
				  : CHANGED;
}

static bool is_set(const bool *flag)
{
	return flag && *flag;
}

static enum change change_of(const struct wti_case *account, const struct wti_parameter *parameter)
{
	const enum change *change =
		wti_kept_find_key(account, OF_BUFFER, parameter->stream, parameter->place);

	return change ? *change : UNCHANGED;
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

static enum wti_answer judge_statistics(struct wti_case *account,
					const struct normalisation *normalisation,
					const struct wti_moment *moment)
{
	const struct wti_parameter *mean =
		wti_parameter_at(moment->training, normalisation->mean - 1);
	const struct wti_parameter *original = original_of(moment->training, mean);
	enum change change = change_of(account, mean);
	struct wti_moment made;

	if (!original || !change_of(account, original) ||
	    !is_set(wti_kept_find_key(account, OF_MODEL, mean->stream, mean->owner)))
		return WTI_RULE_NO_CASE;
	if (normalisation->has_estimated || change == CHANGED ||
	    (change == CHANGED_TO_THAT_OF_MODEL && !is_equal_average(moment)))
		return WTI_RULE_HELD;
	made = wti_moment_of_object(
		moment->training, wti_training_object(moment->training, mean->stream, mean->owner));
	made.scope = moment->scope;
	if (change)
		return wti_violated(
			account, &made, mean->name,
			"it is evaluated with the running mean of the model, which belongs to the "
			"weights of the last step and not to their average");
	return wti_violated(account, &made, mean->name,
			    "it is evaluated with the running mean that it was copied with, while "
			    "its parameters and the running mean of the model have changed");
}

static enum wti_answer see_module(struct wti_case *account, const struct wti_moment *moment)
{
	struct normalisation *normalisation = moment->call->flags & WT_CALL_MODE_KNOWN
						      ? wti_kept(account, OF_NORMALISATION, moment)
						      : NULL;

	if (!normalisation)
		return WTI_RULE_NO_CASE;
	if (moment->call->flags & WT_CALL_TRAIN)
		normalisation->has_estimated = true;
	else if (normalisation->mean)
		return judge_statistics(account, normalisation, moment);
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_statistics(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_MODULE)
		return see_module(account, moment);
	if (moment->type == WTI_MOMENT_STATE)
		note_change(account, moment);
	else
		note_member(account, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_mode_009 = {
	.code = "WT-MODE-009",
	.severity = WT_WARNING,
	.title = "an averaged copy normalises with statistics that are not its own",
	.means = "only the parameters of the copy are updated: the running mean and variance of "
		 "its batch normalisation are those of the original at the time of the copy, often "
		 "before it had seen any data",
	.hint = "re-estimate them: torch.optim.swa_utils.update_bn(); a copy that follows the "
		"model closely may copy its buffers instead",
	.definition =
		"If parameters of a copy of a model have changed since it was made, and so has "
		"the running mean of the original, then a normalisation of the copy that is "
		"called in evaluation mode was called in training mode before, or its own running "
		"mean has changed; with stochastic weight averaging (SWALR), to something other "
		"than the original's. A case is such a call.",
	.innocent = "A copy that is trained with its normalisation frozen, beside a model whose "
		    "normalisation is not.",
	.needs = "no copy of a model with batch normalisation was evaluated after it had changed",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MEMBER | WTI_MOMENT_MODULE | WTI_MOMENT_STATE,
	.keeps = {[OF_NORMALISATION] = {WTI_PER_MODULE, sizeof(struct normalisation)},
		  [OF_MODEL] = {WTI_PER_KEY, sizeof(bool)}, /* a parameter has changed */
		  [OF_BUFFER] = {WTI_PER_PARAMETER, sizeof(enum change)}},
	.see = see_statistics,
};

/* ---- WT-EMA-005: the beginning as a teacher -------------------------------------------------- */

enum { STEPS, EPOCHS, CALLED, ELEMENTS, EDGE, ROUNDING };
enum { OF_TEACHING, OF_BEGINNING, OF_TWIN, OF_CALLED }; /* keeps */

/* Of a parameter outside of optimizers. */
struct twin {
	uint32_t parameter; /* its place */
	bool is_set;
	bool has_changed;
	uint64_t hash; /* what it was first seen with */
};

/* Of a module. */
struct called {
	uint64_t steps;   /* in which it was called */
	uint64_t last;    /* of them, from 1 */
	bool has_learned; /* called with gradients on */
};

static void note_beginning(struct wti_case *account, const struct wti_parameter *parameter)
{
	uint32_t *begun = parameter->step_count
				  ? NULL
				  : wti_kept_of_key(account, OF_BEGINNING, parameter->stream,
						    parameter->hash);

	if (begun && !*begun)
		*begun = parameter->place + 1;
}

/* What is outside of optimizers may be read long after the first step. */
static void note_content(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	struct twin *twin;

	if (!parameter || parameter->is_buffer || moment->attribute != parameter->name)
		return;
	if (parameter->optimizer) {
		note_beginning(account, parameter);
		return;
	}
	twin = wti_kept_of_parameter(account, OF_TWIN, parameter);
	if (!twin)
		return;
	if (!twin->is_set)
		*twin = (struct twin){parameter->place, true, false, parameter->hash};
	else if (twin->hash != parameter->hash)
		twin->has_changed = true;
}

static void note_called(struct wti_case *account, const struct wti_moment *moment)
{
	struct called *called = wti_kept(account, OF_CALLED, moment);

	if (!called)
		return;
	if (moment->call->flags & WT_CALL_GRAD)
		called->has_learned = true;
	called->steps += called->last != moment->process->step_count + 1;
	called->last = moment->process->step_count + 1;
}

static enum wti_answer see_teachers(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STATE)
		note_content(account, moment);
	else
		note_called(account, moment);
	return WTI_RULE_NO_CASE;
}

/*
 * As torch initialises the weights of layers: evenly up to one over the root of what an output is
 * the sum of. Training, however little, moves some of them beyond.
 */
static bool is_untrained(const struct wti_case *account, const struct wti_moment *moment,
			 const struct wti_parameter *parameter)
{
	const struct wti_digest_row *digest = &parameter->statistics;
	struct wti_shape shape = wti_shape_read(wti_moment_text(moment, parameter->shape));
	double bound, most, least;

	if (!parameter->has_statistics || shape.rank < 2 || !shape.extents[0] ||
	    digest->count < wti_threshold(account, ELEMENTS))
		return false;
	bound = 1 / sqrt((double)digest->count / (double)shape.extents[0]);
	most = bound * (1 + wti_threshold_real(account, ROUNDING));
	least = bound * wti_threshold_real(account, EDGE);
	return digest->max <= most && digest->min >= -most && digest->max >= least &&
	       digest->min <= -least;
}

/* What began with the same values, and was trained while this was called; NULL: nothing did. */
static const struct wti_parameter *trained_twin(const struct wti_case *account,
						const struct wti_moment *end,
						const struct twin *twin,
						const struct called *called)
{
	const uint32_t *begun =
		wti_kept_find_key(account, OF_BEGINNING, end->process->stream, twin->hash);
	const struct wti_parameter *trained =
		begun ? wti_parameter_at(end->training, *begun - 1) : NULL;

	if (!trained || trained->moved_count < wti_threshold(account, STEPS) ||
	    (double)called->steps <
		    wti_threshold_real(account, CALLED) * (double)trained->step_count ||
	    trained->shape != wti_parameter_at(end->training, twin->parameter)->shape)
		return NULL;
	return trained;
}

static enum wti_answer judge_teacher(struct wti_case *account, const struct twin *twin,
				     const struct wti_moment *end)
{
	const struct wti_parameter *parameter = wti_parameter_at(end->training, twin->parameter);
	const struct called *called =
		wti_kept_find_key(account, OF_CALLED, parameter->stream, parameter->module);
	const struct wti_parameter *trained;

	if (!called || called->has_learned || parameter->optimizer)
		return WTI_RULE_NO_CASE;
	trained = trained_twin(account, end, twin, called);
	if (!trained)
		return WTI_RULE_NO_CASE;
	if (twin->has_changed)
		return WTI_RULE_HELD;
	if (!is_untrained(account, end, parameter)) {
		wti_not_measured(account, "the copies that are called in every step may be of a "
					  "model that had been trained: they may be meant to stay");
		return WTI_RULE_NO_CASE;
	}
	if (end->process->last_epoch + 1 < (int64_t)wti_threshold(account, EPOCHS)) {
		wti_not_measured(account, "too few epochs are known: a target network may be due "
					  "for an update only after the end of the run");
		return WTI_RULE_NO_CASE;
	}
	return wti_violated(
		account, end, parameter->module,
		"its %s is outside of every optimizer, was called without gradients in %llu of "
		"%llu steps, and still holds the random values that the trained %s began with",
		wti_moment_text(end, parameter->name), (unsigned long long)called->steps,
		(unsigned long long)trained->step_count, wti_moment_text(end, trained->name));
}

static enum wti_answer finish_teachers(struct wti_case *account, void *kept,
				       const struct wti_moment *end)
{
	const struct twin *twin;
	size_t place = 0;

	while ((twin = wti_kept_next(account, OF_TWIN, end->process->stream, &place)))
		if (judge_teacher(account, twin, end) == WTI_RULE_HELD)
			wti_held(account);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ema_005 = {
	.code = "WT-EMA-005",
	.severity = WT_WARNING,
	.title = "the teacher is a copy of the untrained model, and never follows it",
	.means = "a momentum encoder, a mean teacher or a target network is called in every step "
		 "and keeps the random weights that the model began with: its update is missing",
	.hint = "call the update after optimizer.step(): for each pair of parameters "
		"slow.lerp_(fast, 1 - momentum)",
	.definition =
		"A weight that is in no optimizer, whose module is called without gradients in "
		"nine of ten steps, and that holds what a trained weight of the same shape held "
		"before its first step, changes within `epochs` epochs and `steps` steps, if its "
		"values are distributed as torch initialises a layer. A case is such a weight "
		"that changes.",
	.innocent = "A random teacher on purpose; a target network that is refreshed more rarely "
		    "than every two epochs.",
	.needs = "no copy of a trained weight's initial values was used in every step",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STATE,
	.keeps = {[OF_TEACHING] = {WTI_PER_PROCESS, 0},
		  /* What a trained one held, by its hash: its place plus one. */
		  [OF_BEGINNING] = {WTI_PER_KEY, sizeof(uint32_t)},
		  [OF_TWIN] = {WTI_PER_PARAMETER, sizeof(struct twin)},
		  [OF_CALLED] = {WTI_PER_MODULE, sizeof(struct called)}},
	.see = see_teachers,
	.finish = finish_teachers,
	.thresholds = {{"steps", 30,
			"a run that has only begun may not have come to its first update"},
		       {"epochs", 2, "a target network may be refreshed once in an epoch"},
		       {"called", 0.9,
			"the share of steps: a teacher is called in every one, and some of "
			"the first may be a warm-up"},
		       {"elements", 64, "of fewer, the largest may be far from the edge by chance"},
		       {"edge", 0.9,
			"the largest of 64 values, drawn evenly, is above it in 96 of 100 cases"},
		       {"rounding", 1e-6, "of the edge, in single precision"}},
};
