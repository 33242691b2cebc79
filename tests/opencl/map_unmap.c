/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to buffers and reads from them by mapping; moves them, and asks for all properties. */
#include "device.h"

enum { N = 4096 };

static const char *source = "__kernel void square(__global float *a)\n"
			    "{\n"
			    "	int i = get_global_id(0);\n"
			    "	a[i] = a[i] * a[i];\n"
			    "}\n";

static float *map(struct session *s, cl_mem buffer, cl_map_flags flags, size_t offset, size_t bytes)
{
	cl_int status;
	float *mapped = clEnqueueMapBuffer(s->queue, buffer, CL_TRUE, flags, offset, bytes, 0, NULL,
					   NULL, &status);

	s->commands[COPY]++;
	must(status, "clEnqueueMapBuffer");
	return mapped;
}

int main(void)
{
	struct session s;
	cl_queue_properties list[8] = {0};
	size_t bytes = 99;
	float *mapped;

	open_device(&s, 0);
	build(&s, source);
	cl_mem buffer = buffer_of(&s, CL_MEM_ALLOC_HOST_PTR, N * sizeof(float), NULL);
	cl_kernel kernel = kernel_of(&s, "square");

	mapped = map(&s, buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, N * sizeof(float));
	for (int i = 0; i < N; i++)
		mapped[i] = (float)i / 2;
	DO(&s, COPY, clEnqueueUnmapMemObject(s.queue, buffer, mapped, 0, NULL, NULL));
	DO(&s, COPY, clEnqueueMigrateMemObjects(s.queue, 1, &buffer, 0, 0, NULL, NULL));
	SET(kernel, 0, buffer);
	run1(&s, kernel, N, 64);
	mapped = map(&s, buffer, CL_MAP_READ | CL_MAP_WRITE, 1024, 512);
	mapped[0] = -1;
	DO(&s, COPY, clEnqueueUnmapMemObject(s.queue, buffer, mapped, 0, NULL, NULL));
	mapped = map(&s, buffer, CL_MAP_READ, 0, N * sizeof(float));
	print_result(mapped, N * sizeof(float));
	DO(&s, COPY, clEnqueueUnmapMemObject(s.queue, buffer, mapped, 0, NULL, NULL));
	printf("answer array %d\n", clGetCommandQueueInfo(s.queue, CL_QUEUE_PROPERTIES_ARRAY,
							  sizeof(list), list, &bytes));
	printf("answer array_bytes %zu\n", bytes);
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
	return 0;
}
