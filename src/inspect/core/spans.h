/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins and ends of spans, calls and operators, matched track by track. Spans of a track nest;
 * where events were lost an end closes the innermost span of its name, and what it skips is counted
 * as unclosed.
 */
#ifndef WTI_INSPECT_SPANS_H
#define WTI_INSPECT_SPANS_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"

struct wti_span {
	uint16_t kind; /* of its begin */
	uint32_t name; /* id in its stream */
	uint64_t seq;  /* of its begin */
	int64_t begin_ns;
	int64_t end_ns;       /* of closed spans */
	uint64_t children_ns; /* time in spans directly inside */
	uint64_t tag;         /* the caller's, from wti_spans_begin() */
	uint32_t depth;       /* 0: outermost */
	bool nested;          /* the same tag is open further out */
};

struct wti_span_track {
	size_t stream;
	uint32_t track;
	struct wti_span *open; /* outermost first */
	size_t open_count;
	size_t capacity;
	uint64_t too_deep_count; /* open, beyond the ceiling of depth */
};

struct wti_spans {
	struct wti_map index; /* stream and track: index into tracks, plus one */
	struct wti_span_track *tracks;
	size_t track_count, track_capacity;
	uint64_t unclosed_count; /* begins whose end is missing although the track went on */
	uint64_t unopened_count; /* ends whose begin is missing */
	uint64_t too_deep_count;
};

void wti_spans_init(struct wti_spans *spans);
void wti_spans_release(struct wti_spans *spans);

/* The kinds that matter here. */
bool wti_spans_is_begin(uint16_t kind);
bool wti_spans_is_end(uint16_t kind);

/* 0, or an error. */
int wti_spans_begin(struct wti_spans *spans, const struct wt_event *event, uint64_t tag,
		    struct wt_err *err);
/* 1 and the span that the event closes, 0 if there is none, or an error. */
int wti_spans_end(struct wti_spans *spans, const struct wt_event *event, struct wti_span *ret_span,
		  struct wt_err *err);

/* Closes the innermost span of a track, which has no end, at a time of the caller's; false: none is
 * open. */
bool wti_spans_close(struct wti_span_track *track, int64_t end_ns, struct wti_span *ret_span);

/* The open call or span that an event belongs to: the one that it names, or the innermost of its
 * track for `call` 0. NULL: none. */
const struct wti_span *wti_spans_around(const struct wti_spans *spans, const struct wt_event *event,
					uint32_t call);

#endif
