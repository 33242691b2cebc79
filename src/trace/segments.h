/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment of a flight recording begins with a keyframe: what was still valid (contexts, states,
 * open spans) is recorded again, with its old sequence numbers, so that the segment can be read
 * without those before it. Where those are still there, the events would come twice; this remembers
 * how far each track of a segmented process has been read.
 */
#ifndef WTI_TRACE_SEGMENTS_H
#define WTI_TRACE_SEGMENTS_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"

struct wti_segments {
	size_t *process; /* by stream: the first stream of the same process */
	bool any;        /* false: no stream is a segment, and nothing needs to be remembered */
	struct wti_map next_seq; /* by process and track */
};

int wti_segments_init(struct wti_segments *segments, const struct wt_trace *trace);
void wti_segments_release(struct wti_segments *segments);
/* True if that event has been read before; otherwise it counts as read from now on. */
bool wti_segments_repeat(struct wti_segments *segments, size_t stream, uint32_t track,
			 uint64_t seq);

#endif
