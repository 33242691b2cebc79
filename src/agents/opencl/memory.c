/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects and samplers: created, with the content that they begin with. */
#include "own.h"

#include <string.h>

static uint64_t bytes_of(cl_mem mem)
{
	size_t bytes = 0;

	wti_cl.real.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	return bytes;
}

/* With --replayable. What the program only lends is what it holds now. */
static uint64_t first_content(cl_mem_flags flags, const void *host, uint64_t bytes)
{
	return flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) ? wti_cl_content(host, bytes)
								    : 0;
}

static cl_mem buffer_add(cl_mem handle, cl_context context, cl_mem_flags flags, size_t bytes,
			 const void *host)
{
	if (handle)
		wti_cl_object_add(handle,
				  &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_BUFFER,
						       .parent = wti_cl_object_id(context),
						       .bytes = bytes,
						       .flags = flags,
						       .hash = first_content(flags, host, bytes)});
	return handle;
}

static cl_mem CL_API_CALL layer_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
					       void *host, cl_int *status)
{
	return buffer_add(wti_cl.real.clCreateBuffer(context, flags, bytes, host, status), context,
			  flags, bytes, host);
}

static cl_mem CL_API_CALL layer_clCreateBufferWithProperties(cl_context context,
							     const cl_mem_properties *properties,
							     cl_mem_flags flags, size_t bytes,
							     void *host, cl_int *status)
{
	return buffer_add(wti_cl.real.clCreateBufferWithProperties(context, properties, flags,
								   bytes, host, status),
			  context, flags, bytes, host);
}

/* Without flags of its own it has those of its parent. */
static cl_mem CL_API_CALL layer_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
						  cl_buffer_create_type type, const void *info,
						  cl_int *status)
{
	cl_mem handle = wti_cl.real.clCreateSubBuffer(buffer, flags, type, info, status);
	const cl_buffer_region *region = info;
	struct wti_cl_object *parent;

	if (!handle || type != CL_BUFFER_CREATE_TYPE_REGION)
		return handle;
	parent = wti_cl_object_get(buffer);
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_SUB_BUFFER,
						       .parent = parent ? parent->id : 0,
						       .offset = region->origin,
						       .bytes = region->size,
						       .flags = flags    ? flags
								: parent ? parent->flags
									 : 0});
	wti_cl_object_put(parent);
	return handle;
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* What creating it again needs; numbers of fixed width, in the order of the API's structs. */
struct image_details {
	uint32_t order, type; /* of channels */
	uint32_t image_type, mip_levels;
	uint64_t width, height, depth, array_size, row, slice;
	uint32_t samples, reserved;
	uint64_t buffer; /* the object whose memory it uses; 0: none */
};

/* The bytes that the program hands over, with its own pitches. */
static uint64_t host_bytes(cl_mem image, const cl_image_desc *about)
{
	const uint64_t rows = about->image_height ? about->image_height : 1;
	uint64_t slices = about->image_depth ? about->image_depth : 1;

	if (about->image_array_size > 1)
		slices = about->image_array_size;
	if (about->image_slice_pitch)
		return about->image_slice_pitch * slices;
	return about->image_row_pitch ? about->image_row_pitch * rows * slices : bytes_of(image);
}

static cl_mem image_add(cl_mem handle, cl_context context, cl_mem_flags flags,
			const cl_image_format *format, const cl_image_desc *about, const void *host)
{
	struct image_details details;

	if (!handle)
		return handle;
	details = (struct image_details){
		.order = format->image_channel_order,
		.type = format->image_channel_data_type,
		.image_type = about->image_type,
		.mip_levels = about->num_mip_levels,
		.width = about->image_width,
		.height = about->image_height,
		.depth = about->image_depth,
		.array_size = about->image_array_size,
		.row = about->image_row_pitch,
		.slice = about->image_slice_pitch,
		.samples = about->num_samples,
		.buffer = wti_cl_object_id(about->buffer),
	};
	wti_cl_object_add(
		handle,
		&(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_IMAGE,
				     .parent = wti_cl_object_id(context),
				     .bytes = bytes_of(handle),
				     .flags = flags,
				     .hash = first_content(flags, host, host_bytes(handle, about)),
				     .details = &details,
				     .details_bytes = sizeof(details)});
	return handle;
}

