/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows there are, what they are called and under which others they stand. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/core/label.h"

#define ROWS_MAX ((size_t)1 << 20)
#define NAME_KEPT 200 /* bytes of a track's name that go into the name of another row */

static uint32_t add_row(struct wti_timeline *timeline, const struct wti_row *row)
{
	struct wti_row *added;

	if (timeline->row_count == ROWS_MAX)
		return 0;
	if (wti_grow(&timeline->rows, timeline->row_count + 1, &timeline->row_capacity, ROWS_MAX))
		return 0;
	added = &timeline->rows[timeline->row_count++];
	*added = *row;
	added->id = (uint32_t)timeline->row_count;
	timeline->target->row(timeline->state, added);
	return added->id;
}

/* "NAME suffix" that lives as long as the timeline. */
static struct wt_text joined(struct wti_timeline *timeline, struct wt_text name, const char *suffix)
{
	char text[NAME_KEPT + 80];
	int kept = name.bytes < NAME_KEPT ? (int)name.bytes : NAME_KEPT;
	size_t bytes = (size_t)kept;
	char *copy;

	memcpy(text, name.data, bytes);
	bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "%s", suffix);
	copy = wti_arena_text(&timeline->arena, text, bytes);
	return copy ? (struct wt_text){copy, bytes} : name;
}

static const struct wt_reader *reader_of(const struct wti_timeline *timeline, size_t stream)
{
	return wt_trace_stream(timeline->export->trace, stream);
}

static uint32_t process_row(struct wti_timeline *timeline, size_t stream)
{
	const struct wt_identity *identity = wt_reader_identity(reader_of(timeline, stream));
	uint64_t *slot = wti_map_number(&timeline->process_index, stream);
	struct wti_row row = {
		.type = WTI_ROW_PROCESS,
		.pid = identity->pid,
		.name = {identity->command, strnlen(identity->command, sizeof(identity->command))},
	};

	if (slot && !*slot)
		*slot = add_row(timeline, &row);
	return slot ? (uint32_t)*slot : 0;
}

/* ---- Threads whose system calls are in a stream of all processes ----------------------------- */

/* The first of a process: if it calls exec, the others are after that. */
static size_t stream_of_pid(struct wti_timeline *timeline, uint32_t pid)
{
	size_t count = wt_trace_stream_count(timeline->export->trace);
	struct wti_map *index = &timeline->stream_index;

	for (size_t i = index->count ? count : 0; i < count; i++) {
		uint64_t *slot =
			wti_map_number(index, wt_reader_identity(reader_of(timeline, i))->pid);

		if (slot && !*slot)
			*slot = i + 1;
	}
	return (size_t)wti_map_get(index, pid);
}

void wti_rows_task(struct wti_timeline *timeline, struct wti_timeline_track *track,
		   const struct wt_event *event)
{
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	char *copy;

	if (track->row)
		return;
	track->pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	copy = wti_arena_text(&timeline->arena, command.data, command.bytes);
	if (copy)
		track->command = (struct wt_text){copy, command.bytes};
}

static uint32_t task_process_row(struct wti_timeline *timeline,
				 const struct wti_timeline_track *track)
{
	size_t stream = stream_of_pid(timeline, track->pid);
	struct wti_row row = {.type = WTI_ROW_PROCESS, .pid = track->pid, .name = track->command};
	uint64_t *slot;

	if (stream)
		return process_row(timeline, stream - 1);
	slot = wti_map_number(&timeline->process_index, 1ull << 63 | track->pid);
	if (slot && !*slot)
		*slot = add_row(timeline, &row);
	return slot ? (uint32_t)*slot : 0;
}

/* ---- Devices, threads, counters -------------------------------------------------------------- */

static uint32_t device_row(struct wti_timeline *timeline, size_t stream, uint32_t device)
{
	const struct wt_identity *identity = wt_reader_identity(reader_of(timeline, stream));
	uint32_t parent = process_row(timeline, stream);
	uint64_t *slot = wti_map_number(&timeline->device_index, (uint64_t)stream << 32 | device);
	struct wti_row row = {.type = WTI_ROW_DEVICE, .parent = parent, .pid = identity->pid};
	char name[40];

	if (!slot || !parent)
		return 0;
	if (!*slot) {
		snprintf(name, sizeof(name), "device %u", device);
		row.name = joined(timeline, (struct wt_text){"", 0}, name);
		*slot = add_row(timeline, &row);
	}
	return (uint32_t)*slot;
}

/* A thread's own name, since viewers add its number; of others what `view` calls them. */
static struct wt_text track_name(struct wti_timeline *timeline,
				 const struct wti_timeline_track *track)
{
	const struct wt_track *known =
		wt_reader_track(reader_of(timeline, track->stream), track->track);
	char label[WTI_LABEL_BYTES];
	struct wt_text name;

	if (known && known->name_bytes)
		return (struct wt_text){known->name, known->name_bytes};
	name = wti_label_track(label, timeline->export->trace, track->stream, track->track);
	return joined(timeline, name, "");
}

/* Two tracks may be of one thread, but a viewer's thread can have the slices of one only. That of
 * its system calls has none: it only wants a row to stand below. */
