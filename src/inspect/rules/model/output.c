/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what models give. */
#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"

/* ---- WT-OUT-001: more than was asked for ---------------------------------------------------- */

enum { SPARE_TOKENS = 2 }; /* some count a start or an end token apart */

static uint64_t length_of(const struct wti_moment *moment, const struct wti_value_row *value)
{
	struct wti_shape shape = wti_shape_read(wti_moment_text(moment, value->digest.shape));

	return shape.rank >= 1 && shape.rank <= 2 ? shape.extents[shape.rank - 1] : 0;
}

/* Either only what is new is returned, or the prompt in front of it as well. */
static void see_length(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *prompt, *result;
	uint64_t asked, given;
	double limit;

	if (call->what != WTI_CALLEE_GENERATE || call->exception)
		return;
	prompt = wti_call_tensor(call, false, 0);
	result = wti_call_tensor(call, true, 0);
	if (!prompt || !result ||
	    !wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "max_new_tokens"),
				-2, &limit))
		return;
	asked = length_of(moment, prompt);
	given = length_of(moment, result);
	if (!asked || !given || limit < 1)
		return;
	limit += SPARE_TOKENS;
	if ((double)given <= limit || (given >= asked && (double)given <= (double)asked + limit))
		wti_held(account);
	else
		wti_violated(account, moment, call->object,
			     "%llu tokens came back for a prompt of %llu, with max_new_tokens=%.0f",
			     (unsigned long long)given, (unsigned long long)asked,
			     limit - SPARE_TOKENS);
}

const struct wti_rule wti_rule_out_001 = {
	.code = "WT-OUT-001",
	.severity = WT_ERROR,
	.title = "generate() gives more tokens than were asked for",
	.means = "the limit is computed from another length than that of the prompt in use, such "
		 "as one from before it was cut to the window",
	.hint = "count the new tokens themselves",
	.definition =
		"What generate(prompt, max_new_tokens=n) of a model returns has at most n tokens, "
		"or at least the prompt's and at most n more. A case is a call.",
	.innocent = "A start and an end token may be counted apart: two more are no violation.",
	.needs = "no generate() with max_new_tokens of a model was called",
	.moments = WTI_MOMENT_CALL,
	.watch = see_length,
};
