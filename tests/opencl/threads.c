/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads with a queue each, a native kernel where the device has them, and a command that
 * fails. */
#include <pthread.h>

#include "device.h"

enum { N = 1024, LAUNCHES = 200 };

static const char *source = "__kernel void bump(__global int *a) { a[get_global_id(0)]++; }\n";

struct worker {
	struct session *s;
	cl_command_queue queue;
	cl_mem buffer;
};

static void *work(void *opaque)
{
	struct worker *worker = opaque;
	const size_t global = N;
	cl_int status;
	cl_kernel kernel = clCreateKernel(worker->s->program, "bump", &status);

	must(status, "clCreateKernel");
	SET(kernel, 0, worker->buffer);
	for (int i = 0; i < LAUNCHES; i++)
		MUST(clEnqueueNDRangeKernel(worker->queue, kernel, 1, NULL, &global, NULL, 0, NULL,
					    NULL));
	MUST(clFinish(worker->queue));
	MUST(clReleaseKernel(kernel));
	return NULL;
}

static void CL_CALLBACK native(void *arguments)
{
	**(int **)arguments = 42;
}

int main(void)
{
	static int numbers[N];
	struct worker workers[2];
	cl_device_exec_capabilities can = 0;
	pthread_t threads[2];
	struct session s;
	cl_int status;

	open_device(&s, 0);
	build(&s, source);
	for (int i = 0; i < 2; i++) {
		workers[i] = (struct worker){.s = &s};
		workers[i].queue =
			clCreateCommandQueueWithProperties(s.context, s.device, NULL, &status);
		must(status, "clCreateCommandQueueWithProperties");
		workers[i].buffer = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			must(-1, "pthread_create");
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		s.commands[KERNEL] += LAUNCHES;
		read_back(&s, workers[i].buffer, sizeof(numbers), numbers);
		print_result(numbers, sizeof(numbers));
	}
	MUST(clGetDeviceInfo(s.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(can), &can, NULL));
	if (can & CL_EXEC_NATIVE_KERNEL) {
		void *arguments[1] = {NULL};
		const void *place = arguments;

		DO(&s, OTHER,
		   clEnqueueNativeKernel(s.queue, native, arguments, sizeof(arguments), 1,
					 &workers[0].buffer, &place, 0, NULL, NULL));
		read_back(&s, workers[0].buffer, sizeof(numbers), numbers);
		print_result(numbers, sizeof(numbers));
	}
	printf("answer failed %d\n",
	       clEnqueueReadBuffer(s.queue, workers[0].buffer, CL_TRUE, 0, 2 * sizeof(numbers),
				   numbers, 0, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		MUST(clReleaseMemObject(workers[i].buffer));
		MUST(clReleaseCommandQueue(workers[i].queue));
	}
	close_device(&s);
	return 0;
}
