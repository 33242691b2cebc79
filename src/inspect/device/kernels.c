/* SPDX-License-Identifier: Apache-2.0 */
/* Operations by name: how often, how long, how even. */
#include "device.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"

struct kernel {
	uint32_t unit;
	uint32_t name;
	enum wti_kernel_type type;
	uint64_t count;
	int64_t sum_ns, min_ns, max_ns;
	double mean, squares; /* sum of squared differences to the mean */
};

struct kernels {
	struct kernel *items;
	size_t count, capacity;
	struct wti_map index; /* unit and name: place plus one */
};

static void add(struct kernel *k, int64_t ns)
{
	double before = (double)ns - k->mean;

	if (!k->count || ns < k->min_ns)
		k->min_ns = ns;
	if (ns > k->max_ns)
		k->max_ns = ns;
	k->count++;
	k->sum_ns = wti_sum(k->sum_ns, ns);
	k->mean += before / (double)k->count;
	k->squares += before * ((double)ns - k->mean);
}

static struct kernel *kernel_of(struct kernels *all, uint32_t unit, const struct wti_work_op *op)
{
	uint64_t *slot = wti_map_number(&all->index, (uint64_t)unit << 32 | op->name);

	if (!slot || wti_grow(&all->items, all->count + 1, &all->capacity, WTI_NO_CEILING))
		return NULL;
	if (!*slot) {
		all->items[all->count++] = (struct kernel){unit, op->name, op->type};
		*slot = all->count;
	}
	return &all->items[*slot - 1];
}

static int gather(struct kernels *all, const struct wti_work *work, struct wt_err *err)
{
	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		struct kernel *k;

		if (!wti_work_is_work(op) || op->type == WTI_KERNEL_OTHER)
			continue;
		k = kernel_of(all, work->queues[op->queue].unit, op);
		if (!k)
			return wti_err(err, WT_E_NOMEM, "out of memory for names of kernels");
		add(k, op->end_ns - op->start_ns);
	}
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void columns(struct wt_table *table)
{
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wti_unit_columns(table);
	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_hide(table, 2);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "sum_ns", "total", WT_CELL_NS);
	wt_table_column(table, "share", "share", WT_CELL_PERCENT);
	wt_table_column(table, "mean_ns", "mean", WT_CELL_NS);
	wt_table_column(table, "std_ns", "deviation", WT_CELL_NS);
	wt_table_hide(table, 1);
	wt_table_column(table, "min_ns", "min", WT_CELL_NS);
	wt_table_hide(table, 3);
	wt_table_column(table, "max_ns", "max", WT_CELL_NS);
	wt_table_hide(table, 3);
}

static void row(struct wt_table *table, const struct wti_work *work, const struct kernel *k,
		int64_t all_ns)
{
	const char *type = wti_kernel_type_word(k->type);
	double deviation = k->count > 1 ? sqrt(k->squares / (double)(k->count - 1)) : 0;

	wt_table_row(table);
	wti_name_cell(table, work, k->name);
	wti_unit_cells(table, work, k->unit);
	wt_table_text(table, type, __builtin_strlen(type));
	wt_table_count(table, k->count);
	wt_table_ns(table, k->sum_ns);
	wt_table_number(table, all_ns ? 100.0 * (double)k->sum_ns / (double)all_ns : 0);
	wt_table_ns(table, wti_i64_of(round(k->mean)));
	wt_table_ns(table, wti_i64_of(round(deviation)));
	wt_table_ns(table, k->min_ns);
	wt_table_ns(table, k->max_ns);
}

static void fill(struct wt_result *result, const struct wti_work *work, struct kernels *all,
		 uint64_t limit)
{
	struct wt_table *table = wt_result_table(result, "kernels", "Operations by name");
	int64_t all_ns = 0, left_ns = 0;
	size_t shown = limit && limit < all->count ? limit : all->count;

	columns(table);
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), longest_first);
	for (size_t i = 0; i < all->count; i++)
		all_ns = wti_sum(all_ns, all->items[i].sum_ns);
	for (size_t i = 0; i < shown; i++)
		row(table, work, &all->items[i], all_ns);
	for (size_t i = shown; i < all->count; i++)
		left_ns = wti_sum(left_ns, all->items[i].sum_ns);
	if (shown < all->count)
		wt_result_note(result, "%zu more names of operations, %.1f %% of the time of all",
			       all->count - shown,
			       all_ns ? 100.0 * (double)left_ns / (double)all_ns : 0);
}

int wti_device_kernels(const struct wti_work *work, const struct wti_device_options *options,
		       struct wt_result *result, struct wt_err *err)
{
	struct kernels all = {0};
	int r;

	wti_map_init(&all.index, WTI_SYMBOLS_MAX);
	r = gather(&all, work, err);
	if (!r)
		fill(result, work, &all, options->limit);
	wti_map_release(&all.index);
	free(all.items);
	return r;
}
