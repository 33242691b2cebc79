/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about axes: that what a model gives reaches its loss in the order in which it was made, and
 * is normalised along the axis that was meant. A tensor that was reshaped has the same bytes in
 * another shape, so that both shapes together say what became of each axis.
 */
#include <math.h>

#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool takes_classes(const struct wti_call *call)
{
	return call->what == WTI_CALLEE_CROSS_ENTROPY || call->what == WTI_CALLEE_NLL;
}

static bool is_model(const struct wti_call *call)
{
	return call->flags & WTI_CALL_OUTERMOST && call->what == WTI_CALLEE_OTHER;
}

static void note_returns(struct wti_recent *recent, const struct wti_call *call)
{
	const struct wti_value_row *value;

	for (uint32_t n = 0; n < 4 && (value = wti_call_tensor(call, true, n)); n++)
		wti_recent_add(recent, call, value, 0);
}

/* How many elements lie between two neighbours along an axis. */
static uint64_t stride_of(const struct wti_shape *shape, uint32_t axis)
{
	uint64_t stride = 1;

	for (uint32_t i = axis + 1; i < shape->rank; i++)
		stride *= shape->extents[i];
	return stride;
}

/* ---- WT-LOSS-007: classes along another axis ------------------------------------------------ */

enum fate { AXIS_GONE, AXIS_KEPT, AXIS_TORN };

/* What became of the axis of classes of a loss in the tensor that it is a reshaping of. */
static enum fate fate_of_classes(const struct wti_shape *given, const struct wti_shape *loss)
{
	uint64_t classes = loss->extents[1], stride = stride_of(loss, 1);
	enum fate fate = AXIS_GONE;

	for (uint32_t i = 1; i < given->rank; i++) {
		if (given->extents[i] != classes)
			continue;
		if (stride_of(given, i) == stride)
			return AXIS_KEPT;
		fate = AXIS_TORN;
	}
	return fate;
}

static void see_torn(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct wti_recent *models = wti_slot(state, moment->process->stream, sizeof(*models));
	const struct wti_recent_tensor *given;
	const struct wti_value_row *input;
	struct wti_shape from, to;
	enum fate fate;

	if (!models)
		return;
	if (moment->type == WTI_MOMENT_MODULE_END && is_model(moment->call))
		note_returns(models, moment->call);
	if (moment->type != WTI_MOMENT_CALL || !takes_classes(moment->call))
		return;
	input = wti_call_tensor(moment->call, false, 0);
	given = wti_recent_find(models, input);
	if (!given)
		return;
	from = wti_shape_read(wti_moment_text(moment, given->shape));
	to = wti_value_shape(moment, input);
	if (from.rank < 3 || to.rank < 2 || to.extents[1] < 2)
		return;
	fate = fate_of_classes(&from, &to);
	if (fate == AXIS_KEPT)
		wti_held(account);
	else if (fate == AXIS_TORN)
		wti_violated(account, moment, moment->call->callee,
			     "the model returned %s, and the loss is given the same bytes as %s",
			     wti_moment_text(moment, given->shape),
			     wti_moment_text(moment, input->digest.shape));
}

const struct wti_rule wti_rule_loss_007 = {
	.code = "WT-LOSS-007",
	.severity = WT_ERROR,
	.title = "a loss is given what a model returned, with its axes mixed up",
	.means = "view() or reshape() stands where permute() or transpose() belongs: a row of the "
		 "loss holds numbers of several positions, not the classes of one",
	.hint = "move the classes first: logits.permute(0, 2, 3, 1).reshape(-1, classes), or "
		"logits.transpose(1, 2)",
	.definition =
		"If cross_entropy or nll_loss is given the bytes that a model returned with three "
		"axes or more, in another shape, its classes lie along an axis of the model's "
		"result: of the same extent and with as many elements between neighbours. If the "
		"result has an axis of that extent only elsewhere, it is a violation. A case is "
		"a call.",
	.innocent = "A model whose positions happen to be as many as the classes, and that returns "
		    "the classes unfolded over other axes.",
	.needs = "no loss with classes was given a model's result of three axes or more",
	.moments = WTI_MOMENT_MODULE_END | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_torn,
	.release = release_slots,
};

