/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of training of a network with one hidden layer: forward, loss, backward, update. */
#include "device.h"

enum { IN = 8, HIDDEN = 16, BATCH = 32, STEPS = 5 };

static const char *source =
	"__kernel void forward(__global const float *x, __global const float *w,\n"
	"		      __global float *y, int n, int relu)\n"
	"{\n"
	"	int o = get_global_id(0), b = get_global_id(1), m = get_global_size(0);\n"
	"	float sum = 0;\n"
	"	for (int i = 0; i < n; i++)\n"
	"		sum += x[b * n + i] * w[i * m + o];\n"
	"	y[b * m + o] = relu ? fmax(sum, 0.0f) : sum;\n"
	"}\n"
	"__kernel void loss(__global const float *y, __global const float *target,\n"
	"		   __global float *grad)\n"
	"{\n"
	"	int i = get_global_id(0);\n"
	"	grad[i] = y[i] - target[i];\n"
	"}\n"
	"__kernel void backward_input(__global const float *grad, __global const float *w,\n"
	"			     __global const float *h, __global float *out, int m)\n"
	"{\n"
	"	int i = get_global_id(0), b = get_global_id(1), n = get_global_size(0);\n"
	"	float sum = 0;\n"
	"	for (int o = 0; o < m; o++)\n"
	"		sum += grad[b * m + o] * w[i * m + o];\n"
	"	out[b * n + i] = h[b * n + i] > 0 ? sum : 0;\n"
	"}\n"
	"__kernel void update(__global const float *x, __global const float *grad,\n"
	"		     __global float *w, int batch, float rate)\n"
	"{\n"
	"	int o = get_global_id(0), i = get_global_id(1);\n"
	"	int m = get_global_size(0), n = get_global_size(1);\n"
	"	float sum = 0;\n"
	"	for (int b = 0; b < batch; b++)\n"
	"		sum += x[b * n + i] * grad[b * m + o];\n"
	"	w[i * m + o] -= rate * sum / batch;\n"
	"}\n";

static void fill(float *values, int count, int seed)
{
	for (int i = 0; i < count; i++)
		values[i] = (float)((i + seed) * 7919 % 211) / 211 - 0.5f;
}

static void run(struct session *s, cl_kernel kernel, size_t x, size_t y)
{
	const size_t global[2] = {x, y};

	DO(s, KERNEL,
	   clEnqueueNDRangeKernel(s->queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
}

int main(void)
{
	static float x[BATCH * IN], w1[IN * HIDDEN], w2[HIDDEN], target[BATCH];
	const int in = IN, hidden = HIDDEN, one = 1, zero = 0, batch = BATCH;
	const float rate = 0.1f;
	struct session s;

	fill(x, BATCH * IN, 1);
	fill(w1, IN * HIDDEN, 2);
	fill(w2, HIDDEN, 3);
	fill(target, BATCH, 4);
	open_device(&s, 0);
	build(&s, source);
	cl_mem data = buffer_of(&s, CL_MEM_READ_ONLY, sizeof(x), NULL);
	cl_mem first = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(w1), w1);
	cl_mem second = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(w2), w2);
	cl_mem wanted =
		buffer_of(&s, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(target), target);
	cl_mem h = buffer_of(&s, 0, BATCH * HIDDEN * sizeof(float), NULL);
	cl_mem y = buffer_of(&s, 0, BATCH * sizeof(float), NULL);
	cl_mem grad_y = buffer_of(&s, 0, BATCH * sizeof(float), NULL);
	cl_mem grad_h = buffer_of(&s, 0, BATCH * HIDDEN * sizeof(float), NULL);
	cl_kernel forward = kernel_of(&s, "forward"), loss = kernel_of(&s, "loss");
	cl_kernel backward = kernel_of(&s, "backward_input"), update = kernel_of(&s, "update");

	for (int step = 0; step < STEPS; step++) {
		DO(&s, COPY,
		   clEnqueueWriteBuffer(s.queue, data, CL_FALSE, 0, sizeof(x), x, 0, NULL, NULL));
		SET(forward, 0, data);
		SET(forward, 1, first);
		SET(forward, 2, h);
		SET(forward, 3, in);
		SET(forward, 4, one);
		run(&s, forward, HIDDEN, BATCH);
		SET(forward, 0, h);
		SET(forward, 1, second);
		SET(forward, 2, y);
		SET(forward, 3, hidden);
		SET(forward, 4, zero);
		run(&s, forward, 1, BATCH);
		SET(loss, 0, y);
		SET(loss, 1, wanted);
		SET(loss, 2, grad_y);
		run1(&s, loss, BATCH, 0);
		SET(backward, 0, grad_y);
		SET(backward, 1, second);
		SET(backward, 2, h);
		SET(backward, 3, grad_h);
		SET(backward, 4, one);
		run(&s, backward, HIDDEN, BATCH);
		SET(update, 0, h);
		SET(update, 1, grad_y);
		SET(update, 2, second);
		SET(update, 3, batch);
		SET(update, 4, rate);
		run(&s, update, 1, HIDDEN);
		SET(update, 0, data);
		SET(update, 1, grad_h);
		SET(update, 2, first);
		run(&s, update, HIDDEN, IN);
	}
	read_back(&s, first, sizeof(w1), w1);
	read_back(&s, second, sizeof(w2), w2);
	print_result(w1, sizeof(w1));
	print_result(w2, sizeof(w2));
	cl_mem all[] = {data, first, second, wanted, h, y, grad_y, grad_h};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		MUST(clReleaseMemObject(all[i]));
	cl_kernel kernels[] = {forward, loss, backward, update};
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		MUST(clReleaseKernel(kernels[i]));
	close_device(&s);
	return 0;
}
