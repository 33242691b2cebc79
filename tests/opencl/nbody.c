/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that attract one another: two kernels a step, from a task to a range. */
#include "device.h"

enum { N = 128, STEPS = 6 };

static const char *source =
	"__kernel void attract(__global const float4 *at, __global float4 *speed, int n)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	float4 pull = 0;\n"
	"	for (int j = 0; j < n; j++) {\n"
	"		float4 way = at[j] - at[i];\n"
	"		way.w = 0;\n"
	"		float far = dot(way, way) + 0.01f;\n"
	"		pull += way / far * 0.001f;\n"
	"	}\n"
	"	speed[i] += pull;\n"
	"}\n"
	"__kernel void move(__global float4 *at, __global const float4 *speed)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	at[i] += speed[i];\n"
	"}\n"
	"__kernel void count(__global int *steps) { steps[0]++; }\n";

int main(void)
{
	static float at[4 * N], speed[4 * N];
	const int n = N;
	int steps = 0;
	struct session s;
	cl_kernel kernels[3];
	cl_uint count;

	for (int i = 0; i < 4 * N; i++)
		at[i] = (float)(i * 37 % 101) / 101;
	open_device(&s, 0);
	build(&s, source);
	cl_mem places = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(at), at);
	cl_mem speeds = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(speed), speed);
	cl_mem counter = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(steps), &steps);

	MUST(clCreateKernelsInProgram(s.program, 3, kernels, &count));
	cl_kernel attract = kernel_of(&s, "attract"), move = kernel_of(&s, "move");
	cl_kernel tick = kernel_of(&s, "count");

	SET(attract, 0, places);
	SET(attract, 1, speeds);
	SET(attract, 2, n);
	SET(move, 0, places);
	SET(move, 1, speeds);
	SET(tick, 0, counter);
	for (int step = 0; step < STEPS; step++) {
		run1(&s, attract, N, 16);
		run1(&s, move, N, 16);
		DO(&s, KERNEL, clEnqueueTask(s.queue, tick, 0, NULL, NULL));
	}
	read_back(&s, places, sizeof(at), at);
	read_back(&s, counter, sizeof(steps), &steps);
	print_result(at, sizeof(at));
	print_result(&steps, sizeof(steps));
	for (cl_uint i = 0; i < count; i++)
		MUST(clReleaseKernel(kernels[i]));
	MUST(clReleaseKernel(attract));
	MUST(clReleaseKernel(move));
	MUST(clReleaseKernel(tick));
	MUST(clReleaseMemObject(places));
	MUST(clReleaseMemObject(speeds));
	MUST(clReleaseMemObject(counter));
	close_device(&s);
	return 0;
}
