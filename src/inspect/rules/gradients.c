/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about gradients: that they are cleared, in time, and that they come at all. */
#include "rule.h"
#include "slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-GRAD-001: never cleared ------------------------------------------------------------- */

struct clearing {
	bool is_cleared;         /* since the optimizer's last step */
	bool is_counted;         /* at the first backward since */
	uint32_t nonzero, among; /* then */
};

static void note_gradients(struct clearing *clearing, const struct wt_event *event)
{
	uint32_t nonzero = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_NONZERO);
	uint32_t none = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_NONE);
	uint32_t zero = (uint32_t)wt_event_u64(event, WT_GRADIENTS_FIELD_ZERO);

	if (wt_event_u64(event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_BACKWARD)
		return;
	if (!nonzero)
		clearing->is_cleared = true;
	if (clearing->is_counted)
		return;
	clearing->is_counted = true;
	clearing->nonzero = nonzero;
	clearing->among = nonzero + none + zero;
}

static void judge_clearing(struct wti_case *account, const struct clearing *clearing,
			   const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	/* Of the first step there is nothing to be cleared from. */
	if (!optimizer->step_count || !optimizer->backward_count || !clearing->is_counted)
		return;
	if (clearing->is_cleared) {
		wti_held(account);
		return;
	}
	wti_violated(account, moment, optimizer->name,
		     "before backward(), .grad was non-zero in %u of %u parameters; zero_grad() "
		     "calls so far: %llu",
		     clearing->nonzero, clearing->among,
		     (unsigned long long)optimizer->zero_grad_count);
	if (optimizer->backward_count == 1)
		wti_not_this(account, "gradient accumulation: backward() and step() are 1:1");
}

static void see_clearing(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct clearing *clearing = wti_slot_of_object(state, moment->object, sizeof(*clearing));

	if (!clearing)
		return;
	switch (moment->type) {
	case WTI_MOMENT_ZERO_GRAD:
		clearing->is_cleared = true;
		break;
	case WTI_MOMENT_GRADIENTS:
		note_gradients(clearing, moment->event);
		break;
	default:
		judge_clearing(account, clearing, moment);
		*clearing = (struct clearing){0};
	}
}

const struct wti_rule wti_rule_grad_001 = {
	.code = "WT-GRAD-001",
	.severity = WT_ERROR,
	.title = "gradients are never cleared between optimizer steps",
	.means = "each update adds up the gradients of all earlier batches, not just of this one",
	.hint = "call optimizer.zero_grad() once for each step, before backward()",
	.definition =
		"Between two steps of an optimizer its gradients are cleared at least once: "
		"zero_grad() of the optimizer or of a module is called, or at some backward() none "
		"of its parameters has a gradient other than zero. A case is a step after the "
		"first with at least one backward() since the step before.",
	.innocent = "An optimizer whose parameters get gradients from the backward() of another "
		    "loss (a GAN's discriminator) is judged at its own steps only. Accumulation "
		    "over several backward() calls is a clearing less often, and is no violation.",
	.needs = "no optimizer stepped twice with a backward() between",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_GRADIENTS | WTI_MOMENT_STEP,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_clearing,
	.release = release_slots,
};
