/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of open spans a track, with ceilings on depth and tracks. */
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "spans.h"

#define DEPTH_MAX 4096u
#define TRACKS_MAX (1u << 20)

void wti_spans_init(struct wti_spans *spans)
{
	*spans = (struct wti_spans){0};
	wti_map_init(&spans->index, TRACKS_MAX);
}

void wti_spans_release(struct wti_spans *spans)
{
	for (size_t i = 0; i < spans->track_count; i++)
		free(spans->tracks[i].open);
	free(spans->tracks);
	wti_map_release(&spans->index);
	*spans = (struct wti_spans){0};
}

bool wti_spans_is_begin(uint16_t kind)
{
	return kind == WT_KIND_SPAN_BEGIN || kind == WT_KIND_CALL_BEGIN ||
	       kind == WT_KIND_OPERATOR_BEGIN;
}

bool wti_spans_is_end(uint16_t kind)
{
	return kind == WT_KIND_SPAN_END || kind == WT_KIND_CALL_END || kind == WT_KIND_OPERATOR_END;
}

static uint16_t begin_of(uint16_t end)
{
	switch (end) {
	case WT_KIND_SPAN_END:
		return WT_KIND_SPAN_BEGIN;
	case WT_KIND_CALL_END:
		return WT_KIND_CALL_BEGIN;
	default:
		return WT_KIND_OPERATOR_BEGIN;
	}
}

static struct wti_span_track *track_of(struct wti_spans *spans, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&spans->index, (uint64_t)event->stream << 32 | event->track);

	if (!slot)
		return NULL;
	if (*slot)
		return &spans->tracks[*slot - 1];
	if (wti_grow(&spans->tracks, spans->track_count + 1, &spans->track_capacity, TRACKS_MAX))
		return NULL;
	spans->tracks[spans->track_count] =
		(struct wti_span_track){.stream = event->stream, .track = event->track};
	*slot = ++spans->track_count;
	return &spans->tracks[*slot - 1];
}

static bool is_open(const struct wti_span_track *track, uint64_t tag)
{
	for (size_t i = track->open_count; i--;) {
		if (track->open[i].tag == tag)
			return true;
	}
	return false;
}

int wti_spans_begin(struct wti_spans *spans, const struct wt_event *event, uint64_t tag,
		    struct wt_err *err)
{
	struct wti_span_track *track = track_of(spans, event);

	if (!track)
		return wti_map_failed(&spans->index, err, "tracks to match spans on");
	if (track->open_count >= DEPTH_MAX) {
		track->too_deep_count++;
		spans->too_deep_count++;
		return 0;
	}
	if (wti_grow(&track->open, track->open_count + 1, &track->capacity, DEPTH_MAX))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	track->open[track->open_count] = (struct wti_span){.kind = event->kind->number,
							   .name = (uint32_t)wt_event_u64(event, 0),
							   .seq = event->seq,
							   .begin_ns = event->time_ns,
							   .tag = tag,
							   .depth = (uint32_t)track->open_count,
							   .nested = is_open(track, tag)};
	track->open_count++;
	return 0;
}

/* Depth of the span that the end belongs to, or -1. Names are the same id: both are of one stream.
 */
static long match(const struct wti_span_track *track, const struct wt_event *event)
{
	uint16_t kind = begin_of(event->kind->number);
	uint32_t name = (uint32_t)wt_event_u64(event, 0);

	for (size_t i = track->open_count; i--;) {
		if (track->open[i].kind == kind && track->open[i].name == name)
			return (long)i;
	}
	return -1;
}

/* What is inside of the span at that depth is gone with it. */
static struct wti_span close_at(struct wti_span_track *track, size_t at, int64_t end_ns)
{
	struct wti_span span = track->open[at];

	track->open_count = at;
	span.end_ns = end_ns > span.begin_ns ? end_ns : span.begin_ns;
	if (at)
		track->open[at - 1].children_ns += (uint64_t)span.end_ns - (uint64_t)span.begin_ns;
	return span;
}

bool wti_spans_close(struct wti_span_track *track, int64_t end_ns, struct wti_span *ret_span)
{
	if (!track->open_count)
		return false;
	*ret_span = close_at(track, track->open_count - 1, end_ns);
	return true;
}

int wti_spans_end(struct wti_spans *spans, const struct wt_event *event, struct wti_span *ret_span,
		  struct wt_err *err)
{
	struct wti_span_track *track = track_of(spans, event);
	long at;

	if (!track)
		return wti_map_failed(&spans->index, err, "tracks to match spans on");
	if (track->too_deep_count) {
		track->too_deep_count--;
		return 0;
	}
	at = match(track, event);
	if (at < 0) {
		spans->unopened_count++;
		return 0;
	}
	spans->unclosed_count += track->open_count - (size_t)at - 1;
	*ret_span = close_at(track, (size_t)at, event->time_ns);
	return 1;
}

const struct wti_span *wti_spans_around(const struct wti_spans *spans, const struct wt_event *event,
					uint32_t call)
{
	const uint64_t *slot =
		wti_map_find_number(&spans->index, (uint64_t)event->stream << 32 | event->track);
	const struct wti_span_track *track = slot && *slot ? &spans->tracks[*slot - 1] : NULL;

	if (!track || !track->open_count)
		return NULL;
	for (size_t i = track->open_count; call && i--;)
		if ((uint32_t)track->open[i].seq == call)
			return &track->open[i];
	return &track->open[track->open_count - 1];
}
