/* SPDX-License-Identifier: Apache-2.0 */
/* Events as the program sees them: without our references, and with times only where it asked. */
#include "own.h"

/* The queue of a command's event; NULL: of a user event, or no event. */
static cl_command_queue handle_of(cl_event event)
{
	cl_command_queue queue = NULL;

	if (wti_cl.real.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue,
				       NULL) != CL_SUCCESS)
		return NULL;
	return queue;
}

/* What is known of it; NULL: nothing. To be given back. */
static struct wti_cl_object *queue_of(cl_event event)
{
	return wti_cl_object_get(handle_of(event));
}

static cl_int CL_API_CALL layer_clGetEventInfo(cl_event event, cl_event_info which, size_t room,
					       void *out, size_t *ret_bytes)
{
	struct wti_cl_queue *queue = which == CL_EVENT_REFERENCE_COUNT && out
					     ? wti_cl_harvest_enter(handle_of(event))
					     : NULL;
	cl_int status = wti_cl.real.clGetEventInfo(event, which, room, out, ret_bytes);

	if (!queue)
		return status;
	if (status == CL_SUCCESS)
		*(cl_uint *)out -= wti_cl_harvest_held(queue, event);
	wti_cl_harvest_leave(queue);
	return status;
}

static cl_int CL_API_CALL layer_clGetEventProfilingInfo(cl_event event, cl_profiling_info which,
							size_t room, void *out, size_t *ret_bytes)
{
	struct wti_cl_object *object = queue_of(event);
	const struct wti_cl_queue *queue = object ? object->more : NULL;
	bool is_hidden = queue && !queue->profiled;

	wti_cl_object_put(object);
	if (is_hidden)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return wti_cl.real.clGetEventProfilingInfo(event, which, room, out, ret_bytes);
}

static void harvest_of(cl_event event)
{
	struct wti_cl_object *object = queue_of(event);

	if (object)
		wti_cl_harvest(object->more, event);
	wti_cl_object_put(object);
}

static cl_int CL_API_CALL layer_clWaitForEvents(cl_uint count, const cl_event *list)
{
	struct wt_name *name = WT_NAME("clWaitForEvents");
	const struct wti_here here = wti_cl_here();
	struct wti_cl_object *object = count && list ? queue_of(list[0]) : NULL;
	uint64_t begin_ticks = wti_cl_ticks(), sync;
	cl_int status;

	if (!here.ring) {
		wti_cl_object_put(object);
		return wti_cl.real.clWaitForEvents(count, list);
	}
	wti_cl_span_begin(here, name);
	status = wti_cl.real.clWaitForEvents(count, list);
	if (object)
		wti_cl_harvest(object->more, list[0]);
	for (cl_uint i = 1; list && i < count; i++)
		harvest_of(list[i]);
	sync = wti_cl_sync(here, name, object ? object->more : NULL, begin_ticks);
	for (cl_uint i = 0; list && i < count; i++) {
		uint64_t from = wti_cl_event_correlation(list[i]);

		if (from)
			wti_cl_edge(here, WT_EDGE_SYNC, from, sync);
	}
	wti_cl_span_end(here, name);
	wti_cl_object_put(object);
	return status;
}

/* ---- Events that the program sets itself ----------------------------------------------------- */

static cl_event CL_API_CALL layer_clCreateUserEvent(cl_context context, cl_int *status)
{
	cl_event event = wti_cl.real.clCreateUserEvent(context, status);

	if (event)
		wti_cl_event_is(
			event,
			wti_cl_object_add(event, &(struct wti_cl_new){
							 .type = WT_DEVICE_OBJECT_TYPE_USER_EVENT,
							 .parent = wti_cl_object_id(context)}));
	return event;
}

/* Recorded before: what waits for it may start at once. */
static cl_int CL_API_CALL layer_clSetUserEventStatus(cl_event event, cl_int value)
{
	const struct wti_here here = wti_cl_here();
	struct wt_name *name = WT_NAME("clSetUserEventStatus");
	uint64_t correlation = wti_cl_event_correlation(event);
	uint64_t now = wti_cl_ticks();

	if (here.ring && correlation)
		wti_emit_device_op(here,
				   &(struct wti_record_device_op){.op = WT_OP_RECORD,
								  .name = wti_name(here, name),
								  .correlation = correlation,
								  .started = now,
								  .ended = now});
	if (correlation)
		wti_cl_first_note(correlation, 0, 0);
	return wti_cl.real.clSetUserEventStatus(event, value);
}

static cl_int CL_API_CALL layer_clRetainEvent(cl_event event)
{
	wti_cl_object_retain(event);
	return wti_cl.real.clRetainEvent(event);
}

static cl_int CL_API_CALL layer_clReleaseEvent(cl_event event)
{
	wti_cl_object_release(event);
	return wti_cl.real.clReleaseEvent(event);
}

void wti_cl_take_events(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clGetEventInfo);
	WTI_CL_TAKE(ours, clGetEventProfilingInfo);
	WTI_CL_TAKE(ours, clWaitForEvents);
	WTI_CL_TAKE(ours, clCreateUserEvent);
	WTI_CL_TAKE(ours, clSetUserEventStatus);
	WTI_CL_TAKE(ours, clRetainEvent);
	WTI_CL_TAKE(ours, clReleaseEvent);
}
