/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: their arguments, and the launch. */
#include <string.h>

#include "base/bytes.h"
#include "session_commands.h"
#include "store.h"

enum { INDIRECT_MAX = 1024, LOCAL_BYTES_MAX = 1 << 30 };

static const char *set_memory(const struct wti_replay_call *c, cl_kernel kernel,
			      const struct wti_replay_plan_access *access)
{
	struct wti_replay_session *session = c->session;
	const struct wti_replay_plan_object *object = &session->plan->objects[access->object];
	struct wti_buf content;
	const char *why;
	void *handle;

	if (object->type != WT_DEVICE_OBJECT_TYPE_SVM) {
		why = wti_replay_call_part(c, access, &handle);
		return why ? why
			   : wti_replay_call_result(c, session->cl.clSetKernelArg(
							       kernel, (cl_uint)access->argument,
							       sizeof(handle), &handle));
	}
	why = wti_replay_session_object(session, access->object, &handle);
	if (!why && access->hash) { /* fine-grained: the host may have written at any time */
		wti_buf_init(&content, SIZE_MAX);
		why = wti_replay_store_read(session->store, access->hash, access->bytes, &content);
		if (!why)
			memcpy((char *)handle + access->offset, content.data, access->bytes);
		wti_buf_release(&content);
	}
	if (why || access->argument < 0)
		return why;
	return wti_replay_call_result(
		c, session->cl.clSetKernelArgSVMPointer(kernel, (cl_uint)access->argument,
							(char *)handle + access->offset));
}

static const char *set_argument(const struct wti_replay_call *c, cl_kernel kernel,
				const struct wti_replay_plan_access *access)
{
	struct wti_replay_session *session = c->session;
	cl_uint index = (cl_uint)access->argument;
	const char *why;
	void *handle;

	if (access->mode == WT_ACCESS_MODE_CODE)
		return NULL;
	if (access->mode == WT_ACCESS_MODE_LOCAL)
		return access->bytes <= LOCAL_BYTES_MAX
			       ? wti_replay_call_result(c, session->cl.clSetKernelArg(kernel, index,
										      access->bytes,
										      NULL))
			       : "its local memory is too large";
	if (access->mode != WT_ACCESS_MODE_VALUE)
		return access->object == WTI_PLAN_NONE ? NULL : set_memory(c, kernel, access);
	if (access->object != WTI_PLAN_NONE) {
		if (session->plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_SAMPLER)
			return "an argument is of a kind that cannot be replayed";
		why = wti_replay_session_object(session, access->object, &handle);
		return why ? why
			   : wti_replay_call_result(c, session->cl.clSetKernelArg(kernel, index,
										  sizeof(handle),
										  &handle));
	}
	if (!access->value_bytes)
		return "the value of an argument was not kept";
	return wti_replay_call_result(
		c, session->cl.clSetKernelArg(kernel, index, access->value_bytes, access->value));
}

/* Shared memory that a kernel reaches without an argument. */
static const char *set_indirect(const struct wti_replay_call *c, cl_kernel kernel)
{
	const struct wti_replay_plan *plan = c->session->plan;
	void *pointers[INDIRECT_MAX], *handle;
	size_t count = 0;
	const char *why = NULL;

	for (uint32_t i = 0; i < c->op->access_count && count < INDIRECT_MAX; i++) {
		const struct wti_replay_plan_access *access =
			&plan->accesses[c->op->access_first + i];

		if (access->argument >= 0 || access->object == WTI_PLAN_NONE ||
		    plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_SVM)
			continue;
		why = wti_replay_session_object(c->session, access->object, &handle);
		if (why)
			return why;
		pointers[count++] = (char *)handle + access->offset;
	}
	return count ? wti_replay_call_result(c, c->session->cl.clSetKernelExecInfo(
							 kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
							 count * sizeof(*pointers), pointers))
		     : NULL;
}

const char *wti_replay_call_run_kernel(const struct wti_replay_call *c)
{
	const struct wti_replay_plan *plan = c->session->plan;
	const struct wti_replay_plan_access *code =
		wti_replay_call_find(c, WT_ACCESS_MODE_CODE, false);
	size_t g[10]; /* dimensions, offset, global, local */
	void *kernel;
	const char *why;

	if (!code || code->value_bytes != sizeof(g))
		return "its arguments were not recorded; record with --replayable";
	for (size_t i = 0; i < WTI_COUNT(g); i++)
		g[i] = wti_get64((const char *)code->value + 8 * i);
	if (g[0] < 1 || g[0] > 3)
		return "its geometry is damaged";
	why = wti_replay_session_object(c->session, code->object, &kernel);
	for (uint32_t i = 0; !why && i < c->op->access_count; i++)
		why = set_argument(c, kernel, &plan->accesses[c->op->access_first + i]);
	why = why ? why : set_indirect(c, kernel);
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueNDRangeKernel(
						       c->queue, kernel, (cl_uint)g[0], g + 1,
						       g + 4, g[7] ? g + 7 : NULL, EVENTS(c)));
}
