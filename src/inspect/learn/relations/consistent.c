/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consistent: states that are equal across ranks, and across names. Ranks are compared at the same
 * step of the same optimizer, with the value that the first rank to reach that step had. Two
 * parameters that begin with the same contents (tied, or copied) are followed as a pair.
 */
#include <stdlib.h>

#include "inspect/learn/relation.h"
#include "inspect/training/compare.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	PARAMETER, BUFFER, GRADIENT, LEARNING_RATE,
	/* the second of a subject */
	RANKS, RANKS_ONCE_EQUAL, BEGINNINGS, NAMES,
	/* facts */
	IS_EQUAL, IS_LIKE_NO_OTHER,
};

static const struct wti_term terms[] = {
	[PARAMETER] = {"parameter", "parameter"},
	[BUFFER] = {"buffer", "buffer"},
	[GRADIENT] = {"gradient", "gradient"},
	[LEARNING_RATE] = {"learning_rate", "learning rate"},
	[RANKS] = {"ranks", "ranks"},
	[RANKS_ONCE_EQUAL] = {"ranks_once_equal", "ranks, once equal"},
	[BEGINNINGS] = {"beginnings", "beginnings"},
	[NAMES] = {"names", "names"},
	[IS_EQUAL] = {"is_equal", "is equal"},
	[IS_LIKE_NO_OTHER] = {"is_like_no_other", "is like no other", WTI_TOPIC_BEGINNINGS},
	{0},
};
/* clang-format on */

enum { STEPS_APART = 16, PAIRS_MAX = 256, PARAMETERS_MAX = 4096 };

struct compared {
	struct {
		uint64_t step; /* plus one */
		int32_t rank;
		uint64_t value;
	} at[STEPS_APART];
	bool was_equal;
};

enum memory { VALUES, GRADIENTS, RATES }; /* of what ranks call the same */

struct pair {
	uint32_t a, b; /* places of parameters */
};

struct state {
	struct pair pairs[PAIRS_MAX];
	uint32_t pair_count;
	struct wti_map firsts; /* first contents: place plus one */
	bool is_ready;
};

/* -1: the other ranks have not come here yet; otherwise whether they agree. */
static int compare(struct wti_scene *scene, enum memory of, uint64_t key, uint64_t step,
		   int32_t rank, uint64_t value, bool *ret_was_equal)
{
	struct compared *compared = wti_recall_of_key(scene, of, WTI_ALL_RANKS, key);
	size_t place = step % STEPS_APART;

	if (!compared)
		return -1;
	if (compared->at[place].step < step + 1) {
		compared->at[place].step = step + 1;
		compared->at[place].rank = rank;
		compared->at[place].value = value;
		return -1;
	}
	if (compared->at[place].step > step + 1 || compared->at[place].rank == rank)
		return -1;
	*ret_was_equal = compared->was_equal;
	compared->was_equal |= compared->at[place].value == value;
	return compared->at[place].value == value;
}

static void report_ranks(struct wti_scene *scene, const struct wti_moment *moment,
			 const struct wti_parameter *parameter, enum term subject, enum term of,
			 bool agree)
{
	wti_occasion_of_term(scene, &wti_relation_consistent, moment, subject, of);
	wti_occasion_parameter(scene, parameter);
	if (agree)
		wti_say_term(scene, IS_EQUAL);
	wti_report(scene);
}

static uint64_t key_of(const struct wti_parameter *parameter)
{
	return (uint64_t)parameter->owner << 32 | parameter->name;
}

/* What is sharded was never equal: that it is equal, and that it stays so, are two things. */
static void compare_value(struct wti_scene *scene, enum memory of, const struct wti_moment *moment,
			  const struct wti_parameter *parameter, enum term subject, uint64_t value)
{
	bool was_equal = false;
	int agree = compare(scene, of, key_of(parameter), moment->object->step_count,
			    moment->scope.rank, value, &was_equal);

	if (agree < 0)
		return;
	report_ranks(scene, moment, parameter, subject, RANKS, agree);
	if (was_equal)
		report_ranks(scene, moment, parameter, subject, RANKS_ONCE_EQUAL, agree);
}

/* Before the first step: nothing is reported, but it is known what began equal. */
static void compare_first(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	bool was_equal;

	if (moment->scope.world > 1 && parameter->has_hash && !parameter->is_buffer)
		compare(scene, VALUES, key_of(parameter), 0, moment->scope.rank, parameter->hash,
			&was_equal);
}

static void compare_parameter(struct wti_scene *scene, const struct wti_moment *moment,
			      const struct wti_parameter *parameter)
{
	if (parameter->has_hash)
		compare_value(scene, VALUES, moment, parameter,
			      parameter->is_buffer ? BUFFER : PARAMETER, parameter->hash);
	if (parameter->grad == WTI_GRAD_NONZERO)
		compare_value(scene, GRADIENTS, moment, parameter, GRADIENT, parameter->grad_hash);
}

