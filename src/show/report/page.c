/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one HTML file: text, tables and pictures are in it and need neither a network nor a
 * script; report.js only adds zooming. Everything that comes from a run is escaped, and the page's
 * policy forbids it to load anything.
 */
#include "show/page/page.h"

#include <string.h>

#include "report.h"
#include "report_files.h"
#include "show/markup.h"
#include "svg.h"

#define DATA_MAX (1u << 30)
/* A section with more rows than this is folded away at first, if it is not one of the first. */
enum { ROWS_OPEN = 14 };

static void put_facts(struct wti_buf *out, const struct wt_result *result)
{
	bool is_begun = false;

	for (size_t i = 0; i < result->fact_count; i++) {
		const struct wt_fact *fact = &result->facts[i];

		if (!*fact->title) /* for programs */
			continue;
		wti_buf_text(out, is_begun ? "<dt>" : "<dl class=\"facts\"><dt>");
		wti_markup_text(out, fact->title);
		if (fact->value.type == WT_CELL_EMPTY) {
			wti_buf_text(out, "</dt><dd class=\"missing\">not recorded</dd>\n");
		} else {
			wti_buf_text(out, "</dt><dd>");
			wti_page_cell(out, &fact->value);
			wti_buf_text(out, "</dd>\n");
		}
		is_begun = true;
	}
	wti_buf_text(out, is_begun ? "</dl>\n" : "");
}

static void put_tables(struct wti_buf *out, const struct wt_result *result)
{
	for (size_t i = 0; i < result->table_count; i++) {
		if (!wti_report_is_shown(result->tables[i]))
			continue;
		wti_buf_text(out, "<h3>");
		wti_markup_text(out, result->tables[i]->title);
		wti_buf_text(out, "</h3>\n");
		wti_page_table(out, result->tables[i]);
	}
}

static void put_missing(struct wti_buf *out, const struct wt_result *result)
{
	const struct wt_table *table = wti_report_table(result, "not_recorded");

	if (!table || !table->row_count)
		return;
	wti_buf_text(out, "<ul class=\"missing\">\n");
	for (size_t i = 0; i < table->row_count; i++) {
		wti_buf_text(out, "<li>not recorded: ");
		wti_markup_text(out, wti_report_cell_text(table, i, "what"));
		wti_buf_text(out, " <span>(");
		wti_markup_text(out, wti_report_cell_text(table, i, "how"));
		wti_buf_text(out, ")</span></li>\n");
	}
	wti_buf_text(out, "</ul>\n");
}

/* ---- Curves ---------------------------------------------------------------------------------- */

/* What x counts, from the row of the table that has the same name. */
static const char *x_word_of(const struct wt_table *metrics, const char *name)
{
	for (size_t i = 0; metrics && i < metrics->row_count; i++) {
		const char *text = wti_report_cell_text(metrics, i, "name");

		if (text && !strcmp(text, name))
			return wti_report_cell_text(metrics, i, "x");
	}
	return "steps";
}

static void put_curve(struct wti_buf *out, const struct wt_series *series, const char *x_word,
		      size_t run, const char *part)
{
	struct wti_buf picture;

	wti_buf_init(&picture, DATA_MAX);
	if (wti_svg_series(&picture, series, x_word ? x_word : "steps")) {
		wti_buf_printf(out, "<figure data-run=\"%zu\" data-part=\"%s\" data-series=\"%s\">",
			       run, part, series->key);
		wti_buf_text(out, "<figcaption>");
		wti_markup_text(out, series->title);
		if (*series->unit) {
			wti_buf_text(out, " <span>(");
			wti_markup_text(out, series->unit);
			wti_buf_text(out, ")</span>");
		}
		wti_buf_text(out, "</figcaption>\n");
		wti_buf_append(out, picture.data, picture.bytes);
		wti_buf_text(out, "</figure>\n");
	} else {
		wti_buf_text(out, "<p class=\"missing\">");
		wti_markup_text(out, series->title);
		wti_buf_text(out, ": no value is a finite number</p>\n");
	}
	wti_buf_inherit(out, &picture);
	wti_buf_release(&picture);
}

