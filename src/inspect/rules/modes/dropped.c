/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how much dropout leaves. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-MODE-010: nearly everything is dropped ---------------------------------------------- */

enum { ELEMENTS_MIN = 64, CALLS_TO_TELL = 4 };
static const double most = 0.78; /* 0.8, as far as it can be told from some hundreds of elements */

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_dropout(const struct wti_moment *moment)
{
	return moment->call->what == WTI_CALLEE_DROPOUT ||
	       !strcmp(wti_moment_text(moment, moment->call->callee), "Dropout.forward");
}

static bool is_measured(const struct wti_value_row *value)
{
	return value && !(value->digest.flags & WTI_TENSOR_NO_STATISTICS);
}

static void see_dropped(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	const struct wti_call *call = moment->call;
	uint64_t elements, dropped;
	uint32_t *streak;

	if (!is_measured(before) || !is_measured(after) || !is_dropout(moment) ||
	    before->digest.hash == after->digest.hash || after->digest.zeros < before->digest.zeros)
		return;
	elements = before->digest.count - before->digest.zeros;
	dropped = after->digest.zeros - before->digest.zeros;
	streak = wti_slot(state,
			  (uint64_t)call->stream << 32 | (call->object ? call->object : call->site),
			  sizeof(*streak));
	if (elements < ELEMENTS_MIN || !streak)
		return;
	if ((double)dropped < most * (double)elements) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= CALLS_TO_TELL) {
		wti_violated(account, moment, call->object ? call->object : call->callee,
			     "of %llu elements other than zero, %llu were dropped",
			     (unsigned long long)elements, (unsigned long long)dropped);
	}
}

const struct wti_rule wti_rule_mode_010 = {
	.code = "WT-MODE-010",
	.severity = WT_WARNING,
	.title = "dropout leaves hardly anything",
	.means =
		"p is the share that is dropped, not the one that is kept: of 0.9, a tenth is left "
		"for the next layer to learn from",
	.hint = "Dropout(1 - keep)",
	.definition =
		"In training, of the elements of a dropout's input that are not zero, 64 or more, "
		"fewer than 78 in a hundred are zero in its result. Four calls in a row are a "
		"violation. A case is such a call.",
	.innocent =
		"Dropout of that strength on purpose, such as of inputs that repeat themselves.",
	.needs = "no dropout with a measured input dropped anything",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_dropped,
	.release = release_slots,
};
