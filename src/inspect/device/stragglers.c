/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective ends on all devices at about the same time, so the one that begins it last is the
 * one that the others wait for. Of each step the last long occurrence of each collective counts;
 * they are told by the collective whose durations differ most between devices.
 */
#include "stragglers.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/number.h"
#include "device.h"

/* Of a step: shorter collectives hold nobody up. HolisticTraceAnalysis' default. */
#define LONG_SHARE 0.01

struct turn { /* a device's part of a collective in a step */
	int64_t start_ns, end_ns;
	uint32_t name;
	int32_t step;
	uint32_t unit;
};

static int by_place(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int32_t step_of(const struct wti_work *work, const struct wti_work_op *op)
{
	const struct wti_work_call *call = wti_work_launch(work, op);

	return call ? call->step : -1;
}

/* From the first to the last operation in a step, by the number of steps. */
static int64_t mean_step(const struct wti_work *work)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
	int32_t first = INT32_MAX, last = -1;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		int32_t step = step_of(work, op);

		if (step < 0 || !wti_work_is_work(op))
			continue;
		from_ns = op->start_ns < from_ns ? op->start_ns : from_ns;
		to_ns = op->end_ns > to_ns ? op->end_ns : to_ns;
		first = step < first ? step : first;
		last = step > last ? step : last;
	}
	return last < 0 ? 0 : (to_ns - from_ns) / ((int64_t)last - first + 1);
}

/* The last of each device, step and name. */
static size_t gather(const struct wti_work *work, int64_t step_ns, struct turn *turns)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		int32_t step = step_of(work, op);

		if (op->type == WTI_KERNEL_COMMUNICATION && wti_work_is_work(op) && step >= 0 &&
		    (double)(op->end_ns - op->start_ns) >= LONG_SHARE * (double)step_ns)
			turns[count++] = (struct turn){op->start_ns, op->end_ns, op->name, step,
						       work->queues[op->queue].unit};
	}
	if (count)
		qsort(turns, count, sizeof(*turns), by_place);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || turns[i + 1].name != turns[i].name ||
		    turns[i + 1].step != turns[i].step || turns[i + 1].unit != turns[i].unit)
			turns[kept++] = turns[i];
	return kept;
}

static size_t group_end(const struct turn *turns, size_t count, size_t first)
{
	size_t last = first;

	while (last < count && turns[last].name == turns[first].name &&
	       turns[last].step == turns[first].step)
		last++;
	return last;
}

/* Deviation of the durations of one group. */
static double spread(const struct turn *turns, size_t count)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += (double)(turns[i].end_ns - turns[i].start_ns) / (double)count;
	for (size_t i = 0; i < count; i++) {
		double d = (double)(turns[i].end_ns - turns[i].start_ns) - mean;

		squares += d * d;
	}
	return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* The name whose groups have the largest spread on average; WTI_SYMBOL_NONE: no group has two. */
static uint32_t choose(const struct turn *turns, size_t count)
{
	uint32_t best = WTI_SYMBOL_NONE;
	double best_mean = -1, sum = 0;
	uint64_t groups = 0;

	for (size_t first = 0, last; first < count; first = last) {
		last = group_end(turns, count, first);
		if (last - first > 1) {
			sum += spread(&turns[first], last - first);
			groups++;
		}
		if (last == count || turns[last].name != turns[first].name) {
			if (groups && sum / (double)groups > best_mean) {
				best_mean = sum / (double)groups;
				best = turns[first].name;
			}
			sum = 0;
			groups = 0;
		}
	}
	return best;
}

static void judge(struct wti_stragglers *s, const struct turn *turns, size_t count)
{
	const struct turn *first = turns, *last = turns;

	for (size_t i = 1; i < count; i++) {
		first = turns[i].start_ns < first->start_ns ? &turns[i] : first;
		last = turns[i].start_ns > last->start_ns ? &turns[i] : last;
	}
	s->step_count++;
	s->units[last->unit].last_count++;
	for (size_t i = 0; i < count; i++) {
		struct wti_lateness *unit = &s->units[turns[i].unit];

		unit->late_ns = wti_sum(unit->late_ns, turns[i].start_ns - first->start_ns);
	}
}

int wti_stragglers_find(const struct wti_work *work, struct wti_stragglers *ret, struct wt_err *err)
{
	struct turn *turns = malloc((work->op_count + 1) * sizeof(*turns));
	struct wti_stragglers s = {.step_ns = mean_step(work)};
	size_t count;

	s.units = calloc(work->unit_count + 1, sizeof(*s.units));
	if (!turns || !s.units) {
		free(turns);
		free(s.units);
		return wti_err(err, WT_E_NOMEM, "out of memory for collectives");
	}
	count = work->unit_count > 1 ? gather(work, s.step_ns, turns) : 0;
	s.name = choose(turns, count);
	for (size_t first = 0, last; first < count; first = last) {
		last = group_end(turns, count, first);
		if (turns[first].name == s.name && last - first > 1)
			judge(&s, &turns[first], last - first);
	}
	free(turns);
	*ret = s;
	return 0;
}

int wti_device_stragglers(const struct wti_work *work, const struct wti_device_options *options,
			  struct wt_result *result, struct wt_err *err)
{
	struct wti_stragglers s;
	struct wt_table *table;
	int r = wti_stragglers_find(work, &s, err);

	(void)options;
	if (r)
		return r;
	table = wt_result_table(result, "stragglers", "Who begins collectives last");
	wti_unit_columns(table);
	wt_table_column(table, "collective", "collective", WT_CELL_TEXT);
	wt_table_column(table, "steps", "steps", WT_CELL_COUNT);
	wt_table_column(table, "last", "was last", WT_CELL_COUNT);
	wt_table_column(table, "late_ns", "late, on average", WT_CELL_NS);
	for (uint32_t unit = 0; s.step_count && unit < work->unit_count; unit++) {
		wt_table_row(table);
		wti_unit_cells(table, work, unit);
		wti_name_cell(table, work, s.name);
		wt_table_count(table, s.step_count);
		wt_table_count(table, s.units[unit].last_count);
		wt_table_ns(table, s.units[unit].late_ns / (int64_t)s.step_count);
	}
	free(s.units);
	return 0;
}
