/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stand-in. See standin.h; layouts are those of CUPTI 12.9. One file, though a long one: it is
 * built as libcupti.so, and shares the state of one driver; submit_op() is a case for each kind of
 * record.
 */
#include "standin.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 2, KINDS = 64, DROP_AT_ONCE = 1000, EXTERNAL_DEPTH = 64, CBID_LAUNCH = 211 };

/* ---- Records --------------------------------------------------------------------------------- */

#define RECORD __attribute__((packed, aligned(8)))

struct RECORD kernel {
	uint32_t kind;
	uint8_t head[12];
	uint64_t start, end, completed;
	uint32_t device, context, stream, grid[3], block[3], shared[4], correlation;
	int64_t id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch[8];
	uint64_t node;
	uint32_t limit, graph;
	uint8_t rest[48];
};
struct RECORD copy {
	uint32_t kind;
	uint8_t type, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime, pad;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type, pad2;
	uint64_t count;
};
struct RECORD copy_peer {
	uint32_t kind;
	uint8_t type, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, from_device, from_context, to_device, to_context,
		correlation;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type, pad;
};
struct RECORD fill {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type, pad2;
};
struct RECORD api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, status;
};
struct RECORD sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t sync_id;
	uint32_t status, pad;
};
struct RECORD event {
	uint32_t kind, correlation, context, stream, event, pad, device, pad2;
	uint64_t reserved, time, sync_id;
};
struct RECORD memory {
	uint32_t kind, type, memory, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint8_t rest[56];
};
struct RECORD external {
	uint32_t kind, external_kind;
	uint64_t id;
	uint32_t correlation, reserved;
};
struct RECORD marker {
	uint32_t kind, flags;
	uint64_t time;
	uint32_t id, object_kind, process, thread, pad[2];
	const char *name, *domain;
};
struct RECORD unknown {
	uint32_t kind;
	uint8_t rest[60];
};

static size_t bytes_of(uint32_t kind)
{
	switch (kind) {
	case 10:
		return sizeof(struct kernel);
	case 1:
		return sizeof(struct copy);
	case 22:
		return sizeof(struct copy_peer);
	case 2:
		return sizeof(struct fill);
	case 4:
	case 5:
		return sizeof(struct api);
	case 38:
		return sizeof(struct sync);
	case 36:
		return sizeof(struct event);
	case 49:
		return sizeof(struct memory);
	case 39:
		return sizeof(struct external);
	case 12:
		return sizeof(struct marker);
	case 63:
		return sizeof(struct unknown);
	default:
		return 0;
	}
}

_Static_assert(sizeof(struct kernel) == 208 && sizeof(struct copy) == 96, "as in 12.9");
_Static_assert(sizeof(struct copy_peer) == 96 && sizeof(struct fill) == 88, "as in 12.9");
_Static_assert(sizeof(struct sync) == 56 && sizeof(struct event) == 56, "as in 12.9");
_Static_assert(sizeof(struct memory) == 128 && sizeof(struct marker) == 56, "as in 12.9");

/* ---- State ----------------------------------------------------------------------------------- */

typedef void request_fn(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			 size_t valid);
typedef void callback_fn(void *cookie, int domain, uint32_t cbid, const void *data);

struct callback_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *returned;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation;
};

struct truth {
	uint64_t made, delivered, dropped; /* records */
	uint64_t ops[STANDIN_OPS];         /* delivered */
	uint64_t nodes, calls, questions, ranges, externals, api_records, unknown, sum;
};

/* A device: a thread takes records over and puts them into buffers. */
struct engine {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint8_t *queue; /* of records, one after the other */
	size_t queue_bytes, queue_room;
	bool is_writing, stop;
	uint8_t *buffer;
	size_t buffer_bytes, used;
	size_t dropped; /* and not yet asked for */
	uint32_t full_count, drop_left;
	struct truth truth;
};

static struct {
	struct engine engines[DEVICES];
	request_fn *request;
	complete_fn *complete;
	callback_fn *callback;
	void *cookie;
	uint64_t (*clock)(void);
	bool enabled[KINDS];
	bool domains[3];
	bool quiet; /* cudaGetDevice */
	bool taken, started;
	uint32_t drop_every;
	_Atomic uint32_t correlation;
	_Atomic uint64_t calls, questions, ranges, range_sum;
	_Atomic uint64_t callback_ns; /* spent in them, if they are timed */
	bool is_timed;
	_Atomic uint32_t range_id;
} standin;

