/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about optimizers: that they hold what is to be trained, and that it moves. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

/* ---- WT-OPT-001: does not move -------------------------------------------------------------- */

enum { STILL_IN_A_ROW, LEAST_UPDATE };

static double magnitude(const struct wti_digest_row *row)
{
	return fmax(fabs(row->min), fabs(row->max));
}

/*
 * Whether the plainest update, learning rate times gradient, is larger than what rounding can
 * swallow. Half precision has a rule of its own.
 */
static bool must_move(const struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	double lr;

	/* Who searches for the best step by itself may find none: it has converged. */
	if (moment->object->has_closure && !parameter->moved && parameter->moved_count)
		return false;
	if (parameter->grad != WTI_GRAD_NONZERO || parameter->placement ||
	    wti_dtype_is_narrow(parameter->dtype) ||
	    !wti_parameter_lr(moment->training, parameter, &lr))
		return false;
	if (!parameter->has_statistics || !parameter->has_grad_statistics)
		return false;
	return lr * magnitude(&parameter->grad_statistics) >
	       wti_threshold_real(account, LEAST_UPDATE) * magnitude(&parameter->statistics);
}

static enum wti_answer see_moves(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	if (!must_move(account, moment))
		return WTI_RULE_NO_CASE;
	if (parameter->moved)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, parameter->name,
			    "%u steps in a row left it as it was, with a gradient of up to %.3g",
			    wti_streak(account), magnitude(&parameter->grad_statistics));
}

const struct wti_rule wti_rule_opt_001 = {
	.code = "WT-OPT-001",
	.severity = WT_ERROR,
	.title = "parameters do not change although they have gradients",
	.means = "the optimizer updates something else: copies made before the model was moved, "
		 "converted or wrapped, or an empty list",
	.hint = "make the optimizer after the model has its final form, from model.parameters()",
	.definition =
		"A parameter with a gradient other than zero changes in its optimizer's step when "
		"learning rate times gradient is more than a millionth of the parameter. Two steps "
		"in a row without change are a violation. A case is a parameter in a step.",
	.innocent = "An optimizer with a closure (LBFGS) is not checked any more once it has "
		    "changed a parameter: it may have converged. A loss scaler that skips a step "
		    "does not call the optimizer. Updates that half precision rounds away are "
		    "reported by WT-NUM-002.",
	.needs = "no parameter had a gradient, a learning rate and statistics at a step",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, 0}},
	.see = see_moves,
	.thresholds =
		{[STILL_IN_A_ROW] = {WTI_IN_A_ROW, 2,
				     "an optimizer may skip a single step by itself"},
		 [LEAST_UPDATE] = {"update", 0x1p-20,
				   "of the parameter: eight times the distance between two "
				   "neighbours in float32, so that rounding cannot swallow it"}},
};

/* ---- WT-OPT-002: trainable, and in no optimizer --------------------------------------------- */

enum { STEPS };

enum { OF_PROCESS, OF_PARAMETER }; /* keeps */

/* What costs a look at all parameters is counted in steps 2, 4, 8, 16 ... of an optimizer. */
static bool is_time(const struct wti_case *account, const struct wti_object *optimizer)
{
	uint64_t count = optimizer->step_count;

	return count >= wti_threshold(account, STEPS) && !(count & (count - 1));
}

/* Whether it should be in an optimizer. */
static bool is_to_be_trained(const struct wti_training *training,
			     const struct wti_parameter *parameter)
{
	return parameter->is_member && !parameter->is_buffer && parameter->requires_grad &&
	       wti_parameter_is_used(training, parameter);
}

/* The owners, such as models, of what an optimizer trains. */
static void collect_owners(struct wti_map *owners, const struct wti_training *training,
			   const struct wti_object *optimizer)
{
	wti_map_init(owners, optimizer->member_count + 1u);
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		wti_map_number(owners, wti_object_member(training, optimizer, i)->owner);
}

static bool is_outside(const struct wti_parameter *parameter)
{
	return !parameter->optimizer && !parameter->step_count;
}

/* Reported in its second step, whichever that is, and later where it is counted. */
static void judge_outside(struct wti_case *account, const struct wti_moment *moment)
{
	const uint64_t steps = wti_threshold(account, STEPS);
	struct wti_patience *wait = wti_kept_of_parameter(account, OF_PARAMETER, moment->parameter);

	if (!wait || !wti_waited(account, wait, moment, STEPS) ||
	    moment->object->step_count < steps ||
	    (wait->count > steps && !is_time(account, moment->object)))
		return;
	wti_violated(account, moment, moment->parameter->name,
		     "requires a gradient and is used in training, but no optimizer "
		     "has it, while others of the same model are in one");
}

