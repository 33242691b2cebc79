/* SPDX-License-Identifier: Apache-2.0 */
/* Over all values in memory. */
#include "describe.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t below = (size_t)place;
	double part = place - (double)below;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

struct wti_description wti_description_of(double *values, size_t count)
{
	struct wti_description d = {.count = count};
	double squares = 0;

	if (!count)
		return d;
	qsort(values, count, sizeof(*values), by_value);
	for (size_t i = 0; i < count; i++)
		d.sum += values[i];
	d.mean = d.sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - d.mean) * (values[i] - d.mean);
	d.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	d.min = values[0];
	d.quarter = quantile(values, count, 0.25);
	d.median = quantile(values, count, 0.5);
	d.three_quarters = quantile(values, count, 0.75);
	d.max = values[count - 1];
	return d;
}

void wti_description_columns(struct wt_table *table, enum wt_cell_type type)
{
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "mean", "mean", type);
	wt_table_column(table, "std", "deviation", type);
	wt_table_hide(table, 2);
	wt_table_column(table, "min", "min", type);
	wt_table_column(table, "p25", "25 %", type);
	wt_table_hide(table, 4);
	wt_table_column(table, "p50", "50 %", type);
	wt_table_hide(table, 1);
	wt_table_column(table, "p75", "75 %", type);
	wt_table_hide(table, 3);
	wt_table_column(table, "max", "max", type);
}

static void put(struct wt_table *table, enum wt_cell_type type, double value)
{
	if (type == WT_CELL_NS)
		wt_table_ns(table, wti_i64_of(round(value)));
	else
		wt_table_number(table, value);
}

void wti_description_cells(struct wt_table *table, const struct wti_description *d,
			   enum wt_cell_type type)
{
	wt_table_count(table, d->count);
	put(table, type, d->mean);
	put(table, type, d->deviation);
	put(table, type, d->min);
	put(table, type, d->quarter);
	put(table, type, d->median);
	put(table, type, d->three_quarters);
	put(table, type, d->max);
}
