/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, queues, memory and samplers. */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "store.h"

#define TEXTS_BYTES_MAX (16u << 20)

enum { PLATFORMS_MAX = 64, TEXT_BYTES = 1024 };

const char *wti_replay_session_text(struct wti_replay_session *session, const char *format, ...)
{
	char text[TEXT_BYTES];
	const char *kept;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	kept = wti_arena_text(&session->texts, text, strlen(text));
	return kept ? kept : "out of memory (the reason could not be kept)";
}

/* ---- Devices --------------------------------------------------------------------------------- */

struct devices {
	cl_device_id all[WTI_SESSION_DEVICES_MAX];
	cl_uint count;
};

static void find_devices(const struct wti_replay_session *session, struct devices *ret)
{
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_uint platform_count = 0;

	*ret = (struct devices){0};
	if (session->cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < platform_count && i < PLATFORMS_MAX; i++) {
		cl_uint room = WTI_SESSION_DEVICES_MAX - ret->count, count = 0;

		if (room && session->cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room,
						       ret->all + ret->count, &count) == CL_SUCCESS)
			ret->count += count < room ? count : room;
	}
}

static const char *ask_device(struct wti_replay_session *session, cl_device_id device,
			      cl_device_info which)
{
	char text[TEXT_BYTES] = "";

	session->cl.clGetDeviceInfo(device, which, sizeof(text) - 1, text, NULL);
	return wti_replay_session_text(session, "%s", text);
}

/* As the layer records it: version of the driver, and of what the device offers. */
static const char *driver_of(struct wti_replay_session *session, cl_device_id device)
{
	return wti_replay_session_text(session, "%s; %s",
				       ask_device(session, device, CL_DRIVER_VERSION),
				       ask_device(session, device, CL_DEVICE_VERSION));
}

/* Of the wanted name, else the recorded one, else the first. */
static cl_device_id choose(struct wti_replay_session *session, const struct devices *have,
			   const char *recorded)
{
	for (cl_uint i = 0; i < have->count; i++) {
		const char *name = ask_device(session, have->all[i], CL_DEVICE_NAME);

		if (session->how.device ? strstr(name, session->how.device) != NULL
					: !strcmp(name, recorded))
			return have->all[i];
	}
	return session->how.device || !have->count ? NULL : have->all[0];
}

static void take_device(struct wti_replay_session *session, const struct devices *have,
			const struct wti_replay_plan_object *object)
{
	struct wti_replay_session_device *device = &session->devices[object->device];
	cl_device_id id = choose(session, have, object->name);

	*device = (struct wti_replay_session_device){.id = id, .recorded = object->name};
	if (!id)
		return;
	device->name = ask_device(session, id, CL_DEVICE_NAME);
	device->driver = driver_of(session, id);
	device->is_same = !strcmp(device->name, object->name) &&
			  (!object->details_bytes || !strcmp(device->driver, object->details));
}

static int take_devices(struct wti_replay_session *session, struct wt_err *err)
{
	const struct wti_replay_plan *plan = session->plan;
	struct devices have;
	bool any = false;

	find_devices(session, &have);
	if (!have.count)
		return wti_err(err, WT_E_MISSING,
			       "no OpenCL device: install a driver, on Debian pocl-opencl-icd for "
			       "the processor");
	for (size_t i = 0; i < plan->object_count; i++) {
		const struct wti_replay_plan_object *object = &plan->objects[i];

		if (object->type != WT_DEVICE_OBJECT_TYPE_DEVICE ||
		    object->device >= WTI_SESSION_DEVICES_MAX)
			continue;
		take_device(session, &have, object);
		any |= session->devices[object->device].id != NULL;
	}
	if (!any && session->how.device)
		return wti_err(err, WT_E_MISSING, "no OpenCL device whose name contains '%s'",
			       session->how.device);
	return 0;
}

bool wti_replay_session_is_same(const struct wti_replay_session *session)
{
	for (size_t i = 0; i < WTI_SESSION_DEVICES_MAX; i++)
		if (session->devices[i].recorded && !session->devices[i].is_same)
			return false;
	return true;
}

/* ---- Contexts and queues --------------------------------------------------------------------- */

