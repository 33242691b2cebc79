/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan of events: takes them in, sorts them by operation, joins and checks them. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/label.h"

#define OPS_MAX (1u << 22)
#define OBJECTS_MAX (1u << 20)
#define ACCESSES_MAX (1u << 24)
#define TEXTS_BYTES_MAX (256u << 20)
#define QUEUE_OUT_OF_ORDER 1u /* CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE */
#define FAILED_MARK "OpenCL command failed"

struct edge {
	uint64_t from, to;
	uint32_t type;
};

/* What is needed only while events come in. */
struct intake {
	struct wti_replay_plan *plan;
	size_t stream;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct wti_map op_of;       /* correlation: index plus one */
	struct wti_map launched_by; /* track: index plus one of what it launched last */
	struct wti_map queue_of;    /* track: index plus one of the queue's object */
};

static const struct {
	const char *name;
	enum wti_replay_plan_call call;
} calls[] = {
	{"clEnqueueReadBuffer", WTI_CALL_READ_BUFFER},
	{"clEnqueueWriteBuffer", WTI_CALL_WRITE_BUFFER},
	{"clEnqueueCopyBuffer", WTI_CALL_COPY_BUFFER},
	{"clEnqueueFillBuffer", WTI_CALL_FILL_BUFFER},
	{"clEnqueueReadBufferRect", WTI_CALL_READ_RECT},
	{"clEnqueueWriteBufferRect", WTI_CALL_WRITE_RECT},
	{"clEnqueueCopyBufferRect", WTI_CALL_COPY_RECT},
	{"clEnqueueReadImage", WTI_CALL_READ_IMAGE},
	{"clEnqueueWriteImage", WTI_CALL_WRITE_IMAGE},
	{"clEnqueueFillImage", WTI_CALL_FILL_IMAGE},
	{"clEnqueueCopyImage", WTI_CALL_COPY_IMAGE},
	{"clEnqueueCopyImageToBuffer", WTI_CALL_IMAGE_TO_BUFFER},
	{"clEnqueueCopyBufferToImage", WTI_CALL_BUFFER_TO_IMAGE},
	{"clEnqueueMapBuffer", WTI_CALL_MAP},
	{"clEnqueueMapImage", WTI_CALL_MAP},
	{"clEnqueueSVMMap", WTI_CALL_MAP},
	{"clEnqueueUnmapMemObject", WTI_CALL_UNMAP},
	{"clEnqueueSVMUnmap", WTI_CALL_UNMAP},
	{"clEnqueueMigrateMemObjects", WTI_CALL_MIGRATE},
	{"clEnqueueSVMMigrateMem", WTI_CALL_MIGRATE},
	{"clEnqueueSVMMemcpy", WTI_CALL_SVM_COPY},
	{"clEnqueueSVMMemFill", WTI_CALL_SVM_FILL},
	{"clEnqueueSVMFree", WTI_CALL_SVM_FREE},
	{"clEnqueueMarker", WTI_CALL_MARKER},
	{"clEnqueueMarkerWithWaitList", WTI_CALL_MARKER},
	{"clEnqueueBarrier", WTI_CALL_BARRIER},
	{"clEnqueueBarrierWithWaitList", WTI_CALL_BARRIER},
	{"clEnqueueWaitForEvents", WTI_CALL_BARRIER},
	{"clSetUserEventStatus", WTI_CALL_USER_SET},
};

static enum wti_replay_plan_call call_of(uint32_t op, struct wt_text name)
{
	if (op == WT_OP_KERNEL)
		return WTI_CALL_KERNEL;
	if (op == WT_OP_SYNC)
		return WTI_CALL_SYNC;
	for (size_t i = 0; i < WTI_COUNT(calls); i++)
		if (strlen(calls[i].name) == name.bytes &&
		    !memcmp(calls[i].name, name.data, name.bytes))
			return calls[i].call;
	return WTI_CALL_UNKNOWN;
}

static int failed(int code, struct wt_err *err, const char *what)
{
	if (code == WT_E_LIMIT)
		return wti_err(err, code, "too many %s to replay", what);
	return wti_err(err, code, "out of memory for %s", what);
}

