/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about steps that are made of several backward() calls. */
#include "inspect/judge/rule.h"
#include "inspect/training/window.h"

/* ---- WT-ACC-001: summed where a mean was meant ---------------------------------------------- */

static enum wti_answer judge_undivided(struct wti_case *account, const struct wti_window *window,
				       const struct wti_moment *moment)
{
	if (!wti_window_is_accumulation(window))
		return WTI_RULE_NO_CASE;
	if (window->mean_count < window->count)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "%u backward() calls of one line before the step, each on a mean that "
			    "was not divided",
			    window->count);
}

static enum wti_answer see_undivided(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	enum wti_answer answer = WTI_RULE_NO_CASE;

	if (wti_window_see(kept, moment)) {
		answer = judge_undivided(account, kept, moment);
		wti_window_begin(kept);
	}
	return answer;
}

const struct wti_rule wti_rule_acc_001 = {
	.code = "WT-ACC-001",
	.severity = WT_WARNING,
	.title = "losses of micro-batches are summed without being divided",
	.means = "the gradient is larger by a factor of the number of micro-batches: the "
		 "effective learning rate is not the one that was set",
	.hint = "divide the loss by the number of micro-batches before backward()",
	.definition =
		"If a step follows two or more backward() calls of the same line, the loss of at "
		"least one of them is not the immediate result of a mean (a loss function or "
		"mean()), or gradients are divided afterwards, or a model was not called with "
		"another input before each of them: then they are losses of one batch, whose sum "
		"is meant. Two steps in a row are a violation. A case is such a step.",
	.innocent = "A learning rate that was chosen for the sum.",
	.needs = "no step followed several backward() calls of one line with a recorded loss",
	.moments = WTI_WINDOW_MOMENTS,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_window)}},
	.see = see_undivided,
	.thresholds = {{WTI_IN_A_ROW, 2, "the last step of an epoch may use what was left over"}},
};

/* ---- WT-ACC-002: of unequal weight ---------------------------------------------------------- */

enum { UNEQUAL_IN_A_ROW, UNEQUAL_TIMES };

static enum wti_answer judge_unequal(struct wti_case *account, const struct wti_window *window,
				     const struct wti_moment *moment)
{
	if (!wti_window_is_accumulation(window) || window->weighed_count != window->count)
		return WTI_RULE_NO_CASE;
	if (window->largest <= wti_threshold_real(account, UNEQUAL_TIMES) * window->smallest)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "each of %u micro-batches was averaged by itself, over %.0f to %.0f "
			    "targets",
			    window->count, window->smallest, window->largest);
}

static enum wti_answer see_unequal(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	enum wti_answer answer = WTI_RULE_NO_CASE;

	if (wti_window_see(kept, moment)) {
		answer = judge_unequal(account, kept, moment);
		wti_window_begin(kept);
	}
	return answer;
}

const struct wti_rule wti_rule_acc_002 = {
	.code = "WT-ACC-002",
	.severity = WT_WARNING,
	.title = "micro-batches of very different sizes count equally",
	.means = "a target in a small micro-batch has many times the weight of one in a large "
		 "one: the mean of the means is not the mean of all targets",
	.hint = "sum the losses (reduction=\"sum\") and divide by the number of targets in all "
		"micro-batches",
	.definition =
		"If a step follows two or more backward() calls of the same line, each on a loss "
		"function that takes the mean, the largest number of targets in one is at most "
		"twice the smallest. Ignored targets are left out where ignore_index is 0. Two "
		"steps in a row are a violation. A case is such a step.",
	.innocent = "The last batch of a loader may be small; that is one step in an epoch.",
	.needs = "no step followed several backward() calls of one line with known targets",
	.moments = WTI_WINDOW_MOMENTS,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_window)}},
	.see = see_unequal,
	.thresholds = {{WTI_IN_A_ROW, 2,
			"the last batch of a loader may be small, once in an epoch"},
		       {"times", 2, "sequences of one batch differ that much in length by nature"}},
};
