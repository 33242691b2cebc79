/* SPDX-License-Identifier: Apache-2.0 */
/* Filters an image with a sampler, and moves images and buffers to and fro. */
#include "device.h"

enum { W = 32, H = 16 };

static const char *source = "__kernel void blur(__read_only image2d_t in, __write_only image2d_t "
			    "out, sampler_t sampler)\n"
			    "{\n"
			    "	int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
			    "	float4 sum = 0;\n"
			    "	for (int d = -1; d <= 1; d++)\n"
			    "		sum += read_imagef(in, sampler, at + (int2)(d, 0));\n"
			    "	write_imagef(out, at, sum / 3);\n"
			    "}\n";

static cl_mem image_of(struct session *s, cl_mem_flags flags)
{
	const cl_image_format format = {CL_RGBA, CL_FLOAT};
	const cl_image_desc about = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
	cl_int status;
	cl_mem image = clCreateImage(s->context, flags, &format, &about, NULL, &status);

	must(status, "clCreateImage");
	return image;
}

int main(void)
{
	static float pixels[W * H * 4];
	const size_t none[3] = {0}, region[3] = {W, H, 1}, global[2] = {W, H};
	const float black[4] = {0, 0, 0, 1};
	struct session s;
	cl_int status;
	size_t row;
	float *mapped;

	for (int i = 0; i < W * H * 4; i++)
		pixels[i] = (float)(i % 13);
	open_device(&s, 0);
	build(&s, source);
	cl_sampler sampler = clCreateSampler(s.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE,
					     CL_FILTER_NEAREST, &status);
	must(status, "clCreateSampler");
	cl_mem in = image_of(&s, CL_MEM_READ_ONLY), out = image_of(&s, CL_MEM_READ_WRITE);
	cl_mem buffer = buffer_of(&s, 0, sizeof(pixels), NULL);
	cl_kernel kernel = kernel_of(&s, "blur");

	SET(kernel, 0, in);
	SET(kernel, 1, out);
	SET(kernel, 2, sampler);
	DO(&s, COPY,
	   clEnqueueWriteImage(s.queue, in, CL_TRUE, none, region, 0, 0, pixels, 0, NULL, NULL));
	DO(&s, FILL, clEnqueueFillImage(s.queue, out, black, none, region, 0, NULL, NULL));
	DO(&s, KERNEL,
	   clEnqueueNDRangeKernel(s.queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
	DO(&s, COPY, clEnqueueCopyImage(s.queue, out, in, none, none, region, 0, NULL, NULL));
	DO(&s, COPY,
	   clEnqueueCopyImageToBuffer(s.queue, in, buffer, none, region, 0, 0, NULL, NULL));
	DO(&s, COPY,
	   clEnqueueCopyBufferToImage(s.queue, buffer, out, 0, none, region, 0, NULL, NULL));
	s.commands[COPY]++;
	mapped = clEnqueueMapImage(s.queue, out, CL_TRUE, CL_MAP_READ, none, region, &row, NULL, 0,
				   NULL, NULL, &status);
	must(status, "clEnqueueMapImage");
	print_result(mapped, W * 4 * sizeof(float));
	DO(&s, COPY, clEnqueueUnmapMemObject(s.queue, out, mapped, 0, NULL, NULL));
	DO(&s, COPY,
	   clEnqueueReadImage(s.queue, out, CL_TRUE, none, region, 0, 0, pixels, 0, NULL, NULL));
	print_result(pixels, sizeof(pixels));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseSampler(sampler));
	MUST(clReleaseMemObject(in));
	MUST(clReleaseMemObject(out));
	MUST(clReleaseMemObject(buffer));
	close_device(&s);
	return 0;
}
