/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: created, given arguments, launched. */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "transfer.h"

enum { NAME_BYTES = 1024 };

static void kernel_free(void *more)
{
	struct wti_cl_kernel *kernel = more;

	wti_cl_arguments_free(kernel);
	free(kernel);
}

static struct wt_name *name_of(cl_kernel handle)
{
	char text[NAME_BYTES] = "";

	if (wti_cl.real.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, sizeof(text) - 1, text,
					NULL) != CL_SUCCESS)
		snprintf(text, sizeof(text), "kernel");
	return wti_name_find(text, strlen(text));
}

static bool make_arguments(struct wti_cl_kernel *kernel, cl_kernel handle)
{
	cl_uint count = 0;

	wti_cl.real.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL);
	kernel->argument_count = count < WTI_CL_ARGUMENTS_MAX ? count : WTI_CL_ARGUMENTS_MAX;
	kernel->arguments = calloc(kernel->argument_count + 1, sizeof(*kernel->arguments));
	return kernel->arguments != NULL;
}

static void kernel_add(cl_kernel handle, cl_program program, const struct wti_cl_kernel *like)
{
	struct wti_cl_object *parent = wti_cl_object_get(program);
	const struct wti_cl_program *about = parent ? parent->more : NULL;
	struct wti_cl_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel ||
	    !(like ? wti_cl_arguments_copy(kernel, like) : make_arguments(kernel, handle))) {
		free(kernel);
		wti_cl_object_put(parent);
		return;
	}
	kernel->name = name_of(handle);
	if (!like)
		wti_cl_arguments_declared(kernel, handle, about ? about->source : NULL);
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_KERNEL,
						       .name = kernel->name,
						       .parent = parent ? parent->id : 0,
						       .more = kernel,
						       .more_free = kernel_free});
	wti_cl_object_put(parent);
}

static cl_kernel CL_API_CALL layer_clCreateKernel(cl_program program, const char *name,
						  cl_int *status)
{
	cl_kernel handle = wti_cl.real.clCreateKernel(program, name, status);

	if (handle)
		kernel_add(handle, program, NULL);
	return handle;
}

static cl_int CL_API_CALL layer_clCreateKernelsInProgram(cl_program program, cl_uint room,
							 cl_kernel *kernels, cl_uint *ret_count)
{
	cl_uint count = 0;
	cl_int status = wti_cl.real.clCreateKernelsInProgram(program, room, kernels, &count);

	if (status == CL_SUCCESS && ret_count)
		*ret_count = count;
	for (cl_uint i = 0; status == CL_SUCCESS && kernels && i < count && i < room; i++)
		kernel_add(kernels[i], program, NULL);
	return status;
}

static cl_kernel CL_API_CALL layer_clCloneKernel(cl_kernel kernel, cl_int *status)
{
	struct wti_cl_object *object = wti_cl_object_get(kernel);
	cl_kernel handle = wti_cl.real.clCloneKernel(kernel, status);
	cl_program program = NULL;

	wti_cl.real.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, NULL);
	if (handle && object)
		kernel_add(handle, program, object->more);
	wti_cl_object_put(object);
	return handle;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static cl_int CL_API_CALL layer_clSetKernelArg(cl_kernel handle, cl_uint index, size_t bytes,
					       const void *value)
{
	cl_int status = wti_cl.real.clSetKernelArg(handle, index, bytes, value);
	struct wti_cl_object *object = status == CL_SUCCESS ? wti_cl_object_get(handle) : NULL;

	if (object) {
		wti_cl_lock(wti_cl_kernel_lock(object->more));
		wti_cl_argument_set(object->more, index, bytes, value);
		wti_cl_unlock(wti_cl_kernel_lock(object->more));
	}
	wti_cl_object_put(object);
	return status;
}

static cl_int CL_API_CALL layer_clSetKernelArgSVMPointer(cl_kernel handle, cl_uint index,
							 const void *pointer)
{
	cl_int status = wti_cl.real.clSetKernelArgSVMPointer(handle, index, pointer);
	struct wti_cl_object *object = status == CL_SUCCESS ? wti_cl_object_get(handle) : NULL;

	if (object) {
		wti_cl_lock(wti_cl_kernel_lock(object->more));
		wti_cl_argument_svm(object->more, index, pointer);
		wti_cl_unlock(wti_cl_kernel_lock(object->more));
	}
	wti_cl_object_put(object);
	return status;
}

