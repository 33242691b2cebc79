/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the order: open, look once at what the run consists of, then section by section. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "runs/ending.h"
#include "runs/runjson.h"
#include "runs/truncated.h"
#include "section.h"
#include "show/cell.h"

#define HEADLINE_MAX 4096u

/* ---- The headline ---------------------------------------------------------------------------- */

static void count_findings(const struct wt_result *result, struct wti_report_counts *counts)
{
	for (size_t i = 0; i < result->finding_count; i++) {
		counts->errors += result->findings[i].severity == WT_ERROR;
		counts->warnings += result->findings[i].severity == WT_WARNING;
		counts->notes += result->findings[i].severity == WT_NOTE;
	}
}

static void count_checks(const struct wt_result *result, struct wti_report_counts *counts)
{
	const struct wt_table *table = wti_report_table(result, "checks");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *verdict = wti_report_cell_text(table, i, "verdict");

		verdict = verdict ? verdict : "";
		counts->passed += !strcmp(verdict, "passed");
		counts->failed += !strcmp(verdict, "failed");
		counts->broken += !strcmp(verdict, "error");
		counts->unjudged += !strcmp(verdict, "observed");
	}
}

static enum wti_report_verdict judge(const struct wti_report *report,
				     const struct wti_report_part *findings)
{
	const struct wti_report_counts *counts = &report->counts;
	const struct wt_fact *held =
		findings ? wt_result_fact(&findings->result, "rules_held") : NULL;

	if (wti_ended_early(report->status) || counts->errors || counts->failed || counts->broken)
		return WTI_REPORT_BAD;
	if (strcmp(report->status, "finished") != 0 || report->is_damaged ||
	    (!(held && held->value.count) && !counts->passed))
		return WTI_REPORT_UNJUDGED;
	return counts->warnings ? WTI_REPORT_WARNED : WTI_REPORT_GOOD;
}

static void count(struct wti_report *report)
{
	const struct wti_report_part *findings = wti_report_part(report, "findings");
	const struct wti_report_part *checks = wti_report_part(report, "checks");

	if (findings)
		count_findings(&findings->result, &report->counts);
	if (checks)
		count_checks(&checks->result, &report->counts);
	report->verdict = judge(report, findings);
}

static void add_amount(struct wti_buf *out, const char *before, size_t amount, const char *what)
{
	if (amount)
		wti_textf(out, "%s%zu %s%s", before, amount, what, amount == 1 ? "" : "s");
}

static void add_how(struct wti_buf *out, const struct wti_run *run)
{
	struct wti_buf cause;

	wti_buf_init(&cause, HEADLINE_MAX);
	wti_textf(out, "%s", !strcmp(run->status, "running") ? "still running" : run->status);
	if (wti_ending_cause(&cause, run))
		wti_textf(out, " (%s)", wti_buf_cstr(&cause));
	wti_buf_release(&cause);
}

static void add_length(struct wti_buf *out, const struct wti_report_source *source)
{
	const struct wt_fact *steps = wt_result_fact(&source->contents, "steps");
	const struct wt_cell duration = {.type = WT_CELL_NS, .ns = source->opened->run.duration_ns};
	char text[32];

	if (steps && steps->value.count)
		wti_textf(out, ", %s step%s", wti_format_count(text, steps->value.count),
			  steps->value.count == 1 ? "" : "s");
	if (duration.ns >= 0) {
		wti_buf_text(out, steps && steps->value.count ? " in " : " after ");
		wti_cell_people(out, &duration);
	}
}

/* What was lost may be what matters. */
static void add_lost(struct wti_buf *out, const struct wti_run *run)
{
	char text[32];

	if (run->lost > 0)
		wti_textf(out, "; %s events were lost",
			  wti_format_count(text, (uint64_t)run->lost));
}

