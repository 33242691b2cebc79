/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the inspector `timeline` draws: timeline.c turns events into intervals, chart_rows.c puts
 * these into the rows of the chart, chart_report.c makes a result of them.
 */
#ifndef WTI_INSPECT_CHART_H
#define WTI_INSPECT_CHART_H

#include <wheeltap/result.h>

#include "bars.h"
#include "base/map.h"
#include "busy.h"
#include "concurrency.h"
#include "inspect/core/roles.h"
#include "inspect/core/spans.h"
#include "timeline.h"

#define WTI_CHART_COLUMNS 60u /* where none are asked for */
/* Spans that lie deeper have no bars. */
#define WTI_CHART_DEPTHS 6u

enum wti_chart_type {
	WTI_CHART_THREAD,
	WTI_CHART_SYSCALLS, /* of a thread */
	WTI_CHART_DEVICE,   /* of a process: all its queues */
	WTI_CHART_QUEUE,
};

/* What a row is of. */
struct wti_chart_subject {
	enum wti_chart_type type;
	uint32_t track; /* 0: a device */
	size_t stream;
	uint32_t device;      /* of devices and queues */
	struct wti_role role; /* of its process */
};

struct wti_chart_row {
	struct wti_chart_subject of;
	/* Where it stands: system calls beside the thread that made them, in another stream. */
	size_t beside_stream;
	uint32_t beside_track;
	bool is_shared; /* the device: other processes have one of the same number */
	uint64_t count; /* spans, system calls or operations */
	struct wti_busy busy;
	struct wti_bars bars[WTI_CHART_DEPTHS];
	struct wti_concurrency *concurrency; /* of devices */
};

/* When something was done, and what. */
struct wti_chart_interval {
	int64_t from_ns, to_ns;
	struct wt_text name; /* as long as the trace */
	uint32_t depth;      /* only the outermost, 0, counts as busy */
};

struct wti_chart {
	const struct wt_trace *trace;
	struct wti_timeline_options options;
	struct wti_spans spans;
	struct wti_map index; /* what a row is of: its number plus one */
	struct wti_chart_row *rows;
	size_t row_count, row_capacity, syscall_row_count, lane_count;
	struct wti_roles roles;
	struct wti_map inside; /* stream and track: 1 while it is in its call of a worker */
	struct wti_concurrency all;
	int64_t last_ns; /* of anything that was seen */
	int64_t before_ns,
		after_ns; /* the nearest busy times around the window; at the extremes: none */
	int64_t device_from_ns, device_to_ns;
	uint64_t op_count;
	uint64_t left_out_count; /* for want of a row */
	uint64_t undrawn_count;  /* for want of bars */
	uint64_t reversed_count;
	uint64_t timeless_count; /* operations that have not ended */
	uint64_t lost_count;
};

void wti_chart_rows_init(struct wti_chart *c);
void wti_chart_rows_release(struct wti_chart *c);
/* The row is made if it is new. */
int wti_chart_add(struct wti_chart *c, const struct wti_chart_subject *of,
		  const struct wti_chart_interval *interval, struct wt_err *err);
/* All is there: settles the figures and puts the rows in order. */
void wti_chart_rows_finish(struct wti_chart *c);

void wti_chart_report(struct wti_chart *c, struct wt_result *result);

#endif
