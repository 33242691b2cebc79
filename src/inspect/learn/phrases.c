/* SPDX-License-Identifier: Apache-2.0 */
/* Phrases of wheeltap 0.1. This table is complete: what is new has no phrase. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "function_names.h"
#include "phrases.h"

#define PHRASE_BYTES 512
#define LONGER_MAX 32 /* bytes by which a word may be longer than its phrase */

/* clang-format off */
static const struct row {
	const char *relation;
	const char *phrase;
	const char *word;
} rows[] = {
	{"mode", "layer with modes", "layer_with_modes"},
	{"mode", "module around", "module_around"},
	{"mode", "without gradients", "without_gradients"},
	{"mode", "is in the mode of the module around it", "is_in_mode_of_module_around"},

	{"data", "trained input", "trained_input"},
	{"data", "evaluated input", "evaluated_input"},
	{"data", "input of a first layer", "first_layer_input"},
	{"data", "row of a batch", "batch_row"},
	{"data", "row of an input", "input_row"},
	{"data", "those before", "those_before"},
	{"data", "differs on each rank", "differs_on_each_rank"},
	{"data", "differs from the last", "differs_from_last"},
	{"data", "differs from that of the epoch before", "differs_from_epoch_before"},
	{"data", "is in the range of the trained", "is_in_trained_range"},
	{"data", "is not much narrower than the trained", "is_not_much_narrower_than_trained"},
	{"data", "is new, as all before it were", "is_new_like_all_before"},
	{"data", "stays as it is while rows are read", "stays_while_rows_are_read"},
	{"data", "is new in its epoch", "is_new_in_epoch"},
	{"data", "is of one stage only", "is_of_one_stage"},

	{"loss", "combination outside of models", "combination_outside_models"},
	{"loss", "graph of a step", "step_graph"},
	{"loss", "is finite", "is_finite"},
	{"loss", "is not zero", "is_not_zero"},
	{"loss", "is made from parameters", "is_made_from_parameters"},
	{"loss", "leads to a step", "leads_to_step"},
	{"loss", "argument 1 is not always within 0 and 1", "argument_1_leaves_0_and_1"},
	{"loss", "finds gradients", "finds_gradients"},
	{"loss", "finds finite gradients", "finds_finite_gradients"},
	{"loss", "finds gradients of the order of its limit", "finds_gradients_near_limit"},
	{"loss", "is as large as one of its parts", "is_as_large_as_a_part"},
	{"loss", "is not carried into the next", "is_not_carried_on"},

	{"parts", "loss of a micro-batch", "microbatch_loss"},
	{"parts", "micro-batch", "microbatch"},
	{"parts", "backward pass", "backward_pass"},
	{"parts", "is a part of the mean", "is_part_of_mean"},
	{"parts", "has as many targets as the others", "has_as_many_targets"},
	{"parts", "is used by a step", "is_used_by_step"},

	{"schedule", "learning rate", "learning_rate"},
	{"schedule", "learning rate after a load", "learning_rate_after_load"},
	{"schedule", "course of the learning rate", "learning_rate_course"},
	{"schedule", "is positive", "is_positive"},
	{"schedule", "does not rise", "does_not_rise"},
	{"schedule", "goes on from where it was", "goes_on_from_where_it_was"},
	{"schedule", "is steady", "is_steady"},
	{"schedule", "follows a step of its optimizer", "follows_optimizer_step"},
	{"schedule", "is used", "is_used"},
	{"schedule", "moves the rate", "moves_rate"},

	{"argument", "does not go over the first dimension", "does_not_go_over_first_dimension"},
	{"argument", "the training flag of the module around it", "module_training_flag"},

	{"distinct", "update in place", "update_in_place"},
	{"distinct", "returns another value each time", "returns_another_value"},
	{"distinct", "is not given its own result", "is_not_given_own_result"},
	{"distinct", "is given something else each time in a step", "is_given_something_else"},
	{"distinct", "is given two different tensors", "is_given_two_tensors"},

	{"output", "addition in place", "addition_in_place"},
	{"output", "adds what it is given", "adds_what_it_is_given"},
	{"output", "the length, at most", "length_at_most"},

	{"contain", "some parameter changes", "some_parameter_changes"},
	{"contain", "every parameter changes", "every_parameter_changes"},

	{"changes", "frozen parameter", "frozen_parameter"},
	{"changes", "frozen buffer", "frozen_buffer"},
	{"changes", "copy of a model", "model_copy"},
	{"changes", "trained parameter", "trained_parameter"},
	{"changes", "held parameter", "held_parameter"},
	{"changes", "old gradients", "old_gradients"},
	{"changes", "has no NaN", "has_no_nan"},
	{"changes", "stays as it is", "stays_as_it_is"},
	{"changes", "follows it", "follows_model"},
	{"changes", "is there", "is_there"},
	{"changes", "is not zero", "is_not_zero"},
	{"changes", "is not always zero", "is_not_always_zero"},
	{"changes", "is held by an optimizer", "is_held_by_optimizer"},
	{"changes", "is used", "is_used"},
	{"changes", "are cleared between two steps", "are_cleared_between_steps"},
	{"changes", "has no empty group", "has_no_empty_group"},
	{"changes", "is kept from step to step", "is_kept_between_steps"},

	{"consistent", "learning rate", "learning_rate"},
	{"consistent", "ranks, once equal", "ranks_once_equal"},
	{"consistent", "is equal", "is_equal"},
	{"consistent", "is like no other", "is_like_no_other"},

	{"ranks", "is given the same numbers", "is_given_same_numbers"},
	{"ranks", "returns the same shape", "returns_same_shape"},
	{"ranks", "makes the same of the same", "makes_same_of_same"},

	{"saved", "an optimizer's state", "optimizer_state"},
	{"saved", "holds each parameter", "holds_each_parameter"},
	{"saved", "holds what is live", "holds_what_is_live"},
	{"saved", "holds what state_dict() gave", "holds_what_state_dict_gave"},
	{"saved", "restores the model", "restores_model"},
	{"saved", "restores the optimizer", "restores_optimizer"},
	{"saved", "matches the model by name", "matches_model_by_name"},
	{"saved", "brings other contents", "brings_other_contents"},

	{"count", "those of the epoch before", "epoch_before"},
};