static enum wti_answer see_outside(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;
	const bool is_counted = is_time(account, moment->object);
	struct wti_moment of_parameter = *moment;
	struct wti_map owners = {0};

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != moment->object->stream ||
		    !(is_counted || is_outside(parameter)) ||
		    !is_to_be_trained(training, parameter))
			continue;
		if (!owners.entries)
			collect_owners(&owners, training, moment->object);
		of_parameter.parameter = parameter;
		if (!wti_map_find_number(&owners, parameter->owner))
			continue;
		if (is_outside(parameter))
			judge_outside(account, &of_parameter);
		else
			wti_held(account);
	}
	wti_map_release(&owners);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_002 = {
	.code = "WT-OPT-002",
	.severity = WT_WARNING,
	.title = "trainable parameters are in no optimizer",
	.means = "a part of the model stays as it was initialised; gradients for it are computed "
		 "and "
		 "not used",
	.hint = "give the optimizer all of model.parameters(), or freeze what is not to be trained "
		"(requires_grad_(False))",
	.definition =
		"Of a model of which an optimizer trains a part, every parameter that requires "
		"a gradient and whose module is called in training is in an optimizer. Two steps "
		"without are a violation. A case is such a parameter in step 2, 4, 8, 16 ... of "
		"the optimizer, or in the second step without.",
	.innocent =
		"A head trained on features of a network that was not frozen: harmless, but "
		"freezing it saves the work. A parameter that was in an optimizer earlier counts "
		"as being in one.",
	.needs = "no optimizer stepped twice",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, 0},
		  [OF_PARAMETER] = {WTI_PER_PARAMETER, sizeof(struct wti_patience)}},
	.see = see_outside,
	.thresholds = {[STEPS] = {"steps", 2,
				  "the first step may be made before every part of the model was "
				  "called, or has its optimizer"}},
};

/* ---- WT-OPT-003: nothing to train ----------------------------------------------------------- */

static enum wti_answer see_frozen(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	if (!optimizer || !optimizer->member_count)
		return WTI_RULE_NO_CASE;
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		if (wti_object_member(moment->training, optimizer, i)->requires_grad)
			return WTI_RULE_HELD;
	return wti_violated(account, moment, optimizer->name,
			    "none of its %u parameters requires a gradient",
			    optimizer->member_count);
}

const struct wti_rule wti_rule_opt_003 = {
	.code = "WT-OPT-003",
	.severity = WT_ERROR,
	.title = "the optimizer has only frozen parameters",
	.means = "its steps change nothing: what was to be trained is somewhere else",
	.hint = "give the optimizer the parameters that require a gradient",
	.definition =
		"When an optimizer steps, at least one of its parameters requires a gradient. "
		"A case is a step.",
	.innocent = "Gradients that are set by hand on tensors which do not require them "
		    "(evolution strategies, meta-learning).",
	.needs = "no optimizer stepped",
	.explains = (const char *const[]){"WT-OPT-002", "WT-GRAD-003", NULL},
	.moments = WTI_MOMENT_STEP,
	.see = see_frozen,
};

/* ---- WT-OPT-004: a learning rate of zero ---------------------------------------------------- */

struct rate {
	bool is_positive; /* it ever was, in one group at least */
};

static enum wti_answer see_rate(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct rate *rate = kept;

	if (!optimizer->lr_known)
		return WTI_RULE_NO_CASE;
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++)
		if (optimizer->lr_known & 1u << i && optimizer->lr[i] > 0)
			rate->is_positive = true;
	if (rate->is_positive)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, optimizer->name,
			    "the learning rate of all groups was 0 in each of %u steps",
			    wti_streak(account));
}

const struct wti_rule wti_rule_opt_004 = {
	.code = "WT-OPT-004",
	.severity = WT_ERROR,
	.title = "the learning rate is zero from the beginning",
	.means = "steps change nothing",
	.hint = "look at how the learning rate is computed: an integer division, a schedule that "
		"starts at 0 and is never stepped",
	.definition = "In its first two steps an optimizer has a learning rate above zero in one "
		      "group at least. A case is a step.",
	.innocent =
		"A warm-up that begins at 0 leaves it after a step. Schedules that end at 0 are "
		"not checked.",
	.needs = "no optimizer with a learning rate stepped",
	.explains = (const char *const[]){"WT-OPT-001", NULL},
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct rate)}},
	.see = see_rate,
	.thresholds = {{WTI_IN_A_ROW, 2, "a warm-up may begin at 0, and leaves it after a step"}},
};

/* ---- WT-OPT-005: parameters of nobody ------------------------------------------------------- */

/*
 * A parameter that is used, is in no optimizer, and became known after `optimizer`: it was made
 * later, or its model was called later.
 */
