/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the picture: which there are, what adds up in them, and in which order they stand. */
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "chart.h"

#define ROWS_MAX 1024u
/* A run of many short processes leaves rows to what it computes. */
#define SYSCALL_ROWS_MAX (ROWS_MAX / 2)
#define LANES_MAX 768u
#define INTERVALS_MAX (1u << 14) /* kept a row before the older half is settled */
#define MOMENTS_MAX (1u << 19)   /* of beginnings and ends that wait to be put in order */

void wti_chart_rows_init(struct wti_chart *c)
{
	wti_map_init(&c->index, 2 * ROWS_MAX);
	wti_concurrency_init(&c->all, MOMENTS_MAX);
}

void wti_chart_rows_release(struct wti_chart *c)
{
	for (size_t i = 0; i < c->row_count; i++) {
		wti_busy_release(&c->rows[i].busy);
		for (size_t depth = 0; depth < WTI_CHART_DEPTHS; depth++)
			wti_bars_release(&c->rows[i].bars[depth]);
		if (c->rows[i].concurrency)
			wti_concurrency_release(c->rows[i].concurrency);
		free(c->rows[i].concurrency);
	}
	free(c->rows);
	wti_map_release(&c->index);
	wti_concurrency_release(&c->all);
}

/* ---- One row --------------------------------------------------------------------------------- */

/* All threads of a worker are one row. There are far fewer than 2^29 streams and ranks. */
static uint64_t key_of(const struct wti_chart_subject *of)
{
	uint64_t type = (uint64_t)of->type << 62;

	if (of->type == WTI_CHART_DEVICE)
		return type | (uint64_t)of->stream << 32 | of->device;
	if (of->type == WTI_CHART_THREAD && of->role.worker)
		return type | 1ull << 61 | (uint64_t)of->role.rank << 32 | of->role.worker;
	return type | (uint64_t)of->stream << 32 | of->track;
}

static int init_row(const struct wti_chart *c, struct wti_chart_row *row)
{
	if (row->of.type == WTI_CHART_DEVICE) {
		row->concurrency = malloc(sizeof(*row->concurrency));
		if (!row->concurrency)
			return WT_E_NOMEM;
		wti_concurrency_init(row->concurrency, MOMENTS_MAX);
	}
	row->beside_stream = row->of.stream;
	row->beside_track = row->of.track;
	return wti_busy_init(&row->busy, INTERVALS_MAX, c->options.from_ns, c->options.to_ns);
}

/* WT_E_LIMIT: there are too many. */
static int make_row(struct wti_chart *c, const struct wti_chart_subject *of)
{
	bool is_syscalls = of->type == WTI_CHART_SYSCALLS;
	struct wti_chart_row row = {.of = *of};
	int r = is_syscalls && c->syscall_row_count == SYSCALL_ROWS_MAX
			? WT_E_LIMIT
			: wti_grow(&c->rows, c->row_count + 1, &c->row_capacity, ROWS_MAX);

	if (r)
		return r;
	r = init_row(c, &row);
	if (r) {
		free(row.concurrency);
		return r;
	}
	c->rows[c->row_count++] = row;
	c->syscall_row_count += is_syscalls;
	return 0;
}

static int row_of(struct wti_chart *c, const struct wti_chart_subject *of,
		  struct wti_chart_row **ret_row)
{
	uint64_t *slot = wti_map_number(&c->index, key_of(of));
	int r;

	if (!slot)
		return c->index.failed ? WT_E_NOMEM : WT_E_LIMIT;
	if (!*slot) {
		r = make_row(c, of);
		if (r)
			return r;
		*slot = c->row_count;
	}
	*ret_row = &c->rows[*slot - 1];
	return 0;
}

/* A device has none: those of its queues show it. */
static int add_bar(struct wti_chart *c, struct wti_chart_row *row,
		   const struct wti_chart_interval *interval)
{
	struct wti_bars *bars;

	if (!c->options.bars || row->of.type == WTI_CHART_DEVICE ||
	    interval->depth >= WTI_CHART_DEPTHS)
		return 0;
	bars = &row->bars[interval->depth];
	if (!bars->count && c->lane_count == LANES_MAX) {
		c->undrawn_count++;
		return 0;
	}
	c->lane_count += !bars->count;
	return wti_bars_add(bars, interval->from_ns, interval->to_ns, interval->name);
}