static __thread struct {
	uint64_t external[EXTERNAL_DEPTH];
	uint32_t external_depth;
	struct {
		uint32_t id;
		uint64_t start;
		const char *name;
	} ranges[EXTERNAL_DEPTH];
	uint32_t range_depth;
} own;

static uint64_t now(void)
{
	struct timespec time;

	if (standin.clock)
		return standin.clock();
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- Engines --------------------------------------------------------------------------------- */

static void give_buffer(struct engine *engine)
{
	if (engine->buffer)
		standin.complete(engine, 0, engine->buffer, engine->buffer_bytes, engine->used);
	engine->buffer = NULL;
	engine->used = 0;
}

static uint32_t op_of(const uint8_t *record)
{
	switch (*(const uint32_t *)record) {
	case 10:
		return STANDIN_KERNEL;
	case 1:
		return STANDIN_COPY;
	case 22:
		return STANDIN_COPY_PEER;
	case 2:
		return STANDIN_FILL;
	case 36:
		return STANDIN_RECORD;
	case 38:
		return ((const struct sync *)record)->type == 2 ? STANDIN_WAIT : STANDIN_SYNC;
	case 49:
		return ((const struct memory *)record)->type == 1 ? STANDIN_ALLOC : STANDIN_FREE;
	default:
		return STANDIN_OPS;
	}
}

static uint64_t mix_of(uint32_t op, const uint8_t *record)
{
	const struct kernel *kernel = (const void *)record;
	const struct copy *copy = (const void *)record;
	const struct copy_peer *peer = (const void *)record;
	const struct fill *fill = (const void *)record;
	const struct sync *sync = (const void *)record;
	const struct event *event = (const void *)record;
	const struct memory *memory = (const void *)record;

	switch (op) {
	case STANDIN_KERNEL:
		return standin_mix(op, kernel->correlation, kernel->device, kernel->start,
				   kernel->end, 0);
	case STANDIN_COPY:
		return standin_mix(op, copy->correlation, copy->device, copy->start, copy->end,
				   copy->bytes);
	case STANDIN_COPY_PEER:
		return standin_mix(STANDIN_COPY, peer->correlation, peer->device, peer->start,
				   peer->end, peer->bytes);
	case STANDIN_FILL:
		return standin_mix(op, fill->correlation, fill->device, fill->start, fill->end,
				   fill->bytes);
	case STANDIN_RECORD:
		return standin_mix(op, event->correlation, event->device, event->time, event->time,
				   0);
	case STANDIN_WAIT:
	case STANDIN_SYNC:
		return standin_mix(op, sync->correlation, 0, sync->start, sync->end, 0);
	default:
		return standin_mix(op, memory->correlation, memory->device, memory->time,
				   memory->time, memory->bytes);
	}
}

static void count_delivered(struct engine *engine, const uint8_t *record)
{
	const uint32_t kind = *(const uint32_t *)record, op = op_of(record);
	struct truth *truth = &engine->truth;

	truth->delivered++;
	if (op < STANDIN_OPS) {
		truth->ops[op == STANDIN_COPY_PEER ? STANDIN_COPY : op]++;
		truth->sum += mix_of(op, record);
	}
	if (kind == 10 && ((const struct kernel *)record)->node)
		truth->nodes++;
	truth->externals += kind == 39;
	truth->api_records += kind == 4 || kind == 5;
	truth->unknown += kind == 63;
}

/* False: there is no room, and no buffer. */
static bool find_room(struct engine *engine, size_t bytes)
{
	size_t records = 0;

	if (engine->drop_left) {
		engine->drop_left--;
		return false;
	}
	if (engine->buffer && engine->buffer_bytes - engine->used >= bytes)
		return true;
	if (engine->buffer) {
		give_buffer(engine);
		if (standin.drop_every && ++engine->full_count % standin.drop_every == 0) {
			engine->drop_left = DROP_AT_ONCE - 1;
			return false;
		}
	}
	standin.request(&engine->buffer, &engine->buffer_bytes, &records);
	return engine->buffer != NULL;
}

static void put(struct engine *engine, const uint8_t *record, size_t bytes)
{
	engine->truth.made++;
	if (!find_room(engine, bytes)) {
		engine->dropped++;
		engine->truth.dropped++;
		return;
	}
	memcpy(engine->buffer + engine->used, record, bytes);
	engine->used += bytes;
	count_delivered(engine, record);
}

static void *run_engine(void *cookie)
{
	struct engine *engine = cookie;

	pthread_mutex_lock(&engine->lock);
	for (;;) {
		uint8_t *work = engine->queue;
		const size_t bytes = engine->queue_bytes;

		if (!bytes && engine->stop)
			break;
		if (!bytes) {
			pthread_cond_wait(&engine->changed, &engine->lock);
			continue;
		}
		engine->queue = NULL;
		engine->queue_bytes = engine->queue_room = 0;
		engine->is_writing = true;
		pthread_mutex_unlock(&engine->lock);
		for (size_t at = 0; at < bytes; at += bytes_of(*(uint32_t *)(work + at)))
			put(engine, work + at, bytes_of(*(uint32_t *)(work + at)));
		free(work);
		pthread_mutex_lock(&engine->lock);
		engine->is_writing = false;
		pthread_cond_broadcast(&engine->changed);
	}
	pthread_mutex_unlock(&engine->lock);
	return NULL;
}

static void submit(uint32_t device, const void *record)
{
	struct engine *engine = &standin.engines[device % DEVICES];
	const uint32_t kind = *(const uint32_t *)record;
	const size_t bytes = bytes_of(kind);

	if (!standin.started || !standin.request || (kind < KINDS - 1 && !standin.enabled[kind]))
		return;
	pthread_mutex_lock(&engine->lock);
	while (engine->queue_bytes > 8u << 20) /* the device is busy: wait as a launch does */
		pthread_cond_wait(&engine->changed, &engine->lock);
	if (engine->queue_room - engine->queue_bytes < bytes) {
		engine->queue_room = engine->queue_room ? engine->queue_room * 2 : 1 << 16;
		engine->queue = realloc(engine->queue, engine->queue_room);
	}
	memcpy(engine->queue + engine->queue_bytes, record, bytes);
	engine->queue_bytes += bytes;
	pthread_cond_broadcast(&engine->changed);
	pthread_mutex_unlock(&engine->lock);
}

static void start_engines(void)
{
	if (standin.started)
		return;
	standin.started = true;
	for (uint32_t i = 0; i < DEVICES; i++) {
		pthread_mutex_init(&standin.engines[i].lock, NULL);
		pthread_cond_init(&standin.engines[i].changed, NULL);
		pthread_create(&standin.engines[i].thread, NULL, run_engine, &standin.engines[i]);
	}
}

/* ---- libcupti -------------------------------------------------------------------------------- */

STANDIN int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	const char *given = getenv("STANDIN_VERSION");

	*version = given ? (uint32_t)atoi(given) : 28;
	return 0;
}

