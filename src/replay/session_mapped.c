/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory, and mappings: what the host wrote is written when it was unmapped. */
#include <string.h>

#include "session_commands.h"

const char *wti_replay_call_svm_copy(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *from =
		wti_replay_call_find(c, WT_ACCESS_MODE_READ, false);
	const struct wti_replay_plan_access *to =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *host =
		wti_replay_call_find(c, WT_ACCESS_MODE_READ, true);
	void *source = NULL, *target = NULL;
	const char *why = from ? wti_replay_call_handle(c, from, &source) : NULL;

	why = why || !to ? why : wti_replay_call_handle(c, to, &target);
	if (!why && !from)
		why = wti_replay_call_take_host(c, host);
	if (!why && !to)
		why = wti_replay_call_make_host(c, from ? from->bytes : 0);
	if (!why && to && to->bytes != (from ? from->bytes : c->command->host_bytes))
		why = "what it copies has two sizes";
	if (why)
		return why;
	source = source ? (char *)source + from->offset : c->command->host;
	target = target ? (char *)target + to->offset : c->command->host;
	return wti_replay_call_result(
		c, c->session->cl.clEnqueueSVMMemcpy(c->queue, CL_FALSE, target, source,
						     to ? to->bytes : from->bytes, EVENTS(c)));
}

const char *wti_replay_call_svm_fill(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *to =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *pattern =
		wti_replay_call_find(c, WT_ACCESS_MODE_VALUE, true);
	void *pointer;
	const char *why = wti_replay_call_handle(c, to, &pointer);

	if (!why && (!pattern || !pattern->value_bytes))
		why = "its pattern was not recorded";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueSVMMemFill(
						       c->queue, (char *)pointer + to->offset,
						       pattern->value, pattern->value_bytes,
						       to->bytes, EVENTS(c)));
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* What the host saw is read, if it was recorded; otherwise it only has its place in the order. */
const char *wti_replay_call_map(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *shown =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, true);
	const struct wti_replay_plan_access *from =
		wti_replay_call_find(c, WT_ACCESS_MODE_READ, false);
	uint32_t type = from ? c->session->plan->objects[from->object].type : 0;

	if (!shown || !from || shown->bytes != from->bytes)
		return wti_replay_call_order_only(c);
	if (type == WT_DEVICE_OBJECT_TYPE_BUFFER)
		return wti_replay_call_read_buffer(c);
	return type == WT_DEVICE_OBJECT_TYPE_SVM ? wti_replay_call_svm_copy(c)
						 : wti_replay_call_order_only(c);
}

static const char *unmap_svm(const struct wti_replay_call *c,
			     const struct wti_replay_plan_access *to, char *pointer)
{
	const char *why = wti_replay_call_take_host(c, to);
	cl_int status;

	if (why)
		return why;
	status = c->session->cl.clEnqueueSVMMap(c->queue, CL_TRUE, CL_MAP_WRITE,
						pointer + to->offset, to->bytes, c->wait_count,
						c->waits, NULL);
	if (status != CL_SUCCESS)
		return wti_replay_call_result(c, status);
	memcpy(pointer + to->offset, c->command->host, to->bytes);
	return wti_replay_call_result(
		c, c->session->cl.clEnqueueSVMUnmap(c->queue, pointer + to->offset, 0, NULL,
						    &c->command->event));
}

const char *wti_replay_call_unmap(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *to =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	uint32_t type = to ? c->session->plan->objects[to->object].type : 0;
	void *handle;
	const char *why;

	if (!to)
		return wti_replay_call_order_only(c);
	why = wti_replay_call_handle(c, to, &handle);
	if (why)
		return why;
	if (type == WT_DEVICE_OBJECT_TYPE_IMAGE)
		return wti_replay_call_unmap_image(c, to, handle);
	if (type == WT_DEVICE_OBJECT_TYPE_SVM)
		return unmap_svm(c, to, handle);
	why = wti_replay_call_take_host(c, to);
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueWriteBuffer(
						       c->queue, handle, CL_FALSE, to->offset,
						       to->bytes, c->command->host, EVENTS(c)));
}