static int add_busy(struct wti_chart *c, struct wti_chart_row *row,
		    const struct wti_chart_interval *interval)
{
	int r = wti_busy_add(&row->busy, interval->from_ns, interval->to_ns);

	row->count++;
	if (!r && row->concurrency)
		r = wti_concurrency_add(row->concurrency, interval->from_ns, interval->to_ns);
	if (!r && row->concurrency)
		r = wti_concurrency_add(&c->all, interval->from_ns, interval->to_ns);
	return r;
}

/* What lies outside says where to look instead. */
static bool in_window(struct wti_chart *c, const struct wti_chart_interval *interval)
{
	if (interval->from_ns >= c->options.to_ns)
		c->after_ns = interval->from_ns < c->after_ns ? interval->from_ns : c->after_ns;
	else if (interval->to_ns <= c->options.from_ns)
		c->before_ns = interval->to_ns > c->before_ns ? interval->to_ns : c->before_ns;
	else
		return true;
	return false;
}

int wti_chart_add(struct wti_chart *c, const struct wti_chart_subject *of,
		  const struct wti_chart_interval *interval, struct wt_err *err)
{
	struct wti_chart_interval cut = *interval;
	struct wti_chart_row *row;
	int r;

	if (!in_window(c, interval))
		return 0;
	r = row_of(c, of, &row);
	if (r == WT_E_LIMIT) {
		c->left_out_count++;
		return 0;
	}
	if (r)
		return wti_err(err, r, "out of memory for the rows of the timeline");
	cut.from_ns = cut.from_ns < c->options.from_ns ? c->options.from_ns : cut.from_ns;
	cut.to_ns = cut.to_ns > c->options.to_ns ? c->options.to_ns : cut.to_ns;
	if (!cut.depth)
		r = add_busy(c, row, &cut);
	if (!r)
		r = add_bar(c, row, &cut);
	return r ? wti_err(err, r, "out of memory") : 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static uint32_t tid_of(const struct wti_chart *c, const struct wti_chart_row *row)
{
	const struct wt_track *track =
		wt_reader_track(wt_trace_stream(c->trace, row->of.stream), row->of.track);

	return track ? track->tid : 0;
}

/* System calls go to the row of the thread that made them. */
static void put_beside(const struct wti_chart *c, struct wti_chart_row *row)
{
	uint32_t tid = tid_of(c, row);

	for (size_t i = 0; tid && i < c->row_count; i++) {
		const struct wti_chart_row *thread = &c->rows[i];

		if (thread->of.type != WTI_CHART_THREAD || tid_of(c, thread) != tid)
			continue;
		row->of.role = thread->of.role;
		row->beside_stream = thread->of.stream;
		row->beside_track = thread->of.track;
		return;
	}
}

static bool is_shared(const struct wti_chart *c, const struct wti_chart_row *row)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct wti_chart_row *other = &c->rows[i];

		if (other->of.type == WTI_CHART_DEVICE && other->of.device == row->of.device &&
		    other->of.stream != row->of.stream)
			return true;
	}
	return false;
}

static bool is_of_device(const struct wti_chart_row *row)
{
	return row->of.type == WTI_CHART_DEVICE || row->of.type == WTI_CHART_QUEUE;
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* Threads by rank (what has none, such as a launcher, comes first), worker and process, each with
 * its system calls below; then devices by number and process, each with its queues below. */
static int by_place(const void *a, const void *b)
{
	const struct wti_chart_row *x = a, *y = b;
	int r = compare(is_of_device(x), is_of_device(y));

	r = r ? r : compare(x->of.device, y->of.device);
	r = r ? r : compare(x->of.role.rank, y->of.role.rank);
	r = r ? r : compare(x->of.role.worker, y->of.role.worker);
	r = r ? r : compare(x->beside_stream, y->beside_stream);
	r = r ? r : compare(x->beside_track, y->beside_track);
	r = r ? r : compare(x->of.type, y->of.type);
	r = r ? r : compare(x->of.stream, y->of.stream);
	return r ? r : compare(x->of.track, y->of.track);
}

void wti_chart_rows_finish(struct wti_chart *c)
{
	wti_concurrency_finish(&c->all);
	for (size_t i = 0; i < c->row_count; i++) {
		struct wti_chart_row *row = &c->rows[i];

		wti_busy_settle(&row->busy);
		if (row->concurrency)
			wti_concurrency_finish(row->concurrency);
		if (row->of.type == WTI_CHART_SYSCALLS)
			put_beside(c, row);
		row->is_shared = is_of_device(row) && is_shared(c, row);
	}
	if (c->row_count)
		qsort(c->rows, c->row_count, sizeof(*c->rows), by_place);
}
