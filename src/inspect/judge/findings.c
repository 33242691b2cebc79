/* SPDX-License-Identifier: Apache-2.0 */
/* What was put down of the rules, as findings, one a cause, and as the table of rules. */
#include <stdlib.h>
#include <string.h>

#include "inspect/core/outcomes.h"
#include "base/buf.h"
#include "judge.h"

#define TEXT_MAX 4096u
#define OMITTED_TEXT                                                                               \
	"what it judges by was left out of the recording (--budget, --sample, --invariants)"

static int by_number(const void *a, const void *b)
{
	const struct wti_map_entry *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* "0, 2-3", if not all of one process. */
static void ranks_text(struct wti_buf *out, const struct wti_case *account)
{
	size_t count = account->ranks.count;
	struct wti_map_entry *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return;
	if (count)
		memcpy(sorted, account->ranks.entries, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_number);
	for (size_t from = 0, to; from < count; from = to + 1) {
		to = from;
		while (to + 1 < count && sorted[to + 1].key == sorted[to].key + 1)
			to++;
		wti_buf_printf(out, "%s%llu", from ? ", " : "",
			       (unsigned long long)sorted[from].key);
		if (to > from)
			wti_buf_printf(out, "-%llu", (unsigned long long)sorted[to].key);
	}
	free(sorted);
}

/* Another model has a parameter of this name, too. */
static bool is_ambiguous(const struct wti_training *training, uint32_t owner, uint32_t name)
{
	for (size_t i = 0; owner && i < training->parameters.count; i++) {
		const struct wti_parameter *other = wti_parameter_at(training, i);

		if (other->name == name && other->owner != owner)
			return true;
	}
	return false;
}

/* "fc1.weight", or "Net#1.fc1.weight" where the name alone could be of several. */
static void subject_text(struct wti_buf *out, const struct wti_training *training, uint64_t key)
{
	uint32_t owner = (uint32_t)(key >> 32), name = (uint32_t)key;

	if (is_ambiguous(training, owner, name))
		wti_buf_printf(out, "%s.", wti_symbol_text(training->symbols, owner));
	wti_buf_text(out, wti_symbol_text(training->symbols, name));
}

/* "fc1.weight, fc1.bias and 6 more: " before the evidence. */
static void evidence_text(struct wti_buf *out, const struct wti_case *account)
{
	size_t count = account->subjects.count;

	for (size_t i = 0; i < count && i < WTI_SUBJECTS_SHOWN; i++) {
		wti_buf_text(out, i ? ", " : "");
		subject_text(out, account->training, account->subjects.entries[i].key);
	}
	if (count > WTI_SUBJECTS_SHOWN)
		wti_buf_printf(out, " and %zu more", count - WTI_SUBJECTS_SHOWN);
	if (count)
		wti_buf_text(out, ": ");
	wti_buf_text(out, account->evidence ? account->evidence : "");
}

static const struct wti_case *case_of(const struct wti_judge *judge, const char *code)
{
	for (size_t i = 0; i < judge->count; i++)
		if (!strcmp(judge->cases[i].rule->code, code))
			return &judge->cases[i];
	return NULL;
}

/* A cause cannot come after what it causes. */
static bool explains(const struct wti_case *cause, const struct wti_case *other)
{
	if (!cause->violation_count || !other->violation_count || cause == other)
		return false;
	if (cause->first_step > other->known_step && other->known_step >= 0)
		return false;
	for (const char *const *code = cause->rule->explains; code && *code; code++)
		if (!strcmp(*code, other->rule->code))
			return true;
	return false;
}

/* Of several causes the one that began first. */
static const struct wti_case *cause_of(const struct wti_judge *judge, const struct wti_case *other)
{
	const struct wti_case *first = NULL;

	for (size_t i = 0; i < judge->count; i++) {
		const struct wti_case *cause = &judge->cases[i];

		if (explains(cause, other) && !explains(other, cause) &&
		    (!first || cause->first_step < first->first_step))
			first = cause;
	}
	return first;
}

static void follows_text(struct wti_buf *out, const struct wti_judge *judge,
			 const struct wti_case *cause)
{
	for (const char *const *code = cause->rule->explains; code && *code; code++) {
		const struct wti_case *other = case_of(judge, *code);

		if (other && cause_of(judge, other) == cause)
			wti_buf_printf(out, "%s%s %s", out->bytes ? "; " : "", *code,
				       other->rule->title);
	}
}

static void add_finding(const struct wti_judge *judge, const struct wti_case *account,
			struct wt_result *result)
{
	const struct wti_rule *rule = account->rule;
	struct wti_buf evidence, follows, ranks;

	wti_buf_init(&evidence, TEXT_MAX);
	wti_buf_init(&follows, TEXT_MAX);
	wti_buf_init(&ranks, TEXT_MAX);
	evidence_text(&evidence, account);
	follows_text(&follows, judge, account);
	ranks_text(&ranks, account);
	wt_result_finding(
		result,
		&(struct wt_finding){
			.code = rule->code,
			.severity = account->severity,
			.title = rule->title,
			.step = account->first_step,
			.rank = account->ranks.count ? (int64_t)account->ranks.entries[0].key : -1,
			.ranks = ranks.bytes ? wti_buf_cstr(&ranks) : NULL,
			.stage = account->where.stage,
			.op = account->where.op,
			.file = account->where.file,
			.line = account->where.line,
			.evidence = wti_buf_cstr(&evidence),
			.first_step = account->first_step,
			.last_step = account->last_step,
			.count = account->violation_count,
			.case_count = account->held_count + account->violation_count,
			.means = rule->means,
			.hint = rule->hint,
			.not_this = account->not_this,
			.follows = follows.bytes ? wti_buf_cstr(&follows) : NULL,
		});
	wti_buf_release(&evidence);
	wti_buf_release(&follows);
	wti_buf_release(&ranks);
}

/* ---- Measured or not ------------------------------------------------------------------------- */

/* Of what was lost, whether it makes a rule unable to say that it held. */
static bool has_lost(const struct wti_judge *judge, const struct wti_case *account)
{
	uint32_t flags = account->rule->flags;

	if (account->rule->audit)
		return judge->lost_call_count &&
		       (flags & WTI_RULE_ABSENCE ||
			(flags & WTI_RULE_COUNTS && !account->violation_count));
	return judge->lost_count && flags & WTI_RULE_ABSENCE;
}

static bool has_too_few_calls(const struct wti_judge *judge, const struct wti_case *account)
{
	return judge->has_some_calls && account->rule->flags & WTI_RULE_ALL_CALLS;
}

static const char *why_not(const struct wti_judge *judge, const struct wti_case *account)
{
	if (has_too_few_calls(judge, account))
		return "only some system calls were recorded (--syscalls=EXPR)";
	if (has_lost(judge, account))
		return !account->rule->audit ? "events were lost"
		       : judge->has_alive    ? "a process outlived the recording, and what it did "
					       "later was not seen: record with --wait"
					     : "system calls were lost, or too many to be kept "
					       "apart";
	if (judge->omitted & account->needs)
		return OMITTED_TEXT;
	return account->why_not ? account->why_not : account->rule->needs;
}

static bool is_measured(const struct wti_judge *judge, const struct wti_case *account)
{
	if (has_lost(judge, account) || has_too_few_calls(judge, account))
		return false;
	return account->violation_count || account->held_count;
}

static void add_rule_row(const struct wti_judge *judge, const struct wti_case *account,
			 struct wt_table *table)
{
	const char *outcome = account->violation_count ? "violated" : "held";
	const char *why = "";

	if (!is_measured(judge, account)) {
		outcome = "not measured";
		why = why_not(judge, account);
	}
	wt_table_row(table);
	wt_table_text(table, account->rule->code, strlen(account->rule->code));
	wt_table_text(table, outcome, strlen(outcome));
	wt_table_count(table, account->held_count);
	wt_table_count(table, account->violation_count);
	wt_table_text(table, account->rule->title, strlen(account->rule->title));
	wt_table_text(table, why, strlen(why));
}

void wti_judge_add_rules(const struct wti_judge *judge, struct wt_result *result)
{
	static const struct wti_outcome_titles titles = {
		"rules", "Rules", "code", "rule", "what would be found", "why not measured"};
	struct wt_table *table = wti_outcome_table(result, &titles);
	struct wti_outcomes count = {0};

	for (size_t i = 0; i < judge->count; i++) {
		const struct wti_case *account = &judge->cases[i];

		add_rule_row(judge, account, table);
		wti_outcome_count(&count, is_measured(judge, account), account->violation_count);
	}
	wti_outcome_facts(result, &count, titles.table);
	wt_result_set_status(result, count.violated ? "findings"
				     : count.held   ? "clean"
						    : "not_measured");
}

/* Errors first; among them what began first, as causes do. */
static int by_gravity(const void *a, const void *b)
{
	const struct wti_case *left = *(const struct wti_case *const *)a;
	const struct wti_case *right = *(const struct wti_case *const *)b;

	if (left->severity != right->severity)
		return left->severity > right->severity ? -1 : 1;
	if (left->first_step != right->first_step)
		return left->first_step < right->first_step ? -1 : 1;
	return (left > right) - (left < right); /* by code, as in the table */
}

void wti_judge_add_findings(const struct wti_judge *judge, struct wt_result *result)
{
	const struct wti_case **shown = calloc(judge->count + 1, sizeof(*shown));
	size_t count = 0;

	for (size_t i = 0; shown && i < judge->count; i++) {
		const struct wti_case *account = &judge->cases[i];

		if (account->violation_count && is_measured(judge, account) &&
		    !cause_of(judge, account))
			shown[count++] = account;
	}
	if (count)
		qsort(shown, count, sizeof(*shown), by_gravity);
	for (size_t i = 0; i < count; i++)
		add_finding(judge, shown[i], result);
	free(shown);
}

size_t wti_judge_news(struct wti_judge *judge, struct wt_result *result)
{
	size_t count = 0;

	for (size_t i = 0; i < judge->count; i++) {
		struct wti_case *account = &judge->cases[i];

		if (account->is_reported || !account->violation_count || cause_of(judge, account))
			continue;
		account->is_reported = true;
		add_finding(judge, account, result);
		count++;
	}
	return count;
}
