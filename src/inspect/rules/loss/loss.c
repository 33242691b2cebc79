/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about losses: that they are given what they expect, in a type that can hold them. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static struct wti_shape shape_of(const struct wti_moment *moment, const struct wti_value_row *value)
{
	return wti_shape_read(wti_moment_text(moment, value->digest.shape));
}

/* ---- WT-LOSS-001: probabilities instead of logits ------------------------------------------- */

enum { CALLS_TO_TELL = 2 };

/*
 * Rows that add up to one: not negative, and with the mean that they must have. Classes stand along
 * the second axis, where the loss does not leave that open along the last.
 */
static bool are_probabilities(const struct wti_moment *moment, const struct wti_value_row *input,
			      bool is_last)
{
	struct wti_shape shape = shape_of(moment, input);
	double classes;

	if (shape.rank < 2)
		return false;
	classes = (double)shape.extents[is_last ? shape.rank - 1 : 1];
	if (classes < 2)
		return false;
	return input->digest.min >= 0 && input->digest.max <= 1 + 1e-6 &&
	       input->digest.min < input->digest.max &&
	       fabs(input->digest.mean * classes - 1) < 1e-4;
}

static void see_probabilities(struct wti_case *account, void *state,
			      const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;
	uint32_t *streak;

	if (call->what != WTI_CALLEE_CROSS_ENTROPY && call->what != WTI_CALLEE_NLL &&
	    call->what != WTI_CALLEE_DIVERGENCE)
		return;
	input = wti_call_tensor(call, false, 0);
	if (!wti_value_is_measured(input))
		return;
	streak = wti_slot(state, wti_line_of(call), sizeof(*streak));
	if (!streak)
		return;
	if (!are_probabilities(moment, input, call->what == WTI_CALLEE_DIVERGENCE)) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, call->callee,
			     "its input lies between %.3g and %.3g and its rows add up to 1",
			     input->digest.min, input->digest.max);
	}
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
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_probabilities,
	.release = release_slots,
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
	struct wti_shape left = shape_of(moment, a), right = shape_of(moment, b);

	if (left.rank != 2 || right.rank != 1 || !is_column(&left))
		return false;
	return left.extents[0] == right.extents[0];
}

static bool is_one_predicted(const struct wti_value_row *a, const struct wti_value_row *b)
{
	return (a->digest.flags ^ b->digest.flags) & WTI_TENSOR_REQUIRES_GRAD;
}

enum { PREDICTIONS_MAX = 8 };

/* What models returned last, a ring. */
struct predictions {
	uint64_t hashes[PREDICTIONS_MAX];
	uint64_t count;
};

static void note_prediction(struct predictions *predictions, const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);

	if (moment->call->flags & WTI_CALL_OUTERMOST && result &&
	    !(result->digest.flags & WTI_TENSOR_NO_HASH))
		predictions->hashes[predictions->count++ % PREDICTIONS_MAX] = result->digest.hash;
}

static bool is_prediction(const struct predictions *predictions, const struct wti_value_row *value)
{
	for (uint64_t i = 0; i < PREDICTIONS_MAX && i < predictions->count; i++)
		if (predictions->hashes[i] == value->digest.hash)
			return value->digest.flags & WTI_TENSOR_REQUIRES_GRAD;
	return false;
}

static void see_broadcast(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *a, *b;

	if (moment->type == WTI_MOMENT_MODULE_END) {
		note_prediction(state, moment);
		return;
	}
	if (call->what != WTI_CALLEE_SUBTRACT && call->what != WTI_CALLEE_DISTANCE)
		return;
	a = wti_call_tensor(call, false, 0);
	b = wti_call_tensor(call, false, 1);
	if (!a || !b || !is_one_predicted(a, b) ||
	    (!is_prediction(state, a) && !is_prediction(state, b)))
		return;
	if (broadcasts(moment, a, b) || broadcasts(moment, b, a))
		wti_violated(account, moment, call->callee,
			     "shapes %s and %s give a matrix: each prediction with each target",
			     wti_moment_text(moment, a->digest.shape),
			     wti_moment_text(moment, b->digest.shape));
	else
		wti_held(account);
}

const struct wti_rule wti_rule_loss_002 = {
	.code = "WT-LOSS-002",
	.severity = WT_ERROR,
	.title = "predictions and targets broadcast against each other",
	.means = "every prediction is compared with every target: the model learns the mean of all "
		 "targets",
	.hint = "give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)",
	.definition =
		"A difference or a loss of what a model has just returned and of a tensor that "
		"does "
		"not require a gradient is not of a column of N rows and a vector of N, N above 1. "
		"A case is such a call.",
	.innocent = "Differences of all pairs on purpose, written without an axis of one's own.",
	.needs = "no difference of a prediction and a target was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct predictions),
	.watch = see_broadcast,
};

/* ---- WT-LOSS-003: in half precision --------------------------------------------------------- */

static void see_half(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *loss = wti_call_tensor(moment->call, false, 0);
	uint32_t dtype = loss ? loss->digest.dtype : 0;

	if (!loss || loss->digest.count != 1)
		return;
	if (dtype == WT_DTYPE_F16 || dtype == WT_DTYPE_BF16)
		wti_violated(account, moment, 0, "backward() is called on a loss in %s",
			     dtype == WT_DTYPE_F16 ? "float16" : "bfloat16");
	else
		wti_held(account);
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
	.watch = see_half,
};

/* ---- WT-LOSS-004: no logarithms of probabilities -------------------------------------------- */

