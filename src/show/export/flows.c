/* SPDX-License-Identifier: Apache-2.0 */
/* Hides two sorted indices over edges and a hash table of launches. */
#include "flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/label.h"
#include "trace/protocol.h"

#define EDGES_MAX ((size_t)6 << 20)
#define LAUNCHES_MAX ((size_t)1 << 20)
#define LAUNCH_IDS ((uint64_t)1 << 32) /* above all numbers of edges */

struct wti_edge {
	uint64_t from;
	uint64_t to;
	int64_t from_ns; /* INT64_MAX: there is no such operation */
	int64_t to_ns;   /* INT64_MIN: there is no such operation */
	uint32_t stream;
	uint16_t type;
	bool begun; /* its beginning has been written */
	bool ended;
};

struct wti_flow_launch {
	uint64_t correlation;
	uint64_t id; /* 0: the slot is free */
	int64_t time_ns;
	uint32_t stream;
};

/* ---- Edges ----------------------------------------------------------------------------------- */

static int add_edge(struct wti_flows *flows, const struct wti_edge *edge)
{
	if (flows->edge_count == EDGES_MAX) {
		flows->left_out_count++;
		return 0;
	}
	if (wti_grow(&flows->edges, flows->edge_count + 1, &flows->edge_capacity, EDGES_MAX))
		return WT_E_NOMEM;
	flows->edges[flows->edge_count++] = *edge;
	return 0;
}

static bool kind_wanted(const struct wt_query *query, const char *kind)
{
	for (size_t i = 0; query->kinds && i < query->kind_count; i++) {
		if (!strcmp(query->kinds[i], kind))
			return true;
	}
	return !query->kinds;
}

/* Calls `take` with all events of a kind that the query lets through. */
static int for_each(struct wti_flows *flows, const struct wt_trace *trace,
		    const struct wt_query *query, const char *kind, uint32_t fields,
		    int (*take)(struct wti_flows *flows, const struct wt_event *event),
		    struct wt_err *err)
{
	struct wt_query only = *query;
	struct wt_cursor *cursor;
	struct wt_event event;
	int status;

	if (!kind_wanted(query, kind))
		return 0;
	only.kinds = &kind;
	only.kind_count = 1;
	only.fields = fields;
	status = wt_cursor_open(trace, &only, &cursor, err);
	if (status)
		return status;
	while ((status = wt_cursor_next(cursor, &event, err)) > 0) {
		status = take(flows, &event);
		if (status) {
			wti_err(err, status, "out of memory for the edges of the run");
			break;
		}
	}
	wt_cursor_free(cursor);
	return status;
}

static int take_edge(struct wti_flows *flows, const struct wt_event *event)
{
	struct wti_edge edge = {
		.from = wt_event_u64(event, WT_EDGE_FIELD_FROM),
		.to = wt_event_u64(event, WT_EDGE_FIELD_TO),
		.from_ns = INT64_MAX,
		.to_ns = INT64_MIN,
		.stream = (uint32_t)event->stream,
		.type = (uint16_t)wt_event_u64(event, WT_EDGE_FIELD_TYPE),
	};

	if (event->kind->number != WT_KIND_EDGE || edge.type == WT_EDGE_LAUNCH ||
	    edge.from == edge.to || !edge.from || !edge.to)
		return 0;
	flows->names_events |= (edge.from | edge.to) >> 63;
	return add_edge(flows, &edge);
}

