/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about units of a layer: that they differ. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-INIT-003: all units are one --------------------------------------------------------- */

enum { UNITS_MIN = 4, STEPS_TO_TELL = 4 };
static const double rounding = 1e-5; /* sums of the same numbers in another order */

static bool is_one_value(const struct wti_digest_row *digest)
{
	double largest = fmax(fabs(digest->min), fabs(digest->max));

	return largest > 0 && digest->max - digest->min <= rounding * largest;
}

/* A bias has one element a unit: it and its gradient say whether the units do the same. */
static void see_unit(struct wti_case *account, struct wti_slots *streaks,
		     const struct wti_moment *moment, const struct wti_parameter *bias)
{
	struct wti_shape shape = wti_shape_read(wti_moment_text(moment, bias->shape));
	uint32_t *streak;

	if (shape.rank != 1 || shape.extents[0] < UNITS_MIN || !bias->requires_grad ||
	    !bias->moved || bias->grad != WTI_GRAD_NONZERO || !bias->has_statistics ||
	    !bias->has_grad_statistics)
		return;
	streak = wti_slot_of_parameter(streaks, bias, sizeof(*streak));
	if (!streak)
		return;
	if (!is_one_value(&bias->statistics) || !is_one_value(&bias->grad_statistics)) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= STEPS_TO_TELL) {
		wti_violated(account, moment, bias->name,
			     "after %llu steps all %llu elements of %s are still %.6g, and their "
			     "gradients all %.4g",
			     (unsigned long long)bias->step_count,
			     (unsigned long long)shape.extents[0],
			     wti_moment_text(moment, bias->name), bias->statistics.max,
			     bias->grad_statistics.max);
	}
}

static void see_units(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->object->member_count; i++)
		see_unit(account, state, moment,
			 wti_object_member(moment->training, moment->object, i));
}

const struct wti_rule wti_rule_init_003 = {
	.code = "WT-INIT-003",
	.severity = WT_WARNING,
	.title = "all units of a layer do the same",
	.means = "its weights began with one value: every unit gets the same gradient and stays "
		 "equal to the others, so that the layer is as good as one unit wide",
	.hint = "initialise weights at random: nn.init.kaiming_uniform_(), or leave torch's own",
	.definition =
		"A vector of four or more elements with a gradient other than zero that its "
		"optimizer moves does not consist of one value, with a gradient of one value, in "
		"four steps in a row. A case is such a vector in a step.",
	.innocent = "A vector of which the model uses the mean alone.",
	.needs = "no vector with statistics of it and of its gradient was moved",
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_units,
	.release = release_slots,
};
