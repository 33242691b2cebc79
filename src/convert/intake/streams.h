/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams that an intake becomes, one a process: opened when the first event of the process
 * comes, with the names and tracks that they need. Times are shifted here.
 */
#ifndef WTI_CONVERT_INTAKE_STREAMS_H
#define WTI_CONVERT_INTAKE_STREAMS_H

#include "own.h"

struct wti_intake_stream {
	struct wt_writer *writer; /* NULL: the process has no event yet */
	uint8_t *named;           /* bits: names that were defined */
	uint64_t seq;             /* of its own track */
	uint32_t number;
};

struct wti_intake_streams {
	struct wti_intake *intake;
	const struct wti_intake_target *target;
	struct wti_intake_stream *items; /* one a process */
	uint32_t opened;
	uint64_t last;
	uint32_t name_fields[WT_KIND_END]; /* bits; of kinds that were met */
	uint32_t time_fields[WT_KIND_END];
	bool met[WT_KIND_END];
	int failed;
	struct wt_err *err;
};

int wti_intake_streams_init(struct wti_intake_streams *streams, struct wti_intake *intake,
			    const struct wti_intake_target *target, struct wt_err *err);
/* Removes the files, too, if something failed. */
void wti_intake_streams_release(struct wti_intake_streams *streams);
/* The stream of a process, which begins at `time` if it is new; NULL: see `failed`. */
struct wti_intake_stream *wti_intake_stream(struct wti_intake_streams *streams, uint32_t process,
					    uint64_t time);
int wti_intake_stream_track(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
			    const struct wt_track *track);
void wti_intake_stream_put(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
			   uint16_t kind, uint32_t track, uint64_t seq, uint64_t time,
			   const uint64_t *values, size_t value_count, const struct wt_text *texts);
int wti_intake_streams_finish(struct wti_intake_streams *streams,
			      struct wti_intake_summary *summary, struct wt_err *err);

#endif
