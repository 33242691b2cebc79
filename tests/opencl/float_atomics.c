/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of floats by compare-and-exchange: the order of the work-items decides its last digits. */
#include "device.h"

enum { N = 1 << 20 };

static const char *source =
	"void add(volatile __global float *to, float what)\n"
	"{\n"
	"	uint was, now;\n"
	"	do {\n"
	"		float sum = *to;\n"
	"		was = as_uint(sum);\n"
	"		now = as_uint(sum + what);\n"
	"	} while (atomic_cmpxchg((volatile __global uint *)to, was, now) != was);\n"
	"}\n"
	"__kernel void scale(__global float *a, float by) { a[get_global_id(0)] *= by; }\n"
	"__kernel void sum(__global const float *a, volatile __global float *to)\n"
	"{\n"
	"	add(to, a[get_global_id(0)]);\n"
	"}\n"
	"__kernel void twice(__global float *to) { *to *= 2; }\n";

int main(void)
{
	static float numbers[N];
	const float by = 0.125f;
	float zero = 0, total = 0;
	struct session s;

	for (int i = 0; i < N; i++)
		numbers[i] = (float)(i * 2654435761u % 1000003u) / 1000.0f;
	open_device(&s, 0);
	build(&s, source);
	cl_mem a = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_mem to = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero);
	cl_kernel scale = kernel_of(&s, "scale"), sum = kernel_of(&s, "sum");
	cl_kernel twice = kernel_of(&s, "twice");

	SET(scale, 0, a);
	SET(scale, 1, by);
	SET(sum, 0, a);
	SET(sum, 1, to);
	SET(twice, 0, to);
	run1(&s, scale, N, 0);
	run1(&s, sum, N, 64);
	run1(&s, twice, 1, 0);
	read_back(&s, to, sizeof(total), &total);
	MUST(clReleaseKernel(scale));
	MUST(clReleaseKernel(sum));
	MUST(clReleaseKernel(twice));
	MUST(clReleaseMemObject(a));
	MUST(clReleaseMemObject(to));
	close_device(&s);
	return total > 0 ? 0 : 1;
}