static cl_mem CL_API_CALL layer_clCreateImage(cl_context context, cl_mem_flags flags,
					      const cl_image_format *format,
					      const cl_image_desc *about, void *host,
					      cl_int *status)
{
	return image_add(wti_cl.real.clCreateImage(context, flags, format, about, host, status),
			 context, flags, format, about, host);
}

static cl_mem CL_API_CALL layer_clCreateImageWithProperties(
	cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
	const cl_image_format *format, const cl_image_desc *about, void *host, cl_int *status)
{
	return image_add(wti_cl.real.clCreateImageWithProperties(context, properties, flags, format,
								 about, host, status),
			 context, flags, format, about, host);
}

static cl_mem CL_API_CALL layer_clCreateImage2D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t row, void *host,
						cl_int *status)
{
	const cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				     .image_width = width,
				     .image_height = height,
				     .image_row_pitch = row};

	return image_add(wti_cl.real.clCreateImage2D(context, flags, format, width, height, row,
						     host, status),
			 context, flags, format, &about, host);
}

static cl_mem CL_API_CALL layer_clCreateImage3D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t depth, size_t row,
						size_t slice, void *host, cl_int *status)
{
	const cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE3D,
				     .image_width = width,
				     .image_height = height,
				     .image_depth = depth,
				     .image_row_pitch = row,
				     .image_slice_pitch = slice};

	return image_add(wti_cl.real.clCreateImage3D(context, flags, format, width, height, depth,
						     row, slice, host, status),
			 context, flags, format, &about, host);
}

/* ---- Pipes and samplers ---------------------------------------------------------------------- */

static cl_mem CL_API_CALL layer_clCreatePipe(cl_context context, cl_mem_flags flags,
					     cl_uint packet_bytes, cl_uint packets,
					     const cl_pipe_properties *properties, cl_int *status)
{
	cl_mem handle =
		wti_cl.real.clCreatePipe(context, flags, packet_bytes, packets, properties, status);
	const uint32_t details[] = {packet_bytes, packets};

	if (handle)
		wti_cl_object_add(handle,
				  &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_PIPE,
						       .parent = wti_cl_object_id(context),
						       .bytes = (uint64_t)packet_bytes * packets,
						       .flags = flags,
						       .details = details,
						       .details_bytes = sizeof(details)});
	return handle;
}

static cl_sampler sampler_add(cl_sampler handle, cl_context context)
{
	uint32_t details[3] = {0}; /* normalized, addressing, filter */

	if (!handle)
		return handle;
	wti_cl.real.clGetSamplerInfo(handle, CL_SAMPLER_NORMALIZED_COORDS, sizeof(details[0]),
				     &details[0], NULL);
	wti_cl.real.clGetSamplerInfo(handle, CL_SAMPLER_ADDRESSING_MODE, sizeof(details[1]),
				     &details[1], NULL);
	wti_cl.real.clGetSamplerInfo(handle, CL_SAMPLER_FILTER_MODE, sizeof(details[2]),
				     &details[2], NULL);
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_SAMPLER,
						       .parent = wti_cl_object_id(context),
						       .details = details,
						       .details_bytes = sizeof(details)});
	return handle;
}

static cl_sampler CL_API_CALL layer_clCreateSampler(cl_context context, cl_bool normalized,
						    cl_addressing_mode addressing,
						    cl_filter_mode filter, cl_int *status)
{
	return sampler_add(
		wti_cl.real.clCreateSampler(context, normalized, addressing, filter, status),
		context);
}

static cl_sampler CL_API_CALL layer_clCreateSamplerWithProperties(
	cl_context context, const cl_sampler_properties *properties, cl_int *status)
{
	return sampler_add(wti_cl.real.clCreateSamplerWithProperties(context, properties, status),
			   context);
}

void wti_cl_take_memory(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateBuffer);
	WTI_CL_TAKE(ours, clCreateBufferWithProperties);
	WTI_CL_TAKE(ours, clCreateSubBuffer);
	WTI_CL_TAKE(ours, clCreateImage);
	WTI_CL_TAKE(ours, clCreateImageWithProperties);
	WTI_CL_TAKE(ours, clCreateImage2D);
	WTI_CL_TAKE(ours, clCreateImage3D);
	WTI_CL_TAKE(ours, clCreatePipe);
	WTI_CL_TAKE(ours, clCreateSampler);
	WTI_CL_TAKE(ours, clCreateSamplerWithProperties);
}
