/* SPDX-License-Identifier: Apache-2.0 */
/* Judges by what other inspectors found: rules of `doctor`, columns of `stat`, spans; and Renacer's
 * anti-patterns, whose definitions docs/gate.md gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "evaluate.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; result && i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	return NULL;
}

/* -1: there is none. */
static int column_of(const struct wt_table *table, const char *key)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].key, key))
			return (int)i;
	return -1;
}

static const struct wt_cell *cell(const struct wt_table *table, size_t row, int column)
{
	return &table->cells[row * table->column_count + (size_t)column];
}

static const char *text_of(const struct wt_table *table, size_t row, int column)
{
	const struct wt_cell *at = column < 0 ? NULL : cell(table, row, column);

	return at && at->type == WT_CELL_TEXT && at->text ? at->text : "";
}

static bool number_of(const struct wt_cell *at, double *ret)
{
	switch (at->type) {
	case WT_CELL_COUNT:
	case WT_CELL_BYTES:
	case WT_CELL_ID:
		*ret = (double)at->count;
		return true;
	case WT_CELL_NUMBER:
	case WT_CELL_PERCENT:
		*ret = at->number;
		return true;
	case WT_CELL_NS:
		*ret = (double)at->ns;
		return true;
	default:
		return false;
	}
}

/* ---- Rules ----------------------------------------------------------------------------------- */

void wti_judge_rule(const struct wti_assertion *a, const struct wti_gate_run *run,
		    struct wti_outcome *outcome)
{
	const struct wt_table *rules = table_of(run->doctor, "rules");
	size_t matched = 0, held = 0, violated = 0;
	struct wti_buf names;