STANDIN int cuptiGetTimestamp(uint64_t *ns);
int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now();
	return 0;
}

STANDIN int cuptiActivityRegisterCallbacks(request_fn *request, complete_fn *complete);
int cuptiActivityRegisterCallbacks(request_fn *request, complete_fn *complete)
{
	standin.request = request;
	standin.complete = complete;
	return 0;
}

STANDIN int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind)
{
	if (kind >= KINDS)
		return 21;
	standin.enabled[kind] = true;
	return 0;
}

STANDIN int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	for (uint32_t i = 0; standin.started && i < DEVICES; i++) {
		struct engine *engine = &standin.engines[i];

		pthread_mutex_lock(&engine->lock);
		while (engine->queue_bytes || engine->is_writing)
			pthread_cond_wait(&engine->changed, &engine->lock);
		if (engine->dropped && !engine->buffer) {
			size_t records;

			standin.request(&engine->buffer, &engine->buffer_bytes, &records);
		}
		give_buffer(engine);
		pthread_mutex_unlock(&engine->lock);
	}
	return 0;
}

STANDIN int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
	uint8_t *at = *record ? *record : buffer;

	if (*record)
		at += bytes_of(*(uint32_t *)at);
	if (at >= buffer + bytes)
		return 12;
	*record = at;
	return 0;
}

STANDIN int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	struct engine *engine = context;

	(void)stream;
	*count = engine ? engine->dropped : 0;
	if (engine)
		engine->dropped = 0;
	return 0;
}

