/* SPDX-License-Identifier: Apache-2.0 */
/* The sink that writes a run folder: a stream a process, and the recorder's own, 0000.wt. */
#ifndef WTI_COLLECT_STREAMS_H
#define WTI_COLLECT_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "trace/sink.h"
#include "stream.h"

struct wti_open_descriptor; /* syscalls/descriptors.h */

struct wti_streams {
	struct wti_sink sink;
	const char *folder;
	int folder_fd;
	const struct wti_recording_clock *clock;
	struct wti_recording_clock
		monotonic;  /* of streams that count in it where `clock` does not */
	uint64_t bytes_max; /* of all streams together; 0: none */
	uint64_t room;      /* left of them, as of the last look and what was written since */
	uint32_t open;      /* streams that use it up */
	uint64_t flight_ns; /* 0: not a flight recording */
	uint64_t ticked_ns;
	enum wti_stream_end end; /* of all of them at once: ceiling, folder gone */
	struct wti_stream *own;
	struct wti_stream **all; /* in the order of joining */
	size_t count;
	size_t capacity;
	uint64_t beyond; /* events of processes for which no stream could be made */
	char why[200];   /* what first went wrong with a file; empty: nothing */
};

struct wti_streams_options {
	const char *folder;
	int folder_fd;
	const struct wti_recording_clock *clock;
	uint64_t bytes_max;
	uint64_t flight_ns;
	struct wt_identity recorder;
};

int wti_streams_init(struct wti_streams *streams, const struct wti_streams_options *options,
		     struct wt_err *err);
/* Writes what there is to write about once a second; `now_ns` of CLOCK_MONOTONIC. */
void wti_streams_tick(struct wti_streams *streams, uint64_t now_ns);
/* Looks at the ceiling; cheap, after each drain. */
void wti_streams_limit(struct wti_streams *streams);
/* Finishes every file. */
void wti_streams_finish(struct wti_streams *streams);
void wti_streams_release(struct wti_streams *streams);
/* Takes back every file that was made. */
void wti_streams_remove(struct wti_streams *streams);

/* The recorder's own words. */
void wti_streams_exit(struct wti_streams *streams, uint32_t pid, int32_t status);
void wti_streams_not_followed(struct wti_streams *streams, uint32_t pid, uint32_t reason,
			      const char *command);
/* At `ticks`, which no word of ours is later than. */
void wti_streams_descriptor(struct wti_streams *streams, uint64_t ticks,
			    const struct wti_open_descriptor *open);
void wti_streams_note(struct wti_streams *streams, uint32_t code, const char *text);

uint64_t wti_streams_events(const struct wti_streams *streams);
uint64_t wti_streams_bytes(const struct wti_streams *streams);
/* Adds up what is missing, by enum wt_lost; events that came after the end of a file included. */
void wti_streams_losses(const struct wti_streams *streams, uint64_t ret_lost[WT_LOST_DEVICE + 1]);

#endif
