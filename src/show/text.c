/* SPDX-License-Identifier: Apache-2.0 */
/* A result for people: facts, then findings, then tables that fit the terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cell.h"
#include "show.h"
#include "wrap.h"

#define CELL_MAX (16u << 20)
#define CELL_COLUMNS_MAX 100 /* of a column, when nothing limits the line */
#define TEXT_COLUMNS_MIN 12  /* a text column is not squeezed further */
#define GAP 2
#define INDENT 4 /* of what stands below its row */

/*
 * Nothing is cut that somebody may want to type: a text that is wider than its column goes on in
 * the next line. One of the first column, which names the row, has a line of its own above the row,
 * and one with a word that is wider than its column has one below it. Columns that may be hidden
 * are the exception: what is too long there is cut, with a mark.
 */
struct layout {
	const struct wt_table *table;
	const struct wti_style *style;
	size_t *widths; /* a column */
	bool *shown;
	size_t first, last; /* of those that are shown */
	struct wti_buf scratch;
	struct piece *pieces; /* of the row that is being added, a column */
	bool failed;          /* a cell could not be made for want of memory */
};

/* What is left of a cell, in `scratch`. */
struct piece {
	size_t at, end;
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

static void add_title(struct layout *l, size_t column)
{
	const char *title = l->table->columns[column].title;

	wti_printable(&l->scratch, title, strlen(title));
}

/* Cuts what was appended since `start` to `columns`, if it is longer. */
static void cut(struct layout *l, size_t start, size_t columns)
{
	const char *mark = l->style->ascii ? "..." : "…";
	const char *text = (const char *)l->scratch.data + start;
	size_t bytes = l->scratch.bytes - start;

	if (wti_buf_status(&l->scratch) || wti_text_width(text, bytes) <= columns)
		return;
	l->scratch.bytes =
		start + wti_text_fit(text, bytes, columns - wti_text_width(mark, strlen(mark)));
	wti_buf_text(&l->scratch, mark);
}

static void add_cell(struct layout *l, size_t row, size_t column, size_t columns)
{
	const struct wt_cell *cell = &l->table->cells[row * l->table->column_count + column];
	bool may_cut = l->table->columns[column].hide;
	size_t start = l->scratch.bytes;

	if (may_cut && cell->type == WT_CELL_TEXT && cell->text_bytes > 4 * columns)
		wti_printable(&l->scratch, cell->text, 4 * columns);
	else
		wti_cell_people(&l->scratch, cell);
	if (may_cut)
		cut(l, start, columns);
}

static void measure(struct layout *l)
{
	const struct wt_table *t = l->table;

	for (size_t i = 0; i < t->column_count; i++) {
		l->shown[i] = *t->columns[i].title != 0; /* those without are for machines */
		l->widths[i] = printed_width(t->columns[i].title);
	}
	for (size_t i = 0; i < t->row_count * t->column_count; i++) {
		size_t column = i % t->column_count, width;

		if (!l->shown[column])
			continue;
		wti_buf_clear(&l->scratch);
		add_cell(l, i / t->column_count, column, CELL_COLUMNS_MAX);
		l->failed |= wti_buf_status(&l->scratch) == WT_E_NOMEM;
		width = wti_text_width((const char *)l->scratch.data, l->scratch.bytes);
		width = width < CELL_COLUMNS_MAX ? width : CELL_COLUMNS_MAX;
		if (width > l->widths[column])
			l->widths[column] = width;
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

/* The first column stays whole as long as others can be left out. */
static int widest_text(const struct layout *l, bool hide_left)
{
	int widest = -1;

	for (size_t i = 0; i < l->table->column_count; i++) {
		if (l->shown[i] && l->table->columns[i].type == WT_CELL_TEXT &&
		    l->widths[i] > TEXT_COLUMNS_MIN && (i != l->first || !hide_left) &&
		    (widest < 0 || l->widths[i] > l->widths[widest]))
			widest = (int)i;
	}
	return widest;
}

/* The last column of numbers, behind the first column; -1: there is none. */
static int last_number(const struct layout *l)
{
	for (size_t i = l->table->column_count; i-- > l->first + 1;)
		if (l->shown[i] && l->table->columns[i].type != WT_CELL_TEXT)
			return (int)i;
	return -1;
}

/* Texts give way down to a third of the line, then whole columns, then texts again; at last numbers
 * from the right, as lines of a table that wrap cannot be read. */
static void squeeze(struct layout *l, size_t width)
{
	while (total_width(l) > width) {
		int hide = hide_next(l);
		int text = widest_text(l, hide >= 0);

		if (text >= 0 && (hide < 0 || l->widths[text] > width / 3)) {
			l->widths[text]--;
			continue;
		}
		hide = hide >= 0 ? hide : last_number(l);
		if (hide < 0)
			break;
		l->shown[hide] = false;
	}
}

static bool is_left(const struct wt_table *table, size_t column)
{
	return table->columns[column].type == WT_CELL_TEXT;
}

/* How much of a text stands in a line of `columns`: to the end of a word, if one ends there. */
static size_t line_bytes(const char *text, size_t bytes, size_t columns)
{
	size_t fits = wti_text_fit(text, bytes, columns), end = fits;

	if (fits == bytes)
		return bytes;
	while (end && text[end] != ' ')
		end--;
	return end ? end : fits ? fits : 1;
}

static size_t next_line(const struct layout *l, size_t column)
{
	const struct piece *piece = &l->pieces[column];
	const char *text = (const char *)l->scratch.data + piece->at;

	if (!l->style->width || !is_left(l->table, column))
		return piece->end - piece->at;
	return line_bytes(text, piece->end - piece->at, l->widths[column]);
}

static bool is_done(const struct layout *l)
{
	for (size_t i = 0; i < l->table->column_count; i++)
		if (l->shown[i] && l->pieces[i].at < l->pieces[i].end)
			return false;
	return true;
}

static void take(struct layout *l, size_t column, size_t bytes)
{
	struct piece *piece = &l->pieces[column];

	piece->at += bytes;
	while (piece->at < piece->end && l->scratch.data[piece->at] == ' ')
		piece->at++;
}

/* A line of the row that is in `pieces`; spaces only where something follows them. */
static void add_line_of_row(struct wti_buf *out, struct layout *l)
{
	size_t owed = 0;

	for (size_t i = 0; i < l->table->column_count; i++) {
		const char *text = (const char *)l->scratch.data + l->pieces[i].at;
		size_t bytes, used, space;

		if (!l->shown[i])
			continue;
		bytes = next_line(l, i);
		used = wti_text_width(text, bytes);
		space = l->widths[i] > used ? l->widths[i] - used : 0;
		owed += i != l->first ? GAP : 0;
		if (!is_left(l->table, i))
			owed += space;
		if (bytes) {
			pad(out, owed);
			wti_buf_append(out, text, bytes);
			owed = 0;
		}
		if (is_left(l->table, i))
			owed += space;
		take(l, i, bytes);
	}
	wti_buf_byte(out, '\n');
}

/* What names the row, if it does not fit into its column. */
static void add_name(struct wti_buf *out, struct layout *l)
{
	struct piece *name = &l->pieces[l->first];
	const char *text = (const char *)l->scratch.data + name->at;
	size_t bytes = name->end - name->at;

	if (!l->style->width || l->first == l->last || !is_left(l->table, l->first) ||
	    wti_text_width(text, bytes) <= l->widths[l->first])
		return;
	wti_wrap(out, text, bytes, l->style->width);
	wti_buf_byte(out, '\n');
	name->at = name->end;
}

static bool has_wide_word(const char *text, size_t bytes, size_t columns)
{
	for (size_t at = 0; at < bytes;) {
		const char *space = memchr(text + at, ' ', bytes - at);
		size_t word = space ? (size_t)(space - text) - at : bytes - at;

		if (wti_text_width(text + at, word) > columns)
			return true;
		at += word + 1;
	}
	return false;
}

/* Takes what has to stand below the row out of it. */
static void put_below(struct wti_buf *below, struct layout *l)
{
	for (size_t i = l->first + 1; i < l->table->column_count && l->style->width; i++) {
		struct piece *piece = &l->pieces[i];
		const char *text = (const char *)l->scratch.data + piece->at;

		if (!l->shown[i] || !is_left(l->table, i) ||
		    !has_wide_word(text, piece->end - piece->at, l->widths[i]))
			continue;
		pad(below, INDENT);
		wti_buf_append(below, text, piece->end - piece->at);
		wti_buf_byte(below, '\n');
		piece->at = piece->end;
	}
}

static void add_row(struct wti_buf *out, struct layout *l, const size_t *row)
{
	struct wti_buf below;

	wti_buf_clear(&l->scratch);
	for (size_t i = 0; i < l->table->column_count; i++) {
		l->pieces[i].at = l->scratch.bytes;
		if (l->shown[i] && row)
			add_cell(l, *row, i, l->widths[i]);
		else if (l->shown[i])
			add_title(l, i);
		l->pieces[i].end = l->scratch.bytes;
	}
	l->failed |= wti_buf_status(&l->scratch) == WT_E_NOMEM;
	if (wti_buf_status(&l->scratch))
		return;
	wti_buf_init(&below, CELL_MAX);
	if (row) {
		add_name(out, l);
		put_below(&below, l);
	}
	do {
		add_line_of_row(out, l);
	} while (!is_done(l));
	wti_wrap(out, (const char *)below.data, below.bytes, l->style->width);
	wti_buf_inherit(out, &below);
	wti_buf_release(&below);
}

static void add_lines(struct wti_buf *out, struct layout *l)
{
	wti_ink(out, l->style, WTI_INK_BOLD);
	add_row(out, l, NULL);
	if (l->style->colour && out->bytes && out->data[out->bytes - 1] == '\n')
		out->bytes--; /* the ink ends before the line does */
	wti_ink(out, l->style, WTI_INK_END);
	if (l->style->colour)
		wti_buf_byte(out, '\n');
	for (size_t row = 0; row < l->table->row_count; row++)
		add_row(out, l, &row);
}

static void find_ends(struct layout *l)
{
	l->first = l->table->column_count;
	for (size_t i = 0; i < l->table->column_count; i++) {
		if (!l->shown[i])
			continue;
		l->first = i < l->first ? i : l->first;
		l->last = i;
	}
}

void wti_show_table(struct wti_buf *out, const struct wt_table *table,
		    const struct wti_style *style)
{
	struct layout l = {.table = table, .style = style};

	l.widths = calloc(table->column_count + 1, sizeof(*l.widths));
	l.shown = calloc(table->column_count + 1, sizeof(*l.shown));
	l.pieces = calloc(table->column_count + 1, sizeof(*l.pieces));
	wti_buf_init(&l.scratch, CELL_MAX);
	if (l.widths && l.shown && l.pieces) {
		measure(&l);
		find_ends(&l);
		if (style->width)
			squeeze(&l, style->width);
		find_ends(&l);
		add_lines(out, &l);
	}
	if (!l.widths || !l.shown || !l.pieces || l.failed)
		out->status = WT_E_NOMEM;
	free(l.widths);
	free(l.shown);
	free(l.pieces);
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

void wti_show_when(struct wti_buf *out, const struct wt_finding *f)
{
	bool is_range = f->last_step > f->first_step;
	char count[32], cases[32];

	wti_buf_printf(out, "step%s %lld", is_range ? "s" : "", (long long)f->first_step);
	if (is_range)
		wti_buf_printf(out, "-%lld%s", (long long)f->last_step,
			       f->is_to_end ? ", to the end" : "");
	wti_format_count(count, f->count);
	if (f->case_count > 1)
		wti_buf_printf(out, "; %s of %s checks failed", count,
			       wti_format_count(cases, f->case_count));
	else if (f->count > 1)
		wti_buf_printf(out, "; %s times", count);
}

static void add_when(struct wti_buf *out, const struct wt_finding *f)
{
	struct wti_buf when;

	if (f->first_step < 0)
		return;
	wti_buf_init(&when, CELL_MAX);
	wti_show_when(&when, f);
	add_line(out, "when", wti_buf_cstr(&when));
	wti_buf_inherit(out, &when);
	wti_buf_release(&when);
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
	add_when(out, f);
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

/* None of its columns has a title. */
static bool is_for_machines(const struct wt_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (*table->columns[i].title)
			return false;
	return true;
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

		if (!table->row_count || is_for_machines(table))
			continue;
		if (out->bytes > start)
			wti_buf_byte(out, '\n');
		if (*table->title) {
			wti_textf(out, "%s\n", table->title);
		}
		wti_show_table(out, table, style);
	}
}
