/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about sequences: which axis is the time, and where they end. */
#include <string.h>

#include "base/number.h"
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/slots.h"

/* Facts of a module: what torch's own attributes say. */
enum fact { FACT_BATCH_FIRST, FACT_PADDING, FACT_IGNORED, FACT_COUNT };

static const char *const fact_names[FACT_COUNT] = {"batch_first", "padding_idx", "ignore_index"};

struct facts {
	bool is_known[FACT_COUNT];
	int64_t values[FACT_COUNT];
};

static void note_fact(struct wti_slots *modules, const struct wti_moment *moment)
{
	const char *name = wti_moment_text(moment, moment->attribute);
	struct facts *facts;

	for (int i = 0; i < FACT_COUNT; i++) {
		if (strcmp(name, fact_names[i]))
			continue;
		facts = wti_slot(modules, (uint64_t)moment->process->stream << 32 | moment->owner,
				 sizeof(*facts));
		if (!facts)
			return;
		facts->is_known[i] = true;
		facts->values[i] = wti_i64_of(moment->number);
	}
}

static const struct facts *facts_of(const struct wti_slots *modules, const struct wti_call *call)
{
	return wti_slot_find(modules, (uint64_t)call->stream << 32 | call->object);
}

static bool has_fact(const struct facts *facts, enum fact fact, int64_t value)
{
	return facts && facts->is_known[fact] && facts->values[fact] == value;
}

static bool is_loss(const struct wti_call *call)
{
	return call->what == WTI_CALLEE_CROSS_ENTROPY || call->what == WTI_CALLEE_NLL ||
	       call->what == WTI_CALLEE_BINARY || call->what == WTI_CALLEE_DISTANCE;
}

/* ---- WT-INPUT-004: the batch is taken for the time ------------------------------------------ */

enum { CALLS_TO_TELL = 2 };

/* Of a process: what a layer with the time first was given since the last loss. */
struct given {
	uint64_t time, batch; /* as the layer has it; 0: nothing */
	uint32_t object;
	uint32_t streak;
	struct wti_call call;
};

struct axes {
	struct wti_slots modules;
	struct wti_slots given;
};

static void release_axes(void *state)
{
	struct axes *axes = state;

	wti_slots_release(&axes->modules);
	wti_slots_release(&axes->given);
}

static void note_sequence(struct axes *axes, struct given *given, const struct wti_moment *moment)
{
	const struct facts *facts = facts_of(&axes->modules, moment->call);
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	struct wti_shape shape;

	if (!has_fact(facts, FACT_BATCH_FIRST, false) || !input ||
	    !(moment->call->flags & WTI_CALL_GRAD))
		return;
	shape = wti_value_shape(moment, input);
	if (shape.rank != 3 || given->time)
		return;
	given->time = shape.extents[0];
	given->batch = shape.extents[1];
	given->object = moment->call->object;
	given->call = *moment->call;
	given->call.values = NULL;
	given->call.value_count = 0;
}

static void judge_axes(struct wti_case *account, struct given *given,
		       const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	struct wti_shape shape = input ? wti_value_shape(moment, input) : (struct wti_shape){0};
	struct wti_moment there = *moment;

	there.call = &given->call;
	if (given->time == given->batch || given->batch < 2 || shape.rank < 1 || shape.rank > 2)
		return;
	if (shape.extents[0] == given->batch) {
		given->streak = 0;
		wti_held(account);
	} else if (shape.extents[0] == given->time && ++given->streak >= CALLS_TO_TELL) {
		wti_violated(account, &there, given->object,
			     "it takes %llu as the time and %llu as the batch, and the loss has "
			     "%llu rows",
			     (unsigned long long)given->time, (unsigned long long)given->batch,
			     (unsigned long long)shape.extents[0]);
	}
}

static void see_axes(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct axes *axes = state;
	struct given *given = wti_slot(&axes->given, moment->process->stream, sizeof(*given));

	if (!given)
		return;
	if (moment->type == WTI_MOMENT_STATE) {
		note_fact(&axes->modules, moment);
	} else if (moment->type == WTI_MOMENT_MODULE) {
		note_sequence(axes, given, moment);
	} else if (is_loss(moment->call) && given->time) {
		judge_axes(account, given, moment);
		given->time = 0;
	}
}

const struct wti_rule wti_rule_input_004 = {
	.code = "WT-INPUT-004",
	.severity = WT_WARNING,
	.title = "a layer takes the batch for the time",
	.means = "batch_first is left at False while the input has the batch first: the layer goes "
		 "from row to row of the batch instead of from moment to moment, and rows see "
		 "each other",
	.hint = "make the layer with batch_first=True, or give it x.transpose(0, 1)",
	.definition =
		"If a layer of torch's with batch_first=False is given three axes, and the loss "
		"that follows has one or two, the first axis of the loss is not as long as the "
		"first of the layer and of another length than its second, which is above 1. Two "
		"losses in a row are a violation. A case is a loss with the length of the second.",
	.innocent = "Rows that are to attend to each other.",
	.needs = "no loss followed a layer with batch_first=False and an input of three axes",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct axes),
	.watch = see_axes,
	.release = release_axes,
};

