/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs written for TraceSmith call, under its names: capture a trace, build a timeline,
 * export it for Perfetto. Its files are read and written by sbt.h, everything else about a trace by
 * trace.h and inspect.h (docs/coming-from-tracesmith.md).
 */
#ifndef WHEELTAP_TRACESMITH_H
#define WHEELTAP_TRACESMITH_H

#include <wheeltap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- capture_trace ------------------------------------------------------------------------ */

struct wt_capture_options {
	size_t size;          /* sizeof(struct wt_capture_options) */
	const char *wheeltap; /* the program; NULL: as PATH has it */
	const char *folder;   /* of the run that is made; must not exist */
	const char *platform; /* "opencl", "cuda", "rocm"; NULL: all of them */
	uint64_t duration_ms; /* stop recording after this long; 0: when the program ends */
};

void wt_capture_options_init(struct wt_capture_options *options);

/*
 * Runs a program under `wheeltap record` and opens what was recorded; `argv` ends with NULL.
 * ret_status is the program's exit status. A program that fails is no error: its trace is there.
 */
int wt_capture_trace(char *const argv[], const struct wt_capture_options *options,
		     struct wt_trace **ret_trace, int *ret_status, struct wt_err *err);

/* ---- build_timeline ----------------------------------------------------------------------- */

/* One operation of a device. */
struct wt_timeline_span {
	int64_t start_ns, end_ns; /* since the start of the run */
	uint64_t correlation_id;
	uint64_t size_bytes;
	struct wt_text name; /* valid as long as the trace */
	uint32_t device_id;
	uint32_t stream_id; /* the track of its queue */
	uint32_t process;   /* index of the stream in the trace: one a process */
	uint32_t op;        /* enum wt_op */
};

struct wt_timeline {
	struct wt_timeline_span *spans; /* by start */
	size_t span_count;
	int64_t total_duration_ns;   /* from the first start to the last end */
	double gpu_utilization;      /* 0 to 1: time in which a device works, mean of devices */
	uint64_t max_concurrent_ops; /* of all devices together */
	size_t device_count;
};

/* WT_E_MISSING: nothing of a device is in the trace. */
int wt_build_timeline(const struct wt_trace *trace, struct wt_timeline *ret_timeline,
		      struct wt_err *err);
void wt_timeline_release(struct wt_timeline *timeline);

/* ---- export_perfetto ---------------------------------------------------------------------- */

/* Of the run in a folder; refuses to overwrite. `wheeltap`: the program; NULL: as PATH has it. */
int wt_export_perfetto(const char *run, const char *path, const char *wheeltap, struct wt_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
