/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about steps that are made of several backward() calls. */
#include "inspect/judge/rule.h"
#include "inspect/training/window.h"

enum { WINDOWS_TO_TELL = 2 };

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-ACC-001: summed where a mean was meant ---------------------------------------------- */

static void see_undivided(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct wti_window *window = wti_window_see(state, moment);

	if (!window)
		return;
	if (wti_window_is_accumulation(window)) {
		if (window->mean_count < window->count) {
			window->streak = 0;
			wti_held(account);
		} else if (++window->streak >= WINDOWS_TO_TELL) {
			wti_violated(account, moment, moment->object->name,
				     "%u backward() calls of one line before the step, each on a "
				     "mean that was not divided",
				     window->count);
		}
	}
	wti_window_begin(window);
}

const struct wti_rule wti_rule_acc_001 = {
	.code = "WT-ACC-001",
	.severity = WT_WARNING,
	.title = "losses of micro-batches are added up without being divided",
	.means = "the gradient is as many times larger as there are micro-batches: the effective "
		 "learning rate is not the one that was set",
	.hint = "divide the loss by the number of micro-batches before backward()",
	.definition =
		"If a step follows two or more backward() calls of the same line, the loss of at "
		"least one of them is not the immediate result of a mean (a loss function or "
		"mean()), or gradients are divided afterwards. Two steps in a row are a "
		"violation. A case is such a step.",
	.innocent = "A learning rate that was chosen for the sum; tasks whose losses are meant to "
		    "be added up.",
	.needs = "no step followed several backward() calls of one line with a recorded loss",
	.moments =
		WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_undivided,
	.release = release_slots,
};

/* ---- WT-ACC-002: of unequal weight ---------------------------------------------------------- */

static void see_unequal(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct wti_window *window = wti_window_see(state, moment);

	if (!window)
		return;
	if (wti_window_is_accumulation(window) && window->weighed_count == window->count) {
		if (window->largest <= 2 * window->smallest) {
			window->streak = 0;
			wti_held(account);
		} else if (++window->streak >= WINDOWS_TO_TELL) {
			wti_violated(account, moment, moment->object->name,
				     "each of %u micro-batches was averaged by itself, over %.0f "
				     "to %.0f targets",
				     window->count, window->smallest, window->largest);
		}
	}
	wti_window_begin(window);
}

const struct wti_rule wti_rule_acc_002 = {
	.code = "WT-ACC-002",
	.severity = WT_WARNING,
	.title = "micro-batches of very different size weigh the same",
	.means = "a target in a small micro-batch counts for many times one in a large one: the "
		 "mean of means is not the mean",
	.hint = "sum the losses (reduction=\"sum\") and divide by the number of targets in all "
		"micro-batches",
	.definition =
		"If a step follows two or more backward() calls of the same line, each on a loss "
		"function that takes the mean, the largest number of targets in one is at most "
		"twice the smallest. Ignored targets are left out where ignore_index is 0. Two "
		"steps in a row are a violation. A case is such a step.",
	.innocent = "The last batch of a loader may be small; that is one step in an epoch.",
	.needs = "no step followed several backward() calls of one line with known targets",
	.moments =
		WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_unequal,
	.release = release_slots,
};
