/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data sets in CSV: comma, semicolon or tab, quotes as RFC 4180 has them but within a line,
 * comments after '#'. The names of the columns are the first row where a cell of it is not a
 * number, or the last comment before the rows that has as many cells.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/lines.h"
#include "base/scan.h"
#include "dataset/own.h"

#define LINE_MAX_BYTES ((size_t)4 << 20)
#define LABEL_CLASSES_MAX 50u /* of a last column that is taken for the labels without a name */

struct cell {
	char *text; /* ends with NUL */
	size_t bytes;
};

struct csv {
	struct wti_dataset *set;
	struct wti_cells cells;
	struct cell *row;
	size_t row_capacity;
	size_t row_count;
	struct wti_buf text; /* of the cells of the row */
	struct wti_buf comment;
	char separator; /* 0: no row has come yet */
	const char *path;
};

static int bad_line(const struct csv *csv, unsigned line, struct wt_err *err, const char *what)
{
	return wti_err(err, WT_E_FORMAT, "%.300s:%u: %s", csv->path, line, what);
}

/* ---- Cells of a line ------------------------------------------------------------------------- */

static char separator_of(const char *text)
{
	return strchr(text, ',') ? ',' : strchr(text, '\t') ? '\t' : strchr(text, ';') ? ';' : ',';
}

/* Removes the quotes in place. False: one is open at the end, or something follows it. */
static bool unquote(struct cell *cell)
{
	char *from = cell->text + 1, *to = cell->text;
	const char *end = cell->text + cell->bytes;

	for (; from < end; from++) {
		if (*from == '"' && from + 1 < end && from[1] == '"')
			from++;
		else if (*from == '"')
			break;
		*to++ = *from;
	}
	if (from + 1 != end)
		return false;
	*to = '\0';
	cell->bytes = (size_t)(to - cell->text);
	return true;
}

static void trim(struct cell *cell)
{
	while (cell->bytes && (cell->text[0] == ' ' || cell->text[0] == '\t')) {
		cell->text++;
		cell->bytes--;
	}
	while (cell->bytes && strchr(" \t\r", cell->text[cell->bytes - 1]))
		cell->bytes--;
	cell->text[cell->bytes] = '\0';
}

/* Where the cell that begins here ends. */
static char *end_of_cell(char *text, char separator)
{
	bool quoted = *text == '"';
	char *at = text;

	for (; *at; at++) {
		if (*at == '"' && at > text)
			quoted = !quoted;
		if (*at == separator && !quoted)
			break;
	}
	return at;
}

static int split(struct csv *csv, char *text, unsigned line, struct wt_err *err)
{
	csv->row_count = 0;
	for (char *at = text;;) {
		char *end = end_of_cell(at, csv->separator);
		bool last = !*end;
		struct cell *cell;

		if (wti_grow(&csv->row, csv->row_count + 1, &csv->row_capacity,
			     WTI_DATASET_COLUMNS_MAX))
			return bad_line(csv, line, err, "too many columns");
		cell = &csv->row[csv->row_count++];
		*end = '\0';
		*cell = (struct cell){at, (size_t)(end - at)};
		trim(cell);
		if (cell->text[0] == '"' && !unquote(cell))
			return bad_line(csv, line, err, "a quote is not closed in this line");
		if (last)
			return 0;
		at = end + 1;
	}
}

