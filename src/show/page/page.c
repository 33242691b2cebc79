/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result as one HTML file without a network: what is said stands in the file as text, and is read
 * without scripts; pictures are drawn by page.js from the JSON of the same result, which is in the
 * file too. Everything that comes from a trace is escaped, and the page's policy forbids it to load
 * or to call anything.
 */
#include <string.h>

#include "base/text.h"
#include "page.h"
#include "page_files.h"
#include "show/cell.h"
#include "show/markup.h"
#include "show/show.h"

#define PART_MAX (1u << 30)
/* More rows than this are in the JSON only: no reader scrolls further, and browsers slow down. */
enum { ROWS_MAX = 1000 };

void wti_page_cell(struct wti_buf *out, const struct wt_cell *cell)
{
	struct wti_buf text;

	wti_buf_init(&text, PART_MAX);
	wti_cell_people(&text, cell);
	wti_markup_escape(out, (const char *)text.data, text.bytes);
	wti_buf_inherit(out, &text);
	wti_buf_release(&text);
}

/* ---- Findings -------------------------------------------------------------------------------- */

static void add_row(struct wti_buf *out, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	wti_buf_printf(out, "<dt>%s</dt><dd>", label);
	wti_markup_text(out, text);
	wti_buf_text(out, "</dd>\n");
}

static void add_where(struct wti_buf *out, const struct wt_finding *f)
{
	struct wti_buf where;

	wti_buf_init(&where, PART_MAX);
	if (f->file && f->line > 0)
		wti_textf(&where, "%s:%lld", f->file, (long long)f->line);
	else if (f->file)
		wti_textf(&where, "%s", f->file);
	if (f->op)
		wti_textf(&where, "%s%s", where.bytes ? "  " : "", f->op);
	if (f->step >= 0)
		wti_textf(&where, "%sstep %lld", where.bytes ? "  " : "", (long long)f->step);
	add_row(out, "where", wti_buf_cstr(&where));
	wti_buf_clear(&where);
	if (f->first_step >= 0)
		wti_show_when(&where, f);
	add_row(out, "when", wti_buf_cstr(&where));
	wti_buf_inherit(out, &where);
	wti_buf_release(&where);
}

