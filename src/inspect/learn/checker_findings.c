/* SPDX-License-Identifier: Apache-2.0 */
/* What the checker has to say: one finding a cause, with what follows from it beneath. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/core/outcomes.h"
#include "base/buf.h"
#include "causes.h"
#include "level.h"

#define TEXT_MAX 4096u
#define BENEATH_SHOWN 3u

/* Whether it seems violated because the run was recorded at another level. */
static bool is_of_level(const struct wti_checker *checker, const struct wti_account *account)
{
	return wti_account_is_violated(account) &&
	       wti_levels_explain(checker->pack, checker->levels, account->invariant);
}

static bool is_measured(const struct wti_checker *checker, const struct wti_account *account)
{
	const struct wti_relation *relation = wti_relations[account->invariant->relation];

	if (account->is_suppressed || (checker->lost_count && relation->needs_all) ||
	    is_of_level(checker, account))
		return false;
	return account->held_count || account->violation_count;
}

static bool is_violated(const struct wti_checker *checker, const struct wti_account *account)
{
	return wti_account_is_violated(account) && is_measured(checker, account);
}

/* Sooner, then more often right before, then more general, then by name. */
static int by_weight(const void *a, const void *b)
{
	const struct wti_account *left = *(const struct wti_account *const *)a;
	const struct wti_account *right = *(const struct wti_account *const *)b;
	const struct wti_invariant *l = left->invariant, *r = right->invariant;
	int order = (left->first_step > right->first_step) - (left->first_step < right->first_step);

	if (!order)
		order = (l->relation > r->relation) - (l->relation < r->relation);
	if (!order)
		order = (l->support.program_count < r->support.program_count) -
			(l->support.program_count > r->support.program_count);
	if (!order)
		order = (l->confidence < r->confidence) - (l->confidence > r->confidence);
	return order ? order : strcmp(l->id, r->id);
}

static void add_about(struct wti_buf *out, const struct wti_checker *checker,
		      const struct wti_account *account)
{
	uint32_t shown =
		account->about_count < WTI_ABOUT_SHOWN ? account->about_count : WTI_ABOUT_SHOWN;

	for (uint32_t i = 0; i < shown; i++)
		wti_buf_printf(out, "%s%s", i ? ", " : "",
			       wti_symbol_text(checker->symbols, account->about[i]));
	if (account->about_count > shown)
		wti_buf_text(out, " and more");
	if (shown)
		wti_buf_text(out, ": ");
}

/* "Optimizer.zero_grad not in its place; " */
static void add_acts(struct wti_buf *out, const struct wti_checker *checker,
		     const struct wti_account *account)
{
	uint32_t acts[WTI_ACTS_MAX];
	size_t count = wti_causes_acts(account, acts);

	for (size_t i = 0; i < count; i++)
		wti_buf_printf(out, "%s%s", i ? ", " : "",
			       wti_symbol_text(&checker->pack->symbols, acts[i]));
	wti_buf_printf(out, " missing or not in %s place; ", count > 1 ? "their" : "its");
}

static void evidence_text(struct wti_buf *out, const struct wti_checker *checker,
			  const struct wti_account *account)
{
	const struct wti_support *support = &account->invariant->support;

	add_about(out, checker, account);
	if (account->invariant->fact.form == WTI_FORM_BEFORE)
		add_acts(out, checker, account);
	wti_buf_printf(out, "the good runs had it %llu times, in %u run%s (%s)",
		       (unsigned long long)support->for_count, support->run_count,
		       support->run_count == 1 ? "" : "s", account->invariant->id);
}

/* What was observed here, then what the good runs had. */
static void title_text(struct wti_buf *out, const struct wti_checker *checker,
		       const struct wti_account *account)
{
	const struct wti_invariant *invariant = account->invariant;
	struct wti_words words;

	wti_invariant_read(&words, checker->pack, invariant);
	wti_buf_printf(out, "%s: ", wti_relations[invariant->relation]->title);
	if (invariant->fact.form == WTI_FORM_RANGE)
		wti_buf_printf(out, "observed %g; in the good runs ", account->actual);
	else if (account->instead)
		wti_buf_printf(out, "observed %s %s; in the good runs ", words.a,
			       wti_symbol_text(checker->symbols, account->instead));
	else
		wti_buf_text(out, "not so in this run: ");
	wti_invariant_words(out, checker->pack, invariant);
}

static void ranks_text(struct wti_buf *out, uint64_t ranks)
{
	for (unsigned i = 0, any = 0; i < 64; i++)
		if (ranks >> i & 1)
			wti_buf_printf(out, "%s%u", any++ ? ", " : "", i);
}

/* Other invariants that the same cause violates. */
static void follows_text(struct wti_buf *out, const struct wti_checker *checker,
			 const struct wti_account *const *group, size_t count)
{
	for (size_t i = 1; i < count && i <= BENEATH_SHOWN; i++) {
		wti_buf_text(out, i > 1 ? "; " : "not so either: ");
		wti_invariant_words(out, checker->pack, group[i]->invariant);
	}
	if (count > BENEATH_SHOWN + 1)
		wti_buf_printf(out, "; and %zu more", count - 1 - BENEATH_SHOWN);
}