/* ---- WT-LOSS-008: predictions and targets in another order ---------------------------------- */

struct orders {
	struct wti_recent models;  /* what they returned */
	struct wti_recent targets; /* integers that were flattened: the shape before */
};

/* A matrix of integers becomes a vector with the same bytes. */
static void note_flattened(struct orders *orders, const struct wti_moment *moment)
{
	const struct wti_value_row *from = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *to = wti_call_tensor(moment->call, true, 0);

	if (from && to && wti_dtype_is_integer(from->digest.dtype) &&
	    from->digest.hash == to->digest.hash && wti_value_shape(moment, from).rank == 2 &&
	    wti_value_shape(moment, to).rank == 1)
		wti_recent_add(&orders->targets, moment->call, from, 0);
}

static void judge_order(struct wti_case *account, const struct orders *orders,
			const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	const struct wti_recent_tensor *given = wti_recent_find(&orders->models, input);
	const struct wti_recent_tensor *asked = wti_recent_find(&orders->targets, target);
	struct wti_shape from, rows;

	if (!given || !asked)
		return;
	from = wti_shape_read(wti_moment_text(moment, given->shape));
	rows = wti_shape_read(wti_moment_text(moment, asked->shape));
	if (from.rank != 3 || from.extents[0] == from.extents[1])
		return;
	if (from.extents[0] == rows.extents[0] && from.extents[1] == rows.extents[1])
		wti_held(account);
	else if (from.extents[0] == rows.extents[1] && from.extents[1] == rows.extents[0])
		wti_violated(account, moment, moment->call->callee,
			     "predictions were flattened from %s, targets from %s",
			     wti_moment_text(moment, given->shape),
			     wti_moment_text(moment, asked->shape));
}

static void see_order(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct orders *orders = wti_slot(state, moment->process->stream, sizeof(*orders));

	if (!orders)
		return;
	if (moment->type == WTI_MOMENT_MODULE_END) {
		if (is_model(moment->call))
			note_returns(&orders->models, moment->call);
	} else if (takes_classes(moment->call)) {
		judge_order(account, orders, moment);
	} else {
		note_flattened(orders, moment);
	}
}

const struct wti_rule wti_rule_loss_008 = {
	.code = "WT-LOSS-008",
	.severity = WT_ERROR,
	.title = "predictions and targets are flattened in different orders",
	.means = "one of them has the batch first and the other the time: each prediction is "
		 "compared with the target of another place",
	.hint = "bring both to one order first: logits.transpose(0, 1), or batch_first=True",
	.definition =
		"If cross_entropy or nll_loss is given the bytes of a model's result of three axes "
		"and a vector of targets that was made from a matrix with the same bytes, the "
		"first two axes of the result are those of the matrix, and not the other way "
		"round. A case is a call.",
	.innocent = "None is known.",
	.needs = "no loss was given a model's result of three axes and flattened targets",
	.moments = WTI_MOMENT_MODULE_END | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_order,
	.release = release_slots,
};

/* ---- WT-OUT-002: normalised over the batch -------------------------------------------------- */

enum { CALLS_TO_TELL = 2 };

enum along { ALONG_NEITHER, ALONG_ROWS, ALONG_BATCH };

struct normalised {
	struct wti_recent functions; /* what softmax and normalize returned */
	uint32_t streak;
};

static bool is_near(double value, double expected)
{
	return fabs(value - expected) <= 1e-4 * expected;
}

/*
 * Of a matrix: probabilities have a mean of one by the length of what adds up to 1, and vectors of
 * length 1 a sum of squares that is their number.
 */