static cl_int CL_API_CALL layer_clSetKernelExecInfo(cl_kernel handle, cl_kernel_exec_info which,
						    size_t bytes, const void *value)
{
	cl_int status = wti_cl.real.clSetKernelExecInfo(handle, which, bytes, value);
	struct wti_cl_object *object = status == CL_SUCCESS ? wti_cl_object_get(handle) : NULL;
	struct wti_cl_kernel *kernel = object ? object->more : NULL;
	size_t count = bytes / sizeof(void *);

	if (kernel && which == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
		count = count < WTI_CL_INDIRECT_MAX ? count : WTI_CL_INDIRECT_MAX;
		wti_cl_lock(wti_cl_kernel_lock(kernel));
		memcpy(kernel->indirect, value, count * sizeof(void *));
		kernel->indirect_count = (uint32_t)count;
		wti_cl_unlock(wti_cl_kernel_lock(kernel));
	}
	wti_cl_object_put(object);
	return status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void read_geometry(struct wti_cl_geometry *ret, cl_uint dimensions, const size_t *offset,
			  const size_t *global, const size_t *local)
{
	*ret = (struct wti_cl_geometry){.dimensions = dimensions};
	for (cl_uint i = 0; i < dimensions && i < 3; i++) {
		ret->offset[i] = offset ? offset[i] : 0;
		ret->global[i] = global ? global[i] : 0;
		ret->local[i] = local ? local[i] : 0;
	}
}

/* "groups/work-items of a group"; where the driver chooses the group, "work-items" alone. */
static struct wt_name *geometry_name(const struct wti_cl_geometry *geometry)
{
	char text[256];
	int bytes = 0;
	const bool is_grouped = geometry->local[0];

	for (uint64_t i = 0; i < geometry->dimensions && i < 3; i++) {
		uint64_t group = is_grouped && geometry->local[i] ? geometry->local[i] : 1;

		bytes +=
			snprintf(text + bytes, sizeof(text) - (size_t)bytes, "%s%llu", i ? "x" : "",
				 (unsigned long long)((geometry->global[i] + group - 1) / group));
	}
	for (uint64_t i = 0; is_grouped && i < geometry->dimensions && i < 3; i++)
		bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes, "%s%llu",
				  i ? "x" : "/", (unsigned long long)geometry->local[i]);
	return wti_name_find(text, (size_t)bytes);
}

/* True at the first launch on a device with work-groups of this size. */
static bool is_first(struct wti_cl_kernel *kernel, uint32_t device, const uint64_t local[3])
{
	for (uint32_t i = 0; i < kernel->launched_count; i++)
		if (kernel->launched[i].device == device &&
		    !memcmp(kernel->launched[i].local, local, sizeof(kernel->launched[i].local)))
			return false;
	if (kernel->launched_count == WTI_CL_LAUNCHES_MAX)
		return false;
	kernel->launched[kernel->launched_count].device = device;
	memcpy(kernel->launched[kernel->launched_count++].local, local, 3 * sizeof(*local));
	return true;
}

/* The kernel itself, so that it can be launched again. */
static void emit_code(struct wti_cl_command *c, const struct wti_cl_object *object,
		      const struct wti_cl_geometry *geometry)
{
	wti_cl_command_access(c,
			      &(struct wti_record_device_access){.mode = WT_ACCESS_MODE_CODE,
								 .argument = -1,
								 .object = object->id,
								 .value_bytes = sizeof(*geometry)},
			      geometry);
}

static void launches(struct wti_cl_command *c, cl_kernel handle,
		     const struct wti_cl_geometry *geometry)
{
	struct wti_cl_object *object = c->object ? wti_cl_object_get(handle) : NULL;
	struct wti_cl_kernel *kernel = object ? object->more : NULL;

	if (!kernel) {
		wti_cl_object_put(object);
		return;
	}
	wti_cl_lock(wti_cl_kernel_lock(kernel));
	if (!kernel->last_name || memcmp(&kernel->last, geometry, sizeof(*geometry)) != 0) {
		kernel->last = *geometry;
		kernel->last_name = geometry_name(geometry);
	}
	c->name = kernel->name;
	c->geometry = kernel->last_name;
	c->is_first = is_first(kernel, c->queue->device, geometry->local);
	if (wti_cl.replayable)
		emit_code(c, object, geometry);
	wti_cl_arguments_emit(c, kernel);
	wti_cl_unlock(wti_cl_kernel_lock(kernel));
	wti_cl_object_put(object);
}

WTI_CL_COMMAND(clEnqueueNDRangeKernel, WT_OP_KERNEL,
	       WTI_CL_LIST(cl_kernel kernel, cl_uint dimensions, const size_t *offset,
			   const size_t *global, const size_t *local),
	       WTI_CL_LIST(kernel, dimensions, offset, global, local), {
		       struct wti_cl_geometry geometry;

		       read_geometry(&geometry, dimensions, offset, global, local);
		       launches(c, kernel, &geometry);
	       })

WTI_CL_COMMAND(clEnqueueTask, WT_OP_KERNEL, WTI_CL_LIST(cl_kernel kernel), WTI_CL_LIST(kernel), {
	const struct wti_cl_geometry one = {1, {0}, {1, 0, 0}, {1, 0, 0}};

	launches(c, kernel, &one);
})

/* A function of the program: what it does is not known, and it cannot be run again. */
WTI_CL_COMMAND(clEnqueueNativeKernel, WT_OP_OTHER,
	       WTI_CL_LIST(void(CL_CALLBACK *function)(void *), void *data, size_t bytes,
			   cl_uint count, const cl_mem *list, const void **places),
	       WTI_CL_LIST(function, data, bytes, count, list, places), {
		       for (cl_uint i = 0; list && i < count; i++)
			       wti_cl_whole(c, WT_ACCESS_MODE_BOTH, list[i]);
	       })

void wti_cl_take_kernels(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateKernel);
	WTI_CL_TAKE(ours, clCreateKernelsInProgram);
	WTI_CL_TAKE(ours, clCloneKernel);
	WTI_CL_TAKE(ours, clSetKernelArg);
	WTI_CL_TAKE(ours, clSetKernelArgSVMPointer);
	WTI_CL_TAKE(ours, clSetKernelExecInfo);
	WTI_CL_TAKE(ours, clEnqueueNDRangeKernel);
	WTI_CL_TAKE(ours, clEnqueueTask);
	WTI_CL_TAKE(ours, clEnqueueNativeKernel);
}
