/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrows of a timeline: which operations an edge connects.
 *
 * An edge names operations by their correlation, or begins of calls and operators by their place
 * (wti_event_correlation), and may be emitted long after them. So all edges but
 * launches are read before anything else, up to a ceiling, and then the times of the operations
 * that they name: an arrow is drawn if both ends exist and it does not point back in time.
 * Launches, of which there are as many as operations, are emitted before their operation is
 * complete: of them only those whose operation is still to come are kept.
 */
#ifndef WTI_SHOW_EXPORT_FLOWS_H
#define WTI_SHOW_EXPORT_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#define WTI_FLOWS_EACH 32u /* at most so many arrows at one end of a slice */

struct wti_flow {
	uint64_t id;   /* from 1, one an arrow */
	uint32_t type; /* enum wt_edge */
};

/* The arrows that begin and end at a slice. */
struct wti_flow_ends {
	struct wti_flow out[WTI_FLOWS_EACH];
	struct wti_flow in[WTI_FLOWS_EACH];
	uint32_t out_count;
	uint32_t in_count;
};

struct wti_edge;
struct wti_flow_launch;

struct wti_flows {
	struct wti_edge *edges;
	uint32_t *by_from; /* their places, sorted by where they come from */
	uint32_t *by_to;   /* and by where they go */
	size_t edge_count;
	size_t edge_capacity;
	size_t near_from; /* where the last search ended: the next is near */
	size_t near_to;
	struct wti_flow_launch *launches; /* a hash table */
	size_t launch_slots;              /* a power of two */
	size_t launch_count;
	uint64_t launch_next;    /* number of the next arrow */
	uint64_t left_out_count; /* arrows beyond a ceiling */
	bool names_events;       /* some edges name events by their place */
};

/* Reads the edges that the query lets through. */
int wti_flows_init(struct wti_flows *flows, const struct wt_trace *trace,
		   const struct wt_query *query, struct wt_err *err);
void wti_flows_release(struct wti_flows *flows);

/* A launch of the operation `correlation`: the number of its arrow, which begins at `time_ns`; 0 if
 * there is none. */
uint64_t wti_flows_launch(struct wti_flows *flows, size_t stream, uint64_t correlation,
			  int64_t time_ns);
/* The arrows of an operation that is about to be written and begins at `time_ns`. To be asked once
 * for each. */
void wti_flows_of(struct wti_flows *flows, size_t stream, uint64_t correlation, int64_t time_ns,
		  struct wti_flow_ends *ret_ends);
/* The same for a span, a call or an operator, by its place. */
void wti_flows_of_event(struct wti_flows *flows, size_t stream, uint32_t track, uint32_t seq,
			int64_t time_ns, struct wti_flow_ends *ret_ends);

#endif
