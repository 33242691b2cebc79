/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kineto: what its categories are to us. Calls of a device's interface and operations of the device
 * are joined by their correlation, so that the arrows of the file are not needed; some files have
 * more ends than beginnings of them anyway. Times are microseconds since baseTimeNanoseconds, or
 * since 1970 where that is missing; it stands behind the events.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "device.h"
#include "file.h"
#include "formats.h"
#include "threads.h"

#define NAME_BYTES 4096
/* Times above are since 1970: 2001 in ns. Below, a file without a base counts from its own start.
 */
#define EPOCH_MIN_NS ((uint64_t)1000000000 * 1000000000)

struct kineto {
	struct wti_intake *intake;
	struct wti_threads threads;
	struct wti_import_file *file;
	uint32_t process;
	struct wti_device_list devices;
	char pid[32]; /* of the process that was profiled, as it is written */
	size_t pid_bytes;
	uint64_t earliest, latest;
	int64_t base_ns;
	char text[NAME_BYTES];
};

/* What a category of spans is. */
struct span_category {
	const char *name;
	uint32_t flags;
	enum wti_intake_rank rank;
};

static const struct span_category span_categories[] = {
	{"cpu_op", WT_SPAN_OPERATOR, WTI_RANK_OPERATOR},
	{"cuda_runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"cuda_driver", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"python_function", WT_SPAN_PYTHON, WTI_RANK_PYTHON},
	{"user_annotation", WT_SPAN_ANNOTATION, WTI_RANK_ANNOTATION},
	{"hip_runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"xpu_runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"xpu_driver", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"mtia_runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"privateuse1_runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"privateuse1_driver", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
	{"Operator", WT_SPAN_OPERATOR, WTI_RANK_OPERATOR}, /* of the first versions */
	{"Runtime", WT_SPAN_RUNTIME, WTI_RANK_RUNTIME},
};

static uint32_t name_of(struct kineto *k, const struct wti_fragment *piece)
{
	size_t bytes;
	const char *text = wti_piece_text(piece, k->text, sizeof(k->text), &bytes);

	return wti_intake_name(k->intake, text, bytes);
}

/* ---- The host -------------------------------------------------------------------------------- */

static uint64_t correlation_in(const struct wti_fragment *arguments)
{
	static const char key[] = "\"correlation\":";
	const char *at = memmem(arguments->data, arguments->bytes, key, sizeof(key) - 1);
	uint64_t number = 0;

	if (!at)
		return 0;
	for (at += sizeof(key) - 1; *at == ' ' || *at == '"'; at++)
		;
	for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / 100; at++)
		number = number * 10 + (unsigned)(*at - '0');
	return number;
}

static void meet_process(struct kineto *k, const struct wti_fragment *pid)
{
	int64_t number = 0;

	if (k->pid_bytes || pid->bytes >= sizeof(k->pid) || !wti_piece_number(pid, &number))
		return;
	memcpy(k->pid, pid->data, pid->bytes);
	k->pid_bytes = pid->bytes;
	wti_intake_process_set(k->intake, k->process, (uint32_t)number, "", 0);
}

static void take_host(struct kineto *k, const struct wti_event *event,
		      const struct span_category *category)
{
	uint64_t time = (uint64_t)event->time_ns;
	struct wti_intake_span span = {
		.name = name_of(k, &event->name),
		.flags = category ? category->flags : 0,
		.rank = category ? category->rank : WTI_RANK_OTHER,
		.begin = time,
		.end = time + (uint64_t)(event->duration_ns > 0 ? event->duration_ns : 0),
	};

	if (category)
		meet_process(k, &event->pid);
	if (span.flags & WT_SPAN_RUNTIME && event->arguments.bytes)
		span.correlation = correlation_in(&event->arguments);
	span.track = wti_threads_thread(&k->threads, k->process, &event->pid, &event->tid);
	wti_intake_span(k->intake, &span);
}

static void take_mark(struct kineto *k, const struct wti_event *event)
{
	const uint64_t values[] = {name_of(k, &event->name), 0, 0};
	uint32_t track = wti_threads_thread(&k->threads, k->process, &event->pid, &event->tid);

	wti_intake_event(k->intake, WT_KIND_MARK, track, (uint64_t)event->time_ns, values, 3, NULL);
}

/* Of the allocator: what it gave out or took back. */
static void take_memory(struct kineto *k, const struct wti_event *event)
{
	struct wti_memory_arguments memory = wti_memory_arguments(&event->arguments);
	const char *type = memory.device_type == 0 ? "cpu" : memory.device_type == 1 ? "cuda" : "";
	uint32_t track = wti_threads_thread(&k->threads, k->process, &event->pid, &event->tid);
	const uint64_t values[] = {
		[WT_DEVICE_MEMORY_FIELD_NAME] = wti_intake_name(k->intake, type, strlen(type)),
		[WT_DEVICE_MEMORY_FIELD_DEVICE] = (uint32_t)memory.device,
		[WT_DEVICE_MEMORY_FIELD_ADDRESS] = memory.address,
		[WT_DEVICE_MEMORY_FIELD_BYTES] = (uint64_t)memory.bytes,
		[WT_DEVICE_MEMORY_FIELD_ALLOCATED] = memory.allocated,
		[WT_DEVICE_MEMORY_FIELD_RESERVED] = memory.reserved,
	};

	wti_intake_event(k->intake, WT_KIND_DEVICE_MEMORY, track, (uint64_t)event->time_ns, values,
			 WTI_COUNT(values), NULL);
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool is_collective(const struct wti_fragment *name)
{
	return (name->bytes > 4 && !memcmp(name->data, "nccl", 4)) ||
	       wti_piece_has(name, "ncclKernel") || wti_piece_has(name, "ncclDevKernel");
}

/* enum op, or -1: no operation of a device. */
static int op_of(const struct wti_event *event)
{
	const struct wti_fragment *category = &event->category;

	if (wti_piece_is(category, "kernel") || wti_piece_is(category, "Kernel") ||
	    wti_piece_is(category, "concurrent_kernel"))
		return is_collective(&event->name) ? WT_OP_COLLECTIVE : WT_OP_KERNEL;
	if (wti_piece_is(category, "gpu_memcpy") || wti_piece_is(category, "Memcpy"))
		return WT_OP_COPY;
	if (wti_piece_is(category, "gpu_memset") || wti_piece_is(category, "Memset"))
		return WT_OP_FILL;
	if (wti_piece_is(category, "cuda_sync"))
		return wti_piece_has(&event->name, "Wait") ? WT_OP_WAIT : WT_OP_SYNC;
	if (wti_piece_is(category, "cuda_event"))
		return WT_OP_RECORD;
	return -1;
}

/* The recorded event that a wait or a sync refers to: where it was recorded, and the call. */
static void take_wait(struct kineto *k, const struct wti_device_arguments *args, uint32_t op,
		      uint64_t correlation, const struct wti_intake_op *waits)
{
	uint64_t values[] = {op == WT_OP_WAIT ? WT_EDGE_RECORD_WAIT : WT_EDGE_SYNC, 0, args->record,
			     correlation};
	struct wti_intake_op record = {.op = WT_OP_RECORD,
				       .device = waits->device,
				       .correlation = args->record,
				       .time = waits->started};

	if (!wti_intake_is_op(k->intake, args->record)) {
		record.track =
			wti_threads_queue(&k->threads, k->process, &args->device, &args->wait_on);
		wti_intake_op(k->intake, &record);
	}
	wti_intake_event(k->intake, WT_KIND_EDGE, waits->track, waits->ended, values, 4, NULL);
}

static void take_bandwidth(struct kineto *k, const struct wti_fragment *bandwidth,
			   const struct wti_intake_op *op)
{
	uint64_t values[] = {wti_intake_name(k->intake, "memory bandwidth", 16),
			     wti_intake_name(k->intake, "GB/s", 4), 0};
	double number;

	if (!wti_piece_double(bandwidth, &number))
		return;
	memcpy(&values[2], &number, sizeof(number));
	wti_intake_event(k->intake, WT_KIND_COUNTER, op->track, op->ended, values, 3, NULL);
}

static void take_op(struct kineto *k, const struct wti_event *event, uint32_t op)
{
	struct wti_device_arguments args = wti_device_arguments(&event->arguments);
	uint64_t time = (uint64_t)event->time_ns, correlation;
	struct wti_intake_op item = {.op = op, .queued = args.queued, .bytes = args.bytes};
	int64_t device = 0;

	if (!event->time_ns && !event->duration_ns) {
		wti_intake_lose(k->intake, "operations of a device without a time", 1);
		return;
	}
	args.device = args.device.bytes ? args.device : event->pid;
	args.queue = args.queue.bytes ? args.queue : event->tid;
	wti_piece_number(&args.device, &device);
	item.device = (uint32_t)device;
	item.track = wti_threads_queue(&k->threads, k->process, &args.device, &args.queue);
	item.name = name_of(k, &event->name);
	item.geometry = wti_geometry(k->intake, &args);
	item.correlation = args.correlation;
	item.started = time;
	item.ended = time + (uint64_t)(event->duration_ns > 0 ? event->duration_ns : 0);
	correlation = wti_intake_op(k->intake, &item);
	if (args.bandwidth.bytes)
		take_bandwidth(k, &args.bandwidth, &item);
	if (args.has_record && (op == WT_OP_WAIT || op == WT_OP_SYNC))
		take_wait(k, &args, op, correlation, &item);
}

/* A range of the user's, where the device worked on it. */
static void take_device_range(struct kineto *k, const struct wti_event *event)
{
	uint64_t time = (uint64_t)event->time_ns;
	struct wti_intake_span span = {
		.name = name_of(k, &event->name),
		.flags = WT_SPAN_ANNOTATION,
		.rank = WTI_RANK_ANNOTATION,
		.begin = time,
		.end = time + (uint64_t)(event->duration_ns > 0 ? event->duration_ns : 0),
		.track = wti_threads_queue(&k->threads, k->process, &event->pid, &event->tid),
	};

	wti_intake_span(k->intake, &span);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static const struct span_category *find_category(const struct wti_fragment *name)
{
	for (size_t i = 0; i < WTI_COUNT(span_categories); i++) {
		if (wti_piece_is(name, span_categories[i].name))
			return &span_categories[i];
	}
	return NULL;
}

static void take_complete(struct kineto *k, const struct wti_event *event)
{
	const struct span_category *category = find_category(&event->category);
	int op = category ? -1 : op_of(event);

	if (op >= 0)
		take_op(k, event, (uint32_t)op);
	else if (wti_piece_is(&event->category, "gpu_user_annotation"))
		take_device_range(k, event);
	else
		take_host(k, event, category);
}

static void take_metadata(struct kineto *k, const struct wti_event *event)
{
	struct wti_fragment name = {0};
	size_t bytes;
	const char *text;

	if (!wti_argument(&event->arguments, "name", &name))
		return;
	if (wti_piece_is(&event->name, "thread_name")) {
		wti_threads_name(&k->threads, &event->pid, &event->tid, &name);
	} else if (wti_piece_is(&event->name, "process_name") && event->pid.bytes == k->pid_bytes &&
		   !memcmp(event->pid.data, k->pid, k->pid_bytes)) {
		text = wti_piece_text(&name, k->text, sizeof(k->text), &bytes);
		wti_intake_process_set(k->intake, k->process, 0, text, bytes);
	}
}

static void take_arrow(struct kineto *k, const struct wti_event *event)
{
	int64_t id = 0;

	if (!wti_piece_is(&event->category, "fwdbwd")) {
		wti_intake_leave_out(k->intake, "arrows: launches are made from correlations", 1);
		return;
	}
	if (!wti_piece_number(&event->id, &id))
		return;
	wti_intake_flow(k->intake,
			wti_threads_thread(&k->threads, k->process, &event->pid, &event->tid),
			(uint64_t)event->time_ns, WT_EDGE_FORWARD_BACKWARD, (uint64_t)id,
			event->phase == 's'   ? WTI_FLOW_FROM
			: event->phase == 't' ? WTI_FLOW_THROUGH
					      : WTI_FLOW_TO);
}

static void take_event(void *self, const struct wti_event *event)
{
	struct kineto *k = self;

	if (event->phase == 'M') {
		take_metadata(k, event);
		return;
	}
	if (!event->has_time || event->time_ns < 0) {
		wti_intake_lose(k->intake, "events without a time", 1);
		return;
	}
	if ((uint64_t)event->time_ns > k->latest)
		k->latest = (uint64_t)event->time_ns;
	if (event->time_ns && (uint64_t)event->time_ns < k->earliest)
		k->earliest = (uint64_t)event->time_ns;
	switch (event->phase) {
	case 'X':
		take_complete(k, event);
		break;
	case 'i':
	case 'I':
		if (wti_piece_is(&event->category, "cpu_instant_event") &&
		    wti_piece_is(&event->name, "[memory]"))
			take_memory(k, event);
		else
			take_mark(k, event);
		break;
	case 's':
	case 't':
	case 'f':
		take_arrow(k, event);
		break;
	default:
		wti_intake_leave_out(k->intake, "events of other types than X, i, M, s, f", 1);
	}
}

/* ---- Beside the events ----------------------------------------------------------------------- */

static void take_distributed(struct kineto *k, const struct wti_fragment *value)
{
	struct wti_fragment item;
	int64_t number;

	if (wti_argument(value, "rank", &item) && wti_piece_number(&item, &number) && number >= 0 &&
	    number < INT32_MAX)
		k->file->rank = (int32_t)number;
	if (wti_argument(value, "world_size", &item) && wti_piece_number(&item, &number))
		k->file->world = (uint32_t)number;
	if (wti_argument(value, "backend", &item))
		snprintf(k->file->group, sizeof(k->file->group), "%.*s",
			 item.bytes < 31 ? (int)item.bytes : 31, item.data);
}

static void take_member(void *self, const struct wti_fragment *key,
			const struct wti_fragment *value)
{
	struct kineto *k = self;

	if (wti_piece_is(key, "baseTimeNanoseconds"))
		wti_piece_number(value, &k->base_ns);
	else if (wti_piece_is(key, "distributedInfo") && *value->data == '{')
		take_distributed(k, value);
	else if (wti_piece_is(key, "deviceProperties") && *value->data == '[')
		wti_device_list_read(&k->devices, k->intake, value);
}

static void finish(struct kineto *k, const struct wti_events_outcome *outcome)
{
	struct wti_import_file *file = k->file;

	wti_threads_finish(&k->threads);
	wti_device_list_emit(&k->devices, k->intake, k->process, k->earliest);
	file->records = outcome->events;
	file->damage = outcome->damage;
	if (k->base_ns > 0 && k->latest < EPOCH_MIN_NS)
		file->shift_ns = (uint64_t)k->base_ns;
	file->realtime = file->shift_ns + k->latest >= EPOCH_MIN_NS;
	wti_intake_lose(k->intake, "events that could not be read", outcome->damaged);
	wti_intake_leave_out(k->intake, "none: events with quotes that were not escaped, repaired",
			     outcome->repaired);
}

static int read_kineto(const char *path, struct wti_intake *intake,
		       struct wti_import_file *ret_file, struct wt_err *err)
{
	static const struct wti_events_taker taker = {.event = take_event, .member = take_member};
	struct kineto k = {.intake = intake, .file = ret_file, .earliest = WTI_INTAKE_TIME_MAX};
	struct wti_events_outcome outcome;
	struct wti_sliding input;
	int r = wti_input_open(&input, path, WTI_EVENTS_WINDOW_MAX, err);

	if (r)
		return r;
	k.process = wti_intake_process(intake, "", 0);
	wti_threads_init(&k.threads, intake);
	r = wti_events_read(&input, &taker, &k, &outcome, err);
	ret_file->bytes = input.offset + input.end;
	finish(&k, &outcome);
	wti_threads_release(&k.threads);
	wti_input_release(&input);
	return r;
}

const struct wti_import_format wti_import_kineto = {"kineto", read_kineto};