static void add_findings(struct wti_buf *out, const struct wti_report_source *source,
			 const struct wti_report *report)
{
	const struct wti_report_part *part = wti_report_part(report, "findings");
	const struct wti_report_counts *counts = &report->counts;
	const struct wt_fact *steps = wt_result_fact(&source->contents, "steps");
	const struct wt_fact *held = part ? wt_result_fact(&part->result, "rules_held") : NULL;

	if (counts->errors || counts->warnings) {
		wti_buf_text(out, "; ");
		add_amount(out, "", counts->errors, "error");
		add_amount(out, counts->errors ? ", " : "", counts->warnings, "warning");
	} else if (held && held->value.count) {
		wti_textf(out, "; no problems found by %llu rule%s that applied",
			  (unsigned long long)held->value.count, held->value.count == 1 ? "" : "s");
		add_amount(out, ", ", counts->notes, "note");
	} else {
		wti_textf(out, "; nothing was judged: no %s",
			  steps && steps->value.count ? "rule applied"
						      : "training step was recorded");
	}
}

static void add_checks(struct wti_buf *out, const struct wti_report_counts *counts)
{
	size_t judged = counts->passed + counts->failed + counts->broken;

	if (judged)
		wti_textf(out, "; %zu of %zu check%s passed", counts->passed, judged,
			  judged == 1 ? "" : "s");
	add_amount(out, "; ", counts->unjudged, "observation");
	if (counts->unjudged)
		wti_buf_text(out, " without an expectation");
}

static int make_headline(const struct wti_report_source *source, struct wti_report *report)
{
	struct wti_buf out;

	wti_buf_init(&out, HEADLINE_MAX);
	add_how(&out, &source->opened->run);
	add_length(&out, source);
	add_lost(&out, &source->opened->run);
	if (report->is_damaged)
		wti_buf_text(&out, "; the trace is damaged: only part of it could be read");
	add_findings(&out, source, report);
	add_checks(&out, &report->counts);
	report->headline = strdup(wti_buf_cstr(&out));
	wti_buf_release(&out);
	return report->headline ? 0 : WT_E_NOMEM;
}

/* ---- The parts ------------------------------------------------------------------------------- */

static int add_part(const struct wti_report_section *section, struct wti_report_source *source,
		    struct wti_report *report, struct wt_err *err)
{
	struct wti_report_part *part = &report->parts[report->part_count];
	int r;

	*part = (struct wti_report_part){
		.key = section->key, .title = section->title, .is_first = section->is_first};
	wt_result_init(&part->result, section->key);
	report->part_count++;
	r = section->collect(source, &part->result, err);
	if (!r && wt_result_status(&part->result))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	return r;
}

static int collect(struct wti_report_source *source, struct wti_report *report, struct wt_err *err)
{
	const struct wti_run *run = &source->opened->run;
	size_t section_count = 0;
	int r;

	while (wti_report_sections[section_count].key)
		section_count++;
	report->run = strdup(run->name);
	report->status = strdup(run->status);
	report->parts = calloc(section_count, sizeof(*report->parts));
	if (!report->run || !report->status || !report->parts)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_section_inspect(source, "contents", NULL, &source->contents, err);
	for (size_t i = 0; i < section_count && !r; i++)
		r = add_part(&wti_report_sections[i], source, report, err);
	if (r)
		return r;
	report->is_damaged = wti_note_damage(source->opened, &source->contents) != 0;
	report->is_damaged |= wti_note_truncated(source->opened, &source->contents);
	count(report);
	return make_headline(source, report) ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
}

int wti_report_collect(const struct wti_front *front, const char *word,
		       struct wti_report *ret_report, struct wt_err *err)
{
	struct wti_report_source source = {.front = front};
	struct wti_report report = {0};
	struct wti_opened_run opened;
	struct wt_err damage = {.offset = -1};
	struct wti_doc *json = NULL;
	int r = wti_open(front, word, &opened, err);

	if (r)
		return r;
	if (opened.run.is_folder && wti_runjson_read(opened.run.path, &json, &damage) == WT_E_NOMEM)
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	source.opened = &opened;
	source.json = json;
	wt_result_init(&source.contents, "contents");
	r = r ? r : collect(&source, &report, err);
	wt_result_release(&source.contents);
	wti_doc_free(json);
	wti_close(&opened);
	if (r)
		wti_report_release(&report);
	else
		*ret_report = report;
	return r;
}

void wti_report_release(struct wti_report *report)
{
	for (size_t i = 0; i < report->part_count; i++)
		wt_result_release(&report->parts[i].result);
	free(report->parts);
	free(report->run);
	free(report->status);
	free(report->headline);
	*report = (struct wti_report){0};
}
