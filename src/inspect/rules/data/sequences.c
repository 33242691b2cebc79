/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about sequences: which axis is the time, and where they end. */
#include <string.h>

#include "base/number.h"
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

enum { OF_PROCESS, OF_MODULE }; /* keeps of both rules */

/* Facts of a module: what torch's own attributes say. */
enum fact { FACT_BATCH_FIRST, FACT_PADDING, FACT_IGNORED, FACT_COUNT };

static const char *const fact_names[FACT_COUNT] = {"batch_first", "padding_idx", "ignore_index"};

struct facts {
	bool is_known[FACT_COUNT];
	int64_t values[FACT_COUNT];
};

static enum wti_answer note_fact(struct wti_case *account, const struct wti_moment *moment)
{
	const char *name = wti_moment_text(moment, moment->attribute);
	struct facts *facts;

	for (int i = 0; i < FACT_COUNT; i++) {
		if (strcmp(name, fact_names[i]))
			continue;
		facts = wti_kept_of_key(account, OF_MODULE, moment->process->stream, moment->owner);
		if (!facts)
			break;
		facts->is_known[i] = true;
		facts->values[i] = wti_i64_of(moment->number);
	}
	return WTI_RULE_NO_CASE;
}

static const struct facts *facts_of(const struct wti_case *account, const struct wti_call *call)
{
	return wti_kept_find_key(account, OF_MODULE, call->stream, call->object);
}

static bool has_fact(const struct facts *facts, enum fact fact, int64_t value)
{
	return facts && facts->is_known[fact] && facts->values[fact] == value;
}

/* ---- WT-INPUT-004: the batch is taken for the time ------------------------------------------ */

/* Of what a layer with batch_first=False is given. */
enum axis { AXIS_TIME, AXIS_BATCH, AXIS_FEATURES, AXIS_COUNT };

/* Of a process: what such a layer was given since the last loss. */
struct given {
	uint64_t time, batch; /* as the layer has it; 0: nothing */
	struct wti_call call; /* without its values */
};

static enum wti_answer note_sequence(struct wti_case *account, struct given *given,
				     const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	struct wti_shape shape;

	if (given->time || !input || !(moment->call->flags & WT_CALL_GRAD) ||
	    !has_fact(facts_of(account, moment->call), FACT_BATCH_FIRST, false))
		return WTI_RULE_NO_CASE;
	shape = wti_value_shape(moment, input);
	if (shape.rank == AXIS_COUNT)
		*given = (struct given){shape.extents[AXIS_TIME], shape.extents[AXIS_BATCH],
					wti_moment_call(moment)};
	return WTI_RULE_NO_CASE;
}

static enum wti_answer judge_axes(struct wti_case *account, const struct given *given,
				  const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	struct wti_shape shape = input ? wti_value_shape(moment, input) : (struct wti_shape){0};
	struct wti_moment there = *moment;

	if (given->time == given->batch || given->batch < 2 || shape.rank < 1 || shape.rank > 2)
		return WTI_RULE_NO_CASE;
	if (shape.extents[0] == given->batch)
		return WTI_RULE_HELD;
	if (shape.extents[0] != given->time)
		return WTI_RULE_NO_CASE;
	there.call = &given->call;
	return wti_violated(account, &there, given->call.object,
			    "it takes %llu as the time and %llu as the batch, and the loss has "
			    "%llu rows",
			    (unsigned long long)given->time, (unsigned long long)given->batch,
			    (unsigned long long)shape.extents[0]);
}

static enum wti_answer see_axes(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct given *given = kept;
	enum wti_answer answer = WTI_RULE_NO_CASE;

	if (moment->type == WTI_MOMENT_STATE)
		return note_fact(account, moment);
	if (moment->type == WTI_MOMENT_MODULE)
		return note_sequence(account, given, moment);
	if (given->time)
		answer = judge_axes(account, given, moment);
	given->time = 0;
	return answer;
}

