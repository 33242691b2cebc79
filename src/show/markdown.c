/* SPDX-License-Identifier: Apache-2.0 */
/* A result as Markdown: for issues, reviews and reports. */
#include <string.h>

#include "base/text.h"
#include "cell.h"
#include "markdown.h"
#include "show.h"

#define CELL_MAX (16u << 20)

/* What a table cell or a heading would take for markup is escaped. */
static void add_escaped(struct wti_buf *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (strchr("|\\`*_<>[]#&~$", text[i]) && text[i])
			wti_buf_byte(out, '\\');
		wti_buf_byte(out, (uint8_t)text[i]);
	}
}

void wti_markdown_text(struct wti_buf *out, const char *text)
{
	struct wti_buf printable;

	wti_buf_init(&printable, CELL_MAX);
	wti_printable(&printable, text, strlen(text));
	add_escaped(out, (const char *)printable.data, printable.bytes);
	wti_buf_inherit(out, &printable);
	wti_buf_release(&printable);
}

/* "- means: ..." */
static void add_item(struct wti_buf *out, const char *label, const char *text)
{
	if (!text)
		return;
	wti_buf_printf(out, "- %s: ", label);
	wti_markdown_text(out, text);
	wti_buf_byte(out, '\n');
}

void wti_markdown_cell(struct wti_buf *out, const struct wt_cell *cell)
{
	struct wti_buf text;

	wti_buf_init(&text, CELL_MAX);
	wti_cell_people(&text, cell);
	add_escaped(out, (const char *)text.data, text.bytes);
	wti_buf_inherit(out, &text);
	wti_buf_release(&text);
}

static void add_table(struct wti_buf *out, const struct wt_table *table)
{
	wti_buf_text(out, "\n## ");
	wti_markdown_text(out, table->title);
	wti_buf_text(out, "\n\n|");
	for (size_t i = 0; i < table->column_count; i++) {
		wti_buf_byte(out, ' ');
		wti_markdown_text(out, table->columns[i].title);
		wti_buf_text(out, " |");
	}
	wti_buf_text(out, "\n|");
	for (size_t i = 0; i < table->column_count; i++)
		wti_buf_text(out, table->columns[i].type == WT_CELL_TEXT ? "---|" : "---:|");
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		wti_buf_text(out, i % table->column_count ? " " : "\n| ");
		wti_markdown_cell(out, &table->cells[i]);
		wti_buf_text(out, " |");
	}
	wti_buf_byte(out, '\n');
}

static void add_finding(struct wti_buf *out, const struct wt_finding *f)
{
	static const char *const severities[] = {"note", "warning", "error"};

	wti_textf(out, "\n### %s %s: ", severities[f->severity], f->code);
	wti_markdown_text(out, f->title);
	wti_buf_text(out, "\n\n");
	add_item(out, "evidence", f->evidence);
	add_item(out, "means", f->means);
	add_item(out, "try", f->hint);
}

void wti_show_markdown(struct wti_buf *out, const struct wt_result *result)
{
	wti_textf(out, "# wheeltap %s: %s\n\n", result->verb, result->status);
	for (size_t i = 0; i < result->fact_count; i++) {
		wti_textf(out, "- %s: ", result->facts[i].title);
		wti_markdown_cell(out, &result->facts[i].value);
		wti_buf_byte(out, '\n');
	}
	for (size_t i = 0; i < result->finding_count; i++)
		add_finding(out, &result->findings[i]);
	for (size_t i = 0; i < result->table_count; i++)
		add_table(out, result->tables[i]);
	for (size_t i = 0; i < result->note_count; i++) {
		wti_buf_text(out, "\n> ");
		wti_markdown_text(out, result->notes[i]);
		wti_buf_byte(out, '\n');
	}
}
