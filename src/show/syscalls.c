/* SPDX-License-Identifier: Apache-2.0 */
/* The table of system calls as strace -c prints it, so that nobody has to learn another. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include "show.h"

#define RULE "------ ----------- ----------- --------- --------- ----------------"

/* The cell of the row under this key; NULL: there is no such column. */
static const struct wt_cell *cell_of(const struct wt_table *table, size_t row, const char *key)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].key, key))
			return &table->cells[row * table->column_count + i];
	return NULL;
}

static const char *text_of(const struct wt_table *table, size_t row, const char *key)
{
	const struct wt_cell *cell = cell_of(table, row, key);

	return cell && cell->type == WT_CELL_TEXT ? cell->text : "";
}

static double number_of(const struct wt_table *table, size_t row, const char *key)
{
	const struct wt_cell *cell = cell_of(table, row, key);

	return cell ? cell->number : 0;
}

static uint64_t count_of(const struct wt_table *table, size_t row, const char *key)
{
	const struct wt_cell *cell = cell_of(table, row, key);

	return cell ? cell->count : 0;
}

static void put_line(struct wti_buf *out, double percent, double seconds, double usecs,
		     uint64_t calls, uint64_t errors)
{
	char text[24] = "";

	if (errors)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)errors);
	wti_buf_printf(out, "%6.2f %11.6f %11.0f %9llu %9s ", percent, seconds, usecs,
		       (unsigned long long)calls, text);
}

static void put_times(struct wti_buf *out, const struct wt_table *table, size_t row)
{
	static const char *const keys[] = {"min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct wt_cell *cell = cell_of(table, row, keys[i]);
		char text[16];

		if (cell)
			wti_buf_printf(out, " %9s", wti_format_ns(text, cell->ns));
	}
}

static void put_row(struct wti_buf *out, const struct wt_table *table, size_t row, bool has_times)
{
	put_line(out, number_of(table, row, "percent"), number_of(table, row, "seconds"),
		 number_of(table, row, "usecs_per_call"), count_of(table, row, "calls"),
		 count_of(table, row, "errors"));
	wti_textf(out, has_times ? "%-16s" : "%s", text_of(table, row, "syscall"));
	if (has_times)
		put_times(out, table, row);
	wti_buf_byte(out, '\n');
}

/* What the row is of, where the table is by process, thread or step. */
static void put_group(struct wti_buf *out, const struct wt_table *table, size_t row)
{
	const char *key = table->columns[0].key, *group = text_of(table, row, key);
	const char *command = text_of(table, row, "command");

	if (row && !strcmp(group, text_of(table, row - 1, key)))
		return;
	wti_buf_text(out, row ? "\n" : "");
	wti_textf(out, "%s ", key);
	wti_printable(out, group, strlen(group));
	if (command[0]) {
		wti_buf_text(out, ": ");
		wti_printable(out, command, strlen(command));
	}
	wti_buf_byte(out, '\n');
}

static void put_total(struct wti_buf *out, const struct wt_result *result)
{
	uint64_t calls = 0, errors = 0;
	double seconds = 0;

	for (size_t i = 0; i < result->fact_count; i++) {
		const struct wt_fact *fact = &result->facts[i];

		if (!strcmp(fact->key, "calls"))
			calls = fact->value.count;
		else if (!strcmp(fact->key, "errors"))
			errors = fact->value.count;
		else if (!strcmp(fact->key, "time_ns"))
			seconds = (double)fact->value.count / 1e9;
	}
	wti_buf_text(out, RULE "\n");
	put_line(out, 100, seconds, calls ? seconds * 1e6 / (double)calls : 0, calls, errors);
	wti_buf_text(out, "total\n");
}

void wti_show_syscalls(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style)
{
	const struct wt_table *table = result->table_count ? result->tables[0] : NULL;
	bool has_times, is_grouped;

	if (!table || !table->row_count) {
		wti_show_text(out, result, style);
		return;
	}
	has_times = cell_of(table, 0, "p50_ns") != NULL;
	is_grouped = strcmp(table->columns[0].key, "percent") != 0;
	wti_buf_text(out, "% time     seconds  usecs/call     calls    errors syscall");
	if (has_times)
		wti_buf_printf(out, "%9s %9s %9s %9s %9s %9s", "", "min", "p50", "p90", "p99",
			       "max");
	wti_buf_text(out, "\n" RULE "\n");
	for (size_t row = 0; row < table->row_count; row++) {
		if (is_grouped)
			put_group(out, table, row);
		put_row(out, table, row, has_times);
	}
	put_total(out, result);
}
