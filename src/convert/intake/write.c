/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing what was taken in: records come in the order of their times; spans are kept open until
 * their ends. A span that does not nest in those of its track goes to a further lane of it, as it
 * has the right times and viewers need spans that nest.
 *
 * At one moment ends come before begins; what is no span is inside all spans that touch the moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "own.h"
#include "streams.h"

#define LANES_MAX 256u   /* of a track */
#define DEPTH_MAX 65536u /* of spans in each other */
#define ARROWS_MAX ((size_t)4 << 20)
#define NO_END UINT64_MAX
#define BY_PLACE ((uint64_t)1 << 63) /* of an edge: an event by track and number */

struct open_span {
	uint64_t end; /* NO_END: not known */
	uint64_t id;
	uint64_t seq;
	uint32_t name;
};

struct lane {
	uint32_t track; /* number in its stream; 0: not defined yet */
	uint32_t next;  /* lane beside it, plus one; 0: none yet */
	uint64_t seq;
	struct open_span *open;
	size_t count, capacity;
};

/* An open span whose end is known, in a heap by that. */
struct ending {
	uint64_t end;
	uint64_t id;
	uint32_t lane;
	uint32_t process;
};

struct writing {
	struct wti_intake *intake;
	struct wti_intake_streams streams;
	struct lane *lanes; /* those of tracks first, by their number minus one */
	size_t lane_count, lane_capacity;
	struct ending *heap;
	size_t heap_count, heap_capacity;
	struct wti_map from, to; /* arrows: where they begin or end */
	uint64_t ids;
	uint64_t arrows_open;
};

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void out_of_memory(struct writing *w)
{
	if (!w->streams.failed)
		w->streams.failed = wti_err(w->streams.err, WT_E_NOMEM, "out of memory");
}

static struct wti_intake_stream *stream_at(struct writing *w, uint32_t track, uint64_t time)
{
	return wti_intake_stream(&w->streams, w->intake->track_items[track - 1].process, time);
}

/* The lane is defined with the name of its track; `beside` is its number among those. */
static int define_lane(struct writing *w, struct lane *lane, uint32_t track, uint32_t beside,
		       uint64_t time)
{
	struct wt_track about = w->intake->track_items[track - 1].track;
	struct wti_intake_stream *stream = stream_at(w, track, time);
	char name[320];

	if (!stream)
		return w->streams.failed;
	about.id = (uint32_t)(lane - w->lanes) + 1;
	if (!about.name)
		about.name_bytes = (size_t)snprintf(name, sizeof(name), "track %u", track);
	else if (beside)
		about.name_bytes = (size_t)snprintf(name, sizeof(name), "%.256s (overlap %u)",
						    about.name, beside);
	if (!about.name || beside)
		about.name = name;
	lane->track = about.id;
	return wti_intake_stream_track(&w->streams, stream, &about);
}

static struct lane *first_lane(struct writing *w, uint32_t track, uint64_t time)
{
	struct lane *lane = &w->lanes[track - 1];

	return lane->track || !define_lane(w, lane, track, 0, time) ? lane : NULL;
}

static struct lane *lane_beside(struct writing *w, struct lane *lane, uint32_t track,
				uint32_t beside, uint64_t time)
{
	size_t index = (size_t)(lane - w->lanes);

	if (lane->next)
		return &w->lanes[lane->next - 1];
	if (wti_grow_zeroed(&w->lanes, w->lane_count + 1, &w->lane_capacity, WTI_NO_CEILING)) {
		out_of_memory(w);
		return NULL;
	}
	w->lanes[index].next = (uint32_t)++w->lane_count;
	lane = &w->lanes[w->lane_count - 1];
	return define_lane(w, lane, track, beside, time) ? NULL : lane;
}

/* The first lane in which a span with this end nests. */
static struct lane *lane_for(struct writing *w, uint32_t track, uint64_t time, uint64_t end)
{
	struct lane *lane = first_lane(w, track, time);

	for (uint32_t i = 1; lane && lane->count && lane->open[lane->count - 1].end < end; i++) {
		if (i == LANES_MAX) {
			wti_intake_lose(w->intake, "spans beyond 256 that overlap", 1);
			return NULL;
		}
		lane = lane_beside(w, lane, track, i, time);
	}
	return lane;
}

