/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about units of a layer: that they differ. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"

/* ---- WT-INIT-003: all units are one --------------------------------------------------------- */

enum { IN_A_ROW, UNITS, ROUNDING };

static bool is_one_value(const struct wti_digest_row *digest, double rounding)
{
	double largest = fmax(fabs(digest->min), fabs(digest->max));

	return largest > 0 && digest->max - digest->min <= rounding * largest;
}

/* A bias has one element a unit: it and its gradient show whether the units do the same. */
static enum wti_answer see_units(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_parameter *bias = moment->parameter;
	struct wti_shape shape = wti_shape_read(wti_moment_text(moment, bias->shape));
	double rounding = wti_threshold_real(account, ROUNDING);

	if (shape.rank != 1 || shape.extents[0] < wti_threshold(account, UNITS) ||
	    !bias->requires_grad || !bias->moved || bias->grad != WTI_GRAD_NONZERO ||
	    !bias->has_statistics || !bias->has_grad_statistics)
		return WTI_RULE_NO_CASE;
	if (!is_one_value(&bias->statistics, rounding) ||
	    !is_one_value(&bias->grad_statistics, rounding))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, bias->name,
			    "after %llu steps all %llu elements of %s are still %.6g, and their "
			    "gradients all %.4g",
			    (unsigned long long)bias->step_count,
			    (unsigned long long)shape.extents[0],
			    wti_moment_text(moment, bias->name), bias->statistics.max,
			    bias->grad_statistics.max);
}

const struct wti_rule wti_rule_init_003 = {
	.code = "WT-INIT-003",
	.severity = WT_WARNING,
	.title = "all units of a layer compute the same thing",
	.means = "its weights began with one value: every unit gets the same gradient and stays "
		 "equal to the others, so the layer is effectively one unit wide",
	.hint = "initialise weights at random: nn.init.kaiming_uniform_(), or leave torch's own",
	.definition =
		"A vector of at least `units` elements, with a gradient other than zero, that its "
		"optimizer moves does not consist of one value, with a gradient of one value, in "
		"four steps in a row. A case is such a vector in a step.",
	.innocent = "A vector of which the model uses only the mean.",
	.needs = "no vector with statistics of it and of its gradient was moved",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, 0}},
	.see = see_units,
	.thresholds = {{WTI_IN_A_ROW, 4,
			"units with different outgoing weights become different within a few "
			"steps"},
		       {"units", 4, "two or three numbers may be equal by chance"},
		       {"rounding", 1e-5,
			"sums of the same numbers in another order differ by it"}},
};
