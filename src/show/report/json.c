/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JSON: docs/report.md describes it. */
#include "base/json.h"
#include "report.h"
#include "show/show.h"

static void put_count(struct wti_json *json, const char *key, size_t count)
{
	wti_json_key(json, key);
	wti_json_u64(json, count);
}

static void put_report(struct wti_json *json, const struct wti_report *report)
{
	wti_json_object(json);
	wti_json_member(json, "run", report->run);
	wti_json_member(json, "status", report->status);
	wti_json_member(json, "headline", report->headline);
	wti_json_member(json, "verdict", wti_report_verdict_word(report->verdict));
	wti_json_key(json, "counts");
	wti_json_object(json);
	put_count(json, "errors", report->counts.errors);
	put_count(json, "warnings", report->counts.warnings);
	put_count(json, "notes", report->counts.notes);
	put_count(json, "checks_passed", report->counts.passed);
	put_count(json, "checks_failed", report->counts.failed);
	put_count(json, "checks_broken", report->counts.broken);
	put_count(json, "observations", report->counts.unjudged);
	wti_json_object_end(json);
	wti_json_key(json, "parts");
	wti_json_object(json);
	for (size_t i = 0; i < report->part_count; i++) {
		wti_json_key(json, report->parts[i].key);
		wti_show_json_value(json, &report->parts[i].result);
	}
	wti_json_object_end(json);
	wti_json_object_end(json);
}

void wti_report_json(struct wti_buf *out, const struct wti_report_list *list)
{
	struct wti_json json;
	bool is_bad = false, is_judged = true;

	for (size_t i = 0; i < list->count; i++) {
		is_bad |= list->reports[i].verdict == WTI_REPORT_BAD;
		is_judged &= list->reports[i].verdict != WTI_REPORT_UNJUDGED;
	}

	wti_json_init(&json, out, false);
	wti_json_object(&json);
	wti_json_member(&json, "verb", "report");
	wti_json_member(&json, "wheeltap", list->version);
	wti_json_member(&json, "status",
			is_bad      ? "findings"
			: is_judged ? "clean"
				    : "not_measured");
	wti_json_key(&json, "runs");
	wti_json_array(&json);
	for (size_t i = 0; i < list->count; i++)
		put_report(&json, &list->reports[i]);
	wti_json_array_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}
