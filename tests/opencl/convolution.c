/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution with weights in constant memory; the picture goes to the device in rectangles. */
#include "device.h"

enum { W = 48, H = 32, PITCH = 64 };

static const char *source =
	"__kernel void convolve(__global const float *in, __constant float *weights,\n"
	"		       __global float *out, int width, int height)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1);\n"
	"	float sum = 0;\n"
	"	for (int dy = -1; dy <= 1; dy++)\n"
	"		for (int dx = -1; dx <= 1; dx++) {\n"
	"			int i = clamp(x + dx, 0, width - 1), j = clamp(y + dy, 0, height - "
	"1);\n"
	"			sum += in[j * width + i] * weights[(dy + 1) * 3 + dx + 1];\n"
	"		}\n"
	"	out[y * width + x] = sum;\n"
	"}\n";

int main(void)
{
	static float picture[PITCH * H], result[PITCH * H];
	float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
	const int width = W, height = H;
	const size_t none[3] = {0}, region[3] = {W * sizeof(float), H, 1};
	const float zero = 0;
	struct session s;

	for (int i = 0; i < PITCH * H; i++)
		picture[i] = (float)(i % 17);
	open_device(&s, 0);
	build(&s, source);
	cl_mem in = buffer_of(&s, CL_MEM_READ_ONLY, W * H * sizeof(float), NULL);
	cl_mem kept =
		buffer_of(&s, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(weights), weights);
	cl_mem out = buffer_of(&s, CL_MEM_READ_WRITE, W * H * sizeof(float), NULL);
	cl_kernel kernel = kernel_of(&s, "convolve");

	SET(kernel, 0, in);
	SET(kernel, 1, kept);
	SET(kernel, 2, out);
	SET(kernel, 3, width);
	SET(kernel, 4, height);
	DO(&s, FILL,
	   clEnqueueFillBuffer(s.queue, out, &zero, sizeof(zero), 0, W * H * sizeof(float), 0, NULL,
			       NULL));
	DO(&s, COPY,
	   clEnqueueWriteBufferRect(s.queue, in, CL_TRUE, none, none, region, W * sizeof(float), 0,
				    PITCH * sizeof(float), 0, picture, 0, NULL, NULL));
	run2(&s, kernel, W, H, 8);
	DO(&s, COPY,
	   clEnqueueCopyBufferRect(s.queue, out, in, none, none, region, W * sizeof(float), 0,
				   W * sizeof(float), 0, 0, NULL, NULL));
	run2(&s, kernel, W, H, 8);
	DO(&s, COPY,
	   clEnqueueReadBufferRect(s.queue, out, CL_TRUE, none, none, region, W * sizeof(float), 0,
				   PITCH * sizeof(float), 0, result, 0, NULL, NULL));
	print_result(result, sizeof(result));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseMemObject(in));
	MUST(clReleaseMemObject(kept));
	MUST(clReleaseMemObject(out));
	close_device(&s);
	return 0;
}
