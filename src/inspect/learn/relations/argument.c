/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions are given. The occasion is a call that returned; true is what each argument is (a
 * flag, a word, a number, the type of a tensor), what two arguments have in common, and whether a
 * flag says the same as the module around it.
 */
#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define VALUES_MAX 12u
#define TENSORS_MAX 3u

/* clang-format off */
enum term {
	/* subjects */
	SOFTMAX,
	/* facts */
	DOES_NOT_GO_OVER_FIRST_DIMENSION, MODULE_TRAINING_FLAG,
};

static const char *const calls_of_softmax[] = {"*softmax", NULL};

static const struct wti_term terms[] = {
	[SOFTMAX] = {"softmax", "softmax", .calls = calls_of_softmax},
	[DOES_NOT_GO_OVER_FIRST_DIMENSION] = {"does_not_go_over_first_dimension", "does not go over the first dimension"},
	[MODULE_TRAINING_FLAG] = {"module_training_flag", "the training flag of the module around it", WTI_TOPIC_MODES},
	{0},
};
/* clang-format on */

static bool is_of_interest(const struct wti_scene *scene, const struct wti_value_row *value)
{
	return value->position >= 0 && value->name != scene->self_word;
}

/* "training is what the module around it says". */
static void say_flag(struct wti_scene *scene, const struct wti_value_row *value)
{
	uint32_t mode = scene->occasion.vector.values[WTI_FEATURE_TRAINING];

	if (mode && (mode == scene->words[WTI_WORD_YES]) == (value->bits != 0))
		wti_say(scene, WTI_FORM_SAME, wti_field(scene, value, WTI_PART_ITSELF),
			wti_term(scene, &wti_relation_argument, MODULE_TRAINING_FLAG));
}

static void say_value(struct wti_scene *scene, const struct wti_value_row *value)
{
	uint32_t word = wti_value_word(scene, value);

	if (!word)
		return;
	wti_say(scene, WTI_FORM_IS, wti_field(scene, value, WTI_PART_ITSELF), word);
	if (value->type == WT_VALUE_TYPE_BOOL)
		say_flag(scene, value);
}

/*
 * Which dimension a softmax goes over, whatever it is called and however its dimension is counted.
 * It is made of numbers that compete with each other: rows of a batch hardly ever do.
 */
static void see_softmax(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	int64_t ndim =
		input ? wti_shape_ndim(wti_symbol_text(scene->symbols, input->digest.shape)) : 0;
	double dim;

	if (ndim < 2 || !wti_call_as_number(moment->call, wti_scene_word(scene, "dim"), 1, &dim))
		return;
	wti_occasion_of_term(scene, &wti_relation_argument, moment, SOFTMAX, WTI_NO_TERM);
	wti_occasion_inside(scene, moment);
	if (dim != 0 && dim != (double)-ndim)
		wti_say_term(scene, DOES_NOT_GO_OVER_FIRST_DIMENSION);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *tensors[TENSORS_MAX];
	uint32_t tensor_count = 0, value_count = 0;

	if (call->exception || !call->value_count)
		return;
	if (call->what == WTI_CALLEE_SOFTMAX)
		see_softmax(scene, moment);
	wti_occasion(scene, &wti_relation_argument, moment, wti_scene_function(scene, call),
		     wti_call_signature(scene, call, false));
	wti_occasion_inside(scene, moment);
	for (uint32_t i = 0; i < call->value_count && value_count < VALUES_MAX; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (!is_of_interest(scene, value))
			continue;
		value_count++;
		if (value->type != WTI_VALUE_TENSOR) {
			say_value(scene, value);
			continue;
		}
		wti_say_tensor(scene, value, false);
		for (uint32_t j = 0; j < tensor_count; j++)
			wti_say_tensors(scene, tensors[j], value);
		if (tensor_count < TENSORS_MAX)
			tensors[tensor_count++] = value;
	}
	if (value_count)
		wti_report(scene);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->subject_term[0] == SOFTMAX) {
		wti_buf_printf(out, "a softmax %s", words->a);
		return;
	}
	wti_buf_printf(out, "in calls of %s%s%s%s, ", words->subject[0],
		       *words->subject[1] ? " (" : "", words->subject[1],
		       *words->subject[1] ? ")" : "");
	wti_describe_fact(out, words);
}

static const char *kind_of(const struct wti_words *words)
{
	return words->subject_term[0] == SOFTMAX ? words->subject[0] : wti_kind_by_field(words);
}

const struct wti_relation wti_relation_argument = {
	.name = "argument",
	.code = "WT-LEARN-ARGUMENT",
	.title = "an unusual argument",
	.definition = "hypothesis: an argument of X has a certain value or type, two arguments "
		      "have the same type, shape "
		      "or first extent, or a flag equals the training flag of the module around "
		      "it; a softmax of whatever name does not go over the first dimension of "
		      "several. For: a call of "
		      "which that is true. Against: a call of which it is not. Sizes and contents "
		      "are not looked at.",
	.means = "a function is given something else than it is given in good runs",
	.hint = "look at what is passed there, and at where it comes from",
	.innocent = "an option that is chosen on purpose",
	.needs = "that function was never called in these circumstances, or its arguments are not "
		 "recorded",
	.measures = WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_CALL,
	.features = WTI_FEATURES_OF_CALLS,
	.terms = terms,
	.see = see,
	.describe = describe,
	.kind_of = kind_of,
	.is_of_chance = wti_chance_by_field,
	.is_by_signature = true,
};
