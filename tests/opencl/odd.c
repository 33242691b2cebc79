/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs may do and few do: objects released while their commands are on their way,
 * functions of the program that the driver calls, programs that are linked, native code or have
 * constants, parts of a device, one kernel launched by several threads, a child of fork(), calls
 * that the driver refuses, long pauses. The word says which.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

enum { N = 1024, LAUNCHES = 300, THREADS = 4 };

static const char *source = "__kernel void bump(__global int *a) { a[get_global_id(0)]++; }\n";
static int numbers[N];

static cl_kernel prepare(struct session *s, cl_command_queue_properties properties, cl_mem *ret)
{
	cl_kernel kernel;

	open_device(s, properties);
	build(s, source);
	*ret = buffer_of(s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	kernel = kernel_of(s, "bump");
	SET(kernel, 0, *ret);
	return kernel;
}

static void launch(struct session *s, cl_kernel kernel, cl_uint count, const cl_event *list,
		   cl_event *event)
{
	const size_t global = N;

	DO(s, KERNEL,
	   clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &global, NULL, count, list, event));
}

static cl_event gate_of(struct session *s)
{
	cl_int status;
	cl_event gate = clCreateUserEvent(s->context, &status);

	must(status, "clCreateUserEvent");
	return gate;
}

static void settle(cl_event event)
{
	cl_int status = CL_QUEUED;

	while (status > CL_COMPLETE)
		MUST(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				    &status, NULL));
}

/* Everything is released before it has run; the events of the commands are what remains. */
static void release_first(void)
{
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, 0, &buffer);
	cl_event gate = gate_of(&s), done[2];
	cl_uint count = 0;

	launch(&s, kernel, 1, &gate, &done[0]);
	DO(&s, COPY,
	   clEnqueueReadBuffer(s.queue, buffer, CL_FALSE, 0, sizeof(numbers), numbers, 1, &done[0],
			       &done[1]));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	MUST(clReleaseProgram(s.program));
	MUST(clFlush(s.queue));
	MUST(clReleaseCommandQueue(s.queue));
	MUST(clReleaseContext(s.context));
	MUST(clSetUserEventStatus(gate, CL_COMPLETE));
	settle(done[1]);
	print_event_references("done", done[1]);
	print_result(numbers, sizeof(numbers));
	MUST(clGetEventInfo(gate, CL_EVENT_REFERENCE_COUNT, sizeof(count), &count, NULL));
	MUST(clReleaseEvent(gate));
	MUST(clReleaseEvent(done[0]));
	MUST(clReleaseEvent(done[1]));
	printf("commands kernel 1\ncommands copy 1\n");
}

/* Each command waits for the one before, whose event is released at once. */
static void chain(void)
{
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &buffer);
	cl_event event, next;

	launch(&s, kernel, 0, NULL, &event);
	for (int i = 0; i < 10; i++) {
		launch(&s, kernel, 1, &event, &next);
		MUST(clReleaseEvent(event));
		event = next;
	}
	MUST(clWaitForEvents(1, &event));
	MUST(clReleaseEvent(event));
	read_back(&s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

static struct {
	struct session s;
	cl_kernel kernel;
	cl_command_queue other;
	_Atomic int called, gone;
} shared;

static void CL_CALLBACK completed(cl_event event, cl_int status, void *data)
{
	(void)status;
	if (shared.called++ < 3)
		launch(&shared.s, data, 0, NULL, NULL);
	clReleaseEvent(event);
}

static void CL_CALLBACK destroyed(cl_mem mem, void *data)
{
	(void)mem;
	clReleaseCommandQueue(data);
	shared.gone = 1;
}

/* A function of an event enqueues more; one of memory releases a queue. */
static void callbacks(void)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	cl_mem buffer;
	cl_int status;
	cl_event event;

	shared.kernel = prepare(&shared.s, 0, &buffer);
	shared.other = clCreateCommandQueueWithProperties(shared.s.context, shared.s.device, NULL,
							  &status);
	must(status, "clCreateCommandQueueWithProperties");
	for (int i = 0; i < 5; i++) {
		launch(&shared.s, shared.kernel, 0, NULL, &event);
		MUST(clSetEventCallback(event, CL_COMPLETE, completed, shared.kernel));
	}
	while (shared.called < 5)
		nanosleep(&nap, NULL);
	read_back(&shared.s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clSetMemObjectDestructorCallback(buffer, destroyed, shared.other));
	launch(&shared.s, shared.kernel, 0, NULL, NULL);
	MUST(clReleaseKernel(shared.kernel));
	MUST(clReleaseMemObject(buffer));
	MUST(clFinish(shared.s.queue));
	while (!shared.gone)
		nanosleep(&nap, NULL);
	close_device(&shared.s);
}

