/* SPDX-License-Identifier: Apache-2.0 */
#include "flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define EDGES_MAX ((size_t)8 << 20)
#define LAUNCHES_MAX ((size_t)1 << 20)
#define LAUNCH_IDS ((uint64_t)1 << 32) /* above all numbers of edges */

struct wti_edge {
	uint64_t from;
	uint64_t to;
	uint32_t stream;
	uint16_t type;
	bool begun; /* its beginning has been written */
};

struct wti_launch {
	uint64_t correlation;
	uint64_t id; /* 0: the slot is free */
	uint32_t stream;
};

/* ---- Edges ----------------------------------------------------------------------------------- */

static int add_edge(struct wti_flows *flows, const struct wti_edge *edge)
{
	if (flows->edge_count == EDGES_MAX) {
		flows->left_out_count++;
		return 0;
	}
	if (flows->edge_count == flows->edge_capacity) {
		size_t capacity = flows->edge_capacity ? flows->edge_capacity * 2 : 1024;
		struct wti_edge *more = realloc(flows->edges, sizeof(*more) * capacity);

		if (!more)
			return WT_E_NOMEM;
		flows->edges = more;
		flows->edge_capacity = capacity;
	}
	flows->edges[flows->edge_count++] = *edge;
	return 0;
}

static bool edges_wanted(const struct wt_query *query)
{
	if (!query->kinds)
		return true;
	for (size_t i = 0; i < query->kind_count; i++) {
		if (!strcmp(query->kinds[i], "edge"))
			return true;
	}
	return false;
}

static int read_edges(struct wti_flows *flows, const struct wt_trace *trace,
		      const struct wt_query *query, struct wt_err *err)
{
	static const char *const kinds[] = {"edge"};
	struct wt_query only = *query;
	struct wt_cursor *cursor;
	struct wt_event event;
	int status;

	only.kinds = kinds;
	only.kind_count = 1;
	status = wt_cursor_open(trace, &only, &cursor, err);
	if (status)
		return status;
	while ((status = wt_cursor_next(cursor, &event, err)) > 0) {
		struct wti_edge edge = {
			.from = wt_event_u64(&event, WT_EDGE_FIELD_FROM),
			.to = wt_event_u64(&event, WT_EDGE_FIELD_TO),
			.stream = (uint32_t)event.stream,
			.type = (uint16_t)wt_event_u64(&event, WT_EDGE_FIELD_TYPE),
		};

		if (event.kind->number != WT_KIND_EDGE || edge.type == WT_EDGE_LAUNCH)
			continue;
		status = add_edge(flows, &edge);
		if (status) {
			wti_err(err, status, "out of memory for the edges of the run");
			break;
		}
	}
	wt_cursor_free(cursor);
	return status;
}

