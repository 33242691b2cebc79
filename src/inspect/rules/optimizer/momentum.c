/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about optimizers that the program has written itself. */
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-OPT-013: one buffer for several parameters ------------------------------------------ */

enum { STEPS_TO_TELL = 2 };

/* Of the step that goes on; all keys are contents. */
struct buffers {
	struct wti_slots gradients; /* content: parameter, its place plus one */
	struct wti_slots written;   /* content: whose gradient was added to it, likewise */
	uint64_t step;
	uint64_t last_step; /* in which it was seen */
	uint32_t streak;
};

static void release_buffers(void *state)
{
	struct buffers *buffers = state;

	wti_slots_release(&buffers->gradients);
	wti_slots_release(&buffers->written);
}

static uint64_t content_key(size_t stream, uint64_t hash)
{
	return (hash ^ (uint64_t)stream << 40) * 0x9e3779b97f4a7c15u;
}

/* Contents are those of this step alone, so that the tables stay small. */
static void begin_step(struct buffers *buffers, const struct wti_moment *moment)
{
	release_buffers(buffers);
	buffers->step++;
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		uint32_t *place;

		if (parameter->grad != WTI_GRAD_NONZERO)
			continue;
		place = wti_slot(&buffers->gradients,
				 content_key(parameter->stream, parameter->grad_hash),
				 sizeof(*place));
		if (place)
			*place = i + 1;
	}
}

static void judge_write(struct wti_case *account, struct buffers *buffers,
			const struct wti_moment *moment, const uint32_t *before, uint32_t parameter)
{
	if (!before || *before == parameter) {
		wti_held(account);
		return;
	}
	if (buffers->last_step == buffers->step)
		return;
	buffers->streak = buffers->last_step + 1 == buffers->step ? buffers->streak + 1 : 1;
	buffers->last_step = buffers->step;
	if (buffers->streak >= STEPS_TO_TELL)
		wti_violated(
			account, moment, moment->call->callee,
			"in one step, gradients of two parameters are added to the same tensor");
}

static void see_write(struct wti_case *account, struct buffers *buffers,
		      const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *self = wti_call_tensor(call, false, 0);
	const struct wti_value_row *other = wti_call_tensor(call, false, 1);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	const uint32_t *before, *place;
	uint32_t *after;

	if (!self || !result || result->digest.count < 2 ||
	    (self->digest.flags | result->digest.flags) & WTI_TENSOR_NO_HASH ||
	    self->digest.hash == result->digest.hash)
		return;
	before = wti_slot_find(&buffers->written, content_key(call->stream, self->digest.hash));
	place = other ? wti_slot_find(&buffers->gradients,
				      content_key(call->stream, other->digest.hash))
		      : NULL;
	if (place && call->what == WTI_CALLEE_BLEND)
		judge_write(account, buffers, moment, before, *place);
	else
		place = before;
	after = place ? wti_slot(&buffers->written, content_key(call->stream, result->digest.hash),
				 sizeof(*after))
		      : NULL;
	if (after)
		*after = *place;
}

static void see_buffers(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEP)
		begin_step(state, moment);
	else if (moment->call->is_in_place && moment->parent &&
		 moment->parent->tag == WTI_MOMENT_STEP)
		see_write(account, state, moment);
}

const struct wti_rule wti_rule_opt_013 = {
	.code = "WT-OPT-013",
	.severity = WT_WARNING,
	.title = "an optimizer keeps one state for several parameters",
	.means = "momentum of one layer moves another: what is kept is found by shape, by name of "
		 "the class, or in one variable for all",
	.hint = "keep it in self.state[p], which torch makes for each parameter",
	.definition =
		"In a step of an optimizer that the program has written, the gradient of a "
		"parameter is not added in place to a tensor to which that of another one was "
		"added in the same step. Two steps in a row are a violation. A case is such an "
		"addition.",
	.innocent = "A sum of gradients over parameters of one shape that is wanted.",
	.needs = "no step was recorded that adds gradients in place",
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct buffers),
	.watch = see_buffers,
	.release = release_buffers,
};
