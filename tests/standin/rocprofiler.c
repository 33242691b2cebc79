/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for HIP and rocprofiler-sdk: loads the tools that $ROCP_TOOL_LIBRARIES names, calls
 * back at each call, hands records over on a thread of its own, and prints what it made. Written
 * from the documented behaviour alone. With the argument "1" it behaves as version 1 of the library
 * does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "standin.h"

enum { ROUNDS = 500, BATCH = 256, NODES = 4, DROP_AT = 3, DROPPED = 17, ODD_EVERY = 50 };
enum { KIND_HIP = 5, KIND_MARKER = 7, KIND_COPY = 10, KIND_KERNEL = 11, KIND_FUTURE = 77 };

struct id {
	uint64_t handle;
};
struct header {
	uint32_t category, kind;
	void *payload;
};
struct kernel {
	uint64_t size;
	uint32_t kind, operation;
	uint64_t correlation, external, thread, start, end;
	uint64_t info_size, agent, queue, kernel_id, dispatch;
	uint32_t segments[2], block[3], grid[3];
	uint8_t reserved[56];
};
struct copy {
	uint64_t size;
	uint32_t kind, operation;
	uint64_t correlation, external, thread, start, end, to, from, bytes;
};
struct marker { /* of roctx: the text comes first in what arguments may be */
	uint64_t size;
	const char *message;
	uint64_t rest[2];
};
struct symbol {
	uint64_t size, kernel_id, code_object;
	const char *name;
	uint64_t rest[6];
};
struct call0 {
	uint64_t context, thread, correlation, external;
	uint32_t kind, operation, phase;
	void *payload;
};
struct call1 {
	uint64_t context, thread, correlation, external, ancestor;
	uint32_t kind, operation, phase;
	void *payload;
};
struct tool {
	size_t size;
	int (*initialize)(void (*finalize)(struct id), void *data);
	void (*finalize)(void *data);
	void *data;
};

typedef void buffer_fn(struct id, struct id, struct header **, size_t, void *, uint64_t);

static struct {
	buffer_fn *deliver;
	void *calls[32]; /* callbacks by kind */
	bool kinds[32];  /* that go into the buffer */
	int version;
	uint64_t correlation, dispatch, batches;
	struct header headers[BATCH], *pointers[BATCH];
	union {
		struct kernel kernel;
		struct copy copy;
	} records[BATCH];
	size_t count;
	uint64_t kernels, copies, nodes, sum, dropped, called, unknown, ranges, marks;
} standin;

/* ---- The library ----------------------------------------------------------------------------- */

STANDIN int rocprofiler_create_context(struct id *context);
int rocprofiler_create_context(struct id *context)
{
	context->handle = 1;
	return 0;
}

STANDIN int rocprofiler_start_context(struct id context);
int rocprofiler_start_context(struct id context)
{
	return context.handle != 1;
}

STANDIN int rocprofiler_create_buffer(struct id context, size_t bytes, size_t watermark, int policy,
				      buffer_fn *callback, void *cookie, struct id *buffer);
int rocprofiler_create_buffer(struct id context, size_t bytes, size_t watermark, int policy,
			      buffer_fn *callback, void *cookie, struct id *buffer)
{
	standin.deliver = callback;
	buffer->handle = 2;
	return context.handle != 1 || watermark > bytes || policy != 2;
}

STANDIN int rocprofiler_configure_buffer_tracing_service(struct id context, int kind,
							 const uint32_t *operations, size_t count,
							 struct id buffer);
int rocprofiler_configure_buffer_tracing_service(struct id context, int kind,
						 const uint32_t *operations, size_t count,
						 struct id buffer)
{
	standin.kinds[kind] = true;
	return context.handle != 1 || buffer.handle != 2;
}

STANDIN int rocprofiler_configure_callback_tracing_service(struct id context, int kind,
							   const uint32_t *operations, size_t count,
							   void *callback, void *cookie);
