/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices in tiles, with local memory; the queue is created in the old way. */
#include "device.h"

enum { N = 64, TILE = 8 };

static const char *source =
	"__kernel void matmul(__global const float *a, __global const float *b, __global float "
	"*c,\n"
	"		     __local float *left, __local float *right, uint n)\n"
	"{\n"
	"	const uint x = get_local_id(0), y = get_local_id(1), tile = get_local_size(0);\n"
	"	const uint column = get_global_id(0), row = get_global_id(1);\n"
	"	float sum = 0;\n"
	"	for (uint t = 0; t < n / tile; t++) {\n"
	"		left[y * tile + x] = a[row * n + t * tile + x];\n"
	"		right[y * tile + x] = b[(t * tile + y) * n + column];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"		for (uint k = 0; k < tile; k++)\n"
	"			sum += left[y * tile + k] * right[k * tile + x];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	c[row * n + column] = sum;\n"
	"}\n";

int main(void)
{
	static float a[N * N], b[N * N], c[N * N];
	const cl_uint n = N;
	struct session s;
	cl_int status;
	cl_event event;
	cl_ulong time;
	const size_t global[2] = {N, N}, local[2] = {TILE, TILE};

	for (int i = 0; i < N * N; i++) {
		a[i] = (float)(i % 7) - 3;
		b[i] = (float)(i % 5) - 2;
	}
	open_device(&s, 0);
	MUST(clReleaseCommandQueue(s.queue));
	s.queue = clCreateCommandQueue(s.context, s.device, 0, &status);
	must(status, "clCreateCommandQueue");
	build(&s, source);
	cl_mem left = buffer_of(&s, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(a), a);
	cl_mem right = buffer_of(&s, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(b), b);
	cl_mem product = buffer_of(&s, CL_MEM_READ_WRITE, sizeof(c), NULL);
	cl_kernel kernel = kernel_of(&s, "matmul");

	SET(kernel, 0, left);
	SET(kernel, 1, right);
	SET(kernel, 2, product);
	MUST(clSetKernelArg(kernel, 3, TILE * TILE * sizeof(float), NULL));
	MUST(clSetKernelArg(kernel, 4, TILE * TILE * sizeof(float), NULL));
	SET(kernel, 5, n);
	run2(&s, kernel, N, N, TILE);
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, kernel, 2, NULL, global, local, 0, NULL, &event));
	MUST(clWaitForEvents(1, &event));
	/* No profiling was asked for: there are no times. */
	printf("answer profiling %d\n", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
								sizeof(time), &time, NULL));
	print_event_references("event", event);
	MUST(clReleaseEvent(event));
	read_back(&s, product, sizeof(c), c);
	print_result(c, sizeof(c));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(left));
	MUST(clReleaseMemObject(right));
	MUST(clReleaseMemObject(product));
	close_device(&s);
	return 0;
}
