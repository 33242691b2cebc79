/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what losses are given: values in the range that they are made for, and two things. */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"

/* ---- WT-LOSS-009: targets that are not probabilities ---------------------------------------- */

enum { OUTSIDE_IN_A_ROW, OUTSIDE_BEYOND };

static enum wti_answer see_outside(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	double beyond = wti_threshold_real(account, OUTSIDE_BEYOND);

	if (!wti_value_is_measured(target))
		return WTI_RULE_NO_CASE;
	if (target->digest.min >= -beyond && target->digest.max <= 1 + beyond)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "its targets go from %.3g to %.3g", target->digest.min,
			    target->digest.max);
}

const struct wti_rule wti_rule_loss_009 = {
	.code = "WT-LOSS-009",
	.severity = WT_ERROR,
	.title = "targets of a binary loss are below 0 or above 1",
	.means = "such a loss has no minimum: it falls below zero and keeps falling as outputs "
		 "grow. The labels are -1 and 1, or 1 and 2, or were never scaled",
	.hint = "map the labels to 0 and 1: (labels + 1) / 2",
	.definition =
		"The targets that binary_cross_entropy_with_logits is given lie between 0 and 1. "
		"Two calls of one line in a row are a violation. A case is a call.",
	.innocent = "None is known.",
	.needs = "no binary_cross_entropy_with_logits with measured targets was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_BINARY),
	.keeps = {{WTI_PER_LINE, 0}},
	.see = see_outside,
	.thresholds = {{WTI_IN_A_ROW, 2, "a function may be tried out once with other numbers"},
		       {"beyond", 1e-3, "half precision rounds by as much, near 1"}},
};

/* ---- WT-LOSS-010: logits that were cut off -------------------------------------------------- */

/* Of a process: what activation functions returned. */
static enum wti_answer see_cut(struct wti_case *account, void *kept,
			       const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_recent_tensor *made;
	const struct wti_value_row *input;

	if (call->what != WTI_CALLEE_CROSS_ENTROPY) {
		wti_recent_add(kept, call, wti_call_tensor(call, true, 0), 0);
		return WTI_RULE_NO_CASE;
	}
	input = wti_call_tensor(call, false, 0);
	if (!wti_value_is_measured(input))
		return WTI_RULE_NO_CASE;
	made = wti_recent_find(kept, input);
	if (!made)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "its input, from %.3g to %.3g, is what %s has just returned",
			    input->digest.min, input->digest.max,
			    wti_moment_text(moment, made->callee));
}

const struct wti_rule wti_rule_loss_010 = {
	.code = "WT-LOSS-010",
	.severity = WT_WARNING,
	.title = "logits go through an activation function before the loss",
	.means = "the last layer is treated as a hidden one: after a ReLU no logit can be below "
		 "zero, and classes that are cut off get no gradient; a sigmoid or tanh keeps all "
		 "logits close together",
	.hint = "leave out the activation after the last layer",
	.definition =
		"The input of cross_entropy is not what a relu, a tanh or a sigmoid returned, to "
		"the bit. Three calls in a row are a violation. A case is a call.",
	.innocent = "Logits that are kept within bounds on purpose.",
	.needs = "no cross_entropy with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_ACTIVATION) | WTI_CALLEE_SET(WTI_CALLEE_SIGMOID) |
		   WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_recent)}},
	.see = see_cut,
	.thresholds = {{WTI_IN_A_ROW, 3,
			"logits that were all positive once leave a ReLU with the same bytes"}},
};

/* ---- WT-LOSS-011: compared with itself ------------------------------------------------------ */

/* Both can give gradients: one that was detached is compared on purpose (straight through). */
static bool are_in_graph(const struct wti_value_row *a, const struct wti_value_row *b)
{
	return a->digest.flags & b->digest.flags & WT_TENSOR_REQUIRES_GRAD;
}

static enum wti_answer see_itself(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *a = wti_call_tensor(call, false, 0);
	const struct wti_value_row *b = wti_call_tensor(call, false, 1);

	if (!wti_value_is_measured(a) || !wti_value_is_measured(b) || !are_in_graph(a, b) ||
	    a->digest.count < 2 || a->digest.shape != b->digest.shape ||
	    a->digest.min == a->digest.max ||
	    (a->digest.flags | b->digest.flags) & WT_TENSOR_NO_HASH)
		return WTI_RULE_NO_CASE;
	if (a->digest.hash != b->digest.hash)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->callee,
			    "both of its tensors, %s, have the same bytes and require gradients",
			    wti_moment_text(moment, a->digest.shape));
}

const struct wti_rule wti_rule_loss_011 = {
	.code = "WT-LOSS-011",
	.severity = WT_WARNING,
	.title = "a tensor is compared with itself",
	.means = "the difference is zero and so are its gradients: both sides were computed from "
		 "the same input, or one variable was used twice",
	.hint = "look at the names: z1 and z2, output and target, new and old",
	.definition =
		"The two tensors of a difference, a distance or a similarity, of one shape and "
		"both requiring gradients, do not have the same bytes. Three calls of one line in "
		"a row are a violation. A case is such a call.",
	.innocent = "None is known: where both sides are equal on purpose, one of them is "
		    "detached.",
	.needs = "no two tensors that require gradients were compared",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SUBTRACT) | WTI_CALLEE_SET(WTI_CALLEE_DISTANCE) |
		   WTI_CALLEE_SET(WTI_CALLEE_COMPARISON),
	.keeps = {{WTI_PER_LINE, 0}},
	.see = see_itself,
	.thresholds = {{WTI_IN_A_ROW, 3,
			"two that are trained towards each other may begin with the same bytes"}},
};