/* Fields of what a function is given or returns, after a name: "input has no NaN". */
static const char *const with_fields[] = {"data", "loss", "argument", "output"};
static const struct row endings[] = {
	{NULL, " has no NaN", ".has_no_nan"},
	{NULL, " is finite", ".is_finite"},
	{NULL, " is not constant", ".is_not_constant"},
	{NULL, " has negative elements", ".has_negative_elements"},
	{NULL, " is not all zeros", ".is_not_all_zeros"},
	{NULL, " is not nearly all zeros", ".is_not_nearly_all_zeros"},
	{NULL, " is not within 0 and 1", ".is_not_within_0_and_1"},
	{NULL, " has more than one row", ".has_several_rows"},
};

/* What a number follows. */
static const struct row beginnings[] = {
	{"schedule", "the rate of step ", "rate_of_step."},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *from_of(const struct row *row, bool is_phrase)
{
	return is_phrase ? row->phrase : row->word;
}

static bool has_fields(const char *relation)
{
	for (size_t i = 0; i < COUNT(with_fields); i++)
		if (!strcmp(with_fields[i], relation))
			return true;
	return false;
}

/* From phrases to words, or the other way. */
static const char *translate(const char *relation, const char *from, bool is_phrase, char *text,
			     size_t bytes)
{
	size_t length = strlen(from);

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(rows[i].relation, relation) &&
		    !strcmp(from_of(&rows[i], is_phrase), from))
			return from_of(&rows[i], !is_phrase);
	for (size_t i = 0; i < COUNT(endings) && has_fields(relation); i++) {
		size_t ending = strlen(from_of(&endings[i], is_phrase));

		if (length <= ending ||
		    strcmp(from + length - ending, from_of(&endings[i], is_phrase)))
			continue;
		snprintf(text, bytes, "%.*s%s", (int)(length - ending), from,
			 from_of(&endings[i], !is_phrase));
		return text;
	}
	for (size_t i = 0; i < COUNT(beginnings); i++) {
		size_t beginning = strlen(from_of(&beginnings[i], is_phrase));

		if (strcmp(beginnings[i].relation, relation) ||
		    strncmp(from, from_of(&beginnings[i], is_phrase), beginning))
			continue;
		snprintf(text, bytes, "%s%s", from_of(&beginnings[i], !is_phrase),
			 from + beginning);
		return text;
	}
	return from;
}

/* Layers whose functions torch spells in another way had names of their own. */
uint32_t wti_symbol_of_phrase(struct wti_symbols *symbols, const char *relation, const char *phrase)
{
	char text[PHRASE_BYTES];

	if (strlen(phrase) > PHRASE_BYTES - LONGER_MAX)
		return wti_symbol_word(symbols, phrase);
	if (strncmp(phrase, "nn.", 3) || wti_layer_spelling(phrase + 3) == phrase + 3)
		return wti_symbol_word(symbols,
				       translate(relation, phrase, true, text, sizeof(text)));
	snprintf(text, sizeof(text), "nn.%s", wti_layer_spelling(phrase + 3));
	return wti_symbol_word(symbols, text);
}

const char *wti_phrase_of_word(const char *relation, const char *word, char *text, size_t bytes)
{
	return translate(relation, word, false, text, bytes);
}