STANDIN int cuptiSubscribe(void **subscriber, callback_fn *callback, void *cookie);
int cuptiSubscribe(void **subscriber, callback_fn *callback, void *cookie)
{
	if (getenv("STANDIN_TAKEN"))
		return 39;
	standin.callback = callback;
	standin.cookie = cookie;
	*subscriber = &standin;
	return 0;
}

STANDIN int cuptiUnsubscribe(void *subscriber);
int cuptiUnsubscribe(void *subscriber)
{
	(void)subscriber;
	standin.callback = NULL;
	return 0;
}

STANDIN int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	(void)subscriber;
	if (domain > 2)
		return 1;
	standin.domains[domain] = enable;
	return 0;
}

/* What this runtime has: the rest of the numbers are free. */
static const struct {
	int domain;
	uint32_t cbid;
	const char *name;
} calls[] = {
	{2, 16, "cudaGetDevice"},        {2, CBID_LAUNCH, "cudaLaunchKernel"},
	{2, 41, "cudaMemcpyAsync"},      {2, 151, "cudaMemcpyPeerAsync"},
	{2, 51, "cudaMemsetAsync"},      {2, 135, "cudaEventRecord"},
	{2, 147, "cudaStreamWaitEvent"}, {2, 131, "cudaStreamSynchronize"},
	{2, 20, "cudaMalloc"},           {2, 22, "cudaFree"},
	{2, 311, "cudaGraphLaunch"},     {1, 307, "cuLaunchKernel"},
};

STANDIN int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);
int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].domain == domain && calls[i].cbid == cbid) {
			*name = calls[i].name;
			return 0;
		}
	return 1;
}

STANDIN int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	(void)subscriber;
	if (domain == 2 && cbid == 16)
		standin.quiet = !enable;
	return 0;
}

STANDIN int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return cuptiEnableCallback(enable, NULL, 2, cbid);
}

STANDIN int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
	*text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR";
	return 0;
}

STANDIN int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	if (getenv("STANDIN_NO_CLOCK"))
		return 11;
	standin.clock = clock;
	return 0;
}

STANDIN int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	(void)kind;
	if (own.external_depth < EXTERNAL_DEPTH)
		own.external[own.external_depth] = id;
	own.external_depth++;
	return 0;
}

STANDIN int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
	(void)kind;
	if (!own.external_depth)
		return 18;
	own.external_depth--;
	*id = own.external_depth < EXTERNAL_DEPTH ? own.external[own.external_depth] : 0;
	return 0;
}

/* Two looks at the clock are in it, which bench/cuda takes off. */
static void call_back(int domain, uint32_t cbid, const void *data)
{
	struct timespec before, after;

	if (!standin.is_timed) {
		standin.callback(standin.cookie, domain, cbid, data);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &before);
	standin.callback(standin.cookie, domain, cbid, data);
	clock_gettime(CLOCK_MONOTONIC, &after);
	atomic_fetch_add(&standin.callback_ns,
			 (uint64_t)(after.tv_sec - before.tv_sec) * 1000000000u +
				 (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec);
}

/* ---- The driver ------------------------------------------------------------------------------ */

/* Nobody listens: the same work, thrown away. For bench/cuda. */
static void own_request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	static __thread uint8_t *kept;

	if (!kept)
		kept = malloc(4 << 20);
	*buffer = kept;
	*bytes = 4 << 20;
	*records = 0;
}

static void own_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			 size_t valid)
{
}

static void be_alone(void)
{
	standin.request = own_request;
	standin.complete = own_complete;
	memset(standin.enabled, 1, sizeof(standin.enabled));
	standin.enabled[4] = standin.enabled[5] = standin.enabled[39] = false;
}

STANDIN int standin_init(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void) = NULL;
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	standin.drop_every = getenv("STANDIN_DROP") ? (uint32_t)atoi(getenv("STANDIN_DROP")) : 0;
	standin.is_timed = getenv("STANDIN_ALONE") != NULL;
	start_engines();
	atexit(standin_finish);
	if (!path && getenv("STANDIN_ALONE"))
		be_alone();
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (path && !library)
		fprintf(stderr, "standin: %s\n", dlerror());
	return initialize && initialize() ? 0 : -1;
}

