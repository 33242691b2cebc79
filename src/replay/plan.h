/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be executed again: the operations that one process gave to devices, in the order in
 * which it enqueued them, the objects that they use, and what had to come before what. It knows the
 * events that `record --opencl --replayable` leaves (docs/opencl.md) and hides how they are joined.
 *
 * A plan is made of a file that anybody may have written. Whoever reads a plan may rely on this:
 * indices are in range, every access lies within its object, texts end with NUL; sizes are those of
 * the file, so whoever allocates has a ceiling of its own.
 */
#ifndef WTI_REPLAY_PLAN_H
#define WTI_REPLAY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "base/arena.h"
#include "base/map.h"

#define WTI_PLAN_NONE UINT32_MAX

enum wti_replay_plan_call {
	WTI_CALL_UNKNOWN, /* or one that cannot be executed again */
	WTI_CALL_KERNEL,
	WTI_CALL_READ_BUFFER,
	WTI_CALL_WRITE_BUFFER,
	WTI_CALL_COPY_BUFFER,
	WTI_CALL_FILL_BUFFER,
	WTI_CALL_READ_RECT,
	WTI_CALL_WRITE_RECT,
	WTI_CALL_COPY_RECT,
	WTI_CALL_READ_IMAGE,
	WTI_CALL_WRITE_IMAGE,
	WTI_CALL_FILL_IMAGE,
	WTI_CALL_COPY_IMAGE,
	WTI_CALL_IMAGE_TO_BUFFER,
	WTI_CALL_BUFFER_TO_IMAGE,
	WTI_CALL_MAP,
	WTI_CALL_UNMAP,
	WTI_CALL_MIGRATE,
	WTI_CALL_SVM_COPY,
	WTI_CALL_SVM_FILL,
	WTI_CALL_SVM_FREE,
	WTI_CALL_MARKER,
	WTI_CALL_BARRIER,
	WTI_CALL_SYNC,     /* the host waited */
	WTI_CALL_USER_SET, /* the host set an event of its own */
};

struct wti_replay_plan_object {
	uint64_t id;
	uint64_t offset; /* of a sub-buffer in its parent */
	uint64_t bytes;
	uint64_t flags;
	uint64_t hash; /* of its first content, or of a program's source; 0: not kept */
	const char *name;
	const char *options; /* of a program that was built; NULL: it was not */
	const void *details;
	uint32_t details_bytes;
	uint32_t type;       /* enum wt_device_object_type */
	uint32_t parent;     /* index; WTI_PLAN_NONE: none */
	uint32_t device;     /* number, as recorded */
	bool is_specialised; /* a program into which constants were put */
};

struct wti_replay_plan_access {
	uint64_t correlation;
	uint64_t offset;
	uint64_t bytes;
	uint64_t hash; /* of what came from the host or went to it; 0: not kept */
	const void *value;
	uint32_t value_bytes;
	uint32_t object; /* index; WTI_PLAN_NONE: memory of the host, or none */
	uint32_t mode;   /* enum wt_access_mode */
	int32_t argument;
	uint32_t place; /* in order of arrival */
};

struct wti_replay_plan_op {
	uint64_t correlation;
	int64_t start_ns, end_ns; /* of the run, when it was recorded; 0: not known */
	const char *name;         /* of the kernel, or the function that enqueued it */
	const char *refusal;      /* why it cannot be executed again; NULL: it can */
	uint32_t call;            /* enum wti_replay_plan_call */
	uint32_t queue;           /* index of the object; WTI_PLAN_NONE: not known */
	uint32_t access_first, access_count;
	uint32_t wait_first, wait_count;     /* of waits: operations that it was told to wait for */
	uint32_t before_first, before_count; /* of befores: all that had to come before it */
	bool is_launched;                    /* the program enqueued it */
	bool is_seen;                        /* the device reported it */
	bool has_failed;                     /* the driver refused it */
};

struct wti_replay_plan {
	struct wti_replay_plan_op *ops; /* by correlation: the order of the calls */
	size_t op_count, op_capacity;
	struct wti_replay_plan_object *objects;
	size_t object_count, object_capacity;
	struct wti_replay_plan_access *accesses; /* by operation */
	size_t access_count, access_capacity;
	uint32_t *waits;
	size_t wait_count, wait_capacity;
	uint32_t *befores;
	size_t before_count, before_capacity;
	uint32_t *serial; /* operations in the order of the calls, as far as that is possible */
	size_t serial_count;
	uint64_t lost_count;  /* events that were lost: something may be missing */
	uint64_t extra_count; /* operations of a device that nobody enqueued */
	uint32_t pid;
	struct wti_map object_of; /* id: index plus one */
	struct wti_arena texts;
};

/* The work of one stream of the trace. No work is no error: op_count is 0 then. */
int wti_replay_plan_read(const struct wt_trace *trace, size_t stream,
			 struct wti_replay_plan *ret_plan, struct wt_err *err);
/* The error of a run that has none. */
int wti_replay_no_work(struct wt_err *err);
void wti_replay_plan_release(struct wti_replay_plan *plan);

/* plan_order.c: fills in what comes before what, and the serial order. A part of reading. */
int wti_replay_plan_order(struct wti_replay_plan *plan, struct wt_err *err);

/* How operations are put in an order; each is legal: nothing comes before what it has to follow. */
enum wti_replay_order_type {
	WTI_ORDER_ORIGINAL, /* of the calls, and all queues at once as the program had it */
	WTI_ORDER_SERIAL,   /* of the calls, one after the other */
	WTI_ORDER_REVERSED, /* of what may come next, the last that was enqueued */
	WTI_ORDER_RANDOM,
	WTI_ORDER_FIRST, /* `first` as early as possible, then as serial */
};

struct wti_replay_order {
	enum wti_replay_order_type type;
	uint64_t seed;
	uint32_t first;
};

/* `ret_ops` has room for op_count. How many there are: fewer if they wait for one another. */
int wti_replay_plan_arrange(const struct wti_replay_plan *plan,
			    const struct wti_replay_order *order, uint32_t *ret_ops,
			    size_t *ret_count, struct wt_err *err);

/* A queue that keeps its order. */
bool wti_replay_plan_is_ordered(const struct wti_replay_plan_object *queue);
bool wti_replay_plan_is_memory(const struct wti_replay_plan_object *object);
static inline bool wti_replay_plan_is_command(const struct wti_replay_plan_op *op)
{
	return op->call != WTI_CALL_SYNC && op->call != WTI_CALL_USER_SET;
}

/* What an access does with memory of a device. */
bool wti_replay_plan_reads(const struct wti_replay_plan *plan,
			   const struct wti_replay_plan_access *access);
bool wti_replay_plan_writes(const struct wti_replay_plan *plan,
			    const struct wti_replay_plan_access *access);
/* The access of that mode, the first one; NULL: there is none. */
const struct wti_replay_plan_access *wti_replay_plan_access(const struct wti_replay_plan *plan,
							    const struct wti_replay_plan_op *op,
							    uint32_t mode, bool is_host);

#endif
