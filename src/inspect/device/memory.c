/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of each device over time: taken, given back, the most at once. */
#include "device.h"

#include <stdio.h>

#include "base/number.h"

struct usage {
	uint64_t alloc_count, free_count;
	uint64_t alloc_bytes;
	int64_t now, peak, peak_at_ns;
};

static void add_series(const struct wti_work *work, struct wt_result *result, uint32_t unit,
		       uint32_t columns)
{
	const struct wti_work_memory *points = work->memory;
	size_t count = work->memory_count, at = 0;
	double from = (double)points[0].ns, length = (double)points[count - 1].ns - from;
	double step = length > 0 ? length / columns : 1;
	char key[32], label[WTI_LABEL_BYTES], title[WTI_LABEL_BYTES + 16];
	struct wt_text text = wti_unit_label(label, work, unit);
	struct wt_series *series;
	int64_t now = 0;

	snprintf(key, sizeof(key), "memory_%u", unit);
	snprintf(title, sizeof(title), "%.*s: memory", (int)text.bytes, text.data);
	series = wt_result_series(result, key, title, "bytes", from, step, columns);
	if (!series || !wt_series_extremes(series, result))
		return;
	for (uint32_t i = 0; i < columns; i++) {
		int64_t low = now, high = now;
		double end = from + (i + 1) * step;

		for (; at < count && (i + 1 == columns || (double)points[at].ns < end); at++) {
			if (points[at].unit != unit)
				continue;
			now = wti_sum(now, points[at].bytes);
			low = now < low ? now : low;
			high = now > high ? now : high;
		}
		series->y[i] = (double)now;
		series->low[i] = (double)low;
		series->high[i] = (double)high;
	}
}

static struct usage usage_of(const struct wti_work *work, uint32_t unit)
{
	struct usage usage = {0};

	for (size_t i = 0; i < work->memory_count; i++) {
		const struct wti_work_memory *point = &work->memory[i];

		if (point->unit != unit)
			continue;
		usage.now = wti_sum(usage.now, point->bytes);
		if (point->is_before) {
			/* It is part of the level alone. */
		} else if (point->bytes >= 0) {
			usage.alloc_count++;
			usage.alloc_bytes += (uint64_t)point->bytes;
		} else {
			usage.free_count++;
		}
		if (usage.now > usage.peak) {
			usage.peak = usage.now;
			usage.peak_at_ns = point->ns;
		}
	}
	return usage;
}

int wti_device_memory(const struct wti_work *work, const struct wti_device_options *options,
		      struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "memory", "Memory of devices");

	(void)err;
	wti_unit_columns(table);
	wt_table_column(table, "allocations", "allocations", WT_CELL_COUNT);
	wt_table_column(table, "allocated_bytes", "allocated", WT_CELL_BYTES);
	wt_table_column(table, "frees", "frees", WT_CELL_COUNT);
	wt_table_column(table, "peak_bytes", "most at once", WT_CELL_BYTES);
	wt_table_column(table, "peak_at_ns", "at", WT_CELL_NS);
	wt_table_column(table, "end_bytes", "at the end", WT_CELL_BYTES);
	for (uint32_t unit = 0; work->memory_count && unit < work->unit_count; unit++) {
		struct usage usage = usage_of(work, unit);

		if (!usage.alloc_count && !usage.free_count)
			continue;
		wt_table_row(table);
		wti_unit_cells(table, work, unit);
		wt_table_count(table, usage.alloc_count);
		wt_table_count(table, usage.alloc_bytes);
		wt_table_count(table, usage.free_count);
		wt_table_count(table, (uint64_t)usage.peak);
		wt_table_ns(table, usage.peak_at_ns);
		wt_table_count(table, usage.now > 0 ? (uint64_t)usage.now : 0);
		if (options->columns)
			add_series(work, result, unit, options->columns);
	}
	return 0;
}
