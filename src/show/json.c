/* SPDX-License-Identifier: Apache-2.0 */
/* A result as one JSON object. The schema is docs/results.md. */
#include "base/json.h"
#include "show.h"

static void add_cell(struct wti_json *j, const struct wt_cell *cell)
{
	switch (cell->type) {
	case WT_CELL_EMPTY:
		wti_json_null(j);
		break;
	case WT_CELL_TEXT:
		wti_json_text_n(j, cell->text, cell->text_bytes);
		break;
	case WT_CELL_COUNT:
	case WT_CELL_BYTES:
	case WT_CELL_ID:
		wti_json_u64(j, cell->count);
		break;
	case WT_CELL_NUMBER:
	case WT_CELL_PERCENT:
		wti_json_f64(j, cell->number);
		break;
	case WT_CELL_NS:
		wti_json_i64(j, cell->ns);
		break;
	}
}

static void add_number(struct wti_json *j, const char *key, int64_t number)
{
	wti_json_key(j, key);
	if (number < 0)
		wti_json_null(j);
	else
		wti_json_i64(j, number);
}

static void add_finding(struct wti_json *j, const struct wt_finding *f)
{
	static const char *const severities[] = {"note", "warning", "error"};

	wti_json_object(j);
	wti_json_member(j, "id", f->code);
	wti_json_member(j, "severity", severities[f->severity]);
	wti_json_member(j, "title", f->title);
	wti_json_key(j, "where");
	wti_json_object(j);
	add_number(j, "step", f->step);
	add_number(j, "rank", f->rank);
	wti_json_member(j, "stage", f->stage);
	wti_json_member(j, "op", f->op);
	wti_json_member(j, "file", f->file);
	add_number(j, "line", f->line);
	wti_json_object_end(j);
	wti_json_key(j, "evidence");
	wti_json_object(j);
	wti_json_member(j, "text", f->evidence);
	wti_json_member(j, "expected", f->expected);
	wti_json_member(j, "actual", f->actual);
	add_number(j, "first_step", f->first_step);
	add_number(j, "last_step", f->last_step);
	if (f->first_step >= 0) {
		wti_json_key(j, "to_end");
		wti_json_bool(j, f->is_to_end);
	}
	if (f->case_count) {
		wti_json_key(j, "cases");
		wti_json_u64(j, f->case_count);
	}
	if (f->ranks)
		wti_json_member(j, "ranks", f->ranks);
	wti_json_object_end(j);
	wti_json_key(j, "count");
	wti_json_u64(j, f->count);
	wti_json_member(j, "means", f->means);
	wti_json_member(j, "hint", f->hint);
	if (f->not_this)
		wti_json_member(j, "not_this", f->not_this);
	if (f->follows)
		wti_json_member(j, "follows", f->follows);
	wti_json_object_end(j);
}

static void add_table(struct wti_json *j, const struct wt_table *table)
{
	wti_json_array(j);
	for (size_t row = 0; row < table->row_count; row++) {
		wti_json_object(j);
		for (size_t i = 0; i < table->column_count; i++) {
			wti_json_key(j, table->columns[i].key);
			add_cell(j, &table->cells[row * table->column_count + i]);
		}
		wti_json_object_end(j);
	}
	wti_json_array_end(j);
}

static void add_numbers(struct wti_json *j, const char *key, const double *numbers, size_t count)
{
	wti_json_key(j, key);
	wti_json_array(j);
	for (size_t i = 0; i < count; i++)
		wti_json_f64(j, numbers[i]);
	wti_json_array_end(j);
}

static void add_extremes(struct wti_json *j, const struct wt_series *series)
{
	add_numbers(j, "low", series->low, series->count);
	add_numbers(j, "high", series->high, series->count);
	wti_json_key(j, "nonfinite");
	wti_json_array(j);
	for (size_t i = 0; i < series->count; i++)
		wti_json_u64(j, series->nonfinite[i]);
	wti_json_array_end(j);
}

static void add_series(struct wti_json *j, const struct wt_series *series)
{
	wti_json_object(j);
	wti_json_member(j, "title", series->title);
	wti_json_member(j, "unit", series->unit);
	wti_json_key(j, "x_first");
	wti_json_f64(j, series->x_first);
	wti_json_key(j, "x_step");
	wti_json_f64(j, series->x_step);
	add_numbers(j, "y", series->y, series->count);
	if (series->low && series->high && series->nonfinite)
		add_extremes(j, series);
	wti_json_object_end(j);
}

void wti_show_json_value(struct wti_json *json, const struct wt_result *result)
{
	wti_json_object(json);
	wti_json_member(json, "verb", result->verb);
	wti_json_member(json, "status", result->status);
	for (size_t i = 0; i < result->fact_count; i++) {
		wti_json_key(json, result->facts[i].key);
		add_cell(json, &result->facts[i].value);
	}
	wti_json_key(json, "findings");
	wti_json_array(json);
	for (size_t i = 0; i < result->finding_count; i++)
		add_finding(json, &result->findings[i]);
	wti_json_array_end(json);
	wti_json_key(json, "tables");
	wti_json_object(json);
	for (size_t i = 0; i < result->table_count; i++) {
		wti_json_key(json, result->tables[i]->key);
		add_table(json, result->tables[i]);
	}
	wti_json_object_end(json);
	wti_json_key(json, "series");
	wti_json_object(json);
	for (size_t i = 0; i < result->series_count; i++) {
		wti_json_key(json, result->series[i]->key);
		add_series(json, result->series[i]);
	}
	wti_json_object_end(json);
	wti_json_key(json, "notes");
	wti_json_array(json);
	for (size_t i = 0; i < result->note_count; i++)
		wti_json_text(json, result->notes[i]);
	wti_json_array_end(json);
	wti_json_object_end(json);
}

void wti_show_json(struct wti_buf *out, const struct wt_result *result)
{
	struct wti_json j;

	wti_json_init(&j, out, true);
	wti_show_json_value(&j, result);
	wti_buf_byte(out, '\n');
}