/* ---- What a function of an event gets, and what it may do ------------------------------------ */

enum { WATCHED = 5 };

static struct watched {
	cl_event event;
	_Atomic int calls;
	cl_int status;
	int is_right; /* event and data are those that it was set for */
} watched[WATCHED];

static void CL_CALLBACK watch(cl_event event, cl_int status, void *data)
{
	struct watched *one = data;

	one->is_right = event == one->event;
	one->status = status;
	one->calls++;
}

/* Waits for its own event, which has ended, and for a command of another queue. */
static void CL_CALLBACK watch_and_wait(cl_event event, cl_int status, void *data)
{
	const size_t global = N;
	cl_event mine = NULL;

	MUST(clWaitForEvents(1, &event));
	MUST(clEnqueueNDRangeKernel(shared.other, shared.kernel, 1, NULL, &global, NULL, 0, NULL,
				    &mine));
	MUST(clWaitForEvents(1, &mine));
	MUST(clReleaseEvent(mine));
	watch(event, status, data);
}

static void await(int index, const char *what)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	while (!watched[index].calls)
		nanosleep(&nap, NULL);
	printf("answer %s %d %d\n", what, watched[index].is_right, watched[index].status);
}

static void set_watch(int index, cl_event event, cl_int type,
		      void(CL_CALLBACK *function)(cl_event, cl_int, void *))
{
	watched[index].event = event;
	MUST(clSetEventCallback(event, type, function, &watched[index]));
}

