/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about ranks: what is replicated stays equal, and each rank does its own share. Ranks are
 * compared by step and ordinal, never by time; one may be some steps ahead of another.
 */
#include <string.h>

#include "rule.h"
#include "slots.h"

enum {
	STEPS_APART = 16, /* how far ranks may be apart and still be compared */
	SAME_TO_TELL = 3, /* batches in a row that are the same on two ranks */
};

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- Values of one thing, by step ----------------------------------------------------------- */

/* The first rank to come to a step leaves its value; the others are compared with it. */
struct compared {
	struct {
		int64_t step;
		int32_t rank;
		bool is_set;
		uint64_t value;
	} at[STEPS_APART];
};

enum comparison { NOTHING_YET, EQUAL, DIFFERENT };

static enum comparison compare(struct compared *compared, int64_t step, int32_t rank,
			       uint64_t value, int32_t *ret_other)
{
	size_t place = (size_t)step % STEPS_APART;

	if (!compared->at[place].is_set || compared->at[place].step < step) {
		compared->at[place].step = step;
		compared->at[place].rank = rank;
		compared->at[place].value = value;
		compared->at[place].is_set = true;
		return NOTHING_YET;
	}
	if (compared->at[place].step > step || compared->at[place].rank == rank)
		return NOTHING_YET; /* too far behind, or its own */
	*ret_other = compared->at[place].rank;
	return compared->at[place].value == value ? EQUAL : DIFFERENT;
}

static uint64_t key_of(const struct wti_parameter *parameter)
{
	return (uint64_t)parameter->owner << 20 | parameter->name;
}

/* Whether a wrapper keeps replicas of this model equal on all ranks. */
static bool is_replicated(const struct wti_training *training,
			  const struct wti_parameter *parameter)
{
	for (size_t i = 0; i < training->object_count; i++) {
		const struct wti_object *object = &training->objects[i];
		const char *class_name = wti_symbol_text(training->symbols, object->class_name);

		if (object->stream == parameter->stream && object->type == WT_OBJECT_TYPE_WRAPPER &&
		    object->of == parameter->owner && strstr(class_name, "DistributedDataParallel"))
			return !parameter->placement;
	}
	return false;
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
		struct compared *compared;
		enum comparison outcome;
		uint64_t value;
		int32_t other;

		if (!read(parameter, &value) || !is_replicated(moment->training, parameter))
			continue;
		compared = wti_slot(slots, key_of(parameter), sizeof(*compared));
		if (!compared)
			continue;
		outcome = compare(compared, (int64_t)optimizer->step_count, moment->scope.rank,
				  value, &other);
		if (outcome == EQUAL)
			wti_held(account);
		else if (outcome == DIFFERENT)
			wti_violated(account, moment, parameter->name,
				     "%s is not the same on ranks %d and %d", what, other,
				     moment->scope.rank);
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
		 "on "
		 "its share of the data",
	.hint = "call the DDP wrapper, not the module inside it; make the optimizer from its "
		"parameters; do not change parameters on one rank only",
	.definition =
		"After each step of an optimizer every parameter of a model that is wrapped in "
		"DistributedDataParallel has the same bytes on all ranks. A case is a parameter "
		"after a step on two ranks.",
	.innocent = "Local SGD, where ranks are averaged every few steps on purpose.",
	.needs = "no model wrapped in DistributedDataParallel was stepped on two ranks",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_replicas,
	.release = release_slots,
};

/* ---- WT-RANK-002: gradients were not averaged ----------------------------------------------- */

static bool gradient_of(const struct wti_parameter *parameter, uint64_t *ret_value)
{
	*ret_value = parameter->grad_hash;
	return parameter->grad == WTI_GRAD_NONZERO;
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
		"the "
		"gradients on all ranks; suspect the interconnect if the program is right",
	.definition =
		"Before each step of an optimizer the gradient of every parameter of a model "
		"that is wrapped in DistributedDataParallel has the same bytes on all ranks. A "
		"case is a gradient before a step on two ranks.",
	.innocent = "Local SGD, where gradients are not averaged on purpose.",
	.needs = "no model wrapped in DistributedDataParallel was stepped on two ranks",
	.explains = (const char *const[]){"WT-RANK-001", NULL},
	.moments = WTI_MOMENT_STEP,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_gradients,
	.release = release_slots,
};

/* ---- WT-RANK-003: the same data everywhere -------------------------------------------------- */

struct inputs {
	struct compared compared;
	uint32_t same_count; /* in a row */
};

static bool is_wrapper(const struct wti_object *object)
{
	return object && object->type == WT_OBJECT_TYPE_WRAPPER;
}

static void see_inputs(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	struct inputs *inputs;
	int32_t other;

	if (moment->scope.world < 2 || !is_wrapper(moment->object) || !input ||
	    input->digest.flags & WTI_TENSOR_NO_HASH || !(moment->call->flags & WTI_CALL_TRAINING))
		return;
	inputs = wti_slot(state, moment->object->name, sizeof(*inputs));
	if (!inputs)
		return;
	switch (compare(&inputs->compared, (int64_t)moment->object->call_count, moment->scope.rank,
			input->digest.hash, &other)) {
	case DIFFERENT:
		inputs->same_count = 0;
		wti_held(account);
		break;
	case EQUAL:
		if (++inputs->same_count >= SAME_TO_TELL)
			wti_violated(account, moment, moment->object->name,
				     "the last %u batches were the same on ranks %d and %d",
				     inputs->same_count, other, moment->scope.rank);
		break;
	case NOTHING_YET:
		break;
	}
}

const struct wti_rule wti_rule_rank_003 = {
	.code = "WT-RANK-003",
	.severity = WT_ERROR,
	.title = "all ranks train on the same data",
	.means = "the ranks repeat each other's work: more of them do not train on more data",
	.hint = "give the loader a DistributedSampler, or seed each rank's data differently",
	.definition =
		"Under DistributedDataParallel the first input of the model in training is not "
		"the same on two ranks in three calls in a row. A case is a call on two ranks.",
	.innocent = "A test of a distributed program with the same data everywhere.",
	.needs = "no model wrapped in DistributedDataParallel was called on two ranks in training",
	.moments = WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_inputs,
	.release = release_slots,
};
