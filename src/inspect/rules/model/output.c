/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what models give. */
#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"

/* ---- WT-OUT-001: more than was asked for ---------------------------------------------------- */

enum { SPARE };

static uint64_t length_of(const struct wti_moment *moment, const struct wti_value_row *value)
{
	struct wti_shape shape = wti_shape_read(wti_moment_text(moment, value->digest.shape));

	return shape.rank >= 1 && shape.rank <= 2 ? shape.extents[shape.rank - 1] : 0;
}

/* Either only what is new is returned, or the prompt in front of it as well. */
static enum wti_answer see_length(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *prompt = wti_call_tensor(call, false, 0);
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	uint64_t asked, given;
	double limit, most;

	if (call->exception || !prompt || !result ||
	    !wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "max_new_tokens"),
				-2, &limit))
		return WTI_RULE_NO_CASE;
	asked = length_of(moment, prompt);
	given = length_of(moment, result);
	if (!asked || !given || limit < 1)
		return WTI_RULE_NO_CASE;
	most = limit + wti_threshold_real(account, SPARE);
	if ((double)given <= most || (given >= asked && (double)given <= (double)asked + most))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->object,
			    "%llu tokens came back for a prompt of %llu, with max_new_tokens=%.0f",
			    (unsigned long long)given, (unsigned long long)asked, limit);
}

const struct wti_rule wti_rule_out_001 = {
	.code = "WT-OUT-001",
	.severity = WT_ERROR,
	.title = "generate() returns more tokens than were asked for",
	.means = "the limit is computed from another length than that of the prompt in use, such "
		 "as one from before it was cut to the window",
	.hint = "count only the new tokens",
	.definition =
		"What generate(prompt, max_new_tokens=n) of a model returns has at most n tokens "
		"or, if it includes the prompt, at most n more than the prompt. A case is a call.",
	.innocent = "A start and an end token may come on top: `spare` more are no violation.",
	.needs = "no generate() with max_new_tokens of a model was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_GENERATE),
	.see = see_length,
	.thresholds = {{"spare", 2, "some models do not count a start and an end token"}},
};