static const char *keep_text(struct wti_replay_plan *plan, struct wt_text text)
{
	return wti_arena_text(&plan->texts, text.data, text.bytes);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The operation of that correlation, made if it is new; NULL after an error. */
static struct wti_replay_plan_op *op_at(struct intake *in, uint64_t correlation, struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	uint64_t *slot = wti_map_number(&in->op_of, correlation);
	int r;

	if (!slot) {
		wti_map_failed(&in->op_of, err, "operations to replay");
		return NULL;
	}
	if (!*slot) {
		r = wti_grow(&plan->ops, plan->op_count + 1, &plan->op_capacity, OPS_MAX);
		if (r) {
			failed(r, err, "operations");
			return NULL;
		}
		plan->ops[plan->op_count++] = (struct wti_replay_plan_op){
			.correlation = correlation, .name = "", .queue = WTI_PLAN_NONE};
		*slot = plan->op_count;
	}
	return &plan->ops[*slot - 1];
}

static int take_op(struct intake *in, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text name = wt_event_text(event, WT_DEVICE_OP_FIELD_NAME);
	struct wti_device_op read;
	struct wti_replay_plan_op *op =
		op_at(in, wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION), err);

	if (!op)
		return err->code;
	wti_device_op_read(&read, event);
	op->call = call_of(read.op, name);
	op->name = keep_text(in->plan, name);
	op->start_ns = read.started_ns;
	op->end_ns = read.ended_ns;
	op->is_seen = true;
	op->queue = read.queue; /* its track, until all queues are known */
	return op->name ? 0 : failed(in->plan->texts.status, err, "names");
}

static int take_edge(struct intake *in, const struct wt_event *event, struct wt_err *err)
{
	const struct edge edge = {wt_event_u64(event, WT_EDGE_FIELD_FROM),
				  wt_event_u64(event, WT_EDGE_FIELD_TO),
				  (uint32_t)wt_event_u64(event, WT_EDGE_FIELD_TYPE)};
	struct wti_replay_plan_op *op;
	int r;

	if (edge.type == WT_EDGE_LAUNCH && edge.from == edge.to) {
		op = op_at(in, edge.to, err);
		if (!op)
			return err->code;
		op->is_launched = true;
		return wti_map_put(&in->launched_by, event->track,
				   (uint64_t)(op - in->plan->ops) + 1)
			       ? 0
			       : wti_map_failed(&in->launched_by, err, "threads");
	}
	if (edge.type != WT_EDGE_RECORD_WAIT && edge.type != WT_EDGE_SYNC)
		return 0;
	r = wti_grow(&in->edges, in->edge_count + 1, &in->edge_capacity, ACCESSES_MAX);
	if (r)
		return failed(r, err, "dependencies");
	in->edges[in->edge_count++] = edge;
	return 0;
}

static void take_mark(struct intake *in, const struct wt_event *event)
{
	struct wt_text name = wt_event_text(event, WT_MARK_FIELD_NAME);
	uint64_t slot = wti_map_get(&in->launched_by, event->track);

	if (slot && name.bytes == strlen(FAILED_MARK) &&
	    !memcmp(name.data, FAILED_MARK, name.bytes))
		in->plan->ops[slot - 1].has_failed = true;
}

static int take_access(struct intake *in, const struct wt_event *event, struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	struct wt_text value = wt_event_text(event, WT_DEVICE_ACCESS_FIELD_VALUE);
	struct wti_replay_plan_access access = {
		.correlation = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_CORRELATION),
		.offset = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_OFFSET),
		.bytes = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_BYTES),
		.hash = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_HASH),
		.value = keep_text(plan, value),
		.value_bytes = (uint32_t)value.bytes,
		.mode = (uint32_t)wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_MODE),
		.argument = (int32_t)wt_event_i64(event, WT_DEVICE_ACCESS_FIELD_ARGUMENT),
	};
	uint64_t id = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_OBJECT);
	uint64_t slot = wti_map_get(&plan->object_of, id);
	int r;

	access.object = slot ? (uint32_t)slot - 1 : WTI_PLAN_NONE;
	if (!access.value)
		return failed(plan->texts.status, err, "arguments");
	r = wti_grow(&plan->accesses, plan->access_count + 1, &plan->access_capacity, ACCESSES_MAX);
	if (r)
		return failed(r, err, "accesses");
	access.place = (uint32_t)plan->access_count;
	plan->accesses[plan->access_count++] = access;
	return 0;
}

