/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is open for reading, as the files of the trace library see it. */
#ifndef WTI_TRACE_TRACE_H
#define WTI_TRACE_TRACE_H

#include <wheeltap/trace.h>

#include "base/map.h"
#include "clock.h"

#define WTI_DEVICE_CLOCKS_MAX 64u

/* A clock other than the stream's own: to the stream's ticks. */
struct wti_device_clock {
	uint32_t domain;
	struct wti_clock to_stream;
};

/*
 * Streams of one boot that use the same clock. They share their pairs, because they must agree on
 * every conversion, or their events could not be put in order.
 */
struct wti_clock_group {
	uint8_t boot[16];
	uint32_t clock;                /* enum wt_clock_domain */
	struct wti_clock to_monotonic; /* ticks to CLOCK_MONOTONIC ns */
	struct wti_clock to_realtime;
};

struct wti_trace_stream {
	struct wt_reader *reader;
	size_t group;
	struct wti_device_clock *devices;
	size_t device_count;
	size_t device_capacity;
};

struct wt_trace {
	char *path;
	bool is_folder;
	struct wti_trace_stream *streams;
	size_t stream_count;
	size_t stream_capacity;
	struct wti_map open_paths; /* of the streams */
	struct wti_clock_group *groups;
	size_t group_count;
	size_t group_capacity;
	struct wt_err *failed;
	size_t failed_count;
	size_t failed_capacity;
	bool start_known;
	int64_t start_ns; /* CLOCK_MONOTONIC of the run's first moment */
	int64_t start_realtime_ns;
	uint64_t clock_error_ns;
};

/* Reads the clock pairs of all streams and makes conversions possible (times.c). */
int wti_times_fit(struct wt_trace *trace, struct wt_err *err);
void wti_times_release(struct wt_trace *trace);

#endif
