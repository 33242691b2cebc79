/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest path through the graph, in linear time: nodes in an order that edges respect. Of a
 * node it keeps 13 bytes, as graphs have two of them for each call and operation of a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/number.h"
#include "path_graph.h"

/* Edges into a node that a byte cannot count wait beside it, in portions. */
#define PORTION 128u

struct search {
	const struct wti_path_graph *graph;
	uint8_t *waiting;     /* by node: edges into it that were not followed yet */
	struct wti_map more;  /* node: how many portions of them are not in `waiting` */
	uint32_t *by;         /* by node: the edge plus one that gives its distance */
	int64_t *distance_ns; /* by node */
	uint32_t *ready;      /* nodes that wait for none, first in, first out: a ring */
	size_t ready_first, ready_count, ready_capacity;
};

static int allocate(struct search *s)
{
	size_t nodes = s->graph->node_count + 1;

	s->waiting = calloc(nodes, sizeof(*s->waiting));
	s->by = calloc(nodes, sizeof(*s->by));
	s->distance_ns = calloc(nodes, sizeof(*s->distance_ns));
	wti_map_init(&s->more, nodes);
	return s->waiting && s->by && s->distance_ns ? 0 : WT_E_NOMEM;
}

static void release(struct search *s)
{
	free(s->waiting);
	free(s->by);
	free(s->distance_ns);
	free(s->ready);
	wti_map_release(&s->more);
}

/* ---- Nodes that wait, and that do not -------------------------------------------------------- */

static int expect(struct search *s, uint32_t node)
{
	uint64_t *more;

	if (s->waiting[node] < UINT8_MAX) {
		s->waiting[node]++;
		return 0;
	}
	more = wti_map_number(&s->more, node);
	if (!more)
		return WT_E_NOMEM;
	++*more;
	s->waiting[node] = UINT8_MAX - PORTION + 1;
	return 0;
}

/* An edge into it was followed. Whether that was the last. */
static bool arrive(struct search *s, uint32_t node)
{
	uint64_t *more;

	if (--s->waiting[node])
		return false;
	more = s->more.count ? wti_map_number(&s->more, node) : NULL;
	if (!more || !*more)
		return true;
	--*more;
	s->waiting[node] = PORTION;
	return false;
}

/* Twice the room; what had gone around the end goes behind what had not. */
static int make_room(struct search *s)
{
	size_t before = s->ready_capacity;
	int r = wti_grow(&s->ready, 2 * before + 1024, &s->ready_capacity, WTI_NO_CEILING);

	if (r)
		return r;
	for (size_t i = 0; i < s->ready_first; i++)
		s->ready[(before + i) % s->ready_capacity] = s->ready[i];
	return 0;
}

static int push(struct search *s, uint32_t node)
{
	int r = s->ready_count == s->ready_capacity ? make_room(s) : 0;

	if (r)
		return r;
	s->ready[(s->ready_first + s->ready_count++) % s->ready_capacity] = node;
	return 0;
}

static uint32_t pop(struct search *s)
{
	uint32_t node = s->ready[s->ready_first];

	s->ready_first = (s->ready_first + 1) % s->ready_capacity;
	s->ready_count--;
	return node;
}

/* ---- The search ------------------------------------------------------------------------------ */

static int count_edges(struct search *s)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->graph->edge_count; i++)
		r = expect(s, wti_path_edge_to(s->graph, (uint32_t)i));
	return r;
}

static int follow(struct search *s, uint32_t node)
{
	const uint32_t *first = s->graph->first;
	int r = 0;

	for (uint32_t i = first[node]; !r && i < first[node + 1]; i++) {
		struct wti_path_edge edge = wti_path_edge_at(s->graph, node, i);
		int64_t ns = wti_sum(s->distance_ns[node], edge.weight_ns);

		if (!s->by[edge.to] || ns > s->distance_ns[edge.to]) {
			s->distance_ns[edge.to] = ns;
			s->by[edge.to] = i + 1;
		}
		if (arrive(s, edge.to))
			r = push(s, edge.to);
	}
	return r;
}

/* The node with the largest distance. Nodes in a circle, which nonsense may have, are not reached,
 * and those without edges are on no path. */
static int search(struct search *s, uint32_t *ret_best)
{
	const uint32_t *first = s->graph->first;
	uint32_t best = 0;
	int r = 0;

	for (uint32_t n = 0; !r && n < s->graph->node_count; n++)
		if (!s->waiting[n] && first[n] < first[n + 1])
			r = push(s, n);
	while (!r && s->ready_count) {
		uint32_t node = pop(s);

		r = follow(s, node);
		if (s->distance_ns[node] > s->distance_ns[best])
			best = node;
	}
	*ret_best = best;
	return r;
}

static int trace_back(const struct search *s, uint32_t node, uint32_t **ret_edges,
		      size_t *ret_count)
{
	size_t count = 0;
	uint32_t *edges;

	for (uint32_t n = node; s->by[n]; n = wti_path_from(s->graph, s->by[n] - 1))
		count++;
	edges = malloc((count + 1) * sizeof(*edges));
	if (!edges)
		return WT_E_NOMEM;
	count = 0;
	for (uint32_t n = node; s->by[n]; n = wti_path_from(s->graph, s->by[n] - 1))
		edges[count++] = s->by[n] - 1;
	*ret_edges = edges;
	*ret_count = count;
	return 0;
}

int wti_path_longest(const struct wti_path_graph *graph, uint32_t **ret_edges, size_t *ret_count,
		     int64_t *ret_ns, struct wt_err *err)
{
	struct search s = {.graph = graph};
	uint32_t last = 0;
	int r = allocate(&s);

	if (!r)
		r = count_edges(&s);
	if (!r)
		r = search(&s, &last);
	if (!r) {
		*ret_ns = s.distance_ns[last];
		r = trace_back(&s, last, ret_edges, ret_count);
	}
	release(&s);
	return r ? wti_err(err, r, "out of memory for the critical path") : 0;
}
