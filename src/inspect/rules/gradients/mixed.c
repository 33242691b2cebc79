/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about gradients of several losses that meet in one parameter. */
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-GRAD-008: left over from the loss of another optimizer ------------------------------ */

enum { STEPS_TO_TELL = 2 };

/*
 * Of an optimizer, in this order: a backward() leaves it gradients, another optimizer steps with
 * its own of these, modules of that one are called again, a backward() of another line follows, it
 * steps. So both losses go through both networks, and each optimizer has one that is its own.
 */
struct turn {
	bool has_left_over; /* just before the coming backward() */
	bool is_mixed;      /* and all the above */
	uint32_t other;     /* the optimizer that had stepped between */
	uint32_t streak;
	uint32_t name;
};

struct last_backward {
	uint32_t site;    /* 0: there was none */
	uint32_t stepped; /* the optimizer that has stepped since */
	struct wti_call call;
	struct wti_call before; /* the one before that */
};

struct turns {
	struct wti_slots optimizers;
	struct wti_slots last;   /* by process */
	struct wti_slots called; /* modules: after how many backward() calls, plus one */
};

static void release_turns(void *state)
{
	struct turns *turns = state;

	wti_slots_release(&turns->optimizers);
	wti_slots_release(&turns->last);
	wti_slots_release(&turns->called);
}

static void note_module(struct turns *turns, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	uint64_t *when;

	if (!(call->flags & WTI_CALL_GRAD) || !call->object)
		return;
	when = wti_slot(&turns->called, (uint64_t)call->stream << 32 | call->object, sizeof(*when));
	if (when)
		*when = moment->process->backward_count + 1;
}

/* Whether a module of an optimizer's was called since the last backward(). */
static bool is_called(struct turns *turns, const struct wti_moment *moment, uint32_t optimizer,
		      uint64_t backward_count)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, optimizer);

	for (uint32_t i = 0; object && i < object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, object, i);
		const uint64_t *when = wti_slot_find(
			&turns->called, (uint64_t)parameter->stream << 32 | parameter->module);

		if (when && *when >= backward_count)
			return true;
	}
	return false;
}

static void see_backward(struct turns *turns, struct last_backward *last,
			 const struct wti_moment *moment)
{
	bool is_other_line = last->site && last->site != moment->call->site;
	bool is_alternating =
		is_other_line && last->stepped &&
		is_called(turns, moment, last->stepped, moment->process->backward_count);

	for (size_t i = 0; i < turns->optimizers.count; i++) {
		uint64_t key = turns->optimizers.index.entries[i].key;
		struct turn *turn = wti_slot(&turns->optimizers, key, sizeof(*turn));

		if (!turn || key >> 32 != moment->process->stream)
			continue;
		turn->is_mixed =
			turn->has_left_over && is_alternating && last->stepped != turn->name;
		turn->other = last->stepped;
		turn->has_left_over = false;
	}
	last->before = last->call;
	last->call = *moment->call;
	last->call.values = NULL;
	last->call.value_count = 0;
	last->site = moment->call->site;
	last->stepped = 0;
}

static void see_step(struct wti_case *account, struct turn *turn, struct last_backward *last,
		     const struct wti_moment *moment)
{
	struct wti_moment there = *moment;

	there.call = &last->before;
	if (!turn->is_mixed) {
		turn->streak = 0;
		wti_held(account);
	} else if (++turn->streak >= STEPS_TO_TELL) {
		wti_violated(account, &there, turn->name,
			     "it steps with gradients of this backward() too, after which %s had "
			     "stepped; nothing cleared them",
			     wti_moment_text(moment, turn->other));
	}
	turn->is_mixed = false;
	last->stepped = turn->name;
}

static void see_turns(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct turns *turns = state;
	struct last_backward *last = wti_slot(&turns->last, moment->process->stream, sizeof(*last));
	struct turn *turn;

	if (!last)
		return;
	if (moment->type == WTI_MOMENT_MODULE) {
		note_module(turns, moment);
		return;
	}
	if (moment->type == WTI_MOMENT_BACKWARD) {
		see_backward(turns, last, moment);
		return;
	}
	turn = wti_slot_of_object(&turns->optimizers, moment->object, sizeof(*turn));
	if (!turn)
		return;
	turn->name = moment->object->name;
	if (moment->type == WTI_MOMENT_STEPPED)
		see_step(account, turn, last, moment);
	else if (wt_event_u64(moment->event, WT_GRADIENTS_FIELD_MOMENT) == WT_MOMENT_BACKWARD)
		turn->has_left_over = wt_event_u64(moment->event, WT_GRADIENTS_FIELD_NONZERO);
}

const struct wti_rule wti_rule_grad_008 = {
	.code = "WT-GRAD-008",
	.severity = WT_WARNING,
	.title = "an optimizer steps with gradients of a loss that was another one's",
	.means = "the first loss reaches its parameters too and nothing clears them: the generator "
		 "of a GAN is also trained to be recognised",
	.hint = "detach what the other network made, D(fake.detach()), or call zero_grad() just "
		"before the backward() that is meant",
	.definition =
		"No optimizer steps with gradients that were there before the last backward(), "
		"came from one of another line, and after which another optimizer has stepped "
		"alone, if modules of that one were called again for the last backward(). Two "
		"steps in a row are a violation. A case is a step without.",
	.innocent = "Two networks that are trained on both losses on purpose, by optimizers that "
		    "step apart.",
	.needs = "no optimizer stepped",
	.moments =
		WTI_MOMENT_MODULE | WTI_MOMENT_BACKWARD | WTI_MOMENT_GRADIENTS | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct turns),
	.watch = see_turns,
	.release = release_turns,
};
