/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss: what goes backward, what the functions that make losses are given, and what clipping
 * finds. Occasions are the begin of a backward, and the return of a function that makes one number
 * of several tensors.
 */
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define ARGUMENTS_MAX 2u
#define RESULTS_MAX 65536u
#define TIMES_THE_LIMIT 100 /* beyond, clipping sets the length of every step */
#define RANGE_PATIENCE 32u  /* calls after which values within 0 and 1 are no chance */
#define BACKWARDS_MAX 16u   /* without a step: more than a window of accumulation has */

/* clang-format off */
enum term {
	/* subjects */
	LOSS, CLIPPING, COMBINATION_OUTSIDE_MODELS, STEP_GRAPH,
	/* the second of a subject */
	CONTENTS,
	/* facts */
	DTYPE, IS_FINITE, IS_NOT_ZERO, IS_MADE_FROM_PARAMETERS, LEADS_TO_STEP,
	ARGUMENT_1_LEAVES_0_AND_1, FINDS_GRADIENTS, FINDS_FINITE_GRADIENTS,
	FINDS_GRADIENTS_NEAR_LIMIT, IS_AS_LARGE_AS_A_PART, IS_NOT_CARRIED_ON,
};

static const struct wti_term terms[] = {
	[LOSS] = {"loss", "loss"},
	[CLIPPING] = {"clipping", "clipping"},
	[COMBINATION_OUTSIDE_MODELS] = {"combination_outside_models", "combination outside of models"},
	[STEP_GRAPH] = {"step_graph", "graph of a step"},
	[CONTENTS] = {"contents", "contents"},
	[DTYPE] = {"dtype", "dtype", WTI_TOPIC_TYPES},
	[IS_FINITE] = {"is_finite", "is finite", WTI_TOPIC_NUMBERS},
	[IS_NOT_ZERO] = {"is_not_zero", "is not zero"},
	[IS_MADE_FROM_PARAMETERS] = {"is_made_from_parameters", "is made from parameters", WTI_TOPIC_GRADIENTS},
	[LEADS_TO_STEP] = {"leads_to_step", "leads to a step", WTI_TOPIC_OPTIMIZER_STEP},
	[ARGUMENT_1_LEAVES_0_AND_1] = {"argument_1_leaves_0_and_1", "argument 1 is not always within 0 and 1"},
	[FINDS_GRADIENTS] = {"finds_gradients", "finds gradients"},
	[FINDS_FINITE_GRADIENTS] = {"finds_finite_gradients", "finds finite gradients", WTI_TOPIC_NUMBERS},
	[FINDS_GRADIENTS_NEAR_LIMIT] = {"finds_gradients_near_limit", "finds gradients of the order of its limit"},
	[IS_AS_LARGE_AS_A_PART] = {"is_as_large_as_a_part", "is as large as one of its parts", WTI_TOPIC_SHAPES},
	[IS_NOT_CARRIED_ON] = {"is_not_carried_on", "is not carried into the next"},
	{0},
};
/* clang-format on */

struct range { /* of what a loss function is given */
	uint32_t count;
	bool was_left; /* 0 and 1 */
};

enum memory { RANGES /* by function */ };

struct state {
	struct wti_map results; /* hash of a result with a graph, and its stream: step plus one */
	struct wti_map carried; /* stream: the last step into which one was carried, plus one */
	bool is_ready;
};

/* Whether an optimizer has stepped not too many backward passes ago, if there is one at all. */
static bool leads_to_steps(const struct wti_scene *scene, const struct wti_moment *moment)
{
	bool any = false;

	for (size_t i = 0; i < scene->training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(scene->training, i);

		if (object->stream != moment->process->stream ||
		    object->type != WT_OBJECT_TYPE_OPTIMIZER)
			continue;
		any = true;
		if (object->backward_count <= BACKWARDS_MAX)
			return true;
	}
	return !any;
}

/* Of a loss that was recorded: a recording may leave it out. */
static void report_contents(struct wti_scene *scene, const struct wti_moment *moment,
			    const struct wti_digest_row *loss)
{
	bool unknown = loss->flags & WT_TENSOR_NO_STATISTICS;

	wti_occasion_of_term(scene, &wti_relation_loss, moment, LOSS, CONTENTS);
	wti_say(scene, WTI_FORM_IS, wti_term(scene, &wti_relation_loss, DTYPE),
		wti_scene_dtype(scene, loss->dtype));
	if (unknown || (!loss->nan && !loss->inf))
		wti_say_term(scene, IS_FINITE);
	if (unknown || loss->zeros < loss->count)
		wti_say_term(scene, IS_NOT_ZERO);
	wti_report(scene);
}