int rocprofiler_configure_callback_tracing_service(struct id context, int kind,
						   const uint32_t *operations, size_t count,
						   void *callback, void *cookie)
{
	standin.calls[kind] = callback;
	return context.handle != 1;
}

STANDIN int rocprofiler_query_callback_tracing_kind_operation_name(int kind, uint32_t operation,
								   const char **name,
								   uint64_t *bytes);
int rocprofiler_query_callback_tracing_kind_operation_name(int kind, uint32_t operation,
							   const char **name, uint64_t *bytes)
{
	static const char *const names[] = {"hipLaunchKernel", "hipMemcpyAsync", "hipGraphLaunch"};
	static const char *const markers[] = {"roctxMarkA", "roctxRangePushA", "roctxRangePop"};

	*name = operation >= 3        ? "other"
		: kind == KIND_MARKER ? markers[operation]
				      : names[operation];
	*bytes = strlen(*name);
	return 0;
}

STANDIN int rocprofiler_get_timestamp(uint64_t *ns);
int rocprofiler_get_timestamp(uint64_t *ns)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	*ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return 0;
}

static void *hand_over(void *cookie)
{
	standin.deliver((struct id){1}, (struct id){2}, standin.pointers, standin.count, NULL,
			standin.batches == DROP_AT ? DROPPED : 0);
	return NULL;
}

STANDIN int rocprofiler_flush_buffer(struct id buffer);
int rocprofiler_flush_buffer(struct id buffer)
{
	pthread_t thread;

	if (!standin.count || !standin.deliver)
		return 0;
	standin.batches++;
	if (standin.batches == DROP_AT)
		standin.dropped += DROPPED;
	pthread_create(&thread, NULL, hand_over, NULL);
	pthread_join(thread, NULL);
	standin.count = 0;
	return buffer.handle != 2;
}

/* ---- HIP ------------------------------------------------------------------------------------- */

static void call_back(uint32_t kind, uint32_t operation, uint32_t phase, void *payload)
{
	uint64_t user = 0;

	if (!standin.calls[kind])
		return;
	if (standin.version) {
		void (*callback)(struct call1, uint64_t *, void *);

		*(void **)&callback = standin.calls[kind];
		callback((struct call1){.context = 1,
					.correlation = standin.correlation,
					.kind = kind,
					.operation = operation,
					.phase = phase,
					.payload = payload},
			 &user, NULL);
	} else {
		void (*callback)(struct call0, uint64_t *, void *);

		*(void **)&callback = standin.calls[kind];
		callback((struct call0){.context = 1,
					.correlation = standin.correlation,
					.kind = kind,
					.operation = operation,
					.phase = phase,
					.payload = payload},
			 &user, NULL);
	}
}

static void *next_record(uint32_t kind)
{
	size_t at;

	if (standin.count == BATCH)
		rocprofiler_flush_buffer((struct id){2});
	at = standin.count++;
	memset(&standin.records[at], 0, sizeof(standin.records[at]));
	standin.headers[at] = (struct header){1, kind, &standin.records[at]};
	standin.pointers[at] = &standin.headers[at];
	return &standin.records[at];
}

/* A record that ends before what its kind has: behind it there is no memory. */
static void short_record(uint32_t kind)
{
	const size_t page = 4096, bytes = 24;
	uint8_t *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *record = (uint64_t *)(pages + page - bytes);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		abort();
	next_record(kind);
	record[0] = bytes;
	standin.headers[standin.count - 1].payload = record;
	standin.unknown++;
}

static void run_odd(void)
{
	short_record(KIND_KERNEL);
	short_record(KIND_COPY);
	short_record(KIND_FUTURE);
	next_record(KIND_KERNEL);
	standin.headers[standin.count - 1].payload = NULL;
	next_record(KIND_KERNEL);
	standin.headers[standin.count - 1].category = 3; /* counters */
	standin.unknown += 2;
}