static void put(struct writing *w, struct lane *lane, uint32_t track, uint16_t kind, uint64_t time,
		const uint64_t *values, size_t count, const struct wt_text *texts)
{
	struct wti_intake_stream *stream = stream_at(w, track, time);

	if (stream)
		wti_intake_stream_put(&w->streams, stream, kind, lane->track, ++lane->seq, time,
				      values, count, texts);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* Of those that end together the inner one, which began later, is first. */
static bool ends_before(const struct ending *a, const struct ending *b)
{
	return a->end != b->end ? a->end < b->end : a->id > b->id;
}

static void heap_add(struct writing *w, struct ending ending)
{
	size_t at = w->heap_count;

	if (wti_grow(&w->heap, w->heap_count + 1, &w->heap_capacity, WTI_NO_CEILING)) {
		out_of_memory(w);
		return;
	}
	w->heap_count++;
	while (at && ends_before(&ending, &w->heap[(at - 1) / 2])) {
		w->heap[at] = w->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	w->heap[at] = ending;
}

static struct ending heap_take(struct writing *w)
{
	struct ending first = w->heap[0], moved = w->heap[--w->heap_count];
	size_t at = 0;

	for (size_t child = 1; child < w->heap_count; child = 2 * at + 1) {
		if (child + 1 < w->heap_count && ends_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!ends_before(&w->heap[child], &moved))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = moved;
	return first;
}

static void put_end(struct writing *w, struct lane *lane, uint32_t process, uint64_t time)
{
	const uint64_t values[] = {lane->open[--lane->count].name, 0};
	struct wti_intake_stream *stream = wti_intake_stream(&w->streams, process, time);

	if (stream)
		wti_intake_stream_put(&w->streams, stream, WT_KIND_SPAN_END, lane->track,
				      ++lane->seq, time, values, 2, NULL);
}

/* Ends all spans that end before the time, or at it if `touching`. */
static void end_until(struct writing *w, uint64_t time, bool touching)
{
	while (w->heap_count && (w->heap[0].end < time || (touching && w->heap[0].end == time)) &&
	       !w->streams.failed) {
		struct ending ending = heap_take(w);
		struct lane *lane = &w->lanes[ending.lane];

		/* One that was ended by an end around it is not there any more. */
		if (lane->count && lane->open[lane->count - 1].id == ending.id)
			put_end(w, lane, ending.process, ending.end);
	}
}

static void take_end(struct writing *w, const struct wti_taken_span *record)
{
	struct lane *lane = &w->lanes[record->track - 1];
	uint32_t process = w->intake->track_items[record->track - 1].process;
	size_t at = lane->count;

	while (at && lane->open[at - 1].end != NO_END)
		at--;
	if (!at) {
		wti_intake_leave_out(w->intake, "ends of spans that never began", 1);
		return;
	}
	while (lane->count > at) {
		wti_intake_leave_out(w->intake, "ends of spans that were cut with the span around",
				     1);
		put_end(w, lane, process, record->head.time);
	}
	put_end(w, lane, process, record->head.time);
}

/* ---- Begins ---------------------------------------------------------------------------------- */

static void put_launches(struct writing *w, struct lane *lane, uint32_t track, uint64_t time,
			 uint64_t correlation)
{
	uint64_t count = wti_intake_op_count(w->intake, correlation);

	for (uint64_t k = 0; k < count && !w->streams.failed; k++) {
		uint64_t unique = wti_intake_unique(correlation, k);
		const uint64_t values[] = {WT_EDGE_LAUNCH, 0, unique, unique};

		put(w, lane, track, WT_KIND_EDGE, time, values, 4, NULL);
	}
}

static void take_span(struct writing *w, const struct wti_taken_span *record)
{
	bool has_end = record->head.type == WTI_TAKEN_SPAN;
	uint64_t time = record->head.time, end = has_end ? time + record->head.duration : NO_END;
	struct lane *lane = has_end ? lane_for(w, record->track, time, end)
				    : first_lane(w, record->track, time);
	const uint64_t values[] = {record->name, record->flags};

	if (!lane)
		return;
	if (lane->count == DEPTH_MAX) {
		wti_intake_lose(w->intake, "spans deeper than 65536", 1);
		return;
	}
	if (wti_grow(&lane->open, lane->count + 1, &lane->capacity, DEPTH_MAX)) {
		out_of_memory(w);
		return;
	}
	put(w, lane, record->track, WT_KIND_SPAN_BEGIN, time, values, 2, NULL);
	lane->open[lane->count++] = (struct open_span){end, ++w->ids, lane->seq, record->name};
	if (has_end)
		heap_add(w, (struct ending){end, w->ids, (uint32_t)(lane - w->lanes),
					    w->intake->track_items[record->track - 1].process});
	if (record->correlation)
		put_launches(w, lane, record->track, time, record->correlation);
}

/* ---- Everything else ------------------------------------------------------------------------- */

static void put_arrow(struct writing *w, const struct wti_taken_flow *record, uint64_t from,
		      uint64_t to)
{
	const uint64_t values[] = {record->edge, 0, from, to};
	struct lane *lane = first_lane(w, record->track, record->head.time);

	if (lane)
		put(w, lane, record->track, WT_KIND_EDGE, record->head.time, values, 4, NULL);
}

static uint32_t process_at(const struct writing *w, uint64_t place)
{
	return w->intake->track_items[((place & ~BY_PLACE) >> 32) - 1].process;
}

/* The arrow of this end, if the other was met; otherwise the end is remembered. */
static void join(struct writing *w, const struct wti_taken_flow *record, uint64_t place,
		 bool begins)
{
	uint64_t key = record->id * 8 + record->edge;
	uint64_t *other = (uint64_t *)wti_map_find_number(begins ? &w->to : &w->from, key);
	uint64_t *own;

	if (other && *other && process_at(w, *other) != process_at(w, place)) {
		wti_intake_leave_out(w->intake, "arrows between processes", 1);
		*other = 0;
		return;
	}
	if (other && *other) {
		put_arrow(w, record, begins ? place : *other, begins ? *other : place);
		if (begins)
			*other = 0;
		else
			return; /* one beginning may have several ends */
	}
	own = wti_map_number(begins ? &w->from : &w->to, key);
	if (own)
		*own = place;
	else
		wti_intake_leave_out(w->intake, "arrows beyond four million", 1);
}

static void take_flow(struct writing *w, const struct wti_taken_flow *record)
{
	const struct lane *lane = first_lane(w, record->track, record->head.time);
	const struct open_span *inner;
	uint64_t place;

	if (!lane)
		return;
	if (!lane->count) {
		wti_intake_leave_out(w->intake, "ends of arrows outside of any span", 1);
		return;
	}
	inner = &lane->open[lane->count - 1];
	place = BY_PLACE | (uint64_t)lane->track << 32 | (uint32_t)inner->seq;
	if (record->part != WTI_FLOW_FROM)
		join(w, record, place, false);
	if (record->part != WTI_FLOW_TO)
		join(w, record, place, true);
}

static void take_event(struct writing *w, const struct wti_taken_event *record)
{
	struct lane *lane = first_lane(w, record->track, record->head.time);
	const uint64_t *lengths = record->values + record->value_count;
	const char *at = (const char *)(lengths + record->text_count);
	struct wt_text texts[WT_FIELDS_MAX];

	if (!lane)
		return;
	for (size_t i = 0; i < record->text_count; i++) {
		texts[i] = (struct wt_text){at, lengths[i]};
		at += lengths[i];
	}
	put(w, lane, record->track, record->head.kind, record->head.time, record->values,
	    record->value_count, texts);
}

static void take(struct writing *w, const struct wti_sorted *record)
{
	bool inside = record->type == WTI_TAKEN_FLOW || record->type == WTI_TAKEN_EVENT;

	end_until(w, record->time, !inside);
	switch ((enum wti_intake_record)record->type) {
	case WTI_TAKEN_SPAN:
	case WTI_TAKEN_BEGIN:
		take_span(w, (const struct wti_taken_span *)record);
		break;
	case WTI_TAKEN_END:
		take_end(w, (const struct wti_taken_span *)record);
		break;
	case WTI_TAKEN_FLOW:
		take_flow(w, (const struct wti_taken_flow *)record);
		break;
	case WTI_TAKEN_EVENT:
		take_event(w, (const struct wti_taken_event *)record);
		break;
	}
}

static void release(struct writing *w)
{
	for (size_t i = 0; i < w->lane_count; i++)
		free(w->lanes[i].open);
	free(w->lanes);
	free(w->heap);
	wti_map_release(&w->from);
	wti_map_release(&w->to);
	wti_intake_streams_release(&w->streams);
}

/* Events of operations stand at their ends: one of them may have begun before the first event. */
static uint64_t first_time(const struct wti_intake *intake, const struct wti_sorted *record)
{
	uint64_t first = record->time;

	for (size_t i = 0; i < intake->process_count; i++)
		if (intake->processes[i].earliest && intake->processes[i].earliest < first)
			first = intake->processes[i].earliest;
	return first;
}

static int write_all(struct writing *w, struct wti_intake_summary *summary, struct wt_err *err)
{
	const struct wti_sorted *record = wti_sorter_next(w->intake->sorter);
	uint64_t first = record ? first_time(w->intake, record) + w->streams.target->shift_ns : 0;
	int r;

	if (record && (!summary->first_ns || first < summary->first_ns))
		summary->first_ns = first;
	for (; record && !w->streams.failed; record = wti_sorter_next(w->intake->sorter))
		take(w, record);
	end_until(w, NO_END, false);
	r = wti_sorter_status(w->intake->sorter, err);
	w->streams.failed = w->streams.failed ? w->streams.failed : r;
	for (size_t i = 0; i < w->to.count; i++)
		wti_intake_leave_out(w->intake, "arrows without a beginning",
				     w->to.entries[i].value != 0);
	return wti_intake_streams_finish(&w->streams, summary, err);
}

int wti_intake_write(struct wti_intake *intake, const struct wti_intake_target *target,
		     struct wti_intake_summary *summary, struct wt_err *err)
{
	struct writing w = {.intake = intake};
	int r = intake->failed ? wti_err(err, intake->failed, "out of memory")
			       : wti_sorter_finish(intake->sorter, err);

	/* A name that is needed while writing has to have its number before. */
	if (!r && target->group)
		wti_intake_name(intake, target->group, strlen(target->group));
	wti_map_init(&w.from, ARROWS_MAX);
	wti_map_init(&w.to, ARROWS_MAX);
	r = r ? r : wti_intake_streams_init(&w.streams, intake, target, err);
	if (!r &&
	    wti_grow_zeroed(&w.lanes, intake->track_count + 1, &w.lane_capacity, WTI_NO_CEILING))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	if (!r) {
		w.lane_count = intake->track_count;
		r = write_all(&w, summary, err);
	} else {
		w.streams.intake = intake;
	}
	release(&w);
	return r;
}
