/* SPDX-License-Identifier: Apache-2.0 */
/* A sum in two passes: groups first, then their sums. */
#include "device.h"

enum { N = 1 << 14, GROUP = 64 };

static const char *source = "__kernel void reduce(__global const int *in, __global int *out, "
			    "__local int *part, int n)\n"
			    "{\n"
			    "	int l = get_local_id(0), i = get_global_id(0);\n"
			    "	part[l] = i < n ? in[i] : 0;\n"
			    "	barrier(CLK_LOCAL_MEM_FENCE);\n"
			    "	for (int step = get_local_size(0) / 2; step; step /= 2) {\n"
			    "		if (l < step)\n"
			    "			part[l] += part[l + step];\n"
			    "		barrier(CLK_LOCAL_MEM_FENCE);\n"
			    "	}\n"
			    "	if (!l)\n"
			    "		out[get_group_id(0)] = part[0];\n"
			    "}\n";

static void pass(struct session *s, cl_kernel kernel, cl_mem in, cl_mem out, int n)
{
	SET(kernel, 0, in);
	SET(kernel, 1, out);
	MUST(clSetKernelArg(kernel, 2, GROUP * sizeof(int), NULL));
	SET(kernel, 3, n);
	run1(s, kernel, (size_t)(n + GROUP - 1) / GROUP * GROUP, GROUP);
}

int main(void)
{
	static int numbers[N];
	struct session s;
	int sum;

	for (int i = 0; i < N; i++)
		numbers[i] = i * 7 % 1000;
	open_device(&s, 0);
	build(&s, source);
	cl_mem in = buffer_of(&s, CL_MEM_USE_HOST_PTR, sizeof(numbers), numbers);
	cl_mem out = buffer_of(&s, 0, N / GROUP * sizeof(int), NULL);
	cl_mem last = buffer_of(&s, 0, N / GROUP / GROUP * sizeof(int), NULL);
	cl_mem one = buffer_of(&s, 0, sizeof(int), NULL);
	cl_kernel kernel = kernel_of(&s, "reduce");

	pass(&s, kernel, in, out, N);
	pass(&s, kernel, out, last, N / GROUP);
	pass(&s, kernel, last, one, N / GROUP / GROUP);
	read_back(&s, one, sizeof(sum), &sum);
	print_result(&sum, sizeof(sum));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(in));
	MUST(clReleaseMemObject(out));
	MUST(clReleaseMemObject(last));
	MUST(clReleaseMemObject(one));
	close_device(&s);
	return 0;
}