static void see_backward(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *loss = wti_call_tensor(moment->call, false, 0);

	wti_occasion_of_term(scene, &wti_relation_loss, moment, LOSS, WTI_NO_TERM);
	if (!(moment->call->flags & WT_CALL_LEAF))
		wti_say_term(scene, IS_MADE_FROM_PARAMETERS);
	if (leads_to_steps(scene, moment))
		wti_say_term(scene, LEADS_TO_STEP);
	wti_report(scene);
	if (loss)
		report_contents(scene, moment, &loss->digest);
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

/* Scores take any value sooner or later; what never leaves 0 and 1 are probabilities. */
static void say_range(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function,
		      const struct wti_value_row *scores)
{
	struct range *range = wti_recall_of_key(scene, RANGES, moment->process->stream, function);

	if (!range)
		return;
	if (scores->digest.flags & WT_TENSOR_NO_STATISTICS || scores->digest.min < 0 ||
	    scores->digest.max > 1)
		range->was_left = true;
	if (range->was_left || ++range->count < RANGE_PATIENCE)
		wti_say_term(scene, ARGUMENT_1_LEAVES_0_AND_1);
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
	say_range(scene, moment, function, &rows[0]);
	wti_report(scene);
}

/* The norm that clipping returns is that of the gradients that it was given. */
static void see_clip(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *norm = wti_call_tensor(moment->call, true, 0);
	double limit;

	if (!norm || norm->digest.flags & WT_TENSOR_NO_STATISTICS)
		return;
	wti_occasion_of_term(scene, &wti_relation_loss, moment, CLIPPING, WTI_NO_TERM);
	if (norm->digest.zeros < norm->digest.count)
		wti_say_term(scene, FINDS_GRADIENTS);
	if (!norm->digest.nan && !norm->digest.inf)
		wti_say_term(scene, FINDS_FINITE_GRADIENTS);
	if (!wti_call_as_number(moment->call, wti_scene_word(scene, "max_norm"), 1, &limit) ||
	    !(norm->digest.mean > TIMES_THE_LIMIT * limit))
		wti_say_term(scene, FINDS_GRADIENTS_NEAR_LIMIT);
	wti_report(scene);
}

/* Two tensors that are both spread over each other: (N, 1) and (N) give (N, N). */
static void see_combination(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *a = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *b = wti_call_tensor(moment->call, false, 1);
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);

	if (moment->parent || !a || !b || !result || result->digest.count < 2 ||
	    !(result->digest.flags & WT_TENSOR_REQUIRES_GRAD))
		return;
	wti_occasion_of_term(scene, &wti_relation_loss, moment, COMBINATION_OUTSIDE_MODELS,
			     WTI_NO_TERM);
	if (result->digest.count <= a->digest.count || result->digest.count <= b->digest.count)
		wti_say_term(scene, IS_AS_LARGE_AS_A_PART);
	wti_report(scene);
}

static bool combines(const char *name)
{
	static const char *const operators[] = {"torch.Tensor.__sub__", "torch.Tensor.__rsub__",
						"torch.Tensor.__mul__", "torch.Tensor.__add__",
						"torch.sub"};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (!strcmp(name, operators[i]))
			return true;
	return false;
}

/* ---- The graph of a step -------------------------------------------------------------------- */

static bool has_graph(const struct wti_value_row *value)
{
	const struct wti_digest_row *digest = &value->digest;

	return value->type == WTI_VALUE_TENSOR && digest->flags & WT_TENSOR_REQUIRES_GRAD &&
	       !(digest->flags & (WT_TENSOR_NO_HASH | WT_TENSOR_NO_STATISTICS)) &&
	       digest->zeros < digest->count;
}

/* An argument that was made in an earlier step, with its graph, and goes on into a new one. */
static void follow_graph(struct state *state, const struct wti_moment *moment)
{
	uint64_t now = (uint64_t)moment->scope.step + 1, stream = moment->process->stream;
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	bool goes_on = result && has_graph(result);

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];
		uint64_t *made, *carried;

		if (!goes_on || !has_graph(value))
			continue;
		if (value->position < 0) {
			made = wti_map_number(&state->results, value->digest.hash ^ stream << 56);
			if (made)
				*made = now;
			continue;
		}
		made = (uint64_t *)wti_map_find_number(&state->results,
						       value->digest.hash ^ stream << 56);
		carried = made && *made < now ? wti_map_number(&state->carried, stream) : NULL;
		if (carried)
			*carried = now;
	}
	if (state->results.count >= RESULTS_MAX) {
		wti_map_release(&state->results);
		wti_map_init(&state->results, RESULTS_MAX);
	}
}