static const char *make_context(struct wti_replay_session *session,
				const struct wti_replay_plan_object *object, void **ret)
{
	cl_device_id ids[WTI_SESSION_DEVICES_MAX];
	cl_uint count = 0;
	cl_int status;

	for (uint32_t i = 0; i + 4 <= object->details_bytes && count < WTI_SESSION_DEVICES_MAX;
	     i += 4) {
		uint32_t number = wti_get32((const char *)object->details + i);
		bool is_new = number < WTI_SESSION_DEVICES_MAX && session->devices[number].id;

		for (cl_uint k = 0; is_new && k < count; k++)
			is_new = ids[k] != session->devices[number].id;
		if (is_new)
			ids[count++] = session->devices[number].id;
	}
	if (!count)
		return "its device is missing";
	*ret = session->cl.clCreateContext(NULL, count, ids, NULL, NULL, &status);
	return *ret ? NULL : wti_replay_session_text(session, "no context: error %d", status);
}

static const char *make_queue(struct wti_replay_session *session,
			      const struct wti_replay_plan_object *object, void *context,
			      void **ret)
{
	cl_device_id id = object->device < WTI_SESSION_DEVICES_MAX
				  ? session->devices[object->device].id
				  : NULL;
	cl_int status;

	if (!id)
		return "its device is missing";
	*ret = session->cl.clCreateCommandQueue(
		context, id, object->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
	return *ret ? NULL : wti_replay_session_text(session, "no queue: error %d", status);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Flags that say who may touch it; where it lies is our own business. */
static cl_mem_flags use_of(uint64_t flags)
{
	return flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
}

static const char *reserve(struct wti_replay_session *session, uint64_t bytes)
{
	if (bytes > session->how.memory_bytes || session->bytes > session->how.memory_bytes - bytes)
		return wti_replay_session_text(
			session, "it needs more memory than --memory-max allows (%llu MiB)",
			(unsigned long long)(session->how.memory_bytes >> 20));
	session->bytes += bytes;
	return NULL;
}

/* Its first content; what the program left to chance is the same in every replay. */
static const char *fill_in(struct wti_replay_session *session, uint32_t index)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];
	uint64_t bytes = wti_replay_session_bytes(session, index);
	const char *why = NULL;
	struct wti_buf content;
	void *same;

	if (!bytes)
		return NULL;
	wti_buf_init(&content, SIZE_MAX);
	if (object->hash)
		why = wti_replay_store_read(session->store, object->hash,
					    object->type == WT_DEVICE_OBJECT_TYPE_IMAGE ? 0 : bytes,
					    &content);
	if (!why && object->hash)
		why = wti_replay_session_put_first(session, index, content.data, content.bytes);
	if (!object->hash) {
		same = malloc(bytes);
		why = same ? wti_replay_session_put(session, index,
						    memset(same, session->how.uninitialised, bytes))
			   : "there is not enough memory for its content";
		free(same);
	}
	wti_buf_release(&content);
	return why;
}

static const char *make_buffer(struct wti_replay_session *session,
			       const struct wti_replay_plan_object *object, void *context,
			       void **ret)
{
	cl_int status;

	*ret = session->cl.clCreateBuffer(context, use_of(object->flags), object->bytes, NULL,
					  &status);
	return *ret ? NULL : wti_replay_session_text(session, "no buffer: error %d", status);
}

