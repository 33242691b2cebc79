/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result model: a tree of copied texts and numbers. Failure to allocate is remembered, not
 * returned; after it everything added is swallowed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/result.h>

#include "base/grow.h"

/* Ceilings: what a person can look at, times a thousand. */
#define ROWS_MAX (4u << 20)
#define LIST_MAX (1u << 20)
#define COLUMNS_MAX 64u
#define NOTE_BYTES 1024

static char *copy_n(struct wt_result *result, const char *text, size_t bytes)
{
	char *copy = malloc(bytes + 1);

	if (!copy) {
		result->failed = WT_E_NOMEM;
		return NULL;
	}
	if (bytes) /* an empty buffer has no address */
		memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return copy;
}

static char *copy(struct wt_result *result, const char *text)
{
	return text ? copy_n(result, text, strlen(text)) : NULL;
}

/* Room for one more in an array of `count`; capacity is the next power of two. */
static bool grow(struct wt_result *result, void *array, size_t count, size_t item_bytes)
{
	void **slot = array;
	void *bigger;

	if (result->failed)
		return false;
	if (count && (count & (count - 1)))
		return true;
	bigger = count < LIST_MAX ? realloc(*slot, (count ? count * 2 : 1) * item_bytes) : NULL;
	if (!bigger) {
		result->failed = count < LIST_MAX ? WT_E_NOMEM : WT_E_LIMIT;
		return false;
	}
	*slot = bigger;
	return true;
}

void wt_result_init(struct wt_result *result, const char *verb)
{
	*result = (struct wt_result){0};
	result->verb = copy(result, verb);
	result->status = copy(result, "clean");
}

int wt_result_status(const struct wt_result *result)
{
	return result->failed;
}

void wt_result_set_status(struct wt_result *result, const char *status)
{
	char *text = copy(result, status);

	if (!text)
		return;
	free(result->status);
	result->status = text;
}

void wt_result_note(struct wt_result *result, const char *format, ...)
{
	char line[NOTE_BYTES];
	va_list args;
	char *text;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (!grow(result, &result->notes, result->note_count, sizeof(*result->notes)))
		return;
	text = copy(result, line);
	if (text)
		result->notes[result->note_count++] = text;
}

void wt_result_finding(struct wt_result *result, const struct wt_finding *finding)
{
	struct wt_finding *mine;

	if (!grow(result, &result->findings, result->finding_count, sizeof(*mine)))
		return;
	mine = &result->findings[result->finding_count++];
	*mine = *finding;
	mine->code = copy(result, finding->code);
	mine->title = copy(result, finding->title);
	mine->stage = copy(result, finding->stage);
	mine->op = copy(result, finding->op);
	mine->file = copy(result, finding->file);
	mine->expected = copy(result, finding->expected);
	mine->actual = copy(result, finding->actual);
	mine->evidence = copy(result, finding->evidence);
	mine->means = copy(result, finding->means);
	mine->hint = copy(result, finding->hint);
	mine->ranks = copy(result, finding->ranks);
	mine->not_this = copy(result, finding->not_this);
	mine->follows = copy(result, finding->follows);
}

static void release_finding(struct wt_finding *finding)
{
	const char *texts[] = {finding->code,   finding->title,    finding->stage,
			       finding->op,     finding->file,     finding->expected,
			       finding->actual, finding->evidence, finding->means,
			       finding->hint,   finding->ranks,    finding->not_this,
			       finding->follows};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)texts[i]);
}

void wt_result_finding_remove(struct wt_result *result, size_t index)
{
	if (index >= result->finding_count)
		return;
	release_finding(&result->findings[index]);
	result->finding_count--;
	memmove(&result->findings[index], &result->findings[index + 1],
		(result->finding_count - index) * sizeof(*result->findings));
}

void wt_result_finding_file(struct wt_result *result, size_t index, const char *file)
{
	char *mine = index < result->finding_count ? copy(result, file) : NULL;

	if (!mine)
		return;
	free((char *)result->findings[index].file);
	result->findings[index].file = mine;
}

