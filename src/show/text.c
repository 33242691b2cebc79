/* SPDX-License-Identifier: Apache-2.0 */
/* A result for people: facts, then findings, then tables that fit the terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cell.h"
#include "show.h"

#define CELL_MAX (16u << 20)
#define CELL_COLUMNS_MAX 100 /* when nothing limits the line */
#define TEXT_COLUMNS_MIN 12  /* a text column is not squeezed further */
#define GAP 2

struct layout {
	const struct wt_table *table;
	size_t *widths; /* a column */
	bool *shown;
	struct wti_buf scratch;
	bool failed; /* a cell could not be made for want of memory */
};

static void pad(struct wti_buf *out, size_t columns)
{
	while (columns--)
		wti_buf_byte(out, ' ');
}

/* Columns of a text once it is printable. Counted, not made: lines are laid out by it, and it must
 * not fail. */
static size_t printed_width(const char *text)
{
	size_t bytes = strlen(text), at = 0, width = 0;

	while (at < bytes) {
		size_t length = wti_harmless_length(text + at, bytes - at);

		if (length && text[at] != '\\')
			width += wti_text_width(text + at, length);
		else if (strchr("\n\t\r\\", text[at]))
			width += 2;
		else
			width += 4; /* a byte */
		at += length ? length : 1;
	}
	return width;
}

/* What is in `scratch`, cut to `columns`. */
static size_t fit_scratch(struct layout *l, size_t columns)
{
	const char *text = (const char *)l->scratch.data;
	size_t bytes = l->scratch.bytes;

	l->failed |= wti_buf_status(&l->scratch) == WT_E_NOMEM;
	if (wti_text_width(text, bytes) <= columns)
		return bytes;
	l->scratch.bytes = wti_text_fit(text, bytes, columns - 1);
	wti_buf_text(&l->scratch, "…");
	return l->scratch.bytes;
}

static size_t fit_cell(struct layout *l, const struct wt_cell *cell, size_t columns)
{
	wti_buf_clear(&l->scratch);
	if (cell->type == WT_CELL_TEXT && cell->text_bytes > 4 * columns)
		wti_printable(&l->scratch, cell->text, 4 * columns);
	else
		wti_cell_people(&l->scratch, cell);
	return fit_scratch(l, columns);
}

static size_t fit_title(struct layout *l, const char *title, size_t columns)
{
	wti_buf_clear(&l->scratch);
	wti_printable(&l->scratch, title, strlen(title));
	return fit_scratch(l, columns);
}

static void measure(struct layout *l)
{
	const struct wt_table *t = l->table;

	for (size_t i = 0; i < t->column_count; i++) {
		l->shown[i] = *t->columns[i].title != 0; /* those without are for machines */
		l->widths[i] = printed_width(t->columns[i].title);
	}
	for (size_t i = 0; i < t->row_count * t->column_count; i++) {
		size_t bytes = fit_cell(l, &t->cells[i], CELL_COLUMNS_MAX);
		size_t width = wti_text_width((const char *)l->scratch.data, bytes);

		if (width > l->widths[i % t->column_count])
			l->widths[i % t->column_count] = width;
	}
}

static size_t total_width(const struct layout *l)
{
	size_t total = 0;

	for (size_t i = 0; i < l->table->column_count; i++)
		total += l->shown[i] ? l->widths[i] + (total ? GAP : 0) : 0;
	return total;
}

/* The column to leave out next, or -1. */
static int hide_next(const struct layout *l)
{
	const struct wt_column *columns = l->table->columns;
	int next = -1;

	for (size_t i = 0; i < l->table->column_count; i++) {
		if (l->shown[i] && columns[i].hide &&
		    (next < 0 || columns[i].hide >= columns[next].hide))
			next = (int)i;
	}
	return next;
}

static int widest_text(const struct layout *l)
{
	int widest = -1;

	for (size_t i = 0; i < l->table->column_count; i++) {
		if (l->shown[i] && l->table->columns[i].type == WT_CELL_TEXT &&
		    l->widths[i] > TEXT_COLUMNS_MIN &&
		    (widest < 0 || l->widths[i] > l->widths[widest]))
			widest = (int)i;
	}
	return widest;
}