static void run_kernel(uint32_t device)
{
	struct kernel *kernel = next_record(KIND_KERNEL);

	*kernel = (struct kernel){.size = sizeof(*kernel),
				  .kind = KIND_KERNEL,
				  .operation = 1,
				  .correlation = standin.correlation,
				  .agent = 0xa000 + device,
				  .queue = 1 + device,
				  .kernel_id = 5,
				  .dispatch = ++standin.dispatch,
				  .block = {64, 1, 1},
				  .grid = {1000, 1, 1}};
	rocprofiler_get_timestamp(&kernel->start);
	kernel->end = kernel->start + 100;
	standin.kernels++;
	standin.sum += standin_mix(STANDIN_KERNEL, (uint32_t)kernel->correlation, device,
				   kernel->start, kernel->end, 0);
}

static void run_copy(uint32_t device)
{
	struct copy *copy = next_record(KIND_COPY);

	*copy = (struct copy){.size = sizeof(*copy),
			      .kind = KIND_COPY,
			      .operation = 2,
			      .correlation = standin.correlation,
			      .to = 0xa000 + device,
			      .from = 0xc000,
			      .bytes = 4096};
	rocprofiler_get_timestamp(&copy->start);
	copy->end = copy->start + 50;
	standin.copies++;
	standin.sum += standin_mix(STANDIN_COPY, (uint32_t)copy->correlation, device, copy->start,
				   copy->end, 4096);
}

static void call(uint32_t operation, uint32_t device)
{
	standin.correlation++;
	standin.called++;
	call_back(KIND_HIP, operation, 1, NULL);
	if (operation == 0)
		run_kernel(device);
	else if (operation == 1)
		run_copy(device);
	for (uint32_t i = 0; operation == 2 && i < NODES; i++, standin.nodes++)
		run_kernel(device);
	call_back(KIND_HIP, operation, 2, NULL);
}

static void roctx(uint32_t operation, const char *message)
{
	struct marker marker = {.size = sizeof(marker), .message = message};

	call_back(KIND_MARKER, operation, 1, &marker);
	call_back(KIND_MARKER, operation, 2, &marker);
}

/* Ranges in a range, with calls in them, and an end too many. */
static void run_range(uint32_t round)
{
	char name[32];

	snprintf(name, sizeof(name), "step %u", round);
	roctx(1, name);
	roctx(1, "inner");
	call(0, 0);
	roctx(2, NULL);
	roctx(0, "halfway");
	roctx(2, NULL);
	roctx(2, NULL);
	standin.ranges += 2;
	standin.marks++;
}

static struct tool *load(void)
{
	struct tool *(*configure)(uint32_t, const char *, uint32_t, void *) = NULL;
	const char *path = getenv("ROCP_TOOL_LIBRARIES");
	struct {
		const char *name;
		uint32_t handle;
	} client = {0};
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (library)
		*(void **)&configure = dlsym(library, "rocprofiler_configure");
	if (path && !configure)
		fprintf(stderr, "standin: %s\n", dlerror());
	return configure ? configure(standin.version ? 10000 : 500, "6.3", 0, &client) : NULL;
}

int main(int argc, char **argv)
{
	struct symbol symbol = {sizeof(symbol), 5, 1, "vector_add.kd", {0}};
	struct tool *tool;

	standin.version = argc > 1 ? atoi(argv[1]) : 0;
	tool = load();
	if (tool && tool->initialize(NULL, tool->data))
		return 3;
	call_back(10, 2, 1, &symbol);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		call(0, i == 0 ? 0 : i % 2);
		call(1, i % 2);
		call(2, i % 2);
		if (i % ODD_EVERY == 0) {
			run_odd();
			run_range(i);
		}
	}
	if (tool)
		tool->finalize(tool->data);
	printf("op0 %lu\nop1 %lu\nnodes %lu\nsum %lu\ndropped %lu\nspans %lu\nlaunches %lu\nlost "
	       "0\n",
	       standin.kernels, standin.copies, standin.nodes, standin.sum, standin.dropped,
	       standin.called, standin.called);
	printf("made unknown %lu\nmade ranges %lu\nmade marks %lu\n", standin.unknown,
	       standin.ranges, standin.marks);
	return 0;
}