static uint32_t enter_call(uint32_t cbid, struct callback_data *data)
{
	uint32_t correlation = atomic_fetch_add(&standin.correlation, 1) + 1;
	const char *name = NULL;

	cuptiGetCallbackName(2, cbid, &name);
	*data = (struct callback_data){.function = name, .correlation = correlation};
	atomic_fetch_add(&standin.calls, 1);
	if (standin.callback && standin.domains[2])
		call_back(2, cbid, data);
	/* The runtime calls the driver in turn, which CUPTI reports as well. */
	if (standin.callback && standin.domains[1] && cbid == CBID_LAUNCH) {
		struct callback_data inner = {.function = "cuLaunchKernel",
					      .correlation = correlation};

		call_back(1, 307, &inner);
		inner.site = 1;
		call_back(1, 307, &inner);
	}
	return correlation;
}

static void leave_call(uint32_t device, uint32_t cbid, struct callback_data *data, uint64_t start)
{
	const struct api record = {.kind = 5,
				   .cbid = cbid,
				   .start = start,
				   .end = now(),
				   .process = (uint32_t)getpid(),
				   .thread = (uint32_t)syscall(SYS_gettid),
				   .correlation = data->correlation};

	submit(device, &record);
	if (own.external_depth && own.external_depth <= EXTERNAL_DEPTH) {
		const struct external external = {.kind = 39,
						  .external_kind = 5,
						  .id = own.external[own.external_depth - 1],
						  .correlation = data->correlation};

		submit(device, &external);
	}
	data->site = 1;
	if (standin.callback && standin.domains[2])
		call_back(2, cbid, data);
}

static void submit_kernel(uint32_t device, uint32_t stream, uint32_t correlation, const char *name,
			  uint64_t node, uint32_t graph)
{
	const uint64_t start = now();
	const struct kernel record = {.kind = 10,
				      .start = start,
				      .end = start + 1000 + correlation % 997,
				      .device = device,
				      .context = device + 1,
				      .stream = stream,
				      .grid = {1 + correlation % 8, 1, 1},
				      .block = {128, 1, 1},
				      .correlation = correlation,
				      .name = name,
				      .queued = start - 200,
				      .submitted = start - 100,
				      .node = node,
				      .graph = graph};

	submit(device, &record);
}

static void submit_op(int op, uint32_t device, uint32_t stream, uint32_t correlation,
		      const char *kernel)
{
	const uint64_t start = now(), end = start + 500 + correlation % 101;
	const uint32_t context = device + 1;

	switch (op) {
	case STANDIN_KERNEL:
		submit_kernel(device, stream, correlation, kernel, 0, 0);
		return;
	case STANDIN_COPY:
		submit(device, &(struct copy){.kind = 1,
					      .type = 1,
					      .from = 2,
					      .to = 3,
					      .bytes = 4096u + correlation,
					      .start = start,
					      .end = end,
					      .device = device,
					      .context = context,
					      .stream = stream,
					      .correlation = correlation});
		return;
	case STANDIN_COPY_PEER:
		submit(device, &(struct copy_peer){.kind = 22,
						   .type = 10,
						   .from = 3,
						   .to = 3,
						   .bytes = 8192u + correlation,
						   .start = start,
						   .end = end,
						   .device = device,
						   .context = context,
						   .stream = stream,
						   .to_device = 1 - device % 2,
						   .correlation = correlation});
		return;
	case STANDIN_FILL:
		submit(device, &(struct fill){.kind = 2,
					      .bytes = 256u + correlation,
					      .start = start,
					      .end = end,
					      .device = device,
					      .context = context,
					      .stream = stream,
					      .memory = 3,
					      .correlation = correlation});
		return;
	case STANDIN_RECORD:
		submit(device, &(struct event){.kind = 36,
					       .correlation = correlation,
					       .context = context,
					       .stream = stream,
					       .event = stream,
					       .device = device,
					       .time = start});
		return;
	case STANDIN_WAIT:
	case STANDIN_SYNC:
		submit(device, &(struct sync){.kind = 38,
					      .type = op == STANDIN_WAIT ? 2 : 3,
					      .start = start,
					      .end = end,
					      .correlation = correlation,
					      .context = context,
					      .stream = stream,
					      .event = stream});
		return;
	default:
		submit(device, &(struct memory){.kind = 49,
						.type = op == STANDIN_ALLOC ? 1 : 2,
						.memory = 3,
						.correlation = correlation,
						.address = 0x7000000000u + correlation,
						.bytes = 1024,
						.time = start,
						.device = device,
						.context = context,
						.stream = 0xffffffffu});
	}
}

