/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues. Profiling is switched on in each of them, and hidden: the program sees the properties
 * that it asked for, and gets no times where it asked for none.
 */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/queue.h"

/* The object has gone; commands may still be on their way. */
static void queue_dies(void *more)
{
	struct wti_cl_queue *queue = more;

	atomic_store(&queue->is_dead, true);
}

static void queue_add(cl_command_queue handle, struct wti_cl_queue *queue, cl_context context,
		      cl_device_id device, cl_command_queue_properties properties, bool has_times)
{
	static _Atomic uint32_t last;
	const uint32_t number = atomic_fetch_add(&last, 1) + 1;
	char name[64];

	snprintf(name, sizeof(name), "queue %u", number);
	queue->handle = handle;
	queue->device = wti_cl_device_number(device);
	queue->profiled = properties & CL_QUEUE_PROFILING_ENABLE;
	queue->is_ordered = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	queue->clock = has_times ? wti_cl_device_clock(context, device) : 0;
	queue->track = wti_queue_track(queue->device, name);
	wti_cl_harvest_queue(queue);
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_QUEUE,
						       .device = queue->device,
						       .name = wti_name_find(name, strlen(name)),
						       .parent = wti_cl_object_id(context),
						       .flags = properties,
						       .details = &queue->track,
						       .details_bytes = sizeof(queue->track),
						       .more = queue,
						       .more_free = queue_dies});
}

static cl_command_queue CL_API_CALL
layer_clCreateCommandQueue(cl_context context, cl_device_id device,
			   cl_command_queue_properties properties, cl_int *status)
{
	struct wti_cl_queue *queue = calloc(1, sizeof(*queue));
	cl_command_queue handle = NULL;
	bool has_times = true;

	if (queue)
		handle = wti_cl.real.clCreateCommandQueue(
			context, device, properties | CL_QUEUE_PROFILING_ENABLE, status);
	if (!handle) {
		has_times = properties & CL_QUEUE_PROFILING_ENABLE;
		handle = wti_cl.real.clCreateCommandQueue(context, device, properties, status);
	}
	if (handle && queue)
		queue_add(handle, queue, context, device, properties, has_times);
	else
		free(queue);
	return handle;
}

enum { LIST_MAX = sizeof(((struct wti_cl_queue *)0)->asked) / sizeof(cl_queue_properties) };

/* How many numbers there are with the 0 at the end; 0: more than we take. */
static size_t count_list(const cl_queue_properties *list)
{
	size_t count = 0;

	while (list && count + 2 < LIST_MAX && list[count])
		count += 2;
	return list && list[count] ? 0 : count + 1;
}

/* The same list with profiling switched on; `ret` has room for one pair more. */
static cl_command_queue_properties add_profiling(const cl_queue_properties *list, size_t count,
						 cl_queue_properties *ret)
{
	cl_command_queue_properties asked = 0;
	size_t at = 0;

	while (at + 1 < count && list[at] != CL_QUEUE_PROPERTIES)
		at += 2;
	if (count > 1)
		memcpy(ret, list, count * sizeof(*ret));
	if (at + 1 < count) {
		asked = ret[at + 1];
		ret[at + 1] |= CL_QUEUE_PROFILING_ENABLE;
		return asked;
	}
	ret[at] = CL_QUEUE_PROPERTIES;
	ret[at + 1] = CL_QUEUE_PROFILING_ENABLE;
	ret[at + 2] = 0;
	return asked;
}

static void keep_asked(struct wti_cl_queue *queue, const cl_queue_properties *list, size_t count)
{
	queue->has_array = true;
	if (!list)
		return;
	queue->asked_count = count;
	memcpy(queue->asked, list, count * sizeof(*list));
}

/* Of a list that is longer than what we take, and was handed on as it is. */
static cl_command_queue_properties properties_of(cl_command_queue handle)
{
	cl_command_queue_properties properties = 0;

	wti_cl.real.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof(properties),
					  &properties, NULL);
	return properties;
}

static cl_command_queue CL_API_CALL layer_clCreateCommandQueueWithProperties(
	cl_context context, cl_device_id device, const cl_queue_properties *list, cl_int *status)
{
	cl_queue_properties with[LIST_MAX + 2] = {0};
	const size_t count = count_list(list);
	cl_command_queue_properties asked = count ? add_profiling(list, count, with) : 0;
	struct wti_cl_queue *queue = calloc(1, sizeof(*queue));
	cl_command_queue handle = NULL;
	bool has_times = true;

	if (queue && count && !(asked & CL_QUEUE_ON_DEVICE))
		handle = wti_cl.real.clCreateCommandQueueWithProperties(context, device, with,
									status);
	if (!handle) {
		has_times = asked & CL_QUEUE_PROFILING_ENABLE;
		handle = wti_cl.real.clCreateCommandQueueWithProperties(context, device, list,
									status);
	}
	if (!handle || !queue) {
		free(queue);
		return handle;
	}
	if (count)
		keep_asked(queue, list, count);
	else
		asked = properties_of(handle);
	queue_add(handle, queue, context, device, asked,
		  has_times || asked & CL_QUEUE_PROFILING_ENABLE);
	return handle;
}

/* ---- What the program may see ---------------------------------------------------------------- */

static cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *ret_bytes)
{
	if (out && room < bytes)
		return CL_INVALID_VALUE;
	if (out && bytes)
		memcpy(out, value, bytes);
	if (ret_bytes)
		*ret_bytes = bytes;
	return CL_SUCCESS;
}

static void hide_profiling(const struct wti_cl_queue *queue, void *out)
{
	cl_command_queue_properties properties;

	memcpy(&properties, out, sizeof(properties));
	if (!queue->profiled)
		properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	memcpy(out, &properties, sizeof(properties));
}

static cl_int CL_API_CALL layer_clGetCommandQueueInfo(cl_command_queue handle,
						      cl_command_queue_info which, size_t room,
						      void *out, size_t *ret_bytes)
{
	struct wti_cl_object *object = wti_cl_object_get(handle);
	const struct wti_cl_queue *queue = object ? object->more : NULL;
	cl_int status = wti_cl.real.clGetCommandQueueInfo(handle, which, room, out, ret_bytes);

	if (queue && which == CL_QUEUE_PROPERTIES && status == CL_SUCCESS && out)
		hide_profiling(queue, out);
	if (queue && which == CL_QUEUE_PROPERTIES_ARRAY && queue->has_array)
		status = answer(queue->asked, queue->asked_count * sizeof(*queue->asked), room, out,
				ret_bytes);
	wti_cl_object_put(object);
	return status;
}

/* Of OpenCL 1.0; whoever switches profiling off loses the times of what follows. */
static cl_int CL_API_CALL layer_clSetCommandQueueProperty(cl_command_queue handle,
							  cl_command_queue_properties properties,
							  cl_bool enable,
							  cl_command_queue_properties *ret_old)
{
	struct wti_cl_object *object = wti_cl_object_get(handle);
	struct wti_cl_queue *queue = object ? object->more : NULL;
	cl_int status = wti_cl.real.clSetCommandQueueProperty(handle, properties, enable, ret_old);

	if (queue && status == CL_SUCCESS) {
		if (ret_old)
			hide_profiling(queue, ret_old);
		if (properties & CL_QUEUE_PROFILING_ENABLE)
			queue->profiled = enable;
		if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
			queue->is_ordered = !enable;
	}
	wti_cl_object_put(object);
	return status;
}

/* ---- Waiting for all of it ------------------------------------------------------------------- */

static cl_int CL_API_CALL layer_clFinish(cl_command_queue handle)
{
	struct wt_name *name = WT_NAME("clFinish");
	struct wti_cl_object *object = wti_cl_object_get(handle);
	struct wti_here here = wti_cl_here();
	struct wti_cl_queue *queue;
	uint64_t begin_ticks, last, sync;
	cl_int status;

	if (!object || !here.ring) {
		wti_cl_object_put(object);
		return wti_cl.real.clFinish(handle);
	}
	queue = object->more;
	begin_ticks = wti_cl_ticks();
	last = atomic_load(&queue->correlation_last);
	wti_cl_span_begin(here, name);
	status = wti_cl.real.clFinish(handle);
	wti_cl_harvest(queue, NULL);
	if (queue->clock && wti_cl_clock_index(queue->clock) < 0)
		wti_cl_device_pair(queue);
	sync = wti_cl_sync(here, name, queue, begin_ticks);
	if (last)
		wti_cl_edge(here, WT_EDGE_SYNC, last, sync);
	if (status == CL_SUCCESS)
		wti_cl_states(here, handle, object->parent, sync);
	wti_cl_span_end(here, name);
	wti_cl_object_put(object);
	return status;
}

static cl_int CL_API_CALL layer_clFlush(cl_command_queue handle)
{
	struct wt_name *name = WT_NAME("clFlush");
	const struct wti_here here = wti_cl_here();
	cl_int status;

	if (!here.ring)
		return wti_cl.real.clFlush(handle);
	wti_cl_span_begin(here, name);
	status = wti_cl.real.clFlush(handle);
	wti_cl_span_end(here, name);
	return status;
}

static cl_int CL_API_CALL layer_clRetainCommandQueue(cl_command_queue handle)
{
	wti_cl_object_retain(handle);
	return wti_cl.real.clRetainCommandQueue(handle);
}

/* What has ended is harvested before: our references must not outlive the program's. */
static cl_int CL_API_CALL layer_clReleaseCommandQueue(cl_command_queue handle)
{
	struct wti_cl_object *object = wti_cl_object_get(handle);

	if (object)
		wti_cl_harvest(object->more, NULL);
	wti_cl_object_put(object);
	wti_cl_object_release(handle);
	return wti_cl.real.clReleaseCommandQueue(handle);
}

void wti_cl_take_queues(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateCommandQueue);
	WTI_CL_TAKE(ours, clCreateCommandQueueWithProperties);
	WTI_CL_TAKE(ours, clGetCommandQueueInfo);
	WTI_CL_TAKE(ours, clSetCommandQueueProperty);
	WTI_CL_TAKE(ours, clFinish);
	WTI_CL_TAKE(ours, clFlush);
	WTI_CL_TAKE(ours, clRetainCommandQueue);
	WTI_CL_TAKE(ours, clReleaseCommandQueue);
}
