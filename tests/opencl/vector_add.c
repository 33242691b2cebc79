/* SPDX-License-Identifier: Apache-2.0 */
/* A vector sum, with and without events of the program's own, on a queue with profiling. */
#include "device.h"

enum { N = 1 << 14, LAUNCHES = 5 };

static const char *source =
	"__kernel void vector_add(__global const float *a, __global const float *b,\n"
	"			 __global float *c, const int n)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	if (i < n)\n"
	"		c[i] = a[i] + b[i];\n"
	"}\n";

int main(void)
{
	static float a[N], b[N], c[N];
	const size_t global = N, local = 64;
	const int n = N;
	struct session s;
	cl_event event, copied;

	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = 0.5f * (float)i;
	}
	open_device(&s, CL_QUEUE_PROFILING_ENABLE);
	build(&s, source);
	cl_mem first = buffer_of(&s, CL_MEM_READ_ONLY, sizeof(a), NULL);
	cl_mem second = buffer_of(&s, CL_MEM_READ_ONLY, sizeof(b), NULL);
	cl_mem sum = buffer_of(&s, CL_MEM_WRITE_ONLY, sizeof(c), NULL);
	cl_kernel kernel = kernel_of(&s, "vector_add");

	SET(kernel, 0, first);
	SET(kernel, 1, second);
	SET(kernel, 2, sum);
	SET(kernel, 3, n);
	DO(&s, COPY, clEnqueueWriteBuffer(s.queue, first, CL_TRUE, 0, sizeof(a), a, 0, NULL, NULL));
	DO(&s, COPY,
	   clEnqueueWriteBuffer(s.queue, second, CL_FALSE, 0, sizeof(b), b, 0, NULL, &copied));
	for (int i = 0; i < LAUNCHES; i++)
		run1(&s, kernel, N, 64);
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, kernel, 1, NULL, &global, &local, 1, &copied, &event));
	MUST(clWaitForEvents(1, &event));
	print_time("vector_add", event);
	print_time("clEnqueueWriteBuffer", copied);
	print_event_references("event", event);
	MUST(clRetainEvent(event));
	print_event_references("event", event);
	MUST(clReleaseEvent(event));
	read_back(&s, sum, sizeof(c), c);
	print_result(c, sizeof(c));
	MUST(clReleaseEvent(event));
	MUST(clReleaseEvent(copied));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(first));
	MUST(clReleaseMemObject(second));
	MUST(clReleaseMemObject(sum));
	close_device(&s);
	return 0;
}
