/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program that the driver calls when an event has come to a status. What such a
 * function enqueues comes after the command that had ended, which no wait list shows: so the call
 * is recorded as one by which the host has waited for it. The program's function gets the event,
 * the status and the data that the driver has for it, on the thread that the driver chose.
 */
#include "own.h"

#include <stdlib.h>

struct callback {
	void(CL_CALLBACK *function)(cl_event, cl_int, void *);
	void *data;
	uint64_t correlation; /* of what the event belongs to; 0: not known */
};

/* The host did not wait: it begins now to do what depends on the command. */
static void emit_sync(struct wti_here here, const struct callback *callback)
{
	const uint64_t sync =
		wti_cl_sync(here, WT_NAME("clSetEventCallback"), NULL, wti_cl_ticks());

	if (callback->correlation)
		wti_cl_edge(here, WT_EDGE_SYNC, callback->correlation, sync);
}

/* It is called once, and what it was set with is ours until then. */
static void CL_CALLBACK called(cl_event event, cl_int status, void *opaque)
{
	const struct callback callback = *(struct callback *)opaque;
	const struct wti_here here = wti_cl_here();
	struct wt_name *name = WT_NAME("OpenCL event callback");

	free(opaque);
	if (!here.ring) {
		callback.function(event, status, callback.data);
		return;
	}
	wti_cl_span_begin(here, name);
	if (status <= CL_COMPLETE) /* below: it has failed, and is over as well */
		emit_sync(here, &callback);
	callback.function(event, status, callback.data);
	wti_cl_span_end(here, name);
}

static cl_int CL_API_CALL layer_clSetEventCallback(cl_event event, cl_int type,
						   void(CL_CALLBACK *function)(cl_event, cl_int,
									       void *),
						   void *data)
{
	struct callback *callback = function ? malloc(sizeof(*callback)) : NULL;
	cl_int status;

	if (!callback) /* the driver refuses a function that is NULL */
		return wti_cl.real.clSetEventCallback(event, type, function, data);
	*callback = (struct callback){function, data, wti_cl_event_correlation(event)};
	status = wti_cl.real.clSetEventCallback(event, type, called, callback);
	if (status != CL_SUCCESS)
		free(callback);
	return status;
}

void wti_cl_take_callbacks(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clSetEventCallback);
}
