/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what models are given: in evaluation the same kind as in training, and not nothing.
 */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

/* The first input of a model that is called by itself; NULL: not measured, or too small. */
static const struct wti_digest_row *input_of(const struct wti_moment *moment, uint64_t elements)
{
	const struct wti_value_row *input;

	if (!(moment->call->flags & WT_CALL_OUTERMOST) ||
	    !(moment->call->flags & WT_CALL_MODE_KNOWN) || moment->call->what != WTI_CALLEE_OTHER)
		return NULL;
	input = wti_call_tensor(moment->call, false, 0);
	return wti_value_is_measured(input) && input->digest.count >= elements ? &input->digest
									       : NULL;
}

/* ---- WT-INPUT-001: another range in evaluation ---------------------------------------------- */

enum { RANGE_ELEMENTS, CALLS, TIMES, NARROWER, ASIDE, ASIDE_ELEMENTS }; /* thresholds */

struct range {
	uint32_t dtype;
	uint64_t calls;
	double count, mean, m2; /* over all training inputs */
};

static void add(struct range *range, const struct wti_digest_row *input)
{
	double count = (double)input->count, total = range->count + count;
	double delta = input->mean - range->mean;

	range->m2 += input->m2 + delta * delta * range->count * count / total;
	range->mean += delta * count / total;
	range->count = total;
	range->dtype = input->dtype;
	range->calls++;
}

/* A narrow band beside the middle: normalised twice. A few elements may lie there by chance. */
static bool is_aside(const struct wti_case *account, const struct wti_digest_row *input,
		     double spread, double here, double shift)
{
	return input->count >= wti_threshold(account, ASIDE_ELEMENTS) &&
	       here * wti_threshold_real(account, NARROWER) < spread &&
	       shift > wti_threshold_real(account, ASIDE) * spread;
}

static bool is_apart(const struct wti_case *account, const struct range *range,
		     const struct wti_digest_row *input)
{
	double times = wti_threshold_real(account, TIMES);
	double spread = sqrt(range->m2 / range->count);
	double here = sqrt(input->m2 / (double)input->count);
	double shift = fabs(input->mean - range->mean);

	return here > times * spread || here * times < spread || shift > times * spread ||
	       is_aside(account, input, spread, here, shift);
}

static const char *numbers_of(uint32_t dtype)
{
	return wti_dtype_is_float(dtype) ? "of floating point" : "of integers";
}

static enum wti_answer judge_range(struct wti_case *account, const struct range *range,
				   const struct wti_moment *moment,
				   const struct wti_digest_row *input)
{
	if (wti_dtype_is_float(input->dtype) != wti_dtype_is_float(range->dtype))
		return wti_violated(account, moment, moment->object->name,
				    "in training its input was %s, here it is %s",
				    numbers_of(range->dtype), numbers_of(input->dtype));
	if (!wti_dtype_is_float(input->dtype) || range->m2 == 0)
		return WTI_RULE_NO_CASE;
	if (!is_apart(account, range, input))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "in training its input was %.3g +- %.3g, here it is %.3g +- %.3g",
			    range->mean, sqrt(range->m2 / range->count), input->mean,
			    sqrt(input->m2 / (double)input->count));
}

