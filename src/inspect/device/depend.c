/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependencies: from the order of queues, the edges of the trace, the waits of host threads, and
 * from the memory that operations touch.
 */
#include "depend.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Ranges of one object that are followed at once; the oldest gives way. */
#define RANGES_MAX 256u

const char *wti_reason_word(enum wti_reason reason)
{
	static const char *const words[WTI_REASONS] = {"same queue",       "event",
						       "barrier",          "host wait",
						       "host sync",        "read after write",
						       "write after read", "write after write",
						       "collective"};

	return words[reason];
}

static bool is_barrier(const struct wti_work *work, const struct wti_work_op *op)
{
	return !wti_work_is_work(op) &&
	       strstr(wti_symbol_text(&work->symbols, op->name), "Barrier");
}

static int of_queues(const struct wti_work *work, wti_take_dependency *take, void *cookie)
{
	for (size_t q = 0; q < work->queue_count; q++) {
		const struct wti_work_queue *queue = &work->queues[q];

		for (size_t i = 1; queue->is_queue && i < queue->count; i++) {
			uint32_t at = (uint32_t)(queue->first + i);
			enum wti_reason reason = is_barrier(work, &work->ops[at - 1]) ||
								 is_barrier(work, &work->ops[at])
							 ? WTI_REASON_BARRIER
							 : WTI_REASON_QUEUE;
			int r = take(cookie, reason, at - 1, at);

			if (r)
				return r;
		}
	}
	return 0;
}

static int of_edges(const struct wti_work *work, wti_take_dependency *take, void *cookie)
{
	for (size_t i = 0; i < work->edge_count; i++) {
		const struct wti_work_edge *edge = &work->edges[i];
		enum wti_reason reason = edge->type == WT_EDGE_RECORD_WAIT ? WTI_REASON_EVENT
					 : edge->type == WT_EDGE_SYNC      ? WTI_REASON_HOST_WAIT
									   : WTI_REASON_COLLECTIVE;
		int r;

		if (!edge->from || !edge->to || edge->type == WT_EDGE_FORWARD_BACKWARD)
			continue;
		r = take(cookie, reason, (uint32_t)edge->from - 1, (uint32_t)edge->to - 1);
		if (r)
			return r;
	}
	return 0;
}

/* ---- Host threads that waited ---------------------------------------------------------------- */

struct launched {
	int64_t ns;
	uint32_t op;
	uint32_t call;
	uint16_t thread;
};

static int by_thread(const void *a, const void *b)
{
	const struct launched *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* All operations by thread and time of their launch; to be freed. */
static struct launched *launches(const struct wti_work *work, size_t *ret_count)
{
	struct launched *all = malloc((work->op_count + 1) * sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; all && i < work->op_count; i++) {
		const struct wti_work_call *call = wti_work_launch(work, &work->ops[i]);

		if (call)
			all[count++] = (struct launched){call->begin_ns, (uint32_t)i,
							 work->ops[i].call, call->thread};
	}
	if (count)
		qsort(all, count, sizeof(*all), by_thread);
	*ret_count = count;
	return all;
}

/* From each synchronisation to what its thread launched next. */
static int of_host(const struct wti_work *work, wti_take_dependency *take, void *cookie)
{
	size_t count;
	struct launched *all = launches(work, &count);
	int r = all ? 0 : WT_E_NOMEM;

	for (size_t i = 0; !r && i + 1 < count; i++)
		if (work->ops[all[i].op].op == WT_OP_SYNC && all[i + 1].thread == all[i].thread &&
		    all[i + 1].call != all[i].call)
			r = take(cookie, WTI_REASON_HOST_SYNC, all[i].op, all[i + 1].op);
	free(all);
	return r;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct touch {
	uint64_t object;
	uint64_t from, to;
	int64_t ns; /* of the launch */
	uint32_t stream;
	uint32_t op;
	bool reads, writes;
};

static int by_object(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static size_t touches(const struct wti_work *work, struct touch *all)
{
	size_t count = 0;

	for (size_t i = 0; i < work->access_count; i++) {
		const struct wti_work_access *access = &work->accesses[i];
		const struct wti_work_call *call;
		uint32_t op = (uint32_t)access->correlation;

		if (!op || !access->object || access->from >= access->to)
			continue;
		call = wti_work_launch(work, &work->ops[op - 1]);
		all[count++] =
			(struct touch){.object = access->object,
				       .from = access->from,
				       .to = access->to,
				       .ns = call ? call->begin_ns : work->ops[op - 1].start_ns,
				       .stream = access->stream,
				       .op = op - 1,
				       .reads = access->reads,
				       .writes = access->writes};
	}
	if (count)
		qsort(all, count, sizeof(*all), by_object);
	return count;
}

struct ranges { /* of one object, the oldest first */
	struct touch items[RANGES_MAX];
	size_t count;
};

static bool overlaps(const struct touch *a, const struct touch *b)
{
	return a->from < b->to && b->from < a->to && a->op != b->op;
}

/* What it depends on among the ranges before it, each operation for one reason. */
static int against(const struct ranges *ranges, const struct touch *now, wti_take_dependency *take,
		   void *cookie)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct touch *before = &ranges->items[i];
		int r = 0;

		if (!overlaps(before, now))
			continue;
		if (before->writes && now->reads)
			r = take(cookie, WTI_REASON_READ_AFTER_WRITE, before->op, now->op);
		else if (before->writes && now->writes)
			r = take(cookie, WTI_REASON_WRITE_AFTER_WRITE, before->op, now->op);
		else if (before->reads && now->writes)
			r = take(cookie, WTI_REASON_WRITE_AFTER_READ, before->op, now->op);
		if (r)
			return r;
	}
	return 0;
}

/* A write hides what was before it where it covers that as a whole. */
static void remember(struct ranges *ranges, const struct touch *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct touch *before = &ranges->items[i];
		bool hidden = now->writes && before->from >= now->from && before->to <= now->to &&
			      before->op != now->op;

		if (!hidden)
			ranges->items[kept++] = *before;
	}
	if (kept == RANGES_MAX)
		memmove(&ranges->items[0], &ranges->items[1], --kept * sizeof(ranges->items[0]));
	ranges->items[kept++] = *now;
	ranges->count = kept;
}

static int of_memory(const struct wti_work *work, wti_take_dependency *take, void *cookie)
{
	struct touch *all = malloc((work->access_count + 1) * sizeof(*all));
	struct ranges *ranges = calloc(1, sizeof(*ranges));
	size_t count = all ? touches(work, all) : 0;
	int r = all && ranges ? 0 : WT_E_NOMEM;

	for (size_t i = 0; !r && i < count; i++) {
		if (i && (all[i].object != all[i - 1].object || all[i].stream != all[i - 1].stream))
			ranges->count = 0;
		r = against(ranges, &all[i], take, cookie);
		remember(ranges, &all[i]);
	}
	free(all);
	free(ranges);
	return r;
}

int wti_dependencies(const struct wti_work *work, wti_take_dependency *take, void *cookie,
		     struct wt_err *err)
{
	int r = of_queues(work, take, cookie);

	if (!r)
		r = of_edges(work, take, cookie);
	if (!r)
		r = of_host(work, take, cookie);
	if (!r)
		r = of_memory(work, take, cookie);
	return r == WT_E_NOMEM ? wti_err(err, r, "out of memory for dependencies") : r;
}