static void callback_arguments(void)
{
	cl_mem buffer;
	cl_int status;
	cl_event event, gate;

	shared.kernel = prepare(&shared.s, 0, &buffer);
	shared.other = clCreateCommandQueueWithProperties(shared.s.context, shared.s.device, NULL,
							  &status);
	must(status, "clCreateCommandQueueWithProperties");
	gate = gate_of(&shared.s);
	launch(&shared.s, shared.kernel, 1, &gate, &event);
	set_watch(0, event, CL_SUBMITTED, watch);
	set_watch(1, event, CL_RUNNING, watch);
	set_watch(2, event, CL_COMPLETE, watch_and_wait);
	set_watch(3, gate, CL_COMPLETE, watch);
	printf("answer refused %d\n", clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
	printf("answer type %d\n", clSetEventCallback(event, 77, watch, &watched[4]));
	MUST(clSetUserEventStatus(gate, CL_COMPLETE));
	await(3, "user");
	await(0, "submitted");
	await(1, "running");
	await(2, "complete");
	shared.s.commands[KERNEL]++; /* of the function */
	MUST(clFinish(shared.other));
	read_back(&shared.s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	print_event_references("event", event);
	MUST(clReleaseEvent(event));
	MUST(clReleaseEvent(gate));
	MUST(clReleaseCommandQueue(shared.other));
	MUST(clReleaseKernel(shared.kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&shared.s);
}

/* ---- Programs that are linked, or have constants --------------------------------------------- */

static cl_program compiled(struct session *s, const char *text)
{
	cl_int status;
	cl_program program = clCreateProgramWithSource(s->context, 1, &text, NULL, &status);

	must(status, "clCreateProgramWithSource");
	MUST(clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL));
	return program;
}

static void use_program(struct session *s)
{
	cl_mem buffer = buffer_of(s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel kernel = kernel_of(s, "bump");

	SET(kernel, 0, buffer);
	launch(s, kernel, 0, NULL, NULL);
	read_back(s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(s);
}

static void linked(void)
{
	struct session s;
	cl_program parts[2];
	cl_int status;

	open_device(&s, 0);
	parts[0] = compiled(&s, "int next(int n) { return 3 * n + 1; }\n");
	parts[1] = compiled(
		&s, "int next(int n);\n"
		    "__kernel void bump(__global int *a) { "
		    "a[get_global_id(0)] = next(a[get_global_id(0)] + get_global_id(0)); }\n");
	s.program = clLinkProgram(s.context, 1, &s.device, "", 2, parts, NULL, NULL, &status);
	must(status, "clLinkProgram");
	MUST(clReleaseProgram(parts[0]));
	MUST(clReleaseProgram(parts[1]));
	use_program(&s);
}

/* A driver that has no intermediate language refuses it, and the program ends well. */
static void constants(void)
{
	static const char il[] =
		"__kernel void bump(__global int *a) { a[get_global_id(0)] += C7; }\n";
	const int value = 41;
	struct session s;
	cl_int status;

	open_device(&s, 0);
	s.program = clCreateProgramWithIL(s.context, il, sizeof(il) - 1, &status);
	printf("answer il %d\n", status);
	if (!s.program) {
		close_device(&s);
		return;
	}
	printf("answer unknown %d\n",
	       clSetProgramSpecializationConstant(s.program, 8, sizeof(value), &value));
	MUST(clSetProgramSpecializationConstant(s.program, 7, sizeof(value), &value));
	MUST(clBuildProgram(s.program, 1, &s.device, "", NULL, NULL));
	use_program(&s);
}

/* ---- Parts of a device ----------------------------------------------------------------------- */

static void print_device(const char *what, cl_device_id device)
{
	cl_uint count = 0;

	MUST(clGetDeviceInfo(device, CL_DEVICE_REFERENCE_COUNT, sizeof(count), &count, NULL));
	print_references(what, count);
}

static void on_part(cl_device_id part)
{
	struct session s = {.device = part};
	cl_int status;

	s.context = clCreateContext(NULL, 1, &part, NULL, NULL, &status);
	must(status, "clCreateContext");
	s.queue = clCreateCommandQueueWithProperties(s.context, part, NULL, &status);
	must(status, "clCreateCommandQueueWithProperties");
	build(&s, source);
	use_program(&s);
}

/* Twice, so that the driver may give the same handles again. */
static void parts(void)
{
	const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id part[64];
	struct session s;
	cl_uint count = 0;

	open_device(&s, 0);
	printf("answer parts %d\n", clCreateSubDevices(s.device, how, 0, NULL, &count));
	for (int round = 0; count && round < 2; round++) {
		MUST(clCreateSubDevices(s.device, how, 64, part, NULL));
		MUST(clRetainDevice(part[0]));
		print_device("part", part[0]);
		MUST(clReleaseDevice(part[0]));
		on_part(part[0]);
		print_device("part", part[0]);
		for (cl_uint i = 0; i < count; i++)
			MUST(clReleaseDevice(part[i]));
	}
	MUST(clRetainDevice(s.device));
	MUST(clReleaseDevice(s.device));
	print_device("whole", s.device);
	close_device(&s);
}

static void *launch_many(void *opaque)
{
	const size_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 128};

	for (int i = 0; i < LAUNCHES; i++) {
		const size_t global = N, local = sizes[(i + (int)(intptr_t)opaque) % 8];

		MUST(clEnqueueNDRangeKernel(shared.s.queue, shared.kernel, 1, NULL, &global, &local,
					    0, NULL, NULL));
	}
	return NULL;
}

/* One kernel, one queue, several threads. */
static void one_kernel(void)
{
	pthread_t threads[THREADS];
	cl_mem buffer;

	shared.kernel = prepare(&shared.s, 0, &buffer);
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, launch_many, (void *)i))
			must(-1, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	shared.s.commands[KERNEL] += THREADS * LAUNCHES;
	read_back(&shared.s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(shared.kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&shared.s);
}

/* A child that lets go of what its parent made, and ends as usual. */
static void forks(void)
{
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, 0, &buffer);
	cl_event gate = gate_of(&s);
	int status = 0;
	pid_t child;

	launch(&s, kernel, 1, &gate, NULL);
	fflush(stdout);
	child = fork();
	if (!child) {
		clReleaseKernel(kernel);
		clReleaseMemObject(buffer);
		clReleaseEvent(gate);
		exit(0);
	}
	MUST(clSetUserEventStatus(gate, CL_COMPLETE));
	read_back(&s, buffer, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	waitpid(child, &status, 0);
	printf("answer child %d\n", status);
	MUST(clReleaseEvent(gate));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

/* The parent has only asked which platforms there are; the child computes. */
static void child_computes(void)
{
	cl_uint count = 0;
	int status = 0;
	pid_t child;

	clGetPlatformIDs(0, NULL, &count);
	child = fork();
	if (!child) {
		chain();
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("answer child %d\n", status);
}

/* Sizes and places that the driver refuses: nothing behind them may be read. */
static void refused(void)
{
	const size_t origin[3] = {0}, region[3] = {SIZE_MAX / 4, 1, 1}, far[3] = {N, N, N};
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, 0, &buffer);

	printf("answer write %d\n", clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, 0, SIZE_MAX / 2,
							 numbers, 0, NULL, NULL));
	printf("answer behind %d\n", clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, SIZE_MAX - 8,
							  16, numbers, 0, NULL, NULL));
	printf("answer nothing %d\n",
	       clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, 0, 16, NULL, 0, NULL, NULL));
	printf("answer rect %d\n",
	       clEnqueueWriteBufferRect(s.queue, buffer, CL_TRUE, origin, far, region, 0, 0, 0, 0,
					numbers, 0, NULL, NULL));
	printf("answer fill %d\n",
	       clEnqueueFillBuffer(s.queue, buffer, numbers, SIZE_MAX / 2, 0, 16, 0, NULL, NULL));
	printf("answer list %d\n",
	       clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, 0, 16, numbers, 1, NULL, NULL));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

/* The launch is a kernel's first one, and waits for the program. */
static void gated(void)
{
	const struct timespec while_waiting = {.tv_nsec = 700000000};
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &buffer);
	cl_event gate = gate_of(&s);

	launch(&s, kernel, 1, &gate, NULL);
	MUST(clFlush(s.queue));
	nanosleep(&while_waiting, NULL);
	MUST(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(clFinish(s.queue));
	MUST(clReleaseEvent(gate));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

/* What is waited for never comes; the program ends nevertheless. */
static void never(void)
{
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &buffer);
	cl_event gate = gate_of(&s);

	for (int i = 0; i < 2000; i++) /* more than are looked at in one go */
		launch(&s, kernel, 1, &gate, NULL);
	launch(&s, kernel, 0, NULL, &gate);
	MUST(clWaitForEvents(1, &gate));
	printf("commands kernel %u\n", s.commands[KERNEL]);
	fflush(stdout);
}

/* The program is loaded from what the driver made of it. */
static void binary(void)
{
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, 0, &buffer);
	size_t bytes = 0;
	unsigned char *code;
	cl_int status;

	MUST(clReleaseKernel(kernel));
	MUST(clGetProgramInfo(s.program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
	code = malloc(bytes);
	MUST(clGetProgramInfo(s.program, CL_PROGRAM_BINARIES, sizeof(code), &code, NULL));
	MUST(clReleaseProgram(s.program));
	s.program = clCreateProgramWithBinary(s.context, 1, &s.device, &bytes,
					      (const unsigned char **)&code, NULL, &status);
	must(status, "clCreateProgramWithBinary");
	MUST(clBuildProgram(s.program, 1, &s.device, "", NULL, NULL));
	free(code);
	kernel = kernel_of(&s, "bump");
	SET(kernel, 0, buffer);
	launch(&s, kernel, 0, NULL, NULL);
	read_back(&s, buffer, sizeof(numbers), numbers);
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

/* The host does something else for a while between its launches. */
static void pauses(void)
{
	const struct timespec nap = {.tv_nsec = 200000000};
	struct session s;
	cl_mem buffer;
	cl_kernel kernel = prepare(&s, 0, &buffer);

	for (int i = 0; i < 3; i++) {
		launch(&s, kernel, 0, NULL, NULL);
		MUST(clFinish(s.queue));
		nanosleep(&nap, NULL);
	}
	read_back(&s, buffer, sizeof(numbers), numbers);
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
}

int main(int count, char **words)
{
	const struct {
		const char *word;
		void (*run)(void);
	} all[] = {
		{"release_first", release_first},
		{"chain", chain},
		{"callbacks", callbacks},
		{"callback_arguments", callback_arguments},
		{"linked", linked},
		{"constants", constants},
		{"parts", parts},
		{"one_kernel", one_kernel},
		{"forks", forks},
		{"child_computes", child_computes},
		{"refused", refused},
		{"gated", gated},
		{"never", never},
		{"binary", binary},
		{"pauses", pauses},
	};

	for (size_t i = 0; count > 1 && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(words[1], all[i].word)) {
			all[i].run();
			return 0;
		}
	fprintf(stderr, "odd: which?\n");
	return 2;
}
