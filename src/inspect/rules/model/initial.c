/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how parameters begin. */
#include "inspect/judge/rule.h"

/* ---- WT-INIT-001: equal copies go separate ways --------------------------------------------- */

enum { OF_PROCESS, OF_MODULE, OF_PAIR }; /* keeps */

/* Of a parameter that began as another one. */
struct tied {
	uint32_t parameter, other; /* places */
};

static bool is_plain(const struct wti_parameter *parameter)
{
	return parameter->is_member && !parameter->is_buffer && parameter->has_hash &&
	       parameter->has_statistics && parameter->requires_grad && !parameter->placement &&
	       parameter->statistics.min < parameter->statistics.max;
}

/* The callee of its forward; 0: it was not called. */
static uint32_t class_of(const struct wti_case *account, const struct wti_parameter *parameter)
{
	const uint32_t *callee =
		wti_kept_find_key(account, OF_MODULE, parameter->stream, parameter->module);

	return callee ? *callee : 0;
}

/* Layers of one class may begin equal: nn.TransformerEncoder copies its first one. */
static bool should_be_one(const struct wti_case *account, const struct wti_parameter *a,
			  const struct wti_parameter *b)
{
	uint32_t class_a = class_of(account, a), class_b = class_of(account, b);

	return a->owner == b->owner && a->shape == b->shape && a->dtype == b->dtype && class_a &&
	       class_b && class_a != class_b;
}

static void note_pair(struct wti_case *account, const struct wti_parameter *parameter,
		      const struct wti_parameter *other)
{
	struct tied *tied = should_be_one(account, other, parameter)
				    ? wti_kept_of_parameter(account, OF_PAIR, parameter)
				    : NULL;

	if (tied)
		*tied = (struct tied){parameter->place, other->place};
}

/* Before the first step of an optimizer: which of its parameters have the same bytes? */
static void find_pairs(struct wti_case *account, const struct wti_moment *moment)
{
	struct wti_map by_hash; /* place plus one */

	wti_map_init(&by_hash, moment->object->member_count + 1u);
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		uint64_t *first =
			is_plain(parameter) ? wti_map_number(&by_hash, parameter->hash) : NULL;

		if (first && *first)
			note_pair(account, parameter,
				  wti_parameter_at(moment->training, *first - 1));
		else if (first)
			*first = parameter->place + 1;
	}
	wti_map_release(&by_hash);
}

static void judge_pair(struct wti_case *account, const struct tied *tied,
		       const struct wti_moment *moment)
{
	const struct wti_parameter *a = wti_parameter_at(moment->training, tied->parameter);
	const struct wti_parameter *b = wti_parameter_at(moment->training, tied->other);

	if (!a->moved || !b->moved)
		return;
	if (a->hash == b->hash)
		wti_held(account);
	else
		wti_violated(account, moment, a->name,
			     "it began with the bytes of %s, in a layer of another kind, and is "
			     "trained separately",
			     wti_moment_text(moment, b->name));
}

static enum wti_answer judge_pairs(struct wti_case *account, const struct wti_moment *moment)
{
	const struct tied *tied;
	bool has_any = false;
	size_t place = 0;

	while ((tied = wti_kept_next(account, OF_PAIR, moment->process->stream, &place))) {
		judge_pair(account, tied, moment);
		has_any = true;
	}
	return has_any ? WTI_RULE_NO_CASE : WTI_RULE_HELD;
}

static enum wti_answer see_tied(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	uint32_t *callee;

	if (moment->type == WTI_MOMENT_STEPPED)
		return judge_pairs(account, moment);
	if (moment->type == WTI_MOMENT_MODULE) {
		callee = wti_kept(account, OF_MODULE, moment);
		if (callee)
			*callee = moment->call->callee;
	} else if (!moment->object->step_count) {
		find_pairs(account, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_init_001 = {
	.code = "WT-INIT-001",
	.severity = WT_WARNING,
	.title = "weights that should be tied are two copies",
	.means = "they begin equal and go separate ways: the output layer was given a clone of the "
		 "embedding, or was tied before the model was copied or loaded",
	.hint = "assign the parameter itself: output.weight = embedding.weight",
	.definition =
		"Two parameters of a model, in layers of different classes, that have the same "
		"bytes before the first step (not all one value) still have the same bytes after "
		"a step that changes both. A case is a step.",
	.innocent = "An output layer that begins as a copy of the embedding on purpose.",
	.needs = "no optimizer stepped",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEP | WTI_MOMENT_STEPPED,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, 0},
		  [OF_MODULE] = {WTI_PER_MODULE, sizeof(uint32_t)}, /* the callee of its forward */
		  [OF_PAIR] = {WTI_PER_PARAMETER, sizeof(struct tied)}},
	.see = see_tied,
};

/* ---- WT-INIT-002: drawn again and again ----------------------------------------------------- */

enum { TIMES };
enum { OF_DRAWING, OF_RESULT }; /* keeps */

/* What this line has left in a tensor; true: it had done so before. */
static bool *drawn_by(struct wti_case *account, const struct wti_call *call,
		      const struct wti_value_row *value)
{
	return wti_kept_of_key(account, OF_RESULT, call->stream, value->digest.hash ^ call->site);
}

/* Of a process: how often it was drawn anew. */
static enum wti_answer see_drawn(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *before = wti_call_tensor(call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(call, true, 0);
	bool *had, *has, is_again;
	struct wti_patience *times = kept;

	if (moment->process->step_count || !before || !after || before->digest.count < 2 ||
	    (before->digest.flags | after->digest.flags) & WT_TENSOR_NO_HASH)
		return WTI_RULE_NO_CASE;
	had = drawn_by(account, call, before);
	is_again = had && *had;
	has = drawn_by(account, call, after);
	if (has)
		*has = true;
	if (!is_again)
		return WTI_RULE_HELD;
	if (!wti_waited(account, times, moment, TIMES))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, call->callee,
			    "this line fills tensors again that it has filled before (%u times)",
			    times->count);
}

const struct wti_rule wti_rule_init_002 = {
	.code = "WT-INIT-002",
	.severity = WT_WARNING,
	.title = "the same line initialises parameters several times",
	.means = "model.apply() reaches a parameter once for every module above it: this is slow "
		 "in large models, and gives other random numbers than a single pass",
	.hint = "initialise the parameters of the module itself only: "
		"named_parameters(recurse=False)",
	.definition = "Before the first step, no line fills with random numbers a tensor that it "
		      "has filled before. `times` such fillings are a violation. A case is a "
		      "tensor that is filled.",
	.innocent = "A model that is initialised twice, by its parts and as a whole.",
	.needs = "no tensor was filled with random numbers by a recorded call",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_RANDOM_FILL),
	.keeps = {[OF_DRAWING] = {WTI_PER_PROCESS, sizeof(struct wti_patience)},
		  [OF_RESULT] = {WTI_PER_KEY, sizeof(bool)}},
	.see = see_drawn,
	.thresholds = {{"times", 2, "one tensor may be initialised twice on purpose"}},
};
