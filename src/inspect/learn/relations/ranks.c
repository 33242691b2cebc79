/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same call on all ranks: the n-th of a function in a step. Occasions are a call that another
 * rank has made too: whether both were given the same numbers and words and return tensors of the
 * same shape; and a module that was given the same tensors as on another rank: whether it makes
 * the same of them.
 */
#include "inspect/learn/relation.h"
#include "inspect/training/compare.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	MODULE,
	/* facts */
	IS_GIVEN_SAME_NUMBERS, RETURNS_SAME_SHAPE, MAKES_SAME_OF_SAME,
};

static const struct wti_term terms[] = {
	[MODULE] = {"module", "module"},
	[IS_GIVEN_SAME_NUMBERS] = {"is_given_same_numbers", "is given the same numbers"},
	[RETURNS_SAME_SHAPE] = {"returns_same_shape", "returns the same shape"},
	[MAKES_SAME_OF_SAME] = {"makes_same_of_same", "makes the same of the same"},
	{0},
};
/* clang-format on */

enum memory {
	CALL_COUNTS, /* by function */
	CALLS, /* likewise, by step and how many it is: what was given, which shape came back */
	MODULE_COUNTS,
	MODULES, /* the same by module: tensors given, tensors returned */
};

/* All that is given and is no tensor, as one number; 0: there is nothing. */
static uint64_t numbers_of(const struct wti_scene *scene, const struct wti_call *call)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->position < 0 || value->type == WTI_VALUE_TENSOR ||
		    value->name == scene->self_word)
			continue;
		all = (all ^ value->bits ^ (uint64_t)value->text << 40 ^
		       (uint64_t)(value->type + 1) << 32 ^ (uint32_t)value->position) *
		      0x9e3779b97f4a7c15u;
		all ^= all >> 32;
	}
	return all;
}

static void see_call(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	uint64_t numbers = numbers_of(scene, moment->call);
	uint32_t function = wti_scene_function(scene, moment->call);
	struct wti_repeated_value other;

	if (!wti_repeated_compare(&scene->keeps[CALL_COUNTS], &scene->keeps[CALLS], moment,
				  function, numbers, result ? result->digest.shape : 0, &other))
		return;
	if (!numbers && !result)
		return;
	wti_occasion(scene, &wti_relation_ranks, moment, function, 0);
	wti_occasion_inside(scene, moment);
	if (numbers && numbers == other.first)
		wti_say_term(scene, IS_GIVEN_SAME_NUMBERS);
	if (result && result->digest.shape == other.second)
		wti_say_term(scene, RETURNS_SAME_SHAPE);
	wti_report(scene);
}

/* Dropout and the statistics of a batch are a rank's own: the mode is a circumstance. */
static void see_module(struct wti_scene *scene, const struct wti_moment *moment)
{
	uint64_t given = wti_call_hash(moment->call, false);
	uint64_t made = wti_call_hash(moment->call, true);
	struct wti_repeated_value other;

	if (!given || !made ||
	    !wti_repeated_compare(&scene->keeps[MODULE_COUNTS], &scene->keeps[MODULES], moment,
				  moment->call->object, given, made, &other) ||
	    other.first != given)
		return;
	wti_occasion_of_term(scene, &wti_relation_ranks, moment, MODULE, WTI_NO_TERM);
	wti_occasion_flag(scene, WTI_FEATURE_TRAINING, moment->call->flags & WT_CALL_TRAIN);
	scene->occasion.about = moment->call->object;
	if (made == other.second)
		wti_say_term(scene, MAKES_SAME_OF_SAME);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	if (moment->scope.world < 2 || moment->call->exception)
		return;
	see_call(scene, moment);
	if (moment->call->object && moment->call->flags & WT_CALL_MODE_KNOWN)
		see_module(scene, moment);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->subject_term[0] == MODULE)
		wti_buf_printf(out, "on all ranks a module %s", words->a);
	else
		wti_buf_printf(out, "in the same step %s %s on all ranks", words->subject[0],
			       words->a);
}

const struct wti_relation wti_relation_ranks = {
	.name = "ranks",
	.code = "WT-LEARN-RANKS",
	.title = "ranks make the same call in different ways",
	.definition = "hypothesis: the n-th call of X in a step is given the same numbers and "
		      "words on all ranks, and returns a "
		      "tensor of the same shape; a module that is given the same tensors on two "
		      "ranks returns the same. For and "
		      "against: each call that another rank has made too, at the same step.",
	.means = "ranks have settled on different sizes or options, or what is replicated has "
		 "drifted apart",
	.hint = "look at what is computed from local data or from the rank, and at buffers",
	.innocent = "ranks that do different work on purpose, such as stages of a pipeline",
	.needs = "no two ranks made that call in the same step",
	.measures = WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_CALL,
	.features = WTI_FEATURES_OF_CALLS | 1u << WTI_FEATURE_WRAPPER,
	.keeps = {[CALL_COUNTS] = {WTI_PER_KEY, sizeof(struct wti_repeated_count)},
		  [CALLS] = {WTI_PER_KEY, sizeof(struct wti_repeated_value)},
		  [MODULE_COUNTS] = {WTI_PER_KEY, sizeof(struct wti_repeated_count)},
		  [MODULES] = {WTI_PER_KEY, sizeof(struct wti_repeated_value)}},
	.terms = terms,
	.see = see,
	.describe = describe,
	.kind_of = wti_kind_by_fact,
	.needs_all = true,
};