/* Texts give way down to a third of the line, then whole columns, then texts again. */
static void squeeze(struct layout *l, size_t width)
{
	while (total_width(l) > width) {
		int text = widest_text(l);
		int hide = hide_next(l);

		if (text >= 0 && (hide < 0 || l->widths[text] > width / 3))
			l->widths[text]--;
		else if (hide >= 0)
			l->shown[hide] = false;
		else
			break;
	}
}

static bool is_left(const struct wt_table *table, size_t column)
{
	return table->columns[column].type == WT_CELL_TEXT;
}

static void add_aligned(struct wti_buf *out, const struct layout *l, size_t column,
			const char *text, size_t bytes, bool last)
{
	size_t used = wti_text_width(text, bytes);
	size_t space = l->widths[column] > used ? l->widths[column] - used : 0;

	if (!is_left(l->table, column))
		pad(out, space);
	wti_buf_append(out, text, bytes);
	if (is_left(l->table, column) && !last)
		pad(out, space);
}

static void add_lines(struct wti_buf *out, struct layout *l, const struct wti_style *style)
{
	const struct wt_table *t = l->table;
	size_t last = 0;

	for (size_t i = 0; i < t->column_count; i++)
		last = l->shown[i] ? i : last;
	wti_ink(out, style, WTI_INK_BOLD);
	for (size_t i = 0, any = 0; i < t->column_count; i++) {
		size_t bytes;

		if (!l->shown[i])
			continue;
		pad(out, any++ ? GAP : 0);
		bytes = fit_title(l, t->columns[i].title, l->widths[i]);
		add_aligned(out, l, i, (const char *)l->scratch.data, bytes, i == last);
	}
	wti_ink(out, style, WTI_INK_END);
	wti_buf_byte(out, '\n');
	for (size_t row = 0; row < t->row_count; row++) {
		for (size_t i = 0, any = 0; i < t->column_count; i++) {
			size_t bytes;

			if (!l->shown[i])
				continue;
			pad(out, any++ ? GAP : 0);
			bytes = fit_cell(l, &t->cells[row * t->column_count + i], l->widths[i]);
			add_aligned(out, l, i, (const char *)l->scratch.data, bytes, i == last);
		}
		wti_buf_byte(out, '\n');
	}
}

void wti_show_table(struct wti_buf *out, const struct wt_table *table,
		    const struct wti_style *style)
{
	struct layout l = {.table = table};

	l.widths = calloc(table->column_count + 1, sizeof(*l.widths));
	l.shown = calloc(table->column_count + 1, sizeof(*l.shown));
	wti_buf_init(&l.scratch, CELL_MAX);
	if (l.widths && l.shown) {
		measure(&l);
		if (style->width)
			squeeze(&l, style->width);
		add_lines(out, &l, style);
	}
	if (!l.widths || !l.shown || l.failed)
		out->status = WT_E_NOMEM;
	free(l.widths);
	free(l.shown);
	wti_buf_release(&l.scratch);
}

static void add_facts(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style)
{
	size_t widest = 0;

	for (size_t i = 0; i < result->fact_count; i++) {
		size_t width = printed_width(result->facts[i].title);

		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < result->fact_count; i++) {
		const struct wt_fact *fact = &result->facts[i];

		if (!*fact->title) /* for machines only */
			continue;
		wti_ink(out, style, WTI_INK_DIM);
		wti_textf(out, "%s", fact->title);
		wti_ink(out, style, WTI_INK_END);
		pad(out, widest - printed_width(fact->title) + GAP);
		wti_cell_people(out, &fact->value);
		wti_buf_byte(out, '\n');
	}
}

static void add_line(struct wti_buf *out, const char *label, const char *text)
{
	if (!text)
		return;
	wti_buf_printf(out, "  %-9s ", label);
	wti_printable(out, text, strlen(text));
	wti_buf_byte(out, '\n');
}