static int add_object(struct intake *in, const struct wt_event *event, uint64_t *slot,
		      struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	struct wt_text details = wt_event_text(event, WT_DEVICE_OBJECT_FIELD_DETAILS);
	uint64_t parent = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_PARENT);
	struct wti_replay_plan_object object = {
		.id = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_ID),
		.offset = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_OFFSET),
		.bytes = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_BYTES),
		.flags = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_FLAGS),
		.hash = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_HASH),
		.name = keep_text(plan, wt_event_text(event, WT_DEVICE_OBJECT_FIELD_NAME)),
		.details = keep_text(plan, details),
		.details_bytes = (uint32_t)details.bytes,
		.type = (uint32_t)wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_TYPE),
		.device = (uint32_t)wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_DEVICE),
	};
	/* A parent is older, so there are no circles. */
	uint64_t place = parent != object.id ? wti_map_get(&plan->object_of, parent) : 0;
	int r;

	object.parent = place ? (uint32_t)place - 1 : WTI_PLAN_NONE;
	if (!object.name || !object.details)
		return failed(plan->texts.status, err, "objects");
	r = wti_grow(&plan->objects, plan->object_count + 1, &plan->object_capacity, OBJECTS_MAX);
	if (r)
		return failed(r, err, "objects");
	plan->objects[plan->object_count++] = object;
	*slot = plan->object_count;
	if (object.type == WT_DEVICE_OBJECT_TYPE_QUEUE && details.bytes == 4 &&
	    !wti_map_put(&in->queue_of, wti_get32(details.data), plan->object_count))
		return wti_map_failed(&in->queue_of, err, "queues");
	return 0;
}

static int take_object(struct intake *in, const struct wt_event *event, struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	uint32_t phase = (uint32_t)wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_PHASE);
	uint64_t *slot =
		wti_map_number(&plan->object_of, wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_ID));

	if (!slot)
		return wti_map_failed(&plan->object_of, err, "objects to replay");
	if (phase == WT_DEVICE_OBJECT_PHASE_CREATED && !*slot)
		return add_object(in, event, slot, err);
	if (phase == WT_DEVICE_OBJECT_PHASE_BUILT && *slot) {
		const char *options =
			keep_text(plan, wt_event_text(event, WT_DEVICE_OBJECT_FIELD_DETAILS));

		if (!options)
			return failed(plan->texts.status, err, "objects");
		plan->objects[*slot - 1].options = options;
	}
	if (phase == WT_DEVICE_OBJECT_PHASE_CHANGED && *slot)
		plan->objects[*slot - 1].is_specialised = true;
	return 0;
}

static int take(struct intake *in, const struct wt_event *event, struct wt_err *err)
{
	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		return take_op(in, event, err);
	case WT_KIND_EDGE:
		return take_edge(in, event, err);
	case WT_KIND_MARK:
		take_mark(in, event);
		return 0;
	case WT_KIND_DEVICE_ACCESS:
		return take_access(in, event, err);
	case WT_KIND_DEVICE_OBJECT:
		return take_object(in, event, err);
	default:
		in->plan->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	}
}

static int take_all(struct intake *in, const struct wt_trace *trace, struct wt_err *err)
{
	static const char *const kinds[] = {"device_op",     "edge",          "mark",
					    "device_access", "device_object", "lost"};
	struct wt_cursor *cursor;
	struct wt_query query;
	struct wt_event event;
	int r, more;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = WTI_COUNT(kinds);
	r = wt_cursor_open(trace, &query, &cursor, err);
	if (r)
		return r;
	while ((more = wt_cursor_next(cursor, &event, err)) > 0 && !r)
		if (event.stream == in->stream)
			r = take(in, &event, err);
	wt_cursor_free(cursor);
	return r ? r : more;
}

/* ---- Joining --------------------------------------------------------------------------------- */