/* An empty cell, and what numpy and pandas write for one, is missing: not a number. */
static bool number_of(const struct cell *cell, double *ret)
{
	if (!cell->bytes || !strcasecmp(cell->text, "nan") || !strcasecmp(cell->text, "na")) {
		*ret = NAN;
		return true;
	}
	if (!strcasecmp(cell->text, "inf") || !strcasecmp(cell->text, "-inf")) {
		*ret = cell->text[0] == '-' ? -INFINITY : INFINITY;
		return true;
	}
	return wti_scan_double(cell->text, ret);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_header(const struct csv *csv)
{
	double number;

	for (size_t i = 0; i < csv->row_count; i++) {
		if (number_of(&csv->row[i], &number))
			return false;
	}
	return true;
}

static int keep_names(struct csv *csv, struct wt_err *err)
{
	const char **names =
		wti_arena_alloc(&csv->set->arena, (csv->row_count + 1) * sizeof(*names));

	for (size_t i = 0; names && i < csv->row_count; i++) {
		names[i] = wti_arena_text(&csv->set->arena, csv->row[i].text, csv->row[i].bytes);
		if (!names[i])
			return wti_dataset_no_memory(err);
	}
	csv->cells.names = names;
	return names ? 0 : wti_dataset_no_memory(err);
}

/* The first row has come: how many columns there are, and whether a comment has named them. */
static int begin(struct csv *csv, unsigned line, struct wt_err *err)
{
	size_t columns = csv->row_count;
	struct csv comment = *csv;
	int r = 0;

	csv->cells.columns = columns;
	if (!csv->comment.bytes)
		return 0;
	comment.row = NULL;
	comment.row_capacity = 0;
	if (!split(&comment, (char *)wti_buf_cstr(&csv->comment), line, NULL) &&
	    comment.row_count == columns && is_header(&comment)) {
		r = keep_names(&comment, err);
		csv->cells.names = comment.cells.names;
	}
	free(comment.row);
	return r;
}

static int add_row(struct csv *csv, unsigned line, struct wt_err *err)
{
	size_t index = (size_t)csv->cells.rows * csv->cells.columns;
	int r = 0;

	if (csv->row_count != csv->cells.columns)
		return wti_err(err, WT_E_FORMAT, "%.300s:%u: %zu cells, the rows before have %zu",
			       csv->path, line, csv->row_count, csv->cells.columns);
	for (size_t i = 0; !r && i < csv->row_count; i++) {
		double number = NAN;
		bool is_number = number_of(&csv->row[i], &number);

		r = wti_cells_add(&csv->cells, index + i, number,
				  is_number ? NULL : csv->row[i].text, csv->row[i].bytes);
	}
	csv->cells.rows++;
	return r ? wti_dataset_too_large(csv->set, err) : 0;
}

static int take_row(struct csv *csv, unsigned line, struct wt_err *err)
{
	char *text = (char *)wti_buf_cstr(&csv->text);
	bool first = !csv->separator;
	int r;

	if (first)
		csv->separator = separator_of(text);
	r = split(csv, text, line, err);
	if (!r && first && is_header(csv)) {
		r = keep_names(csv, err);
		csv->cells.columns = csv->row_count;
		return r;
	}
	if (!r && first)
		r = begin(csv, line, err);
	return r ? r : add_row(csv, line, err);
}

static int take_line(void *self, unsigned line, const char *text, size_t bytes, struct wt_err *err)
{
	struct csv *csv = self;

	if (line == 1 && bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		bytes -= 3;
	}
	while (bytes && strchr(" \t\r", text[bytes - 1]))
		bytes--;
	if (!bytes)
		return 0;
	if (text[0] == '#') {
		wti_buf_clear(&csv->comment);
		wti_buf_append(&csv->comment, text + 1, csv->separator ? 0 : bytes - 1);
		return 0;
	}
	wti_buf_clear(&csv->text);
	wti_buf_append(&csv->text, text, bytes);
	if (wti_buf_status(&csv->text))
		return wti_dataset_no_memory(err);
	return take_row(csv, line, err);
}

/* ---- The label ------------------------------------------------------------------------------- */

static size_t column_named(const struct wti_cells *cells, const char *name)
{
	for (size_t i = 0; cells->names && i < cells->columns; i++) {
		if (!strcasecmp(cells->names[i], name))
			return i;
	}
	return WTI_NO_COLUMN;
}

/* Few whole numbers, or words: a last column that is no measurement. */
static bool looks_like_labels(const struct wti_cells *cells, size_t column)
{
	struct wti_map seen;
	bool is = cells->columns > 1;

	wti_map_init(&seen, LABEL_CLASSES_MAX);
	for (uint64_t i = 0; is && i < cells->rows; i++) {
		size_t index = i * cells->columns + column;
		double number = cells->numbers[index];

		is = cells->texts[index]
			     ? wti_map_number(&seen, UINT64_MAX - cells->texts[index]) != NULL
			     : number == floor(number) && number >= 0 && number < 1e6 &&
				       wti_map_number(&seen, (uint64_t)number);
	}
	is = is && 2 * seen.count <= cells->rows;
	wti_map_release(&seen);
	return is;
}

static int find_label(const struct csv *csv, const char *label, size_t *ret, struct wt_err *err)
{
	static const char *const usual[] = {"class", "label", "labels", "target", "y"};
	const struct wti_cells *cells = &csv->cells;

	*ret = WTI_NO_COLUMN;
	if (label && !*label)
		return 0;
	if (label) {
		*ret = column_named(cells, label);
		return *ret == WTI_NO_COLUMN
			       ? wti_err(err, WT_E_ARG, "'%s' has no column '%s'", csv->path, label)
			       : 0;
	}
	for (size_t i = 0; *ret == WTI_NO_COLUMN && i < sizeof(usual) / sizeof(*usual); i++)
		*ret = column_named(cells, usual[i]);
	if (*ret == WTI_NO_COLUMN && cells->columns && looks_like_labels(cells, cells->columns - 1))
		*ret = cells->columns - 1;
	return 0;
}

int wti_dataset_read_csv(struct wti_dataset *set, const char *path, const char *label,
			 struct wt_err *err)
{
	struct csv csv = {.set = set, .path = path};
	size_t column;
	int r;

	wti_cells_init(&csv.cells);
	wti_buf_init(&csv.text, LINE_MAX_BYTES + 16);
	wti_buf_init(&csv.comment, LINE_MAX_BYTES + 16);
	r = wti_file_lines(path, LINE_MAX_BYTES, take_line, &csv, err);
	if (!r && !csv.cells.rows)
		r = wti_err(err, WT_E_FORMAT, "'%s' has no rows", path);
	if (!r)
		r = find_label(&csv, label, &column, err);
	if (!r)
		r = wti_dataset_fill(set, &csv.cells, column, err);
	free(csv.row);
	wti_buf_release(&csv.text);
	wti_buf_release(&csv.comment);
	wti_cells_release(&csv.cells);
	return r;
}
