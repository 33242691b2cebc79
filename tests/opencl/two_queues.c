/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two queues that keep their order, each for itself: both kernels write one buffer. With an
 * argument the second waits for the event of the first, and all is well.
 */
#include "device.h"

enum { N = 1 << 16 };

static const char *source =
	"__kernel void fill_up(__global float *a) { a[get_global_id(0)] = get_global_id(0); }\n"
	"__kernel void fill_down(__global float *a) { a[get_global_id(0)] = -1.5f * "
	"get_global_id(0); }\n";

int main(int count, char **arguments)
{
	static float numbers[N];
	const size_t global = N;
	struct session s;
	cl_event event = NULL;
	cl_int status;

	(void)arguments;
	open_device(&s, 0);
	build(&s, source);
	cl_command_queue second =
		clCreateCommandQueueWithProperties(s.context, s.device, NULL, &status);
	must(status, "clCreateCommandQueueWithProperties");
	cl_mem a = buffer_of(&s, 0, sizeof(numbers), NULL);
	cl_kernel up = kernel_of(&s, "fill_up"), down = kernel_of(&s, "fill_down");

	SET(up, 0, a);
	SET(down, 0, a);
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, up, 1, NULL, &global, NULL, 0, NULL, &event));
	MUST(clFlush(s.queue));
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(second, down, 1, NULL, &global, NULL, count > 1,
				  count > 1 ? &event : NULL, NULL));
	MUST(clFinish(s.queue));
	MUST(clFinish(second));
	MUST(clReleaseEvent(event));
	read_back(&s, a, sizeof(numbers), numbers);
	MUST(clReleaseCommandQueue(second));
	MUST(clReleaseKernel(up));
	MUST(clReleaseKernel(down));
	MUST(clReleaseMemObject(a));
	close_device(&s);
	return 0;
}
