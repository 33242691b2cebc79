/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consistent: states that are equal across ranks, and across names. Ranks are compared at the same
 * step of the same optimizer, by what the first rank to get there has left. Two parameters that
 * begin with the same contents (tied, or copied) are followed as a pair.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect/learn/relation.h"
#include "inspect/training/slots.h"
#include "relations.h"

enum { STEPS_APART = 16, PAIRS_MAX = 256, PARAMETERS_MAX = 4096 };

struct compared {
	struct {
		uint64_t step; /* plus one */
		int32_t rank;
		uint64_t value;
	} at[STEPS_APART];
	bool was_equal;
};

struct pair {
	uint32_t a, b; /* places of parameters */
};

struct state {
	struct wti_slots values[3]; /* of parameters, gradients, rates */
	struct pair pairs[PAIRS_MAX];
	uint32_t pair_count;
	struct wti_map firsts; /* first contents: place plus one */
	bool is_ready;
};

/* -1: the other ranks have not come here yet; otherwise whether they agree. */
static int compare(struct wti_slots *slots, uint64_t key, uint64_t step, int32_t rank,
		   uint64_t value, bool *ret_was_equal)
{
	struct compared *compared = wti_slot(slots, key, sizeof(*compared));
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

static void tell_ranks(struct wti_scene *scene, const struct wti_moment *moment,
		       const struct wti_parameter *parameter, uint32_t subject, const char *of,
		       bool agree)
{
	wti_occasion(scene, &wti_relation_consistent, moment, subject, wti_scene_word(scene, of));
	wti_occasion_parameter(scene, parameter);
	if (agree)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is equal"), 0);
	wti_tell(scene);
}

/* What is sharded was never equal: that it is equal, and that it stays so, are two things. */
static void compare_value(struct wti_scene *scene, struct wti_slots *slots,
			  const struct wti_moment *moment, const struct wti_parameter *parameter,
			  uint32_t subject, uint64_t value)
{
	uint64_t key = (uint64_t)parameter->owner << 20 | parameter->name;
	bool was_equal = false;
	int agree = compare(slots, key, moment->object->step_count, moment->scope.rank, value,
			    &was_equal);

	if (agree < 0)
		return;
	tell_ranks(scene, moment, parameter, subject, "ranks", agree);
	if (was_equal)
		tell_ranks(scene, moment, parameter, subject, "ranks, once equal", agree);
}

/* Before the first step: nothing is told, but it is known what began equal. */
static void compare_first(struct state *state, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	bool was_equal;

	if (moment->scope.world > 1 && parameter->has_hash && !parameter->is_buffer)
		compare(&state->values[0], (uint64_t)parameter->owner << 20 | parameter->name, 0,
			moment->scope.rank, parameter->hash, &was_equal);
}

static void compare_parameter(struct wti_scene *scene, struct state *state,
			      const struct wti_moment *moment,
			      const struct wti_parameter *parameter)
{
	if (parameter->has_hash)
		compare_value(
			scene, &state->values[0], moment, parameter,
			scene->words[parameter->is_buffer ? WTI_WORD_BUFFER : WTI_WORD_PARAMETER],
			parameter->hash);
	if (parameter->grad == WTI_GRAD_NONZERO)
		compare_value(scene, &state->values[1], moment, parameter,
			      scene->words[WTI_WORD_GRADIENT], parameter->grad_hash);
}

static void compare_rate(struct wti_scene *scene, struct state *state,
			 const struct wti_moment *moment)
{
	union {
		double number;
		uint64_t bits;
	} rate = {.number = moment->object->lr[0]};
	bool was_equal = false;
	int agree;

	if (!(moment->object->lr_known & 1))
		return;
	agree = compare(&state->values[2], moment->object->name, moment->object->step_count,
			moment->scope.rank, rate.bits, &was_equal);
	if (agree < 0)
		return;
	wti_occasion(scene, &wti_relation_consistent, moment,
		     wti_scene_word(scene, "learning rate"), wti_scene_word(scene, "ranks"));
	if (agree)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is equal"), 0);
	wti_tell(scene);
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
	wti_occasion(scene, &wti_relation_consistent, moment, scene->words[WTI_WORD_PARAMETER],
		     wti_scene_word(scene, "beginnings"));
	wti_occasion_parameter(scene, parameter);
	if (!other || other->owner != parameter->owner)
		wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is like no other"), 0);
	wti_tell(scene);
	if (other && state->pair_count < PAIRS_MAX)
		state->pairs[state->pair_count++] = (struct pair){(uint32_t)*slot - 1, place};
	else
		*slot = place + 1;
}

static void tell_pairs(struct wti_scene *scene, struct state *state,
		       const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < state->pair_count; i++) {
		const struct wti_parameter *a =
			wti_parameter_at(scene->training, state->pairs[i].a);
		const struct wti_parameter *b =
			wti_parameter_at(scene->training, state->pairs[i].b);

		if (a->stream != moment->process->stream)
			continue;
		wti_occasion(scene, &wti_relation_consistent, moment,
			     scene->words[WTI_WORD_PARAMETER], wti_scene_word(scene, "names"));
		wti_occasion_parameter(scene, b);
		wti_occasion_word(scene, WTI_FEATURE_OTHER,
				  wti_scene_word(scene, a->owner == b->owner ? "the same owner"
									     : "another owner"));
		if (a->hash == b->hash)
			wti_say(scene, WTI_FORM_TRUE, wti_scene_word(scene, "is equal"), 0);
		wti_tell(scene);
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
			compare_first(state, moment);
		return;
	}
	if (!moment->object)
		return;
	tell_pairs(scene, state, moment);
	if (moment->scope.world < 2)
		return;
	compare_rate(scene, state, moment);
	for (size_t i = 0; i < training->parameters.count; i += stride)
		if (wti_parameter_at(training, i)->stream == moment->process->stream)
			compare_parameter(scene, state, moment, wti_parameter_at(training, i));
}

static void release(void *opaque)
{
	struct state *state = opaque;

	for (size_t i = 0; i < 3; i++)
		wti_slots_release(&state->values[i]);
	wti_map_release(&state->firsts);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (strlen(words->subject[1]) > 5 && words->subject[1][0] == 'r')
		wti_buf_printf(out, "a %s that was equal on all ranks stays so", words->subject[0]);
	else if (words->subject[1][0] == 'r')
		wti_buf_printf(out, "at the same step a %s is equal on all ranks",
			       words->subject[0]);
	else if (words->subject[1][0] == 'b')
		wti_buf_text(out, "no two parameters of a model begin with the same contents");
	else
		wti_buf_printf(out, "a %s that began like another stays equal to it",
			       words->subject[0]);
}

static const char *sort(const struct wti_words *words)
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
	.state_bytes = sizeof(struct state),
	.see = see,
	.release = release,
	.describe = describe,
	.sort = sort,
};
