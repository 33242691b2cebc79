/* SPDX-License-Identifier: Apache-2.0 */
/* Works on halves of a buffer: each is a sub-buffer. */
#include "device.h"

enum { N = 4096 };

static const char *source = "__kernel void scale(__global float *a, float factor)\n"
			    "{\n"
			    "	a[get_global_id(0)] *= factor;\n"
			    "}\n";

int main(void)
{
	static float numbers[N];
	struct session s;
	cl_int status;
	cl_mem halves[2];

	for (int i = 0; i < N; i++)
		numbers[i] = (float)i;
	open_device(&s, 0);
	build(&s, source);
	cl_mem whole = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel kernel = kernel_of(&s, "scale");

	for (int i = 0; i < 2; i++) {
		const cl_buffer_region region = {(size_t)i * sizeof(numbers) / 2,
						 sizeof(numbers) / 2};
		const float factor = (float)(i + 2);

		halves[i] =
			clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
		must(status, "clCreateSubBuffer");
		SET(kernel, 0, halves[i]);
		SET(kernel, 1, factor);
		run1(&s, kernel, N / 2, 0);
	}
	DO(&s, COPY,
	   clEnqueueCopyBuffer(s.queue, halves[1], halves[0], 64, 128, 256, 0, NULL, NULL));
	read_back(&s, whole, sizeof(numbers), numbers);
	print_result(numbers, sizeof(numbers));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(halves[0]));
	MUST(clReleaseMemObject(halves[1]));
	MUST(clReleaseMemObject(whole));
	close_device(&s);
	return 0;
}
