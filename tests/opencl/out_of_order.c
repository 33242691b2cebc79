/* SPDX-License-Identifier: Apache-2.0 */
/* A queue without order: events, a user event, markers and barriers say what comes before what. */
#include "device.h"

enum { N = 2048 };

static const char *source = "__kernel void add(__global int *a, int what)\n"
			    "{\n"
			    "	a[get_global_id(0)] += what;\n"
			    "}\n"
			    "__kernel void join(__global int *a, __global const int *b)\n"
			    "{\n"
			    "	a[get_global_id(0)] *= b[get_global_id(0)];\n"
			    "}\n";

int main(void)
{
	static int zeros[N], result[N];
	const int one = 1, two = 2;
	const size_t global = N;
	struct session s;
	cl_event gate, written[2], added[2], joined, marked;
	cl_int status;

	open_device(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
	build(&s, source);
	cl_mem a = buffer_of(&s, 0, sizeof(zeros), NULL), b = buffer_of(&s, 0, sizeof(zeros), NULL);
	cl_kernel first = kernel_of(&s, "add"), second = kernel_of(&s, "add");
	cl_kernel join = kernel_of(&s, "join");

	gate = clCreateUserEvent(s.context, &status);
	must(status, "clCreateUserEvent");
	DO(&s, COPY,
	   clEnqueueWriteBuffer(s.queue, a, CL_FALSE, 0, sizeof(zeros), zeros, 1, &gate,
				&written[0]));
	DO(&s, COPY,
	   clEnqueueWriteBuffer(s.queue, b, CL_FALSE, 0, sizeof(zeros), zeros, 1, &gate,
				&written[1]));
	SET(first, 0, a);
	SET(first, 1, one);
	SET(second, 0, b);
	SET(second, 1, two);
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, first, 1, NULL, &global, NULL, 1, &written[0],
				  &added[0]));
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, second, 1, NULL, &global, NULL, 1, &written[1],
				  &added[1]));
	SET(join, 0, a);
	SET(join, 1, b);
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, join, 1, NULL, &global, NULL, 2, added, &joined));
	DO(&s, RECORD, clEnqueueMarkerWithWaitList(s.queue, 1, &joined, &marked));
	DO(&s, WAIT, clEnqueueBarrierWithWaitList(s.queue, 0, NULL, NULL));
	MUST(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(clWaitForEvents(1, &marked));
	print_time("join", joined);
	DO(&s, COPY,
	   clEnqueueReadBuffer(s.queue, a, CL_TRUE, 0, sizeof(result), result, 1, &joined, NULL));
	print_result(result, sizeof(result));
	MUST(clFinish(s.queue));
	print_event_references("joined", joined);
	print_event_references("gate", gate);
	cl_event all[] = {gate, written[0], written[1], added[0], added[1], joined, marked};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		MUST(clReleaseEvent(all[i]));
	MUST(clReleaseKernel(first));
	MUST(clReleaseKernel(second));
	MUST(clReleaseKernel(join));
	MUST(clReleaseMemObject(a));
	MUST(clReleaseMemObject(b));
	close_device(&s);
	return 0;
}
