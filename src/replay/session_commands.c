/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, enqueued again as they were recorded: the table of calls, and what all of them need. */
#include "session_commands.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "store.h"

const char *wti_replay_call_result(const struct wti_replay_call *c, cl_int status)
{
	return status == CL_SUCCESS
		       ? NULL
		       : wti_replay_session_text(c->session, "the driver refuses it: error %d",
						 status);
}

const struct wti_replay_plan_access *wti_replay_call_find(const struct wti_replay_call *c,
							  uint32_t mode, bool is_host)
{
	return wti_replay_plan_access(c->session->plan, c->op, mode, is_host);
}

const char *wti_replay_call_handle(const struct wti_replay_call *c,
				   const struct wti_replay_plan_access *access, void **ret)
{
	if (!access || access->object == WTI_PLAN_NONE)
		return "its memory was not recorded";
	return wti_replay_session_object(c->session, access->object, ret);
}

/* The bytes that came from the host. */
const char *wti_replay_call_take_host(const struct wti_replay_call *c,
				      const struct wti_replay_plan_access *access)
{
	struct wti_buf content;
	const char *why;

	if (!access)
		return "what it read from the host was not recorded";
	wti_buf_init(&content, SIZE_MAX);
	why = wti_replay_store_read(c->session->store, access->hash, access->bytes, &content);
	if (why) {
		wti_buf_release(&content);
		return why;
	}
	c->command->host = content.data;
	c->command->host_bytes = content.bytes;
	return NULL;
}

/* Room for what goes to the host; zeroed, so that gaps between rows are the same. */
const char *wti_replay_call_make_host(const struct wti_replay_call *c, uint64_t bytes)
{
	if (!bytes || bytes > c->session->how.memory_bytes)
		return "it reads more than --memory-max allows";
	c->command->host = calloc(1, bytes);
	c->command->host_bytes = bytes;
	return c->command->host ? NULL : "there is not enough memory for what it reads";
}

/* Numbers of a rectangle or of an image command: as many u64 as it has to have. */
const char *wti_replay_call_numbers(const struct wti_replay_call *c, size_t count, size_t *ret)
{
	const struct wti_replay_plan_access *value =
		wti_replay_call_find(c, WT_ACCESS_MODE_VALUE, true);

	if (!value || value->value_bytes != 8 * count)
		return "its region was not recorded";
	for (size_t i = 0; i < count; i++)
		ret[i] = wti_get64((const char *)value->value + 8 * i);
	return NULL;
}

/* Of a sub-buffer the recorded origin is within it, and the handle has to be its own. */
const char *wti_replay_call_part(const struct wti_replay_call *c,
				 const struct wti_replay_plan_access *access, void **ret)
{
	uint64_t sub = access && access->value_bytes == 8
			       ? wti_map_get(&c->session->plan->object_of, wti_get64(access->value))
			       : 0;

	if (!sub)
		return wti_replay_call_handle(c, access, ret);
	if (c->session->plan->objects[sub - 1].type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		return "what it touches is no sub-buffer";
	return wti_replay_session_object(c->session, (uint32_t)sub - 1, ret);
}

/* ---- Calls that only have a place in the order ----------------------------------------------- */

const char *wti_replay_call_order_only(const struct wti_replay_call *c)
{
	return wti_replay_call_result(
		c, c->session->cl.clEnqueueMarkerWithWaitList(c->queue, EVENTS(c)));
}

static const char *barrier(const struct wti_replay_call *c)
{
	return wti_replay_call_result(
		c, c->session->cl.clEnqueueBarrierWithWaitList(c->queue, EVENTS(c)));
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *(*const functions[])(const struct wti_replay_call *c) = {
	[WTI_CALL_KERNEL] = wti_replay_call_run_kernel,
	[WTI_CALL_READ_BUFFER] = wti_replay_call_read_buffer,
	[WTI_CALL_WRITE_BUFFER] = wti_replay_call_write_buffer,
	[WTI_CALL_COPY_BUFFER] = wti_replay_call_copy_buffer,
	[WTI_CALL_FILL_BUFFER] = wti_replay_call_fill_buffer,
	[WTI_CALL_READ_RECT] = wti_replay_call_read_rect,
	[WTI_CALL_WRITE_RECT] = wti_replay_call_write_rect,
	[WTI_CALL_COPY_RECT] = wti_replay_call_copy_rect,
	[WTI_CALL_READ_IMAGE] = wti_replay_call_read_image,
	[WTI_CALL_WRITE_IMAGE] = wti_replay_call_write_image,
	[WTI_CALL_FILL_IMAGE] = wti_replay_call_fill_image,
	[WTI_CALL_COPY_IMAGE] = wti_replay_call_copy_image,
	[WTI_CALL_IMAGE_TO_BUFFER] = wti_replay_call_image_to_buffer,
	[WTI_CALL_BUFFER_TO_IMAGE] = wti_replay_call_buffer_to_image,
	[WTI_CALL_MAP] = wti_replay_call_map,
	[WTI_CALL_UNMAP] = wti_replay_call_unmap,
	[WTI_CALL_MIGRATE] = wti_replay_call_order_only,
	[WTI_CALL_SVM_COPY] = wti_replay_call_svm_copy,
	[WTI_CALL_SVM_FILL] = wti_replay_call_svm_fill,
	[WTI_CALL_SVM_FREE] = wti_replay_call_order_only,
	[WTI_CALL_MARKER] = wti_replay_call_order_only,
	[WTI_CALL_BARRIER] = barrier,
};

const char *wti_replay_session_enqueue(struct wti_replay_session *session, uint32_t op,
				       cl_uint wait_count, const cl_event *waits,
				       struct wti_replay_session_command *ret_command)
{
	const struct wti_replay_plan_op *about = &session->plan->ops[op];
	struct wti_replay_call call = {.session = session,
				       .op = about,
				       .wait_count = wait_count,
				       .waits = wait_count ? waits : NULL,
				       .command = ret_command};
	const char *why = about->refusal;
	void *queue = NULL;

	*ret_command = (struct wti_replay_session_command){0};
	if (!why && (about->call >= WTI_COUNT(functions) || !functions[about->call]))
		why = "it is of a kind that cannot be replayed";
	why = why ? why : wti_replay_session_object(session, about->queue, &queue);
	if (why)
		return why;
	call.queue = queue;
	why = functions[about->call](&call);
	if (why)
		wti_replay_session_done(session, ret_command);
	return why;
}

const char *wti_replay_session_wait(struct wti_replay_session *session,
				    struct wti_replay_session_command *command)
{
	cl_int status =
		command->event ? session->cl.clWaitForEvents(1, &command->event) : CL_SUCCESS;

	return status == CL_SUCCESS
		       ? NULL
		       : wti_replay_session_text(session, "it ended with an error: %d", status);
}

void wti_replay_session_done(struct wti_replay_session *session,
			     struct wti_replay_session_command *command)
{
	if (command->event)
		session->cl.clReleaseEvent(command->event);
	free(command->host);
	*command = (struct wti_replay_session_command){0};
}
