/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about replicas: what is kept equal on all ranks stays equal. */
#include <math.h>
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- What is a replica ---------------------------------------------------------------------- */

/* Whether a wrapper keeps replicas of this model equal on all ranks. */
static bool is_wrapped(const struct wti_training *training, size_t stream, uint32_t owner)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);
		const char *class_name = wti_symbol_text(training->symbols, object->class_name);

		if (object->stream == stream && object->type == WT_OBJECT_TYPE_WRAPPER &&
		    object->of == owner && strstr(class_name, "DistributedDataParallel"))
			return true;
	}
	return false;
}

/*
 * Of a parameter, over all ranks. Who averages gradients by hand has no wrapper: what was found
 * equal after it had moved is kept equal by somebody.
 */
struct replica {
	struct wti_compared compared;
	bool is_wrapped_known, is_wrapped;
	bool was_equal;
};

static struct replica *replica_of(struct wti_slots *slots, const struct wti_moment *moment,
				  const struct wti_parameter *parameter)
{
	struct replica *replica = wti_slot(
		slots, (uint64_t)parameter->owner << 20 | parameter->name, sizeof(*replica));

	if (replica && !replica->is_wrapped_known) {
		replica->is_wrapped_known = true;
		replica->is_wrapped =
			is_wrapped(moment->training, parameter->stream, parameter->owner);
	}
	return replica;
}

static void judge_parameter(struct wti_case *account, struct wti_slots *slots,
			    const struct wti_moment *moment, const struct wti_parameter *parameter,
			    uint64_t value, const char *what)
{
	struct replica *replica = replica_of(slots, moment, parameter);
	enum wti_comparison outcome;
	int32_t other;

	if (!replica)
		return;
	outcome = wti_compare(&replica->compared, (int64_t)moment->object->step_count,
			      moment->scope.rank, value, &other);
	if (outcome == WTI_EQUAL) {
		replica->was_equal |= parameter->grad == WTI_GRAD_NONZERO;
		if (replica->is_wrapped || replica->was_equal)
			wti_held(account);
	} else if (outcome == WTI_DIFFERENT && (replica->is_wrapped || replica->was_equal)) {
		wti_violated(account, moment, parameter->name,
			     "%s is not the same on ranks %d and %d", what, other,
			     moment->scope.rank);
	}
}

/* Compares a value of each of an optimizer's parameters with that of the other ranks. */
static void compare_members(struct wti_case *account, struct wti_slots *slots,
			    const struct wti_moment *moment,
			    bool (*read)(const struct wti_parameter *, uint64_t *),
			    const char *what)
{
	const struct wti_object *optimizer = moment->object;

	if (moment->scope.world < 2 || !optimizer)
		return;
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, optimizer, i);
		uint64_t value;

		if (!parameter->placement && read(parameter, &value))
			judge_parameter(account, slots, moment, parameter, value, what);
	}
}

/* ---- WT-RANK-001: replicas drift apart ------------------------------------------------------ */

static bool value_of(const struct wti_parameter *parameter, uint64_t *ret_value)
{
	*ret_value = parameter->hash;
	return parameter->has_hash;
}

static void see_replicas(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	compare_members(account, state, moment, value_of, "after the same step it");
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
		"its model is wrapped in DistributedDataParallel, or if it had after an earlier "
		"step with a gradient. A case is a parameter after a step on two ranks.",
	.innocent = "Local SGD, where ranks are averaged every few steps on purpose.",
	.needs = "no parameter was kept equal on two ranks by a wrapper or by the program",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_replicas,
	.release = release_slots,
};

/* ---- WT-RANK-002: gradients were not averaged ----------------------------------------------- */

static bool gradient_of(const struct wti_parameter *parameter, uint64_t *ret_value)
{
	*ret_value = parameter->grad_hash;
	return parameter->grad == WTI_GRAD_NONZERO || parameter->grad == WTI_GRAD_ZERO;
}

static void see_gradients(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	compare_members(account, state, moment, gradient_of, "before the same step its gradient");
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
		"on all ranks, if its model is wrapped in DistributedDataParallel, or if it had "
		"before an earlier step. A case is a gradient before a step on two ranks.",
	.innocent = "Local SGD, where gradients are not averaged on purpose.",
	.needs = "no gradient was kept equal on two ranks by a wrapper or by the program",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-005", "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEP,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_gradients,
	.release = release_slots,
};

/* ---- WT-RANK-003: the same data everywhere -------------------------------------------------- */

enum { SAME_TO_TELL = 2 }; /* batches in a row that are the same on two ranks */

struct inputs {
	struct wti_compared inputs;
	struct wti_compared values; /* of all parameters together */
	bool is_replicated;
	uint32_t same_count; /* in a row */
};

