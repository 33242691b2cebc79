/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about integers: that what is computed with them fits into their type. */
#include <math.h>

#include "inspect/judge/rule.h"

/* ---- WT-NUM-005: a result that wrapped around ----------------------------------------------- */

/* How many values there are of a small type; 0: of one that does not overflow by accident. */
static double values_of(uint32_t dtype)
{
	switch (dtype) {
	case WT_DTYPE_U8:
	case WT_DTYPE_I8:
		return 256;
	case WT_DTYPE_I16:
		return 65536;
	default:
		return 0;
	}
}

/* The mean of the other operand: of a tensor of the same shape, or a number. */
static bool operand_of(const struct wti_call *call, const struct wti_value_row *first,
		       double *ret_mean)
{
	const struct wti_value_row *other = wti_call_tensor(call, false, 1);

	if (!other)
		return wti_call_as_number(call, WTI_SYMBOL_NONE, 1, ret_mean);
	if (!wti_value_is_measured(other) || other->digest.shape != first->digest.shape)
		return false;
	*ret_mean = other->digest.mean;
	return true;
}

/* The mean that the result has if nothing wrapped; false: it does not follow from the means. */
static bool expected_mean(const struct wti_moment *moment, const struct wti_value_row *first,
			  double *ret_mean)
{
	const struct wti_call *call = moment->call;
	bool is_tensor = wti_call_tensor(call, false, 1);
	double other, mean = first->digest.mean;

	if (!operand_of(call, first, &other))
		return false;
	switch (call->what) {
	case WTI_CALLEE_ADD:
		*ret_mean = mean + other;
		return true;
	case WTI_CALLEE_SUBTRACT:
	case WTI_CALLEE_SUBTRACT_IN_PLACE:
		*ret_mean = mean - other;
		return true;
	case WTI_CALLEE_MULTIPLY:
		*ret_mean = mean * other;
		return !is_tensor;
	default:
		return false;
	}
}

static enum wti_answer see_wrapped(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *first = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	double expected, values;

	if (!wti_value_is_measured(first) || !wti_value_is_measured(result) ||
	    first->digest.count != result->digest.count)
		return WTI_RULE_NO_CASE;
	values = values_of(result->digest.dtype);
	if (values == 0 || !expected_mean(moment, first, &expected))
		return WTI_RULE_NO_CASE;
	/* Each element that wraps moves the sum by the number of values; k - x has the sign. */
	if (fabs(fabs(expected) - fabs(result->digest.mean)) * (double)result->digest.count <
	    values / 2)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "from %.0f to %.0f it becomes %.0f to %.0f, with a mean of %.4g "
			    "instead of %.4g",
			    first->digest.min, first->digest.max, result->digest.min,
			    result->digest.max, result->digest.mean, expected);
}

const struct wti_rule wti_rule_num_005 = {
	.code = "WT-NUM-005",
	.severity = WT_WARNING,
	.title = "small integers wrap around",
	.means = "the result does not fit into the type: what should be a little below 0 becomes "
		 "255, and neighbours in value end up at opposite ends",
	.hint = "convert first: images.float() - 128, images.int() + 1",
	.definition =
		"The sum, the difference, or the product with a number, of tensors of uint8, int8 "
		"or int16 whose result has the same type, has the mean that follows from the "
		"means of the operands. A case is such a call.",
	.innocent = "Checksums, random numbers and differences that are meant to wrap.",
	.needs = "nothing was added, subtracted or multiplied in a small integer type",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_ADD) | WTI_CALLEE_SET(WTI_CALLEE_SUBTRACT) |
		   WTI_CALLEE_SET(WTI_CALLEE_SUBTRACT_IN_PLACE) |
		   WTI_CALLEE_SET(WTI_CALLEE_MULTIPLY),
	.see = see_wrapped,
};