static void put_curves(struct wti_buf *out, const struct wt_result *result, size_t run,
		       const char *part)
{
	const struct wt_table *metrics = wti_report_table(result, "metrics");

	wti_buf_text(out, result->series_count ? "<div class=\"curves\">\n" : "");
	for (size_t i = 0; i < result->series_count; i++)
		put_curve(out, result->series[i], x_word_of(metrics, result->series[i]->title), run,
			  part);
	wti_buf_text(out, result->series_count ? "</div>\n" : "");
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static bool is_open(const struct wti_report_part *part)
{
	size_t rows = part->result.fact_count;

	for (size_t i = 0; i < part->result.table_count; i++)
		rows += part->result.tables[i]->row_count;
	return part->is_first || rows <= ROWS_OPEN;
}

static void put_part(struct wti_buf *out, const struct wti_report_part *part, size_t run)
{
	const struct wt_result *result = &part->result;

	wti_buf_printf(out, "<details id=\"%s-%zu\"%s><summary><h2>%s</h2></summary>\n", part->key,
		       run, is_open(part) ? " open" : "", part->title);
	put_facts(out, result);
	for (size_t i = 0; i < result->finding_count; i++)
		wti_page_finding(out, &result->findings[i]);
	put_curves(out, result, run, part->key);
	put_tables(out, result);
	put_missing(out, result);
	for (size_t i = 0; i < result->note_count; i++) {
		wti_buf_text(out, "<p class=\"note\">");
		wti_markup_text(out, result->notes[i]);
		wti_buf_text(out, "</p>\n");
	}
	wti_buf_text(out, "</details>\n");
}

static const char *mood(const struct wti_report *report)
{
	static const char *const moods[] = {"good", "so-so", "so-so", "bad"};

	return moods[report->verdict];
}

static void put_report(struct wti_buf *out, const struct wti_report *report, size_t run)
{
	wti_buf_printf(out, "<article class=\"run %s\" id=\"report-%zu\">\n<h1>", mood(report),
		       run);
	wti_markup_text(out, report->run);
	wti_buf_text(out, " <span class=\"badge\">");
	wti_markup_text(out, report->status);
	wti_buf_text(out, "</span></h1>\n<p class=\"headline\">");
	wti_buf_printf(out, "<b>%s</b>: ", wti_report_verdict_word(report->verdict));
	wti_markup_text(out, report->headline);
	wti_buf_text(out, "</p>\n<nav>");
	for (size_t i = 0; i < report->part_count; i++)
		wti_buf_printf(out, "<a href=\"#%s-%zu\">%s</a> ", report->parts[i].key, run,
			       report->parts[i].title);
	wti_buf_text(out, "</nav>\n");
	for (size_t i = 0; i < report->part_count; i++)
		put_part(out, &report->parts[i], run);
	wti_buf_text(out, "</article>\n");
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_summary(struct wti_buf *out, const struct wti_report_list *list)
{
	wti_buf_printf(out,
		       "<h1>%zu runs</h1>\n<div class=\"wide\"><table><thead><tr><th>run</th>"
		       "<th>status</th><th class=\"number\">errors</th>"
		       "<th class=\"number\">warnings</th><th>checks</th></tr></thead>\n<tbody>",
		       list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct wti_report *report = &list->reports[i];
		const struct wti_report_counts *counts = &report->counts;

		wti_buf_printf(out, "<tr><td><a href=\"#report-%zu\">", i);
		wti_markup_text(out, report->run);
		wti_buf_printf(out, "</a></td><td class=\"%s\">", mood(report));
		wti_markup_text(out, report->status);
		wti_buf_printf(out,
			       "</td><td class=\"number\">%zu</td><td class=\"number\">%zu</td>"
			       "<td>%zu passed, %zu failed</td></tr>\n",
			       counts->errors, counts->warnings, counts->passed,
			       counts->failed + counts->broken);
	}
	wti_buf_text(out, "</tbody></table></div>\n");
}

static void put_head(struct wti_buf *out, const struct wti_report_list *list)
{
	wti_buf_text(out,
		     "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
	if (list->count == 1) {
		wti_markup_text(out, list->reports[0].run);
		wti_buf_text(out, ": ");
		wti_markup_text(out, list->reports[0].status);
	} else {
		wti_buf_printf(out, "%zu runs", list->count);
	}
	wti_buf_text(out, "</title>\n<style>");
	wti_buf_append(out, wti_page_css, sizeof(wti_page_css));
	wti_buf_append(out, wti_report_css, sizeof(wti_report_css));
	wti_buf_text(out, "</style></head>\n<body><main>\n");
}

void wti_report_page(struct wti_buf *out, const struct wti_report_list *list)
{
	struct wti_buf json;

	wti_buf_init(&json, DATA_MAX);
	put_head(out, list);
	if (list->count > 1)
		put_summary(out, list);
	for (size_t i = 0; i < list->count; i++)
		put_report(out, &list->reports[i], i);
	wti_buf_text(out, "</main><footer>made by wheeltap ");
	wti_markup_text(out, list->version);
	wti_buf_text(out, "; the data of this page is in it as JSON</footer>\n");
	wti_report_json(&json, list);
	wti_page_data(out, &json);
	wti_buf_release(&json);
	wti_buf_text(out, "<script>");
	wti_buf_append(out, wti_report_js, sizeof(wti_report_js));
	wti_buf_text(out, "</script></body></html>\n");
}
