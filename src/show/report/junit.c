/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as JUnit's XML: a suite a run, with a case for how the run ended, one for each finding
 * and one for each check. What was observed without an expectation is skipped, never passed.
 */
#include <string.h>

#include "report.h"
#include "show/markup.h"

static void put_attribute(struct wti_buf *out, const char *name, const char *text)
{
	wti_buf_printf(out, " %s=\"", name);
	wti_markup_text(out, text ? text : "");
	wti_buf_byte(out, '"');
}

static void put_case(struct wti_buf *out, const char *class_name, const char *name,
		     int64_t duration_ns)
{
	wti_buf_text(out, "    <testcase");
	put_attribute(out, "classname", class_name);
	put_attribute(out, "name", name);
	if (duration_ns >= 0)
		wti_buf_printf(out, " time=\"%.6f\"", (double)duration_ns / 1e9);
	wti_buf_text(out, ">\n");
}

static void put_line(struct wti_buf *out, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	wti_buf_printf(out, "%s: ", label);
	wti_markup_text(out, text);
	wti_buf_byte(out, '\n');
}

/* ---- The run itself -------------------------------------------------------------------------- */

static bool is_running(const struct wti_report *report)
{
	return !strcmp(report->status, "running");
}

static bool has_ended_well(const struct wti_report *report)
{
	return !strcmp(report->status, "finished");
}

static void put_run(struct wti_buf *out, const struct wti_report *report)
{
	const struct wti_report_part *part = wti_report_part(report, "run");
	const struct wt_fact *duration = part ? wt_result_fact(&part->result, "duration_ns") : NULL;

	put_case(out, report->run, "the run finishes",
		 duration && duration->value.type == WT_CELL_NS ? duration->value.ns : -1);
	if (is_running(report)) {
		wti_buf_text(out, "      <skipped message=\"still running\"/>\n");
	} else if (!has_ended_well(report)) {
		wti_buf_text(out, "      <error");
		put_attribute(out, "message", report->headline);
		wti_buf_text(out, "/>\n");
	}
	wti_buf_text(out, "    </testcase>\n");
}

/* ---- Findings -------------------------------------------------------------------------------- */

static void put_finding(struct wti_buf *out, const char *run, const struct wt_finding *f)
{
	bool is_error = f->severity == WT_ERROR;

	put_case(out, run, f->code, -1);
	wti_buf_text(out, is_error ? "      <failure" : "      <system-out>");
	if (is_error) {
		put_attribute(out, "message", f->title);
		put_attribute(out, "type", f->code);
		wti_buf_byte(out, '>');
	} else {
		put_line(out, f->severity == WT_WARNING ? "warning" : "note", f->title);
	}
	if (f->file && f->line > 0) {
		wti_buf_text(out, "where: ");
		wti_markup_text(out, f->file);
		wti_buf_printf(out, ":%lld\n", (long long)f->line);
	}
	put_line(out, "evidence", f->evidence);
	put_line(out, "expected", f->expected);
	put_line(out, "observed", f->actual);
	put_line(out, "means", f->means);
	put_line(out, "try", f->hint);
	wti_buf_text(out, is_error ? "</failure>\n" : "</system-out>\n");
	wti_buf_text(out, "    </testcase>\n");
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static void put_evidence(struct wti_buf *out, const struct wt_table *table, size_t row)
{
	static const char *const keys[] = {"expected", "actual", "comparator", "unit", "detail"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		put_line(out, keys[i], wti_report_cell_text(table, row, keys[i]));
}

/* NULL: it passed. */
static const char *element_of(const char *verdict)
{
	static const struct {
		const char *verdict, *element;
	} all[] = {{"failed", "failure"},
		   {"error", "error"},
		   {"skipped", "skipped"},
		   {"observed", "skipped"}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].verdict, verdict))
			return all[i].element;
	return strcmp(verdict, "passed") ? "error" : NULL;
}

static void put_check(struct wti_buf *out, const char *run, const struct wt_table *table,
		      size_t row)
{
	const struct wt_cell *took = wti_report_cell(table, row, "duration_ns");
	const char *verdict = wti_report_cell_text(table, row, "verdict");
	const char *element = element_of(verdict ? verdict : "");

	put_case(out, run, wti_report_cell_text(table, row, "name"),
		 took && took->type == WT_CELL_NS ? took->ns : -1);
	if (element) {
		wti_buf_printf(out, "      <%s", element);
		put_attribute(out, "message",
			      verdict && !strcmp(verdict, "observed")
				      ? "observed, without an expectation"
				      : verdict);
		wti_buf_byte(out, '>');
	} else {
		wti_buf_text(out, "      <system-out>");
	}
	put_evidence(out, table, row);
	wti_buf_printf(out, "</%s>\n    </testcase>\n", element ? element : "system-out");
}

/* ---- Suites ---------------------------------------------------------------------------------- */

static void put_property(struct wti_buf *out, const struct wti_report *report, const char *part,
			 const char *key)
{
	const struct wti_report_part *found = wti_report_part(report, part);
	const char *text = found ? wti_report_text(&found->result, key) : NULL;

	if (!text)
		return;
	wti_buf_text(out, "      <property");
	put_attribute(out, "name", key);
	put_attribute(out, "value", text);
	wti_buf_text(out, "/>\n");
}

static void put_properties(struct wti_buf *out, const struct wti_report *report)
{
	wti_buf_text(out, "    <properties>\n");
	put_property(out, report, "run", "command");
	put_property(out, report, "run", "run_status");
	put_property(out, report, "code", "commit");
	put_property(out, report, "code", "dirty");
	put_property(out, report, "host", "kernel");
	put_property(out, report, "host", "torch_version");
	put_property(out, report, "reproduce", "reproduce");
	wti_buf_text(out, "    </properties>\n");
}

/* Of one of the verdicts; NULL: of all. */
static size_t count_checks(const struct wt_table *table, const char *verdict)
{
	size_t count = 0;

	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *text = wti_report_cell_text(table, i, "verdict");

		count += !verdict || (text && !strcmp(text, verdict));
	}
	return count;
}

static void put_suite(struct wti_buf *out, const struct wti_report *report)
{
	const struct wti_report_part *findings = wti_report_part(report, "findings");
	const struct wti_report_part *checks = wti_report_part(report, "checks");
	const struct wt_table *table = checks ? wti_report_table(&checks->result, "checks") : NULL;
	size_t finding_count = findings ? findings->result.finding_count : 0;
	size_t skipped = count_checks(table, "skipped") + count_checks(table, "observed");

	wti_buf_text(out, "  <testsuite");
	put_attribute(out, "name", report->run);
	wti_buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		       1 + finding_count + count_checks(table, NULL),
		       report->counts.errors + report->counts.failed,
		       report->counts.broken + !(is_running(report) || has_ended_well(report)),
		       skipped + is_running(report));
	put_properties(out, report);
	put_run(out, report);
	for (size_t i = 0; i < finding_count; i++)
		put_finding(out, report->run, &findings->result.findings[i]);
	for (size_t i = 0; table && i < table->row_count; i++)
		put_check(out, report->run, table, i);
	wti_buf_text(out, "  </testsuite>\n");
}

void wti_report_junit(struct wti_buf *out, const struct wti_report_list *list)
{
	wti_buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			  "<testsuites name=\"wheeltap report\">\n");
	for (size_t i = 0; i < list->count; i++)
		put_suite(out, &list->reports[i]);
	wti_buf_text(out, "</testsuites>\n");
}