static enum wti_answer see_range(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_digest_row *input =
		input_of(moment, wti_threshold(account, RANGE_ELEMENTS));
	struct range *range = kept;

	if (!input)
		return WTI_RULE_NO_CASE;
	if (wti_is_training_call(moment->call))
		add(range, input);
	else if (wti_is_evaluation_call(moment->call) &&
		 range->calls >= wti_threshold(account, CALLS))
		return judge_range(account, range, moment, input);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_input_001 = {
	.code = "WT-INPUT-001",
	.severity = WT_WARNING,
	.title = "inputs in evaluation have another range than in training",
	.means = "a transform is missing on one side, such as the normalisation: the model is "
		 "evaluated on something that it has never seen",
	.hint = "use the same transforms for both; only augmentation belongs to training alone",
	.definition =
		"After four calls in training mode, the first input of a model in evaluation "
		"mode has a standard deviation between an eighth and eight times that of its "
		"training inputs, and a mean at most eight of their standard deviations away "
		"from theirs. An input of 64 elements or more is a violation, too, if its "
		"standard deviation is less than a quarter of theirs and its mean more than two "
		"of their standard deviations away. Integers where training had floating point, "
		"or the reverse, are a violation. A case is a call in evaluation mode.",
	.innocent = "A test of how the model copes with inputs of another kind.",
	.needs = "no model was called in both modes with measured inputs",
	.moments = WTI_MOMENT_MODULE,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct range)}},
	.see = see_range,
	.thresholds =
		{[RANGE_ELEMENTS] = {"elements", 8, "of an input: the mean of fewer says little"},
		 [CALLS] = {"calls", 4,
			    "in training mode: the range of the first few may be a narrow one"},
		 [TIMES] = {"times", 8,
			    "wider, narrower or farther away: batches differ by less, and "
			    "numbers from 0 to 255 that were not normalised by more"},
		 [NARROWER] = {"narrower", 4,
			       "times, if its mean is off as well: inputs that are normalised "
			       "twice are both"},
		 [ASIDE] = {"aside", 2,
			    "standard deviations by which the mean is off, if the "
			    "input is narrower as well"},
		 [ASIDE_ELEMENTS] = {"aside_elements", 64,
				     "for both of these: a few elements may lie there by chance"}},
};

/* ---- WT-INPUT-002: zeros appear ------------------------------------------------------------- */

enum { WITH_ZEROS, WITHOUT, FEW_IN, MANY_IN, ZERO_ELEMENTS }; /* thresholds */

struct zeros {
	uint64_t without; /* calls with hardly any */
};

static enum wti_answer see_zeros(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_digest_row *input =
		input_of(moment, wti_threshold(account, ZERO_ELEMENTS));
	struct zeros *zeros = kept;

	if (!input || !wti_is_training_call(moment->call) || !wti_dtype_is_float(input->dtype))
		return WTI_RULE_NO_CASE;
	if (input->zeros * wti_threshold(account, FEW_IN) <= input->count) {
		zeros->without++;
		return WTI_RULE_HELD;
	}
	if (zeros->without < wti_threshold(account, WITHOUT) ||
	    input->zeros * wti_threshold(account, MANY_IN) < input->count) {
		zeros->without = 0;
		return WTI_RULE_BREAK;
	}
	return wti_violated(account, moment, moment->object->name,
			    "%llu of %llu elements of its input are zero; there were hardly any "
			    "in the first %llu calls",
			    (unsigned long long)input->zeros, (unsigned long long)input->count,
			    (unsigned long long)zeros->without);
}

const struct wti_rule wti_rule_input_002 = {
	.code = "WT-INPUT-002",
	.severity = WT_WARNING,
	.title = "a large part of the model's input has become zero",
	.means = "from here on it trains on padding: rows are missing, or sender and receiver do "
		 "not agree on how many there are",
	.hint = "look at where the input comes from, and at what changed in this step",
	.definition =
		"If a model was called in training eight times or more with a first input of "
		"which at most one in a hundred elements was zero, it is not called twice in a "
		"row with one of which one in four is. A case is a call with hardly any zeros.",
	.innocent = "Inputs that are masked or padded on purpose from this step on, as by a "
		    "curriculum.",
	.needs = "no model was called in training with measured inputs without zeros",
	.moments = WTI_MOMENT_MODULE,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct zeros)}},
	.see = see_zeros,
	.thresholds = {[WITH_ZEROS] = {WTI_IN_A_ROW, 2,
				       "the last batch of an epoch may be filled up with zeros"},
		       [WITHOUT] = {"calls", 8,
				    "with hardly any zeros first: fewer do not show that inputs "
				    "have none"},
		       [FEW_IN] = {"few_in", 100,
				   "hardly any is one element in this many: single zeros are data"},
		       [MANY_IN] = {"many_in", 4,
				    "a large part is one element in this many: less may be data"},
		       [ZERO_ELEMENTS] = {"elements", 8,
					  "of an input: of fewer, a quarter is one element"}},
};

/* ---- WT-INPUT-003: made integers, nothing is left ------------------------------------------- */

