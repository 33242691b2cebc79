/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about random numbers. */
#include "inspect/judge/rule.h"

/* ---- WT-RNG-001: seeded again and again ----------------------------------------------------- */

enum { OF_PROCESS, OF_LINE }; /* keeps */
enum { TIMES };

/* Of a line that seeds. */
struct seeding {
	uint64_t step_count; /* of the process, at the last call */
	uint64_t gap;        /* steps between the last two */
	uint64_t seed;
	bool is_set;
	uint32_t model; /* that was called next, in training; 0: it was something else */
	struct wti_patience steps, epochs; /* in a row, each with its seed */
	struct wti_scope scope;
	struct wti_call call; /* without its values */
};

/* Of a process: the line that seeded last, if no model was called since. */
struct seeded {
	struct seeding *last;
};

static enum wti_answer judge_seed(struct wti_case *account, struct seeding *seeding,
				  const struct wti_moment *moment, bool is_same)
{
	if (!is_same || !seeding->gap)
		seeding->epochs = seeding->steps = (struct wti_patience){0};
	if (seeding->gap != 1)
		seeding->steps = (struct wti_patience){0};
	else if (is_same && wti_waited(account, &seeding->steps, moment, TIMES))
		return wti_violated(account, moment, moment->call->callee,
				    "it is called with the same seed in every step (%u in a row)",
				    seeding->steps.count + 1);
	return !is_same || seeding->gap > 1 ? WTI_RULE_HELD : WTI_RULE_NO_CASE;
}

static enum wti_answer see_seed(struct wti_case *account, struct seeded *seeded,
				const struct wti_moment *moment)
{
	const struct wti_value_row *seed = wti_call_argument(
		moment->call, wti_symbol_word(moment->training->symbols, "seed"), 0);
	struct seeding *seeding = wti_kept(account, OF_LINE, moment);
	uint64_t steps = moment->process->step_count;
	bool is_same;

	if (!seed || !seeding)
		return WTI_RULE_NO_CASE;
	is_same = seeding->is_set && seeding->seed == seed->bits;
	seeding->gap = seeding->is_set ? steps - seeding->step_count : 0;
	seeding->step_count = steps;
	seeding->seed = seed->bits;
	seeding->is_set = true;
	seeding->scope = moment->scope;
	seeding->call = wti_moment_call(moment);
	seeded->last = seeding;
	return judge_seed(account, seeding, moment, is_same);
}

/*
 * The first model since the seed. If it is the one that was trained after the last seed, its epochs
 * draw the same numbers. A seed for an evaluation is followed by that; one for each of several
 * trainings by other models.
 */
static enum wti_answer see_model(struct wti_case *account, struct seeding *seeding,
				 const struct wti_moment *moment)
{
	uint32_t before = seeding->model;
	struct wti_moment at = *moment;

	seeding->model = wti_is_training_call(moment->call) ? moment->call->object : 0;
	if (!seeding->model || seeding->model != before || seeding->gap < 2) {
		seeding->epochs = (struct wti_patience){0};
		return WTI_RULE_NO_CASE;
	}
	at.scope = seeding->scope;
	at.call = &seeding->call;
	if (!wti_waited(account, &seeding->epochs, &at, TIMES))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, &at, seeding->call.callee,
			    "it is called with the same seed every %llu steps (%u times in a row), "
			    "and %s is trained with the numbers that follow",
			    (unsigned long long)seeding->gap, seeding->epochs.count + 1,
			    wti_moment_text(moment, seeding->model));
}

static enum wti_answer see_seeding(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct seeded *seeded = kept;
	struct seeding *seeding = seeded->last;

	if (moment->type == WTI_MOMENT_CALL)
		return see_seed(account, seeded, moment);
	if (!seeding || !wti_is_model_call(moment->call))
		return WTI_RULE_NO_CASE;
	seeded->last = NULL;
	return see_model(account, seeding, moment);
}

const struct wti_rule wti_rule_rng_001 = {
	.code = "WT-RNG-001",
	.severity = WT_WARNING,
	.title = "the random generator is seeded with the same number again and again",
	.means = "noise, dropout masks and samples are the same each time: what should average out "
		 "does not",
	.hint = "seed once, before the training; give data a generator of its own",
	.definition =
		"A line does not call torch.manual_seed() with the same number in three steps in a "
		"row, nor three times with several steps between, if the next model that is "
		"called is the same one each time, in training. A case is a call.",
	.innocent = "Noise that is kept the same on purpose (common random numbers).",
	.needs = "torch.manual_seed() was not called",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_SEED),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct seeded)},
		  [OF_LINE] = {WTI_PER_LINE, sizeof(struct seeding)}},
	.see = see_seeding,
	.thresholds = {[TIMES] = {"times", 2,
				  "in a row after the first: a function that seeds may be called "
				  "twice, such as by a test before the training"}},
};