const struct wti_rule wti_rule_input_004 = {
	.code = "WT-INPUT-004",
	.severity = WT_WARNING,
	.title = "a layer treats the batch axis as the time axis",
	.means = "batch_first is left at False while the input has the batch first: the layer "
		 "runs over the rows of the batch instead of over time, and rows influence each "
		 "other",
	.hint = "make the layer with batch_first=True, or give it x.transpose(0, 1)",
	.definition =
		"If a layer with batch_first=False is given a tensor of three axes whose first "
		"two differ in length, and the loss that follows has one or two axes, then the "
		"first axis of the loss is not as long as the first axis of that tensor, which "
		"the layer treats as time. Two losses in a row are a violation. A batch of one "
		"row is not judged. A case is a loss that is as long as the second axis, the "
		"batch.",
	.innocent = "Rows that are meant to attend to each other.",
	.needs = "no loss followed a layer with batch_first=False and an input of three axes",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_TARGET_LOSSES,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct given)},
		  [OF_MODULE] = {WTI_PER_KEY, sizeof(struct facts)}},
	.see = see_axes,
	.thresholds = {{WTI_IN_A_ROW, 2, "a loss may be as long as the time by chance"}},
};

/* ---- WT-TARGET-004: padding is learned ------------------------------------------------------ */

enum { LOSSES, ONE_IN }; /* thresholds */

/* Of a process: an embedding of which 0 is the padding, and how large its table is. */
struct padded {
	uint64_t words;
	bool has_padding; /* it was in the last input */
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

static enum wti_answer note_embedding(struct wti_case *account, struct padded *padded,
				      const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	if (!input || !wti_dtype_is_integer(input->digest.dtype) ||
	    input->digest.flags & WT_TENSOR_NO_STATISTICS ||
	    !has_fact(facts_of(account, moment->call), FACT_PADDING, 0))
		return WTI_RULE_NO_CASE;
	if (!padded->words)
		padded->words = words_of(moment);
	padded->has_padding |= input->digest.zeros > 0;
	return WTI_RULE_NO_CASE;
}

/* A function is given the number that it ignores, a module has it; false: it is not known. */
static bool ignores_zero(const struct wti_case *account, const struct wti_moment *moment, bool *ret)
{
	const struct facts *facts = facts_of(account, moment->call);

	if (moment->call->object && !(facts && facts->is_known[FACT_IGNORED]))
		return false;
	*ret = has_fact(facts, FACT_IGNORED, 0) || wti_ignored_class(moment) == 0;
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
	    target->digest.flags & WT_TENSOR_NO_STATISTICS || !padded->has_padding)
		return NULL;
	shape = wti_value_shape(moment, input);
	return shape.rank >= 2 && shape.extents[1] == padded->words ? target : NULL;
}

static enum wti_answer judge_padding(struct wti_case *account, const struct padded *padded,
				     const struct wti_moment *moment)
{
	const struct wti_value_row *target = words_in(padded, moment);
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	bool is_ignored;

	if (!target || !result || !ignores_zero(account, moment, &is_ignored))
		return WTI_RULE_NO_CASE;
	if (is_ignored || result->digest.count > 1 ||
	    target->digest.zeros * wti_threshold(account, ONE_IN) < target->digest.count)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "%llu of its %llu targets are 0, which is the padding of the embedding",
			    (unsigned long long)target->digest.zeros,
			    (unsigned long long)target->digest.count);
}

static enum wti_answer see_padding(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct padded *padded = kept;
	enum wti_answer answer;

	if (moment->type == WTI_MOMENT_STATE)
		return note_fact(account, moment);
	if (moment->type == WTI_MOMENT_MODULE)
		return note_embedding(account, padded, moment);
	answer = judge_padding(account, padded, moment);
	padded->has_padding = false;
	return answer;
}

const struct wti_rule wti_rule_target_004 = {
	.code = "WT-TARGET-004",
	.severity = WT_WARNING,
	.title = "padding counts in the loss",
	.means = "the model is trained to predict padding, which is easy: the loss looks better "
		 "than it is, and short sequences hardly count",
	.hint = "CrossEntropyLoss(ignore_index=0), with the number of the padding",
	.definition =
		"If an embedding with padding_idx=0 was given zeros, fewer than one in ten targets "
		"of the loss that follows are 0, unless the loss ignores 0 or is not reduced. The "
		"loss must have as many classes as the embedding has words. Four losses in a row "
		"are a violation. A case is such a loss.",
	.innocent = "Padding that the model should predict, as a sign of the end.",
	.needs = "no loss over the words of an embedding with padding_idx=0 was recorded",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CLASS_LOSSES,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct padded)},
		  [OF_MODULE] = {WTI_PER_KEY, sizeof(struct facts)}},
	.see = see_padding,
	.thresholds = {[LOSSES] = {WTI_IN_A_ROW, 4,
				   "sequences of a few batches may be of very different lengths"},
		       [ONE_IN] = {"one_in", 10,
				   "targets: 0 may be a word as well, or one sign of the end in "
				   "each sequence"}},
};
