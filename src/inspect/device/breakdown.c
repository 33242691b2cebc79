/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of each device went: idle, computing, something else; how long which types of work
 * ran at once; how much of the communication is hidden behind computing.
 */
#include "device.h"
#include "covers.h"

#include "base/buf.h"
#include "base/err.h"

#define SETS 3u /* types that can overlap: all but other */

struct sums {
	int64_t from_ns, to_ns;
	uint64_t busy_ns;                 /* anything on a queue */
	uint64_t combined_ns[1u << SETS]; /* by combination of types */
};

static int gather(const struct wti_work *work, uint32_t unit, struct wti_covers sets[],
		  struct wti_covers *all)
{
	for (size_t q = 0; q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 0; queue->unit == unit && i < queue->count; i++) {
			const struct wti_work_op *op = &work->ops[queue->first + i];
			int r = 0;

			if (!wti_work_is_row(work, op))
				continue;
			if (wti_covers_add(all, op->start_ns, op->end_ns))
				return WT_E_NOMEM;
			if (op->type < SETS)
				r = wti_covers_add(&sets[op->type], op->start_ns, op->end_ns);
			if (r)
				return r;
		}
	}
	return 0;
}

static int sum_up(const struct wti_work *work, uint32_t unit, struct sums *sums, struct wt_err *err)
{
	struct wti_covers sets[SETS] = {0}, all = {0};
	int r = gather(work, unit, sets, &all);

	*sums = (struct sums){0};
	if (!r) {
		wti_covers_merge(&all);
		for (unsigned i = 0; i < SETS; i++)
			wti_covers_merge(&sets[i]);
		sums->busy_ns = wti_covers_length(&all);
		sums->from_ns = all.count ? all.items[0].from_ns : 0;
		sums->to_ns = all.count ? all.items[all.count - 1].to_ns : 0;
		wti_covers_overlap(sets, SETS, sums->combined_ns);
	}
	wti_covers_release(&all);
	for (unsigned i = 0; i < SETS; i++)
		wti_covers_release(&sets[i]);
	return r ? wti_err(err, r, "out of memory for intervals") : 0;
}

static uint64_t time_of(const struct sums *sums, unsigned types)
{
	uint64_t ns = 0;

	for (unsigned mask = 1; mask < 1u << SETS; mask++)
		if ((mask & types) == types)
			ns += sums->combined_ns[mask];
	return ns;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void time_columns(struct wt_table *table)
{
	wti_unit_columns(table);
	wt_table_column(table, "window_ns", "first to last", WT_CELL_NS);
	wt_table_column(table, "idle_ns", "idle", WT_CELL_NS);
	wt_table_column(table, "compute_ns", "compute", WT_CELL_NS);
	wt_table_column(table, "non_compute_ns", "other work", WT_CELL_NS);
	wt_table_column(table, "idle", "idle", WT_CELL_PERCENT);
	wt_table_column(table, "compute", "compute", WT_CELL_PERCENT);
	wt_table_column(table, "non_compute", "other", WT_CELL_PERCENT);
}

static void time_row(struct wt_table *table, const struct wti_work *work, uint32_t unit,
		     const struct sums *sums)
{
	uint64_t window = (uint64_t)(sums->to_ns - sums->from_ns);
	uint64_t idle = window - sums->busy_ns;
	uint64_t compute = time_of(sums, 1u << WTI_KERNEL_COMPUTE);

	wt_table_row(table);
	wti_unit_cells(table, work, unit);
	wt_table_ns(table, (int64_t)window);
	wt_table_ns(table, (int64_t)idle);
	wt_table_ns(table, (int64_t)compute);
	wt_table_ns(table, (int64_t)(window - idle - compute));
	wt_table_number(table, percent(idle, window));
	wt_table_number(table, percent(compute, window));
	wt_table_number(table, percent(window - idle - compute, window));
}

static void overlap_row(struct wt_table *table, const struct wti_work *work, uint32_t unit,
			const struct sums *sums)
{
	uint64_t communication = time_of(sums, 1u << WTI_KERNEL_COMMUNICATION);
	uint64_t both = time_of(sums, 1u << WTI_KERNEL_COMMUNICATION | 1u << WTI_KERNEL_COMPUTE);

	if (!communication)
		return;
	wt_table_row(table);
	wti_unit_cells(table, work, unit);
	wt_table_ns(table, (int64_t)communication);
	wt_table_ns(table, (int64_t)both);
	wt_table_number(table, percent(both, communication));
}

static void types_table(struct wt_result *result, const uint64_t combined_ns[1u << SETS])
{
	struct wt_table *table = wt_result_table(result, "types", "Types of work, and at once");
	uint64_t all = 0;

	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_column(table, "time_ns", "time", WT_CELL_NS);
	wt_table_column(table, "share", "share", WT_CELL_PERCENT);
	for (unsigned mask = 1; mask < 1u << SETS; mask++)
		all += combined_ns[mask];
	for (unsigned mask = 1; mask < 1u << SETS; mask++) {
		struct wti_buf text;

		if (!combined_ns[mask])
			continue;
		wti_buf_init(&text, 256);
		for (unsigned i = 0; i < SETS; i++)
			if (mask & 1u << i)
				wti_buf_printf(&text, "%s%s", text.bytes ? " + " : "",
					       wti_kernel_type_word(i));
		wt_table_row(table);
		wt_table_text(table, wti_buf_cstr(&text), text.bytes);
		wt_table_ns(table, (int64_t)combined_ns[mask]);
		wt_table_number(table, percent(combined_ns[mask], all));
		wti_buf_release(&text);
	}
}

int wti_device_breakdown(const struct wti_work *work, const struct wti_device_options *options,
			 struct wt_result *result, struct wt_err *err)
{
	struct wt_table *time = wt_result_table(result, "time", "Where the time went");
	struct wt_table *overlap =
		wt_result_table(result, "overlap", "Communication behind compute");
	uint64_t combined_ns[1u << SETS] = {0};

	(void)options;
	time_columns(time);
	wti_unit_columns(overlap);
	wt_table_column(overlap, "communication_ns", "communication", WT_CELL_NS);
	wt_table_column(overlap, "overlap_ns", "beside compute", WT_CELL_NS);
	wt_table_column(overlap, "overlap", "hidden", WT_CELL_PERCENT);
	for (uint32_t unit = 0; unit < work->unit_count; unit++) {
		struct sums sums;
		int r = sum_up(work, unit, &sums, err);

		if (r)
			return r;
		if (sums.to_ns <= sums.from_ns)
			continue;
		time_row(time, work, unit, &sums);
		overlap_row(overlap, work, unit, &sums);
		for (unsigned mask = 0; mask < 1u << SETS; mask++)
			combined_ns[mask] += sums.combined_ns[mask];
	}
	types_table(result, combined_ns);
	return 0;
}
