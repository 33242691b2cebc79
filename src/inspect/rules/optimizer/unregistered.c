/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule about tensors that look like parameters and are none. A leaf cannot be told from other
 * tensors in a trace; but what is computed from parameters that are trained, or from the input,
 * differs from step to step, and what is computed at all was returned by a call.
 */
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-OPT-012: a tensor of the model's own, unknown to it --------------------------------- */

enum { STEPS_TO_TELL = 8, MADE_MAX = 1 << 16 };

/* Of an argument of a line. */
struct watched {
	uint64_t hash;
	uint64_t step;   /* when it was last given, of the process */
	uint32_t streak; /* steps with the same content */
	bool is_known;   /* it is a parameter */
};

struct watching {
	struct wti_slots arguments; /* stream, line and position: struct watched */
	struct wti_slots made;      /* stream and hash: step plus one in which it came to be */
	uint64_t forgotten;         /* step plus one of a process in which those were too many */
};

static void release_watching(void *state)
{
	struct watching *watching = state;

	wti_slots_release(&watching->arguments);
	wti_slots_release(&watching->made);
}

static uint64_t made_key(size_t stream, uint64_t hash)
{
	return (hash ^ (uint64_t)stream << 48) * 0x9e3779b97f4a7c15u;
}

static void note_made(struct watching *watching, const struct wti_moment *moment, bool is_return)
{
	const struct wti_value_row *value = NULL;
	uint64_t *step;

	if (watching->made.count > MADE_MAX) {
		wti_slots_release(&watching->made);
		watching->forgotten = moment->process->step_count + 1;
	}
	while ((value = wti_call_next_tensor(moment->call, is_return, value))) {
		if (value->digest.flags & WTI_TENSOR_NO_HASH)
			continue;
		step = wti_slot(&watching->made, made_key(moment->call->stream, value->digest.hash),
				sizeof(*step));
		if (step)
			*step = moment->process->step_count + 1;
	}
}

static bool is_made(struct watching *watching, const struct wti_moment *moment, uint64_t hash)
{
	const uint64_t *step = wti_slot_find(&watching->made, made_key(moment->call->stream, hash));

	return watching->forgotten == moment->process->step_count + 1 ||
	       (step && *step == moment->process->step_count + 1);
}

static bool is_parameter(const struct wti_moment *moment, uint64_t hash)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);

		if (parameter->stream == moment->process->stream && parameter->has_hash &&
		    parameter->hash == hash)
			return true;
	}
	return false;
}

static void judge_argument(struct wti_case *account, struct watched *watched,
			   const struct wti_moment *moment, const struct wti_value_row *value)
{
	uint64_t step = moment->process->step_count;

	if (value->digest.hash != watched->hash) {
		if (watched->hash)
			wti_held(account);
		*watched = (struct watched){.hash = value->digest.hash, .step = step};
		return;
	}
	if (watched->is_known || step == watched->step)
		return;
	watched->step = step;
	if (++watched->streak < STEPS_TO_TELL)
		return;
	watched->is_known = is_parameter(moment, value->digest.hash);
	if (!watched->is_known)
		wti_violated(account, moment, moment->parent->object,
			     "%s is given a tensor of shape %s that requires a gradient, is no "
			     "parameter of a module, and has been the same for %u steps",
			     wti_moment_text(moment, moment->call->callee),
			     *wti_moment_text(moment, value->digest.shape)
				     ? wti_moment_text(moment, value->digest.shape)
				     : "()",
			     watched->streak);
}

/* Calls that the forward of a model of the program's makes while it is trained. */
static bool is_inside(const struct wti_moment *moment)
{
	const struct wti_call *around = moment->parent;

	return around && around->tag == WTI_MOMENT_MODULE && around->object &&
	       around->flags & WTI_CALL_GRAD && around->flags & WTI_CALL_TRAINING;
}

static void see_unregistered(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct watching *watching = state;
	const struct wti_call *call = moment->call;
	const struct wti_value_row *value;

	if (moment->type == WTI_MOMENT_MODULE) {
		if (call->flags & WTI_CALL_OUTERMOST)
			note_made(watching, moment, false);
		return;
	}
	for (uint32_t n = 0; is_inside(moment) && (value = wti_call_tensor(call, false, n)); n++) {
		uint64_t line = (uint64_t)call->stream << 48 ^ (uint64_t)call->site << 16 ^
				(uint64_t)(uint32_t)value->position << 8 ^ n;
		struct watched *watched;

		if (!(value->digest.flags & WTI_TENSOR_REQUIRES_GRAD) ||
		    value->digest.flags & WTI_TENSOR_NO_HASH ||
		    is_made(watching, moment, value->digest.hash))
			continue;
		watched = wti_slot(&watching->arguments, line ^ (uint64_t)call->callee << 32,
				   sizeof(*watched));
		if (watched)
			judge_argument(account, watched, moment, value);
	}
	note_made(watching, moment, true);
}

const struct wti_rule wti_rule_opt_012 = {
	.code = "WT-OPT-012",
	.severity = WT_WARNING,
	.title = "a model computes with a tensor of its own that is never trained",
	.means =
		"it was made with requires_grad=True, but it is no nn.Parameter: parameters() does "
		"not know it, so that no optimizer has it, and checkpoints neither",
	.hint = "self.scale = nn.Parameter(torch.ones(n)); register_buffer() if it is to stay as "
		"it is",
	.definition =
		"In the forward of a module, in training, no call is given a tensor that requires "
		"a gradient, was neither returned by a call in this step nor given to the model, "
		"is not the content of a parameter, and has been the same for eight steps. A "
		"case is such a tensor that differs from the step before.",
	.innocent = "A constant that requires a gradient because derivatives by it are wanted.",
	.needs = "no call inside of a model was given a tensor that changes from step to step and "
		 "that no recorded call had made",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct watching),
	.watch = see_unregistered,
	.release = release_watching,
};
