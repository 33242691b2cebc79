/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sums: a pass for each power of two, between two buffers that change places. */
#include "device.h"

enum { N = 1 << 10 };

static const char *source =
	"__kernel void scan(__global const int *in, __global int *out, int step)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	out[i] = in[i] + (i >= step ? in[i - step] : 0);\n"
	"}\n";

int main(void)
{
	static int numbers[N];
	struct session s;

	for (int i = 0; i < N; i++)
		numbers[i] = i % 9;
	open_device(&s, 0);
	build(&s, source);
	cl_mem in = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_mem out = buffer_of(&s, 0, sizeof(numbers), NULL);
	cl_kernel kernel = kernel_of(&s, "scan");

	for (int step = 1; step < N; step *= 2) {
		cl_mem other = in;

		SET(kernel, 0, in);
		SET(kernel, 1, out);
		SET(kernel, 2, step);
		run1(&s, kernel, N, 32);
		in = out;
		out = other;
	}
	DO(&s, COPY, clEnqueueCopyBuffer(s.queue, in, out, 0, 0, sizeof(numbers), 0, NULL, NULL));
	read_back(&s, out, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(in));
	MUST(clReleaseMemObject(out));
	close_device(&s);
	return 0;
}
