/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as what a timeline viewer shows: rows (processes, threads, queues of devices, counters),
 * slices on them that always nest, instants, counter values, arrows. What a viewer's own format
 * looks like is the target's business.
 *
 *   spans and calls          slices of their thread; unmatched ends are counted and left out
 *   device operations        slices of their queue, on lanes where they overlap
 *   system calls             slices of a row below their thread, in whichever stream that is
 *   context                  a row a variable beside the thread, a slice a value
 *   counters                 a row a name and process; values that are not finite as instants
 *   edges                    arrows
 *   clock, watermark         nothing: they are about the recording
 *   everything else          instants with their fields
 */
#ifndef WTI_SHOW_EXPORT_TIMELINE_H
#define WTI_SHOW_EXPORT_TIMELINE_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/arena.h"
#include "base/map.h"
#include "export.h"
#include "flows.h"

enum wti_row_type {
	WTI_ROW_PROCESS,
	WTI_ROW_THREAD,
	WTI_ROW_DEVICE,
	WTI_ROW_OTHER, /* queues, ranks, lanes, context: a row with a name under another */
	WTI_ROW_COUNTER,
};

struct wti_row {
	uint32_t id; /* from 1 */
	uint32_t parent;
	enum wti_row_type type;
	uint32_t pid;
	uint32_t tid;
	struct wt_text name;
	struct wt_text unit; /* of counters */
};

/* Number of a category, and its name. */
enum wti_category {
	WTI_CATEGORY_SPAN = 1,
	WTI_CATEGORY_CALL,
	WTI_CATEGORY_CONTEXT,
	WTI_CATEGORY_SYSCALL,
	WTI_CATEGORY_LAUNCH,
	WTI_CATEGORY_OPERATOR,
	WTI_CATEGORY_EVENT,                                 /* and above: the kind of an instant */
	WTI_CATEGORY_OP = WTI_CATEGORY_EVENT + WT_KIND_END, /* and above: enum wt_op */
	WTI_CATEGORY_COUNT = WTI_CATEGORY_OP + 16,
};
const char *wti_category_name(unsigned category);
/* Of what begins with an event of this kind. */
unsigned wti_category_of(uint16_t begin);

/* A name: a string of a stream, so that a target can intern it, or a text. */
struct wti_name {
	size_t stream;
	uint32_t id; /* 0: the text */
	struct wt_text text;
};

struct wti_slice {
	uint32_t row;
	unsigned category;
	struct wti_name name;
	int64_t begin_ns;
	int64_t end_ns;
	/* Its arguments: all fields of `event`, if any; of a call its module and place. */
	const struct wt_event *event;
	const struct wt_reader *reader;
	uint32_t module;
	uint32_t site;
	uint32_t exception; /* of a call, known at the end */
	bool unfinished;    /* it had no end: this is where the stream ends */
	const struct wti_flow *out;
	const struct wti_flow *in;
	uint32_t out_count;
	uint32_t in_count;
};

struct wti_timeline_target {
	void (*row)(void *target, const struct wti_row *row);
	/* begin() has all but the end, end() has all but the arrows. */
	void (*begin)(void *target, const struct wti_slice *slice);
	void (*end)(void *target, const struct wti_slice *slice);
	void (*instant)(void *target, const struct wti_slice *slice);
	void (*counter)(void *target, uint32_t row, int64_t time_ns, double value);
};

struct wti_timeline_track;

struct wti_timeline {
	struct wti_export *export;
	const struct wti_timeline_target *target;
	void *state; /* the target's */
	struct wti_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct wti_timeline_track **tracks;
	size_t track_count;
	size_t track_capacity;
	struct wti_map track_index;   /* stream and track: place in tracks */
	struct wti_map process_index; /* stream, or pid of a process without one: row */
	struct wti_map stream_index;  /* pid: stream plus one */
	struct wti_map device_index;  /* stream and device: row */
	struct wti_map counter_index; /* stream and name: row */
	struct wti_map thread_index;  /* pid and tid: row, twice, plus one where a track has it */
	struct wti_arena arena;
	struct wti_flows flows;
	struct wti_buf scratch;
};

int wti_timeline_init(struct wti_timeline *timeline, struct wti_export *export,
		      const struct wti_timeline_target *target, void *state, struct wt_err *err);
void wti_timeline_release(struct wti_timeline *timeline);
int wti_timeline_event(struct wti_timeline *timeline, const struct wt_event *event,
		       struct wt_err *err);
/* Ends what is still open. */
int wti_timeline_finish(struct wti_timeline *timeline, struct wt_err *err);

/* The fields of an instant or an operation that are worth showing. */
bool wti_field_shown(const struct wt_event *event, int field);

#endif
