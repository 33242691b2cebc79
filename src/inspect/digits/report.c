/* SPDX-License-Identifier: Apache-2.0 */
/* The tally as a result: findings, tables, series. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "inspect/core/cells.h"
#include "inspect/core/library.h"
#include "tally.h"

#define TEXT 400u
#define SERIES_MAX 32u
#define POINTS_MAX 100000u
#define CULPRITS_SHOWN 20u
#define ABSORBED_MIN 16u /* calls: below that it is the end of something */

struct report {
	struct wti_book *tally;
	struct wt_result *result;
	const struct wti_digits_options *options;
	bool has_error;
};

static const char *text_of(const struct report *report, uint32_t id)
{
	return wti_texts_at(report->tally->texts, id);
}

static double in_base(const struct report *report, double bits)
{
	return wti_digits_in_base(bits, report->options->base);
}

/* "bits", "decimal digits" */
static const char *unit_of(const struct report *report)
{
	return report->options->base == 2    ? "bits"
	       : report->options->base == 10 ? "decimal digits"
					     : "digits";
}

static struct wt_finding finding_of(const char *code, enum wt_severity severity)
{
	const struct wti_code *about = wti_digits_code(code);

	return (struct wt_finding){.code = code,
				   .severity = severity,
				   .title = about->title,
				   .step = -1,
				   .rank = -1,
				   .line = -1,
				   .first_step = -1,
				   .last_step = -1,
				   .means = about->means,
				   .hint = about->hint,
				   .not_this = about->innocent};
}

static void place(const struct report *report, struct wt_finding *finding, uint32_t callee,
		  uint32_t file, uint32_t line, int64_t step)
{
	finding->op = callee ? text_of(report, callee) : NULL;
	finding->file = file ? text_of(report, file) : NULL;
	finding->line = file ? (int64_t)line : -1;
	finding->step = step;
}

/* ---- Findings -------------------------------------------------------------------------------- */

/* "__main__.model.coef_" is model.coef_ to its reader. */
static const char *own_name(const char *name)
{
	return strncmp(name, "__main__.", 9) ? name : name + 9;
}

static void report_culprit(struct report *report, const struct wti_culprit *culprit)
{
	const struct wti_tally_row *site = &report->tally->sites.all[culprit->site];
	const struct wti_tally_row *reached = &report->tally->sites.all[culprit->reached];
	double all = culprit->mantissa + 1;
	bool is_half = culprit->lost > all / 2;
	struct wt_finding finding = finding_of("WT-DIG-001", is_half ? WT_ERROR : WT_WARNING);
	char title[TEXT], evidence[TEXT];

	snprintf(title, sizeof(title), "%s loses %.1f of %.1f %s", text_of(report, site->callee),
		 in_base(report, fmin(culprit->lost, all)), in_base(report, all), unit_of(report));
	snprintf(evidence, sizeof(evidence),
		 "%.1f %s are left of %s%s%sthe result at %s:%u; results affected: %" PRIu64
		 ", calls of this line on the way: %" PRIu64,
		 in_base(report, culprit->left), unit_of(report), culprit->name ? "'" : "",
		 culprit->name ? own_name(text_of(report, culprit->name)) : "",
		 culprit->name ? "', " : "",
		 reached->file ? text_of(report, reached->file) : text_of(report, reached->callee),
		 reached->line, culprit->values, culprit->calls);
	finding.title = title;
	finding.evidence = evidence;
	finding.count = culprit->values;
	place(report, &finding, site->callee, site->file, site->line, culprit->step);
	report->has_error |= is_half;
	wt_result_finding(report->result, &finding);
}

