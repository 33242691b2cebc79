/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about random numbers. */
#include "inspect/judge/rule.h"

/* ---- WT-RNG-001: seeded in every step ------------------------------------------------------- */

struct seeding {
	uint64_t step_count; /* of the process, at the last call */
	uint64_t seed;
	bool is_set;
};

static enum wti_answer judge_seed(struct wti_case *account, const struct seeding *seeding,
				  const struct wti_moment *moment, uint64_t seed)
{
	uint64_t steps = moment->process->step_count;

	if (seeding->is_set && steps == seeding->step_count + 1 && seeding->seed == seed)
		return wti_violated(account, moment, moment->call->callee,
				    "it is called with the same seed in every step (%u in a row)",
				    wti_streak(account) + 1);
	return seeding->is_set && steps == seeding->step_count ? WTI_RULE_NO_CASE : WTI_RULE_HELD;
}

static enum wti_answer see_seed(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_value_row *seed = wti_call_argument(
		moment->call, wti_symbol_word(moment->training->symbols, "seed"), 0);
	struct seeding *seeding = kept;
	enum wti_answer answer;

	if (!seed)
		return WTI_RULE_NO_CASE;
	answer = judge_seed(account, seeding, moment, seed->bits);
	*seeding = (struct seeding){moment->process->step_count, seed->bits, true};
	return answer;
}

const struct wti_rule wti_rule_rng_001 = {
	.code = "WT-RNG-001",
	.severity = WT_WARNING,
	.title = "the random generator is seeded with the same number in every step",
	.means = "noise, dropout masks and samples are the same each time: what should average out "
		 "does not",
	.hint = "seed once, before the training; give data a generator of its own",
	.definition = "A line does not call torch.manual_seed() with the same number in three "
		      "steps in a row. A case is a call.",
	.innocent = "Noise that is kept the same on purpose (common random numbers).",
	.needs = "torch.manual_seed() was not called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SEED),
	.keeps = {{WTI_PER_LINE, sizeof(struct seeding)}},
	.see = see_seed,
	.thresholds = {{WTI_IN_A_ROW, 2,
			"steps after the first with its seed: a function that seeds may be called "
			"twice, such as by a test before the training"}},
};