static int by_from(const void *a, const void *b, void *edges)
{
	const struct wti_edge *x = (struct wti_edge *)edges + *(const uint32_t *)a;
	const struct wti_edge *y = (struct wti_edge *)edges + *(const uint32_t *)b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_to(const void *a, const void *b, void *edges)
{
	const struct wti_edge *x = (struct wti_edge *)edges + *(const uint32_t *)a;
	const struct wti_edge *y = (struct wti_edge *)edges + *(const uint32_t *)b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint32_t *sorted(const struct wti_flows *flows,
			int (*compare)(const void *a, const void *b, void *edges))
{
	uint32_t *places = malloc(sizeof(*places) * flows->edge_count);

	if (!places)
		return NULL;
	for (size_t i = 0; i < flows->edge_count; i++)
		places[i] = (uint32_t)i;
	qsort_r(places, flows->edge_count, sizeof(*places), compare, flows->edges);
	return places;
}

static uint64_t key_at(const struct wti_flows *flows, bool to, size_t at)
{
	return to ? flows->edges[flows->by_to[at]].to : flows->edges[flows->by_from[at]].from;
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

/* When what edges name begins; of several with one number the first counts. */
static void take_end(struct wti_flows *flows, const struct wt_event *event, uint64_t correlation,
		     int64_t begin_ns)
{
	size_t out = find(flows, false, &flows->near_from, correlation);
	size_t in = find(flows, true, &flows->near_to, correlation);

	for (; out < flows->edge_count && key_at(flows, false, out) == correlation; out++) {
		struct wti_edge *edge = &flows->edges[flows->by_from[out]];

		if (edge->from_ns == INT64_MAX && concerns(edge, event->stream))
			edge->from_ns = begin_ns;
	}
	for (; in < flows->edge_count && key_at(flows, true, in) == correlation; in++) {
		struct wti_edge *edge = &flows->edges[flows->by_to[in]];

		if (edge->to_ns == INT64_MIN && concerns(edge, event->stream))
			edge->to_ns = begin_ns;
	}
}

static int take_op(struct wti_flows *flows, const struct wt_event *event)
{
	const uint32_t clock = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_CLOCK);
	const uint64_t started = wt_event_u64(event, WT_DEVICE_OP_FIELD_STARTED);
	const int64_t begin_ns =
		wti_device_op_has_times(event)
			? wt_trace_domain_ns(event->trace, event->stream, clock, started)
			: event->time_ns;

	take_end(flows, event, wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION), begin_ns);
	return 0;
}

static int take_begin(struct wti_flows *flows, const struct wt_event *event)
{
	take_end(flows, event, wti_event_correlation(event->track, (uint32_t)event->seq),
		 event->time_ns);
	return 0;
}

/* Edges that name events: calls and operators have them. */
static int take_begins(struct wti_flows *flows, const struct wt_trace *trace,
		       const struct wt_query *query, struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin", "operator_begin"};
	int status = 0;

	for (size_t i = 0; i < 2 && !status && flows->names_events; i++)
		status = for_each(flows, trace, query, kinds[i], 0, take_begin, err);
	return status;
}

int wti_flows_init(struct wti_flows *flows, const struct wt_trace *trace,
		   const struct wt_query *query, struct wt_err *err)
{
	static const uint32_t op_fields =
		1u << WT_DEVICE_OP_FIELD_CORRELATION | 1u << WT_DEVICE_OP_FIELD_CLOCK |
		1u << WT_DEVICE_OP_FIELD_STARTED | 1u << WT_DEVICE_OP_FIELD_ENDED;
	int status;

	*flows = (struct wti_flows){.launch_slots = 1024};
	flows->launches = calloc(flows->launch_slots, sizeof(*flows->launches));
	if (!flows->launches)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	status = for_each(flows, trace, query, "edge", WT_ALL_FIELDS, take_edge, err);
	if (status || !flows->edge_count)
		return status;
	flows->by_from = sorted(flows, by_from);
	flows->by_to = sorted(flows, by_to);
	if (!flows->by_from || !flows->by_to)
		return wti_err(err, WT_E_NOMEM, "out of memory for the edges of the run");
	status = for_each(flows, trace, query, "device_op", op_fields, take_op, err);
	return status ? status : take_begins(flows, trace, query, err);
}

void wti_flows_release(struct wti_flows *flows)
{
	free(flows->edges);
	free(flows->by_from);
	free(flows->by_to);
	free(flows->launches);
	*flows = (struct wti_flows){0};
}

static void find_outgoing(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  int64_t time_ns, struct wti_flow_ends *ends)
{
	size_t at = find(flows, false, &flows->near_from, correlation);

	for (; at < flows->edge_count && key_at(flows, false, at) == correlation; at++) {
		struct wti_edge *edge = &flows->edges[flows->by_from[at]];

		if (edge->begun || edge->from_ns != time_ns || edge->to_ns < time_ns ||
		    !concerns(edge, stream))
			continue;
		if (ends->out_count == WTI_FLOWS_EACH) {
			if (!edge->ended)
				edge->from_ns = INT64_MAX;
			flows->left_out_count++;
			continue;
		}
		edge->begun = true;
		ends->out[ends->out_count++] =
			(struct wti_flow){flows->by_from[at] + (uint64_t)1, edge->type};
	}
}

static void find_incoming(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  int64_t time_ns, struct wti_flow_ends *ends)
{
	size_t at = find(flows, true, &flows->near_to, correlation);

	for (; at < flows->edge_count && key_at(flows, true, at) == correlation; at++) {
		struct wti_edge *edge = &flows->edges[flows->by_to[at]];

		if (edge->ended || edge->to_ns != time_ns || edge->from_ns > time_ns ||
		    !concerns(edge, stream))
			continue;
		/* Among equal times readers keep the order of writing: too late for this one. */
		if (edge->from_ns == time_ns && !edge->begun) {
			edge->from_ns = INT64_MAX;
			continue;
		}
		if (ends->in_count == WTI_FLOWS_EACH) {
			flows->left_out_count++;
			continue;
		}
		edge->ended = true;
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
static struct wti_flow_launch *find_launch(const struct wti_flows *flows, size_t stream,
					   uint64_t correlation)
{
	size_t at = launch_slot(flows, stream, correlation);

	for (;; at = (at + 1) & (flows->launch_slots - 1)) {
		struct wti_flow_launch *launch = &flows->launches[at];

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
		const struct wti_flow_launch *old = &flows->launches[i];

		if (old->id)
			*find_launch(&bigger, old->stream, old->correlation) = *old;
	}
	free(flows->launches);
	*flows = bigger;
	return true;
}

uint64_t wti_flows_launch(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  int64_t time_ns)
{
	struct wti_flow_launch *launch;

	if (!grow_launches(flows)) {
		flows->left_out_count++;
		return 0;
	}
	launch = find_launch(flows, stream, correlation);
	if (launch->id)
		return 0; /* emitted twice: one arrow is enough */
	flows->launch_count++;
	*launch = (struct wti_flow_launch){correlation, LAUNCH_IDS + flows->launch_next++, time_ns,
					   (uint32_t)stream};
	return launch->id;
}

/* Frees the slot and closes the gap, so that what follows is still found. */
static void forget_launch(struct wti_flows *flows, struct wti_flow_launch *launch)
{
	size_t mask = flows->launch_slots - 1;
	size_t gap = (size_t)(launch - flows->launches);

	for (size_t at = (gap + 1) & mask; flows->launches[at].id; at = (at + 1) & mask) {
		const struct wti_flow_launch *next = &flows->launches[at];
		size_t home = launch_slot(flows, next->stream, next->correlation);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue; /* it must not move before its home */
		flows->launches[gap] = *next;
		gap = at;
	}
	flows->launches[gap].id = 0;
	flows->launch_count--;
}

void wti_flows_of(struct wti_flows *flows, size_t stream, uint64_t correlation, int64_t time_ns,
		  struct wti_flow_ends *ret_ends)
{
	struct wti_flow_launch *launch = find_launch(flows, stream, correlation);

	ret_ends->out_count = 0;
	ret_ends->in_count = 0;
	if (launch->id) {
		if (launch->time_ns <= time_ns)
			ret_ends->in[ret_ends->in_count++] =
				(struct wti_flow){launch->id, WT_EDGE_LAUNCH};
		forget_launch(flows, launch);
	}
	if (!flows->edge_count)
		return;
	find_outgoing(flows, stream, correlation, time_ns, ret_ends);
	find_incoming(flows, stream, correlation, time_ns, ret_ends);
}

void wti_flows_of_event(struct wti_flows *flows, size_t stream, uint32_t track, uint32_t seq,
			int64_t time_ns, struct wti_flow_ends *ret_ends)
{
	const uint64_t correlation = wti_event_correlation(track, seq);

	ret_ends->out_count = 0;
	ret_ends->in_count = 0;
	if (!flows->names_events)
		return;
	find_outgoing(flows, stream, correlation, time_ns, ret_ends);
	find_incoming(flows, stream, correlation, time_ns, ret_ends);
}
