/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss: what goes backward, what the functions that make losses are given, and what clipping
 * finds. Occasions are the begin of a backward, and the return of a function that makes one number
 * of several tensors.
 */
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"

#define ARGUMENTS_MAX 2u

static void see_backward(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *loss = wti_call_tensor(moment->call, false, 0);

	wti_occasion(scene, &wti_relation_loss, moment, wti_scene_word(scene, "loss"), 0);
	if (!(moment->call->flags & WTI_CALL_LOSS_IS_LEAF))
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is made from parameters"), 0);
	if (loss)
		wti_say(scene, WTI_FORM_IS, wti_scene_word(scene, "dtype"),
			wti_scene_dtype(scene, loss->digest.dtype));
	if (loss && !(loss->digest.flags & WTI_TENSOR_NO_STATISTICS)) {
		if (!loss->digest.nan && !loss->digest.inf)
			wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is finite"), 0);
		if (loss->digest.zeros < loss->digest.count)
			wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is not zero"), 0);
	}
	wti_tell(scene);
}

static bool is_a_loss(struct wti_scene *scene, const struct wti_call *call, uint32_t function)
{
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);

	return result && !*wti_symbol_text(scene->symbols, result->digest.shape) &&
	       wti_call_tensor(call, false, 1) &&
	       !strncmp(wti_symbol_text(scene->symbols, function), "nn.", 3);
}

/* Arguments are named by their place: a layer and its function call them differently. */
static struct wti_value_row at_place(const struct wti_value_row *value, uint32_t place)
{
	struct wti_value_row named = *value;

	named.name = 0;
	named.position = (int32_t)place + 1;
	return named;
}

static void see_function(struct wti_scene *scene, const struct wti_moment *moment,
			 uint32_t function)
{
	struct wti_value_row rows[ARGUMENTS_MAX];

	wti_occasion(scene, &wti_relation_loss, moment, function, 0);
	for (uint32_t i = 0; i < ARGUMENTS_MAX; i++) {
		rows[i] = at_place(wti_call_tensor(moment->call, false, i), i);
		wti_say_tensor(scene, &rows[i], true);
	}
	wti_say_tensors(scene, &rows[0], &rows[1]);
	wti_tell(scene);
}

/* The norm that clipping returns is that of the gradients that it was given. */
static void see_clip(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *norm = wti_call_tensor(moment->call, true, 0);

	if (!norm || norm->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return;
	wti_occasion(scene, &wti_relation_loss, moment, wti_scene_word(scene, "clipping"), 0);
	if (norm->digest.zeros < norm->digest.count)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "finds gradients"), 0);
	if (!norm->digest.nan && !norm->digest.inf)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "finds finite gradients"), 0);
	wti_tell(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	uint32_t function;

	if (moment->type == WTI_MOMENT_BACKWARD) {
		see_backward(scene, moment);
		return;
	}
	if (moment->call->exception || !moment->call->value_count)
		return;
	function = wti_scene_function(scene, moment->call);
	if (is_a_loss(scene, moment->call, function))
		see_function(scene, moment, function);
	else if (!strncmp(wti_symbol_text(scene->symbols, function), "torch.nn.utils.clip_grad",
			  24))
		see_clip(scene, moment);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	bool is_function = !strncmp(words->subject[0], "nn.", 3);

	wti_buf_printf(out, is_function ? "in calls of %s, " : "the %s ", words->subject[0]);
	if (!is_function && words->form == WTI_FORM_IS)
		wti_buf_printf(out, "is of %s %s", words->a, words->b);
	else
		wti_describe_fact(out, words);
}

static const char *sort(const struct wti_words *words)
{
	const char *part = wti_field_sort(words->a);

	return *part ? part : words->a;
}

const struct wti_relation wti_relation_loss = {
	.name = "loss",
	.code = "WT-LEARN-LOSS",
	.title = "an unusual loss",
	.definition = "hypothesis: what goes backward is made from parameters, finite, not zero, "
		      "of a certain type; what a "
		      "loss function is given has certain types and contents, and both arguments "
		      "the same type, shape "
		      "or first extent; clipping finds gradients. For and against: each backward, "
		      "each call of a "
		      "function that makes one number of two tensors, each clipping.",
	.means = "the loss does not measure what it should, or does not reach the parameters",
	.hint = "look at how the loss is put together: shapes, types, what was detached",
	.innocent = "losses that reach zero on purpose (margins)",
	.needs = "no backward or loss function in these circumstances",
	.moments = WTI_MOMENT_BACKWARD | WTI_MOMENT_CALL,
	.features = 1u << WTI_FEATURE_GRAD_MODE | 1u << WTI_FEATURE_SCALER |
		    1u << WTI_FEATURE_AUTOCAST | 1u << WTI_FEATURE_TRAINING,
	.see = see,
	.describe = describe,
	.sort = sort,
};
