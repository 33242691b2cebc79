/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about replicas: what is kept equal on all ranks stays equal. */
#include <math.h>
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"

/* ---- What is a replica ---------------------------------------------------------------------- */

/*
 * Of a parameter, over all ranks. Who averages gradients by hand has no wrapper: what was found
 * equal after it had moved is kept equal by somebody.
 */
struct replica {
	struct wti_compared compared;
	bool is_wrapped_known, is_wrapped;
	bool was_equal;
};

static bool is_kept_equal(struct replica *replica, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	if (!replica->is_wrapped_known) {
		replica->is_wrapped_known = true;
		replica->is_wrapped = wti_model_is_replicated(moment->training, parameter->stream,
							      parameter->owner);
	}
	return replica->is_wrapped || replica->was_equal;
}

/* Compares a value of a parameter, in a step, with that of the other ranks. */
static enum wti_answer judge_replica(struct wti_case *account, struct replica *replica,
				     const struct wti_moment *moment, uint64_t value,
				     const char *what)
{
	const struct wti_parameter *parameter = moment->parameter;
	int32_t other;

	switch (wti_compare(&replica->compared, (int64_t)moment->object->step_count,
			    moment->scope.rank, value, &other)) {
	case WTI_EQUAL:
		replica->was_equal |= parameter->grad == WTI_GRAD_NONZERO;
		return is_kept_equal(replica, moment) ? WTI_RULE_HELD : WTI_RULE_NO_CASE;
	case WTI_DIFFERENT:
		if (!is_kept_equal(replica, moment))
			break;
		return wti_violated(account, moment, parameter->name,
				    "%s is not the same on ranks %d and %d", what, other,
				    moment->scope.rank);
	case WTI_NOTHING_YET:
		break;
	}
	return WTI_RULE_NO_CASE;
}

/* ---- WT-RANK-001: replicas drift apart ------------------------------------------------------ */

static enum wti_answer see_replicas(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	if (parameter->placement || !parameter->has_hash)
		return WTI_RULE_NO_CASE;
	return judge_replica(account, kept, moment, parameter->hash, "after the same step it");
}

const struct wti_rule wti_rule_rank_001 = {
	.code = "WT-RANK-001",
	.severity = WT_ERROR,
	.title = "the replicas of a model are no longer the same on all ranks",
	.means = "each rank trains a model of its own; what is saved is that of one rank, trained "
		 "on its share of the data",
	.hint = "call the DDP wrapper, not the module inside it; make the optimizer from its "
		"parameters; do not change parameters on one rank only",
	.definition =
		"After each step of an optimizer a parameter has the same bytes on all ranks, if "
		"its model is wrapped in DistributedDataParallel, or if it was the same after an "
		"earlier step with a gradient. A case is a parameter after a step on two ranks.",
	.innocent = "Local SGD, where ranks are averaged every few steps on purpose.",
	.needs = "no parameter was kept equal on two ranks by a wrapper or by the program",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_REPLICA, sizeof(struct replica)}},
	.see = see_replicas,
};

/* ---- WT-RANK-002: gradients were not averaged ----------------------------------------------- */

static enum wti_answer see_gradients(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	if (parameter->placement ||
	    (parameter->grad != WTI_GRAD_NONZERO && parameter->grad != WTI_GRAD_ZERO))
		return WTI_RULE_NO_CASE;
	return judge_replica(account, kept, moment, parameter->grad_hash,
			     "before the same step its gradient");
}

const struct wti_rule wti_rule_rank_002 = {
	.code = "WT-RANK-002",
	.severity = WT_ERROR,
	.title = "gradients differ between ranks when the optimizer steps",
	.means =
		"they were not averaged over the ranks, or were changed afterwards on one of them: "
		"the replicas drift apart from here on",
	.hint = "call the DDP wrapper, not the module inside it; after backward() do the same to "
		"the gradients on all ranks; suspect the interconnect if the program is right",
	.definition =
		"Before each step of an optimizer the gradient of a parameter has the same bytes "
		"on all ranks, if its model is wrapped in DistributedDataParallel, or if it was "
		"the same before an earlier step. A case is a gradient before a step on two "
		"ranks.",
	.innocent = "Local SGD, where gradients are not averaged on purpose.",
	.needs = "no gradient was kept equal on two ranks by a wrapper or by the program",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-005", "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEP,
	.keeps = {{WTI_PER_REPLICA, sizeof(struct replica)}},
	.see = see_gradients,
};