static void report_graph(struct wti_scene *scene, struct state *state,
			 const struct wti_moment *moment)
{
	const uint64_t *carried = wti_map_find_number(&state->carried, moment->process->stream);

	wti_occasion_of_term(scene, &wti_relation_loss, moment, STEP_GRAPH, WTI_NO_TERM);
	if (!carried || *carried != (uint64_t)moment->scope.step + 1)
		wti_say_term(scene, IS_NOT_CARRIED_ON);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct state *state = opaque;
	uint32_t function;

	if (!state->is_ready) {
		wti_map_init(&state->results, RESULTS_MAX);
		wti_map_init(&state->carried, RESULTS_MAX);
	}
	state->is_ready = true;

	if (moment->type == WTI_MOMENT_BACKWARD) {
		see_backward(scene, moment);
		report_graph(scene, state, moment);
		return;
	}
	if (moment->call->exception || !moment->call->value_count)
		return;
	function = wti_scene_function(scene, moment->call);
	/* What an optimizer does within its step makes no graph, though parameters come out of it
	 * that require gradients; a level that records those calls must not say more than others.
	 */
	if (!wti_stage_is(moment, "init") &&
	    !wti_is_within(scene, moment, scene->words[WTI_WORD_OPTIMIZER_STEP]))
		follow_graph(state, moment);
	if (combines(wti_symbol_text(scene->symbols, function)))
		see_combination(scene, moment);
	else if (is_a_loss(scene, moment->call, function))
		see_function(scene, moment, function);
	else if (!strncmp(wti_symbol_text(scene->symbols, function), "torch.nn.utils.clip_grad",
			  24))
		see_clip(scene, moment);
}

static void release(void *opaque)
{
	struct state *state = opaque;

	wti_map_release(&state->results);
	wti_map_release(&state->carried);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	bool is_function = words->subject_term[0] == WTI_NO_TERM;

	wti_buf_printf(out, is_function ? "in calls of %s, " : "the %s ", words->subject[0]);
	if (!is_function && words->form == WTI_FORM_IS)
		wti_buf_printf(out, "is of %s %s", words->a, words->b);
	else
		wti_describe_fact(out, words);
}

static const char *kind_of(const struct wti_words *words)
{
	return words->a_term == WTI_NO_TERM ? wti_kind_by_field(words) : words->a_word;
}

static bool is_of_chance(const struct wti_words *words)
{
	switch (words->a_term) {
	case IS_NOT_ZERO:
	case FINDS_GRADIENTS:
	case FINDS_GRADIENTS_NEAR_LIMIT:
	case ARGUMENT_1_LEAVES_0_AND_1:
		return true;
	default:
		return wti_chance_by_field(words);
	}
}

const struct wti_relation wti_relation_loss = {
	.name = "loss",
	.code = "WT-LEARN-LOSS",
	.title = "an unusual loss",
	.definition = "hypothesis: what goes backward is made from parameters, finite, not zero, "
		      "leads to a step within 16, "
		      "of a certain type; what a "
		      "loss function is given has certain types and contents, what it judges is "
		      "not always within 0 and 1, and both arguments "
		      "the same type, shape "
		      "or first extent; clipping finds gradients, finite and at most a hundred "
		      "times as long "
		      "as its limit; the graph of a step is not "
		      "carried into the next. For and against: each backward, "
		      "each call of a "
		      "function that makes one number of two tensors, each clipping.",
	.means = "the loss does not measure what it should, or does not reach the parameters",
	.hint = "look at how the loss is put together: shapes, types, what was detached",
	.innocent = "losses that reach zero on purpose (margins)",
	.needs = "no backward or loss function in these circumstances",
	.measures = WTI_NEEDS_LOSSES | WTI_NEEDS_DATA | WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_BACKWARD | WTI_MOMENT_CALL,
	.features = 1u << WTI_FEATURE_GRAD_MODE | 1u << WTI_FEATURE_SCALER |
		    1u << WTI_FEATURE_AUTOCAST | 1u << WTI_FEATURE_TRAINING,
	.keeps = {[RANGES] = {WTI_PER_KEY, sizeof(struct range)}},
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = kind_of,
	.is_of_chance = is_of_chance,
	.is_of_values = true,
};
