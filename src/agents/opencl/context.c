/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and the references of the program to whatever it creates. */
#include "own.h"

enum { DEVICES_MAX = 64 };

/* Its details are the numbers of its devices. */
static cl_context context_add(cl_context handle)
{
	cl_device_id devices[DEVICES_MAX];
	uint32_t numbers[DEVICES_MAX];
	size_t bytes = 0;
	uint32_t count;

	if (!handle)
		return handle;
	if (wti_cl.real.clGetContextInfo(handle, CL_CONTEXT_DEVICES, sizeof(devices), devices,
					 &bytes) != CL_SUCCESS)
		bytes = 0;
	count = (uint32_t)(bytes / sizeof(*devices));
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = wti_cl_device_number(devices[i]);
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_CONTEXT,
						       .device = count ? numbers[0] : 0,
						       .details = numbers,
						       .details_bytes = count * 4});
	return handle;
}

static cl_context CL_API_CALL layer_clCreateContext(
	const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
	void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
	cl_int *status)
{
	return context_add(
		wti_cl.real.clCreateContext(properties, count, devices, notify, data, status));
}

static cl_context CL_API_CALL
layer_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
			      void *data, cl_int *status)
{
	return context_add(
		wti_cl.real.clCreateContextFromType(properties, type, notify, data, status));
}

/* The last one is noted before the driver may give the handle away again. */
#define REFERENCES(what, handle_type)                                                              \
	static cl_int CL_API_CALL layer_clRetain##what(handle_type handle)                         \
	{                                                                                          \
		wti_cl_object_retain(handle);                                                      \
		return wti_cl.real.clRetain##what(handle);                                         \
	}                                                                                          \
	static cl_int CL_API_CALL layer_clRelease##what(handle_type handle)                        \
	{                                                                                          \
		wti_cl_object_release(handle);                                                     \
		return wti_cl.real.clRelease##what(handle);                                        \
	}

REFERENCES(Context, cl_context)
REFERENCES(MemObject, cl_mem)
REFERENCES(Sampler, cl_sampler)
REFERENCES(Program, cl_program)
REFERENCES(Kernel, cl_kernel)

void wti_cl_take_contexts(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateContext);
	WTI_CL_TAKE(ours, clCreateContextFromType);
	WTI_CL_TAKE(ours, clRetainContext);
	WTI_CL_TAKE(ours, clReleaseContext);
	WTI_CL_TAKE(ours, clRetainMemObject);
	WTI_CL_TAKE(ours, clReleaseMemObject);
	WTI_CL_TAKE(ours, clRetainSampler);
	WTI_CL_TAKE(ours, clReleaseSampler);
	WTI_CL_TAKE(ours, clRetainProgram);
	WTI_CL_TAKE(ours, clReleaseProgram);
	WTI_CL_TAKE(ours, clRetainKernel);
	WTI_CL_TAKE(ours, clReleaseKernel);
}