static int by_from(const void *a, const void *b)
{
	const struct wti_edge *x = a;
	const struct wti_edge *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int by_to(const void *a, const void *b, void *edges)
{
	const struct wti_edge *x = (struct wti_edge *)edges + *(const uint32_t *)a;
	const struct wti_edge *y = (struct wti_edge *)edges + *(const uint32_t *)b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort_edges(struct wti_flows *flows, struct wt_err *err)
{
	if (!flows->edge_count)
		return 0;
	qsort(flows->edges, flows->edge_count, sizeof(*flows->edges), by_from);
	flows->by_to = malloc(sizeof(*flows->by_to) * flows->edge_count);
	if (!flows->by_to)
		return wti_err(err, WT_E_NOMEM, "out of memory for the edges of the run");
	for (size_t i = 0; i < flows->edge_count; i++)
		flows->by_to[i] = (uint32_t)i;
	qsort_r(flows->by_to, flows->edge_count, sizeof(*flows->by_to), by_to, flows->edges);
	return 0;
}

int wti_flows_init(struct wti_flows *flows, const struct wt_trace *trace,
		   const struct wt_query *query, struct wt_err *err)
{
	int status = 0;

	*flows = (struct wti_flows){.launch_slots = 1024};
	flows->launches = calloc(flows->launch_slots, sizeof(*flows->launches));
	if (!flows->launches)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (edges_wanted(query))
		status = read_edges(flows, trace, query, err);
	return status ? status : sort_edges(flows, err);
}

void wti_flows_release(struct wti_flows *flows)
{
	free(flows->edges);
	free(flows->by_to);
	free(flows->launches);
	*flows = (struct wti_flows){0};
}

static uint64_t key_at(const struct wti_flows *flows, bool to, size_t at)
{
	return to ? flows->edges[flows->by_to[at]].to : flows->edges[at].from;
}

/* The first place whose key is not below `key`. Searched from *near on, in growing strides. */
static size_t find(const struct wti_flows *flows, bool to, size_t *near, uint64_t key)
{
	size_t low = 0; /* all before are below */
	size_t high = flows->edge_count;
	size_t at = *near < high ? *near : high;

	if (at < high && key_at(flows, to, at) < key) {
		low = at + 1;
		for (size_t stride = 1; at + stride < high; stride *= 2) {
			if (key_at(flows, to, at + stride) >= key) {
				high = at + stride;
				break;
			}
			low = at + stride + 1;
		}
	} else {
		high = at;
		for (size_t stride = 1; stride <= at; stride *= 2) {
			if (key_at(flows, to, at - stride) < key) {
				low = at - stride + 1;
				break;
			}
			high = at - stride;
		}
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_at(flows, to, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	*near = low;
	return low;
}

/* Correlations are numbers of a process; only messages go from one to another. */
static bool concerns(const struct wti_edge *edge, size_t stream)
{
	return edge->stream == stream || edge->type == WT_EDGE_SEND_RECEIVE;
}

static void find_outgoing(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  struct wti_flow_ends *ends)
{
	size_t at = find(flows, false, &flows->near_from, correlation);

	for (; at < flows->edge_count && flows->edges[at].from == correlation; at++) {
		struct wti_edge *edge = &flows->edges[at];

		if (!concerns(edge, stream) || edge->begun || edge->to == correlation)
			continue;
		if (ends->out_count == WTI_FLOWS_EACH) {
			flows->left_out_count++;
			continue;
		}
		edge->begun = true;
		ends->out[ends->out_count++] = (struct wti_flow){at + 1, edge->type};
	}
}

/* An arrow without a beginning would point from nowhere: only those that have begun. */
static void find_incoming(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  struct wti_flow_ends *ends)
{
	size_t at = find(flows, true, &flows->near_to, correlation);

	for (; at < flows->edge_count; at++) {
		const struct wti_edge *edge = &flows->edges[flows->by_to[at]];

		if (edge->to != correlation)
			break;
		if (!concerns(edge, stream) || !edge->begun)
			continue;
		if (ends->in_count == WTI_FLOWS_EACH) {
			flows->left_out_count++;
			continue;
		}
		ends->in[ends->in_count++] =
			(struct wti_flow){flows->by_to[at] + (uint64_t)1, edge->type};
	}
}

/* ---- Launches -------------------------------------------------------------------------------- */

static size_t launch_slot(const struct wti_flows *flows, size_t stream, uint64_t correlation)
{
	uint64_t mixed = (correlation ^ (uint64_t)stream << 48) * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & (flows->launch_slots - 1);
}

/* The slot that has it, or the free one where it would be. */
static struct wti_launch *find_launch(const struct wti_flows *flows, size_t stream,
				      uint64_t correlation)
{
	size_t at = launch_slot(flows, stream, correlation);

	for (;; at = (at + 1) & (flows->launch_slots - 1)) {
		struct wti_launch *launch = &flows->launches[at];

		if (!launch->id || (launch->correlation == correlation && launch->stream == stream))
			return launch;
	}
}

static bool grow_launches(struct wti_flows *flows)
{
	struct wti_flows bigger = *flows;

	if (flows->launch_count >= LAUNCHES_MAX)
		return false;
	if (flows->launch_count < flows->launch_slots / 2)
		return true;
	bigger.launch_slots *= 2;
	bigger.launches = calloc(bigger.launch_slots, sizeof(*bigger.launches));
	if (!bigger.launches)
		return false;
	for (size_t i = 0; i < flows->launch_slots; i++) {
		const struct wti_launch *old = &flows->launches[i];

		if (old->id)
			*find_launch(&bigger, old->stream, old->correlation) = *old;
	}
	free(flows->launches);
	*flows = bigger;
	return true;
}

uint64_t wti_flows_launch(struct wti_flows *flows, size_t stream, uint64_t correlation)
{
	struct wti_launch *launch;

	if (!grow_launches(flows)) {
		flows->left_out_count++;
		return 0;
	}
	launch = find_launch(flows, stream, correlation);
	if (launch->id)
		return 0; /* told twice: one arrow is enough */
	flows->launch_count++;
	*launch = (struct wti_launch){correlation, LAUNCH_IDS + flows->launch_next++,
				      (uint32_t)stream};
	return launch->id;
}

/* Frees the slot and closes the gap, so that what follows is still found. */
static void forget_launch(struct wti_flows *flows, struct wti_launch *launch)
{
	size_t mask = flows->launch_slots - 1;
	size_t gap = (size_t)(launch - flows->launches);

	for (size_t at = (gap + 1) & mask; flows->launches[at].id; at = (at + 1) & mask) {
		const struct wti_launch *next = &flows->launches[at];
		size_t home = launch_slot(flows, next->stream, next->correlation);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue; /* it must not move before its home */
		flows->launches[gap] = *next;
		gap = at;
	}
	flows->launches[gap].id = 0;
	flows->launch_count--;
}

void wti_flows_of(struct wti_flows *flows, size_t stream, uint64_t correlation,
		  struct wti_flow_ends *ret_ends)
{
	struct wti_launch *launch = find_launch(flows, stream, correlation);

	ret_ends->out_count = 0;
	ret_ends->in_count = 0;
	if (launch->id) {
		ret_ends->in[ret_ends->in_count++] = (struct wti_flow){launch->id, WT_EDGE_LAUNCH};
		forget_launch(flows, launch);
	}
	if (!flows->edge_count)
		return;
	find_outgoing(flows, stream, correlation, ret_ends);
	find_incoming(flows, stream, correlation, ret_ends);
}
