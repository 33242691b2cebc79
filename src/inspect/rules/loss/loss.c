/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about losses: that they are given what they expect, in a type that can hold them. */
#include <math.h>

#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

enum { HASHES_MAX = 8 };

/* Tensors that were returned last, by their content: a ring. */
struct hashes {
	uint64_t last[HASHES_MAX];
	uint64_t count;
};

static void add_result(struct hashes *hashes, const struct wti_call *call)
{
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);

	if (result && !(result->digest.flags & WT_TENSOR_NO_HASH))
		hashes->last[hashes->count++ % HASHES_MAX] = result->digest.hash;
}

static bool has_hash(const struct hashes *hashes, const struct wti_value_row *value)
{
	for (uint64_t i = 0; i < HASHES_MAX && i < hashes->count; i++)
		if (hashes->last[i] == value->digest.hash)
			return true;
	return false;
}

/* ---- WT-LOSS-001: probabilities instead of logits ------------------------------------------- */

enum { PROBABILITIES_IN_A_ROW, PROBABILITIES_ROUNDING };

/*
 * Rows that add up to one: not negative, and with the mean that they must have. Classes stand along
 * the second axis, where the loss does not leave that open along the last.
 */
static bool are_probabilities(const struct wti_moment *moment, const struct wti_value_row *input,
			      double rounding)
{
	bool is_last = moment->call->what == WTI_CALLEE_DIVERGENCE;
	struct wti_shape shape = wti_value_shape(moment, input);
	double classes;

	if (shape.rank < 2)
		return false;
	classes = (double)shape.extents[is_last ? shape.rank - 1 : 1];
	if (classes < 2)
		return false;
	return input->digest.min >= 0 && input->digest.max <= 1 + rounding &&
	       input->digest.min < input->digest.max &&
	       fabs(input->digest.mean * classes - 1) < rounding;
}

static enum wti_answer see_probabilities(struct wti_case *account, void *kept,
					 const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	if (!wti_value_is_measured(input))
		return WTI_RULE_NO_CASE;
	if (!are_probabilities(moment, input, wti_threshold_real(account, PROBABILITIES_ROUNDING)))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "its input lies between %.3g and %.3g and its rows add up to 1",
			    input->digest.min, input->digest.max);
}

const struct wti_rule wti_rule_loss_001 = {
	.code = "WT-LOSS-001",
	.severity = WT_ERROR,
	.title = "a loss that expects logits or logarithms is given probabilities",
	.means = "softmax is applied twice, or a logarithm is missing: gradients are flat, and the "
		 "loss cannot come near zero",
	.hint = "give cross_entropy what comes before the softmax, and nll_loss and kl_div its "
		"log_softmax",
	.definition =
		"The input of cross_entropy, nll_loss or kl_div is not a set of rows that lie "
		"between 0 and 1 and add up to 1. Two calls of one line in a row are a violation. "
		"A case is a call.",
	.innocent = "None is known.",
	.needs = "no cross_entropy, nll_loss or kl_div with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY) | WTI_CALLEE_SET(WTI_CALLEE_NLL) |
		   WTI_CALLEE_SET(WTI_CALLEE_DIVERGENCE),
	.keeps = {{WTI_PER_LINE, 0}},
	.see = see_probabilities,
	.thresholds = {{WTI_IN_A_ROW, 2, "logits may have that mean once by chance"},
		       {"rounding", 1e-4,
			"how far sums of rows may be from 1: what rounding leaves in the mean of "
			"them all"}},
};

/* ---- WT-LOSS-002: every prediction with every target ---------------------------------------- */

static bool is_column(const struct wti_shape *shape)
{
	return shape->rank >= 2 && shape->extents[shape->rank - 1] == 1 && shape->extents[0] > 1;
}

/* (N, 1) with (N,): the result is a matrix. */
static bool broadcasts(const struct wti_moment *moment, const struct wti_value_row *a,
		       const struct wti_value_row *b)
{
	struct wti_shape left = wti_value_shape(moment, a), right = wti_value_shape(moment, b);

	if (left.rank != 2 || right.rank != 1 || !is_column(&left))
		return false;
	return left.extents[0] == right.extents[0];
}

/* A column of N predictions with N rows of N: a target that was broadcast before. */
static bool is_with_matrix(const struct wti_moment *moment, const struct wti_value_row *prediction,
			   const struct wti_value_row *target)
{
	struct wti_shape column = wti_value_shape(moment, prediction);
	struct wti_shape matrix = wti_value_shape(moment, target);

	return prediction->digest.flags & WT_TENSOR_REQUIRES_GRAD && column.rank == 2 &&
	       is_column(&column) && matrix.rank == 2 && matrix.extents[0] == column.extents[0] &&
	       matrix.extents[1] == column.extents[0];
}