static void report_below(struct report *report)
{
	struct wti_book *tally = report->tally;
	double limit = report->options->fail_below;
	struct wt_finding finding = finding_of("WT-DIG-002", WT_ERROR);
	char title[TEXT], evidence[TEXT], expected[64], actual[64];

	if (isnan(limit) || !tally->judged || !(in_base(report, tally->worst_digits) < limit))
		return;
	snprintf(title, sizeof(title), "a result has %.2f %s: fewer than %g",
		 in_base(report, tally->worst_digits), unit_of(report), limit);
	snprintf(expected, sizeof(expected), "at least %g %s", limit, unit_of(report));
	snprintf(actual, sizeof(actual), "%.2f", in_base(report, tally->worst_digits));
	snprintf(evidence, sizeof(evidence),
		 "the first call below is number %" PRIu64 ", %s, with %.2f; %" PRIu64
		 " outputs are below",
		 tally->below.call, text_of(report, tally->below.callee),
		 in_base(report, tally->below.digits), tally->below_count);
	finding.title = title;
	finding.expected = expected;
	finding.actual = actual;
	if (tally->below.is_set) {
		finding.evidence = evidence;
		place(report, &finding, tally->below.callee, tally->below.file, tally->below.line,
		      tally->below.step);
	}
	finding.count = tally->below_count;
	report->has_error = true;
	wt_result_finding(report->result, &finding);
}

static void report_nonfinite(struct report *report)
{
	const struct wti_first *first = &report->tally->nonfinite;
	struct wt_finding finding = finding_of("WT-DIG-003", WT_ERROR);
	char title[TEXT], evidence[TEXT];

	if (!first->is_set)
		return;
	snprintf(title, sizeof(title), "%s gives %s from finite inputs",
		 text_of(report, first->callee),
		 first->nan && first->inf ? "NaN and infinity"
		 : first->nan             ? "NaN"
					  : "infinity");
	snprintf(evidence, sizeof(evidence),
		 "inputs from %g to %g; %" PRIu64 " NaN, %" PRIu64 " infinite; %" PRIu64
		 " more such calls, and %" PRIu64 " pass it on",
		 first->in_min, first->in_max, first->nan, first->inf,
		 report->tally->nonfinite_origins - 1, report->tally->nonfinite_passed);
	finding.title = title;
	finding.evidence = evidence;
	finding.count = report->tally->nonfinite_origins;
	place(report, &finding, first->callee, first->file, first->line, first->step);
	report->has_error = true;
	wt_result_finding(report->result, &finding);
}

/* Without noise nobody knows whether the inputs were rounded: a note, and only then. */
static void report_cancellation(struct report *report, const struct wti_tally_row *site)
{
	struct wt_finding finding = finding_of("WT-DIG-004", WT_NOTE);
	char evidence[TEXT];

	if (report->options->has_noise || report->options->compare || !site->cancelled)
		return;
	snprintf(evidence, sizeof(evidence),
		 "%.0f bits cancel at most; %" PRIu64 " of %" PRIu64 " additions of this line",
		 site->cancelled_bits, site->cancelled, site->cancelling);
	finding.evidence = evidence;
	finding.count = site->cancelled;
	finding.case_count = site->cancelling;
	place(report, &finding, site->adder, site->file, site->line, -1);
	wt_result_finding(report->result, &finding);
}

/* Most updates change nothing, or what they would have changed is as much as lost digits. */
static bool is_absorbed(const struct wti_tally_row *site)
{
	return site->cancelling >= ABSORBED_MIN &&
	       (site->absorbed * 2 > site->updates ||
		(!site->is_compensated && site->drift_share > .25));
}

static void report_absorbed(struct report *report, const struct wti_tally_row *site)
{
	struct wt_finding finding = finding_of("WT-DIG-005", WT_WARNING);
	char evidence[TEXT];

	if (!is_absorbed(site))
		return;
	snprintf(evidence, sizeof(evidence),
		 "%" PRIu64 " of %" PRIu64
		 " elements that are added are below half an ulp: %.2g %% of a sum are missing",
		 site->absorbed, site->updates, 100 * site->drift);
	finding.evidence = evidence;
	finding.count = site->absorbed;
	finding.case_count = site->updates;
	place(report, &finding, site->adder, site->file, site->line, -1);
	wt_result_finding(report->result, &finding);
}