	if (!rules) {
		wti_not_evaluated(outcome, "`doctor` has no results for this run");
		return;
	}
	wti_buf_init(&names, sizeof(outcome->actual));
	for (size_t i = 0; i < rules->row_count; i++) {
		const char *code = text_of(rules, i, column_of(rules, "code"));
		const char *what = text_of(rules, i, column_of(rules, "outcome"));

		if (!wti_glob(a->code, code, strlen(code)))
			continue;
		matched++;
		held += !strcmp(what, "held");
		if (!strcmp(what, "violated"))
			wti_buf_printf(&names, "%s%s", violated++ ? ", " : "", code);
	}
	snprintf(outcome->expected, sizeof(outcome->expected), "%.100s holds", a->code);
	snprintf(outcome->actual, sizeof(outcome->actual), "%zu held, %zu violated%s%s", held,
		 violated, violated ? ": " : "", wti_buf_cstr(&names));
	wti_buf_release(&names);
	outcome->verdict = violated ? WTI_VIOLATED : WTI_HELD;
	if (!matched)
		wti_not_evaluated(outcome, "no rule '%.100s'; `wheeltap explain` lists them",
				  a->code);
	else if (!held && !violated)
		wti_not_evaluated(outcome,
				  "'%.100s' found nothing to judge (`wheeltap doctor --all` "
				  "shows why)",
				  a->code);
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static const struct fact {
	const char *name;
	bool of_calls; /* not known without system calls */
} facts[] = {
	{"duration_ns", false}, {"duration_ms", false},    {"steps", false},
	{"step_ns", false},     {"peak_rss_bytes", false}, {"faults", false},
	{"syscalls", true},     {"errors", true},          {"processes", true},
	{"mapped_bytes", true}, {"written_bytes", true},   {"read_bytes", true},
};
#define FACTS (sizeof(facts) / sizeof(*facts))

static double sum_of(const struct wti_effects *effects, enum wti_effect effect)
{
	double sum = 0;

	for (size_t i = 0; i < effects->tally_count; i++)
		sum += effects->tallies[i].effect == effect ? (double)effects->tallies[i].total : 0;
	return sum;
}

/* Negative: not known. */
static double fact_of(const struct wti_gate_run *run, size_t i)
{
	const double values[FACTS] = {
		(double)run->duration_ns,
		run->duration_ns < 0 ? -1 : (double)run->duration_ns / 1e6,
		(double)run->effects->step_count,
		(double)wti_effects_step_ns(run->effects, 0.5),
		run->peak_rss_bytes > run->rss_floor_bytes ? (double)run->peak_rss_bytes : -1,
		(double)run->faults,
		(double)run->counts->call_count,
		(double)run->counts->error_count,
		(double)run->counts->process_count,
		(double)run->counts->asked_bytes,
		sum_of(run->effects, WTI_EFFECT_WRITTEN_BYTES),
		sum_of(run->effects, WTI_EFFECT_READ_BYTES),
	};

	return values[i];
}

static void unknown_name(const struct wti_formula *formula, size_t i, const char *const *known,
			 size_t count, struct wti_outcome *outcome)
{
	const char *near = wti_suggest(formula->names[i], known, count);

	wti_not_evaluated(outcome, "at character %u of the expression: no column '%s'%s%s%s",
			  formula->name_at[i] + 1u, formula->names[i],
			  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void conclude(const struct wti_assertion *a, const double *values, const char *row,
		     struct wti_outcome *outcome)
{
	struct wti_buf text;
	bool holds;

	wti_buf_init(&text, sizeof(outcome->actual));
	for (size_t i = 0; i < a->formula.name_count; i++)
		wti_buf_printf(&text, "%s%s = %.12g", i ? ", " : "", a->formula.names[i],
			       values[i]);
	snprintf(outcome->actual, sizeof(outcome->actual), "%s%s%s", row, *row ? ": " : "",
		 wti_buf_cstr(&text));
	wti_buf_release(&text);
	if (!wti_formula_holds(&a->formula, values, &holds))
		wti_not_evaluated(outcome,
				  "it has no answer with %.300s: something is divided by "
				  "zero",
				  outcome->actual);
	else
		outcome->verdict = holds ? WTI_HELD : WTI_VIOLATED;
}

static void judge_facts(const struct wti_assertion *a, const struct wti_gate_run *run,
			struct wti_outcome *outcome)
{
	double values[WTI_FORMULA_NAMES_MAX];
	const char *known[FACTS];

	for (size_t i = 0; i < FACTS; i++)
		known[i] = facts[i].name;
	for (size_t i = 0; i < a->formula.name_count; i++) {
		size_t j = 0;

		while (j < FACTS && strcmp(known[j], a->formula.names[i]) != 0)
			j++;
		if (j == FACTS) {
			unknown_name(&a->formula, i, known, FACTS, outcome);
			return;
		}
		if (facts[j].of_calls && !wti_was_recorded(run, NULL, outcome))
			return;
		values[i] = fact_of(run, j);
		if (values[i] < 0) {
			wti_not_evaluated(outcome, "'%s' was not recorded in this run", known[j]);
			return;
		}
	}
	conclude(a, values, "", outcome);
}

/* Columns of the names in the formula; false, which has been said, if there is none. */
static bool find_columns(const struct wti_assertion *a, const struct wt_table *table,
			 int columns[WTI_FORMULA_NAMES_MAX], struct wti_outcome *outcome)
{
	const char *known[64];
	size_t count = 0;

	for (size_t i = 0; i < table->column_count && count < 64; i++)
		if (table->columns[i].type != WT_CELL_TEXT)
			known[count++] = table->columns[i].key;
	for (size_t i = 0; i < a->formula.name_count; i++) {
		columns[i] = column_of(table, a->formula.names[i]);
		if (columns[i] >= 0 && table->columns[columns[i]].type != WT_CELL_TEXT)
			continue;
		unknown_name(&a->formula, i, known, count, outcome);
		return false;
	}
	return true;
}

static bool add_row(const struct wti_assertion *a, const struct wt_table *table, size_t row,
		    const int *columns, double *values)
{
	for (size_t i = 0; i < a->formula.name_count; i++) {
		double value;

		if (!number_of(cell(table, row, columns[i]), &value))
			return false;
		values[i] = a->is_sum ? values[i] + value : value;
	}
	return true;
}

/* Each row has to hold, unless all are summed up; the first that does not is reported. */
static void judge_rows(const struct wti_assertion *a, const struct wt_table *table,
		       const char *label, struct wti_outcome *outcome)
{
	double values[WTI_FORMULA_NAMES_MAX] = {0};
	int columns[WTI_FORMULA_NAMES_MAX];
	size_t matched = 0;

	if (!find_columns(a, table, columns, outcome))
		return;
	for (size_t row = 0; row < table->row_count; row++) {
		const char *name = text_of(table, row, column_of(table, label));

		if (a->rows && !wti_glob(a->rows, name, strlen(name)))
			continue;
		if (!add_row(a, table, row, columns, values)) {
			wti_not_evaluated(outcome, "'%.100s' has no value", name);
			return;
		}
		matched++;
		if (a->is_sum)
			continue;
		conclude(a, values, name, outcome);
		if (outcome->verdict != WTI_HELD)
			return;
	}
	if (!matched)
		wti_absent(a, outcome, "row", a->rows ? a->rows : "*");
	else if (a->is_sum)
		conclude(a, values, "sum", outcome);
	else
		snprintf(outcome->actual, sizeof(outcome->actual), "of %zu row%s", matched,
			 matched == 1 ? "" : "s");
}

void wti_judge_expression(const struct wti_assertion *a, const struct wti_gate_run *run,
			  struct wti_outcome *outcome)
{
	bool of_calls = a->table && !strcmp(a->table, "syscalls");
	const struct wt_table *table = table_of(of_calls ? run->syscalls : run->profile,
						of_calls ? "syscalls" : "profile");

	snprintf(outcome->expected, sizeof(outcome->expected), "%.250s", a->expression);
	if (!a->table || !strcmp(a->table, "run"))
		judge_facts(a, run, outcome);
	else if (of_calls && !wti_was_recorded(run, a->rows ? "none" : NULL, outcome))
		return;
	else if (!table || !table->row_count)
		wti_not_evaluated(outcome, "there is nothing in the table '%s' of this run",
				  a->table);
	else
		judge_rows(a, table, of_calls ? "syscall" : "name", outcome);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

void wti_judge_span(const struct wti_assertion *a, const struct wti_gate_run *run,
		    struct wti_outcome *outcome)
{
	const struct wt_table *table = table_of(run->profile, "profile");
	double longest = -1, ns;

	for (size_t i = 0; table && i < table->row_count; i++) {
		if (!wti_gate_matches(a->span, a->span_is_regex,
				      text_of(table, i, column_of(table, "name"))))
			continue;
		if (number_of(cell(table, i, column_of(table, "max_ns")), &ns) && ns > longest)
			longest = ns;
	}
	if (longest < 0)
		wti_absent(a, outcome, "span", a->span);
	else
		wti_judge_number(a, longest, WTI_UNIT_NS, "the longest", outcome);
}

void wti_judge_spans(const struct wti_assertion *a, const struct wti_gate_run *run,
		     struct wti_outcome *outcome)
{
	const struct wt_table *table = table_of(run->profile, "profile");
	double sum = 0, count;
	size_t matched = 0;

	for (size_t i = 0; table && i < table->row_count; i++) {
		if (!wti_gate_matches(a->span, a->span_is_regex,
				      text_of(table, i, column_of(table, "name"))))
			continue;
		matched++;
		if (number_of(cell(table, i, column_of(table, "count")), &count))
			sum += count;
	}
	if (!matched)
		wti_absent(a, outcome, "span", a->span ? a->span : "of any name");
	else
		wti_judge_number(a, sum, WTI_UNIT_COUNT, "spans and calls", outcome);
}

/* ---- Renacer's anti-patterns ----------------------------------------------------------------- */

/* Cut, not rounded: almost all is not all. */
static double percent(double share)
{
	return floor(share * 1e4) / 1e2;
}

static void judge_share(const struct wti_assertion *a, double share, const char *of,
			struct wti_outcome *outcome)
{
	snprintf(outcome->expected, sizeof(outcome->expected), "at most %g %%", 100 * a->threshold);
	snprintf(outcome->actual, sizeof(outcome->actual), "%g %% %s", percent(share), of);
	outcome->verdict = share > a->threshold ? WTI_VIOLATED : WTI_HELD;
}

/* Time of copies between host and device, as a share of that of kernels. */
static void judge_copies(const struct wti_assertion *a, const struct wti_gate_run *run,
			 struct wti_outcome *outcome)
{
	const struct wt_table *table = table_of(run->profile, "profile");
	double copies = 0, others = 0, ns;

	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *kind = text_of(table, i, column_of(table, "kind"));

		if (!number_of(cell(table, i, column_of(table, "total_ns")), &ns))
			continue;
		copies += strcmp(kind, "copy") ? 0 : ns;
		others += strcmp(kind, "kernel") ? 0 : ns;
	}
	if (others <= 0)
		wti_not_evaluated(outcome, "there are no kernels of a device in this run");
	else
		judge_share(a, copies / others, "of the time of kernels is copying", outcome);
}

void wti_judge_pattern(const struct wti_assertion *a, const struct wti_gate_run *run,
		       struct wti_outcome *outcome)
{
	double calls = (double)run->counts->call_count;
	char of[128];

	if (!strcmp(a->of, "PcieBottleneck")) {
		judge_copies(a, run, outcome);
		return;
	}
	if (!wti_was_recorded(run, NULL, outcome))
		return;
	if (!strcmp(a->of, "TightLoop")) {
		judge_share(a, (double)run->counts->repeated_count / calls,
			    "of the calls repeat the one before", outcome);
		wti_doubt(run, WTI_ABOUT_CALLS, true, outcome);
		return;
	}
	snprintf(of, sizeof(of), "of the calls are made by '%s', one of %zu processes",
		 run->counts->busiest, run->counts->process_count);
	judge_share(a, (double)run->counts->busiest_calls / calls, of, outcome);
	if (run->counts->process_count < 2 ||
	    !wti_gate_matches(a->span, a->span_is_regex, run->counts->busiest))
		outcome->verdict = WTI_HELD;
	wti_doubt(run, WTI_ABOUT_CALLS, true, outcome);
}
