/* SPDX-License-Identifier: Apache-2.0 */
/* The longest path through the graph, in linear time: nodes in an order that edges respect. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "path_graph.h"

struct search {
	const struct wti_path_graph *graph;
	uint32_t *first;   /* by node: its first edge in `out`; one more at the end */
	uint32_t *out;     /* edges by the node that they leave */
	uint32_t *waiting; /* by node: edges into it that were not followed yet */
	uint32_t *ready;   /* nodes that wait for none; all that were, in order */
	uint32_t *by;      /* by node: the edge plus one that gives its distance */
	int64_t *distance_ns;
};

static int allocate(struct search *s)
{
	size_t nodes = s->graph->node_count + 2, edges = s->graph->edge_count + 1;

	s->first = calloc(nodes, sizeof(*s->first));
	s->out = malloc(edges * sizeof(*s->out));
	s->waiting = calloc(nodes, sizeof(*s->waiting));
	s->ready = malloc(nodes * sizeof(*s->ready));
	s->by = calloc(nodes, sizeof(*s->by));
	s->distance_ns = calloc(nodes, sizeof(*s->distance_ns));
	return s->first && s->out && s->waiting && s->ready && s->by && s->distance_ns ? 0
										       : WT_E_NOMEM;
}

static void release(struct search *s)
{
	free(s->first);
	free(s->out);
	free(s->waiting);
	free(s->ready);
	free(s->by);
	free(s->distance_ns);
}

static void sort_edges(struct search *s)
{
	const struct wti_path_graph *graph = s->graph;

	for (size_t i = 0; i < graph->edge_count; i++) {
		s->first[graph->edges[i].from + 2]++;
		s->waiting[graph->edges[i].to]++;
	}
	for (size_t n = 1; n < graph->node_count + 2; n++)
		s->first[n] += s->first[n - 1];
	for (size_t i = 0; i < graph->edge_count; i++)
		s->out[s->first[graph->edges[i].from + 1]++] = (uint32_t)i;
}

static void follow(struct search *s, uint32_t node, size_t *ready_count)
{
	for (uint32_t i = s->first[node]; i < s->first[node + 1]; i++) {
		const struct wti_path_edge *edge = &s->graph->edges[s->out[i]];
		int64_t ns = wti_sum(s->distance_ns[node], edge->weight_ns);

		if (!s->by[edge->to] || ns > s->distance_ns[edge->to]) {
			s->distance_ns[edge->to] = ns;
			s->by[edge->to] = s->out[i] + 1;
		}
		if (!--s->waiting[edge->to])
			s->ready[(*ready_count)++] = edge->to;
	}
}

/* The node with the largest distance. Nodes in a circle, which nonsense may have, are not reached.
 */
static uint32_t search(struct search *s)
{
	size_t count = 0;
	uint32_t best = 0;

	for (uint32_t n = 0; n < s->graph->node_count; n++)
		if (!s->waiting[n])
			s->ready[count++] = n;
	for (size_t i = 0; i < count; i++) {
		follow(s, s->ready[i], &count);
		if (s->distance_ns[s->ready[i]] > s->distance_ns[best])
			best = s->ready[i];
	}
	return best;
}

static int trace_back(const struct search *s, uint32_t node, uint32_t **ret_edges,
		      size_t *ret_count)
{
	size_t count = 0;
	uint32_t *edges;

	for (uint32_t n = node; s->by[n]; n = s->graph->edges[s->by[n] - 1].from)
		count++;
	edges = malloc((count + 1) * sizeof(*edges));
	if (!edges)
		return WT_E_NOMEM;
	count = 0;
	for (uint32_t n = node; s->by[n]; n = s->graph->edges[s->by[n] - 1].from)
		edges[count++] = s->by[n] - 1;
	*ret_edges = edges;
	*ret_count = count;
	return 0;
}

int wti_path_longest(const struct wti_path_graph *graph, uint32_t **ret_edges, size_t *ret_count,
		     int64_t *ret_ns, struct wt_err *err)
{
	struct search s = {.graph = graph};
	int r = allocate(&s);

	if (!r) {
		uint32_t last;

		sort_edges(&s);
		last = search(&s);
		*ret_ns = s.distance_ns[last];
		r = trace_back(&s, last, ret_edges, ret_count);
	}
	release(&s);
	return r ? wti_err(err, r, "out of memory for the critical path") : 0;
}
