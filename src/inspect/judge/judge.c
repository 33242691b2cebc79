/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, asked in turn: who wants a moment, with which memory, and what they answer. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "judge.h"

#define RANKS_MAX 65536u

/* ---- What is omitted ------------------------------------------------------------------------- */

/* What moments are made of: where it is omitted they do not come, or say less than they seem to. */
static const struct {
	uint32_t moments, omits;
} made_of[] = {
	{WTI_MOMENT_STEP | WTI_MOMENT_GRADIENTS, WT_THINNED_GRADIENTS},
	{WTI_MOMENT_STEPPED, WT_THINNED_PARAMETERS | WT_THINNED_GRADIENTS},
	{WTI_MOMENT_SCHEDULER | WTI_MOMENT_SCALER, WT_THINNED_OPTIMIZER},
	{WTI_MOMENT_BATCH | WTI_MOMENT_ROW, WT_THINNED_DATA},
	{WTI_MOMENT_LOSS, WT_THINNED_LOSSES},
	{WTI_MOMENT_SAVE | WTI_MOMENT_LOAD,
	 WT_THINNED_PARAMETERS | WT_THINNED_OPTIMIZER | WT_THINNED_RNG},
	{WTI_MOMENT_TENSOR, WT_THINNED_STATISTICS | WT_THINNED_PARAMETERS | WT_THINNED_GRADIENTS},
	{WTI_MOMENT_STATE,
	 WT_THINNED_OPTIMIZER | WT_THINNED_BUFFERS | WT_THINNED_MODES | WT_THINNED_RNG},
	{WTI_MOMENT_CALL,
	 WT_THINNED_CALLS | WT_THINNED_ARGUMENTS | WT_THINNED_DIGESTS | WT_THINNED_UNNEEDED_CALLS},
};

static uint32_t needs_of(const struct wti_rule *rule)
{
	uint32_t needs = 0;

	/* What did not happen may have happened unseen. */
	if (rule->flags & WTI_RULE_ABSENCE)
		needs = ~(uint32_t)(WT_THINNED_DIGESTS | WT_THINNED_STATISTICS);
	for (size_t i = 0; i < sizeof(made_of) / sizeof(made_of[0]); i++)
		if (rule->moments & made_of[i].moments)
			needs |= made_of[i].omits;
	return needs;
}

const struct wti_rule *wti_rule_by_code(const char *code)
{
	for (size_t i = 0; wti_rules[i]; i++)
		if (!strcmp(wti_rules[i]->code, code))
			return wti_rules[i];
	return NULL;
}

/* ---- Accounts ------------------------------------------------------------------------------- */

/* Most moments are wanted by a few: nobody else is asked. */
static bool list_listeners(struct wti_judge *judge)
{
	judge->listeners = calloc(judge->count * WTI_MOMENT_TYPES + 1, sizeof(*judge->listeners));
	for (size_t type = 0; judge->listeners && type < WTI_MOMENT_TYPES; type++)
		for (uint32_t i = 0; i < judge->count; i++)
			if (wti_rules[i]->moments & 1u << type)
				judge->listeners[type * judge->count +
						 judge->listener_counts[type]++] = i;
	return judge->listeners;
}

/* A threshold like any other, but the judge itself goes by it. */
static void set_in_a_row(struct wti_case *account)
{
	const struct wti_threshold *thresholds = account->rule->thresholds;

	account->in_a_row = 1;
	for (unsigned i = 0; i < WTI_THRESHOLDS_MAX && thresholds[i].name; i++)
		if (!strcmp(thresholds[i].name, WTI_IN_A_ROW))
			account->in_a_row = (uint64_t)account->thresholds[i];
}

