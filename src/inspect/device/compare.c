/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs: which operations and operators one has more or less often, and for how long. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "device.h"

struct row {
	const char *name;
	size_t name_bytes;
	bool is_device;
	uint64_t counts[2];
	int64_t times_ns[2];
};

struct rows {
	struct row *items;
	size_t count, capacity;
	struct wti_map index[2]; /* of the host, of devices: place plus one by name */
};

static int add(struct rows *rows, const struct wti_work *work, unsigned run, uint32_t name,
	       bool is_device, int64_t ns)
{
	const struct wti_map_entry *text = &work->symbols.texts.entries[name];
	uint64_t *slot = wti_map_text(&rows->index[is_device], text->text, text->bytes);

	if (!slot || wti_grow(&rows->items, rows->count + 1, &rows->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	if (!*slot) {
		rows->items[rows->count++] = (struct row){
			.name = text->text, .name_bytes = text->bytes, .is_device = is_device};
		*slot = rows->count;
	}
	rows->items[*slot - 1].counts[run]++;
	rows->items[*slot - 1].times_ns[run] = wti_sum(rows->items[*slot - 1].times_ns[run], ns);
	return 0;
}

static int gather(struct rows *rows, const struct wti_work *work, unsigned run)
{
	int r = 0;

	for (size_t i = 0; !r && i < work->op_count; i++)
		if (wti_work_is_work(&work->ops[i]))
			r = add(rows, work, run, work->ops[i].name, true,
				work->ops[i].end_ns - work->ops[i].start_ns);
	for (size_t i = 0; !r && i < work->call_count; i++)
		if (work->calls[i].flags & (WTI_WORK_OPERATOR | WTI_WORK_RUNTIME))
			r = add(rows, work, run, work->calls[i].name, false,
				work->calls[i].end_ns - work->calls[i].begin_ns);
	return r;
}

static uint64_t change_ns(const struct row *row)
{
	return wti_magnitude(wti_difference(row->times_ns[1], row->times_ns[0]));
}

/* What is there in one run only, and what is more or less often, comes first. */
static int by_change(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	bool x_counts = x->counts[0] != x->counts[1], y_counts = y->counts[0] != y->counts[1];

	if (x_counts != y_counts)
		return x_counts ? -1 : 1;
	if (change_ns(x) != change_ns(y))
		return change_ns(x) > change_ns(y) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const char *word_of(const struct row *row)
{
	if (!row->counts[0])
		return "added";
	if (!row->counts[1])
		return "removed";
	return row->counts[1] > row->counts[0]   ? "more"
	       : row->counts[1] < row->counts[0] ? "fewer"
						 : "same";
}

static size_t fill(struct wt_result *result, struct rows *rows, uint64_t limit)
{
	struct wt_table *table = wt_result_table(result, "device", "Operations and operators");
	size_t differ = 0;

	wt_table_column(table, "change", "change", WT_CELL_TEXT);
	wt_table_column(table, "on", "on", WT_CELL_TEXT);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "count_a", "count", WT_CELL_COUNT);
	wt_table_column(table, "count_b", "then", WT_CELL_COUNT);
	wt_table_column(table, "time_a_ns", "time", WT_CELL_NS);
	wt_table_column(table, "time_b_ns", "then", WT_CELL_NS);
	wt_table_column(table, "change_ns", "change", WT_CELL_NS);
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_change);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];

		differ += row->counts[0] != row->counts[1];
		if (limit && i >= limit)
			continue;
		wt_table_row(table);
		wt_table_text(table, word_of(row), strlen(word_of(row)));
		wt_table_text(table, row->is_device ? "device" : "host", row->is_device ? 6 : 4);
		wt_table_text(table, row->name, row->name_bytes);
		wt_table_count(table, row->counts[0]);
		wt_table_count(table, row->counts[1]);
		wt_table_ns(table, row->times_ns[0]);
		wt_table_ns(table, row->times_ns[1]);
		wt_table_ns(table, wti_difference(row->times_ns[1], row->times_ns[0]));
	}
	if (limit && rows->count > limit)
		wt_result_note(result, "%zu more names (--all shows them)", rows->count - limit);
	return differ;
}

/* Reads the work of a whole trace. */
static int read_work(struct wti_work *work, const struct wt_trace *trace, struct wt_err *err)
{
	struct wt_cursor *cursor = NULL;
	struct wt_query query;
	struct wt_event event;
	int r = wti_work_init(work, trace, err);

	wt_query_init(&query);
	query.kinds = wti_work_kinds;
	while (wti_work_kinds[query.kind_count])
		query.kind_count++;
	if (!r)
		r = wt_cursor_open(trace, &query, &cursor, err);
	while (!r && (r = wt_cursor_next(cursor, &event, err)) > 0)
		r = wti_work_event(work, &event, err);
	wt_cursor_free(cursor);
	return r ? r : wti_work_finish(work, err);
}

int wti_device_compare(const struct wt_trace *a, const struct wt_trace *b, uint64_t limit,
		       struct wt_result *result, struct wt_err *err)
{
	struct wti_work works[2] = {0};
	struct rows rows = {0};
	size_t differ = 0;
	int r = read_work(&works[0], a, err);

	if (!r)
		r = read_work(&works[1], b, err);
	for (unsigned i = 0; i < 2; i++)
		wti_map_init(&rows.index[i], WTI_SYMBOLS_MAX);
	for (unsigned i = 0; !r && i < 2; i++) {
		if (!works[i].work_count)
			r = wti_err(err, WT_E_FORMAT, "the %s run has no device operations",
				    i ? "second" : "first");
		else if (gather(&rows, &works[i], i))
			r = wti_err(err, WT_E_NOMEM, "out of memory for names");
	}
	if (!r)
		differ = fill(result, &rows, limit);
	for (unsigned i = 0; i < 2; i++) {
		wti_map_release(&rows.index[i]);
		wti_work_release(&works[i]);
	}
	free(rows.items);
	if (r)
		return r;
	wt_result_set_status(result, differ ? "findings" : "clean");
	wt_result_fact_count(result, "names_that_differ", "names that differ in their count",
			     WT_CELL_COUNT, differ);
	return differ > 0;
}