/*
 * Whether the good runs are evidence enough for an error. What chance decides may be another in the
 * next run as a whole, so that it takes many of them. What the program decides takes two: of what
 * happens now and then, one run alone does not show that it can. Who wrote down an invariant
 * without runs is believed.
 */
static bool is_grave(const struct wti_account *account)
{
	const struct wti_support *support = &account->invariant->support;
	uint32_t units = wti_units_of_support(support->run_count, support->program_count);
	uint64_t all = account->violation_count + account->held_count;

	if (account->invariant->confidence < WTI_SURE)
		return false;
	if (!support->program_count)
		return true;
	if (account->is_of_chance)
		return wti_is_sure_of_next(units);
	return units > 1 || wti_is_beyond_chance(account->violation_count, all, units);
}

/* As grave as the gravest of what has the same cause. */
static enum wt_severity severity_of(const struct wti_checker *checker,
				    const struct wti_account *const *group, size_t count)
{
	for (size_t i = 0; i < count && !checker->is_builtin; i++)
		if (is_grave(group[i]))
			return WT_ERROR;
	return WT_WARNING;
}

static void add_finding(const struct wti_checker *checker, const struct wti_account *const *group,
			size_t count, struct wt_result *result)
{
	const struct wti_account *account = group[0];
	const struct wti_relation *relation = wti_relations[account->invariant->relation];
	bool is_number = account->invariant->fact.form == WTI_FORM_RANGE && relation->number_means;
	struct wti_buf title, evidence, follows, ranks;

	wti_buf_init(&title, TEXT_MAX);
	wti_buf_init(&evidence, TEXT_MAX);
	wti_buf_init(&follows, TEXT_MAX);
	wti_buf_init(&ranks, TEXT_MAX);
	title_text(&title, checker, account);
	evidence_text(&evidence, checker, account);
	follows_text(&follows, checker, group, count);
	ranks_text(&ranks, account->ranks);
	wt_result_finding(result,
			  &(struct wt_finding){
				  .code = relation->code,
				  .severity = severity_of(checker, group, count),
				  .title = wti_buf_cstr(&title),
				  .step = account->first_step,
				  .rank = account->ranks ? __builtin_ctzll(account->ranks) : -1,
				  .ranks = ranks.bytes ? wti_buf_cstr(&ranks) : NULL,
				  .stage = account->where.stage,
				  .op = account->where.op,
				  .file = account->where.file,
				  .line = account->where.file ? account->where.line : -1,
				  .evidence = wti_buf_cstr(&evidence),
				  .first_step = account->first_step,
				  .last_step = account->last_step,
				  .count = account->violation_count,
				  .case_count = account->held_count + account->violation_count,
				  .means = is_number ? relation->number_means : relation->means,
				  .hint = is_number ? relation->number_hint : relation->hint,
				  .follows = follows.bytes ? wti_buf_cstr(&follows) : NULL,
			  });
	wti_buf_release(&title);
	wti_buf_release(&evidence);
	wti_buf_release(&follows);
	wti_buf_release(&ranks);
}

/* All that were violated, by weight; how many. */
static size_t sort_violated(struct wti_checker *checker, struct wti_account **sorted)
{
	size_t count = 0;

	for (size_t i = 0; i < checker->pack->count; i++)
		if (is_violated(checker, &checker->accounts[i]))
			sorted[count++] = &checker->accounts[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_weight);
	return count;
}

/* The built-in pack is asked beside the rules, which know causes better: what begins when a rule
 * has spoken, or after that, is what follows from it. */
static bool is_of_a_rule(const struct wti_checker *checker, const struct wti_account *account)
{
	return checker->is_builtin && checker->rules_since <= account->first_step + 1;
}

/* One finding per cause: its first account, then the others of that cause. Returns how many. */
static size_t add_causes(const struct wti_checker *checker, struct wti_account **sorted,
			 const struct wti_cause *causes, size_t count,
			 const struct wti_account **group, struct wt_result *result, bool only_news)
{
	size_t findings = 0;

	for (size_t from = 0, to; from < count; from = to) {
		bool is_news = true;

		for (to = from; to < count && causes[to].first == causes[from].first; to++) {
			struct wti_account *account = sorted[causes[to].place];

			group[to - from] = account;
			is_news = is_news && !account->is_emitted;
			account->is_emitted = true;
		}
		if ((only_news && !is_news) || is_of_a_rule(checker, group[0]))
			continue;
		add_finding(checker, group, to - from, result);
		findings++;
	}
	return findings;
}

static size_t add_findings(struct wti_checker *checker, struct wt_result *result, bool only_news)
{
	size_t places = checker->pack->count + 1, count, findings = 0;
	struct wti_account **sorted = calloc(places, sizeof(*sorted));
	const struct wti_account **group = calloc(places, sizeof(*group));
	struct wti_cause *causes = calloc(places, sizeof(*causes));

	count = sorted ? sort_violated(checker, sorted) : 0;
	if (group && causes && wti_causes_find(checker, sorted, count, causes))
		findings = add_causes(checker, sorted, causes, count, group, result, only_news);
	free(sorted);
	free(group);
	free(causes);
	return findings;
}

