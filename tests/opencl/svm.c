/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory, by pointers into the middle of an allocation, too. */
#include "device.h"

enum { N = 1024 };

static const char *source = "__kernel void add(__global const int *a, __global int *b)\n"
			    "{\n"
			    "	int i = get_global_id(0);\n"
			    "	b[i] += a[i];\n"
			    "}\n";

int main(void)
{
	struct session s;
	const int two = 2;
	int own[N / 2];

	open_device(&s, 0);
	build(&s, source);
	int *a = clSVMAlloc(s.context, CL_MEM_READ_WRITE, N * sizeof(int), 0);
	int *b = clSVMAlloc(s.context, CL_MEM_READ_WRITE, N * sizeof(int), 0);
	int *c = clSVMAlloc(s.context, CL_MEM_READ_WRITE, N * sizeof(int), 0);
	cl_kernel kernel = kernel_of(&s, "add");

	if (!a || !b || !c)
		must(-1, "clSVMAlloc");
	DO(&s, COPY,
	   clEnqueueSVMMap(s.queue, CL_TRUE, CL_MAP_WRITE, a, N * sizeof(int), 0, NULL, NULL));
	for (int i = 0; i < N; i++)
		a[i] = i;
	DO(&s, COPY, clEnqueueSVMUnmap(s.queue, a, 0, NULL, NULL));
	DO(&s, FILL,
	   clEnqueueSVMMemFill(s.queue, b, &two, sizeof(two), N * sizeof(int), 0, NULL, NULL));
	MUST(clSetKernelArgSVMPointer(kernel, 0, a + N / 2));
	MUST(clSetKernelArgSVMPointer(kernel, 1, b));
	run1(&s, kernel, N / 2, 0);
	DO(&s, COPY, clEnqueueSVMMemcpy(s.queue, CL_FALSE, c, b, N * sizeof(int), 0, NULL, NULL));
	DO(&s, COPY, clEnqueueSVMMemcpy(s.queue, CL_TRUE, own, c, sizeof(own), 0, NULL, NULL));
	print_result(own, sizeof(own));
	DO(&s, FREE, clEnqueueSVMFree(s.queue, 1, (void *[]){c}, NULL, NULL, 0, NULL, NULL));
	MUST(clFinish(s.queue));
	clSVMFree(s.context, a);
	clSVMFree(s.context, b);
	MUST(clReleaseKernel(kernel));
	close_device(&s);
	return 0;
}
