/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in the format of another tool (docs/export.md).
 *
 * An exporter takes the events of a trace in the defined order and writes them down. It is a file
 * here and a row in table.c. export.c owns the output and makes it appear whole or not at all.
 */
#ifndef WTI_SHOW_EXPORT_EXPORT_H
#define WTI_SHOW_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "sink.h"

struct wti_sources; /* show/source.h */

/* What an exporter works with. It outlives the exporter's state. */
struct wti_export {
	const struct wt_trace *trace;
	const struct wt_query *query; /* what of it is wanted */
	struct wti_export_sink *sink; /* open, unless the exporter opens files of its own */
	const char *path;             /* what is to be made; "-": standard output */
	bool force;                   /* may replace what is there */
	bool fd_names;                /* of system calls: what descriptors refer to */
	bool times;                   /* of system calls: when each began */
	size_t string_max;            /* of system calls: bytes of strings; 0: as strace */
	const char *calls;            /* of system calls: which (syscall/expr.h); NULL: all */
	struct wti_sources *sources; /* of system calls and stacks; is made by wti_export_begin() */
	const char *directory;       /* in which the program was started; NULL: not known */
	uint64_t events;             /* so far */
	uint64_t bytes;              /* written; of exporters with files of their own */
	/* What the output does not show, for the user to know. */
	uint64_t lost_count;     /* events that the trace says are missing */
	uint64_t unopened_count; /* ends without a begin */
	uint64_t unclosed_count; /* begins without an end */
	uint64_t left_out_count; /* flows, rows or slices beyond a ceiling */
	uint64_t renamed_count;  /* columns and tables whose name was taken or not fit */
};

struct wti_exporter {
	const char *name;      /* "perfetto" */
	const char *extension; /* of the file, without the dot */
	const char *summary;   /* one line */
	bool streams;          /* can be written to a pipe */
	bool is_binary;        /* not text: a terminal is no place for it */
	bool own_files;        /* opens its output itself, and finish() makes it appear */
	size_t state_bytes;    /* zeroed memory that the functions get as `state` */
	int (*begin)(void *state, struct wti_export *export, struct wt_err *err);
	int (*event)(void *state, const struct wt_event *event, struct wt_err *err);
	int (*finish)(void *state, struct wt_err *err);
	void (*release)(void *state); /* after finish(), or instead of it */
};

extern const struct wti_exporter *const wti_exporters[]; /* ends with NULL */
const struct wti_exporter *wti_exporter_by_name(const char *name);

/* An export that is under way. */
struct wti_export_job {
	const struct wti_exporter *exporter;
	struct wti_export export;
	struct wti_export_sink sink;
	void *state;
	struct wti_sources *sources;
	struct wti_native *native;
	bool begun;
};

/*
 * Begins to write to `path` of the options, through a temporary file; refuses to replace anything
 * unless `force`. `query` is what the events will have been asked for with; exporters that need to
 * look ahead ask with it, too. What the options point to must outlive the job.
 */
int wti_export_begin(struct wti_export_job *job, const struct wti_exporter *exporter,
		     const struct wti_export *options, struct wt_err *err);
/* Events in the defined order. */
int wti_export_event(struct wti_export_job *job, const struct wt_event *event, struct wt_err *err);
/* The output is whole, and appears. job->export has what there is to say about it. */
int wti_export_finish(struct wti_export_job *job, struct wt_err *err);
/* Without wti_export_finish() nothing is left of it. */
void wti_export_release(struct wti_export_job *job);

/* The rows. */
extern const struct wti_exporter wti_exporter_perfetto;
extern const struct wti_exporter wti_exporter_chrome;
extern const struct wti_exporter wti_exporter_jsonl;
extern const struct wti_exporter wti_exporter_sbt;
extern const struct wti_exporter wti_exporter_csv;
extern const struct wti_exporter wti_exporter_sqlite;
extern const struct wti_exporter wti_exporter_strace;
extern const struct wti_exporter wti_exporter_renacer;
extern const struct wti_exporter wti_exporter_html;

#endif
