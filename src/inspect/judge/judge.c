/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping account of what the rules say, and making findings of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "judge.h"

#define TEXT_MAX 4096u
#define RANKS_MAX 65536u

/* ---- What was left out ---------------------------------------------------------------------- */

#define LACKS_TEXT                                                                                 \
	"what it judges by was left out of the recording (--budget, --sample, --invariants)"

/* What moments are made of: where it lacks they do not come, or say less than they seem to. */
static const struct {
	uint32_t moments, lacks;
} made_of[] = {
	{WTI_MOMENT_STEP | WTI_MOMENT_GRADIENTS, WTI_LACKS_GRADIENTS},
	{WTI_MOMENT_STEPPED, WTI_LACKS_PARAMETERS | WTI_LACKS_GRADIENTS},
	{WTI_MOMENT_SCHEDULER | WTI_MOMENT_SCALER, WTI_LACKS_OPTIMIZER},
	{WTI_MOMENT_BATCH | WTI_MOMENT_ROW, WTI_LACKS_DATA},
	{WTI_MOMENT_LOSS, WTI_LACKS_LOSSES},
	{WTI_MOMENT_SAVE | WTI_MOMENT_LOAD,
	 WTI_LACKS_PARAMETERS | WTI_LACKS_OPTIMIZER | WTI_LACKS_RNG},
	{WTI_MOMENT_TENSOR, WTI_LACKS_STATISTICS | WTI_LACKS_PARAMETERS | WTI_LACKS_GRADIENTS},
	{WTI_MOMENT_STATE,
	 WTI_LACKS_OPTIMIZER | WTI_LACKS_BUFFERS | WTI_LACKS_MODES | WTI_LACKS_RNG},
	{WTI_MOMENT_CALL,
	 WTI_LACKS_CALLS | WTI_LACKS_ARGUMENTS | WTI_LACKS_DIGESTS | WTI_LACKS_UNNEEDED},
};

static uint32_t needs_of(const struct wti_rule *rule)
{
	uint32_t needs = 0;

	/* What did not happen may have happened unseen. */
	if (rule->flags & WTI_RULE_ABSENCE)
		needs = ~(uint32_t)(WTI_LACKS_DIGESTS | WTI_LACKS_STATISTICS);
	for (size_t i = 0; i < sizeof(made_of) / sizeof(made_of[0]); i++)
		if (rule->moments & made_of[i].moments)
			needs |= made_of[i].lacks;
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
	judge->lacked |= moment->process->lacked;
	for (uint32_t i = 0; i < judge->listener_counts[type]; i++) {
		struct wti_case *account = &judge->cases[listeners[i]];

		if (!(account->needs & moment->process->lacked))
			ask(account, moment);
	}
}

/* ---- What rules call ------------------------------------------------------------------------ */

static void *memory_of(struct wti_kept_memory *kept)
{
	return kept ? kept->memory : NULL;
}

void *wti_kept(struct wti_case *account, unsigned which, const struct wti_moment *moment)
{
	return memory_of(wti_keep_of(&account->keeps[which], moment));
}

void *wti_kept_of_object(struct wti_case *account, unsigned which, const struct wti_object *object)
{
	return memory_of(wti_keep_of_object(&account->keeps[which], object));
}

void *wti_kept_of_parameter(struct wti_case *account, unsigned which,
			    const struct wti_parameter *parameter)
{
	return memory_of(wti_keep_of_parameter(&account->keeps[which], parameter));
}

void *wti_kept_of_key(struct wti_case *account, unsigned which, size_t stream, uint64_t key)
{
	return memory_of(wti_keep_of_key(&account->keeps[which], stream, key));
}

const void *wti_kept_find_key(const struct wti_case *account, unsigned which, size_t stream,
			      uint64_t key)
{
	const struct wti_kept_memory *kept = wti_keep_find_key(&account->keeps[which], stream, key);

	return kept ? kept->memory : NULL;
}

void *wti_kept_next(struct wti_case *account, unsigned which, size_t stream, size_t *place)
{
	struct wti_keep *keep = &account->keeps[which];

	while (*place < keep->kept.count) {
		struct wti_kept_memory *kept = wti_keep_at(keep, (*place)++);

		if (kept->stream == stream)
			return kept->memory;
	}
	return NULL;
}

void wti_kept_forget(struct wti_case *account, unsigned which)
{
	wti_keep_forget(&account->keeps[which]);
}

void *wti_state(struct wti_case *account)
{
	return account->state;
}

void wti_held(struct wti_case *account)
{
	account->held_count++;
	if (account->asked)
		account->asked->streak = 0;
}

uint32_t wti_streak(const struct wti_case *account)
{
	return account->asked ? account->asked->streak + 1 : 1;
}

void wti_raise(struct wti_case *account, enum wt_severity severity)
{
	if (severity > account->severity)
		account->severity = severity;
}

