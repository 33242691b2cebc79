/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of memory, all of it and packed, through a queue of our own that nothing else uses. */
#include "session.h"

#include <string.h>

#include "base/bytes.h"

static const char *aside_of(struct wti_replay_session *session, uint32_t object,
			    cl_command_queue *ret)
{
	uint32_t context = session->plan->objects[object].parent;
	const struct wti_replay_plan_object *about = &session->plan->objects[context];
	cl_command_queue *queue = &session->aside[context];
	cl_int status = 0;

	for (uint32_t i = 0; !*queue && i + 4 <= about->details_bytes; i += 4) {
		uint32_t number = wti_get32((const char *)about->details + i);

		if (number < WTI_SESSION_DEVICES_MAX && session->devices[number].id)
			*queue = session->cl.clCreateCommandQueue(session->objects[context].handle,
								  session->devices[number].id, 0,
								  &status);
	}
	*ret = *queue;
	return *queue ? NULL : wti_replay_session_text(session, "no queue: error %d", status);
}

static bool is_image(const struct wti_replay_session *session, uint32_t object)
{
	return session->plan->objects[object].type == WT_DEVICE_OBJECT_TYPE_IMAGE;
}

void wti_replay_session_extents(const struct wti_replay_session *session, uint32_t object,
				size_t ret_region[3], size_t *ret_element_bytes)
{
	const uint8_t *at = session->plan->objects[object].details;
	uint32_t type = wti_get32(at + 8);
	uint64_t layers = wti_get64(at + 40);

	session->cl.clGetImageInfo(session->objects[object].handle, CL_IMAGE_ELEMENT_SIZE,
				   sizeof(*ret_element_bytes), ret_element_bytes, NULL);
	for (int i = 0; i < 3; i++)
		ret_region[i] = wti_get64(at + 16 + 8 * i) ? wti_get64(at + 16 + 8 * i) : 1;
	if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
		ret_region[1] = layers;
	if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY)
		ret_region[2] = layers;
}

uint64_t wti_replay_session_box_bytes(const size_t region[3], size_t element_bytes, size_t row,
				      size_t slice)
{
	uint64_t line, plane, lines, planes, all;

	if (__builtin_mul_overflow(region[0], element_bytes, &line) ||
	    __builtin_mul_overflow(row ? row : line, (uint64_t)region[1], &plane))
		return 0;
	if (!region[0] || !region[1] || !region[2] ||
	    __builtin_mul_overflow(slice ? slice : plane, (uint64_t)region[2] - 1, &planes) ||
	    __builtin_mul_overflow(row ? row : line, (uint64_t)region[1] - 1, &lines) ||
	    __builtin_add_overflow(planes, lines, &all) || __builtin_add_overflow(all, line, &all))
		return 0;
	return all;
}

uint64_t wti_replay_session_bytes(const struct wti_replay_session *session, uint32_t object)
{
	const struct wti_replay_plan_object *about = &session->plan->objects[object];
	size_t region[3], element = 0;

	if (about->type == WT_DEVICE_OBJECT_TYPE_PIPE)
		return 0;
	if (!is_image(session, object))
		return about->bytes;
	if (!session->objects[object].handle)
		return 0;
	wti_replay_session_extents(session, object, region, &element);
	return wti_replay_session_box_bytes(region, element, 0, 0);
}

static const char *failed(struct wti_replay_session *session, cl_int status, const char *what)
{
	return status == CL_SUCCESS
		       ? NULL
		       : wti_replay_session_text(session, "its content cannot be %s: error %d",
						 what, status);
}

static cl_int get_svm(struct wti_replay_session *session, cl_command_queue queue, void *pointer,
		      uint64_t bytes, void *out)
{
	cl_int status = session->cl.clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, pointer, bytes, 0,
						    NULL, NULL);

	if (status != CL_SUCCESS)
		return status;
	memcpy(out, pointer, bytes);
	status = session->cl.clEnqueueSVMUnmap(queue, pointer, 0, NULL, NULL);
	session->cl.clFinish(queue);
	return status;
}

static cl_int put_svm(struct wti_replay_session *session, cl_command_queue queue, void *pointer,
		      uint64_t bytes, const void *content)
{
	cl_int status = session->cl.clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, pointer, bytes, 0,
						    NULL, NULL);

	if (status != CL_SUCCESS)
		return status;
	memcpy(pointer, content, bytes);
	status = session->cl.clEnqueueSVMUnmap(queue, pointer, 0, NULL, NULL);
	session->cl.clFinish(queue);
	return status;
}

const char *wti_replay_session_get(struct wti_replay_session *session, uint32_t object, void *out)
{
	const size_t origin[3] = {0};
	uint64_t bytes = wti_replay_session_bytes(session, object);
	size_t region[3], element = 0;
	cl_command_queue queue;
	void *handle;
	const char *why = wti_replay_session_object(session, object, &handle);

	if (!why)
		why = aside_of(session, object, &queue);
	if (why)
		return why;
	if (session->plan->objects[object].type == WT_DEVICE_OBJECT_TYPE_SVM)
		return failed(session, get_svm(session, queue, handle, bytes, out), "read");
	if (!is_image(session, object))
		return failed(session,
			      session->cl.clEnqueueReadBuffer(queue, handle, CL_TRUE, 0, bytes, out,
							      0, NULL, NULL),
			      "read");
	wti_replay_session_extents(session, object, region, &element);
	return failed(session,
		      session->cl.clEnqueueReadImage(queue, handle, CL_TRUE, origin, region, 0, 0,
						     out, 0, NULL, NULL),
		      "read");
}

static const char *put(struct wti_replay_session *session, uint32_t object, const void *content,
		       size_t row, size_t slice)
{
	const size_t origin[3] = {0};
	uint64_t bytes = wti_replay_session_bytes(session, object);
	void *handle = session->objects[object].handle;
	size_t region[3], element = 0;
	cl_command_queue queue;
	const char *why = aside_of(session, object, &queue);

	if (why)
		return why;
	if (session->plan->objects[object].type == WT_DEVICE_OBJECT_TYPE_SVM)
		return failed(session, put_svm(session, queue, handle, bytes, content), "written");
	if (!is_image(session, object))
		return failed(session,
			      session->cl.clEnqueueWriteBuffer(queue, handle, CL_TRUE, 0, bytes,
							       content, 0, NULL, NULL),
			      "written");
	wti_replay_session_extents(session, object, region, &element);
	return failed(session,
		      session->cl.clEnqueueWriteImage(queue, handle, CL_TRUE, origin, region, row,
						      slice, content, 0, NULL, NULL),
		      "written");
}

const char *wti_replay_session_put(struct wti_replay_session *session, uint32_t object,
				   const void *content)
{
	return put(session, object, content, 0, 0);
}

const char *wti_replay_session_put_first(struct wti_replay_session *session, uint32_t object,
					 const void *content, uint64_t bytes)
{
	const uint8_t *at = session->plan->objects[object].details;
	size_t region[3], element = 0, row = 0, slice = 0;
	uint64_t needed = wti_replay_session_bytes(session, object);

	if (is_image(session, object)) {
		row = wti_get64(at + 48);
		slice = wti_get64(at + 56);
		wti_replay_session_extents(session, object, region, &element);
		needed = wti_replay_session_box_bytes(region, element, row, slice);
	}
	if (!needed || bytes < needed)
		return "its first content is shorter than it is";
	return put(session, object, content, row, slice);
}
