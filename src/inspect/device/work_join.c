/* SPDX-License-Identifier: Apache-2.0 */
/* Putting in order what was taken in: launches to operations, operations to queues. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/label.h"
#include "queue_length.h"
#include "work_own.h"

bool wti_work_is_work(const struct wti_work_op *op)
{
	return wti_device_op_is_work(op->op);
}

bool wti_work_is_row(const struct wti_work *work, const struct wti_work_op *op)
{
	if (wti_work_is_work(op))
		return true;
	return (op->op == WT_OP_SYNC || op->op == WT_OP_WAIT) && work->queues[op->queue].is_queue;
}

const struct wti_work_call *wti_work_launch(const struct wti_work *work,
					    const struct wti_work_op *op)
{
	return op->call ? &work->calls[op->call - 1] : NULL;
}

uint32_t wti_work_operator(const struct wti_work *work, uint32_t call, bool outermost)
{
	uint32_t found = 0;

	for (; call; call = work->calls[call - 1].parent) {
		if (!(work->calls[call - 1].flags & WTI_WORK_OPERATOR))
			continue;
		found = call;
		if (!outermost)
			break;
	}
	return found;
}

/* ---- Hashes of correlations ------------------------------------------------------------------ */

static size_t mix(uint32_t stream, uint64_t correlation)
{
	uint64_t x = (correlation ^ (uint64_t)stream << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(x ^ x >> 29);
}

/* A power of two, at least a third more than there are entries. */
static size_t slots_for(size_t count)
{
	size_t slots = 16;

	while (slots < count + count / 3 + 1)
		slots *= 2;
	return slots;
}

static int launch_slots(const struct wti_work *work, uint32_t **ret_slots, size_t *ret_count,
			struct wt_err *err)
{
	size_t count = slots_for(work->launch_count);
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return wti_err(err, WT_E_NOMEM, "out of memory for launches");
	for (size_t i = 0; i < work->launch_count; i++) {
		size_t at = mix(work->launches[i].stream, work->launches[i].correlation);

		while (slots[at & (count - 1)])
			at++;
		slots[at & (count - 1)] = (uint32_t)i + 1;
	}
	*ret_slots = slots;
	*ret_count = count;
	return 0;
}

static bool contains(const struct wti_work *work, uint32_t name, const char *word)
{
	return strstr(wti_symbol_text(&work->symbols, name), word);
}

/* Calls that start a recorded sequence of operations: graphs of CUDA and HIP, command buffers. */
static bool is_graph(const struct wti_work *work, uint32_t name)
{
	return contains(work, name, "GraphLaunch") || contains(work, name, "CommandBuffer");
}

/* Kept by symbol: the question is asked for every operation. */
static bool is_graph_call(const struct wti_work *work, struct wti_map *graphs, uint32_t name)
{
	uint64_t *slot = wti_map_number(graphs, name);

	if (!slot)
		return is_graph(work, name);
	if (!*slot)
		*slot = 1 + is_graph(work, name);
	return *slot == 2;
}

static const struct wti_work_pair *find_launch(const struct wti_work *work, const uint32_t *slots,
					       size_t count, uint32_t stream, uint64_t correlation)
{
	size_t at = mix(stream, correlation);

	for (; correlation && slots[at & (count - 1)]; at++) {
		const struct wti_work_pair *pair = &work->launches[slots[at & (count - 1)] - 1];

		if (pair->correlation == correlation && pair->stream == stream)
			return pair;
	}
	return NULL;
}

/* The call that launched an operation, plus one; of a node of a graph that which launched the
 * graph. */
static uint32_t call_of(const struct wti_work *work, const uint32_t *slots, size_t count,
			uint32_t stream, uint64_t correlation)
{
	const struct wti_work_pair *pair = find_launch(work, slots, count, stream, correlation);

	if (pair && !pair->call)
		pair = find_launch(work, slots, count, stream, pair->via);
	return pair ? pair->call : 0;
}

static int join_launches(struct wti_work *work, struct wt_err *err)
{
	struct wti_map graphs;
	uint32_t *slots = NULL;
	size_t count = 0;
	int r = launch_slots(work, &slots, &count, err);

	if (r)
		return r;
	wti_map_init(&graphs, WTI_SYMBOLS_MAX);
	for (size_t i = 0; i < work->op_count; i++) {
		struct wti_work_op *op = &work->ops[i];
		uint32_t stream = work->queues[op->queue].stream;

		op->call = call_of(work, slots, count, stream, op->correlation);
		if (op->call)
			op->in_graph = is_graph_call(work, &graphs, work->calls[op->call - 1].name);
		else if (wti_work_is_work(op))
			work->unlaunched_count++;
		if (op->call && op->op == WT_OP_SYNC)
			work->calls[op->call - 1].flags |= WTI_WORK_BLOCKS;
	}
	wti_map_release(&graphs);
	free(slots);
	free(work->launches);
	work->launches = NULL;
	work->launch_count = work->launch_capacity = 0;
	return 0;
}

static int hash_ops(struct wti_work *work, struct wt_err *err)
{
	work->slot_count = slots_for(work->op_count);
	work->slots = calloc(work->slot_count, sizeof(*work->slots));
	if (!work->slots)
		return wti_err(err, WT_E_NOMEM, "out of memory for device operations");
	for (size_t i = 0; i < work->op_count; i++) {
		size_t at;

		if (!work->ops[i].correlation)
			continue;
		at = mix(work->queues[work->ops[i].queue].stream, work->ops[i].correlation);
		while (work->slots[at & (work->slot_count - 1)])
			at++;
		work->slots[at & (work->slot_count - 1)] = (uint32_t)i + 1;
	}
	return 0;
}

/* Index plus one of an operation, 0: there is none. */
static uint32_t find_op(const struct wti_work *work, uint32_t stream, uint64_t correlation)
{
	size_t at = mix(stream, correlation);

	for (; work->slots[at & (work->slot_count - 1)]; at++) {
		uint32_t found = work->slots[at & (work->slot_count - 1)];
		const struct wti_work_op *op = &work->ops[found - 1];

		if (op->correlation == correlation && work->queues[op->queue].stream == stream)
			return found;
	}
	return 0;
}

/* ---- Operations by queue --------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct wti_work_op *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static void sort_queue(struct wti_work_op *ops, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (by_start(&ops[i - 1], &ops[i]) < 0)
			continue;
		qsort(ops, count, sizeof(*ops), by_start);
		return;
	}
}

/* By queue in linear time; those of a queue are mostly in order already. */
static int sort_ops(struct wti_work *work, struct wt_err *err)
{
	struct wti_work_op *sorted = malloc((work->op_count + 1) * sizeof(*sorted));
	size_t *next = calloc(work->queue_count + 1, sizeof(*next));

	if (!sorted || !next) {
		free(sorted);
		free(next);
		return wti_err(err, WT_E_NOMEM, "out of memory for device operations");
	}
	for (size_t i = 0; i < work->op_count; i++)
		next[work->ops[i].queue + 1]++;
	for (size_t q = 0; q < work->queue_count; q++) {
		work->queues[q].count = next[q + 1];
		next[q + 1] += next[q];
		work->queues[q].first = next[q];
	}
	for (size_t i = 0; i < work->op_count; i++)
		sorted[next[work->ops[i].queue]++] = work->ops[i];
	free(work->ops);
	free(next);
	work->ops = sorted;
	work->op_capacity = work->op_count + 1;
	for (size_t q = 0; q < work->queue_count; q++) {
		struct wti_work_queue *queue = &work->queues[q];
		bool has_work = false;

		sort_queue(&work->ops[queue->first], queue->count);
		for (size_t i = 0; !has_work && i < queue->count; i++)
			has_work = wti_work_is_work(&work->ops[queue->first + i]);
		/* Where nothing ever ran, a source shows waits for the whole device. */
		queue->is_queue = queue->is_queue && has_work;
	}
	return 0;
}

/* The other end of a transfer may be in another process. */
static uint32_t find_anywhere(const struct wti_work *work, uint64_t correlation)
{
	uint32_t found = 0;

	for (size_t i = 0; !found && i < work->unit_count; i++)
		found = find_op(work, work->units[i].stream, correlation);
	return found;
}

static void join_edges(struct wti_work *work)
{
	for (size_t i = 0; i < work->edge_count; i++) {
		struct wti_work_edge *edge = &work->edges[i];

		uint64_t to = edge->to;

		edge->from = find_op(work, edge->stream, edge->from);
		edge->to = find_op(work, edge->stream, to);
		if (!edge->to && edge->type == WT_EDGE_SEND_RECEIVE)
			edge->to = find_anywhere(work, to);
		if (!edge->from || !edge->to)
			work->unjoined_count++;
	}
	for (size_t i = 0; i < work->access_count; i++)
		work->accesses[i].correlation =
			find_op(work, work->accesses[i].stream, work->accesses[i].correlation);
}

/* Calls that wait for a device, or may: in all of these APIs. */
static bool blocks(const char *name)
{
	static const char *const words[] = {"DeviceSynchronize", "StreamSynchronize", "EventQuery",
					    "EventSynchronize",  "CtxSynchronize",    "Memcpy",
					    "MemcpyAsync",       "MemcpyWithStream",  "Finish",
					    "WaitForEvents"};
	static const char *const apis[] = {"cuda", "hip", "cu", "cl"};

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		size_t bytes = strlen(apis[i]);

		for (size_t j = 0;
		     !strncmp(name, apis[i], bytes) && j < sizeof(words) / sizeof(words[0]); j++)
			if (!strcmp(name + bytes, words[j]))
				return true;
	}
	return false;
}