static void report_divergence(struct report *report, const struct wti_divergence *d)
{
	struct wt_finding finding = finding_of("WT-DIG-007", WT_WARNING);
	double all = (double)(d->common + d->unmatched);
	char evidence[2 * TEXT];

	/* A branch inside a library, which no line of the user leads to. */
	if (!d->times || wti_is_library(text_of(report, d->file ? d->file : d->after_file)))
		return;
	snprintf(evidence, sizeof(evidence),
		 "after %s (%s:%u), %u of %u runs call %s and others %s; %" PRIu64
		 " times, %.1f %% of all calls are in every run",
		 d->after ? text_of(report, d->after) : "the start",
		 d->after_file ? text_of(report, d->after_file) : "?", d->after_line, d->with_lead,
		 report->tally->runs, text_of(report, d->next),
		 d->other ? text_of(report, d->other) : "end", d->times,
		 all > 0 ? 100 * (double)d->common / all : 0);
	finding.evidence = evidence;
	finding.count = d->times;
	place(report, &finding, d->next, d->file ? d->file : d->after_file,
	      d->file ? d->line : d->after_line, d->step);
	wt_result_finding(report->result, &finding);
}

static void report_random(struct report *report)
{
	const struct wti_first *first = &report->tally->random;
	struct wt_finding finding = finding_of("WT-DIG-008", WT_WARNING);
	char title[TEXT];

	if (!first->is_set)
		return;
	snprintf(title, sizeof(title), "%s draws other numbers in each run",
		 text_of(report, first->callee));
	finding.title = title;
	finding.count = report->tally->random_count;
	place(report, &finding, first->callee, first->file, first->line, first->step);
	wt_result_finding(report->result, &finding);
}

static void report_mismatch(struct report *report, const struct wti_digits_run *runs)
{
	const struct wti_first *first = &report->tally->mismatch;
	struct wt_finding finding = finding_of("WT-DIG-010", WT_WARNING);
	char evidence[TEXT];

	if (!first->is_set)
		return;
	snprintf(evidence, sizeof(evidence),
		 "first in run '%s'; %" PRIu64 " values were left out of the comparison",
		 runs[first->run].name, report->tally->mismatched);
	finding.evidence = evidence;
	finding.count = report->tally->mismatched;
	place(report, &finding, first->callee, first->file, first->line, first->step);
	wt_result_finding(report->result, &finding);
}

