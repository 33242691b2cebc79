/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and marks by name, with a ceiling on names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "values.h"

#define NAMES_MAX 16384u
#define NAME_BYTES_MAX 4096u

void wti_values_init(struct wti_values *values)
{
	*values = (struct wti_values){0};
	wti_map_init(&values->counters, NAMES_MAX);
	wti_map_init(&values->marks, NAMES_MAX);
}

void wti_values_release(struct wti_values *values)
{
	wti_map_release(&values->counters);
	wti_map_release(&values->marks);
	free(values->entries);
	*values = (struct wti_values){0};
}

static uint64_t *slot_of(struct wti_map *map, struct wt_text name)
{
	return wti_map_text(map, name.data,
			    name.bytes < NAME_BYTES_MAX ? name.bytes : NAME_BYTES_MAX);
}

static struct wti_named_value *entry_of(struct wti_values *values, const struct wt_event *event)
{
	uint64_t *slot = slot_of(&values->counters, wt_event_text(event, WT_COUNTER_FIELD_NAME));
	struct wt_text unit;

	if (!slot)
		return NULL;
	if (*slot)
		return &values->entries[*slot - 1];
	if (wti_grow(&values->entries, values->entry_count + 1, &values->entry_capacity, NAMES_MAX))
		return NULL;
	unit = wt_event_text(event, WT_COUNTER_FIELD_UNIT);
	values->entries[values->entry_count] = (struct wti_named_value){0};
	snprintf(values->entries[values->entry_count].unit, sizeof(values->entries->unit), "%.*s",
		 (int)(unit.bytes < 31 ? unit.bytes : 31), unit.data);
	*slot = ++values->entry_count;
	return &values->entries[*slot - 1];
}

int wti_values_counter(struct wti_values *values, const struct wt_event *event, struct wt_err *err)
{
	struct wti_named_value *v = entry_of(values, event);
	double number = wt_event_f64(event, WT_COUNTER_FIELD_VALUE);

	if (!v) {
		values->overflow_count++;
		return 0;
	}
	if (!v->count++) {
		v->first = number;
		v->first_ns = event->time_ns;
	}
	v->last = number;
	v->last_ns = event->time_ns;
	if (!isfinite(number))
		return 0;
	v->min = v->finite_count && v->min < number ? v->min : number;
	v->max = v->finite_count && v->max > number ? v->max : number;
	v->mean += (number - v->mean) / (double)++v->finite_count;
	return 0;
}

int wti_values_mark(struct wti_values *values, const struct wt_event *event, struct wt_err *err)
{
	uint64_t *slot = slot_of(&values->marks, wt_event_text(event, WT_MARK_FIELD_NAME));

	if (slot)
		(*slot)++;
	else
		values->overflow_count++;
	return 0;
}

bool wti_values_any(const struct wti_values *values)
{
	return values->counters.count || values->marks.count;
}

static void counters_table(const struct wti_values *values, struct wt_result *result,
			   uint64_t limit)
{
	struct wt_table *table = wt_result_table(result, "counters", "counters");

	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "unit", "unit", WT_CELL_TEXT);
	wt_table_hide(table, 2);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "first", "first", WT_CELL_NUMBER);
	wt_table_column(table, "last", "last", WT_CELL_NUMBER);
	wt_table_column(table, "min", "min", WT_CELL_NUMBER);
	wt_table_column(table, "mean", "mean", WT_CELL_NUMBER);
	wt_table_hide(table, 1);
	wt_table_column(table, "max", "max", WT_CELL_NUMBER);
	for (size_t i = 0; i < values->counters.count && (!limit || i < limit); i++) {
		const struct wti_map_entry *name = &values->counters.entries[i];
		const struct wti_named_value *v;

		if (!name->value)
			continue;
		v = &values->entries[name->value - 1];
		wt_table_row(table);
		wt_table_text(table, name->text, name->bytes);
		wt_table_text(table, v->unit, __builtin_strlen(v->unit));
		wt_table_count(table, v->count);
		wt_table_number(table, v->first);
		wt_table_number(table, v->last);
		for (int j = 0; j < 3; j++) {
			if (!v->finite_count)
				wt_table_empty(table);
			else
				wt_table_number(table, j == 0 ? v->min : j == 1 ? v->mean : v->max);
		}
	}
}

void wti_values_tables(const struct wti_values *values, struct wt_result *result, uint64_t limit)
{
	struct wt_table *table;

	counters_table(values, result, limit);
	table = wt_result_table(result, "marks", "marks");
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	for (size_t i = 0; i < values->marks.count && (!limit || i < limit); i++) {
		wt_table_row(table);
		wt_table_text(table, values->marks.entries[i].text, values->marks.entries[i].bytes);
		wt_table_count(table, values->marks.entries[i].value);
	}
	if (values->overflow_count)
		wt_result_note(result,
			       "too many names: %llu counters or marks are not in the tables",
			       (unsigned long long)values->overflow_count);
}
