/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions give back: constant fields of what is returned, fields that are the same in an
 * argument and in the result, and lengths that an argument limits.
 */
#include <math.h>
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"
#include "inspect/training/dtype.h"
#include "relations.h"

#define RETURNS_MAX 2u
#define ARGUMENTS_MAX 3u
#define LOST_MAX 0.01 /* of the size of what is added */

/* clang-format off */
enum term {
	/* subjects */
	ADDITION_IN_PLACE,
	/* facts */
	ADDS_WHAT_IT_IS_GIVEN, LENGTH_AT_MOST,
};

static const char *const calls_of_addition[] = {"torch.Tensor.add_", "torch.Tensor.__iadd__",
						    "torch.Tensor.sub_", "torch.Tensor.__isub__", NULL};

static const struct wti_term terms[] = {
	[ADDITION_IN_PLACE] = {"addition_in_place", "addition in place", .calls = calls_of_addition},
	[ADDS_WHAT_IT_IS_GIVEN] = {"adds_what_it_is_given", "adds what it is given"},
	[LENGTH_AT_MOST] = {"length_at_most", "the length, at most"},
	{0},
};
/* clang-format on */

/* The largest extent of a tensor that is returned, against arguments that are called a maximum. */
static void say_threshold(struct wti_scene *scene, const struct wti_call *call,
			  const struct wti_value_row *result)
{
	const char *shape = wti_symbol_text(scene->symbols, result->digest.shape);
	const char *last = strrchr(shape, 'x');
	int64_t extent = wti_shape_first(last ? last + 1 : shape);

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->type != WT_VALUE_TYPE_INT || value->position < 0 || !value->name ||
		    !strstr(wti_symbol_text(scene->symbols, value->name), "max"))
			continue;
		if (extent <= (int64_t)value->bits)
			wti_say(scene, WTI_FORM_SAME,
				wti_term(scene, &wti_relation_output, LENGTH_AT_MOST),
				wti_field(scene, value, WTI_PART_ITSELF));
	}
}

static void say_result(struct wti_scene *scene, const struct wti_moment *moment,
		       const struct wti_value_row *result)
{
	const struct wti_call *call = moment->call;

	wti_say_tensor(scene, result, false);
	say_threshold(scene, call, result);
	for (uint32_t i = 0; i < ARGUMENTS_MAX; i++) {
		const struct wti_value_row *argument = wti_call_tensor(call, false, i);

		if (!argument)
			break;
		wti_say_tensors(scene, result, argument);
	}
}

/* 1: it adds its argument to its tensor, -1: it subtracts it, 0: neither. */
static int added_sign(const struct wti_call *call, const struct wti_symbols *symbols)
{
	const char *callee;

	if (!call->is_in_place)
		return 0;
	if (call->what == WTI_CALLEE_SUBTRACT_IN_PLACE)
		return -1;
	callee = wti_symbol_text(symbols, call->callee);
	return !strcmp(callee, "Tensor.add_") || !strcmp(callee, "Tensor.__iadd__");
}

static bool is_read(const struct wti_value_row *value)
{
	return value && wti_dtype_is_float(value->digest.dtype) && value->digest.count > 1 &&
	       !(value->digest.flags & WT_TENSOR_NO_STATISTICS) && !value->digest.nan &&
	       !value->digest.inf;
}

/*
 * The mean of a tensor moves by the mean of what is added to it, as exactly as the type allows.
 * What is lost is held against the size of what is added: a sum that rounds most of it away is
 * another one. What torch's optimizers do within a step is not recorded at every level.
 */
static void see_addition(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *added = wti_call_tensor(moment->call, false, 1);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	int sign = added_sign(moment->call, scene->symbols);
	double alpha = 1, size, lost;

	if (!sign || !is_read(before) || !is_read(added) || !is_read(after) ||
	    wti_is_within(scene, moment, scene->words[WTI_WORD_OPTIMIZER_STEP]))
		return;
	wti_call_as_number(moment->call, wti_scene_word(scene, "alpha"), -2, &alpha);
	size = fabs(alpha) * sqrt(added->digest.mean * added->digest.mean +
				  added->digest.m2 / (double)added->digest.count);
	lost = fabs(after->digest.mean - before->digest.mean - sign * alpha * added->digest.mean);
	wti_occasion_of_term(scene, &wti_relation_output, moment, ADDITION_IN_PLACE, WTI_NO_TERM);
	wti_occasion_inside(scene, moment);
	if (lost <= LOST_MAX * size)
		wti_say_term(scene, ADDS_WHAT_IT_IS_GIVEN);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);

	if (call->exception || !result)
		return;
	see_addition(scene, moment);
	wti_occasion(scene, &wti_relation_output, moment, wti_scene_function(scene, call),
		     wti_call_signature(scene, call, true));
	wti_occasion_inside(scene, moment);
	for (uint32_t i = 0; i < RETURNS_MAX && result; i++) {
		say_result(scene, moment, result);
		result = wti_call_tensor(call, true, i + 1);
	}
	wti_report(scene);
}

static bool is_addition(const struct wti_words *words)
{
	return words->subject_term[0] == ADDITION_IN_PLACE;
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (is_addition(words)) {
		wti_buf_printf(out, "an %s %s", words->subject[0], words->a);
		return;
	}
	wti_buf_printf(out, "of what %s returns, ", words->subject[0]);
	wti_describe_fact(out, words);
}

static bool is_of_chance(const struct wti_words *words)
{
	return is_addition(words) || wti_chance_by_field(words);
}

const struct wti_relation wti_relation_output = {
	.name = "output",
	.code = "WT-LEARN-OUTPUT",
	.title = "an unusual result",
	.definition = "hypothesis: a field of what X returns is constant (dtype, number of "
		      "dimensions, requires_grad), is "
		      "the same as in an argument (dtype, shape, first extent), or does not exceed "
		      "an argument that is "
		      "called a maximum; a sum in place moves the mean of its tensor by that of "
		      "what is added, within a hundredth of its size. For and against: calls of X "
		      "that return a tensor.",
	.means = "a function computes in another type, loses a dimension or rows, or is not "
		 "differentiable here",
	.hint = "look at autocast, at casts and at shapes around that call",
	.innocent = "another precision that is chosen on purpose",
	.needs = "that function never returned a tensor in these circumstances",
	.measures = WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_CALL,
	.features = WTI_FEATURES_OF_CALLS,
	.terms = terms,
	.see = see,
	.describe = describe,
	.kind_of = wti_kind_by_field,
	.is_of_chance = is_of_chance,
	.is_by_signature = true,
	.is_of_values = true,
};
