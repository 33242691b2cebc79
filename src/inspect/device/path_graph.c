/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the graph: threads, then queues. It is gone through twice: edges are counted first, and
 * then put where they belong.
 */
#include "path_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"

/* An edge in four bytes: where it goes, its type, and whether the time between its nodes counts. */
#define TO_SHIFT 4
#define TYPE_SHIFT 1
#define TYPE_MASK 7u
#define NODES_MAX (1u << (32 - TO_SHIFT))

_Static_assert(WTI_PATH_EDGE_TYPES <= TYPE_MASK + 1, "a type takes three bits");

static void add(struct wti_path_graph *graph, uint32_t from, uint32_t to, bool takes_time,
		enum wti_path_edge_type type)
{
	uint32_t edge = to << TO_SHIFT | (uint32_t)type << TYPE_SHIFT | takes_time;

	if (graph->edges) {
		graph->edges[graph->first[from + 1]++] = edge;
	} else {
		graph->first[from + 2]++;
		graph->edge_count++;
	}
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static int64_t node_ns(const struct wti_work *work, uint32_t node)
{
	size_t at = node / 2;

	if (at < work->call_count)
		return node & 1 ? work->calls[at].end_ns : work->calls[at].begin_ns;
	at -= work->call_count;
	return node & 1 ? work->ops[at].end_ns : work->ops[at].start_ns;
}

static int64_t changed_ns(const struct wti_path_graph *graph, const struct wti_path_edge *edge,
			  int64_t ns)
{
	uint32_t name = wti_path_name(graph->work, wti_path_subject(graph, edge));

	return graph->is_changed[name] ? wti_bounded(wti_i64_of((double)ns * graph->share)) : ns;
}

struct wti_path_edge wti_path_edge_at(const struct wti_path_graph *graph, uint32_t from,
				      uint32_t number)
{
	uint32_t packed = graph->edges[number];
	struct wti_path_edge edge = {
		.from = from, .to = packed >> TO_SHIFT, .type = (packed >> TYPE_SHIFT) & TYPE_MASK};
	int64_t ns;

	if (!(packed & 1))
		return edge;
	ns = node_ns(graph->work, edge.to) - node_ns(graph->work, from);
	edge.weight_ns = ns > 0 ? ns : 0;
	if (edge.weight_ns && graph->is_changed && edge.type == WTI_PATH_EDGE_SPAN)
		edge.weight_ns = changed_ns(graph, &edge, edge.weight_ns);
	return edge;
}

uint32_t wti_path_edge_to(const struct wti_path_graph *graph, uint32_t number)
{
	return graph->edges[number] >> TO_SHIFT;
}

uint32_t wti_path_from(const struct wti_path_graph *graph, uint32_t number)
{
	size_t low = 0, high = graph->node_count;

	while (high - low > 1) { /* the last node whose edges begin at or before it */
		size_t middle = low + (high - low) / 2;

		if (graph->first[middle] <= number)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Ranges of the user's are no work of their own. */
static bool is_node(const struct wti_work_call *call)
{
	return call->flags &
	       (WTI_WORK_RUNTIME | WTI_WORK_OPERATOR | WTI_WORK_LAUNCHES | WTI_WORK_BLOCKS);
}

static uint32_t parent_of(const struct wti_work *work, uint32_t call)
{
	uint32_t parent = work->calls[call].parent;

	while (parent && !is_node(&work->calls[parent - 1]))
		parent = work->calls[parent - 1].parent;
	return parent;
}

struct walk {
	struct wti_path_graph *graph;
	uint32_t stack; /* innermost open call plus one */
	uint32_t last;  /* node plus one, inside a call; 0: outside */
	uint32_t top;   /* node of the last end outside plus one */
};

static void enter(struct walk *walk, uint32_t call)
{
	uint32_t node = wti_path_call_node(call, false);

	if (!walk->stack && walk->top)
		add(walk->graph, walk->top - 1, node, false, WTI_PATH_EDGE_NEXT);
	if (walk->last)
		add(walk->graph, walk->last - 1, node, true, WTI_PATH_EDGE_SPAN);
	walk->stack = call + 1;
	walk->last = node + 1;
}

static void leave(struct walk *walk)
{
	uint32_t call = walk->stack - 1;
	bool blocks = walk->graph->work->calls[call].flags & WTI_WORK_BLOCKS;
	uint32_t node = wti_path_call_node(call, true);

	add(walk->graph, walk->last - 1, node, !blocks, WTI_PATH_EDGE_SPAN);
	walk->stack = parent_of(walk->graph->work, call);
	walk->last = walk->stack ? node + 1 : 0;
	if (!walk->stack)
		walk->top = node + 1;
}

/* Of one thread. */
static int by_time(const void *a, const void *b, void *opaque)
{
	const struct wti_work *work = opaque;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct wti_work_call *x = &work->calls[i], *y = &work->calls[j];

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* They mostly are in order. */
static void sort_calls(const struct wti_work *work, uint32_t *calls, size_t count)
{
	void *opaque = (void *)(uintptr_t)work;

	for (size_t i = 1; i < count; i++) {
		if (by_time(&calls[i - 1], &calls[i], opaque) < 0)
			continue;
		qsort_r(calls, count, sizeof(*calls), by_time, opaque);
		return;
	}
}

static void walk_thread(struct wti_path_graph *graph, const uint32_t *calls, size_t count)
{
	struct walk walk = {.graph = graph};

	for (size_t i = 0; i < count; i++) {
		uint32_t parent = parent_of(graph->work, calls[i]);

		while (walk.stack && walk.stack != parent)
			leave(&walk);
		enter(&walk, calls[i]);
	}
	while (walk.stack)
		leave(&walk);
}

/* Calls by thread, and in these by time. */
struct calls {
	uint32_t *all;
	size_t *first; /* by thread; one more at the end */
};

static int order_calls(struct calls *calls, const struct wti_work *work)
{
	calls->all = malloc((work->call_count + 1) * sizeof(*calls->all));
	calls->first = calloc(work->thread_count + 2, sizeof(*calls->first));
	if (!calls->all || !calls->first)
		return WT_E_NOMEM;
	for (size_t i = 0; i < work->call_count; i++)
		calls->first[work->calls[i].thread + 2] += is_node(&work->calls[i]);
	for (size_t t = 1; t < work->thread_count + 2; t++)
		calls->first[t] += calls->first[t - 1];
	for (size_t i = 0; i < work->call_count; i++)
		if (is_node(&work->calls[i]))
			calls->all[calls->first[work->calls[i].thread + 1]++] = (uint32_t)i;
	for (size_t t = 0; t < work->thread_count; t++)
		sort_calls(work, calls->all + calls->first[t],
			   calls->first[t + 1] - calls->first[t]);
	return 0;
}

static void add_threads(struct wti_path_graph *graph, const struct calls *calls)
{
	for (size_t t = 0; t < graph->work->thread_count; t++)
		walk_thread(graph, calls->all + calls->first[t],
			    calls->first[t + 1] - calls->first[t]);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

struct row {
	int64_t ns; /* start; of a synchronisation its end */
	uint32_t op;
};

static int by_ns(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

struct queues {
	struct wti_path_graph *graph;
	struct row *rows; /* by time */
	size_t row_count;
	uint32_t *last;           /* by queue: operation plus one */
	uint32_t *sync_of;        /* by operation: the last operation plus one that it waits for */
	bool *has_edge;           /* by operation: a synchronisation with an edge of its own */
	uint32_t *before, *after; /* by operation: find_work() */
	bool all_launches;
};

/* Of each operation the last work at or before it in its queue, and the first at or after it: plus
 * one, 0: none. */
static void find_work(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;

	for (size_t q = 0; q < work->queue_count; q++) {
		size_t first = work->queues[q].first, end = first + work->queues[q].count;
		uint32_t last = 0, next = 0;

		for (size_t i = first; i < end; i++) {
			last = wti_work_is_work(&work->ops[i]) ? (uint32_t)i + 1 : last;
			queues->before[i] = last;
		}
		for (size_t i = end; i-- > first;) {
			next = wti_work_is_work(&work->ops[i]) ? (uint32_t)i + 1 : next;
			queues->after[i] = next;
		}
	}
}

static void sync_edge(struct queues *queues, uint32_t op, uint32_t sync)
{
	const struct wti_work *work = queues->graph->work;

	if (op && work->ops[sync].call)
		add(queues->graph, wti_path_op_node(work, op - 1, true),
		    wti_path_call_node(work->ops[sync].call - 1, true), false, WTI_PATH_EDGE_SYNC);
}

/* Events, and synchronisations whose edges the trace has. */
static void take_edges(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;

	for (size_t i = 0; i < work->edge_count; i++) {
		const struct wti_work_edge *edge = &work->edges[i];
		uint32_t from, to;

		if (!edge->from || !edge->to)
			continue;
		from = queues->before[edge->from - 1];
		if (edge->type == WT_EDGE_RECORD_WAIT) {
			to = queues->after[edge->to - 1];
			if (from && to && from != to &&
			    (!queues->sync_of[to - 1] ||
			     work->ops[queues->sync_of[to - 1] - 1].end_ns <
				     work->ops[from - 1].end_ns))
				queues->sync_of[to - 1] = from;
		} else if (edge->type == WT_EDGE_SYNC) {
			queues->has_edge[edge->to - 1] = true;
			sync_edge(queues, from, (uint32_t)edge->to - 1);
		}
	}
}

/* Without an edge: all before it in its queue, or in all queues of the process. */
static void take_sync(struct queues *queues, uint32_t sync)
{
	const struct wti_work *work = queues->graph->work;
	const struct wti_work_queue *own = &work->queues[work->ops[sync].queue];

	if (queues->has_edge[sync])
		return;
	if (own->is_queue) {
		sync_edge(queues, queues->last[work->ops[sync].queue], sync);
		return;
	}
	if (strstr(wti_symbol_text(&work->symbols, work->ops[sync].name), "Event"))
		return;
	for (size_t q = 0; q < work->queue_count; q++)
		if (work->queues[q].stream == own->stream)
			sync_edge(queues, queues->last[q], sync);
}

static void take_work(struct queues *queues, uint32_t at)
{
	const struct wti_work *work = queues->graph->work;
	const struct wti_work_op *op = &work->ops[at];
	const struct wti_work_call *call = wti_work_launch(work, op);
	uint32_t last = queues->last[op->queue], sync = queues->sync_of[at];
	uint32_t start = wti_path_op_node(work, at, false);
	int64_t last_ns = last ? work->ops[last - 1].end_ns : INT64_MIN;
	int64_t sync_ns = sync ? work->ops[sync - 1].end_ns : INT64_MIN;
	bool is_first = op->in_graph || (op->alone && op->at_once);
	bool by_launch = call && is_first && last_ns < call->begin_ns && sync_ns < call->begin_ns;

	add(queues->graph, start, start + 1, true, WTI_PATH_EDGE_SPAN);
	if (sync)
		add(queues->graph, wti_path_op_node(work, sync - 1, true), start, false,
		    WTI_PATH_EDGE_SYNC);
	if (by_launch)
		add(queues->graph, wti_path_call_node(op->call - 1, false), start, true,
		    WTI_PATH_EDGE_LAUNCH);
	else if (last && sync_ns < last_ns)
		add(queues->graph, wti_path_op_node(work, last - 1, true), start, true,
		    WTI_PATH_EDGE_QUEUE);
	if (queues->all_launches && call && !by_launch)
		add(queues->graph, wti_path_call_node(op->call - 1, false), start, false,
		    WTI_PATH_EDGE_LAUNCH);
	queues->last[op->queue] = at + 1;
}

static void order_rows(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];

		if (wti_work_is_work(op) || op->op == WT_OP_SYNC)
			queues->rows[queues->row_count++] = (struct row){
				op->op == WT_OP_SYNC ? op->end_ns : op->start_ns, (uint32_t)i};
	}
	if (queues->row_count)
		qsort(queues->rows, queues->row_count, sizeof(*queues->rows), by_ns);
}

static void add_queues(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;

	memset(queues->last, 0, (work->queue_count + 1) * sizeof(*queues->last));
	take_edges(queues);
	for (size_t i = 0; i < queues->row_count; i++) {
		uint32_t op = queues->rows[i].op;

		if (work->ops[op].op == WT_OP_SYNC)
			take_sync(queues, op);
		else
			take_work(queues, op);
	}
}

static int allocate(struct queues *queues, const struct wti_work *work)
{
	queues->rows = malloc((work->op_count + 1) * sizeof(*queues->rows));
	queues->last = calloc(work->queue_count + 1, sizeof(*queues->last));
	queues->sync_of = calloc(work->op_count + 1, sizeof(*queues->sync_of));
	queues->has_edge = calloc(work->op_count + 1, sizeof(*queues->has_edge));
	queues->before = calloc(work->op_count + 1, sizeof(*queues->before));
	queues->after = calloc(work->op_count + 1, sizeof(*queues->after));
	return queues->rows && queues->last && queues->sync_of && queues->has_edge &&
			       queues->before && queues->after
		       ? 0
		       : WT_E_NOMEM;
}

static void release(struct queues *queues)
{
	free(queues->rows);
	free(queues->last);
	free(queues->sync_of);
	free(queues->has_edge);
	free(queues->before);
	free(queues->after);
}

/* ---- The graph ------------------------------------------------------------------------------- */

static int fill(struct wti_path_graph *graph, const struct calls *calls, struct queues *queues)
{
	uint32_t *edges;

	graph->first = calloc(graph->node_count + 2, sizeof(*graph->first));
	if (!graph->first)
		return WT_E_NOMEM;
	add_threads(graph, calls);
	add_queues(queues);
	if (graph->edge_count > UINT32_MAX - 1)
		return WT_E_LIMIT;
	for (size_t n = 1; n < graph->node_count + 2; n++)
		graph->first[n] += graph->first[n - 1];
	edges = malloc((graph->edge_count + 1) * sizeof(*edges));
	if (!edges)
		return WT_E_NOMEM;
	graph->edges = edges;
	add_threads(graph, calls);
	add_queues(queues);
	return 0;
}

static int make(struct wti_path_graph *graph, bool all_launches)
{
	struct queues queues = {.graph = graph, .all_launches = all_launches};
	struct calls calls = {0};
	int r = allocate(&queues, graph->work);

	if (!r)
		r = order_calls(&calls, graph->work);
	if (!r) {
		find_work(&queues);
		order_rows(&queues);
		r = fill(graph, &calls, &queues);
	}
	release(&queues);
	free(calls.all);
	free(calls.first);
	return r;
}

int wti_path_graph_make(struct wti_path_graph *graph, const struct wti_work *work,
			bool all_launches, struct wt_err *err)
{
	int r;

	*graph = (struct wti_path_graph){.work = work,
					 .node_count = 2 * (work->call_count + work->op_count)};
	r = graph->node_count < NODES_MAX ? make(graph, all_launches) : WT_E_LIMIT;
	if (r == WT_E_LIMIT)
		return wti_err(err, r,
			       "too many operations for a critical path: give --from and --to");
	return r ? wti_err(err, r, "out of memory for the critical path") : 0;
}

void wti_path_graph_release(struct wti_path_graph *graph)
{
	free(graph->first);
	free(graph->edges);
	*graph = (struct wti_path_graph){0};
}

/* ---- What an edge is about ------------------------------------------------------------------- */

struct wti_path_subject wti_path_subject(const struct wti_path_graph *graph,
					 const struct wti_path_edge *edge)
{
	size_t calls = graph->work->call_count;
	bool from_end = edge->from & 1, to_end = edge->to & 1;

	if (edge->from / 2 >= calls)
		return (struct wti_path_subject){.op = (uint32_t)(edge->from / 2 - calls) + 1};
	if (edge->to / 2 >= calls)
		return (struct wti_path_subject){.op = (uint32_t)(edge->to / 2 - calls) + 1};
	if (!from_end)
		return (struct wti_path_subject){.call = edge->from / 2 + 1};
	if (to_end)
		return (struct wti_path_subject){.call = edge->to / 2 + 1};
	return (struct wti_path_subject){.call = parent_of(graph->work, edge->from / 2)};
}

uint32_t wti_path_name(const struct wti_work *work, struct wti_path_subject subject)
{
	if (subject.op)
		return work->ops[subject.op - 1].name;
	return subject.call ? work->calls[subject.call - 1].name : WTI_SYMBOL_NONE;
}