STANDIN uint32_t standin_run(int op, uint32_t device, uint32_t stream, const char *kernel)
{
	static const uint32_t cbids[STANDIN_OPS] = {CBID_LAUNCH, 41,  151, 51, 135,
						    147,         131, 20,  22};
	struct callback_data data;
	const uint64_t start = now();
	const uint32_t correlation = enter_call(cbids[op], &data);

	submit_op(op, device, stream, correlation, kernel);
	leave_call(device, cbids[op], &data, start);
	return correlation;
}

STANDIN uint32_t standin_graph(uint32_t device, uint32_t stream, uint32_t graph, uint32_t nodes)
{
	struct callback_data data;
	const uint64_t start = now();
	const uint32_t correlation = enter_call(311, &data);

	for (uint32_t i = 0; i < nodes; i++)
		submit_kernel(device, stream, correlation, "graph_kernel",
			      (uint64_t)graph << 32 | (i + 1), graph);
	leave_call(device, 311, &data, start);
	return correlation;
}

STANDIN void standin_question(void)
{
	struct callback_data data;

	atomic_fetch_add(&standin.questions, 1);
	if (standin.quiet)
		return;
	enter_call(16, &data);
	leave_call(0, 16, &data, now());
}

/* When it was. */
static uint64_t submit_marker(uint32_t flags, uint32_t id, const char *name)
{
	const uint64_t time = now();

	submit(0, &(struct marker){.kind = 12,
				   .flags = flags,
				   .time = time,
				   .id = id,
				   .object_kind = 2,
				   .process = (uint32_t)getpid(),
				   .thread = (uint32_t)syscall(SYS_gettid),
				   .name = name});
	return time;
}

STANDIN void standin_range(const char *name)
{
	const uint32_t id = atomic_fetch_add(&standin.range_id, 1) + 1, at = own.range_depth;

	if (at == EXTERNAL_DEPTH)
		abort();
	own.ranges[at].id = id;
	own.ranges[at].name = name;
	own.ranges[at].start = submit_marker(2, id, name);
	own.range_depth++;
}

STANDIN void standin_range_end(void)
{
	const uint32_t at = --own.range_depth;
	const uint64_t end = submit_marker(4, own.ranges[at].id, NULL);

	atomic_fetch_add(&standin.ranges, 1);
	atomic_fetch_add(&standin.range_sum,
			 standin_mix_range((uint32_t)syscall(SYS_gettid), own.ranges[at].start, end,
					   own.ranges[at].name, strlen(own.ranges[at].name)));
}

STANDIN void standin_unknown(uint32_t device)
{
	submit(device, &(struct unknown){.kind = 63});
}

/* Runs after the agent's own end: the truth is complete then. */
STANDIN void standin_finish(void)
{
	const char *path = getenv("STANDIN_TRUTH");
	FILE *file = path && standin.started ? fopen(path, "we") : NULL;
	struct truth all = {0};
	struct timespec used;

	if (!file)
		return;
	for (uint32_t i = 0; i < DEVICES; i++) {
		const struct truth *one = &standin.engines[i].truth;

		for (size_t j = 0; j < sizeof(all) / sizeof(uint64_t); j++)
			((uint64_t *)&all)[j] += ((const uint64_t *)one)[j];
	}
	fprintf(file,
		"made %lu\ndelivered %lu\ndropped %lu\nnodes %lu\nsum %lu\ncalls %lu\n"
		"ranges %lu\nrange_sum %lu\nexternals %lu\napi %lu\nunknown %lu\n",
		all.made, all.delivered, all.dropped, all.nodes, all.sum,
		atomic_load(&standin.calls), atomic_load(&standin.ranges),
		atomic_load(&standin.range_sum), all.externals, all.api_records, all.unknown);
	for (uint32_t i = 0; i < STANDIN_OPS; i++)
		fprintf(file, "op%u %lu\n", i, all.ops[i]);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	fprintf(file, "cpu_ns %lu\ncallback_ns %lu\n",
		(uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec,
		atomic_load(&standin.callback_ns));
	fclose(file);
}
