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

enum { RETURNS_MAX = 4 }; /* of a model that are looked at */

#define TAKE_CLASSES (WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY) | WTI_CALLEE_SET(WTI_CALLEE_NLL))

static void note_returns(struct wti_recent *recent, const struct wti_call *call)
{
	const struct wti_value_row *value;

	for (uint32_t n = 0; n < RETURNS_MAX && (value = wti_call_tensor(call, true, n)); n++)
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

static enum wti_answer judge_torn(struct wti_case *account, const struct wti_recent *models,
				  const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_recent_tensor *given = wti_recent_find(models, input);
	struct wti_shape from, to;
	enum fate fate;

	if (!given)
		return WTI_RULE_NO_CASE;
	from = wti_shape_read(wti_moment_text(moment, given->shape));
	to = wti_value_shape(moment, input);
	if (from.rank < 3 || to.rank < 2 || to.extents[1] < 2)
		return WTI_RULE_NO_CASE;
	fate = fate_of_classes(&from, &to);
	if (fate != AXIS_TORN)
		return fate == AXIS_KEPT ? WTI_RULE_HELD : WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "the model returned %s, and the loss is given the same bytes as %s",
			    wti_moment_text(moment, given->shape),
			    wti_moment_text(moment, input->digest.shape));
}

/* Of a process: what models returned. */
static enum wti_answer see_torn(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_CALL)
		return judge_torn(account, kept, moment);
	if (wti_is_model_call(moment->call))
		note_returns(kept, moment->call);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_loss_007 = {
	.code = "WT-LOSS-007",
	.severity = WT_ERROR,
	.title = "the axes of a model's output are mixed up before the loss",
	.means = "view() or reshape() is used where permute() or transpose() is needed: a row of "
		 "the loss holds numbers of several positions, not the classes of one",
	.hint = "move the classes first: logits.permute(0, 2, 3, 1).reshape(-1, classes), or "
		"logits.transpose(1, 2)",
	.definition =
		"If cross_entropy or nll_loss is given the bytes that a model returned with three "
		"axes or more, in another shape, its classes lie along an axis of the model's "
		"result: one of the same length and the same stride. If the result has an axis of "
		"that length only elsewhere, it is a violation. A case is a call.",
	.innocent = "A model with as many positions as classes that returns the classes spread "
		    "over other axes.",
	.needs = "no loss with classes was given a model's result of three axes or more",
	.moments = WTI_MOMENT_MODULE_END | WTI_MOMENT_CALL,
	.callees = TAKE_CLASSES,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_recent)}},
	.see = see_torn,
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

static enum wti_answer judge_order(struct wti_case *account, const struct orders *orders,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	const struct wti_recent_tensor *given = wti_recent_find(&orders->models, input);
	const struct wti_recent_tensor *asked = wti_recent_find(&orders->targets, target);
	struct wti_shape from, rows;

	if (!given || !asked)
		return WTI_RULE_NO_CASE;
	from = wti_shape_read(wti_moment_text(moment, given->shape));
	rows = wti_shape_read(wti_moment_text(moment, asked->shape));
	if (from.rank != 3 || from.extents[0] == from.extents[1])
		return WTI_RULE_NO_CASE;
	if (from.extents[0] == rows.extents[0] && from.extents[1] == rows.extents[1])
		return WTI_RULE_HELD;
	if (from.extents[0] != rows.extents[1] || from.extents[1] != rows.extents[0])
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "predictions were flattened from %s, targets from %s",
			    wti_moment_text(moment, given->shape),
			    wti_moment_text(moment, asked->shape));
}

static enum wti_answer see_order(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct orders *orders = kept;

	if (moment->type == WTI_MOMENT_CALL) {
		if (TAKE_CLASSES & WTI_CALLEE_SET(moment->call->what))
			return judge_order(account, orders, moment);
		note_flattened(orders, moment);
	} else if (wti_is_model_call(moment->call)) {
		note_returns(&orders->models, moment->call);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_loss_008 = {
	.code = "WT-LOSS-008",
	.severity = WT_ERROR,
	.title = "predictions and targets are flattened in different orders",
	.means = "one of them has the batch first and the other the time: each prediction is "
		 "compared with the target of another position",
	.hint = "bring both to one order first: logits.transpose(0, 1), or batch_first=True",
	.definition =
		"If cross_entropy or nll_loss is given the bytes of a model's result of three "
		"axes and a vector of targets that was made from a matrix with the same bytes, "
		"the first two axes of the result are those of the matrix, in the same order. A "
		"case is a call.",
	.innocent = "None is known.",
	.needs = "no loss was given a model's result of three axes and flattened targets",
	.moments = WTI_MOMENT_MODULE_END | WTI_MOMENT_CALL,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct orders)}},
	.see = see_order,
};