/* Models whose parameters all have the same bytes after a step do the same work. */
static void note_values(struct wti_slots *slots, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter =
		wti_object_member(moment->training, moment->object, 0);
	struct inputs *inputs =
		parameter ? wti_slot(slots, parameter->owner, sizeof(*inputs)) : NULL;
	uint64_t hash = 0;
	int32_t other;

	if (!inputs)
		return;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		parameter = wti_object_member(moment->training, moment->object, i);
		hash = (hash ^ parameter->hash) * 0x9e3779b97f4a7c15u;
	}
	switch (wti_compare(&inputs->values, (int64_t)moment->object->step_count,
			    moment->scope.rank, hash, &other)) {
	case WTI_EQUAL:
		inputs->is_replicated = true;
		break;
	case WTI_DIFFERENT:
		inputs->is_replicated = false;
		break;
	case WTI_NOTHING_YET:
		break;
	}
}

static void judge_input(struct wti_case *account, struct wti_slots *slots,
			const struct wti_moment *moment)
{
	const struct wti_object *object = moment->object;
	bool is_wrapper = object->type == WT_OBJECT_TYPE_WRAPPER;
	uint64_t hash = wti_call_hash(moment->call, false);
	struct inputs *inputs =
		hash ? wti_slot(slots, is_wrapper ? object->of : object->name, sizeof(*inputs))
		     : NULL;
	int32_t other;

	if (!inputs)
		return;
	switch (wti_compare(&inputs->inputs, (int64_t)object->call_count, moment->scope.rank, hash,
			    &other)) {
	case WTI_DIFFERENT:
		inputs->same_count = 0;
		wti_held(account);
		break;
	case WTI_EQUAL:
		if (++inputs->same_count >= SAME_TO_TELL && (is_wrapper || inputs->is_replicated))
			wti_violated(account, moment, object->name,
				     "the last %u batches were the same on ranks %d and %d",
				     inputs->same_count, other, moment->scope.rank);
		break;
	case WTI_NOTHING_YET:
		break;
	}
}

static void see_inputs(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	if (moment->scope.world < 2 || !moment->object)
		return;
	if (moment->type == WTI_MOMENT_STEPPED)
		note_values(state, moment);
	else if (moment->call->flags & WTI_CALL_OUTERMOST &&
		 moment->call->flags & WTI_CALL_TRAINING && moment->call->flags & WTI_CALL_GRAD &&
		 moment->call->what == WTI_CALLEE_OTHER)
		judge_input(account, state, moment);
}

const struct wti_rule wti_rule_rank_003 = {
	.code = "WT-RANK-003",
	.severity = WT_ERROR,
	.title = "all ranks train on the same data",
	.means = "the ranks repeat each other's work: more of them do not train on more data",
	.hint = "give the loader a DistributedSampler, or seed each rank's data differently",
	.definition =
		"In training, the inputs of a model are not the same on two ranks in two calls in "
		"a row, if it is wrapped in DistributedDataParallel, or if all its parameters were "
		"the same after a step. A case is a call on two ranks.",
	.innocent = "A test of a distributed program with the same data everywhere.",
	.needs = "no replicated model was called on two ranks in training",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_inputs,
	.release = release_slots,
};

/* ---- WT-RANK-004: apart from the beginning -------------------------------------------------- */

struct apart {
	struct wti_compared values, gradients;
	bool was_equal; /* the value, ever */
	bool is_gradient_equal;
};

static void note_gradient(struct apart *apart, const struct wti_moment *moment,
			  const struct wti_parameter *parameter)
{
	int32_t other;

	if (parameter->grad != WTI_GRAD_NONZERO)
		return;
	switch (wti_compare(&apart->gradients, (int64_t)moment->object->step_count,
			    moment->scope.rank, parameter->grad_hash, &other)) {
	case WTI_EQUAL:
		apart->is_gradient_equal = true;
		break;
	case WTI_DIFFERENT:
		apart->is_gradient_equal = false;
		break;
	case WTI_NOTHING_YET:
		break;
	}
}

static void judge_apart(struct wti_case *account, struct apart *apart,
			const struct wti_moment *moment, const struct wti_parameter *parameter)
{
	int32_t other;

	switch (wti_compare(&apart->values, (int64_t)moment->object->step_count, moment->scope.rank,
			    parameter->hash, &other)) {
	case WTI_EQUAL:
		apart->was_equal = true;
		wti_held(account);
		break;
	case WTI_DIFFERENT:
		if (!apart->was_equal && apart->is_gradient_equal)
			wti_violated(account, moment, parameter->name,
				     "ranks %d and %d step it with the same gradient, and it was "
				     "never the same on both",
				     other, moment->scope.rank);
		break;
	case WTI_NOTHING_YET:
		break;
	}
}

static void see_apart(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	if (moment->scope.world < 2 || !moment->object)
		return;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct apart *apart = wti_slot(
			state, (uint64_t)parameter->owner << 20 | parameter->name, sizeof(*apart));

		if (!apart || parameter->placement || !parameter->has_hash)
			continue;
		if (moment->type == WTI_MOMENT_STEP)
			note_gradient(apart, moment, parameter);
		if (moment->type == WTI_MOMENT_STEPPED || !moment->object->step_count)
			judge_apart(account, apart, moment, parameter);
	}
}