static void add_where(struct wti_buf *out, const struct wt_finding *f)
{
	struct wti_buf where;

	wti_buf_init(&where, CELL_MAX);
	if (f->file && f->line >= 0)
		wti_buf_printf(&where, "%s:%lld", f->file, (long long)f->line);
	else if (f->file)
		wti_buf_text(&where, f->file);
	if (f->op)
		wti_buf_printf(&where, "%s%s", where.bytes ? "  " : "", f->op);
	if (f->stage)
		wti_buf_printf(&where, "%sstage %s", where.bytes ? "  " : "", f->stage);
	if (f->step >= 0 && f->first_step < 0)
		wti_buf_printf(&where, "%sstep %lld", where.bytes ? "  " : "", (long long)f->step);
	if (f->ranks)
		wti_buf_printf(&where, "%srank %s", where.bytes ? "  " : "", f->ranks);
	else if (f->rank >= 0)
		wti_buf_printf(&where, "%srank %lld", where.bytes ? "  " : "", (long long)f->rank);
	if (where.bytes)
		add_line(out, "where", wti_buf_cstr(&where));
	wti_buf_inherit(out, &where);
	wti_buf_release(&where);
}

/* "step 2, to step 1200 (1,199 of 1,199)" */
static void add_since(struct wti_buf *out, const struct wt_finding *f)
{
	struct wti_buf since;
	char text[32];

	if (f->first_step < 0)
		return;
	wti_buf_init(&since, CELL_MAX);
	wti_buf_printf(&since, "step %lld", (long long)f->first_step);
	if (f->last_step > f->first_step)
		wti_buf_printf(&since, ", last in step %lld", (long long)f->last_step);
	if (f->count > 1 || f->case_count > 1) {
		wti_buf_printf(&since, " (%s", wti_format_count(text, f->count));
		if (f->case_count)
			wti_buf_printf(&since, " of %s", wti_format_count(text, f->case_count));
		else
			wti_buf_text(&since, " times");
		wti_buf_byte(&since, ')');
	}
	add_line(out, "since", wti_buf_cstr(&since));
	wti_buf_inherit(out, &since);
	wti_buf_release(&since);
}

static void add_finding(struct wti_buf *out, const struct wt_finding *f,
			const struct wti_style *style)
{
	static const char *const severities[] = {"NOTE", "WARNING", "ERROR"};
	static const enum wti_ink inks[] = {WTI_INK_BOLD, WTI_INK_YELLOW, WTI_INK_RED};

	wti_ink(out, style, inks[f->severity]);
	wti_textf(out, "%s %s", severities[f->severity], f->code);
	wti_ink(out, style, WTI_INK_END);
	wti_buf_text(out, "  ");
	wti_printable(out, f->title, strlen(f->title));
	wti_buf_byte(out, '\n');
	add_where(out, f);
	add_since(out, f);
	add_line(out, "evidence", f->evidence);
	add_line(out, "expected", f->expected);
	add_line(out, "actual", f->actual);
	add_line(out, "means", f->means);
	add_line(out, "try", f->hint);
	add_line(out, "not this", f->not_this);
	add_line(out, "follows", f->follows);
	wti_buf_byte(out, '\n');
}

void wti_show_findings(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style)
{
	for (size_t i = 0; i < result->finding_count; i++)
		add_finding(out, &result->findings[i], style);
}

void wti_show_text(struct wti_buf *out, const struct wt_result *result,
		   const struct wti_style *style)
{
	size_t start = out->bytes;

	add_facts(out, result, style);
	if (result->finding_count && out->bytes > start)
		wti_buf_byte(out, '\n');
	wti_show_findings(out, result, style);
	for (size_t i = 0; i < result->table_count; i++) {
		const struct wt_table *table = result->tables[i];

		if (!table->row_count)
			continue;
		if (out->bytes > start)
			wti_buf_byte(out, '\n');
		if (*table->title) {
			wti_textf(out, "%s\n", table->title);
		}
		wti_show_table(out, table, style);
	}
}