/* ---- WT-TARGET-004: padding is learned ------------------------------------------------------ */

enum { LOSSES_TO_TELL = 4, ONE_IN = 10 };

/* Of a process: an embedding of which 0 is the padding, and how large its table is. */
struct padded {
	uint64_t words;
	bool has_padding; /* it was in the last input */
	uint32_t streak;
};

static uint64_t words_of(const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream == moment->call->stream && !parameter->is_buffer &&
		    parameter->module == moment->call->object)
			return wti_shape_read(wti_moment_text(moment, parameter->shape)).extents[0];
	}
	return 0;
}

static void note_embedding(struct axes *axes, struct padded *padded,
			   const struct wti_moment *moment)
{
	const struct facts *facts = facts_of(&axes->modules, moment->call);
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	if (!has_fact(facts, FACT_PADDING, 0) || !input ||
	    !wti_dtype_is_integer(input->digest.dtype) ||
	    input->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return;
	if (!padded->words)
		padded->words = words_of(moment);
	padded->has_padding |= input->digest.zeros > 0;
}

/* A function is told the number that it ignores, a module has it; false: it is not known. */
static bool ignores_zero(const struct axes *axes, const struct wti_moment *moment, bool *ret)
{
	const struct facts *facts = facts_of(&axes->modules, moment->call);
	double ignored = -100;

	if (moment->call->object && !(facts && facts->is_known[FACT_IGNORED]))
		return false;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "ignore_index"),
			   -2, &ignored);
	*ret = has_fact(facts, FACT_IGNORED, 0) || ignored == 0;
	return true;
}

/* Whether a loss is over the words of the embedding, and of how many targets. */
static const struct wti_value_row *words_in(const struct padded *padded,
					    const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	struct wti_shape shape;

	if (!input || !target || !wti_dtype_is_integer(target->digest.dtype) ||
	    target->digest.flags & WTI_TENSOR_NO_STATISTICS || !padded->has_padding)
		return NULL;
	shape = wti_value_shape(moment, input);
	return shape.rank >= 2 && shape.extents[1] == padded->words ? target : NULL;
}

static void judge_padding(struct wti_case *account, const struct axes *axes, struct padded *padded,
			  const struct wti_moment *moment)
{
	const struct wti_value_row *target = words_in(padded, moment);
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	bool is_ignored;

	if (!target || !result || !ignores_zero(axes, moment, &is_ignored))
		return;
	if (is_ignored || result->digest.count > 1 ||
	    target->digest.zeros * ONE_IN < target->digest.count) {
		padded->streak = 0;
		wti_held(account);
	} else if (++padded->streak >= LOSSES_TO_TELL) {
		wti_violated(
			account, moment, moment->call->callee,
			"%llu of its %llu targets are 0, which is the padding of the embedding",
			(unsigned long long)target->digest.zeros,
			(unsigned long long)target->digest.count);
	}
}

static void see_padding(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct axes *axes = state;
	struct padded *padded = wti_slot(&axes->given, moment->process->stream, sizeof(*padded));

	if (!padded)
		return;
	if (moment->type == WTI_MOMENT_STATE) {
		note_fact(&axes->modules, moment);
	} else if (moment->type == WTI_MOMENT_MODULE) {
		note_embedding(axes, padded, moment);
	} else if (moment->call->what == WTI_CALLEE_CROSS_ENTROPY ||
		   moment->call->what == WTI_CALLEE_NLL) {
		judge_padding(account, axes, padded, moment);
		padded->has_padding = false;
	}
}

const struct wti_rule wti_rule_target_004 = {
	.code = "WT-TARGET-004",
	.severity = WT_WARNING,
	.title = "padding counts in the loss",
	.means = "the model is trained to predict padding, which is easy: the loss looks better "
		 "than it is, and short sequences hardly count",
	.hint = "CrossEntropyLoss(ignore_index=0), with the number of the padding",
	.definition =
		"If an embedding with padding_idx=0 was given zeros, not one in ten or more of the "
		"targets of the loss that follows is 0, in four losses in a row, unless the loss "
		"ignores 0 or is not reduced. It must have as many classes as the embedding has "
		"words. A case is such a loss.",
	.innocent = "Padding that the model is to predict, as a sign of the end.",
	.needs = "no loss over the words of an embedding with padding_idx=0 was recorded",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct axes),
	.watch = see_padding,
	.release = release_axes,
};
