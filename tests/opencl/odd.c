/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs may do and few do: objects released while their commands are on their way,
 * functions of the program that the driver calls, one kernel launched by several threads, a child
 * of fork(), calls that the driver refuses. The word says which.
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

int main(int count, char **words)
{
	const struct {
		const char *word;
		void (*run)(void);
	} all[] = {
		{"release_first", release_first},
		{"chain", chain},
		{"callbacks", callbacks},
		{"one_kernel", one_kernel},
		{"forks", forks},
		{"child_computes", child_computes},
		{"refused", refused},
		{"gated", gated},
		{"never", never},
	};

	for (size_t i = 0; count > 1 && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(words[1], all[i].word)) {
			all[i].run();
			return 0;
		}
	fprintf(stderr, "odd: which?\n");
	return 2;
}