const struct wt_fact *wt_result_fact(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->fact_count; i++)
		if (result->facts[i].key && !strcmp(result->facts[i].key, key))
			return &result->facts[i];
	return NULL;
}

static struct wt_cell *add_fact(struct wt_result *result, const char *key, const char *title)
{
	struct wt_fact *fact;

	if (!grow(result, &result->facts, result->fact_count, sizeof(*fact)))
		return NULL;
	fact = &result->facts[result->fact_count++];
	*fact = (struct wt_fact){
		copy(result, key), copy(result, title), {WT_CELL_EMPTY, {NULL}, 0}};
	return &fact->value;
}

void wt_result_fact_text(struct wt_result *result, const char *key, const char *title,
			 const char *text)
{
	struct wt_cell *cell = add_fact(result, key, title);

	if (!cell || !text)
		return;
	cell->text = copy(result, text);
	cell->text_bytes = strlen(text);
	cell->type = cell->text ? WT_CELL_TEXT : WT_CELL_EMPTY;
}

void wt_result_fact_count(struct wt_result *result, const char *key, const char *title,
			  enum wt_cell_type type, uint64_t value)
{
	struct wt_cell *cell = add_fact(result, key, title);

	if (!cell)
		return;
	cell->type = type;
	if (type == WT_CELL_NS)
		cell->ns = (int64_t)value;
	else
		cell->count = value;
}

void wt_result_fact_number(struct wt_result *result, const char *key, const char *title,
			   enum wt_cell_type type, double value)
{
	struct wt_cell *cell = add_fact(result, key, title);

	if (cell)
		*cell = (struct wt_cell){type, {.number = value}, 0};
}

struct wt_table *wt_result_table(struct wt_result *result, const char *key, const char *title)
{
	/* Without an owner nothing sticks to it: shared, and never written to. */
	static struct wt_table nowhere;
	struct wt_table *made;

	if (!grow(result, &result->tables, result->table_count, sizeof(*result->tables)))
		return &nowhere;
	made = calloc(1, sizeof(*made));
	if (!made) {
		result->failed = WT_E_NOMEM;
		return &nowhere;
	}
	made->owner = result;
	made->key = copy(result, key);
	made->title = copy(result, title);
	result->tables[result->table_count++] = made;
	return made;
}

void wt_table_column(struct wt_table *table, const char *key, const char *title,
		     enum wt_cell_type type)
{
	struct wt_result *result = table->owner;

	if (!result || table->row_count || table->column_count >= COLUMNS_MAX ||
	    !grow(result, &table->columns, table->column_count, sizeof(*table->columns)))
		return;
	table->columns[table->column_count++] =
		(struct wt_column){copy(result, key), copy(result, title), type, 0};
}

void wt_table_hide(struct wt_table *table, unsigned rank)
{
	if (table->owner && table->column_count)
		table->columns[table->column_count - 1].hide = rank;
}

void wt_table_row(struct wt_table *table)
{
	struct wt_result *result = table->owner;
	size_t row_bytes = table->column_count * sizeof(*table->cells);
	int r;

	if (!result || result->failed || !row_bytes)
		return;
	r = wti_grow_items(&table->cells, row_bytes, table->row_count + 1, &table->row_capacity,
			   ROWS_MAX, false);
	if (r) {
		result->failed = r;
		return;
	}
	memset(table->cells + table->row_count * table->column_count, 0, row_bytes);
	table->row_count++;
	table->cursor = 0;
}

/* The next cell of the current row, or NULL: the row is full, or there is none. */
static struct wt_cell *next_cell(struct wt_table *table)
{
	struct wt_result *result = table->owner;

	if (!result || result->failed || !table->row_count || table->cursor >= table->column_count)
		return NULL;
	return &table->cells[(table->row_count - 1) * table->column_count + table->cursor];
}

