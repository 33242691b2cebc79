/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about what becomes of batches: a model is given what its loader gives. */
#include "inspect/judge/rule.h"

/* ---- WT-DATA-006: always the same batch ----------------------------------------------------- */

enum { SAME_STEPS, ELEMENTS };            /* thresholds */
enum { GIVEN_MAX = 64, TENSORS_MAX = 4 }; /* of the process; of a batch */

/* A tensor of a batch. */
struct given {
	uint64_t hash;
	uint64_t batch; /* number, over all loaders of the process */
	uint32_t loader;
};

/* Of a process. */
struct feeding {
	struct given given[GIVEN_MAX]; /* the last ones, a ring */
	uint64_t given_count;
	uint64_t batch_count;
	uint64_t stepped_at; /* batches before the last step */
	/* What models were called with since the last step, with gradients on. */
	uint64_t inputs;
	uint32_t input_count;
	bool is_unknown;
	uint32_t loader; /* that gave one of them; 0: none did */
	uint64_t hash;
	/* The same of the step before. */
	uint64_t last_inputs;
	uint32_t last_count;
	uint32_t last_loader;
};

static void take_batch(const struct wti_case *account, struct feeding *feeding,
		       const struct wti_moment *moment)
{
	const struct wti_value_row *value;

	if (moment->call->exception || !moment->object)
		return;
	feeding->batch_count++;
	for (uint32_t n = 0; n < TENSORS_MAX && (value = wti_call_tensor(moment->call, true, n));
	     n++)
		if (!(value->digest.flags & WT_TENSOR_NO_HASH) &&
		    value->digest.count >= wti_threshold(account, ELEMENTS))
			feeding->given[feeding->given_count++ % GIVEN_MAX] = (struct given){
				value->digest.hash, feeding->batch_count, moment->object->name};
}

static uint32_t loader_of(const struct feeding *feeding, uint64_t hash)
{
	for (uint64_t i = 0; i < GIVEN_MAX && i < feeding->given_count; i++)
		if (feeding->given[i].hash == hash)
			return feeding->given[i].loader;
	return 0;
}

static void take_input(struct feeding *feeding, const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	uint32_t loader;

	if (!(moment->call->flags & WT_CALL_OUTERMOST) || !(moment->call->flags & WT_CALL_GRAD) ||
	    moment->call->what != WTI_CALLEE_OTHER)
		return;
	feeding->input_count++;
	if (!input || input->digest.flags & WT_TENSOR_NO_HASH) {
		feeding->is_unknown = true;
		return;
	}
	feeding->inputs += input->digest.hash * 0x9e3779b97f4a7c15u;
	loader = loader_of(feeding, input->digest.hash);
	if (loader) {
		feeding->loader = loader;
		feeding->hash = input->digest.hash;
	}
}

/* Whether the loader has given, since the last step, a batch that the model was not given. */
static bool gave_another(const struct feeding *feeding, uint32_t loader)
{
	bool is_other = false;

	for (uint64_t i = 0; i < GIVEN_MAX && i < feeding->given_count; i++) {
		const struct given *given = &feeding->given[i];

		if (given->loader != loader || given->batch <= feeding->stepped_at)
			continue;
		is_other = true;
		for (uint64_t j = 0; j < GIVEN_MAX && j < feeding->given_count; j++)
			if (feeding->given[j].batch == given->batch &&
			    feeding->given[j].hash == feeding->hash)
				is_other = false;
		if (is_other)
			return true;
	}
	return false;
}

/* The loader of what the models were given; 0: it is not known. */
static uint32_t source_of(const struct feeding *feeding, bool is_same)
{
	if (feeding->loader || !is_same)
		return feeding->loader;
	return feeding->last_loader; /* it was given long ago */
}

static enum wti_answer judge_step(struct wti_case *account, const struct feeding *feeding,
				  const struct wti_moment *moment, bool is_same, uint32_t loader)
{
	if (!loader)
		return WTI_RULE_BREAK;
	if (!is_same || !gave_another(feeding, loader))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, loader,
			    "the model was given the same batch in the last %u steps, while "
			    "the loader gave others",
			    wti_streak(account) + 1);
}

static enum wti_answer end_step(struct wti_case *account, struct feeding *feeding,
				const struct wti_moment *moment)
{
	bool is_same = feeding->input_count && !feeding->is_unknown &&
		       feeding->input_count == feeding->last_count &&
		       feeding->inputs == feeding->last_inputs;
	uint32_t loader = source_of(feeding, is_same);
	enum wti_answer answer = judge_step(account, feeding, moment, is_same, loader);

	feeding->last_inputs = feeding->inputs;
	feeding->last_count = feeding->is_unknown ? 0 : feeding->input_count;
	feeding->last_loader = loader;
	feeding->inputs = 0;
	feeding->input_count = 0;
	feeding->is_unknown = false;
	feeding->loader = 0;
	feeding->stepped_at = feeding->batch_count;
	return answer;
}

static enum wti_answer see_feeding(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEPPED)
		return end_step(account, kept, moment);
	if (moment->type == WTI_MOMENT_BATCH)
		take_batch(account, kept, moment);
	else
		take_input(kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_data_006 = {
	.code = "WT-DATA-006",
	.severity = WT_ERROR,
	.title = "every step trains on the same batch, whatever the loader gives",
	.means = "the batch that the loop draws is not the one that goes into the model: a "
		 "variable of another name or from before the loop, or next(iter(loader)) inside "
		 "of it",
	.hint = "give the model what the loop over the loader has just drawn",
	.definition =
		"Models are not called, with gradients on, with the same first inputs in five "
		"steps in a row, if one of these inputs is from a batch of a loader and that "
		"loader returned another batch before each of these steps. A case is a step on a "
		"batch of a loader.",
	.innocent = "None is known: a test that overfits one batch draws no others.",
	.needs = "no model was given an unchanged batch of a loader before a step",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct feeding)}},
	.see = see_feeding,
	.thresholds = {[SAME_STEPS] = {WTI_IN_A_ROW, 4,
				       "steps after the first on that batch: a loop that draws "
				       "ahead may do a few"},
		       [ELEMENTS] = {"elements", 4,
				     "of a tensor: batches of fewer may be equal by chance"}},
};