void wti_page_finding(struct wti_buf *out, const struct wt_finding *f)
{
	static const char *const severities[] = {"note", "warning", "error"};

	wti_buf_printf(out, "<article class=\"%s\"><h3>", severities[f->severity]);
	wti_markup_text(out, f->title);
	wti_buf_printf(out, "</h3>\n<code>%s ", severities[f->severity]);
	wti_markup_text(out, f->code);
	wti_buf_text(out, "</code>\n<dl>");
	add_where(out, f);
	add_row(out, "evidence", f->evidence);
	add_row(out, "observed", f->actual);
	add_row(out, "expected", f->expected);
	add_row(out, "means", f->means);
	add_row(out, "try", f->hint);
	add_row(out, "not this", f->not_this);
	add_row(out, "follows", f->follows);
	wti_buf_text(out, "</dl></article>\n");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool is_text(const struct wt_column *column)
{
	return column->type == WT_CELL_TEXT;
}

/* Those without a title are for machines. */
static bool is_shown(const struct wt_column *column)
{
	return column->title && *column->title;
}

static void add_cells(struct wti_buf *out, const struct wt_table *table, size_t row)
{
	wti_buf_text(out, "<tr>");
	for (size_t i = 0; i < table->column_count; i++) {
		if (!is_shown(&table->columns[i]))
			continue;
		wti_buf_text(out, is_text(&table->columns[i]) ? "<td>" : "<td class=\"number\">");
		wti_page_cell(out, &table->cells[row * table->column_count + i]);
		wti_buf_text(out, "</td>");
	}
	wti_buf_text(out, "</tr>\n");
}

void wti_page_table(struct wti_buf *out, const struct wt_table *table)
{
	size_t rows = table->row_count < ROWS_MAX ? table->row_count : ROWS_MAX;

	wti_buf_text(out, "<div class=\"wide\"><table><thead><tr>");
	for (size_t i = 0; i < table->column_count; i++) {
		if (!is_shown(&table->columns[i]))
			continue;
		wti_buf_text(out, is_text(&table->columns[i]) ? "<th>" : "<th class=\"number\">");
		wti_markup_text(out, table->columns[i].title);
		wti_buf_text(out, "</th>");
	}
	wti_buf_text(out, "</tr></thead>\n<tbody>");
	for (size_t i = 0; i < rows; i++)
		add_cells(out, table, i);
	wti_buf_text(out, "</tbody></table></div>");
	if (rows < table->row_count)
		wti_buf_printf(out, "<p>%zu more rows are in the data of this page.</p>",
			       table->row_count - rows);
}

static void add_table(struct wti_buf *out, const struct wt_table *table)
{
	wti_buf_text(out, "<section><h2>");
	wti_markup_text(out, table->title);
	wti_buf_text(out, "</h2>\n");
	wti_page_table(out, table);
	wti_buf_text(out, "</section>\n");
}

/* ---- The page -------------------------------------------------------------------------------- */

/* JSON has < in texts only, where it may be written so: nothing in it can end the element. */
void wti_page_data(struct wti_buf *out, const struct wti_buf *json)
{
	wti_buf_text(out, "<script type=\"application/json\" id=\"data\">");
	for (size_t i = 0, from = 0; i <= json->bytes; i++) {
		if (i < json->bytes && json->data[i] != '<')
			continue;
		wti_buf_append(out, json->data + from, i - from);
		wti_buf_text(out, i < json->bytes ? "\\u003c" : "");
		from = i + 1;
	}
	wti_buf_text(out, "</script>\n");
	wti_buf_inherit(out, json);
}

static void add_data(struct wti_buf *out, const struct wt_result *result)
{
	struct wti_buf json;

	wti_buf_init(&json, PART_MAX);
	wti_show_json(&json, result);
	wti_page_data(out, &json);
	wti_buf_release(&json);
}

static void add_head(struct wti_buf *out, const struct wt_result *result)
{
	wti_buf_text(out,
		     "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>wheeltap ");
	wti_markup_text(out, result->verb);
	wti_buf_text(out, "</title>\n<style>");
	wti_buf_append(out, wti_page_css, sizeof(wti_page_css));
	wti_buf_text(out, "</style></head>\n<body><header><h1>wheeltap ");
	wti_markup_text(out, result->verb);
	wti_buf_text(out, " <span class=\"status ");
	wti_markup_text(out, result->status);
	wti_buf_text(out, "\">");
	wti_markup_text(out,
			strcmp(result->status, "not_measured") ? result->status : "not measured");
	wti_buf_text(out, "</span></h1>\n");
}

static void add_facts(struct wti_buf *out, const struct wt_result *result)
{
	wti_buf_text(out, result->fact_count ? "<dl class=\"facts\">" : "");
	for (size_t i = 0; i < result->fact_count; i++) {
		if (!*result->facts[i].title) /* for programs */
			continue;
		wti_buf_text(out, "<dt>");
		wti_markup_text(out, result->facts[i].title);
		wti_buf_text(out, "</dt><dd>");
		wti_page_cell(out, &result->facts[i].value);
		wti_buf_text(out, "</dd>\n");
	}
	wti_buf_text(out, result->fact_count ? "</dl></header>\n" : "</header>\n");
}

void wti_show_page(struct wti_buf *out, const struct wt_result *result)
{
	add_head(out, result);
	add_facts(out, result);
	wti_buf_text(out, "<main>\n");
	for (size_t i = 0; i < result->finding_count; i++)
		wti_page_finding(out, &result->findings[i]);
	wti_buf_text(out, "<div id=\"pictures\"></div>\n");
	for (size_t i = 0; i < result->table_count; i++)
		if (result->tables[i]->title && *result->tables[i]->title &&
		    result->tables[i]->row_count)
			add_table(out, result->tables[i]);
	for (size_t i = 0; i < result->note_count; i++) {
		wti_buf_text(out, "<p>");
		wti_markup_text(out, result->notes[i]);
		wti_buf_text(out, "</p>\n");
	}
	wti_buf_text(out, "</main><footer>made by wheeltap</footer>\n");
	add_data(out, result);
	wti_buf_text(out, "<script>");
	wti_buf_append(out, wti_lanes_js, sizeof(wti_lanes_js));
	wti_buf_append(out, wti_page_js, sizeof(wti_page_js));
	wti_buf_text(out, "</script></body></html>\n");
}