static const struct wti_parameter *latecomer(const struct wti_training *training,
					     const struct wti_object *optimizer)
{
	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *other = wti_parameter_at(training, i);

		if (other->stream == optimizer->stream && other->born > optimizer->born &&
		    other->is_member && other->requires_grad && !other->optimizer &&
		    !other->step_count && wti_parameter_is_used(training, other))
			return other;
	}
	return NULL;
}

/* No gradient has reached any of them, and no module that has one of them was ever called. */
static bool is_all_stray(const struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;
	const struct wti_object *optimizer = moment->object;

	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter = wti_object_member(training, optimizer, i);

		if (parameter->step_count < wti_threshold(account, STEPS) ||
		    parameter->any_grad_count || !parameter->is_member ||
		    wti_parameter_is_used(training, parameter))
			return false;
	}
	return optimizer->member_count && moment->process->backward_count;
}

/* Of the optimizer as a whole; where it was made is the line to look at. */
static bool judge_optimizer(struct wti_case *account, const struct wti_moment *moment,
			    const struct wti_moment *made)
{
	bool is_all = is_all_stray(account, moment);
	const struct wti_object *optimizer = moment->object;
	const struct wti_parameter *replaced =
		optimizer->replaced ? wti_parameter_at(moment->training, optimizer->replaced - 1)
				    : NULL;

	if (replaced && !replaced->optimizer)
		wti_violated(account, made, replaced->name,
			     "%s has another tensor under this name since %s took it",
			     wti_moment_text(moment, replaced->owner),
			     wti_moment_text(moment, optimizer->name));
	if (is_all)
		wti_violated(account, made, optimizer->name,
			     "no gradient reached any of its %u parameters in %llu steps, and no "
			     "module that has one of them was called",
			     optimizer->member_count, (unsigned long long)optimizer->step_count);
	return is_all || (replaced && !replaced->optimizer);
}

/* Whether something was found. */
static bool judge_stray(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;
	const struct wti_object *optimizer = moment->object;
	struct wti_moment made = wti_moment_of_object(training, optimizer);
	const struct wti_parameter *late = latecomer(training, optimizer);
	bool is_found;

	made.scope = moment->scope;
	is_found = judge_optimizer(account, moment, &made);
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter = wti_object_member(training, optimizer, i);

		if (parameter->step_count < wti_threshold(account, STEPS) ||
		    !parameter->requires_grad)
			continue;
		made.parameter = parameter;
		if (parameter->any_grad_count || !late) {
			wti_held(account);
			continue;
		}
		is_found = true;
		wti_violated(account, &made, parameter->name,
			     "%sno gradient ever reached it; %s of %s is used in training, and no "
			     "optimizer has it",
			     parameter->is_member ? "" : "no model that was called has it, and ",
			     wti_symbol_text(training->symbols, late->name),
			     wti_symbol_text(training->symbols, late->owner));
	}
	return is_found;
}

static enum wti_answer see_stray(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	bool *is_found = kept;

	if (is_time(account, moment->object))
		*is_found = judge_stray(account, moment);
	return WTI_RULE_NO_CASE;
}

/* What was found when it was last judged lasts to the end, if it does. What is done to a model
 * after its training is nothing to find. */
static enum wti_answer finish_stray(struct wti_case *account, void *kept,
				    const struct wti_moment *end)
{
	const bool *is_found = kept;

	if (*is_found && !is_time(account, end->object))
		judge_stray(account, end);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_005 = {
	.code = "WT-OPT-005",
	.severity = WT_ERROR,
	.title = "the optimizer trains parameters that the model does not use",
	.means = "the optimizer was given the parameters of another model, or the model was "
		 "replaced, wrapped, converted or copied after the optimizer had been made",
	.hint = "make the optimizer last, from the parameters of the model that is called",
	.definition =
		"No parameter of an optimizer was replaced in its model after the optimizer was "
		"made, and at least one of them has a gradient or is in a module that is called. "
		"After two steps each parameter of an optimizer has had a gradient, unless no "
		"trainable parameter that is used in training and is in no optimizer first "
		"appeared after the optimizer was made. A case is a parameter of an optimizer in "
		"its step 2, 4, 8, 16 ..., and at the end if it was violated in the last of these.",
	.innocent = "A head that is not used yet, in a model to which another part was added later "
		    "and left out of the optimizer on purpose.",
	.needs = "no optimizer stepped twice",
	.explains = (const char *const[]){"WT-OPT-001", "WT-OPT-002", "WT-GRAD-003", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(bool)}},
	.see = see_stray,
	.finish = finish_stray,
	.thresholds = {[STEPS] = {"steps", 2,
				  "the first step may be made before every part of the model was "
				  "called"}},
};