static void finish_calls(struct wti_work *work)
{
	struct wti_map known;

	wti_map_init(&known, WTI_SYMBOLS_MAX);
	for (size_t i = 0; i < work->call_count; i++) {
		struct wti_work_call *call = &work->calls[i];
		uint64_t *slot = wti_map_number(&known, call->name);

		if (call->end_ns == INT64_MIN) /* where the run ended */
			call->end_ns =
				work->last_ns > call->begin_ns ? work->last_ns : call->begin_ns;
		if (slot && !*slot)
			*slot = 1 + blocks(wti_symbol_text(&work->symbols, call->name));
		if (slot && *slot == 2)
			call->flags |= WTI_WORK_BLOCKS;
	}
	wti_map_release(&known);
}

int wti_work_finish(struct wti_work *work, struct wt_err *err)
{
	int r;

	finish_calls(work);
	if (work->symbols.texts.failed) /* names that were to be told apart are not */
		return wti_err(err, WT_E_NOMEM, "out of memory for names");
	r = wti_work_order(work, err);
	if (!r)
		r = join_launches(work, err);
	if (!r)
		r = wti_work_time(work, err);
	if (!r)
		r = sort_ops(work, err);
	if (!r)
		r = hash_ops(work, err);
	if (r)
		return r;
	join_edges(work);
	free(work->slots);
	work->slots = NULL;
	work->slot_count = 0;
	return wti_queue_mark(work, err);
}