int wti_judge_init(struct wti_judge *judge, const struct wti_training *training, struct wt_err *err)
{
	size_t count = 0;

	while (wti_rules[count])
		count++;
	*judge = (struct wti_judge){.training = training, .count = count};
	judge->cases = calloc(count, sizeof(*judge->cases));
	if (judge->cases && !list_listeners(judge))
		wti_judge_release(judge);
	for (size_t i = 0; judge->cases && i < count; i++) {
		struct wti_case *account = &judge->cases[i];

		account->rule = wti_rules[i];
		account->severity = wti_rules[i]->severity;
		account->training = training;
		account->needs = needs_of(account->rule);
		account->first_step = account->last_step = -1;
		for (unsigned j = 0; j < WTI_THRESHOLDS_MAX; j++)
			account->thresholds[j] = account->rule->thresholds[j].value;
		wti_map_init(&account->subjects, WTI_SUBJECTS_MAX);
		wti_map_init(&account->ranks, RANKS_MAX);
		set_in_a_row(account);
		for (unsigned j = 0; j < WTI_KEEPS_MAX; j++)
			wti_keep_init(&account->keeps[j], account->rule->keeps[j]);
		account->state = calloc(1, account->rule->state_bytes + 1);
		if (!account->state) {
			wti_judge_release(judge);
			break;
		}
	}
	return judge->cases ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

void wti_judge_release(struct wti_judge *judge)
{
	for (size_t i = 0; i < judge->count && judge->cases; i++) {
		struct wti_case *account = &judge->cases[i];

		if (account->state && account->rule->release)
			account->rule->release(account->state);
		free(account->state);
		for (unsigned j = 0; j < WTI_KEEPS_MAX; j++)
			wti_keep_release(&account->keeps[j]);
		free(account->evidence);
		free(account->not_this);
		wti_map_release(&account->subjects);
		wti_map_release(&account->ranks);
	}
	free(judge->cases);
	free(judge->listeners);
	*judge = (struct wti_judge){0};
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void take_answer(struct wti_case *account, enum wti_answer answer)
{
	if (answer == WTI_RULE_HELD)
		wti_held(account);
	if (answer == WTI_RULE_BREAK && account->asked)
		account->asked->streak = 0;
	account->asked = NULL;
	account->has_since = false;
}

static void ask_with(struct wti_case *account, struct wti_kept_memory *kept,
		     const struct wti_moment *moment)
{
	if (!kept)
		return;
	account->asked = kept;
	take_answer(account, account->rule->see(account, kept->memory, moment));
}

/* An optimizer's moment is one of each of its parameters. */
static void ask_members(struct wti_case *account, const struct wti_moment *moment)
{
	struct wti_moment of_member = *moment;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		of_member.parameter = wti_object_member(moment->training, moment->object, i);
		ask_with(account, wti_keep_of(&account->keeps[0], &of_member), &of_member);
	}
}

/* With all of the process that there is by now. */
static void sweep(struct wti_case *account, const struct wti_moment *moment)
{
	struct wti_keep *keep = &account->keeps[0];
	size_t count = keep->kept.count;

	for (size_t i = 0; i < count; i++)
		if (wti_keep_at(keep, i)->stream == moment->process->stream)
			ask_with(account, wti_keep_at(keep, i), moment);
}

static void ask(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_rule *rule = account->rule;
	enum wti_per per = rule->keeps[0].per;

	if (rule->callees && moment->type == WTI_MOMENT_CALL &&
	    !(rule->callees & WTI_CALLEE_SET(moment->call->what)))
		return;
	else if (rule->sweeps & moment->type)
		sweep(account, moment);
	else if (per == WTI_PER_NOTHING)
		take_answer(account, rule->see(account, NULL, moment));
	else if ((per == WTI_PER_PARAMETER || per == WTI_PER_REPLICA) && !moment->parameter &&
		 moment->object)
		ask_members(account, moment);
	else
		ask_with(account, wti_keep_of(&account->keeps[0], moment), moment);
}

void wti_judge_moment(struct wti_judge *judge, const struct wti_moment *moment)
{
	size_t type = (size_t)__builtin_ctz(moment->type);
	const uint32_t *listeners = &judge->listeners[type * judge->count];

	if (moment->type == WTI_MOMENT_LOST)
		judge->lost_count += moment->count;
	judge->omitted |= moment->process->omitted;
	for (uint32_t i = 0; i < judge->listener_counts[type]; i++) {
		struct wti_case *account = &judge->cases[listeners[i]];

		if (!(account->needs & moment->process->omitted))
			ask(account, moment);
	}
}

/* ---- The end -------------------------------------------------------------------------------- */

void wti_judge_set(struct wti_judge *judge, const struct wti_setting *settings, size_t count)
{
	for (size_t i = 0; i < judge->count; i++)
		for (size_t j = 0; j < count; j++)
			if (settings[j].rule == judge->cases[i].rule) {
				judge->cases[i].thresholds[settings[j].threshold] =
					settings[j].value;
				set_in_a_row(&judge->cases[i]);
			}
}

void wti_judge_audit(struct wti_judge *judge, const struct wti_ledger *ledger,
		     const struct wti_coverage *coverage)
{
	judge->lost_call_count = coverage->missing_count;
	judge->has_alive = coverage->has_alive;
	judge->has_some_calls = !coverage->is_whole;
	for (size_t i = 0; i < judge->count && coverage->call_count; i++)
		if (judge->cases[i].rule->audit)
			judge->cases[i].rule->audit(&judge->cases[i], ledger);
}

void wti_judge_survey(struct wti_judge *judge, const struct wti_work *work)
{
	for (size_t i = 0; i < judge->count; i++)
		if (judge->cases[i].rule->survey)
			judge->cases[i].rule->survey(&judge->cases[i], work);
}

static void finish_case(struct wti_judge *judge, struct wti_case *account)
{
	const struct wti_rule *rule = account->rule;
	struct wti_keep *keep = &account->keeps[0];

	for (size_t i = 0; rule->finish && i < keep->kept.count; i++) {
		struct wti_kept_memory *kept = wti_keep_at(keep, i);
		struct wti_moment end = wti_moment_of_end(judge->training, kept->stream);

		end.object = kept->object ? kept->object : end.object;
		end.parameter = kept->parameter;
		account->asked = kept;
		take_answer(account, rule->finish(account, kept->memory, &end));
	}
}

void wti_judge_finish(struct wti_judge *judge, struct wt_result *result)
{
	for (size_t i = 0; i < judge->count; i++)
		if (!(judge->omitted & judge->cases[i].needs))
			finish_case(judge, &judge->cases[i]);
	wti_judge_add_findings(judge, result);
	wti_judge_add_rules(judge, result);
}
