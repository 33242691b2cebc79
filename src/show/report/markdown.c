/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as Markdown for a pull request: the verdict first, then what matters, and the rest
 * folded away. No picture: a sketch of each curve in text.
 */
#include "show/markdown.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report.h"
#include "show/show.h"

/* More rows than this make a comment that nobody scrolls through; the page and JSON have all. */
enum { ROWS_MAX = 50, SKETCH_COLUMNS = 24 };

static void put_label(struct wti_buf *out, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	wti_buf_printf(out, "- %s: ", label);
	wti_markdown_text(out, text);
	wti_buf_byte(out, '\n');
}

static void put_where(struct wti_buf *out, const struct wt_finding *f)
{
	struct wti_buf where;

	wti_buf_init(&where, 1u << 16);
	if (f->file && f->line > 0)
		wti_textf(&where, "%s:%lld ", f->file, (long long)f->line);
	if (f->op)
		wti_textf(&where, "%s", f->op);
	put_label(out, "where", wti_buf_cstr(&where));
	wti_buf_clear(&where);
	if (f->first_step >= 0)
		wti_show_when(&where, f);
	put_label(out, "when", wti_buf_cstr(&where));
	wti_buf_release(&where);
}

static void put_finding(struct wti_buf *out, const struct wt_finding *f)
{
	static const char *const severities[] = {"note", "warning", "error"};

	wti_textf(out, "\n**%s %s**: ", severities[f->severity], f->code);
	wti_markdown_text(out, f->title);
	wti_buf_text(out, "\n\n");
	put_where(out, f);
	put_label(out, "evidence", f->evidence);
	put_label(out, "observed", f->actual);
	put_label(out, "expected", f->expected);
	put_label(out, "means", f->means);
	put_label(out, "try", f->hint);
}

/* ---- Facts and tables ------------------------------------------------------------------------ */

static void put_fact(struct wti_buf *out, const struct wt_fact *fact)
{
	wti_buf_text(out, "| ");
	wti_markdown_text(out, fact->title);
	wti_buf_text(out, " | ");
	if (fact->value.type == WT_CELL_EMPTY)
		wti_buf_text(out, "not recorded");
	else
		wti_markdown_cell(out, &fact->value);
	wti_buf_text(out, " |\n");
}

static void put_facts(struct wti_buf *out, const struct wt_result *result)
{
	bool is_begun = false;

	for (size_t i = 0; i < result->fact_count; i++) {
		if (!*result->facts[i].title) /* for programs */
			continue;
		wti_buf_text(out, is_begun ? "" : "\n| | |\n|---|---|\n");
		put_fact(out, &result->facts[i]);
		is_begun = true;
	}
}

static bool is_shown(const struct wt_column *column)
{
	return column->title && *column->title;
}

static void put_row(struct wti_buf *out, const struct wt_table *table, size_t row)
{
	wti_buf_byte(out, '|');
	for (size_t i = 0; i < table->column_count; i++) {
		if (!is_shown(&table->columns[i]))
			continue;
		wti_buf_byte(out, ' ');
		wti_markdown_cell(out, &table->cells[row * table->column_count + i]);
		wti_buf_text(out, " |");
	}
	wti_buf_byte(out, '\n');
}

static void put_table(struct wti_buf *out, const struct wt_table *table)
{
	size_t rows = table->row_count < ROWS_MAX ? table->row_count : ROWS_MAX;

	wti_buf_text(out, "\n**");
	wti_markdown_text(out, table->title);
	wti_buf_text(out, "**\n\n|");
	for (size_t i = 0; i < table->column_count; i++) {
		if (!is_shown(&table->columns[i]))
			continue;
		wti_buf_byte(out, ' ');
		wti_markdown_text(out, table->columns[i].title);
		wti_buf_text(out, " |");
	}
	wti_buf_text(out, "\n|");
	for (size_t i = 0; i < table->column_count; i++)
		if (is_shown(&table->columns[i]))
			wti_buf_text(out,
				     table->columns[i].type == WT_CELL_TEXT ? "---|" : "---:|");
	wti_buf_byte(out, '\n');
	for (size_t i = 0; i < rows; i++)
		put_row(out, table, i);
	if (rows < table->row_count)
		wti_buf_printf(out, "\n%zu more rows: `wheeltap report --html` or `--json`\n",
			       table->row_count - rows);
}

static void put_missing(struct wti_buf *out, const struct wt_result *result)
{
	const struct wt_table *table = wti_report_table(result, "not_recorded");

	wti_buf_text(out, table && table->row_count ? "\n" : "");
	for (size_t i = 0; table && i < table->row_count; i++) {
		wti_buf_text(out, "- not recorded: ");
		wti_markdown_text(out, wti_report_cell_text(table, i, "what"));
		wti_buf_text(out, " (");
		wti_markdown_text(out, wti_report_cell_text(table, i, "how"));
		wti_buf_text(out, ")\n");
	}
}

