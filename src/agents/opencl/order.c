/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that only order others: markers and barriers. */
#include "own.h"

#define WITH_WAIT_LIST(function, what)                                                             \
	static cl_int CL_API_CALL layer_##function(cl_command_queue queue, cl_uint count,          \
						   const cl_event *list, cl_event *event)          \
	{                                                                                          \
		struct wti_cl_command command;                                                     \
                                                                                                   \
		wti_cl_command_begin(&command, WT_NAME(#function), what, queue);                   \
		wti_cl_command_events(&command, count, list, &event);                              \
		wti_cl_command_launch(&command);                                                   \
		return wti_cl_command_end(&command,                                                \
					  wti_cl.real.function(queue, count, list, event));        \
	}

WITH_WAIT_LIST(clEnqueueMarkerWithWaitList, WT_OP_RECORD)
WITH_WAIT_LIST(clEnqueueBarrierWithWaitList, WT_OP_WAIT)

/* ---- Of OpenCL 1.0 --------------------------------------------------------------------------- */

static cl_int CL_API_CALL layer_clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	struct wti_cl_command command;

	wti_cl_command_begin(&command, WT_NAME("clEnqueueMarker"), WT_OP_RECORD, queue);
	wti_cl_command_events(&command, 0, NULL, &event);
	wti_cl_command_launch(&command);
	return wti_cl_command_end(&command, wti_cl.real.clEnqueueMarker(queue, event));
}

/* These two have no event: there is a span, an edge and an operation without times. */
static cl_int CL_API_CALL layer_clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
						       const cl_event *list)
{
	struct wti_cl_command command;
	cl_event own = NULL, *event = &own;

	wti_cl_command_begin(&command, WT_NAME("clEnqueueWaitForEvents"), WT_OP_WAIT, queue);
	wti_cl_command_events(&command, count, list, &event);
	wti_cl_command_launch(&command);
	return wti_cl_command_end(&command, wti_cl.real.clEnqueueWaitForEvents(queue, count, list));
}

static cl_int CL_API_CALL layer_clEnqueueBarrier(cl_command_queue queue)
{
	struct wti_cl_command command;

	wti_cl_command_begin(&command, WT_NAME("clEnqueueBarrier"), WT_OP_WAIT, queue);
	wti_cl_command_launch(&command);
	return wti_cl_command_end(&command, wti_cl.real.clEnqueueBarrier(queue));
}

void wti_cl_take_order(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clEnqueueMarkerWithWaitList);
	WTI_CL_TAKE(ours, clEnqueueBarrierWithWaitList);
	WTI_CL_TAKE(ours, clEnqueueMarker);
	WTI_CL_TAKE(ours, clEnqueueWaitForEvents);
	WTI_CL_TAKE(ours, clEnqueueBarrier);
}
