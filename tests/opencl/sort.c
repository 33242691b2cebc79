/* SPDX-License-Identifier: Apache-2.0 */
/* A bitonic sort: many launches of one kernel on one buffer. */
#include "device.h"

enum { N = 1 << 8 };

static const char *source = "__kernel void exchange(__global uint *a, uint stride, uint block)\n"
			    "{\n"
			    "	uint i = get_global_id(0), j = i ^ stride;\n"
			    "	if (j > i && (a[i] > a[j]) == !(i & block)) {\n"
			    "		uint t = a[i];\n"
			    "		a[i] = a[j];\n"
			    "		a[j] = t;\n"
			    "	}\n"
			    "}\n";

int main(void)
{
	static cl_uint numbers[N];
	struct session s;
	cl_uint seed = 1;

	for (int i = 0; i < N; i++)
		numbers[i] = seed = seed * 1664525u + 1013904223u;
	open_device(&s, 0);
	build(&s, source);
	cl_mem all =
		buffer_of(&s, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel kernel = kernel_of(&s, "exchange");

	SET(kernel, 0, all);
	for (cl_uint block = 2; block <= N; block *= 2)
		for (cl_uint stride = block / 2; stride; stride /= 2) {
			SET(kernel, 1, stride);
			SET(kernel, 2, block);
			run1(&s, kernel, N, 0);
		}
	read_back(&s, all, sizeof(numbers), numbers);
	for (int i = 1; i < N; i++)
		if (numbers[i - 1] > numbers[i])
			must(-1, "sorting");
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(all));
	close_device(&s);
	return 0;
}