static uint32_t thread_row(struct wti_timeline *timeline, const struct wti_timeline_track *track,
			   struct wti_row *row, uint32_t tid)
{
	uint64_t *slot = wti_map_number(&timeline->thread_index, (uint64_t)row->pid << 32 | tid);
	bool has_slices = !track->pid;

	if (!slot || (has_slices && *slot & 1))
		return add_row(timeline, row);
	if (!*slot) {
		row->type = WTI_ROW_THREAD;
		row->tid = tid;
		*slot = (uint64_t)add_row(timeline, row) << 1;
	}
	if (*slot)
		*slot |= has_slices;
	return (uint32_t)(*slot >> 1);
}

uint32_t wti_rows_own(struct wti_timeline *timeline, struct wti_timeline_track *track)
{
	const struct wt_reader *reader = reader_of(timeline, track->stream);
	const struct wt_track *known = wt_reader_track(reader, track->track);
	struct wti_row row = {.type = WTI_ROW_OTHER,
			      .pid = track->pid ? track->pid : wt_reader_identity(reader)->pid};

	if (track->row)
		return track->row;
	row.parent = track->pid ? task_process_row(timeline, track)
				: process_row(timeline, track->stream);
	if (!row.parent)
		return 0;
	row.name = track_name(timeline, track);
	if (known && known->type == WT_TRACK_THREAD && known->tid)
		track->row = thread_row(timeline, track, &row, known->tid);
	else
		track->row = add_row(timeline, &row);
	return track->row;
}

uint32_t wti_rows_counter(struct wti_timeline *timeline, const struct wt_event *event)
{
	uint32_t name = (uint32_t)wt_event_u64(event, WT_COUNTER_FIELD_NAME);
	uint64_t *slot =
		wti_map_number(&timeline->counter_index, (uint64_t)event->stream << 32 | name);
	struct wti_row row = {.type = WTI_ROW_COUNTER};

	if (slot && *slot)
		return (uint32_t)*slot;
	row.parent = process_row(timeline, event->stream);
	if (!slot || !row.parent)
		return 0;
	row.pid = wt_reader_identity(event->reader)->pid;
	row.name = wt_event_text(event, WT_COUNTER_FIELD_NAME);
	row.unit = wt_event_text(event, WT_COUNTER_FIELD_UNIT);
	*slot = add_row(timeline, &row);
	return (uint32_t)*slot;
}

uint32_t wti_rows_context(struct wti_timeline *timeline, struct wti_timeline_track *track,
			  struct wt_text key)
{
	struct wti_row row = {.type = WTI_ROW_OTHER, .name = key};

	row.parent = wti_rows_own(timeline, track);
	if (!row.parent)
		return 0;
	row.pid = timeline->rows[row.parent - 1].pid;
	return add_row(timeline, &row);
}

/* Makes the row of a new lane under `parent`. */
static uint32_t lane_row(struct wti_timeline *timeline, struct wti_lane *lane, int index,
			 uint32_t parent, struct wt_text name)
{
	struct wti_row row = {.type = WTI_ROW_OTHER, .parent = parent, .name = name};
	char suffix[40];

	if (!parent)
		return 0;
	row.pid = timeline->rows[parent - 1].pid;
	if (index) {
		snprintf(suffix, sizeof(suffix), " (overlap %d)", index);
		row.name = joined(timeline, name, suffix);
	}
	lane->row = add_row(timeline, &row);
	return lane->row;
}

uint32_t wti_rows_op(struct wti_timeline *timeline, struct wti_timeline_track *track,
		     uint32_t device, int64_t begin_ns, int64_t end_ns)
{
	int lane = wti_lanes_place(&track->ops, begin_ns, end_ns);

	if (lane < 0)
		return 0;
	if (track->ops.lanes[lane].row)
		return track->ops.lanes[lane].row;
	return lane_row(timeline, &track->ops.lanes[lane], lane,
			device_row(timeline, track->stream, device), track_name(timeline, track));
}

uint32_t wti_rows_syscall(struct wti_timeline *timeline, struct wti_timeline_track *track,
			  int64_t begin_ns, int64_t end_ns)
{
	int lane = wti_lanes_place(&track->syscalls, begin_ns, end_ns);

	if (lane < 0)
		return 0;
	if (track->syscalls.lanes[lane].row)
		return track->syscalls.lanes[lane].row;
	return lane_row(timeline, &track->syscalls.lanes[lane], lane, wti_rows_own(timeline, track),
			(struct wt_text){"system calls", 12});
}

struct wti_timeline_track *wti_rows_track(struct wti_timeline *timeline, size_t stream,
					  uint32_t track)
{
	uint64_t *slot = wti_map_number(&timeline->track_index, (uint64_t)stream << 32 | track);
	struct wti_timeline_track *added;

	if (!slot)
		return NULL;
	if (*slot)
		return timeline->tracks[*slot - 1];
	if (wti_grow(&timeline->tracks, timeline->track_count + 1, &timeline->track_capacity,
		     WTI_NO_CEILING))
		return NULL;
	added = wti_arena_alloc(&timeline->arena, sizeof(*added));
	if (!added)
		return NULL;
	added->stream = stream;
	added->track = track;
	timeline->tracks[timeline->track_count++] = added;
	*slot = timeline->track_count;
	return added;
}
