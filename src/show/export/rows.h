/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a timeline and the tracks of the trace that they belong to; timeline.c's own. */
#ifndef WTI_SHOW_EXPORT_ROWS_H
#define WTI_SHOW_EXPORT_ROWS_H

#include "lanes.h"
#include "nest.h"
#include "timeline.h"

/* A variable's current value on a track. */
struct wti_open_context {
	uint32_t key;
	uint32_t row;
	int64_t begin_ns;
	char name[80]; /* of the slice, cut */
};

#define WTI_CONTEXTS_MAX 64u

struct wti_timeline_track {
	size_t stream;
	uint32_t track;
	uint32_t row; /* of its spans and instants; 0: not made yet */
	/* Of a thread whose system calls are here, in a stream that is not its process's: */
	uint32_t pid; /* 0: it is none */
	struct wt_text command;
	struct wti_nest nest;
	/* The innermost begin is kept back until it is known which arrows leave from it. */
	bool held;
	struct wti_flow *held_out; /* WTI_FLOWS_EACH of them; NULL: none yet */
	uint32_t held_count;
	struct wti_lanes ops;
	struct wti_lanes syscalls;
	struct wti_open_context *contexts;
	uint32_t context_count;
	size_t context_capacity;
};

/* NULL: out of memory or too many. */
struct wti_timeline_track *wti_rows_track(struct wti_timeline *timeline, size_t stream,
					  uint32_t track);
/* The track is that of a thread, as an event of kind task says. */
void wti_rows_task(struct wti_timeline *timeline, struct wti_timeline_track *track,
		   const struct wt_event *event);
/* These make the row if it is not there yet; 0 when there are too many. */
uint32_t wti_rows_own(struct wti_timeline *timeline, struct wti_timeline_track *track);
uint32_t wti_rows_counter(struct wti_timeline *timeline, const struct wt_event *event);
uint32_t wti_rows_context(struct wti_timeline *timeline, struct wti_timeline_track *track,
			  struct wt_text key);
/* Of the lane that the slice goes to. */
uint32_t wti_rows_op(struct wti_timeline *timeline, struct wti_timeline_track *track,
		     uint32_t device, int64_t begin_ns, int64_t end_ns);
uint32_t wti_rows_syscall(struct wti_timeline *timeline, struct wti_timeline_track *track,
			  int64_t begin_ns, int64_t end_ns);

#endif
