/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of extensions, which a program asks for by name. Each that it gets is noted. Command
 * buffers are recorded as one command: what is in them is not known here.
 */
#include "own.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef cl_khr_command_buffer

/* The driver's own; of several platforms that of the first one that was asked. */
static struct {
	clCreateCommandBufferKHR_fn create;
	clEnqueueCommandBufferKHR_fn enqueue;
	clRetainCommandBufferKHR_fn retain;
	clReleaseCommandBufferKHR_fn release;
} real;

/* Which queue it runs on, unless another is given. */
static cl_command_buffer_khr CL_API_CALL
layer_create(cl_uint count, const cl_command_queue *queues,
	     const cl_command_buffer_properties_khr *properties, cl_int *status)
{
	cl_command_buffer_khr handle = real.create(count, queues, properties, status);
	cl_command_queue *queue = handle ? malloc(sizeof(*queue)) : NULL;

	if (!queue)
		return handle;
	*queue = count ? queues[0] : NULL;
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_COMMAND_BUFFER,
						       .parent = wti_cl_object_id(*queue),
						       .more = queue,
						       .more_free = free});
	return handle;
}

static cl_int CL_API_CALL layer_enqueue(cl_uint count, cl_command_queue *queues,
					cl_command_buffer_khr buffer, cl_uint wait_count,
					const cl_event *wait_list, cl_event *event)
{
	struct wti_cl_object *object = wti_cl_object_get(buffer);
	cl_command_queue queue = count && queues ? queues[0]
				 : object        ? *(cl_command_queue *)object->more
						 : NULL;
	struct wti_cl_command command;

	wti_cl_object_put(object);
	wti_cl_command_begin(&command, WT_NAME("clEnqueueCommandBufferKHR"), WT_OP_OTHER, queue);
	wti_cl_command_events(&command, wait_count, wait_list, &event);
	wti_cl_command_launch(&command);
	return wti_cl_command_end(
		&command, real.enqueue(count, queues, buffer, wait_count, wait_list, event));
}

static cl_int CL_API_CALL layer_retain(cl_command_buffer_khr buffer)
{
	wti_cl_object_retain(buffer);
	return real.retain(buffer);
}

static cl_int CL_API_CALL layer_release(cl_command_buffer_khr buffer)
{
	wti_cl_object_release(buffer);
	return real.release(buffer);
}

static void *ours_instead(const char *name, void *function)
{
	const struct {
		const char *name;
		void *ours;
		void *keep;
	} all[] = {
		{"clCreateCommandBufferKHR", (void *)layer_create, &real.create},
		{"clEnqueueCommandBufferKHR", (void *)layer_enqueue, &real.enqueue},
		{"clRetainCommandBufferKHR", (void *)layer_retain, &real.retain},
		{"clReleaseCommandBufferKHR", (void *)layer_release, &real.release},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		void *none = NULL;

		if (strcmp(name, all[i].name) != 0)
			continue;
		/* Another platform's is not recorded: its objects must not get to the first one. */
		if (!atomic_compare_exchange_strong((_Atomic(void *) *)all[i].keep, &none,
						    function) &&
		    none != function)
			return function;
		return all[i].ours;
	}
	return function;
}

#else

static void *ours_instead(const char *name, void *function)
{
	(void)name;
	return function;
}

#endif

static void *taken(const char *name, void *function)
{
	const struct wti_here here = wti_cl_here();
	char text[128];
	int bytes;

	if (!function || !name)
		return function;
	bytes = snprintf(text, sizeof(text), "OpenCL extension %.100s", name);
	if (here.ring)
		wti_emit_mark(here,
			      &(struct wti_record_mark){
				      .name = wti_name(here, wti_name_find(text, (size_t)bytes))});
	return ours_instead(name, function);
}

static void *CL_API_CALL layer_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
									const char *name)
{
	return taken(name, wti_cl.real.clGetExtensionFunctionAddressForPlatform(platform, name));
}

static void *CL_API_CALL layer_clGetExtensionFunctionAddress(const char *name)
{
	return taken(name, wti_cl.real.clGetExtensionFunctionAddress(name));
}

void wti_cl_take_extensions(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clGetExtensionFunctionAddressForPlatform);
	WTI_CL_TAKE(ours, clGetExtensionFunctionAddress);
}
