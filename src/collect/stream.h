/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file, or in a flight recording the files, of one process: NNNN.wt, or NNNN.SSSSSS.wt; from
 * the 10,000th process on the number has five digits.
 *
 * The recorder's own words in the stream of a process (clock snapshots, losses that belong to no
 * thread) stand on track 0, which no thread has.
 */
#ifndef WTI_COLLECT_STREAM_H
#define WTI_COLLECT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "clock.h"
#include "keyframe.h"
#include "trace/sink.h"

#define WTI_STREAM_OWN_TRACK 0u

enum wti_stream_end {
	WTI_STREAM_OPEN,
	WTI_STREAM_DONE, /* its process has ended */
	WTI_STREAM_DISK, /* the file system refused */
	WTI_STREAM_CEILING,
	WTI_STREAM_GONE, /* the run's folder was deleted */
};

struct wti_stream_segment {
	uint32_t number;
	uint64_t events;
	uint64_t carried; /* losses recorded in it: recorded again when it is deleted */
	uint64_t bytes;
	uint64_t given; /* records of the program handed to the writer */
	uint64_t from_ticks;
	uint64_t to_ticks;
	uint64_t ended_ns;
};

#define WTI_SEGMENTS_MAX 16

struct wti_stream {
	struct wti_recorded_source source;
	const char *folder;
	const struct wti_recording_clock *clock;
	struct wt_writer *writer; /* NULL: not open (any more) */
	enum wti_stream_end end;
	bool flight;
	bool has_file;          /* the open segment's was made by us */
	bool active;            /* something was written since the last tick */
	uint64_t bytes_max;     /* of the open file, with its index; 0: none */
	uint32_t sharers;       /* streams that use up the same room, this one included */
	uint64_t pending_bytes; /* handed to the writer since the last flush, uncompressed */
	uint64_t flush_at;      /* so many of them are flushed; 0: the writer knows best */
	uint32_t own_track;     /* WTI_STREAM_OWN_TRACK, but in the recorder's own stream */
	uint64_t own_seq;
	uint64_t opened_ns;
	uint64_t last_ticks;
	uint64_t events; /* of closed and deleted segments; see wti_stream_events() */
	uint64_t bytes;  /* of closed segments that still exist */
	uint64_t lost[WT_LOST_DEVICE + 1];
	uint64_t unwritten;                /* events that came after the end */
	uint64_t unwritten_from;           /* ticks */
	struct wti_stream_segment segment; /* the open one */
	struct wti_stream_segment old[WTI_SEGMENTS_MAX];
	uint32_t old_count;
	struct wti_keyframe keyframe; /* flight only */
	char path[4096];
	char why[200]; /* the writer's error */
};

/* The name of its file without folder, segment and end. */
void wti_stream_name(const struct wti_stream *stream, char *out, size_t bytes);
int wti_stream_open(struct wti_stream *stream, struct wt_err *err);
/* Seals, writes the index, closes. */
void wti_stream_close(struct wti_stream *stream, enum wti_stream_end end);
void wti_stream_release(struct wti_stream *stream);
/* Takes its files back; nothing that it did not make itself. */
void wti_stream_remove(struct wti_stream *stream);

void wti_stream_define(struct wti_stream *stream, const struct wti_definition_view *view);
void wti_stream_records(struct wti_stream *stream, const struct wti_run_of_records *run);
void wti_stream_lost(struct wti_stream *stream, const struct wti_loss *loss);
/* An event of the recorder's own, as of now; or of a moment that none of them is later than. */
void wti_stream_own_at(struct wti_stream *stream, uint16_t kind, uint64_t ticks,
		       const uint64_t *values, size_t value_count, const struct wt_text *texts);
void wti_stream_own(struct wti_stream *stream, uint16_t kind, const uint64_t *values,
		    size_t value_count, const struct wt_text *texts);
void wti_stream_clock(struct wti_stream *stream);
/* Hands what is there to the file system. */
void wti_stream_flush(struct wti_stream *stream);
/* The open file may grow by `room_bytes`, which `sharers` streams use up together. */
void wti_stream_allow(struct wti_stream *stream, uint64_t room_bytes, uint32_t sharers);
/* Starts a new segment and deletes those that ended before `keep_from_ns` (MONOTONIC). */
void wti_stream_rotate(struct wti_stream *stream, uint64_t keep_from_ns);

/* Makes room: deletes the oldest segment, or closes the open one so that the next call can. */
void wti_stream_give_way(struct wti_stream *stream);

uint64_t wti_stream_events(const struct wti_stream *stream);
uint64_t wti_stream_bytes(const struct wti_stream *stream);
/* The same, as if it were closed now: with its index, without what waits for a flush. */
uint64_t wti_stream_finished_bytes(const struct wti_stream *stream);

#endif