enum { COLLAPSED_CALLS, COLLAPSED_ELEMENTS, LEFT_IN, ZEROS_IN }; /* thresholds */
enum { OF_LINE, OF_TRACK };                                      /* keeps */

/* Of a track: the input of the model that is being called, until its first layer is. */
struct entering {
	bool is_waiting;
	struct wti_digest_row input;
};

static bool is_lost(const struct wti_case *account, const struct wti_digest_row *before,
		    const struct wti_digest_row *after)
{
	uint64_t left = after->count - after->zeros;

	return left * wti_threshold(account, LEFT_IN) <= after->count &&
	       before->zeros * wti_threshold(account, ZEROS_IN) <= after->count;
}

/* What a model does with its input before it comes to its first layer. */
static enum wti_answer see_layer(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	struct entering *entering = wti_kept(account, OF_TRACK, moment);
	const struct wti_digest_row *before;

	if (!entering || !input || input->digest.flags & WT_TENSOR_NO_STATISTICS)
		return WTI_RULE_NO_CASE;
	before = &entering->input;
	if (call->flags & WT_CALL_OUTERMOST) {
		*entering = (struct entering){true, input->digest};
		return WTI_RULE_NO_CASE;
	}
	if (!entering->is_waiting || before->count < wti_threshold(account, COLLAPSED_ELEMENTS))
		return WTI_RULE_NO_CASE;
	entering->is_waiting = false;
	if (input->digest.count != before->count)
		return WTI_RULE_NO_CASE;
	if (!is_lost(account, before, &input->digest))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->object,
			    "%llu of %llu elements that reach it are 0; in the model's input, "
			    "between %.3g and %.3g, %llu were",
			    (unsigned long long)input->digest.zeros,
			    (unsigned long long)input->digest.count, before->min, before->max,
			    (unsigned long long)before->zeros);
}

static enum wti_answer see_collapsed(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *before, *after;

	if (moment->type == WTI_MOMENT_MODULE)
		return see_layer(account, moment);
	before = wti_call_tensor(call, false, 0);
	after = wti_call_tensor(call, true, 0);
	if (!before || !after ||
	    before->digest.count < wti_threshold(account, COLLAPSED_ELEMENTS) ||
	    (before->digest.flags | after->digest.flags) & WT_TENSOR_NO_STATISTICS)
		return WTI_RULE_NO_CASE;
	if (!is_lost(account, &before->digest, &after->digest))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "%llu of %llu elements became 0; before, they lay between %.3g and "
			    "%.3g, and %llu were 0",
			    (unsigned long long)after->digest.zeros,
			    (unsigned long long)after->digest.count, before->digest.min,
			    before->digest.max, (unsigned long long)before->digest.zeros);
}

const struct wti_rule wti_rule_input_003 = {
	.code = "WT-INPUT-003",
	.severity = WT_WARNING,
	.title = "a division or a conversion to integers makes nearly everything zero",
	.means = "what was in the tensor is lost: // instead of /, or a conversion before scaling",
	.hint = "divide with /, and convert to floating point first",
	.definition =
		"A floor division or a conversion to integers does not make nine in ten elements "
		"of a tensor zero if at most one in ten was before; nor does a model, on the way "
		"from its input to its first layer. Two calls of a line in a row are a "
		"violation. A case is such a call with 16 elements or more.",
	.innocent = "Finding rare events by dividing by a threshold.",
	.needs = "no floor division, conversion to integers or first layer was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_FLOOR),
	/* Of a line only how often in a row. */
	.keeps = {[OF_LINE] = {WTI_PER_LINE, 0},
		  [OF_TRACK] = {WTI_PER_TRACK, sizeof(struct entering)}},
	.see = see_collapsed,
	.thresholds = {[COLLAPSED_CALLS] = {WTI_IN_A_ROW, 2, "one tensor may be a special one"},
		       [COLLAPSED_ELEMENTS] = {"elements", 16,
					       "of a tensor: small ones are indexes and sizes"},
		       [LEFT_IN] = {"left_in", 10,
				    "nearly all is lost if at most one element in this many is "
				    "left: numbers that are rounded on purpose keep more"},
		       [ZEROS_IN] = {"zeros_in", 10,
				     "at most one element in this many was zero before: what is "
				     "sparse may stay sparse"}},
};