void wti_not_measured(struct wti_case *account, const char *why)
{
	account->why_not = why;
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

/* A symbol; of a parameter with its owner above it, since two models may have one of a name. */
static uint64_t subject_key(const struct wti_moment *moment, uint32_t subject)
{
	const struct wti_parameter *parameter = moment->parameter;

	return parameter && parameter->name == subject ? (uint64_t)parameter->owner << 32 | subject
						       : subject;
}

enum wti_answer wti_violated(struct wti_case *account, const struct wti_moment *moment,
			     uint32_t subject, const char *evidence, ...)
{
	uint64_t *count;
	va_list args;

	if (account->asked && ++account->asked->streak < account->in_a_row)
		return WTI_RULE_VIOLATED;
	count = subject ? wti_map_number(&account->subjects, subject_key(moment, subject)) : NULL;
	if (count)
		++*count;
	if (moment->scope.rank >= 0)
		wti_map_number(&account->ranks, (uint64_t)moment->scope.rank);
	wti_scope_widen(&account->first_step, &account->last_step, moment->scope.step,
			!account->violation_count);
	if (account->violation_count++)
		return WTI_RULE_VIOLATED;
	account->where = wti_moment_where(moment);
	va_start(args, evidence);
	account->evidence = format_text(evidence, args);
	va_end(args);
	return WTI_RULE_VIOLATED;
}

/* The innermost line that an agent told of the thread. */
static struct wti_where where_of_spot(const struct wti_case *account, const struct wti_spot *spot)
{
	struct wti_where where = {.line = -1, .op = spot->op};
	struct wti_symbols *symbols = account->training->symbols;
	const struct wt_reader *reader =
		spot->line.stream < account->training->processes.count
			? wti_process_at(account->training, spot->line.stream)->reader
			: NULL;
	const struct wt_site *site =
		reader && spot->line.site ? wt_reader_site(reader, spot->line.site) : NULL;
	struct wt_text file;

	if (!site)
		return where;
	file = wt_reader_string(reader, site->file);
	where.file = wti_symbol_text(symbols, wti_symbol(symbols, file.data, file.bytes));
	where.line = site->line;
	return where;
}

void wti_found(struct wti_case *account, const struct wti_spot *spot, const char *evidence, ...)
{
	struct wti_symbols *symbols = account->training->symbols;
	uint64_t *count = wti_map_number(&account->subjects,
					 wti_symbol(symbols, spot->subject, strlen(spot->subject)));
	va_list args;

	if (count)
		++*count;
	wti_scope_widen(&account->first_step, &account->last_step, spot->step,
			!account->violation_count);
	if (account->violation_count++)
		return;
	account->where = where_of_spot(account, spot);
	va_start(args, evidence);
	account->evidence = format_text(evidence, args);
	va_end(args);
}

uint64_t wti_threshold(const struct wti_case *account, unsigned which)
{
	return (uint64_t)account->thresholds[which];
}

double wti_threshold_real(const struct wti_case *account, unsigned which)
{
	return account->thresholds[which];
}

void wti_not_this(struct wti_case *account, const char *format, ...)
{
	va_list args;

	if (account->not_this)
		return;
	va_start(args, format);
	account->not_this = format_text(format, args);
	va_end(args);
}

/* ---- Findings ------------------------------------------------------------------------------- */

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
	if (cause->first_step > other->first_step && other->first_step >= 0)
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

/* ---- The end -------------------------------------------------------------------------------- */

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
	if (judge->lacked & account->needs)
		return LACKS_TEXT;
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

static void add_rules(const struct wti_judge *judge, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "rules", "Rules");
	uint64_t violated = 0, held = 0, unmeasured = 0;

	wt_table_column(table, "code", "rule", WT_CELL_TEXT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "held", "held", WT_CELL_COUNT);
	wt_table_hide(table, 2);
	wt_table_column(table, "violated", "violated", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "title", "what would be found", WT_CELL_TEXT);
	wt_table_column(table, "why", "why not measured", WT_CELL_TEXT);
	for (size_t i = 0; i < judge->count; i++) {
		const struct wti_case *account = &judge->cases[i];

		add_rule_row(judge, account, table);
		if (!is_measured(judge, account))
			unmeasured++;
		else if (account->violation_count)
			violated++;
		else
			held++;
	}
	wt_result_fact_count(result, "rules_violated", "", WT_CELL_COUNT, violated);
	wt_result_fact_count(result, "rules_held", "", WT_CELL_COUNT, held);
	wt_result_fact_count(result, "rules_not_measured", "", WT_CELL_COUNT, unmeasured);
	wt_result_set_status(result, violated ? "findings" : held ? "clean" : "not_measured");
}

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

static void add_findings(const struct wti_judge *judge, struct wt_result *result)
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

void wti_judge_finish(struct wti_judge *judge, struct wt_result *result)
{
	for (size_t i = 0; i < judge->count; i++)
		if (!(judge->lacked & judge->cases[i].needs))
			finish_case(judge, &judge->cases[i]);
	add_findings(judge, result);
	add_rules(judge, result);
}

size_t wti_judge_news(struct wti_judge *judge, struct wt_result *result)
{
	size_t count = 0;

	for (size_t i = 0; i < judge->count; i++) {
		struct wti_case *account = &judge->cases[i];

		if (account->is_told || !account->violation_count || cause_of(judge, account))
			continue;
		account->is_told = true;
		add_finding(judge, account, result);
		count++;
	}
	return count;
}
