/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of a critical path: nodes are begins and ends of host calls and device operations,
 * edges say what had to be over first and how long it took. The rules are those of
 * HolisticTraceAnalysis (docs/devices.md); the longest path through it is the critical path.
 */
#ifndef WTI_DEVICE_PATH_GRAPH_H
#define WTI_DEVICE_PATH_GRAPH_H

#include "work.h"

enum wti_path_edge_type {
	WTI_PATH_EDGE_SPAN,   /* inside a call or an operation */
	WTI_PATH_EDGE_NEXT,   /* from a call to the next of its thread: no time */
	WTI_PATH_EDGE_LAUNCH, /* from a call to the operation that it launched */
	WTI_PATH_EDGE_QUEUE,  /* from an operation to the next of its queue */
	WTI_PATH_EDGE_SYNC,   /* somebody waited: no time */
	WTI_PATH_EDGE_TYPES,
};

struct wti_path_edge {
	uint32_t from, to; /* nodes */
	enum wti_path_edge_type type;
	int64_t weight_ns;
};

/*
 * A node takes 4 bytes and an edge as many: edges stand behind one another by the node that they
 * leave, in the order in which they were found, and how long one takes follows from the times of
 * its nodes.
 */
struct wti_path_graph {
	const struct wti_work *work;
	uint32_t *first; /* by node: its first edge; one more at the end */
	uint32_t *edges; /* wti_path_edge_at() */
	size_t edge_count, node_count;
	const bool *is_changed; /* by symbol: what if; NULL: nothing is */
	double share;           /* then: of its time */
};

/* Node of a call or an operation: its begin, or its end. */
static inline uint32_t wti_path_call_node(uint32_t call, bool end)
{
	return 2 * call + end;
}

static inline uint32_t wti_path_op_node(const struct wti_work *work, uint32_t op, bool end)
{
	return (uint32_t)(2 * (work->call_count + op) + end);
}

/* `all_launches`: every operation also depends on its call, without time: for what-if. */
int wti_path_graph_make(struct wti_path_graph *graph, const struct wti_work *work,
			bool all_launches, struct wt_err *err);
void wti_path_graph_release(struct wti_path_graph *graph);

/* An edge by its number; `from` is the node that it leaves. */
struct wti_path_edge wti_path_edge_at(const struct wti_path_graph *graph, uint32_t from,
				      uint32_t number);
/* Where an edge goes, and the node that it leaves. */
uint32_t wti_path_edge_to(const struct wti_path_graph *graph, uint32_t number);
uint32_t wti_path_from(const struct wti_path_graph *graph, uint32_t number);

/* The numbers of the edges of the longest path, from its end back to its beginning, and its length;
 * to be freed.
 */
int wti_path_longest(const struct wti_path_graph *graph, uint32_t **ret_edges, size_t *ret_count,
		     int64_t *ret_ns, struct wt_err *err);

/* What an edge is about: index of a call or operation plus one, 0: nothing. */
struct wti_path_subject {
	uint32_t call, op;
};
struct wti_path_subject wti_path_subject(const struct wti_path_graph *graph,
					 const struct wti_path_edge *edge);
/* Symbol of its name; WTI_SYMBOL_NONE: it has none. */
uint32_t wti_path_name(const struct wti_work *work, struct wti_path_subject subject);

#endif
