/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of operations of which the trace has none, such as the recording of an event that a
 * profiler knows only from those who wait for it. A queue is in order: such an operation is done
 * when the work that was launched before it is, and not before its own launch.
 */
#include <stdlib.h>

#include "base/err.h"
#include "work_own.h"

struct launched {
	int64_t ns; /* begin of the call */
	uint32_t op;
	uint16_t queue;
};

static int by_launch(const void *a, const void *b)
{
	const struct launched *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static bool has_untimed(const struct wti_work *work)
{
	for (size_t i = 0; i < work->op_count; i++)
		if (work->ops[i].untimed)
			return true;
	return false;
}

/* Work and what has no time, by queue and launch. */
static size_t gather(const struct wti_work *work, struct launched *all)
{
	size_t count = 0;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		const struct wti_work_call *call = wti_work_launch(work, op);

		if (call && (op->untimed || wti_work_is_work(op)))
			all[count++] = (struct launched){call->begin_ns, (uint32_t)i, op->queue};
	}
	if (count)
		qsort(all, count, sizeof(*all), by_launch);
	return count;
}

int wti_work_time(struct wti_work *work, struct wt_err *err)
{
	struct launched *all;
	int64_t done_ns = 0;
	size_t count;

	if (!has_untimed(work))
		return 0;
	all = malloc((work->op_count + 1) * sizeof(*all));
	if (!all)
		return wti_err(err, WT_E_NOMEM, "out of memory for device operations");
	count = gather(work, all);
	for (size_t i = 0; i < count; i++) {
		struct wti_work_op *op = &work->ops[all[i].op];

		if (!i || all[i].queue != all[i - 1].queue)
			done_ns = INT64_MIN;
		if (op->untimed)
			op->start_ns = op->end_ns = done_ns > all[i].ns ? done_ns : all[i].ns;
		else
			done_ns = op->end_ns;
	}
	free(all);
	return 0;
}
