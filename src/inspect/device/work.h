/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of devices as columns in memory: operations, the calls of host threads around them, and
 * what joins the two. One pass over the events fills it, wti_work_finish() puts it in order, and
 * every question about devices (the other files of this room) reads it.
 *
 * It hides in which order events come and how a launch finds its operation. An operation takes 48
 * bytes, a call 40, a dependency 24; names are symbols. Spans of Python functions and calls that an
 * agent saw are kept only as the place from where something was launched.
 */
#ifndef WTI_DEVICE_WORK_H
#define WTI_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "inspect/core/spans.h"
#include "inspect/core/steps.h"
#include "inspect/core/symbols.h"

/* What a kernel does, as HolisticTraceAnalysis tells kernels apart: by name. */
enum wti_kernel_type {
	WTI_KERNEL_COMPUTE,
	WTI_KERNEL_COMMUNICATION,
	WTI_KERNEL_MEMORY,
	WTI_KERNEL_OTHER,
	WTI_KERNEL_TYPES,
};

struct wti_work_op {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t correlation;
	uint64_t bytes;
	uint32_t name;  /* symbol */
	uint32_t call;  /* that launched it, plus one; 0: not known */
	uint32_t place; /* in order of arrival */
	uint16_t queue;
	uint8_t op; /* enum wt_op */
	uint8_t type : 2;
	bool in_graph : 1; /* launched with others by one call */
	bool alone : 1;    /* nothing waited in its queue when it was launched */
	bool at_once : 1;  /* nothing waited behind it when it started */
	bool untimed : 1;  /* the trace has no times of it: they follow from its launch */
};

struct wti_work_call {
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t name;   /* symbol */
	uint32_t parent; /* the call around it, plus one; 0: none */
	uint32_t where;  /* symbol: "train.py:12" or a Python function; 0: not known */
	int32_t step;    /* -1: in none */
	uint32_t stage;  /* symbol; 0: none */
	uint16_t thread;
	uint8_t flags; /* enum wti_work_flag */
};

enum wti_work_flag {
	WTI_WORK_RUNTIME = 1,    /* a call of a device API */
	WTI_WORK_OPERATOR = 2,   /* an operator of a framework */
	WTI_WORK_ANNOTATION = 4, /* a range of the user's, or a span that says nothing else */
	WTI_WORK_LAUNCHES = 8,   /* an operation was launched in it, not deeper */
	WTI_WORK_BLOCKS = 16,    /* waits for a device: its time is not the host's own */
	WTI_WORK_MARKED = 32,    /* the source says that it is a range of the user's */
};

/* Dependencies that the trace itself has, by index of the operations. */
struct wti_work_edge {
	uint64_t from, to; /* correlations; indices plus one after wti_work_finish() */
	uint32_t stream;
	uint32_t type; /* enum wt_edge */
};

/* What an operation did with memory. */
struct wti_work_access {
	uint64_t correlation; /* index of the operation plus one after wti_work_finish() */
	uint64_t object;
	uint64_t from, to; /* bytes of the object */
	uint32_t stream;
	bool reads, writes;
};

struct wti_work_object {
	uint64_t parent; /* of a part: what it is a part of; 0: it is whole */
	uint64_t offset;
	int64_t bytes;
};

/* Memory of a device was taken (positive) or given back. */
struct wti_work_memory {
	int64_t ns;
	int64_t bytes;
	uint32_t unit;
	bool is_before; /* no allocation: what was in use before the first that was recorded */
};

/* A launch on its way to its operation. */
struct wti_work_pair {
	uint64_t correlation;
	uint32_t stream;
	uint32_t call; /* plus one */
	uint64_t via;  /* correlation of the launch that it was a part of; 0: of none */
};

struct wti_work_queue {
	uint32_t stream;
	uint32_t track;
	uint32_t unit;
	bool is_queue;       /* not the track of a host thread */
	size_t first, count; /* its operations, in order of their start */
};

/* A device of a process: what others call a rank. */
struct wti_work_unit {
	uint32_t stream;
	uint32_t device;
	int32_t rank; /* -1: not one of several */
	bool has_memory;
};

struct wti_work_thread {
	uint32_t stream;
	uint32_t track;
};

struct wti_work {
	const struct wt_trace *trace;
	struct wti_symbols symbols;
	struct wti_steps steps;
	struct wti_spans spans;

	struct wti_work_op *ops; /* by queue, then start */
	size_t op_count, op_capacity;
	struct wti_work_call *calls; /* in order of their begin */
	size_t call_count, call_capacity;
	struct wti_work_edge *edges;
	size_t edge_count, edge_capacity;
	struct wti_work_access *accesses;
	size_t access_count, access_capacity;
	struct wti_work_memory *memory; /* in order of time */
	size_t memory_count, memory_capacity;
	struct wti_work_object *objects;
	size_t object_count, object_capacity;
	struct wti_map object_of; /* id, with the stream: index plus one */
	struct wti_work_queue *queues;
	size_t queue_count, queue_capacity;
	struct wti_work_unit *units;
	size_t unit_count, unit_capacity;
	struct wti_work_thread *threads;
	size_t thread_count, thread_capacity;

	struct wti_map queue_of;  /* stream and track, and device: index plus one */
	struct wti_map unit_of;   /* stream and device: index plus one */
	struct wti_map thread_of; /* stream and track: index plus one */
	struct wti_map step_of;   /* stream: step of its profiler's range, plus one */
	struct wti_map site_of;   /* stream and site: symbol */
	struct wti_work_pair *launches;
	size_t launch_count, launch_capacity;
	uint32_t *slots; /* hash of stream and correlation: index of an operation plus one */
	size_t slot_count;
	struct wti_map type_of; /* symbol and op: type plus one */

	int64_t first_ns, last_ns; /* of all that was seen */
	uint64_t work_count;       /* operations in which a device works */
	uint64_t reversed_count;   /* that end before they start: left out */
	uint64_t timeless_count;   /* operations that have not ended */
	uint64_t unlaunched_count; /* without a call that launched them */
	uint64_t unjoined_count;   /* dependencies of what is not there */
	uint64_t lost_count;
};

int wti_work_init(struct wti_work *work, const struct wt_trace *trace, struct wt_err *err);
void wti_work_release(struct wti_work *work);
/* The kinds that it takes; others are passed over. Ends with NULL. */
extern const char *const wti_work_kinds[];
int wti_work_event(struct wti_work *work, const struct wt_event *event, struct wt_err *err);
/* Everything was seen: joins and sorts. */
int wti_work_finish(struct wti_work *work, struct wt_err *err);
/* Frees what is known of memory, for whoever asks nothing about it. */
void wti_work_forget_memory(struct wti_work *work);

/* A part of it: devices by rank and number, queues by device and track. */
int wti_work_order(struct wti_work *work, struct wt_err *err);

/* The call that launched it, or NULL. */
const struct wti_work_call *wti_work_launch(const struct wti_work *work,
					    const struct wti_work_op *op);
/* The outermost or innermost operator around a call, itself included, plus one; 0: none. */
uint32_t wti_work_operator(const struct wti_work *work, uint32_t call, bool outermost);
bool wti_work_is_work(const struct wti_work_op *op);
/* Whether it is one of what HolisticTraceAnalysis calls GPU rows: all that lies on a queue. */
bool wti_work_is_row(const struct wti_work *work, const struct wti_work_op *op);

/* Types by name. */
enum wti_kernel_type wti_kernel_type(uint8_t op, const char *name);
const char *wti_kernel_type_word(enum wti_kernel_type type);

#endif
