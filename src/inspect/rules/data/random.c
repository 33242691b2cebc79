/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about random numbers. */
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-RNG-001: seeded in every step ------------------------------------------------------- */

enum { STEPS_TO_TELL = 2 };

struct seeding {
	uint64_t step_count; /* of the process, at the last call */
	uint64_t seed;
	bool is_set;
	uint32_t streak; /* steps in a row with the same seed */
};

static void judge_seed(struct wti_case *account, struct seeding *seeding,
		       const struct wti_moment *moment, uint64_t seed)
{
	uint64_t steps = moment->process->step_count;
	bool is_next = seeding->is_set && steps == seeding->step_count + 1;

	if (is_next && seeding->seed == seed) {
		if (++seeding->streak >= STEPS_TO_TELL)
			wti_violated(account, moment, moment->call->callee,
				     "it is called with the same seed in every step (%u in a row)",
				     seeding->streak + 1);
	} else if (steps != seeding->step_count || !seeding->is_set) {
		seeding->streak = 0;
		wti_held(account);
	}
	*seeding = (struct seeding){steps, seed, true, seeding->streak};
}

static void see_seed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *seed;
	struct seeding *seeding;

	if (call->what != WTI_CALLEE_SEED)
		return;
	seed = wti_call_argument(call, wti_symbol_word(moment->training->symbols, "seed"), 0);
	seeding = wti_slot(state, (uint64_t)call->stream << 32 | call->site, sizeof(*seeding));
	if (seed && seeding)
		judge_seed(account, seeding, moment, seed->bits);
}

const struct wti_rule wti_rule_rng_001 = {
	.code = "WT-RNG-001",
	.severity = WT_WARNING,
	.title = "the random generator is seeded with the same number in every step",
	.means = "noise, dropout masks and samples are the same each time: what should average out "
		 "does not",
	.hint = "seed once, before the training; give data a generator of its own",
	.definition = "A line does not call torch.manual_seed() with one number in three steps in "
		      "a row. A case is a call.",
	.innocent = "Noise that is kept the same on purpose (common random numbers).",
	.needs = "torch.manual_seed() was not called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_seed,
	.release = release_slots,
};
