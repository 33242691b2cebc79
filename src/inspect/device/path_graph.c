/* SPDX-License-Identifier: Apache-2.0 */
/* Making the graph: threads, then queues. */
#include "path_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

static int add(struct wti_path_graph *graph, uint32_t from, uint32_t to, int64_t weight_ns,
	       enum wti_path_edge_type type)
{
	int r = wti_grow(&graph->edges, graph->edge_count + 1, &graph->edge_capacity, UINT32_MAX);

	if (!r)
		graph->edges[graph->edge_count++] = (struct wti_path_edge){
			from, to, weight_ns > 0 ? weight_ns : 0, (uint32_t)type};
	return r;
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
	int64_t last_ns;
};

static int enter(struct walk *walk, uint32_t call)
{
	const struct wti_work_call *c = &walk->graph->work->calls[call];
	uint32_t node = wti_path_call_node(call, false);
	int r = 0;

	if (!walk->stack && walk->top)
		r = add(walk->graph, walk->top - 1, node, 0, WTI_PATH_EDGE_NEXT);
	if (!r && walk->last)
		r = add(walk->graph, walk->last - 1, node, c->begin_ns - walk->last_ns,
			WTI_PATH_EDGE_SPAN);
	walk->stack = call + 1;
	walk->last = node + 1;
	walk->last_ns = c->begin_ns;
	return r;
}

static int leave(struct walk *walk)
{
	uint32_t call = walk->stack - 1;
	const struct wti_work_call *c = &walk->graph->work->calls[call];
	uint32_t node = wti_path_call_node(call, true);
	int64_t weight = c->flags & WTI_WORK_BLOCKS ? 0 : c->end_ns - walk->last_ns;
	int r = add(walk->graph, walk->last - 1, node, weight, WTI_PATH_EDGE_SPAN);

	walk->stack = parent_of(walk->graph->work, call);
	walk->last = walk->stack ? node + 1 : 0;
	walk->last_ns = c->end_ns;
	if (!walk->stack)
		walk->top = node + 1;
	return r;
}

struct place { /* of a call in the order of its thread */
	int64_t begin_ns, end_ns;
	uint32_t call;
	uint16_t thread;
};

static int by_thread(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int walk_threads(struct wti_path_graph *graph, const struct place *places, size_t count)
{
	struct walk walk = {.graph = graph};
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		uint32_t parent = parent_of(graph->work, places[i].call);

		if (i && places[i].thread != places[i - 1].thread)
			parent = 0;
		while (!r && walk.stack && walk.stack != parent)
			r = leave(&walk);
		if (i && places[i].thread != places[i - 1].thread)
			walk = (struct walk){.graph = graph};
		if (!r)
			r = enter(&walk, places[i].call);
	}
	while (!r && walk.stack)
		r = leave(&walk);
	return r;
}

static int add_threads(struct wti_path_graph *graph)
{
	const struct wti_work *work = graph->work;
	struct place *places = malloc((work->call_count + 1) * sizeof(*places));
	size_t count = 0;
	int r;

	if (!places)
		return WT_E_NOMEM;
	for (size_t i = 0; i < work->call_count; i++) {
		const struct wti_work_call *call = &work->calls[i];

		if (is_node(call))
			places[count++] = (struct place){call->begin_ns, call->end_ns, (uint32_t)i,
							 call->thread};
	}
	if (count)
		qsort(places, count, sizeof(*places), by_thread);
	r = walk_threads(graph, places, count);
	free(places);
	return r;
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

static int sync_edge(struct queues *queues, uint32_t op, uint32_t sync)
{
	const struct wti_work *work = queues->graph->work;

	if (!op || !work->ops[sync].call)
		return 0;
	return add(queues->graph, wti_path_op_node(work, op - 1, true),
		   wti_path_call_node(work->ops[sync].call - 1, true), 0, WTI_PATH_EDGE_SYNC);
}

/* Events, and synchronisations whose edges the trace has. */
static int take_edges(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;
	int r = 0;

	for (size_t i = 0; !r && i < work->edge_count; i++) {
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
			r = sync_edge(queues, from, (uint32_t)edge->to - 1);
		}
	}
	return r;
}