static bool is_one_predicted(const struct wti_value_row *a, const struct wti_value_row *b)
{
	return (a->digest.flags ^ b->digest.flags) & WT_TENSOR_REQUIRES_GRAD;
}

static bool is_prediction(const struct hashes *predictions, const struct wti_value_row *value)
{
	return value->digest.flags & WT_TENSOR_REQUIRES_GRAD && has_hash(predictions, value);
}

/* Of a process: what models returned. */
static enum wti_answer see_broadcast(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *a, *b;
	bool is_loss;

	if (moment->type == WTI_MOMENT_MODULE_END) {
		if (call->flags & WT_CALL_OUTERMOST)
			add_result(kept, call);
		return WTI_RULE_NO_CASE;
	}
	a = wti_call_tensor(call, false, 0);
	b = wti_call_tensor(call, false, 1);
	is_loss = call->what == WTI_CALLEE_DISTANCE;
	if (!a || !b || !is_one_predicted(a, b) ||
	    (!is_loss && !is_prediction(kept, a) && !is_prediction(kept, b)))
		return WTI_RULE_NO_CASE;
	if (!broadcasts(moment, a, b) && !broadcasts(moment, b, a) &&
	    !(is_loss && (is_with_matrix(moment, a, b) || is_with_matrix(moment, b, a))))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "shapes %s and %s give a matrix: each prediction with each target",
			    wti_moment_text(moment, a->digest.shape),
			    wti_moment_text(moment, b->digest.shape));
}

const struct wti_rule wti_rule_loss_002 = {
	.code = "WT-LOSS-002",
	.severity = WT_ERROR,
	.title = "predictions and targets broadcast against each other",
	.means = "every prediction is compared with every target: the model learns the mean of all "
		 "targets",
	.hint = "give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)",
	.definition =
		"A loss of two tensors of which one requires a gradient, or a difference between "
		"what a model has just returned and a tensor that does not require a gradient, is "
		"not computed from a column of N rows and a vector of N elements, with N above 1; "
		"nor is a loss computed from a column of N predictions and a target of N times N. "
		"A case is such a call.",
	.innocent = "Differences of all pairs on purpose, if the axis was not added explicitly "
		    "(unsqueeze, None).",
	.needs = "no difference of a prediction and a target was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE_END,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SUBTRACT) | WTI_CALLEE_SET(WTI_CALLEE_DISTANCE),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct hashes)}},
	.see = see_broadcast,
};

/* ---- WT-LOSS-003: in half precision --------------------------------------------------------- */

static enum wti_answer see_half(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_value_row *loss = wti_call_tensor(moment->call, false, 0);

	if (!loss || loss->digest.count != 1)
		return WTI_RULE_NO_CASE;
	if (!wti_dtype_is_half(loss->digest.dtype))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, 0, "backward() is called on a loss in %s",
			    loss->digest.dtype == WT_DTYPE_F16 ? "float16" : "bfloat16");
}

const struct wti_rule wti_rule_loss_003 = {
	.code = "WT-LOSS-003",
	.severity = WT_WARNING,
	.title = "the loss is computed in half precision",
	.means = "it has two or three decimal digits; sums over many elements stop growing, and "
		 "small losses vanish",
	.hint = "convert before the loss: loss_function(output.float(), target)",
	.definition = "The tensor on which backward() is called is not float16 or bfloat16. A case "
		      "is a call of backward() on one number.",
	.innocent = "Models that are in half precision as a whole, on purpose.",
	.needs = "backward() was never called on a recorded loss",
	.moments = WTI_MOMENT_BACKWARD,
	.see = see_half,
};

/* ---- WT-LOSS-004: not logarithms of probabilities ------------------------------------------- */

enum { LOGARITHMS_IN_A_ROW, LOGARITHMS_BEYOND, LOGARITHMS_ROUNDING };

static enum wti_answer see_logarithms(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	/* Probabilities are another rule's. */
	if (!wti_value_is_measured(input) ||
	    are_probabilities(moment, input, wti_threshold_real(account, LOGARITHMS_ROUNDING)))
		return WTI_RULE_NO_CASE;
	if (input->digest.max <= wti_threshold_real(account, LOGARITHMS_BEYOND))
		return WTI_RULE_HELD;
	return wti_violated(
		account, moment, moment->call->callee,
		"the loss expects log-probabilities, which are at most 0; its input reaches %.3g",
		input->digest.max);
}

