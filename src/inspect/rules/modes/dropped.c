/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how much dropout leaves. */
#include <string.h>

#include "inspect/judge/rule.h"

/* ---- WT-MODE-010: nearly everything is dropped ---------------------------------------------- */

enum { OF_LINE = 1, OF_MODULE }; /* keeps; of most calls nothing */
enum { DROPPED_CALLS, DROPPED_ELEMENTS, DROPPED_SHARE };

/* Of a module; of a line that calls the function. */
struct dropping {
	uint32_t calls; /* in a row */
};

static bool is_dropout(const struct wti_moment *moment)
{
	return moment->call->what == WTI_CALLEE_DROPOUT ||
	       !strcmp(wti_moment_text(moment, moment->call->callee), "Dropout.forward");
}

static enum wti_answer see_dropped(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *before = wti_call_tensor(call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(call, true, 0);
	struct dropping *dropping;
	uint64_t elements, dropped;

	if (!wti_value_is_measured(before) || !wti_value_is_measured(after) ||
	    !is_dropout(moment) || before->digest.hash == after->digest.hash ||
	    after->digest.zeros < before->digest.zeros)
		return WTI_RULE_NO_CASE;
	elements = before->digest.count - before->digest.zeros;
	dropped = after->digest.zeros - before->digest.zeros;
	dropping = wti_kept(account, call->object ? OF_MODULE : OF_LINE, moment);
	if (!dropping || elements < wti_threshold(account, DROPPED_ELEMENTS))
		return WTI_RULE_NO_CASE;
	if ((double)dropped < wti_threshold_real(account, DROPPED_SHARE) * (double)elements) {
		dropping->calls = 0;
		return WTI_RULE_HELD;
	}
	if (++dropping->calls < wti_threshold(account, DROPPED_CALLS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, call->object ? call->object : call->callee,
			    "of %llu elements other than zero, %llu were dropped",
			    (unsigned long long)elements, (unsigned long long)dropped);
}

const struct wti_rule wti_rule_mode_010 = {
	.code = "WT-MODE-010",
	.severity = WT_WARNING,
	.title = "dropout drops nearly everything",
	.means = "p is the share that is dropped, not the one that is kept: with 0.9, a tenth is "
		 "left for the next layer to learn from",
	.hint = "Dropout(1 - keep)",
	.definition =
		"In training, fewer than 78 % of the nonzero elements of a dropout's input (64 or "
		"more) are zero in its result. Four calls in a row are a violation. A case is "
		"such a call.",
	.innocent = "Dropout of that strength on purpose, such as on redundant inputs.",
	.needs = "no dropout with a measured input dropped anything",
	.moments = WTI_MOMENT_CALL,
	.keeps = {[OF_LINE] = {WTI_PER_LINE, sizeof(struct dropping)},
		  [OF_MODULE] = {WTI_PER_MODULE, sizeof(struct dropping)}},
	.see = see_dropped,
	.thresholds = {{"calls", 4, "in a row: of few elements many are dropped by chance"},
		       {"elements", 64, "other than zero: the share of fewer says little"},
		       {"share", 0.78,
			"a rate of 0.8, as far as it can be seen in some hundreds of elements"}},
};