static void see_logarithms(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;
	uint32_t *streak;

	if (call->what != WTI_CALLEE_NLL)
		return;
	input = wti_call_tensor(call, false, 0);
	/* Probabilities are another rule's. */
	if (!wti_value_is_measured(input) || are_probabilities(moment, input, false))
		return;
	streak = wti_slot(state, wti_line_of(call), sizeof(*streak));
	if (!streak)
		return;
	if (input->digest.max <= 1e-3) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, call->callee,
			     "its input goes up to %.3g; a logarithm of a probability is at most 0",
			     input->digest.max);
	}
}

const struct wti_rule wti_rule_loss_004 = {
	.code = "WT-LOSS-004",
	.severity = WT_WARNING,
	.title = "nll_loss is given something else than logarithms of probabilities",
	.means = "log_softmax is missing: the loss falls without end as outputs grow, whether they "
		 "are right or not",
	.hint = "give nll_loss log_softmax(output, dim=1), or use cross_entropy",
	.definition = "The input of nll_loss has no element above 0.001, but for probabilities "
		      "(WT-LOSS-001). Two calls of one line in a row are a violation. A case is "
		      "a call.",
	.innocent = "Logarithms of densities, which can be positive.",
	.needs = "no nll_loss with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_logarithms,
	.release = release_slots,
};

/* ---- WT-LOSS-005: a sigmoid twice ----------------------------------------------------------- */

enum { SQUASHED_MAX = 8 };

/* What sigmoids returned last, a ring, and how often in a row a loss was given one of those. */
struct squashed {
	uint64_t hashes[SQUASHED_MAX];
	uint64_t count;
	uint32_t streak;
};

static void note_squashed(struct squashed *squashed, const struct wti_call *call)
{
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);

	if (result && !(result->digest.flags & WTI_TENSOR_NO_HASH) && result->digest.count > 1)
		squashed->hashes[squashed->count++ % SQUASHED_MAX] = result->digest.hash;
}

static bool is_squashed(const struct squashed *squashed, uint64_t hash)
{
	for (uint64_t i = 0; i < SQUASHED_MAX && i < squashed->count; i++)
		if (squashed->hashes[i] == hash)
			return true;
	return false;
}

static void see_squashed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct squashed *squashed = wti_slot(state, moment->process->stream, sizeof(*squashed));
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;

	if (!squashed)
		return;
	if (call->what == WTI_CALLEE_SIGMOID)
		note_squashed(squashed, call);
	if (call->what != WTI_CALLEE_BINARY)
		return;
	input = wti_call_tensor(call, false, 0);
	if (!input || input->digest.flags & WTI_TENSOR_NO_HASH || input->digest.count < 2)
		return;
	if (!is_squashed(squashed, input->digest.hash)) {
		squashed->streak = 0;
		wti_held(account);
	} else if (++squashed->streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, call->callee,
			     "its input is what a sigmoid has just returned");
	}
}

const struct wti_rule wti_rule_loss_005 = {
	.code = "WT-LOSS-005",
	.severity = WT_ERROR,
	.title = "a sigmoid is applied before a loss that applies one itself",
	.means = "predictions can only lie between 0.5 and 0.73: gradients are flat, and the loss "
		 "cannot come near zero",
	.hint = "leave the sigmoid away, or use binary_cross_entropy, which expects probabilities",
	.definition =
		"The input of binary_cross_entropy_with_logits is not what one of the last eight "
		"sigmoids returned, to the bit. Two calls in a row are a violation. A case is a "
		"call with two elements or more.",
	.innocent = "None is known.",
	.needs = "no binary_cross_entropy_with_logits with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_squashed,
	.release = release_slots,
};

/* ---- WT-LOSS-006: over the batch ------------------------------------------------------------ */

/* What functions that normalise over the first of two axes returned last. */
static bool is_over_rows(const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	double axis = -1;

	if (!input || shape_of(moment, input).rank != 2)
		return false;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "dim"), 1,
			   &axis);
	return axis == 0 || axis == -2;
}

static void see_over_rows(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct squashed *over = wti_slot(state, moment->process->stream, sizeof(*over));
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input;

	if (!over)
		return;
	if (call->what == WTI_CALLEE_SOFTMAX && is_over_rows(moment))
		note_squashed(over, call);
	if (call->what != WTI_CALLEE_NLL)
		return;
	input = wti_call_tensor(call, false, 0);
	if (!input || input->digest.flags & WTI_TENSOR_NO_HASH ||
	    shape_of(moment, input).rank != 2 || shape_of(moment, input).extents[0] < 2)
		return;
	if (!is_squashed(over, input->digest.hash)) {
		over->streak = 0;
		wti_held(account);
	} else if (++over->streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, call->callee,
			     "its input was normalised along axis 0, over %llu rows",
			     (unsigned long long)shape_of(moment, input).extents[0]);
	}
}

const struct wti_rule wti_rule_loss_006 = {
	.code = "WT-LOSS-006",
	.severity = WT_ERROR,
	.title = "a softmax goes over the batch instead of the classes",
	.means = "rows compete with each other: what the model says of one depends on which others "
		 "are in the batch",
	.hint = "normalise over the classes: log_softmax(output, dim=1)",
	.definition =
		"The input of nll_loss, of two axes, is not what one of the last eight calls of "
		"log_softmax along axis 0 returned. Two calls in a row are a violation. A case is "
		"a call with two rows or more.",
	.innocent = "None is known: nll_loss takes the classes from axis 1.",
	.needs = "no nll_loss with a measured input of two axes was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_over_rows,
	.release = release_slots,
};
