/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the OpenCL programs of the tests share. A program opens a device, counts the commands that
 * it enqueues, and prints at its end what a recording must contain and what it must not change:
 *
 *   commands KIND COUNT     what it enqueued
 *   result HASH             what it computed
 *   references WHAT COUNT   as the driver counts them
 *   answer WHAT NUMBER      of the driver to a question
 *   time NAME QUEUED SUBMITTED STARTED ENDED   of an event; differs from run to run
 */
#ifndef WT_TESTS_OPENCL_DEVICE_H
#define WT_TESTS_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum kind { KERNEL, COPY, FILL, RECORD, WAIT, OTHER, FREE, KINDS };

struct session {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	unsigned commands[KINDS];
};

#define NO_DEVICE 77

static inline void must(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "%s failed with %d\n", what, status);
	exit(1);
}
#define MUST(call) must(call, #call)
/* A command: counted, and must succeed. */
#define DO(session, kind, call) ((session)->commands[kind]++, must(call, #call))

static inline void open_device(struct session *s, cl_command_queue_properties properties)
{
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
	cl_int status;

	memset(s, 0, sizeof(*s));
	if (clGetPlatformIDs(1, &s->platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(s->platform, CL_DEVICE_TYPE_ALL, 1, &s->device, NULL) != CL_SUCCESS) {
		fprintf(stderr, "no OpenCL device\n");
		exit(NO_DEVICE);
	}
	s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
	must(status, "clCreateContext");
	s->queue = clCreateCommandQueueWithProperties(s->context, s->device,
						      properties ? list : NULL, &status);
	must(status, "clCreateCommandQueueWithProperties");
}

static inline void build(struct session *s, const char *source)
{
	cl_int status;
	char log[4096] = "";

	s->program = clCreateProgramWithSource(s->context, 1, &source, NULL, &status);
	must(status, "clCreateProgramWithSource");
	status = clBuildProgram(s->program, 1, &s->device, "", NULL, NULL);
	if (status != CL_SUCCESS)
		clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1,
				      log, NULL);
	fputs(log, stderr);
	must(status, "clBuildProgram");
}

static inline cl_kernel kernel_of(struct session *s, const char *name)
{
	cl_int status;
	cl_kernel kernel = clCreateKernel(s->program, name, &status);

	must(status, name);
	return kernel;
}

static inline cl_mem buffer_of(struct session *s, cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int status;
	cl_mem buffer = clCreateBuffer(s->context, flags, bytes, host, &status);

	must(status, "clCreateBuffer");
	return buffer;
}

/* The arguments are pointers to what is set, with the size of that. */
#define SET(kernel, index, value) MUST(clSetKernelArg(kernel, index, sizeof(value), &(value)))

static inline void run1(struct session *s, cl_kernel kernel, size_t global, size_t local)
{
	DO(s, KERNEL,
	   clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &global, local ? &local : NULL, 0,
				  NULL, NULL));
}

static inline void run2(struct session *s, cl_kernel kernel, size_t width, size_t height,
			size_t local)
{
	const size_t global[2] = {width, height}, group[2] = {local, local};

	DO(s, KERNEL,
	   clEnqueueNDRangeKernel(s->queue, kernel, 2, NULL, global, group, 0, NULL, NULL));
}

static inline void read_back(struct session *s, cl_mem buffer, size_t bytes, void *host)
{
	DO(s, COPY, clEnqueueReadBuffer(s->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
}

static inline void print_result(const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint64_t hash = 1469598103934665603u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * 1099511628211u;
	printf("result %016llx\n", (unsigned long long)hash);
}

static inline void print_time(const char *name, cl_event event)
{
	cl_ulong times[4];

	for (cl_uint i = 0; i < 4; i++)
		MUST(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i,
					     sizeof(times[i]), &times[i], NULL));
	printf("time %s %llu %llu %llu %llu\n", name, (unsigned long long)times[0],
	       (unsigned long long)times[1], (unsigned long long)times[2],
	       (unsigned long long)times[3]);
}

static inline void print_references(const char *what, cl_uint count)
{
	printf("references %s %u\n", what, count);
}

/* The driver holds an event a moment longer than its command lasts: what stays is printed. */
static inline void print_event_references(const char *what, cl_event event)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	cl_uint count = 0, before = 0;

	for (int same = 0; same < 30; same = count == before ? same + 1 : 0) {
		before = count;
		MUST(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(count), &count, NULL));
		nanosleep(&nap, NULL);
	}
	print_references(what, count);
}

/* The driver lets go of the last command a moment after it has ended. */
static inline cl_uint settled_references(cl_command_queue queue)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	cl_uint count = 0;

	for (int i = 0; i < 2000 && count != 1; i++) {
		MUST(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(count), &count,
					   NULL));
		nanosleep(&nap, NULL); /* what holds the queue holds the context, too */
	}
	return count;
}

/* With nothing on its way. */
static inline void close_device(struct session *s)
{
	static const char *const kinds[KINDS] = {"kernel", "copy",  "fill", "record",
						 "wait",   "other", "free"};
	cl_uint count = 0;
	cl_command_queue_properties properties = 0;

	MUST(clFinish(s->queue));
	MUST(clGetCommandQueueInfo(s->queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				   NULL));
	printf("answer properties %llu\n", (unsigned long long)properties);
	count = settled_references(s->queue);
	print_references("queue", count);
	MUST(clGetContextInfo(s->context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, NULL));
	print_references("context", count);
	if (s->program) {
		MUST(clGetProgramInfo(s->program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count,
				      NULL));
		print_references("program", count);
		MUST(clReleaseProgram(s->program));
	}
	MUST(clReleaseCommandQueue(s->queue));
	MUST(clReleaseContext(s->context));
	for (int i = 0; i < KINDS; i++)
		if (s->commands[i])
			printf("commands %s %u\n", kinds[i], s->commands[i]);
}

#endif