static enum along along_of(const struct wti_moment *moment, const struct wti_value_row *value)
{
	const struct wti_digest_row *digest = &value->digest;
	struct wti_shape shape = wti_value_shape(moment, value);
	double rows, columns, squares;

	if (shape.rank != 2 || digest->flags & WTI_TENSOR_NO_STATISTICS || !digest->count ||
	    digest->min == digest->max)
		return ALONG_NEITHER;
	rows = (double)shape.extents[0];
	columns = (double)shape.extents[1];
	if (rows < 2 || columns < 2 || shape.extents[0] == shape.extents[1])
		return ALONG_NEITHER;
	if (digest->min >= 0 && digest->max <= 1 + 1e-6) {
		if (is_near(digest->mean * columns, 1))
			return ALONG_ROWS;
		return is_near(digest->mean * rows, 1) ? ALONG_BATCH : ALONG_NEITHER;
	}
	squares = digest->m2 + (double)digest->count * digest->mean * digest->mean;
	if (digest->min < -1 - 1e-6 || digest->max > 1 + 1e-6)
		return ALONG_NEITHER;
	if (is_near(squares, rows))
		return ALONG_ROWS;
	return is_near(squares, columns) ? ALONG_BATCH : ALONG_NEITHER;
}

static bool has_rows_of_input(const struct wti_moment *moment, const struct wti_value_row *result)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	return input && wti_value_shape(moment, input).extents[0] ==
				wti_value_shape(moment, result).extents[0];
}

static void judge_along(struct wti_case *account, struct normalised *normalised,
			const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	const struct wti_recent_tensor *made = wti_recent_find(&normalised->functions, result);
	enum along along = result ? along_of(moment, result) : ALONG_NEITHER;
	struct wti_call call = *moment->call;
	struct wti_moment there = *moment;

	if (along == ALONG_NEITHER || !has_rows_of_input(moment, result))
		return;
	if (along == ALONG_ROWS) {
		normalised->streak = 0;
		wti_held(account);
		return;
	}
	if (++normalised->streak < CALLS_TO_TELL)
		return;
	if (made) { /* the line that normalised, not the one that called the model */
		call.site = made->site;
		call.callee = made->callee;
	}
	there.call = &call;
	wti_violated(account, &there, moment->call->object,
		     "of what the model returned, %s, each column is normalised, and not each row",
		     wti_moment_text(moment, result->digest.shape));
}

static void see_along(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct normalised *normalised =
		wti_slot(state, moment->process->stream, sizeof(*normalised));

	if (!normalised)
		return;
	if (moment->type == WTI_MOMENT_CALL) {
		if (moment->call->what == WTI_CALLEE_SOFTMAX ||
		    moment->call->what == WTI_CALLEE_NORMALIZE)
			wti_recent_add(&normalised->functions, moment->call,
				       wti_call_tensor(moment->call, true, 0), 0);
	} else if (is_model(moment->call) && moment->call->flags & WTI_CALL_GRAD &&
		   moment->call->flags & WTI_CALL_TRAINING) {
		judge_along(account, normalised, moment);
	}
}

const struct wti_rule wti_rule_out_002 = {
	.code = "WT-OUT-002",
	.severity = WT_WARNING,
	.title = "what a model returns is normalised over the batch",
	.means = "rows compete with each other: what the model says of one depends on which others "
		 "are in the batch",
	.hint = "normalise each row: softmax(x, dim=-1), normalize(x, dim=-1)",
	.definition =
		"A matrix that a model returns in training, with as many rows as its input, does "
		"not consist of columns that are probabilities and add up to 1, or of columns of "
		"length 1, where rows and columns differ in number. Two calls in a row are a "
		"violation. A case is a call whose result has such rows.",
	.innocent = "A model whose first axis is not the batch, such as one that spreads attention "
		    "over the nodes of a graph.",
	.needs = "no model returned rows of probabilities, or of length 1, in training",
	.moments = WTI_MOMENT_MODULE_END | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_along,
	.release = release_slots,
};