static int by_correlation(const void *a, const void *b)
{
	const struct wti_replay_plan_op *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Ties keep the order in which they came: rows of an operation have one. */
static int by_operation(const void *a, const void *b)
{
	const struct wti_replay_plan_access *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static uint32_t find_op(const struct wti_replay_plan *plan, uint64_t correlation)
{
	const struct wti_replay_plan_op key = {.correlation = correlation};
	const struct wti_replay_plan_op *found =
		plan->op_count
			? bsearch(&key, plan->ops, plan->op_count, sizeof(key), by_correlation)
			: NULL;

	return found ? (uint32_t)(found - plan->ops) : WTI_PLAN_NONE;
}

/* Accesses of an operation that is not there are passed over. */
static void join_accesses(struct wti_replay_plan *plan)
{
	if (plan->access_count)
		qsort(plan->accesses, plan->access_count, sizeof(*plan->accesses), by_operation);
	for (size_t i = 0, end; i < plan->access_count; i = end) {
		uint32_t at = find_op(plan, plan->accesses[i].correlation);

		for (end = i + 1; end < plan->access_count &&
				  plan->accesses[end].correlation == plan->accesses[i].correlation;)
			end++;
		if (at == WTI_PLAN_NONE)
			continue;
		plan->ops[at].access_first = (uint32_t)i;
		plan->ops[at].access_count = (uint32_t)(end - i);
	}
}

/* An edge of a launch by the driver itself (its compilation) leads from nowhere. */
static int join_edges(struct intake *in, struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	uint32_t *next = calloc(plan->op_count + 1, sizeof(*next));
	int r = next ? wti_grow(&plan->waits, in->edge_count + 1, &plan->wait_capacity,
				WTI_NO_CEILING)
		     : WT_E_NOMEM;

	if (r) {
		free(next);
		return failed(r, err, "dependencies");
	}
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < in->edge_count; i++) {
			uint32_t from = find_op(plan, in->edges[i].from);
			uint32_t to = find_op(plan, in->edges[i].to);

			if (from == WTI_PLAN_NONE || to == WTI_PLAN_NONE || from == to)
				continue;
			if (!pass)
				plan->ops[to].wait_count++;
			else
				plan->waits[plan->ops[to].wait_first + next[to]++] = from;
		}
		for (size_t i = 0; !pass && i < plan->op_count; i++) {
			plan->ops[i].wait_first = (uint32_t)plan->wait_count;
			plan->wait_count += plan->ops[i].wait_count;
		}
	}
	free(next);
	return 0;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_within(const struct wti_replay_plan *plan,
		      const struct wti_replay_plan_access *access)
{
	const struct wti_replay_plan_object *object;

	if (access->object == WTI_PLAN_NONE)
		return access->mode != WT_ACCESS_MODE_CODE;
	object = &plan->objects[access->object];
	if (access->mode == WT_ACCESS_MODE_CODE)
		return object->type == WT_DEVICE_OBJECT_TYPE_KERNEL;
	if (access->mode == WT_ACCESS_MODE_VALUE || access->mode == WT_ACCESS_MODE_LOCAL)
		return true;
	return wti_replay_plan_is_memory(object) &&
	       object->type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER &&
	       access->offset <= object->bytes && access->bytes <= object->bytes - access->offset;
}

/* Why it cannot be executed again; NULL: it can, as far as the plan knows. */
static const char *refusal_of(const struct wti_replay_plan *plan,
			      const struct wti_replay_plan_op *op)
{
	if (!op->is_seen)
		return "it had not ended when the recording did";
	if (!wti_replay_plan_is_command(op))
		return NULL;
	if (op->call == WTI_CALL_UNKNOWN)
		return "it is of a kind that cannot be replayed";
	if (op->queue == WTI_PLAN_NONE)
		return "its queue was not recorded";
	for (uint32_t i = 0; i < op->access_count; i++)
		if (!is_within(plan, &plan->accesses[op->access_first + i]))
			return "what it touches was not recorded, or lies outside of its memory";
	return NULL;
}

static uint32_t queue_at(const struct intake *in, uint32_t track)
{
	uint64_t slot = wti_map_get(&in->queue_of, track);

	return slot ? (uint32_t)slot - 1 : WTI_PLAN_NONE;
}

/* What a driver reports on its own (compilation) nobody enqueued; what it refused never ran. */
static bool is_no_work(const struct wti_replay_plan_op *op)
{
	return op->has_failed || (!op->is_launched && wti_replay_plan_is_command(op));
}

static void drop_others(struct wti_replay_plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct wti_replay_plan_op *op = &plan->ops[i];

		if (is_no_work(op)) {
			plan->extra_count += !op->has_failed && op->call != WTI_CALL_UNKNOWN;
			continue;
		}
		plan->ops[kept++] = *op;
	}
	plan->op_count = kept;
}

