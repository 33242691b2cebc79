/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinct: results that are another value each time, and arguments that are not results of the
 * same function before (what was initialised is not initialised again). The occasion is a call that
 * returned a tensor.
 */
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"
#include "relations.h"

#define RESULTS_MAX (1u << 18)

/* clang-format off */
enum term {
	/* subjects */
	INITIALISATION, UPDATE_IN_PLACE,
	/* the second of a subject */
	RESULTS,
	/* facts */
	RETURNS_ANOTHER_VALUE, IS_NOT_GIVEN_OWN_RESULT, IS_GIVEN_SOMETHING_ELSE,
	IS_GIVEN_TWO_TENSORS,
};

static const char *const calls_of_initialisation[] = {"torch.nn.init.*", "torch.Tensor.normal_",
							  "torch.Tensor.uniform_", NULL};

static const struct wti_term terms[] = {
	[INITIALISATION] = {"initialisation", "initialisation", .calls = calls_of_initialisation},
	[UPDATE_IN_PLACE] = {"update_in_place", "update in place"},
	[RESULTS] = {"results", "results"},
	[RETURNS_ANOTHER_VALUE] = {"returns_another_value", "returns another value each time", WTI_TOPIC_REPETITION},
	[IS_NOT_GIVEN_OWN_RESULT] = {"is_not_given_own_result", "is not given its own result"},
	[IS_GIVEN_SOMETHING_ELSE] = {"is_given_something_else", "is given something else each time in a step", WTI_TOPIC_REPETITION},
	[IS_GIVEN_TWO_TENSORS] = {"is_given_two_tensors", "is given two different tensors"},
	{0},
};
/* clang-format on */

enum memory { LASTS /* by function */ };

struct last {
	uint64_t result, argument;
	bool is_set;
};

struct state {
	struct wti_map results; /* hash of a result, its function and stream */
	struct wti_map given;   /* the same of arguments: the step, plus one */
	bool is_ready;
};

static uint64_t key_of(const struct wti_moment *moment, uint32_t function, uint64_t hash)
{
	return hash ^ (uint64_t)function << 44 ^ (uint64_t)moment->process->stream << 38;
}

static bool is_usable(const struct wti_value_row *value)
{
	return value && !(value->digest.flags & WT_TENSOR_NO_HASH) && value->digest.count > 1;
}

static void begin_occasion(struct wti_scene *scene, const struct wti_moment *moment,
			   uint32_t function, int of)
{
	wti_occasion(scene, &wti_relation_distinct, moment, function,
		     of == WTI_NO_TERM ? 0 : wti_term(scene, &wti_relation_distinct, of));
	wti_occasion_inside(scene, moment);
}

/* That the same of the same is the same says nothing: only what was given something else is
 * expected to return something else. */
static void see_result(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function,
		       const struct wti_value_row *result, const struct wti_value_row *argument)
{
	struct last *last = wti_recall_of_key(scene, LASTS, moment->process->stream, function);
	uint64_t given = is_usable(argument) ? argument->digest.hash : 0;

	if (!last)
		return;
	if (last->is_set && (!is_usable(argument) || given != last->argument)) {
		begin_occasion(scene, moment, function, RESULTS);
		if (last->result != result->digest.hash)
			wti_say_term(scene, RETURNS_ANOTHER_VALUE);
		wti_report(scene);
	}
	*last = (struct last){result->digest.hash, given, true};
}

static void see_argument(struct wti_scene *scene, struct state *state,
			 const struct wti_moment *moment, uint32_t function,
			 const struct wti_value_row *argument)
{
	uint64_t now = (uint64_t)moment->scope.step + 2;
	uint64_t key = key_of(moment, function, argument->digest.hash);
	uint64_t *given = wti_map_number(&state->given, key);

	begin_occasion(scene, moment, function, WTI_NO_TERM);
	if (!wti_map_find_number(&state->results, key))
		wti_say_term(scene, IS_NOT_GIVEN_OWN_RESULT);
	if (!given || *given != now)
		wti_say_term(scene, IS_GIVEN_SOMETHING_ELSE);
	wti_report(scene);
	if (given)
		*given = now;
}

/* Whatever fills a tensor with random numbers: that it does so once is one thing to learn. */
static bool initialises(const char *name)
{
	return !strncmp(name, "torch.nn.init.", 14) || !strcmp(name, "torch.Tensor.normal_") ||
	       !strcmp(name, "torch.Tensor.uniform_");
}

/* An update in place of a tensor by itself changes nothing that it should. */
static void see_update(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function)
{
	const char *name = wti_symbol_text(scene->symbols, function);
	const struct wti_value_row *a = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *b = wti_call_tensor(moment->call, false, 1);
	size_t bytes = strlen(name);

	if (!is_usable(a) || !is_usable(b) || name[bytes - 1] != '_' || name[bytes - 2] == '_' ||
	    a->digest.zeros == a->digest.count)
		return;
	wti_occasion_of_term(scene, &wti_relation_distinct, moment, UPDATE_IN_PLACE, WTI_NO_TERM);
	if (a->digest.hash != b->digest.hash)
		wti_say_term(scene, IS_GIVEN_TWO_TENSORS);
	wti_report(scene);
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct state *state = opaque;
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	const struct wti_value_row *argument = wti_call_tensor(moment->call, false, 0);
	uint32_t function;

	if (moment->call->exception || (!is_usable(result) && !is_usable(argument)))
		return;
	if (!state->is_ready) {
		wti_map_init(&state->results, RESULTS_MAX);
		wti_map_init(&state->given, RESULTS_MAX);
	}
	state->is_ready = true;
	function = wti_scene_function(scene, moment->call);
	see_update(scene, moment, function);
	if (initialises(wti_symbol_text(scene->symbols, function)))
		function = wti_term(scene, &wti_relation_distinct, INITIALISATION);
	if (is_usable(result))
		see_result(scene, moment, function, result, argument);
	if (is_usable(argument))
		see_argument(scene, state, moment, function, argument);
	if (is_usable(result))
		wti_map_number(&state->results, key_of(moment, function, result->digest.hash));
}

static void release(void *opaque)
{
	struct state *state = opaque;

	wti_map_release(&state->results);
	wti_map_release(&state->given);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	wti_buf_printf(out, "%s %s", words->subject[0], words->a);
}

static const char *kind_of(const struct wti_words *words)
{
	return words->subject_term[0] == INITIALISATION ? words->subject[0] : words->a_word;
}

const struct wti_relation wti_relation_distinct = {
	.name = "distinct",
	.code = "WT-LEARN-DISTINCT",
	.title = "the same again",
	.definition = "hypothesis: X, given something else than the last time or no tensor at all, "
		      "returns another value; X is not given what it "
		      "returned before, nor the same "
		      "twice in a step. For and against: each call of X with a tensor, by the hash "
		      "of all bytes.",
	.means = "random numbers are repeated, or the same work is done again",
	.hint = "look at seeds, and at what is called in a loop",
	.innocent = "overfitting one batch on purpose",
	.needs = "that function never returned a tensor in these circumstances",
	.measures = WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_CALL,
	.features = WTI_FEATURES_OF_CALLS,
	.keeps = {[LASTS] = {WTI_PER_KEY, sizeof(struct last)}},
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = kind_of,
	.is_of_chance = wti_chance_always,
};