/* ---- Curves ---------------------------------------------------------------------------------- */

static const char *bar(double share)
{
	static const char *const bars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					   "\u2585", "\u2586", "\u2587", "\u2588"};
	int i = (int)(share * 8);

	return bars[i < 0 ? 0 : i > 7 ? 7 : i];
}

/* The highest value of each column, so that a spike stays one; x for what is not finite. */
static void put_sketch(struct wti_buf *out, const struct wt_series *series)
{
	size_t columns = series->count < SKETCH_COLUMNS ? series->count : SKETCH_COLUMNS;
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < series->count; i++) {
		low = fmin(low, series->low ? series->low[i] : series->y[i]);
		high = fmax(high, series->high ? series->high[i] : series->y[i]);
	}
	for (size_t i = 0; i < columns; i++) {
		size_t from = i * series->count / columns, to = (i + 1) * series->count / columns;
		bool is_broken = false;
		double top = -INFINITY;

		for (size_t j = from; j < to; j++) {
			is_broken |= series->nonfinite && series->nonfinite[j];
			top = fmax(top, series->high ? series->high[j] : series->y[j]);
		}
		if (is_broken)
			wti_buf_byte(out, 'x');
		else if (top >= low)
			wti_buf_text(out, bar(high > low ? (top - low) / (high - low) : 0.5));
		else
			wti_buf_byte(out, ' ');
	}
}

static void put_curves(struct wti_buf *out, const struct wt_result *result)
{
	wti_buf_text(out, result->series_count ? "\n**Curves** (highest value of each column, x: "
						 "not a finite number)\n\n"
					       : "");
	for (size_t i = 0; i < result->series_count; i++) {
		wti_buf_text(out, "- `");
		put_sketch(out, result->series[i]);
		wti_buf_text(out, "` ");
		wti_markdown_text(out, result->series[i]->title);
		wti_buf_byte(out, '\n');
	}
}

/* ---- The report ------------------------------------------------------------------------------ */

static void put_inside(struct wti_buf *out, const struct wt_result *result)
{
	put_facts(out, result);
	for (size_t i = 0; i < result->finding_count; i++)
		put_finding(out, &result->findings[i]);
	for (size_t i = 0; i < result->table_count; i++)
		if (wti_report_is_shown(result->tables[i]))
			put_table(out, result->tables[i]);
	put_curves(out, result);
	put_missing(out, result);
	for (size_t i = 0; i < result->note_count; i++) {
		wti_buf_text(out, "\n> ");
		wti_markdown_text(out, result->notes[i]);
		wti_buf_byte(out, '\n');
	}
}

static void put_part(struct wti_buf *out, const struct wti_report_part *part)
{
	if (part->is_first) {
		wti_buf_printf(out, "\n### %s\n", part->title);
		put_inside(out, &part->result);
		return;
	}
	wti_buf_printf(out, "\n<details><summary>%s</summary>\n", part->title);
	put_inside(out, &part->result);
	wti_buf_text(out, "\n</details>\n");
}

static void put_report(struct wti_buf *out, const struct wti_report *report)
{
	wti_buf_text(out, "## ");
	wti_markdown_text(out, report->run);
	wti_buf_printf(out, "\n\n**%s**: ", wti_report_verdict_word(report->verdict));
	wti_markdown_text(out, report->headline);
	wti_buf_byte(out, '\n');
	for (size_t i = 0; i < report->part_count; i++)
		put_part(out, &report->parts[i]);
	wti_buf_byte(out, '\n');
}

static void put_summary(struct wti_buf *out, const struct wti_report_list *list)
{
	wti_buf_printf(out,
		       "# %zu runs\n\n| run | verdict | status | errors | warnings | checks |\n",
		       list->count);
	wti_buf_text(out, "|---|---|---|---:|---:|---|\n");
	for (size_t i = 0; i < list->count; i++) {
		const struct wti_report *report = &list->reports[i];
		const struct wti_report_counts *counts = &report->counts;

		wti_buf_text(out, "| ");
		wti_markdown_text(out, report->run);
		wti_buf_printf(out, " | %s | ", wti_report_verdict_word(report->verdict));
		wti_markdown_text(out, report->status);
		wti_buf_printf(out, " | %zu | %zu | %zu passed, %zu failed |\n", counts->errors,
			       counts->warnings, counts->passed, counts->failed + counts->broken);
	}
	wti_buf_byte(out, '\n');
}

void wti_report_markdown(struct wti_buf *out, const struct wti_report_list *list)
{
	if (list->count > 1)
		put_summary(out, list);
	for (size_t i = 0; i < list->count; i++)
		put_report(out, &list->reports[i]);
	wti_buf_printf(out, "Made by wheeltap %s.\n", list->version);
}
