/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how parameters begin. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-INIT-001: equal copies go separate ways --------------------------------------------- */

struct tied {
	struct wti_slots classes; /* stream and module: the callee of its forward */
	struct wti_slots pairs;   /* stream and parameter: the other one, plus one */
};

static void release_tied(void *state)
{
	struct tied *tied = state;

	wti_slots_release(&tied->classes);
	wti_slots_release(&tied->pairs);
}

static bool is_plain(const struct wti_parameter *parameter)
{
	return parameter->is_member && !parameter->is_buffer && parameter->has_hash &&
	       parameter->has_statistics && parameter->requires_grad && !parameter->placement &&
	       parameter->statistics.min < parameter->statistics.max;
}

static uint32_t class_of(struct tied *tied, const struct wti_parameter *parameter)
{
	uint32_t *callee =
		wti_slot(&tied->classes, (uint64_t)parameter->stream << 32 | parameter->module,
			 sizeof(*callee));

	return callee ? *callee : 0;
}

/* Layers of one class may begin equal: nn.TransformerEncoder copies its first one. */
static bool should_be_one(struct tied *tied, const struct wti_parameter *a,
			  const struct wti_parameter *b)
{
	uint32_t class_a = class_of(tied, a), class_b = class_of(tied, b);

	return a->owner == b->owner && a->shape == b->shape && a->dtype == b->dtype && class_a &&
	       class_b && class_a != class_b;
}

/* Before the first step of an optimizer: which of its parameters have the same bytes? */
static void find_pairs(struct tied *tied, const struct wti_moment *moment)
{
	struct wti_slots by_hash = {0};

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		uint32_t number = moment->object->members[i];
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, number);
		uint32_t *first, *pair;

		if (!is_plain(parameter))
			continue;
		first = wti_slot(&by_hash, parameter->hash, sizeof(*first));
		if (!first)
			continue;
		if (!*first)
			*first = number + 1;
		else if (should_be_one(tied, wti_parameter_at(moment->training, *first - 1),
				       parameter)) {
			pair = wti_slot(&tied->pairs, number, sizeof(*pair));
			if (pair)
				*pair = *first;
		}
	}
	wti_slots_release(&by_hash);
}

static void judge_pairs(struct wti_case *account, struct tied *tied,
			const struct wti_moment *moment)
{
	for (size_t i = 0; i < tied->pairs.count; i++) {
		uint64_t number = tied->pairs.index.entries[i].key;
		uint32_t *pair = wti_slot(&tied->pairs, number, sizeof(*pair));
		const struct wti_parameter *a = wti_parameter_at(moment->training, number);
		const struct wti_parameter *b =
			pair ? wti_parameter_at(moment->training, *pair - 1) : NULL;

		if (!b || a->stream != moment->process->stream || !a->moved || !b->moved)
			continue;
		if (a->hash == b->hash)
			wti_held(account);
		else
			wti_violated(account, moment, a->name,
				     "it began with the bytes of %s, in a layer of another kind, "
				     "and is trained apart from it",
				     wti_moment_text(moment, b->name));
	}
}

static void see_tied(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct tied *tied = state;
	uint32_t *callee;

	switch (moment->type) {
	case WTI_MOMENT_MODULE:
		callee = moment->call->object ? wti_slot(&tied->classes,
							 (uint64_t)moment->call->stream << 32 |
								 moment->call->object,
							 sizeof(*callee))
					      : NULL;
		if (callee)
			*callee = moment->call->callee;
		break;
	case WTI_MOMENT_STEP:
		if (!moment->object->step_count)
			find_pairs(tied, moment);
		break;
	default:
		judge_pairs(account, tied, moment);
		if (!tied->pairs.count)
			wti_held(account);
	}
}

const struct wti_rule wti_rule_init_001 = {
	.code = "WT-INIT-001",
	.severity = WT_WARNING,
	.title = "weights that should be tied are two copies",
	.means = "they begin equal and go separate ways: the output layer was given a clone of the "
		 "embedding, or was tied before the model was copied or loaded",
	.hint = "assign the parameter itself: output.weight = embedding.weight",
	.definition =
		"Two parameters of a model in layers of different classes that have the same "
		"bytes, not all one value, before the first step, still have after a step that "
		"moves both. A case is a step.",
	.innocent = "An output layer that begins as a copy of the embedding on purpose.",
	.needs = "no optimizer stepped",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct tied),
	.watch = see_tied,
	.release = release_tied,
};

/* ---- WT-INIT-002: drawn again and again ----------------------------------------------------- */

enum { TIMES_TO_TELL = 2 };

struct drawn {
	struct wti_slots results; /* line and hash: that it was drawn */
	uint32_t count;
};

static void release_drawn(void *state)
{
	struct drawn *drawn = state;

	wti_slots_release(&drawn->results);
}

static uint64_t drawn_key(const struct wti_call *call, uint64_t hash)
{
	return (hash ^ (uint64_t)call->stream << 32 ^ call->site) * 0x9e3779b97f4a7c15u;
}

static void see_drawn(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct drawn *drawn = state;
	const struct wti_call *call = moment->call;
	const struct wti_value_row *before, *after;
	uint8_t *seen;

	if (call->what != WTI_CALLEE_RANDOM_FILL || moment->process->step_count)
		return;
	before = wti_call_tensor(call, false, 0);
	after = wti_call_tensor(call, true, 0);
	if (!before || !after || before->digest.count < 2 ||
	    (before->digest.flags | after->digest.flags) & WTI_TENSOR_NO_HASH)
		return;
	seen = wti_slot(&drawn->results, drawn_key(call, before->digest.hash), sizeof(*seen));
	if (seen && *seen) {
		if (++drawn->count >= TIMES_TO_TELL)
			wti_violated(account, moment, call->callee,
				     "this line draws anew what it has drawn before (%u times)",
				     drawn->count);
	} else {
		wti_held(account);
	}
	seen = wti_slot(&drawn->results, drawn_key(call, after->digest.hash), sizeof(*seen));
	if (seen)
		*seen = 1;
}

const struct wti_rule wti_rule_init_002 = {
	.code = "WT-INIT-002",
	.severity = WT_WARNING,
	.title = "parameters are initialised again and again by the same line",
	.means = "model.apply() visits a module at every level above a parameter: slow in large "
		 "models, and other random numbers than with one pass",
	.hint = "initialise the parameters of the module itself only: "
		"named_parameters(recurse=False)",
	.definition = "Before the first step no line fills a tensor with random numbers that it "
		      "has filled before. Two times are a violation. A case is a tensor filled.",
	.innocent = "A model that is initialised twice, by its parts and as a whole.",
	.needs = "no tensor was filled with random numbers by a recorded call",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct drawn),
	.watch = see_drawn,
	.release = release_drawn,
};