/* ---- The table ------------------------------------------------------------------------------ */

static const char *why_not(const struct wti_checker *checker, const struct wti_account *account)
{
	const struct wti_relation *relation = wti_relations[account->invariant->relation];

	if (account->is_suppressed)
		return "suppressed";
	if (checker->lost_count && relation->needs_all)
		return "events were lost";
	if (is_of_level(checker, account))
		return "it was learned at another level than the run was recorded at";
	return relation->needs;
}

static void add_row(const struct wti_checker *checker, const struct wti_account *account,
		    struct wt_table *table)
{
	bool measured = is_measured(checker, account);
	bool violated = wti_account_is_violated(account);
	const char *outcome = !measured ? "not measured" : violated ? "violated" : "held";
	const char *why = !measured                               ? why_not(checker, account)
			  : !violated && account->violation_count ? "so few may be chance"
								  : "";
	struct wti_buf words;

	wti_buf_init(&words, TEXT_MAX);
	wti_invariant_words(&words, checker->pack, account->invariant);
	wt_table_row(table);
	wt_table_text(table, account->invariant->id, strlen(account->invariant->id));
	wt_table_text(table, outcome, strlen(outcome));
	wt_table_count(table, account->held_count);
	wt_table_count(table, account->violation_count);
	wt_table_text(table, wti_buf_cstr(&words), strlen(wti_buf_cstr(&words)));
	wt_table_text(table, why, strlen(why));
	wti_buf_release(&words);
}

static void note_levels(const struct wti_checker *checker, struct wt_result *result)
{
	unsigned long long count = 0;
	struct wti_buf text;

	if (!wti_levels_differ(checker->pack->levels, checker->levels) || checker->is_builtin)
		return;
	for (size_t i = 0; i < checker->pack->count; i++)
		count += is_of_level(checker, &checker->accounts[i]);
	wti_buf_init(&text, TEXT_MAX);
	wti_buf_text(&text, "the run was recorded at ");
	wti_levels_words(&text, checker->levels);
	wti_buf_text(&text, ", what the pack was learned from at ");
	wti_levels_words(&text, checker->pack->levels);
	wti_buf_printf(&text,
		       ": %llu invariants that would be violated by that alone are not measured",
		       count);
	wt_result_note(result, "%s", wti_buf_cstr(&text));
	wti_buf_release(&text);
}

/* The first reason why nothing of a pack was measured; NULL: something was. */
static const char *why_nothing(const struct wti_checker *checker, size_t number)
{
	const char *why = "it has no invariants";
	bool any = false;

	for (size_t i = 0; i < checker->pack->count; i++) {
		const struct wti_account *account = &checker->accounts[i];

		if (!(account->invariant->origins >> number & 1))
			continue;
		if (is_measured(checker, account))
			return NULL;
		if (!any)
			why = why_not(checker, account);
		any = true;
	}
	return why;
}

/* Of several packs that were given, each has to be measured: one that says nothing is no pass. */
static bool note_packs(const struct wti_checker *checker, struct wt_result *result)
{
	bool all = true;

	for (size_t i = 0; i < checker->pack_count && i < 64; i++) {
		const char *why = why_nothing(checker, i);

		if (!why)
			continue;
		all = false;
		wt_result_note(result, "nothing of the pack '%s' could be measured: %s",
			       checker->pack_names[i], why);
	}
	return all;
}

static void set_status(const struct wti_checker *checker, struct wt_result *result,
		       uint64_t violated, uint64_t held)
{
	bool has_packs = note_packs(checker, result);

	if (violated || (checker->beside_rules && !strcmp(result->status, "findings")))
		wt_result_set_status(result, "findings");
	else if (held && has_packs)
		wt_result_set_status(result, "clean");
	else if (!checker->beside_rules)
		wt_result_set_status(result, "not_measured");
}

static void add_table(const struct wti_checker *checker, struct wt_result *result)
{
	static const struct wti_outcome_titles titles = {"invariants", "Invariants", "id",
							 "invariant",  "what holds", "why"};
	struct wt_table *table = wti_outcome_table(result, &titles);
	struct wti_outcomes count = {0};

	for (size_t i = 0; i < checker->pack->count; i++) {
		const struct wti_account *account = &checker->accounts[i];

		add_row(checker, account, table);
		wti_outcome_count(&count, is_measured(checker, account),
				  wti_account_is_violated(account));
	}
	wti_outcome_facts(result, &count, titles.table);
	note_levels(checker, result);
	if (checker->suppressed_count)
		wt_result_note(result, "%llu invariants are suppressed by the pack",
			       (unsigned long long)checker->suppressed_count);
	set_status(checker, result, count.violated, count.held);
}

void wti_checker_finish(struct wti_checker *checker, struct wt_result *result)
{
	add_findings(checker, result, false);
	add_table(checker, result);
}

size_t wti_checker_news(struct wti_checker *checker, struct wt_result *result)
{
	if (!checker->has_news)
		return 0;
	checker->has_news = false;
	return add_findings(checker, result, true);
}