/* ---- WT-RANK-003: the same data everywhere -------------------------------------------------- */

enum { BATCHES };
enum { OF_NOTHING, OF_MODEL }; /* keeps; of a model, on all ranks */

struct inputs {
	struct wti_compared inputs;
	struct wti_compared values; /* of all parameters together */
	bool is_replicated;
	struct wti_patience same; /* batches in a row that are the same on two ranks */
};

static struct inputs *inputs_of(struct wti_case *account, uint32_t model)
{
	return wti_kept_of_key(account, OF_MODEL, WTI_ALL_RANKS, model);
}

/* Models whose parameters all have the same bytes after a step do the same work. */
static void note_values(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter =
		wti_object_member(moment->training, moment->object, 0);
	struct inputs *inputs = parameter ? inputs_of(account, parameter->owner) : NULL;
	enum wti_comparison outcome;
	uint64_t hash = 0;
	int32_t other;

	if (!inputs)
		return;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		parameter = wti_object_member(moment->training, moment->object, i);
		hash = (hash ^ parameter->hash) * 0x9e3779b97f4a7c15u;
	}
	outcome = wti_compare(&inputs->values, (int64_t)moment->object->step_count,
			      moment->scope.rank, hash, &other);
	if (outcome != WTI_NOTHING_YET)
		inputs->is_replicated = outcome == WTI_EQUAL;
}