static void report_runs(struct report *report, const struct wti_match_run *about,
			const struct wti_digits_run *runs)
{
	for (unsigned i = 0; i < report->tally->runs; i++) {
		struct wt_finding finding = finding_of("WT-DIG-009", WT_WARNING);
		char title[TEXT], evidence[TEXT];

		if (runs[i].trace && !runs[i].ended_early && !about[i].is_short &&
		    !about[i].unended)
			continue;
		snprintf(title, sizeof(title), "run '%s' %s", runs[i].name,
			 !runs[i].trace      ? "cannot be read"
			 : runs[i].ending[0] ? runs[i].ending
			 : about[i].unended  ? "is cut inside a call"
					     : "ended before the others");
		snprintf(evidence, sizeof(evidence),
			 "%" PRIu64 " calls of it were compared, the last is %s", about[i].items,
			 about[i].last ? text_of(report, about[i].last) : "-");
		finding.title = title;
		finding.evidence = evidence;
		finding.step = about[i].items ? about[i].last_step : -1;
		wt_result_finding(report->result, &finding);
	}
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static int by_loss(const void *a, const void *b)
{
	const struct wti_tally_row *x = *(const struct wti_tally_row *const *)a;
	const struct wti_tally_row *y = *(const struct wti_tally_row *const *)b;
	double lost = y->lost_worst - x->lost_worst;
	double left = (isnan(x->out_worst) ? 1e9 : x->out_worst) -
		      (isnan(y->out_worst) ? 1e9 : y->out_worst);

	if (lost != 0)
		return lost > 0 ? 1 : -1;
	return left != 0 ? (left > 0 ? 1 : -1) : x < y ? -1 : 1;
}

static int by_step(const void *a, const void *b)
{
	const struct wti_tally_row *x = *(const struct wti_tally_row *const *)a;
	const struct wti_tally_row *y = *(const struct wti_tally_row *const *)b;

	return x->step < y->step ? -1 : x->step > y->step;
}

static void put_number(const struct report *report, struct wt_table *table, double bits)
{
	if (isnan(bits))
		wt_table_empty(table);
	else
		wt_table_number(table, round(100 * in_base(report, bits)) / 100);
}

static void put_columns(struct wt_table *table, enum wti_digits_by by)
{
	if (by == WTI_BY_STEP)
		wt_table_column(table, "step", "step", WT_CELL_NUMBER);
	if (by == WTI_BY_TENSOR)
		wt_table_column(table, "name", "value", WT_CELL_TEXT);
	if (by != WTI_BY_STEP)
		wt_table_column(table, "function", "function", WT_CELL_TEXT);
	if (by == WTI_BY_TENSOR)
		wt_table_column(table, "position", "position", WT_CELL_NUMBER);
	if (by == WTI_BY_SITE || by == WTI_BY_TENSOR) {
		wt_table_column(table, "file", "file", WT_CELL_TEXT);
		wt_table_hide(table, 2);
		wt_table_column(table, "line", "line", WT_CELL_COUNT);
	}
	wt_table_column(table, "calls", "calls", WT_CELL_COUNT);
	wt_table_column(table, "digits_in", "in", WT_CELL_NUMBER);
	wt_table_column(table, "digits_out", "out", WT_CELL_NUMBER);
	wt_table_column(table, "digits_mean", "mean", WT_CELL_NUMBER);
	wt_table_hide(table, 1);
	wt_table_column(table, "digits_of", "of", WT_CELL_NUMBER);
	wt_table_column(table, "lost", "lost", WT_CELL_NUMBER);
	wt_table_column(table, "recovered", "", WT_CELL_COUNT);
}

static void put_row(const struct report *report, struct wt_table *table,
		    const struct wti_tally_row *row, enum wti_digits_by by)
{
	wt_table_row(table);
	if (by == WTI_BY_STEP)
		wt_table_number(table, (double)row->step);
	if (by == WTI_BY_TENSOR)
		wti_table_word(table, text_of(report, row->name));
	if (by != WTI_BY_STEP)
		wti_table_word(table, text_of(report, row->callee));
	if (by == WTI_BY_TENSOR)
		wt_table_number(table, row->position);
	if (by == WTI_BY_SITE || by == WTI_BY_TENSOR) {
		wti_table_word(table, text_of(report, row->file));
		wt_table_count(table, row->line);
	}
	wt_table_count(table, row->calls);
	put_number(report, table, row->in_worst);
	put_number(report, table, row->out_worst);
	put_number(report, table, row->measured ? row->out_sum / (double)row->measured : NAN);
	put_number(report, table, row->mantissa ? row->mantissa + 1. : (double)NAN);
	put_number(report, table, row->lost_worst);
	wt_table_count(table, row->recovered);
}

static void put_table(const struct report *report, const struct wti_tally_rows *rows,
		      enum wti_digits_by by, const char *key, const char *title)
{
	const struct wti_tally_row **sorted = calloc(rows->count + 1, sizeof(*sorted));
	size_t count = 0, limit = report->options->rows_max;
	struct wt_table *table;

	for (size_t i = 0; sorted && i < rows->count; i++) {
		if (rows->all[i].measured)
			sorted[count++] = &rows->all[i];
	}
	table = wt_result_table(report->result, key, title);
	put_columns(table, by);
	if (count)
		qsort(sorted, count, sizeof(*sorted), by == WTI_BY_STEP ? by_step : by_loss);
	for (size_t i = 0; i < count && (!limit || i < limit); i++)
		put_row(report, table, sorted[i], by);
	if (limit && count > limit)
		wt_result_note(report->result, "%zu more rows of '%s': --all prints them",
			       count - limit, key);
	free(sorted);
}

/* Additions and products by line: what a single run shows. */
static void put_singles(const struct report *report)
{
	const struct wti_tally_rows *rows = &report->tally->sites;
	struct wt_table *table = wt_result_table(report->result, "operations", "Operations");

	wt_table_column(table, "function", "function", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_COUNT);
	wt_table_column(table, "cancelled", "cancelled", WT_CELL_COUNT);
	wt_table_column(table, "cancelled_bits", "bits", WT_CELL_NUMBER);
	wt_table_column(table, "updates", "added", WT_CELL_COUNT);
	wt_table_column(table, "absorbed", "absorbed", WT_CELL_COUNT);
	wt_table_column(table, "underflows", "underflows", WT_CELL_COUNT);
	wt_table_column(table, "overflows", "overflows", WT_CELL_COUNT);
	for (size_t i = 0; i < rows->count; i++) {
		const struct wti_tally_row *row = &rows->all[i];

		if (!row->cancelled && !row->absorbed && !row->underflows && !row->overflows)
			continue;
		wt_table_row(table);
		wti_table_word(table, text_of(report, row->callee));
		wti_table_word(table, text_of(report, row->file));
		wt_table_count(table, row->line);
		wt_table_count(table, row->cancelled);
		wt_table_number(table, row->cancelled_bits);
		wt_table_count(table, row->updates);
		wt_table_count(table, row->absorbed);
		wt_table_count(table, row->underflows);
		wt_table_count(table, row->overflows);
	}
}

/* ---- Series ---------------------------------------------------------------------------------- */

/* The worst of each step; steps without any repeat the one before. */
static void put_series(const struct report *report, const struct wti_tally_rows *rows,
		       uint32_t name, const char *key, const char *title)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct wt_series *series;
	double before = NAN;

	for (size_t i = 0; i < rows->count; i++) {
		const struct wti_tally_row *row = &rows->all[i];

		if (row->name != name || row->step < 0 || !row->measured)
			continue;
		first = row->step < first ? row->step : first;
		last = row->step > last ? row->step : last;
	}
	if (last <= first || last - first >= POINTS_MAX)
		return;
	series = wt_result_series(report->result, key, title, unit_of(report), (double)first, 1,
				  (size_t)(last - first + 1));
	if (!series)
		return;
	for (size_t i = 0; i < series->count; i++)
		series->y[i] = NAN;
	for (size_t i = 0; i < rows->count; i++) {
		const struct wti_tally_row *row = &rows->all[i];

		if (row->name == name && row->step >= 0 && row->measured)
			series->y[row->step - first] = in_base(report, row->out_worst);
	}
	for (size_t i = 0; i < series->count; i++)
		before = series->y[i] = isnan(series->y[i]) ? before : series->y[i];
}