const struct wti_rule wti_rule_loss_004 = {
	.code = "WT-LOSS-004",
	.severity = WT_WARNING,
	.title = "nll_loss is given something other than logarithms of probabilities",
	.means = "log_softmax is missing: the loss falls without end as outputs grow, whether they "
		 "are right or not",
	.hint = "give nll_loss log_softmax(output, dim=1), or use cross_entropy",
	.definition = "The input of nll_loss has no element above `beyond`, unless it consists of "
		      "probabilities (WT-LOSS-001). Two calls of one line in a row are a "
		      "violation. A case is a call.",
	.innocent = "Logarithms of densities, which can be positive.",
	.needs = "no nll_loss with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_NLL),
	.keeps = {{WTI_PER_LINE, 0}},
	.see = see_logarithms,
	.thresholds = {{WTI_IN_A_ROW, 2, "a function may be tried out once with other numbers"},
		       {"beyond", 1e-3,
			"the logarithm of a probability near 1 that half precision rounded up"},
		       {"rounding", 1e-4, "as in WT-LOSS-001"}},
};

/* ---- WT-LOSS-005: a sigmoid twice ----------------------------------------------------------- */

static bool has_several(const struct wti_value_row *value)
{
	return value && !(value->digest.flags & WT_TENSOR_NO_HASH) && value->digest.count > 1;
}

/* Of a process: what sigmoids returned. */
static enum wti_answer see_squashed(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;

	if (call->what == WTI_CALLEE_SIGMOID) {
		if (has_several(wti_call_tensor(call, true, 0)))
			add_result(kept, call);
		return WTI_RULE_NO_CASE;
	}
	input = wti_call_tensor(call, false, 0);
	if (!has_several(input))
		return WTI_RULE_NO_CASE;
	if (!has_hash(kept, input))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "its input is what a sigmoid has just returned");
}

const struct wti_rule wti_rule_loss_005 = {
	.code = "WT-LOSS-005",
	.severity = WT_ERROR,
	.title = "a sigmoid is applied before a loss that applies one itself",
	.means = "predictions can only lie between 0.5 and 0.73: gradients are flat, and the loss "
		 "cannot come near zero",
	.hint = "leave out the sigmoid, or use binary_cross_entropy, which expects probabilities",
	.definition =
		"The input of binary_cross_entropy_with_logits is not what one of the last eight "
		"sigmoids returned, to the bit. Two calls in a row are a violation. A case is a "
		"call with two elements or more.",
	.innocent = "None is known.",
	.needs = "no binary_cross_entropy_with_logits with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SIGMOID) | WTI_CALLEE_SET(WTI_CALLEE_BINARY),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct hashes)}},
	.see = see_squashed,
	.thresholds = {{WTI_IN_A_ROW, 2, "tensors of few elements may be equal once by chance"}},
};

/* ---- WT-LOSS-006: over the batch ------------------------------------------------------------ */

/* A function that normalises over the first of two axes. */
static bool is_over_rows(const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	double axis = -1;

	if (!input || wti_value_shape(moment, input).rank != 2)
		return false;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "dim"), 1,
			   &axis);
	return axis == 0 || axis == -2;
}

/* Of a process: what such functions returned. */
static enum wti_answer see_over_rows(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;
	struct wti_shape shape;

	if (call->what == WTI_CALLEE_SOFTMAX) {
		if (has_several(wti_call_tensor(call, true, 0)) && is_over_rows(moment))
			add_result(kept, call);
		return WTI_RULE_NO_CASE;
	}
	input = wti_call_tensor(call, false, 0);
	if (!input || input->digest.flags & WT_TENSOR_NO_HASH)
		return WTI_RULE_NO_CASE;
	shape = wti_value_shape(moment, input);
	if (shape.rank != 2 || shape.extents[0] < 2)
		return WTI_RULE_NO_CASE;
	if (!has_hash(kept, input))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "its input was normalised along axis 0, over %llu rows",
			    (unsigned long long)shape.extents[0]);
}

const struct wti_rule wti_rule_loss_006 = {
	.code = "WT-LOSS-006",
	.severity = WT_ERROR,
	.title = "a softmax normalises over the batch instead of the classes",
	.means = "rows compete with each other: what the model predicts for one row depends on "
		 "the others in the batch",
	.hint = "normalise over the classes: log_softmax(output, dim=1)",
	.definition =
		"The input of nll_loss, of two axes, is not what one of the last eight calls of "
		"log_softmax along axis 0 returned. Two calls in a row are a violation. A case is "
		"a call with two rows or more.",
	.innocent = "None is known: nll_loss takes the classes from axis 1.",
	.needs = "no nll_loss with a measured input of two axes was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SOFTMAX) | WTI_CALLEE_SET(WTI_CALLEE_NLL),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct hashes)}},
	.see = see_over_rows,
	.thresholds = {{WTI_IN_A_ROW, 2, "tensors of few elements may be equal once by chance"}},
};