static enum wti_answer judge_input(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_object *object = moment->object;
	bool is_wrapper = object->type == WT_OBJECT_TYPE_WRAPPER;
	uint64_t hash = wti_call_hash(moment->call, false);
	struct inputs *inputs =
		hash ? inputs_of(account, is_wrapper ? object->of : object->name) : NULL;
	int32_t other;

	if (!inputs)
		return WTI_RULE_NO_CASE;
	switch (wti_compare(&inputs->inputs, (int64_t)object->call_count, moment->scope.rank, hash,
			    &other)) {
	case WTI_DIFFERENT:
		inputs->same.count = 0;
		return WTI_RULE_HELD;
	case WTI_EQUAL:
		if (!wti_waited(account, &inputs->same, moment, BATCHES) ||
		    (!is_wrapper && !inputs->is_replicated))
			break;
		return wti_violated(account, moment, object->name,
				    "the last %u batches were the same on ranks %d and %d",
				    inputs->same.count, other, moment->scope.rank);
	case WTI_NOTHING_YET:
		break;
	}
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_inputs(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	uint32_t trains = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD;

	if (moment->scope.world < 2 || !moment->object)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_STEPPED)
		note_values(account, moment);
	else if ((moment->call->flags & trains) == trains && moment->call->what == WTI_CALLEE_OTHER)
		return judge_input(account, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rank_003 = {
	.code = "WT-RANK-003",
	.severity = WT_ERROR,
	.title = "all ranks train on the same data",
	.means = "the ranks repeat each other's work: with more ranks, no more data is trained on",
	.hint = "give the loader a DistributedSampler, or seed each rank's data differently",
	.definition =
		"In training, the inputs of a model are not the same on two ranks in two calls in "
		"a row, if it is wrapped in DistributedDataParallel, or if all its parameters were "
		"the same after a step. A case is a call on two ranks.",
	.innocent = "A test of a distributed program with the same data everywhere.",
	.needs = "no replicated model was called on two ranks in training",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.keeps = {[OF_MODEL] = {WTI_PER_KEY, sizeof(struct inputs)}},
	.see = see_inputs,
	.thresholds = {[BATCHES] = {"batches", 2,
				    "in a row: ranks may try out the model with one batch that is "
				    "the same for all"}},
};

/* ---- WT-RANK-004: apart from the beginning -------------------------------------------------- */

struct apart {
	struct wti_compared values, gradients;
	bool was_equal; /* the value, ever */
	bool is_gradient_equal;
};

static void note_gradient(struct apart *apart, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	enum wti_comparison outcome;
	int32_t other;

	if (parameter->grad != WTI_GRAD_NONZERO)
		return;
	outcome = wti_compare(&apart->gradients, (int64_t)moment->object->step_count,
			      moment->scope.rank, parameter->grad_hash, &other);
	if (outcome != WTI_NOTHING_YET)
		apart->is_gradient_equal = outcome == WTI_EQUAL;
}

static enum wti_answer judge_apart(struct wti_case *account, struct apart *apart,
				   const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	int32_t other;

	switch (wti_compare(&apart->values, (int64_t)moment->object->step_count, moment->scope.rank,
			    parameter->hash, &other)) {
	case WTI_EQUAL:
		apart->was_equal = true;
		return WTI_RULE_HELD;
	case WTI_DIFFERENT:
		if (apart->was_equal || !apart->is_gradient_equal)
			break;
		return wti_violated(account, moment, parameter->name,
				    "ranks %d and %d step it with the same gradient, and it was "
				    "never the same on both",
				    other, moment->scope.rank);
	case WTI_NOTHING_YET:
		break;
	}
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_apart(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	if (moment->parameter->placement || !moment->parameter->has_hash)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_STEP)
		note_gradient(kept, moment);
	if (moment->type == WTI_MOMENT_STEPPED || !moment->object->step_count)
		return judge_apart(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rank_004 = {
	.code = "WT-RANK-004",
	.severity = WT_ERROR,
	.title = "replicas begin with different weights and stay different",
	.means = "gradients are averaged over models that are not the same, and fit none of them",
	.hint = "broadcast the parameters from rank 0 before training, or seed all ranks alike "
		"while the model is made",
	.definition =
		"A parameter whose gradient has the same bytes on two ranks before a step has the "
		"same bytes itself after that step, unless it was the same earlier. A case is a "
		"parameter that is the same on two ranks after a step.",
	.innocent = "None is known.",
	.needs = "no parameter was stepped with the same gradient on two ranks",
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_REPLICA, sizeof(struct apart)}},
	.see = see_apart,
};

/* ---- WT-RANK-009: the same up to a factor --------------------------------------------------- */

enum { TOLERANCE, LEAST_FACTOR, ELEMENTS };

/* Of a gradient, by step: what the first rank to come there has. */
struct scaled {
	int64_t step;
	int32_t rank;
	bool is_set;
	uint64_t hash;
	double min, max, mean;
};

/* Smallest, largest and mean differ by one factor: one of the two was multiplied by it. */
static bool is_multiple(const struct wti_case *account, const struct scaled *a,
			const struct wti_digest_row *b, double *ret_factor)
{
	double tolerance = wti_threshold_real(account, TOLERANCE), factor;

	if (b->max == 0 || b->min == 0 || b->mean == 0 || a->min == 0 || a->mean == 0 ||
	    b->min == b->max)
		return false;
	*ret_factor = factor = a->max / b->max;
	return factor > 0 && fabs(factor - 1) > wti_threshold_real(account, LEAST_FACTOR) &&
	       fabs(a->min - factor * b->min) <= tolerance * fabs(a->min) &&
	       fabs(a->mean - factor * b->mean) <= tolerance * fabs(a->mean);
}

static enum wti_answer judge_scaled(struct wti_case *account, struct scaled *scaled,
				    const struct wti_moment *moment)
{
	const struct wti_digest_row *row = &moment->parameter->grad_statistics;
	int64_t step = (int64_t)moment->object->step_count;
	double factor;

	if (!scaled->is_set || scaled->step < step) {
		*scaled = (struct scaled){step,     moment->scope.rank, true,     row->hash,
					  row->min, row->max,           row->mean};
		return WTI_RULE_NO_CASE;
	}
	if (scaled->step > step || scaled->rank == moment->scope.rank)
		return WTI_RULE_NO_CASE;
	if (scaled->hash == row->hash || !is_multiple(account, scaled, row, &factor))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->parameter->name,
			    "its gradient on rank %d is %.4g times that on rank %d", scaled->rank,
			    factor, moment->scope.rank);
}

static enum wti_answer see_scaled(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	if (parameter->placement || parameter->grad != WTI_GRAD_NONZERO ||
	    !parameter->has_grad_statistics ||
	    parameter->grad_statistics.count < wti_threshold(account, ELEMENTS) ||
	    parameter->grad_statistics.hash != parameter->grad_hash)
		return WTI_RULE_NO_CASE;
	return judge_scaled(account, kept, moment);
}

const struct wti_rule wti_rule_rank_009 = {
	.code = "WT-RANK-009",
	.severity = WT_ERROR,
	.title = "gradients are scaled on one rank and not on another",
	.means =
		"the ranks have the same gradient, and one of them was clipped or divided: what is "
		"replicated drifts apart from here on",
	.hint = "clip and scale the same parameters on all ranks; look for code that depends on "
		"the rank",
	.definition =
		"Before the same step, the gradients of a parameter on two ranks are equal, or not "
		"multiples of each other (smallest, largest and mean by the same factor). A case "
		"is a gradient of four elements or more on two ranks.",
	.innocent = "None is known: gradients of different data are not multiples of each other.",
	.needs = "no gradient with statistics was known on two ranks before the same step",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-002", "WT-RANK-004",
					  "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEP,
	.keeps = {{WTI_PER_REPLICA, sizeof(struct scaled)}},
	.see = see_scaled,
	.thresholds =
		{[TOLERANCE] = {"tolerance", 1e-4,
				"of smallest and mean: what float32 rounds off a product is far "
				"less"},
		 [LEAST_FACTOR] = {"factor", 1e-3,
				   "how far from 1, at least: gradients that are summed in "
				   "another order differ by less"},
		 [ELEMENTS] = {"elements", 4,
			       "of one, two or three, smallest, largest and mean may differ by "
			       "one factor by chance"}},
};

/* ---- WT-RANK-007: other settings ------------------------------------------------------------ */

enum { OF_OPTIMIZER = 1 }; /* keeps; on all ranks */

struct rates {
	struct wti_compared compared;
	bool was_equal;
};

static enum wti_answer see_rates(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct rates *rates;
	uint64_t bits;
	int32_t other;

	if (moment->scope.world < 2 || !optimizer || !(optimizer->lr_known & 1))
		return WTI_RULE_NO_CASE;
	rates = wti_kept_of_key(account, OF_OPTIMIZER, WTI_ALL_RANKS, optimizer->name);
	if (!rates)
		return WTI_RULE_NO_CASE;
	memcpy(&bits, &optimizer->lr[0], sizeof(bits));
	switch (wti_compare(&rates->compared, (int64_t)optimizer->step_count, moment->scope.rank,
			    bits, &other)) {
	case WTI_EQUAL:
		rates->was_equal = true;
		return WTI_RULE_HELD;
	case WTI_DIFFERENT:
		if (!rates->was_equal)
			break;
		return wti_violated(account, moment, optimizer->name,
				    "in the same step its learning rate is not the same on ranks "
				    "%d and %d (%.4g here)",
				    other, moment->scope.rank, optimizer->lr[0]);
	case WTI_NOTHING_YET:
		break;
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rank_007 = {
	.code = "WT-RANK-007",
	.severity = WT_ERROR,
	.title = "learning rates differ between ranks",
	.means = "the schedule is stepped on some ranks only: replicas drift apart",
	.hint = "step the scheduler on all ranks; only printing and saving belong to rank 0",
	.definition = "The learning rate of an optimizer's first group, once it was the same on "
		      "two ranks, is the same on them in every step. A case is a step on two "
		      "ranks.",
	.innocent = "Ranks that search for the best learning rate.",
	.needs = "no optimizer with a learning rate stepped on two ranks",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-005", "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {[OF_OPTIMIZER] = {WTI_PER_KEY, sizeof(struct rates)}},
	.see = see_rates,
};