const struct wti_rule wti_rule_rank_004 = {
	.code = "WT-RANK-004",
	.severity = WT_ERROR,
	.title = "replicas begin with different weights and stay apart",
	.means = "gradients are averaged over models that are not the same: none of them is "
		 "trained well",
	.hint = "broadcast the parameters from rank 0 before training, or seed all ranks alike "
		"while the model is made",
	.definition =
		"A parameter whose gradient has the same bytes on two ranks before a step has the "
		"same bytes itself after it, unless it had before or in the beginning. A case is a "
		"parameter that is the same on two ranks after a step.",
	.innocent = "None is known.",
	.needs = "no parameter was stepped with the same gradient on two ranks",
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_apart,
	.release = release_slots,
};

/* ---- WT-RANK-009: the same up to a factor --------------------------------------------------- */

/* Of a gradient, by step: what the first rank to come there has. */
struct scaled {
	int64_t step;
	int32_t rank;
	bool is_set;
	uint64_t hash;
	double min, max, mean;
};

static const double tolerance = 1e-4;

static bool is_ratio(double a, double b, double factor)
{
	return a != 0 && b != 0 && fabs(a - factor * b) <= tolerance * fabs(a);
}

/* Smallest, largest and mean differ by one factor: one of the two was multiplied by it. */
static bool is_multiple(const struct scaled *a, const struct wti_digest_row *b, double *ret_factor)
{
	if (b->max == 0 || b->min == b->max)
		return false;
	*ret_factor = a->max / b->max;
	return *ret_factor > 0 && fabs(*ret_factor - 1) > 10 * tolerance &&
	       is_ratio(a->min, b->min, *ret_factor) && is_ratio(a->mean, b->mean, *ret_factor);
}

static void judge_scaled(struct wti_case *account, struct scaled *scaled,
			 const struct wti_moment *moment, const struct wti_parameter *parameter)
{
	const struct wti_digest_row *row = &parameter->grad_statistics;
	int64_t step = (int64_t)moment->object->step_count;
	double factor;

	if (!scaled->is_set || scaled->step < step) {
		*scaled = (struct scaled){step,     moment->scope.rank, true,     row->hash,
					  row->min, row->max,           row->mean};
		return;
	}
	if (scaled->step > step || scaled->rank == moment->scope.rank)
		return;
	if (scaled->hash == row->hash || !is_multiple(scaled, row, &factor))
		wti_held(account);
	else
		wti_violated(account, moment, parameter->name,
			     "its gradient on rank %d is %.4g times that on rank %d", scaled->rank,
			     factor, moment->scope.rank);
}

static void see_scaled(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	if (moment->scope.world < 2 || !moment->object)
		return;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct scaled *scaled;

		if (parameter->placement || parameter->grad != WTI_GRAD_NONZERO ||
		    !parameter->has_grad_statistics || parameter->grad_statistics.count < 4 ||
		    parameter->grad_statistics.hash != parameter->grad_hash)
			continue;
		scaled = wti_slot(state, (uint64_t)parameter->owner << 20 | parameter->name,
				  sizeof(*scaled));
		if (scaled)
			judge_scaled(account, scaled, moment, parameter);
	}
}

const struct wti_rule wti_rule_rank_009 = {
	.code = "WT-RANK-009",
	.severity = WT_ERROR,
	.title = "gradients are scaled on one rank and not on another",
	.means =
		"the ranks have the same gradient, and one of them was clipped or divided: what is "
		"replicated drifts apart from here on",
	.hint = "clip and scale the same parameters on all ranks; look for code that asks for the "
		"rank",
	.definition =
		"Before the same step, the gradients of a parameter on two ranks are equal, or not "
		"multiples of each other (smallest, largest and mean by the same factor). A case "
		"is a gradient of four elements or more on two ranks.",
	.innocent = "None is known: gradients of different data are no multiples of each other.",
	.needs = "no gradient with statistics was known on two ranks before the same step",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-002", "WT-RANK-004",
					  "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEP,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_scaled,
	.release = release_slots,
};

/* ---- WT-RANK-007: other settings ------------------------------------------------------------ */

struct rates {
	struct wti_compared compared;
	bool was_equal;
};

static void see_rates(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct rates *rates;
	uint64_t bits;
	int32_t other;

	if (moment->scope.world < 2 || !optimizer || !(optimizer->lr_known & 1))
		return;
	rates = wti_slot(state, optimizer->name, sizeof(*rates));
	if (!rates)
		return;
	memcpy(&bits, &optimizer->lr[0], sizeof(bits));
	switch (wti_compare(&rates->compared, (int64_t)optimizer->step_count, moment->scope.rank,
			    bits, &other)) {
	case WTI_EQUAL:
		rates->was_equal = true;
		wti_held(account);
		break;
	case WTI_DIFFERENT:
		if (rates->was_equal)
			wti_violated(account, moment, optimizer->name,
				     "in the same step its learning rate is not the same on ranks "
				     "%d and %d (%.4g here)",
				     other, moment->scope.rank, optimizer->lr[0]);
		break;
	case WTI_NOTHING_YET:
		break;
	}
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
	.innocent = "Ranks that look for the best learning rate.",
	.needs = "no optimizer with a learning rate stepped on two ranks",
	.explains = (const char *const[]){"WT-RANK-001", "WT-RANK-005", "WT-RANK-006", NULL},
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_rates,
	.release = release_slots,
};