/* ---- WT-OUT-002: normalised over the batch -------------------------------------------------- */

enum { ALONG_IN_A_ROW, ALONG_ROUNDING };

enum along { ALONG_NEITHER, ALONG_ROWS, ALONG_BATCH };

/*
 * Of a matrix: probabilities have a mean of one by the length of what adds up to 1, and vectors of
 * length 1 a sum of squares that is their number.
 */
static enum along along_of(const struct wti_moment *moment, const struct wti_value_row *value,
			   double rounding)
{
	const struct wti_digest_row *digest = &value->digest;
	struct wti_shape shape = wti_value_shape(moment, value);
	double rows, columns, of_rows, of_columns;

	if (shape.rank != 2 || !wti_value_is_measured(value) || digest->min == digest->max)
		return ALONG_NEITHER;
	rows = (double)shape.extents[0];
	columns = (double)shape.extents[1];
	if (rows < 2 || columns < 2 || shape.extents[0] == shape.extents[1] ||
	    digest->min < -1 - rounding || digest->max > 1 + rounding)
		return ALONG_NEITHER;
	if (digest->min >= 0) {
		of_rows = digest->mean * columns;
		of_columns = digest->mean * rows;
	} else {
		double squares = digest->m2 + (double)digest->count * digest->mean * digest->mean;

		of_rows = squares / rows;
		of_columns = squares / columns;
	}
	if (fabs(of_rows - 1) <= rounding)
		return ALONG_ROWS;
	return fabs(of_columns - 1) <= rounding ? ALONG_BATCH : ALONG_NEITHER;
}

static bool has_rows_of_input(const struct wti_moment *moment, const struct wti_value_row *result)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	return input && wti_value_shape(moment, input).extents[0] ==
				wti_value_shape(moment, result).extents[0];
}

static enum wti_answer judge_along(struct wti_case *account, const struct wti_recent *functions,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	const struct wti_recent_tensor *made = wti_recent_find(functions, result);
	double rounding = wti_threshold_real(account, ALONG_ROUNDING);
	enum along along = result ? along_of(moment, result, rounding) : ALONG_NEITHER;
	struct wti_call call = wti_moment_call(moment);
	struct wti_moment there = *moment;

	if (along == ALONG_NEITHER || !has_rows_of_input(moment, result))
		return WTI_RULE_NO_CASE;
	if (along == ALONG_ROWS)
		return WTI_RULE_HELD;
	if (made) { /* the line that normalised, not the one that called the model */
		call.site = made->site;
		call.callee = made->callee;
	}
	there.call = &call;
	return wti_violated(account, &there, moment->call->object,
			    "of what the model returned, %s, each column is normalised, and not "
			    "each row",
			    wti_moment_text(moment, result->digest.shape));
}

/* Of a process: what softmax and normalize returned. */
static enum wti_answer see_along(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	if (moment->type == WTI_MOMENT_CALL)
		wti_recent_add(kept, call, wti_call_tensor(call, true, 0), 0);
	else if (wti_is_model_call(call) && call->flags & WT_CALL_GRAD &&
		 call->flags & WT_CALL_TRAIN)
		return judge_along(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_out_002 = {
	.code = "WT-OUT-002",
	.severity = WT_WARNING,
	.title = "a model's output is normalised over the batch",
	.means = "rows compete with each other: what the model predicts for one row depends on "
		 "the others in the batch",
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
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SOFTMAX) | WTI_CALLEE_SET(WTI_CALLEE_NORMALIZE),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_recent)}},
	.see = see_along,
	.thresholds = {{WTI_IN_A_ROW, 2, "a matrix of few numbers may have such a mean once"},
		       {"rounding", 1e-4,
			"how far sums may be from 1: what rounding leaves in the mean of them "
			"all"}},
};
