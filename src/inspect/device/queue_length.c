/* SPDX-License-Identifier: Apache-2.0 */
/* Two sorted lists, merged. */
#include "queue_length.h"

#include <stdlib.h>

#include "base/err.h"

static int by_time(const void *a, const void *b)
{
	const struct wti_queue_point *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->is_launch != y->is_launch)
		return x->is_launch ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

int wti_queue_points(const struct wti_work *work, uint32_t q, struct wti_queue_point **ret_points,
		     size_t *ret_count, struct wt_err *err)
{
	const struct wti_work_queue *queue = &work->queues[q];
	struct wti_queue_point *points = malloc((2 * queue->count + 1) * sizeof(*points));
	size_t count = 0;
	int32_t length = 0;

	if (!points)
		return wti_err(err, WT_E_NOMEM, "out of memory for the length of queues");
	for (size_t i = queue->first; i < queue->first + queue->count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		const struct wti_work_call *call = wti_work_launch(work, op);

		if (!call || op->in_graph || !wti_work_is_work(op))
			continue;
		points[count++] = (struct wti_queue_point){call->begin_ns, (uint32_t)i, true, 0};
		points[count++] = (struct wti_queue_point){op->start_ns, (uint32_t)i, false, 0};
	}
	if (count)
		qsort(points, count, sizeof(*points), by_time);
	for (size_t i = 0; i < count; i++)
		points[i].length = length += points[i].is_launch ? 1 : -1;
	*ret_points = points;
	*ret_count = count;
	return 0;
}

int wti_queue_mark(struct wti_work *work, struct wt_err *err)
{
	for (uint32_t q = 0; q < work->queue_count; q++) {
		struct wti_queue_point *points;
		size_t count;
		int r = wti_queue_points(work, q, &points, &count, err);

		if (r)
			return r;
		for (size_t i = 0; i < count; i++) {
			struct wti_work_op *op = &work->ops[points[i].op];

			if (points[i].is_launch)
				op->alone = points[i].length == 1;
			else
				op->at_once = points[i].length == 0;
		}
		free(points);
	}
	return 0;
}