static const char *make_sub_buffer(struct wti_replay_session *session,
				   const struct wti_replay_plan_object *object, void *parent,
				   void **ret)
{
	const cl_buffer_region region = {object->offset, object->bytes};
	cl_int status;

	*ret = session->cl.clCreateSubBuffer(parent, use_of(object->flags),
					     CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
	return *ret ? NULL : wti_replay_session_text(session, "no sub-buffer: error %d", status);
}

/* Extents are what the driver believes, whatever size was recorded. */
static bool is_allowed(const struct wti_replay_session *session, const cl_image_desc *about)
{
	const size_t extents[] = {about->image_width, about->image_height, about->image_depth,
				  about->image_array_size};
	uint64_t elements = 1;

	for (size_t i = 0; i < WTI_COUNT(extents); i++)
		if (extents[i] && __builtin_mul_overflow(elements, extents[i], &elements))
			return false;
	return elements <= session->how.memory_bytes;
}

/* docs/opencl.md: what the details of an image are. Pitches are those of host memory. */
static const char *make_image(struct wti_replay_session *session,
			      const struct wti_replay_plan_object *object, void *context,
			      void **ret)
{
	const uint8_t *at = object->details;
	cl_image_format format;
	cl_image_desc about = {0};
	void *buffer = NULL;
	const char *why = NULL;
	uint64_t of;
	cl_int status;

	if (object->details_bytes != 80)
		return "its description was not recorded";
	format = (cl_image_format){wti_get32(at), wti_get32(at + 4)};
	about.image_type = wti_get32(at + 8);
	about.image_width = wti_get64(at + 16);
	about.image_height = wti_get64(at + 24);
	about.image_depth = wti_get64(at + 32);
	about.image_array_size = wti_get64(at + 40);
	if (!is_allowed(session, &about))
		return "it needs more memory than --memory-max allows";
	of = wti_map_get(&session->plan->object_of, wti_get64(at + 72));
	if (of && wti_replay_plan_is_memory(&session->plan->objects[of - 1]))
		why = wti_replay_session_object(session, (uint32_t)of - 1, &buffer);
	if (why)
		return why;
	about.buffer = buffer;
	about.image_row_pitch = buffer ? wti_get64(at + 48) : 0;
	*ret = session->cl.clCreateImage(context, use_of(object->flags), &format, &about, NULL,
					 &status);
	return *ret ? NULL : wti_replay_session_text(session, "no image: error %d", status);
}

/* A loader has all of them or none; one that is odd gets none. */
static bool has_svm(const struct wti_replay_api *cl)
{
	return cl->clSVMAlloc && cl->clSVMFree && cl->clSetKernelArgSVMPointer &&
	       cl->clSetKernelExecInfo && cl->clEnqueueSVMMap && cl->clEnqueueSVMUnmap &&
	       cl->clEnqueueSVMMemcpy && cl->clEnqueueSVMMemFill;
}

static const char *make_svm(struct wti_replay_session *session,
			    const struct wti_replay_plan_object *object, void *context, void **ret)
{
	uint32_t alignment = object->details_bytes == 4 ? wti_get32(object->details) : 0;

	*ret = has_svm(&session->cl)
		       ? session->cl.clSVMAlloc(context, object->flags, object->bytes, alignment)
		       : NULL;
	return *ret ? NULL : "the device has no such shared memory";
}

static const char *make_sampler(struct wti_replay_session *session,
				const struct wti_replay_plan_object *object, void *context,
				void **ret)
{
	const uint8_t *at = object->details;
	cl_int status;

	if (object->details_bytes != 12)
		return "its description was not recorded";
	*ret = session->cl.clCreateSampler(context, wti_get32(at), wti_get32(at + 4),
					   wti_get32(at + 8), &status);
	return *ret ? NULL : wti_replay_session_text(session, "no sampler: error %d", status);
}

static const char *make_pipe(struct wti_replay_session *session,
			     const struct wti_replay_plan_object *object, void *context, void **ret)
{
	const uint8_t *at = object->details;
	cl_int status = 0;

	if (object->details_bytes != 8 || !session->cl.clCreatePipe)
		return "the driver has no pipes";
	*ret = session->cl.clCreatePipe(context, use_of(object->flags), wti_get32(at),
					wti_get32(at + 4), NULL, &status);
	return *ret ? NULL : wti_replay_session_text(session, "no pipe: error %d", status);
}

/* ---- All objects ----------------------------------------------------------------------------- */

static const char *make_of(struct wti_replay_session *session, uint32_t index, void *parent,
			   void **ret)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];

	switch (object->type) {
	case WT_DEVICE_OBJECT_TYPE_CONTEXT:
		return make_context(session, object, ret);
	case WT_DEVICE_OBJECT_TYPE_QUEUE:
		return make_queue(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_BUFFER:
		return make_buffer(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_SUB_BUFFER:
		return make_sub_buffer(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_IMAGE:
		return make_image(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_PIPE:
		return make_pipe(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_SVM:
		return make_svm(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_SAMPLER:
		return make_sampler(session, object, parent, ret);
	case WT_DEVICE_OBJECT_TYPE_PROGRAM:
		return wti_replay_session_make_program(session, index, ret);
	case WT_DEVICE_OBJECT_TYPE_KERNEL:
		return wti_replay_session_make_kernel(session, index, ret);
	default:
		return "it is of a kind that cannot be replayed";
	}
}

/* What each type belongs to: a file that says otherwise is not believed. */
static uint32_t parent_type(uint32_t type)
{
	if (type == WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		return WT_DEVICE_OBJECT_TYPE_BUFFER;
	if (type == WT_DEVICE_OBJECT_TYPE_KERNEL)
		return WT_DEVICE_OBJECT_TYPE_PROGRAM;
	return WT_DEVICE_OBJECT_TYPE_CONTEXT;
}

static const char *make(struct wti_replay_session *session, uint32_t index, void **ret)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];
	bool is_memory = wti_replay_plan_is_memory(object) &&
			 object->type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER;
	void *parent = NULL;
	const char *why;

	if (object->type != WT_DEVICE_OBJECT_TYPE_CONTEXT) {
		if (object->parent == WTI_PLAN_NONE ||
		    session->plan->objects[object->parent].type != parent_type(object->type))
			return "what it belongs to was not recorded";
		why = wti_replay_session_object(session, object->parent, &parent);
		if (why)
			return why;
	}
	why = is_memory ? reserve(session, object->bytes) : NULL;
	if (why)
		return why;
	why = make_of(session, index, parent, ret);
	if (why && is_memory)
		session->bytes -= object->bytes;
	return why;
}

const char *wti_replay_session_object(struct wti_replay_session *session, uint32_t index,
				      void **ret_handle)
{
	struct wti_replay_session_object *object = &session->objects[index];
	const struct wti_replay_plan_object *about = &session->plan->objects[index];

	if (!object->is_made) {
		object->is_made = true;
		object->why = make(session, index, &object->handle);
		if (!object->why && wti_replay_plan_is_memory(about) &&
		    about->type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER &&
		    about->type != WT_DEVICE_OBJECT_TYPE_PIPE)
			object->why = fill_in(session, index);
	}
	*ret_handle = object->handle;
	return object->why;
}

static void release_handle(struct wti_replay_session *session, uint32_t index, void *handle)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];

	switch (object->type) {
	case WT_DEVICE_OBJECT_TYPE_CONTEXT:
		if (session->aside[index])
			session->cl.clReleaseCommandQueue(session->aside[index]);
		session->aside[index] = NULL;
		session->cl.clReleaseContext(handle);
		break;
	case WT_DEVICE_OBJECT_TYPE_QUEUE:
		session->cl.clReleaseCommandQueue(handle);
		break;
	case WT_DEVICE_OBJECT_TYPE_SVM:
		session->cl.clSVMFree(session->objects[object->parent].handle, handle);
		break;
	case WT_DEVICE_OBJECT_TYPE_SAMPLER:
		session->cl.clReleaseSampler(handle);
		break;
	case WT_DEVICE_OBJECT_TYPE_PROGRAM:
		session->cl.clReleaseProgram(handle);
		break;
	case WT_DEVICE_OBJECT_TYPE_KERNEL:
		session->cl.clReleaseKernel(handle);
		break;
	default:
		session->cl.clReleaseMemObject(handle);
	}
}

void wti_replay_session_release(struct wti_replay_session *session, uint32_t index)
{
	struct wti_replay_session_object *object = &session->objects[index];
	const struct wti_replay_plan_object *about = &session->plan->objects[index];

	if (object->handle)
		release_handle(session, index, object->handle);
	if (object->handle && wti_replay_plan_is_memory(about) &&
	    about->type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		session->bytes -= about->bytes;
	*object = (struct wti_replay_session_object){0};
}

/* Children are younger than their parents, so they go first. */
void wti_replay_session_reset(struct wti_replay_session *session)
{
	for (size_t i = session->plan->object_count; i-- > 0;)
		wti_replay_session_release(session, (uint32_t)i);
	session->bytes = 0;
}

int wti_replay_session_open(struct wti_replay_session *session, const struct wti_replay_plan *plan,
			    int store, const struct wti_replay_session_how *how, struct wt_err *err)
{
	int r;

	*session = (struct wti_replay_session){.plan = plan, .how = *how, .store = store};
	wti_arena_init(&session->texts, TEXTS_BYTES_MAX);
	r = wti_replay_api_open(&session->cl, err);
	if (r)
		return r;
	session->objects = calloc(plan->object_count + 1, sizeof(*session->objects));
	session->aside = calloc(plan->object_count + 1, sizeof(*session->aside));
	if (!session->objects || !session->aside)
		r = wti_err(err, WT_E_NOMEM, "out of memory for objects");
	if (!r)
		r = take_devices(session, err);
	if (r)
		wti_replay_session_close(session);
	return r;
}

void wti_replay_session_close(struct wti_replay_session *session)
{
	if (session->objects && session->aside)
		wti_replay_session_reset(session);
	free(session->objects);
	free(session->aside);
	wti_replay_api_close(&session->cl);
	wti_arena_release(&session->texts);
	*session = (struct wti_replay_session){0};
}
