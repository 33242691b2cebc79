/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a launch takes: a small kernel with four arguments, launched many times without events,
 * then clFinish(). Prints ns per launch of each round: of the calls alone, until all have ended,
 * and of the processor by the thread that calls.
 */
#include "device.h"

enum { N = 64, LAUNCHES = 2000 };

static const char *source = "__kernel void tiny(__global const float *a, __global const float *b,\n"
			    "		    __global float *c, int n)\n"
			    "{\n"
			    "	int i = get_global_id(0);\n"
			    "	if (i < n)\n"
			    "		c[i] = a[i] + b[i];\n"
			    "}\n";

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **words)
{
	const int rounds = count > 1 ? atoi(words[1]) : 10, n = N;
	struct session s;

	open_device(&s, 0);
	build(&s, source);
	cl_mem a = buffer_of(&s, 0, N * sizeof(float), NULL);
	cl_mem b = buffer_of(&s, 0, N * sizeof(float), NULL);
	cl_mem c = buffer_of(&s, 0, N * sizeof(float), NULL);
	cl_kernel kernel = kernel_of(&s, "tiny");

	SET(kernel, 0, a);
	SET(kernel, 1, b);
	SET(kernel, 2, c);
	SET(kernel, 3, n);
	run1(&s, kernel, N, N);
	MUST(clFinish(s.queue));
	for (int round = 0; round < rounds; round++) {
		const double begin = now_ns(CLOCK_MONOTONIC);
		const double busy = now_ns(CLOCK_THREAD_CPUTIME_ID);
		double called;

		for (int i = 0; i < LAUNCHES; i++)
			run1(&s, kernel, N, N);
		called = now_ns(CLOCK_MONOTONIC);
		MUST(clFinish(s.queue));
		printf("%.0f %.0f %.0f\n", (called - begin) / LAUNCHES,
		       (now_ns(CLOCK_MONOTONIC) - begin) / LAUNCHES,
		       (now_ns(CLOCK_THREAD_CPUTIME_ID) - busy) / LAUNCHES);
	}
	MUST(clReleaseKernel(kernel));
	return 0;
}