/* Without an edge: all before it in its queue, or in all queues of the process. */
static int take_sync(struct queues *queues, uint32_t sync)
{
	const struct wti_work *work = queues->graph->work;
	const struct wti_work_queue *own = &work->queues[work->ops[sync].queue];
	int r = 0;

	if (queues->has_edge[sync])
		return 0;
	if (own->is_queue)
		return sync_edge(queues, queues->last[work->ops[sync].queue], sync);
	if (strstr(wti_symbol_text(&work->symbols, work->ops[sync].name), "Event"))
		return 0;
	for (size_t q = 0; !r && q < work->queue_count; q++)
		if (work->queues[q].stream == own->stream)
			r = sync_edge(queues, queues->last[q], sync);
	return r;
}

static int take_work(struct queues *queues, uint32_t at)
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
	int r = add(queues->graph, start, start + 1, op->end_ns - op->start_ns, WTI_PATH_EDGE_SPAN);

	if (!r && sync)
		r = add(queues->graph, wti_path_op_node(work, sync - 1, true), start, 0,
			WTI_PATH_EDGE_SYNC);
	if (!r && by_launch)
		r = add(queues->graph, wti_path_call_node(op->call - 1, false), start,
			op->start_ns - call->begin_ns, WTI_PATH_EDGE_LAUNCH);
	else if (!r && last && sync_ns < last_ns)
		r = add(queues->graph, wti_path_op_node(work, last - 1, true), start,
			op->start_ns - last_ns, WTI_PATH_EDGE_QUEUE);
	if (!r && queues->all_launches && call && !by_launch)
		r = add(queues->graph, wti_path_call_node(op->call - 1, false), start, 0,
			WTI_PATH_EDGE_LAUNCH);
	queues->last[op->queue] = at + 1;
	return r;
}

static int add_queues(struct queues *queues)
{
	const struct wti_work *work = queues->graph->work;
	struct row *rows = malloc((work->op_count + 1) * sizeof(*rows));
	size_t count = 0;
	int r = rows ? take_edges(queues) : WT_E_NOMEM;

	for (size_t i = 0; !r && i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];

		if (wti_work_is_work(op) || op->op == WT_OP_SYNC)
			rows[count++] = (struct row){
				op->op == WT_OP_SYNC ? op->end_ns : op->start_ns, (uint32_t)i};
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_ns);
	for (size_t i = 0; !r && i < count; i++)
		r = work->ops[rows[i].op].op == WT_OP_SYNC ? take_sync(queues, rows[i].op)
							   : take_work(queues, rows[i].op);
	free(rows);
	return r;
}

static bool allocate(struct queues *queues, const struct wti_work *work)
{
	queues->last = calloc(work->queue_count + 1, sizeof(*queues->last));
	queues->sync_of = calloc(work->op_count + 1, sizeof(*queues->sync_of));
	queues->has_edge = calloc(work->op_count + 1, sizeof(*queues->has_edge));
	queues->before = calloc(work->op_count + 1, sizeof(*queues->before));
	queues->after = calloc(work->op_count + 1, sizeof(*queues->after));
	return queues->last && queues->sync_of && queues->has_edge && queues->before &&
	       queues->after;
}

static void release(struct queues *queues)
{
	free(queues->last);
	free(queues->sync_of);
	free(queues->has_edge);
	free(queues->before);
	free(queues->after);
}

int wti_path_graph_make(struct wti_path_graph *graph, const struct wti_work *work,
			bool all_launches, struct wt_err *err)
{
	struct queues queues = {.graph = graph, .all_launches = all_launches};
	int r;

	*graph = (struct wti_path_graph){.work = work,
					 .node_count = 2 * (work->call_count + work->op_count)};
	if (graph->node_count >= UINT32_MAX)
		return wti_err(err, WT_E_LIMIT,
			       "too many operations for a critical path: give "
			       "--from and --to");
	r = allocate(&queues, work) ? add_threads(graph) : WT_E_NOMEM;
	if (!r) {
		find_work(&queues);
		r = add_queues(&queues);
	}
	release(&queues);
	return r ? wti_err(err, r, "out of memory for the critical path") : 0;
}

void wti_path_graph_release(struct wti_path_graph *graph)
{
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
