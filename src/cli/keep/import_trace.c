/* SPDX-License-Identifier: Apache-2.0 */
/* Says what an import took in, and what it left out. */
#include "import_trace.h"

#include <string.h>

#include "convert/import.h"
#include "import_folder.h"

bool wti_import_is_trace(const char *format)
{
	return wti_import_format(format);
}

static void add_reasons(const struct wti_import_report *report, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "left_out", "Left out");

	wt_table_column(table, "reason", "what", WT_CELL_TEXT);
	wt_table_column(table, "count", "how many", WT_CELL_COUNT);
	for (size_t i = 0; i < report->reason_count; i++) {
		wt_table_row(table);
		wt_table_text(table, report->reasons[i].why, strlen(report->reasons[i].why));
		wt_table_count(table, report->reasons[i].count);
	}
}

static void add_facts(const struct wti_import_report *report, const char *folder, size_t files,
		      struct wt_result *result)
{
	wt_result_fact_text(result, "run", "run", folder);
	wt_result_fact_count(result, "files", "files", WT_CELL_COUNT, files);
	wt_result_fact_count(result, "records", "records", WT_CELL_COUNT, report->records);
	wt_result_fact_count(result, "events", "events", WT_CELL_COUNT, report->summary.events);
	wt_result_fact_count(result, "read", "read", WT_CELL_BYTES, report->bytes);
	wt_result_fact_count(result, "written", "written", WT_CELL_BYTES, report->summary.bytes);
	wt_result_fact_count(result, "lost", "lost", WT_CELL_COUNT, report->summary.lost);
	if (report->reason_count)
		add_reasons(report, result);
	if (report->damaged)
		wt_result_note(result, "%s", report->damage.message);
	if (report->damaged > 1)
		wt_result_note(result, "%u more files are damaged", report->damaged - 1);
}

int wti_import_trace(const char *format, char **paths, size_t count, const char *output,
		     struct wt_result *result, bool *ret_damaged, struct wt_err *err)
{
	struct wti_import_report report;
	char folder[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < count; i++)
		paths[i] = strcmp(paths[i], "-") ? paths[i] : "/dev/stdin";
	if (!output)
		r = wti_import_folder(paths[0], folder, err);
	output = output ? output : folder;
	r = r ? r : wti_import_run(wti_import_format(format), paths, count, output, &report, err);
	if (r)
		return r;
	add_facts(&report, output, count, result);
	*ret_damaged = report.damaged;
	return 0;
}
