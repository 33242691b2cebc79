/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about loss scaling. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/lineage.h"

/* ---- WT-SCALE-001: keeps skipping ----------------------------------------------------------- */

enum { LOOKED_AT, LEAST_SCALE, TIMES_STUCK };
enum { LOOKED_AT_MAX = 32 }; /* bits */

struct skipping {
	struct wti_lineage lineage;
	bool is_scaled;  /* the last loss */
	bool is_waiting; /* a backward() that no step has used yet */
	uint32_t count;  /* of backward() calls with a scaled loss */
	uint32_t used;   /* a bit for each: was it used */
	double scale;    /* of the last loss; 0: not known */
	bool was_skipped;
	struct wti_patience stuck; /* skipped in a row, and the scale has not come down */
};

/* Multiplied by a power of two, as scalers do: by torch's own, or by one of the program's. */
static bool is_scaled(const struct wti_case *account, const struct skipping *skipping,
		      const struct wti_moment *moment, double *ret_scale)
{
	const struct wti_digest_row *loss = wti_backward_loss(moment->call);
	const struct wti_scalar *from =
		loss ? wti_lineage_find(&skipping->lineage, loss->hash) : NULL;
	int exponent;

	*ret_scale = from ? from->factor : 0;
	return *ret_scale >= wti_threshold_real(account, LEAST_SCALE) &&
	       frexp(*ret_scale, &exponent) == 0.5;
}

/* After a skipped step a scaler takes a smaller scale. */
static enum wti_answer judge_scale(struct wti_case *account, struct skipping *skipping,
				   const struct wti_moment *moment)
{
	double scale, before = skipping->scale;

	if (!is_scaled(account, skipping, moment, &scale) && !skipping->is_scaled)
		return WTI_RULE_NO_CASE;
	skipping->is_waiting = true;
	skipping->scale = scale;
	if (!skipping->was_skipped || scale <= 0 || scale < before) {
		skipping->stuck.count = 0;
		return WTI_RULE_NO_CASE;
	}
	if (!wti_waited(account, &skipping->stuck, moment, TIMES_STUCK))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, 0,
			    "%u steps in a row were skipped, and the scale of %g has not come down",
			    skipping->stuck.count, scale);
}

static enum wti_answer close_window(struct wti_case *account, struct skipping *skipping,
				    const struct wti_moment *moment, bool was_used)
{
	uint32_t among = (uint32_t)wti_threshold(account, LOOKED_AT), used;

	if (!skipping->is_waiting)
		return WTI_RULE_NO_CASE;
	if (among > LOOKED_AT_MAX)
		among = LOOKED_AT_MAX;
	skipping->is_waiting = false;
	skipping->was_skipped = !was_used;
	skipping->used = skipping->used << 1 | was_used;
	if (++skipping->count < among)
		return WTI_RULE_NO_CASE;
	used = (uint32_t)__builtin_popcountll(skipping->used & ((UINT64_C(1) << among) - 1));
	if (used * 2 >= among)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, 0,
			    "of the last %u scaled losses on which backward() was called, %u were "
			    "not followed by a step",
			    among, among - used);
}

static enum wti_answer see_skipping(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct skipping *skipping = kept;
	enum wti_answer answer = WTI_RULE_NO_CASE;

	switch (moment->type) {
	case WTI_MOMENT_BACKWARD:
		answer = judge_scale(account, skipping, moment);
		skipping->is_scaled = false;
		break;
	case WTI_MOMENT_ZERO_GRAD:
		answer = close_window(account, skipping, moment, false);
		break;
	case WTI_MOMENT_SCALER:
		skipping->is_scaled |= wti_call_tensor(moment->call, true, 0) != NULL;
		break;
	case WTI_MOMENT_STEP:
		answer = close_window(account, skipping, moment, true);
		break;
	default:
		wti_lineage_call(&skipping->lineage, moment);
	}
	return answer;
}

const struct wti_rule wti_rule_scale_001 = {
	.code = "WT-SCALE-001",
	.severity = WT_ERROR,
	.title = "a loss scaler keeps skipping steps",
	.means = "the scale does not come down: gradients overflow again and again, and most "
		 "batches train nothing",
	.hint = "call scaler.update() after scaler.step(); begin with a smaller scale; look for "
		"infinity in the activations",
	.definition =
		"Of the last sixteen losses that were multiplied by a scale (a loss scaler, or a "
		"power of two from 64 on) and on which backward() was called, at least half were "
		"followed by an optimizer's step before gradients were cleared; and after a "
		"skipped step the scale, where it is known, is smaller, unless that was the first "
		"of two skipped steps. A case is such a loss from the sixteenth on.",
	.innocent = "A few skipped steps in the beginning, while the scale is found.",
	.needs = "backward() was called on fewer than sixteen scaled losses",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_SCALER | WTI_MOMENT_BACKWARD | WTI_MOMENT_STEP |
		   WTI_MOMENT_ZERO_GRAD,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct skipping)}},
	.see = see_skipping,
	.thresholds = {{"losses", 16,
			"the scale may be halved a dozen times before it fits; at most 32"},
		       {"scale", 64, "smaller powers of two are weights of losses, not scales"},
		       {"stuck", 2,
			"skipped steps: the scale is updated after the step, so the first one "
			"still has the old scale"}},
};