static void compare_rate(struct wti_scene *scene, const struct wti_moment *moment)
{
	union {
		double number;
		uint64_t bits;
	} rate = {.number = moment->object->lr[0]};
	bool was_equal = false;
	int agree;

	if (!(moment->object->lr_known & 1))
		return;
	agree = compare(scene, RATES, moment->object->name, moment->object->step_count,
			moment->scope.rank, rate.bits, &was_equal);
	if (agree < 0)
		return;
	wti_occasion_of_term(scene, &wti_relation_consistent, moment, LEARNING_RATE, RANKS);
	if (agree)
		wti_say_term(scene, IS_EQUAL);
	wti_report(scene);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

static bool is_constant(const struct wti_parameter *parameter)
{
	return !parameter->has_statistics || parameter->statistics.min == parameter->statistics.max;
}

/* A first value: does another parameter begin with the same contents? */
static void see_first(struct wti_scene *scene, struct state *state, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	uint32_t place = parameter->place;
	const struct wti_parameter *other;
	uint64_t *slot;

	if (!state->is_ready)
		wti_map_init(&state->firsts, 65536);
	state->is_ready = true;
	if (parameter->is_buffer || !parameter->has_hash || is_constant(parameter))
		return;
	slot = wti_map_number(&state->firsts, parameter->hash ^ (uint64_t)parameter->stream << 48);
	if (!slot || (*slot && *slot - 1 == place))
		return;
	other = *slot ? wti_parameter_at(scene->training, *slot - 1) : NULL;
	wti_occasion_of_term(scene, &wti_relation_consistent, moment, PARAMETER, BEGINNINGS);
	wti_occasion_parameter(scene, parameter);
	if (!other || other->owner != parameter->owner)
		wti_say_term(scene, IS_LIKE_NO_OTHER);
	wti_report(scene);
	if (other && state->pair_count < PAIRS_MAX)
		state->pairs[state->pair_count++] = (struct pair){(uint32_t)*slot - 1, place};
	else
		*slot = place + 1;
}

static void report_pairs(struct wti_scene *scene, struct state *state,
			 const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < state->pair_count; i++) {
		const struct wti_parameter *a =
			wti_parameter_at(scene->training, state->pairs[i].a);
		const struct wti_parameter *b =
			wti_parameter_at(scene->training, state->pairs[i].b);

		if (a->stream != moment->process->stream)
			continue;
		wti_occasion_of_term(scene, &wti_relation_consistent, moment, PARAMETER, NAMES);
		wti_occasion_parameter(scene, b);
		wti_occasion_word(scene, WTI_FEATURE_OTHER,
				  wti_scene_word(scene, a->owner == b->owner ? "the same owner"
									     : "another owner"));
		if (a->hash == b->hash)
			wti_say_term(scene, IS_EQUAL);
		wti_report(scene);
	}
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct state *state = opaque;
	const struct wti_training *training = scene->training;
	size_t stride = 1 + training->parameters.count / PARAMETERS_MAX;

	if (moment->type == WTI_MOMENT_STATE) {
		if (moment->parameter &&
		    wt_event_u64(moment->event, WT_STATE_FIELD_FLAGS) & WT_STATE_FIRST &&
		    moment->attribute == moment->parameter->name)
			see_first(scene, state, moment);
		if (moment->parameter && !moment->process->step_count &&
		    moment->attribute == moment->parameter->name)
			compare_first(scene, moment);
		return;
	}
	if (!moment->object)
		return;
	report_pairs(scene, state, moment);
	if (moment->scope.world < 2)
		return;
	compare_rate(scene, moment);
	for (size_t i = 0; i < training->parameters.count; i += stride)
		if (wti_parameter_at(training, i)->stream == moment->process->stream)
			compare_parameter(scene, moment, wti_parameter_at(training, i));
}

static void release(void *opaque)
{
	struct state *state = opaque;

	wti_map_release(&state->firsts);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	switch (words->subject_term[1]) {
	case RANKS_ONCE_EQUAL:
		wti_buf_printf(out, "a %s that was equal on all ranks stays so", words->subject[0]);
		break;
	case RANKS:
		wti_buf_printf(out, "at the same step a %s is equal on all ranks",
			       words->subject[0]);
		break;
	case BEGINNINGS:
		wti_buf_text(out, "no two parameters of a model begin with the same contents");
		break;
	default:
		wti_buf_printf(out, "a %s that began like another stays equal to it",
			       words->subject[0]);
	}
}

static const char *kind_of(const struct wti_words *words)
{
	return words->subject[1];
}

const struct wti_relation wti_relation_consistent = {
	.name = "consistent",
	.code = "WT-LEARN-CONSISTENT",
	.title = "states that should agree differ",
	.definition = "hypothesis: a parameter, a buffer, a gradient or the learning rate is equal "
		      "on all ranks at the "
		      "same step; two parameters that began equal stay equal; parameters of one "
		      "model begin with different contents. For and against: each of them at each "
		      "step, by the hash of all bytes.",
	.means = "replicas drift apart, or what was meant to be one tensor has become two",
	.hint = "look at how gradients are averaged, at what is wrapped, and at how weights are "
		"tied",
	.innocent = "shards, and copies that are meant to lag behind",
	.needs = "no two ranks, or no two parameters that began equal, in these circumstances",
	.measures = WTI_NEEDS_PARAMETERS | WTI_NEEDS_GRADIENTS | WTI_NEEDS_BUFFERS,
	.moments = WTI_MOMENT_STEPPED | WTI_MOMENT_STATE,
	.features = WTI_FEATURES_OF_STATES,
	.keeps = {[VALUES] = {WTI_PER_KEY, sizeof(struct compared)},
		  [GRADIENTS] = {WTI_PER_KEY, sizeof(struct compared)},
		  [RATES] = {WTI_PER_KEY, sizeof(struct compared)}},
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.topic = WTI_TOPIC_RANKS,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = kind_of,
};