void wt_table_text(struct wt_table *table, const char *text, size_t bytes)
{
	struct wt_cell *cell = next_cell(table);

	if (!cell)
		return;
	cell->text = copy_n(table->owner, text, bytes);
	cell->text_bytes = bytes;
	cell->type = cell->text ? WT_CELL_TEXT : WT_CELL_EMPTY;
	table->cursor++;
}

void wt_table_count(struct wt_table *table, uint64_t value)
{
	struct wt_cell *cell = next_cell(table);
	enum wt_cell_type type;

	if (!cell)
		return;
	type = table->columns[table->cursor].type;
	cell->type = type == WT_CELL_BYTES || type == WT_CELL_ID ? type : WT_CELL_COUNT;
	cell->count = value;
	table->cursor++;
}

void wt_table_number(struct wt_table *table, double value)
{
	struct wt_cell *cell = next_cell(table);

	if (!cell)
		return;
	cell->type = table->columns[table->cursor].type == WT_CELL_PERCENT ? WT_CELL_PERCENT
									   : WT_CELL_NUMBER;
	cell->number = value;
	table->cursor++;
}

void wt_table_ns(struct wt_table *table, int64_t ns)
{
	struct wt_cell *cell = next_cell(table);

	if (!cell)
		return;
	cell->type = WT_CELL_NS;
	cell->ns = ns;
	table->cursor++;
}

void wt_table_empty(struct wt_table *table)
{
	if (next_cell(table))
		table->cursor++;
}

struct wt_series *wt_result_series(struct wt_result *result, const char *key, const char *title,
				   const char *unit, double x_first, double x_step, size_t count)
{
	struct wt_series *series;

	if (!grow(result, &result->series, result->series_count, sizeof(*result->series)))
		return NULL;
	series = calloc(1, sizeof(*series));
	if (series && count <= LIST_MAX)
		series->y = calloc(count ? count : 1, sizeof(*series->y));
	if (!series || !series->y) {
		free(series);
		result->failed = WT_E_NOMEM;
		return NULL;
	}
	series->key = copy(result, key);
	series->title = copy(result, title);
	series->unit = copy(result, unit);
	series->x_first = x_first;
	series->x_step = x_step;
	series->count = count;
	result->series[result->series_count++] = series;
	return series;
}

bool wt_series_extremes(struct wt_series *series, struct wt_result *result)
{
	size_t count = series->count ? series->count : 1;

	series->low = calloc(count, sizeof(*series->low));
	series->high = calloc(count, sizeof(*series->high));
	series->nonfinite = calloc(count, sizeof(*series->nonfinite));
	if (series->low && series->high && series->nonfinite)
		return true;
	result->failed = WT_E_NOMEM;
	return false;
}

static void release_table(struct wt_table *table)
{
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		if (table->cells[i].type == WT_CELL_TEXT)
			free(table->cells[i].text);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		free(table->columns[i].key);
		free(table->columns[i].title);
	}
	free(table->cells);
	free(table->columns);
	free(table->key);
	free(table->title);
	free(table);
}

static void release_series(struct wt_series *series)
{
	free(series->key);
	free(series->title);
	free(series->unit);
	free(series->y);
	free(series->low);
	free(series->high);
	free(series->nonfinite);
	free(series);
}

void wt_result_release(struct wt_result *result)
{
	for (size_t i = 0; i < result->fact_count; i++) {
		if (result->facts[i].value.type == WT_CELL_TEXT)
			free(result->facts[i].value.text);
		free(result->facts[i].key);
		free(result->facts[i].title);
	}
	for (size_t i = 0; i < result->finding_count; i++)
		release_finding(&result->findings[i]);
	for (size_t i = 0; i < result->table_count; i++)
		release_table(result->tables[i]);
	for (size_t i = 0; i < result->series_count; i++)
		release_series(result->series[i]);
	for (size_t i = 0; i < result->note_count; i++)
		free(result->notes[i]);
	free(result->facts);
	free(result->findings);
	free(result->tables);
	free(result->series);
	free(result->notes);
	free(result->verb);
	free(result->status);
	*result = (struct wt_result){0};
}
