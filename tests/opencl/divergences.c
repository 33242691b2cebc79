/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mistakes that make results differ from run to run, one for each word: an out-of-order queue
 * without an event, memory that nobody initialised, work-groups that read what others write.
 */
#include "device.h"

enum { N = 1 << 14, GROUP = 64 };

static const char *source =
	"__kernel void add(__global int *a, int what) { a[get_global_id(0)] += what; }\n"
	"__kernel void scale(__global int *a, int by) { a[get_global_id(0)] *= by; }\n"
	"__kernel void accumulate(__global const int *a, __global int *sums)\n"
	"{\n"
	"	sums[get_global_id(0)] += a[get_global_id(0)];\n"
	"}\n"
	"__kernel void doubled(__global const int *sums, __global int *out)\n"
	"{\n"
	"	out[get_global_id(0)] = 2 * sums[get_global_id(0)];\n"
	"}\n"
	/* The loop is long: that of work-groups which run at the same time overlap. */
	"__kernel void through_local(__global int *out, __local volatile int *shared)\n"
	"{\n"
	"	int was = shared[get_local_id(0)];\n"
	"\n"
	"	shared[get_local_id(0)] = get_global_id(0);\n"
	"	for (int i = 0; i < 200; i++)\n"
	"		was = was * 31 + i;\n"
	"	out[get_global_id(0)] = was;\n"
	"}\n"
	"__kernel void neighbours(__global volatile float *a)\n"
	"{\n"
	"	int i = get_global_id(0), n = get_global_size(0);\n"
	"\n"
	"	for (int k = 0; k < 100; k++)\n"
	"		a[i] = 0.5f * a[i] + 0.5f * a[(i + k * get_local_size(0)) % n];\n"
	"}\n";

static int numbers[N];

static void prepare(struct session *s, cl_command_queue_properties properties)
{
	for (int i = 0; i < N; i++)
		numbers[i] = (int)(i * 2654435761u % 1003u) + 1;
	open_device(s, properties);
	build(s, source);
}

static void finish(struct session *s, cl_mem result)
{
	MUST(clFinish(s->queue));
	read_back(s, result, sizeof(numbers), numbers);
	MUST(clReleaseMemObject(result));
	close_device(s);
}

/* Which of both comes first is up to the driver. */
static void out_of_order(void)
{
	const int three = 3, seven = 7;
	struct session s;

	prepare(&s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_mem a = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel add = kernel_of(&s, "add"), scale = kernel_of(&s, "scale");

	SET(add, 0, a);
	SET(add, 1, three);
	SET(scale, 0, a);
	SET(scale, 1, seven);
	run1(&s, add, N, GROUP);
	run1(&s, scale, N, GROUP);
	MUST(clReleaseKernel(add));
	MUST(clReleaseKernel(scale));
	finish(&s, a);
}

/* Sums that begin with whatever was there: the driver gives memory that was used before. */
static void uninitialised(void)
{
	struct session s;

	prepare(&s, 0);
	cl_mem used[8];
	for (int i = 0; i < 8; i++)
		used[i] = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_mem a = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	for (int i = 0; i < 8; i++)
		MUST(clReleaseMemObject(used[i]));
	cl_mem sums = buffer_of(&s, 0, sizeof(numbers), NULL);
	cl_mem out = buffer_of(&s, 0, sizeof(numbers), NULL);
	cl_kernel accumulate = kernel_of(&s, "accumulate"), doubled = kernel_of(&s, "doubled");

	SET(accumulate, 0, a);
	SET(accumulate, 1, sums);
	SET(doubled, 0, sums);
	SET(doubled, 1, out);
	run1(&s, accumulate, N, GROUP);
	run1(&s, doubled, N, GROUP);
	MUST(clReleaseKernel(accumulate));
	MUST(clReleaseKernel(doubled));
	MUST(clFinish(s.queue));
	MUST(clReleaseMemObject(a));
	MUST(clReleaseMemObject(sums));
	finish(&s, out);
}

static void local_memory(void)
{
	struct session s;

	prepare(&s, 0);
	cl_mem out = buffer_of(&s, 0, sizeof(numbers), NULL);
	cl_kernel kernel = kernel_of(&s, "through_local");

	SET(kernel, 0, out);
	MUST(clSetKernelArg(kernel, 1, GROUP * sizeof(int), NULL));
	run1(&s, kernel, N, GROUP);
	MUST(clReleaseKernel(kernel));
	finish(&s, out);
}

/* A work-group reads what another writes in the same launch. */
static void groups(void)
{
	struct session s;

	prepare(&s, 0);
	for (int i = 0; i < N; i++) {
		float value = (float)numbers[i];

		memcpy(&numbers[i], &value, sizeof(value));
	}
	cl_mem a = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel kernel = kernel_of(&s, "neighbours");

	SET(kernel, 0, a);
	run1(&s, kernel, N, GROUP);
	MUST(clReleaseKernel(kernel));
	finish(&s, a);
}

int main(int count, char **words)
{
	const struct {
		const char *word;
		void (*run)(void);
	} all[] = {
		{"out_of_order", out_of_order},
		{"uninitialised", uninitialised},
		{"local", local_memory},
		{"groups", groups},
	};

	for (size_t i = 0; count > 1 && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(words[1], all[i].word)) {
			all[i].run();
			return 0;
		}
	fprintf(stderr, "divergences: which?\n");
	return 2;
}
