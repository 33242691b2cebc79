/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule about tensors that look like parameters and are not. In a trace a leaf looks like any
 * other tensor; but what is computed from parameters that are trained, or from the input, differs
 * from step to step, and what is computed at all was returned by a call.
 */
#include "inspect/judge/rule.h"

/* ---- WT-OPT-012: a tensor of the model's own, unknown to it --------------------------------- */

enum { STEPS };
enum { OF_RUN, OF_LINE, OF_CONTENT }; /* keeps */
enum { MADE_MAX = 1 << 16, ARGUMENTS_MAX = 16 };

/* Of an argument of a line. */
struct watched {
	uint64_t hash;
	uint64_t step;   /* when it was last given, of the process */
	uint32_t streak; /* steps with the same content */
	bool is_known;   /* it is a parameter */
};

struct watched_line {
	struct watched arguments[ARGUMENTS_MAX];
};

/* Of a content. */
struct made {
	uint64_t step; /* plus one, of the process: in which it last came to be */
};

struct making {
	uint32_t count;     /* of contents */
	uint64_t forgotten; /* step plus one of a process in which those were too many */
};

static void note_made(struct wti_case *account, struct making *making,
		      const struct wti_moment *moment, bool is_return)
{
	const struct wti_value_row *value = NULL;

	if (making->count > MADE_MAX) {
		wti_kept_forget(account, OF_CONTENT);
		making->count = 0;
		making->forgotten = moment->process->step_count + 1;
	}
	while ((value = wti_call_next_tensor(moment->call, is_return, value))) {
		struct made *made =
			value->digest.flags & WT_TENSOR_NO_HASH
				? NULL
				: wti_kept_of_key(account, OF_CONTENT, moment->call->stream,
						  value->digest.hash);

		if (!made)
			continue;
		making->count += !made->step;
		made->step = moment->process->step_count + 1;
	}
}

static bool is_made(const struct wti_case *account, const struct making *making,
		    const struct wti_moment *moment, uint64_t hash)
{
	const struct made *made =
		wti_kept_find_key(account, OF_CONTENT, moment->call->stream, hash);

	return making->forgotten == moment->process->step_count + 1 ||
	       (made && made->step == moment->process->step_count + 1);
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
	if (++watched->streak < wti_threshold(account, STEPS))
		return;
	watched->is_known = is_parameter(moment, value->digest.hash);
	if (!watched->is_known)
		wti_violated(account, moment, moment->parent->object,
			     "%s is given a tensor of shape %s that requires a gradient, is not a "
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
	       around->flags & WT_CALL_GRAD && around->flags & WT_CALL_TRAIN;
}

static void watch_arguments(struct wti_case *account, const struct making *making,
			    const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;
	struct watched_line *line;

	for (uint32_t n = 0; n < ARGUMENTS_MAX; n++) {
		value = wti_call_next_tensor(moment->call, false, value);
		if (!value)
			break;
		if (!(value->digest.flags & WT_TENSOR_REQUIRES_GRAD) ||
		    value->digest.flags & WT_TENSOR_NO_HASH ||
		    is_made(account, making, moment, value->digest.hash))
			continue;
		line = wti_kept(account, OF_LINE, moment);
		if (line)
			judge_argument(account, &line->arguments[n], moment, value);
	}
}

static enum wti_answer see_unregistered(struct wti_case *account, void *kept,
					const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_MODULE) {
		if (moment->call->flags & WT_CALL_OUTERMOST)
			note_made(account, kept, moment, false);
		return WTI_RULE_NO_CASE;
	}
	if (is_inside(moment))
		watch_arguments(account, kept, moment);
	note_made(account, kept, moment, true);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_012 = {
	.code = "WT-OPT-012",
	.severity = WT_WARNING,
	.title = "a model computes with a tensor of its own that is never trained",
	.means = "it was made with requires_grad=True, but is not an nn.Parameter: parameters() "
		 "does not return it, so no optimizer and no checkpoint includes it",
	.hint = "make it a parameter, self.scale = nn.Parameter(torch.ones(n)), or use "
		"register_buffer() if it should stay fixed",
	.definition =
		"In the forward() of a module, in training, no call is given a tensor that "
		"requires a gradient, was neither returned by a call in this step nor given to "
		"the model, is not the content of a parameter, and has been the same for eight "
		"steps. A case is such a tensor that differs from the step before.",
	.innocent =
		"A constant that requires a gradient because derivatives with respect to it are "
		"wanted.",
	.needs = "no call inside of a model was given a tensor that changes from step to step and "
		 "that no recorded call had made",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.keeps = {[OF_RUN] = {WTI_PER_RUN, sizeof(struct making)},
		  [OF_LINE] = {WTI_PER_LINE, sizeof(struct watched_line)},
		  [OF_CONTENT] = {WTI_PER_KEY, sizeof(struct made)}},
	.see = see_unregistered,
	.thresholds =
		{[STEPS] = {"steps", 8,
			    "what is computed outside of recorded calls may stay the same for "
			    "a few steps, as while a warm-up begins at 0"}},
};
