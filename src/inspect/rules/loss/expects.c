/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what losses are given: values in the range that they are made for, and two things. */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-LOSS-009: targets that are no probabilities ----------------------------------------- */

enum { CALLS_TO_TELL = 2 };
static const double beyond = 1e-3; /* rounding of half precision */

static void see_outside(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *target;
	uint32_t *streak;

	if (moment->call->what != WTI_CALLEE_BINARY)
		return;
	target = wti_call_tensor(moment->call, false, 1);
	streak = wti_slot(state, wti_line_of(moment->call), sizeof(*streak));
	if (!wti_value_is_measured(target) || !streak)
		return;
	if (target->digest.min >= -beyond && target->digest.max <= 1 + beyond) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, moment->call->callee,
			     "its targets go from %.3g to %.3g", target->digest.min,
			     target->digest.max);
	}
}

const struct wti_rule wti_rule_loss_009 = {
	.code = "WT-LOSS-009",
	.severity = WT_ERROR,
	.title = "targets of a binary loss lie outside of 0 and 1",
	.means = "the loss has no lowest value then: it falls below zero and on, as outputs grow "
		 "without end. Labels are -1 and 1, or 1 and 2, or were never scaled",
	.hint = "bring the labels to 0 and 1: (labels + 1) / 2",
	.definition =
		"The targets that binary_cross_entropy_with_logits is given lie between 0 and 1. "
		"Two calls of one line in a row are a violation. A case is a call.",
	.innocent = "None is known.",
	.needs = "no binary_cross_entropy_with_logits with measured targets was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_outside,
	.release = release_slots,
};

/* ---- WT-LOSS-010: logits that were cut off -------------------------------------------------- */

enum { CALLS_CUT = 3 };

struct cut {
	struct wti_recent results; /* of activation functions */
	uint32_t streak;
};

static void see_cut(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct cut *cut = wti_slot(state, moment->process->stream, sizeof(*cut));
	const struct wti_call *call = moment->call;
	const struct wti_recent_tensor *made;
	const struct wti_value_row *input;

	if (!cut)
		return;
	if (call->what == WTI_CALLEE_ACTIVATION || call->what == WTI_CALLEE_SIGMOID)
		wti_recent_add(&cut->results, call, wti_call_tensor(call, true, 0), 0);
	if (call->what != WTI_CALLEE_CROSS_ENTROPY)
		return;
	input = wti_call_tensor(call, false, 0);
	if (!wti_value_is_measured(input))
		return;
	made = wti_recent_find(&cut->results, input);
	if (!made) {
		cut->streak = 0;
		wti_held(account);
	} else if (++cut->streak >= CALLS_CUT) {
		wti_violated(account, moment, call->callee,
			     "its input, from %.3g to %.3g, is what %s has just returned",
			     input->digest.min, input->digest.max,
			     wti_moment_text(moment, made->callee));
	}
}

const struct wti_rule wti_rule_loss_010 = {
	.code = "WT-LOSS-010",
	.severity = WT_WARNING,
	.title = "logits go through an activation function before the loss",
	.means =
		"the last layer is treated as a hidden one: a ReLU leaves nothing to say against a "
		"class and no gradient to classes that are off, a sigmoid or tanh keeps all "
		"close together",
	.hint = "leave the activation away after the last layer",
	.definition =
		"The input of cross_entropy is not what a relu, a tanh or a sigmoid returned, to "
		"the bit. Three calls in a row are a violation. A case is a call.",
	.innocent = "Logits that are kept within bounds on purpose.",
	.needs = "no cross_entropy with a measured input was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_cut,
	.release = release_slots,
};

/* ---- WT-LOSS-011: compared with itself ------------------------------------------------------ */

enum { CALLS_ALIKE = 3 };

/* Both can give gradients: one that was detached is compared on purpose (straight through). */
static bool are_in_graph(const struct wti_value_row *a, const struct wti_value_row *b)
{
	return a->digest.flags & b->digest.flags & WTI_TENSOR_REQUIRES_GRAD;
}

static void see_itself(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *a, *b;
	uint32_t *streak;

	if (call->what != WTI_CALLEE_SUBTRACT && call->what != WTI_CALLEE_DISTANCE &&
	    call->what != WTI_CALLEE_COMPARISON)
		return;
	a = wti_call_tensor(call, false, 0);
	b = wti_call_tensor(call, false, 1);
	if (!wti_value_is_measured(a) || !wti_value_is_measured(b) || !are_in_graph(a, b) ||
	    a->digest.count < 2 || a->digest.shape != b->digest.shape ||
	    a->digest.min == a->digest.max ||
	    (a->digest.flags | b->digest.flags) & WTI_TENSOR_NO_HASH)
		return;
	streak = wti_slot(state, wti_line_of(call), sizeof(*streak));
	if (!streak)
		return;
	if (a->digest.hash != b->digest.hash) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= CALLS_ALIKE) {
		wti_violated(account, moment, call->callee,
			     "both of its tensors, %s, have the same bytes and require gradients",
			     wti_moment_text(moment, a->digest.shape));
	}
}

const struct wti_rule wti_rule_loss_011 = {
	.code = "WT-LOSS-011",
	.severity = WT_WARNING,
	.title = "something is compared with itself",
	.means = "the difference is zero and so are its gradients: both sides were computed from "
		 "the "
		 "same input, or one variable was used twice",
	.hint = "look at the names: z1 and z2, output and target, new and old",
	.definition =
		"A difference, a distance or a similarity of two tensors of one shape that both "
		"require gradients is not of the same bytes. Three calls of one line in a row are "
		"a violation. A case is such a call.",
	.innocent = "None is known: what is the same in value on purpose is detached on one side.",
	.needs = "no two tensors that require gradients were compared",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_itself,
	.release = release_slots,
};