static void put_all_series(const struct report *report)
{
	const struct wti_tally_rows *named = &report->tally->named;
	uint32_t seen[SERIES_MAX];
	size_t count = 0;

	put_series(report, &report->tally->steps, 0, "digits_by_step",
		   "digits of the worst output of each step");
	for (size_t i = 0; i < named->count && count < SERIES_MAX; i++) {
		char key[TEXT];
		size_t at = 0;

		while (at < count && seen[at] != named->all[i].name)
			at++;
		if (at < count)
			continue;
		seen[count++] = named->all[i].name;
		snprintf(key, sizeof(key), "digits_%.300s", text_of(report, named->all[i].name));
		put_series(report, named, named->all[i].name, key, key + strlen("digits_"));
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void put_facts(struct report *report, const struct wti_divergence *d)
{
	struct wti_book *tally = report->tally;
	struct wt_result *result = report->result;

	wt_result_fact_count(result, "runs", "runs", WT_CELL_COUNT, tally->runs);
	wt_result_fact_count(result, "calls", "calls", WT_CELL_COUNT, tally->calls);
	wt_result_fact_count(result, "measured", "values measured", WT_CELL_COUNT, tally->measured);
	wt_result_fact_count(result, "varied", "", WT_CELL_COUNT, tally->varied);
	wt_result_fact_count(result, "unsampled", "", WT_CELL_COUNT, tally->unsampled);
	wt_result_fact_text(result, "unit", "", unit_of(report));
	wt_result_fact_text(result, "method", "",
			    report->options->how.method == WTI_DIGITS_CNH ? "cnh" : "general");
	if (tally->judged)
		wt_result_fact_number(result, "worst_digits", "fewest digits of a result",
				      WT_CELL_NUMBER,
				      round(100 * in_base(report, tally->worst_digits)) / 100);
	wt_result_fact_count(result, "calls_in_all_runs", "", WT_CELL_COUNT, d->common);
	wt_result_fact_count(result, "divergences", "", WT_CELL_COUNT, d->times);
	if (tally->normal + tally->not_normal)
		wt_result_fact_number(result, "not_normal_share", "", WT_CELL_PERCENT,
				      100. * (double)tally->not_normal /
					      (double)(tally->normal + tally->not_normal));
}

static void put_notes(const struct report *report)
{
	const struct wti_book *tally = report->tally;
	double tested = (double)(tally->normal + tally->not_normal);

	/* By chance the test rejects as many as the confidence allows. */
	if (report->options->how.method == WTI_DIGITS_CNH && (double)tally->not_normal > tested / 2)
		wt_result_note(report->result,
			       "the errors of %.0f %% of the values tested are not normally "
			       "distributed: --method general assumes nothing",
			       100. * (double)tally->not_normal / tested);
	if (tally->nodes_left_out)
		wt_result_note(report->result,
			       "%llu values were not followed: the run has too many",
			       (unsigned long long)tally->nodes_left_out);
	if (tally->partial)
		wt_result_note(report->result, "calls that are not in every run: %llu",
			       (unsigned long long)tally->partial);
}

static void put_tables(const struct report *report)
{
	static const struct {
		const char *key, *title;
	} tables[] = {
		[WTI_BY_FUNCTION] = {"functions", "Digits by function"},
		[WTI_BY_SITE] = {"sites", "Digits by call site"},
		[WTI_BY_TENSOR] = {"values", "Digits by value"},
		[WTI_BY_STEP] = {"steps", "Digits by step"},
	};
	struct wti_book *tally = report->tally;
	const struct wti_tally_rows *rows[] = {&tally->functions, &tally->sites, &tally->values,
					       &tally->steps};

	for (unsigned by = 0; by < WTI_COUNT(rows); by++)
		if (report->options->all_tables || by == report->options->by)
			put_table(report, rows[by], (enum wti_digits_by)by, tables[by].key,
				  tables[by].title);
	if (report->options->all_tables || !report->options->has_noise)
		put_singles(report);
}

void wti_digits_report(struct wti_book *tally, const struct wti_divergence *divergence,
		       const struct wti_match_run *about, const struct wti_digits_run *runs,
		       struct wt_result *result)
{
	struct report report = {.tally = tally, .result = result, .options = tally->options};
	struct wti_culprit *culprits = NULL;
	size_t count = 0;

	if (wti_culprits(tally, &culprits, &count))
		tally->status = WT_E_NOMEM;
	put_facts(&report, divergence);
	report_random(&report);
	report_nonfinite(&report);
	for (size_t i = 0; i < count && i < CULPRITS_SHOWN; i++)
		report_culprit(&report, &culprits[i]);
	report_below(&report);
	for (size_t i = 0; i < tally->sites.count; i++) {
		report_absorbed(&report, &tally->sites.all[i]);
		report_cancellation(&report, &tally->sites.all[i]);
	}
	report_divergence(&report, divergence);
	report_mismatch(&report, runs);
	if (tally->runs > 1)
		report_runs(&report, about, runs);
	put_tables(&report);
	put_all_series(&report);
	put_notes(&report);
	free(culprits);
}