static int join(struct intake *in, struct wt_err *err)
{
	struct wti_replay_plan *plan = in->plan;
	int r;

	drop_others(plan);
	if (plan->op_count)
		qsort(plan->ops, plan->op_count, sizeof(*plan->ops), by_correlation);
	for (size_t i = 0; i < plan->op_count; i++)
		plan->ops[i].queue =
			plan->ops[i].is_seen ? queue_at(in, plan->ops[i].queue) : WTI_PLAN_NONE;
	join_accesses(plan);
	r = join_edges(in, err);
	for (size_t i = 0; !r && i < plan->op_count; i++)
		plan->ops[i].refusal = refusal_of(plan, &plan->ops[i]);
	return r ? r : wti_replay_plan_order(plan, err);
}

/* ---- The whole of it ------------------------------------------------------------------------- */

static bool has_work(const struct wt_reader *reader)
{
	for (size_t i = 0; i < wt_reader_block_count(reader); i++)
		if (wt_reader_block(reader, i)->kind == WT_KIND_DEVICE_OBJECT)
			return true;
	return false;
}

int wti_replay_plan_read(const struct wt_trace *trace, size_t stream,
			 struct wti_replay_plan *ret_plan, struct wt_err *err)
{
	struct wti_replay_plan plan = {
		.pid = wt_reader_identity(wt_trace_stream(trace, stream))->pid};
	struct intake in = {.plan = &plan, .stream = stream};
	int r = 0;

	wti_map_init(&plan.object_of, OBJECTS_MAX);
	wti_arena_init(&plan.texts, TEXTS_BYTES_MAX);
	wti_map_init(&in.op_of, OPS_MAX);
	wti_map_init(&in.launched_by, OPS_MAX);
	wti_map_init(&in.queue_of, OBJECTS_MAX);
	if (has_work(wt_trace_stream(trace, stream)))
		r = take_all(&in, trace, err);
	if (!r)
		r = join(&in, err);
	free(in.edges);
	wti_map_release(&in.op_of);
	wti_map_release(&in.launched_by);
	wti_map_release(&in.queue_of);
	if (r)
		wti_replay_plan_release(&plan);
	else
		*ret_plan = plan;
	return r;
}

int wti_replay_no_work(struct wt_err *err)
{
	return wti_err(err, WT_E_MISSING,
		       "the run has no device work that can be replayed: record it with `record "
		       "--opencl --replayable`");
}

void wti_replay_plan_release(struct wti_replay_plan *plan)
{
	free(plan->ops);
	free(plan->objects);
	free(plan->accesses);
	free(plan->waits);
	free(plan->befores);
	free(plan->serial);
	wti_map_release(&plan->object_of);
	wti_arena_release(&plan->texts);
	*plan = (struct wti_replay_plan){0};
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool wti_replay_plan_is_ordered(const struct wti_replay_plan_object *queue)
{
	return !(queue->flags & QUEUE_OUT_OF_ORDER);
}

bool wti_replay_plan_is_memory(const struct wti_replay_plan_object *object)
{
	switch (object->type) {
	case WT_DEVICE_OBJECT_TYPE_BUFFER:
	case WT_DEVICE_OBJECT_TYPE_SUB_BUFFER:
	case WT_DEVICE_OBJECT_TYPE_IMAGE:
	case WT_DEVICE_OBJECT_TYPE_PIPE:
	case WT_DEVICE_OBJECT_TYPE_SVM:
		return true;
	default:
		return false;
	}
}

static bool is_of_memory(const struct wti_replay_plan *plan,
			 const struct wti_replay_plan_access *access)
{
	return access->object != WTI_PLAN_NONE &&
	       wti_replay_plan_is_memory(&plan->objects[access->object]);
}

bool wti_replay_plan_reads(const struct wti_replay_plan *plan,
			   const struct wti_replay_plan_access *access)
{
	return (access->mode == WT_ACCESS_MODE_READ || access->mode == WT_ACCESS_MODE_BOTH) &&
	       is_of_memory(plan, access);
}

bool wti_replay_plan_writes(const struct wti_replay_plan *plan,
			    const struct wti_replay_plan_access *access)
{
	return (access->mode == WT_ACCESS_MODE_WRITE || access->mode == WT_ACCESS_MODE_BOTH) &&
	       is_of_memory(plan, access);
}

const struct wti_replay_plan_access *wti_replay_plan_access(const struct wti_replay_plan *plan,
							    const struct wti_replay_plan_op *op,
							    uint32_t mode, bool is_host)
{
	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access = &plan->accesses[op->access_first + i];

		if (access->mode == mode && (access->object == WTI_PLAN_NONE) == is_host)
			return access;
	}
	return NULL;
}
