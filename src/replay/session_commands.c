/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, enqueued again as they were recorded: one function for each kind of call. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store.h"

enum { INDIRECT_MAX = 1024, LOCAL_BYTES_MAX = 1 << 30 };

/* What a call needs: the operation, its queue and events. */
struct call {
	struct wti_replay_session *session;
	const struct wti_replay_plan_op *op;
	cl_command_queue queue;
	cl_uint wait_count;
	const cl_event *waits;
	struct wti_replay_session_command *command;
};

#define EVENTS(c) (c)->wait_count, (c)->waits, &(c)->command->event

static const char *result(const struct call *c, cl_int status)
{
	return status == CL_SUCCESS
		       ? NULL
		       : wti_replay_session_text(c->session, "the driver refuses it: error %d",
						 status);
}

static const struct wti_replay_plan_access *find(const struct call *c, uint32_t mode, bool is_host)
{
	return wti_replay_plan_access(c->session->plan, c->op, mode, is_host);
}

static const char *handle_of(const struct call *c, const struct wti_replay_plan_access *access,
			     void **ret)
{
	if (!access || access->object == WTI_PLAN_NONE)
		return "its memory was not recorded";
	return wti_replay_session_object(c->session, access->object, ret);
}

/* The bytes that came from the host. */
static const char *take_host(const struct call *c, const struct wti_replay_plan_access *access)
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
static const char *make_host(const struct call *c, uint64_t bytes)
{
	if (!bytes || bytes > c->session->how.memory_bytes)
		return "it reads more than --memory-max allows";
	c->command->host = calloc(1, bytes);
	c->command->host_bytes = bytes;
	return c->command->host ? NULL : "there is not enough memory for what it reads";
}

/* Numbers of a rectangle or of an image command: as many u64 as it has to have. */
static const char *take_numbers(const struct call *c, size_t count, size_t *ret)
{
	const struct wti_replay_plan_access *value = find(c, WT_ACCESS_MODE_VALUE, true);

	if (!value || value->value_bytes != 8 * count)
		return "its region was not recorded";
	for (size_t i = 0; i < count; i++)
		ret[i] = wti_get64((const char *)value->value + 8 * i);
	return NULL;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static const char *read_buffer(const struct call *c)
{
	const struct wti_replay_plan_access *from = find(c, WT_ACCESS_MODE_READ, false);
	void *buffer;
	const char *why = handle_of(c, from, &buffer);

	why = why ? why : make_host(c, from->bytes);
	return why ? why
		   : result(c, c->session->cl.clEnqueueReadBuffer(c->queue, buffer, CL_FALSE,
								  from->offset, from->bytes,
								  c->command->host, EVENTS(c)));
}

static const char *write_buffer(const struct call *c)
{
	const struct wti_replay_plan_access *to = find(c, WT_ACCESS_MODE_WRITE, false);
	void *buffer;
	const char *why = handle_of(c, to, &buffer);

	why = why ? why : take_host(c, find(c, WT_ACCESS_MODE_READ, true));
	if (!why && c->command->host_bytes != to->bytes)
		why = "what it read from the host has another size";
	return why ? why
		   : result(c, c->session->cl.clEnqueueWriteBuffer(c->queue, buffer, CL_FALSE,
								   to->offset, to->bytes,
								   c->command->host, EVENTS(c)));
}

/* Source and destination of a copy, which may be the same object. */
static const char *ends(const struct call *c, const struct wti_replay_plan_access **ret_from,
			const struct wti_replay_plan_access **ret_to, void **ret_source,
			void **ret_target)
{
	const char *why;

	*ret_from = find(c, WT_ACCESS_MODE_READ, false);
	*ret_to = find(c, WT_ACCESS_MODE_WRITE, false);
	why = handle_of(c, *ret_from, ret_source);
	return why ? why : handle_of(c, *ret_to, ret_target);
}

static const char *copy_buffer(const struct call *c)
{
	const struct wti_replay_plan_access *from, *to;
	void *source, *target;
	const char *why = ends(c, &from, &to, &source, &target);

	return why ? why
		   : result(c, c->session->cl.clEnqueueCopyBuffer(c->queue, source, target,
								  from->offset, to->offset,
								  from->bytes, EVENTS(c)));
}

static const char *fill_buffer(const struct call *c)
{
	const struct wti_replay_plan_access *to = find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *pattern = find(c, WT_ACCESS_MODE_VALUE, true);
	void *buffer;
	const char *why = handle_of(c, to, &buffer);

	if (!why && (!pattern || !pattern->value_bytes))
		why = "its pattern was not recorded";
	return why ? why
		   : result(c, c->session->cl.clEnqueueFillBuffer(c->queue, buffer, pattern->value,
								  pattern->value_bytes, to->offset,
								  to->bytes, EVENTS(c)));
}

/* ---- Rectangles ------------------------------------------------------------------------------ */

/* origin, other origin, region, row and slice pitch, other row and slice pitch. */
enum { ORIGIN = 0, OTHER = 3, REGION = 6, ROW = 9, SLICE, OTHER_ROW, OTHER_SLICE, NUMBERS };

/* Of a sub-buffer the recorded origin is within it, and the handle has to be its own. */
static const char *rect_handle(const struct call *c, const struct wti_replay_plan_access *access,
			       void **ret)
{
	uint64_t sub = access && access->value_bytes == 8
			       ? wti_map_get(&c->session->plan->object_of, wti_get64(access->value))
			       : 0;

	if (!sub)
		return handle_of(c, access, ret);
	if (c->session->plan->objects[sub - 1].type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		return "what it touches is no sub-buffer";
	return wti_replay_session_object(c->session, (uint32_t)sub - 1, ret);
}

/* Whether a box lies within so many bytes of the host. */
static bool fits(const size_t *n, size_t origin, size_t row, size_t slice, uint64_t bytes)
{
	uint64_t offset, y, z, box = wti_replay_session_box_bytes(n + REGION, 1, n[row], n[slice]);

	return box && !__builtin_mul_overflow(n[origin + 1], n[row], &y) &&
	       !__builtin_mul_overflow(n[origin + 2], n[slice], &z) &&
	       !__builtin_add_overflow(y, z, &offset) &&
	       !__builtin_add_overflow(offset, n[origin], &offset) && offset <= bytes &&
	       box <= bytes - offset;
}

static const char *read_rect(const struct call *c)
{
	const struct wti_replay_plan_access *got = find(c, WT_ACCESS_MODE_WRITE, true);
	size_t n[NUMBERS];
	void *buffer;
	const char *why = rect_handle(c, find(c, WT_ACCESS_MODE_READ, false), &buffer);

	why = why ? why : take_numbers(c, NUMBERS, n);
	if (!why && !got)
		why = "how much it wrote to the host was not recorded";
	why = why ? why : make_host(c, got->bytes);
	if (!why && !fits(n, OTHER, OTHER_ROW, OTHER_SLICE, got->bytes))
		why = "its region lies outside of its memory";
	return why ? why
		   : result(c, c->session->cl.clEnqueueReadBufferRect(
				       c->queue, buffer, CL_FALSE, n + ORIGIN, n + OTHER,
				       n + REGION, n[ROW], n[SLICE], n[OTHER_ROW], n[OTHER_SLICE],
				       c->command->host, EVENTS(c)));
}

static const char *write_rect(const struct call *c)
{
	size_t n[NUMBERS];
	void *buffer;
	const char *why = rect_handle(c, find(c, WT_ACCESS_MODE_WRITE, false), &buffer);

	why = why ? why : take_numbers(c, NUMBERS, n);
	why = why ? why : take_host(c, find(c, WT_ACCESS_MODE_READ, true));
	if (!why && !fits(n, OTHER, OTHER_ROW, OTHER_SLICE, c->command->host_bytes))
		why = "its region lies outside of its memory";
	return why ? why
		   : result(c, c->session->cl.clEnqueueWriteBufferRect(
				       c->queue, buffer, CL_FALSE, n + ORIGIN, n + OTHER,
				       n + REGION, n[ROW], n[SLICE], n[OTHER_ROW], n[OTHER_SLICE],
				       c->command->host, EVENTS(c)));
}

static const char *copy_rect(const struct call *c)
{
	void *source, *target;
	size_t n[NUMBERS];
	const char *why = rect_handle(c, find(c, WT_ACCESS_MODE_READ, false), &source);

	why = why ? why : rect_handle(c, find(c, WT_ACCESS_MODE_WRITE, false), &target);
	why = why ? why : take_numbers(c, NUMBERS, n);
	return why ? why
		   : result(c, c->session->cl.clEnqueueCopyBufferRect(
				       c->queue, source, target, n + ORIGIN, n + OTHER, n + REGION,
				       n[ROW], n[SLICE], n[OTHER_ROW], n[OTHER_SLICE], EVENTS(c)));
}

/* ---- Images ---------------------------------------------------------------------------------- */

enum { IMAGE_NUMBERS = 11 }; /* origin, other origin, region, then pitches or an offset */

static const char *image_of(const struct call *c, uint32_t mode, void **ret, size_t *ret_element)
{
	const struct wti_replay_plan_access *access = find(c, mode, false);
	size_t region[3];
	const char *why = handle_of(c, access, ret);

	if (why)
		return why;
	if (c->session->plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_IMAGE)
		return "what it touches is no image";
	wti_replay_session_extents(c->session, access->object, region, ret_element);
	return NULL;
}

static const char *read_image(const struct call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *image;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &image, &element);

	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	why = why ? why : make_host(c, wti_replay_session_box_bytes(n + 6, element, n[9], n[10]));
	return why ? why
		   : result(c, c->session->cl.clEnqueueReadImage(c->queue, image, CL_FALSE, n,
								 n + 6, n[9], n[10],
								 c->command->host, EVENTS(c)));
}

static const char *write_image(const struct call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *image;
	const char *why = image_of(c, WT_ACCESS_MODE_WRITE, &image, &element);

	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	why = why ? why : take_host(c, find(c, WT_ACCESS_MODE_READ, true));
	if (!why &&
	    wti_replay_session_box_bytes(n + 6, element, n[9], n[10]) != c->command->host_bytes)
		why = "what it read from the host has another size";
	return why ? why
		   : result(c, c->session->cl.clEnqueueWriteImage(c->queue, image, CL_FALSE, n,
								  n + 6, n[9], n[10],
								  c->command->host, EVENTS(c)));
}

/* Its colour is the second value. */
static const char *fill_image(const struct call *c)
{
	const struct wti_replay_plan *plan = c->session->plan;
	const struct wti_replay_plan_access *colour = NULL;
	size_t n[IMAGE_NUMBERS], element;
	void *image;
	const char *why = image_of(c, WT_ACCESS_MODE_WRITE, &image, &element);

	for (uint32_t i = 0; i < c->op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&plan->accesses[c->op->access_first + i];

		if (access->mode == WT_ACCESS_MODE_VALUE && access->value_bytes == 16)
			colour = access;
	}
	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	if (!why && !colour)
		why = "its colour was not recorded";
	return why ? why
		   : result(c, c->session->cl.clEnqueueFillImage(c->queue, image, colour->value, n,
								 n + 6, EVENTS(c)));
}

static const char *copy_image(const struct call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &source, &element);

	why = why ? why : image_of(c, WT_ACCESS_MODE_WRITE, &target, &element);
	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : result(c, c->session->cl.clEnqueueCopyImage(c->queue, source, target, n, n + 3,
								 n + 6, EVENTS(c)));
}

static const char *image_to_buffer(const struct call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &source, &element);

	why = why ? why : rect_handle(c, find(c, WT_ACCESS_MODE_WRITE, false), &target);
	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : result(c, c->session->cl.clEnqueueCopyImageToBuffer(
				       c->queue, source, target, n, n + 6, n[9], EVENTS(c)));
}

static const char *buffer_to_image(const struct call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_WRITE, &target, &element);

	why = why ? why : rect_handle(c, find(c, WT_ACCESS_MODE_READ, false), &source);
	why = why ? why : take_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : result(c, c->session->cl.clEnqueueCopyBufferToImage(
				       c->queue, source, target, n[9], n, n + 6, EVENTS(c)));
}

/* ---- Shared memory --------------------------------------------------------------------------- */

static const char *svm_copy(const struct call *c)
{
	const struct wti_replay_plan_access *from = find(c, WT_ACCESS_MODE_READ, false);
	const struct wti_replay_plan_access *to = find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *host = find(c, WT_ACCESS_MODE_READ, true);
	void *source = NULL, *target = NULL;
	const char *why = from ? handle_of(c, from, &source) : NULL;

	why = why || !to ? why : handle_of(c, to, &target);
	if (!why && !from)
		why = take_host(c, host);
	if (!why && !to)
		why = make_host(c, from ? from->bytes : 0);
	if (why)
		return why;
	source = source ? (char *)source + from->offset : c->command->host;
	target = target ? (char *)target + to->offset : c->command->host;
	return result(c,
		      c->session->cl.clEnqueueSVMMemcpy(c->queue, CL_FALSE, target, source,
							to ? to->bytes : from->bytes, EVENTS(c)));
}

static const char *svm_fill(const struct call *c)
{
	const struct wti_replay_plan_access *to = find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *pattern = find(c, WT_ACCESS_MODE_VALUE, true);
	void *pointer;
	const char *why = handle_of(c, to, &pointer);

	if (!why && (!pattern || !pattern->value_bytes))
		why = "its pattern was not recorded";
	return why ? why
		   : result(c, c->session->cl.clEnqueueSVMMemFill(
				       c->queue, (char *)pointer + to->offset, pattern->value,
				       pattern->value_bytes, to->bytes, EVENTS(c)));
}

/* ---- Mappings: what the host wrote is written when it was unmapped --------------------------- */

static const char *order_only(const struct call *c)
{
	return result(c, c->session->cl.clEnqueueMarkerWithWaitList(c->queue, EVENTS(c)));
}

/* What the host saw is read, if it was recorded; otherwise it only has its place in the order. */
static const char *map(const struct call *c)
{
	const struct wti_replay_plan_access *shown = find(c, WT_ACCESS_MODE_WRITE, true);
	const struct wti_replay_plan_access *from = find(c, WT_ACCESS_MODE_READ, false);
	uint32_t type = from ? c->session->plan->objects[from->object].type : 0;

	if (!shown || !from || shown->bytes != from->bytes)
		return order_only(c);
	if (type == WT_DEVICE_OBJECT_TYPE_BUFFER)
		return read_buffer(c);
	return type == WT_DEVICE_OBJECT_TYPE_SVM ? svm_copy(c) : order_only(c);
}

/* The region of an image is that of the mapping before; its pitches are the driver's again. */
static const char *unmap_image(const struct call *c, const struct wti_replay_plan_access *to,
			       void *image)
{
	const struct wti_replay_plan *plan = c->session->plan;
	const struct wti_replay_plan_op *map = c->op;
	size_t n[IMAGE_NUMBERS], element, row = 0, slice = 0;
	cl_int status;
	const char *why;
	char *mapped;

	while (map > plan->ops) {
		const struct wti_replay_plan_access *found;

		map--;
		found = map->call == WTI_CALL_MAP
				? wti_replay_plan_access(plan, map, WT_ACCESS_MODE_READ, false)
				: NULL;
		found = found || map->call != WTI_CALL_MAP
				? found
				: wti_replay_plan_access(plan, map, WT_ACCESS_MODE_NONE, false);
		if (found && found->object == to->object)
			break;
	}
	why = image_of(c, WT_ACCESS_MODE_WRITE, &image, &element);
	for (uint32_t i = 0; !why && i < map->access_count; i++) {
		const struct wti_replay_plan_access *value = &plan->accesses[map->access_first + i];

		for (size_t k = 0; value->value_bytes == sizeof(n) && k < IMAGE_NUMBERS; k++)
			n[k] = wti_get64((const char *)value->value + 8 * k);
		if (value->value_bytes != sizeof(n))
			continue;
		why = take_host(c, to);
		if (why)
			return why;
		mapped = c->session->cl.clEnqueueMapImage(c->queue, image, CL_TRUE, CL_MAP_WRITE, n,
							  n + 6, &row, &slice, c->wait_count,
							  c->waits, NULL, &status);
		if (!mapped)
			return result(c, status);
		if (wti_replay_session_box_bytes(n + 6, element, row, slice) == to->bytes)
			memcpy(mapped, c->command->host, to->bytes);
		else
			why = "images have another layout here than where it was recorded";
		status = c->session->cl.clEnqueueUnmapMemObject(c->queue, image, mapped, 0, NULL,
								&c->command->event);
		return why ? why : result(c, status);
	}
	return why ? why : "what it had mapped was not recorded";
}

static const char *unmap_svm(const struct call *c, const struct wti_replay_plan_access *to,
			     char *pointer)
{
	const char *why = take_host(c, to);
	cl_int status;

	if (why)
		return why;
	status = c->session->cl.clEnqueueSVMMap(c->queue, CL_TRUE, CL_MAP_WRITE,
						pointer + to->offset, to->bytes, c->wait_count,
						c->waits, NULL);
	if (status != CL_SUCCESS)
		return result(c, status);
	memcpy(pointer + to->offset, c->command->host, to->bytes);
	return result(c, c->session->cl.clEnqueueSVMUnmap(c->queue, pointer + to->offset, 0, NULL,
							  &c->command->event));
}

static const char *unmap(const struct call *c)
{
	const struct wti_replay_plan_access *to = find(c, WT_ACCESS_MODE_WRITE, false);
	uint32_t type = to ? c->session->plan->objects[to->object].type : 0;
	void *handle;
	const char *why;

	if (!to)
		return order_only(c);
	why = handle_of(c, to, &handle);
	if (why)
		return why;
	if (type == WT_DEVICE_OBJECT_TYPE_IMAGE)
		return unmap_image(c, to, handle);
	if (type == WT_DEVICE_OBJECT_TYPE_SVM)
		return unmap_svm(c, to, handle);
	why = take_host(c, to);
	return why ? why
		   : result(c, c->session->cl.clEnqueueWriteBuffer(c->queue, handle, CL_FALSE,
								   to->offset, to->bytes,
								   c->command->host, EVENTS(c)));
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const char *set_memory(const struct call *c, cl_kernel kernel,
			      const struct wti_replay_plan_access *access)
{
	struct wti_replay_session *session = c->session;
	const struct wti_replay_plan_object *object = &session->plan->objects[access->object];
	struct wti_buf content;
	const char *why;
	void *handle;

	if (object->type != WT_DEVICE_OBJECT_TYPE_SVM) {
		why = rect_handle(c, access, &handle);
		return why ? why
			   : result(c, session->cl.clSetKernelArg(kernel, (cl_uint)access->argument,
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
	return result(c, session->cl.clSetKernelArgSVMPointer(kernel, (cl_uint)access->argument,
							      (char *)handle + access->offset));
}

static const char *set_argument(const struct call *c, cl_kernel kernel,
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
			       ? result(c, session->cl.clSetKernelArg(kernel, index, access->bytes,
								      NULL))
			       : "its local memory is too large";
	if (access->mode != WT_ACCESS_MODE_VALUE)
		return access->object == WTI_PLAN_NONE ? NULL : set_memory(c, kernel, access);
	if (access->object != WTI_PLAN_NONE) {
		if (session->plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_SAMPLER)
			return "an argument is of a kind that cannot be replayed";
		why = wti_replay_session_object(session, access->object, &handle);
		return why ? why
			   : result(c, session->cl.clSetKernelArg(kernel, index, sizeof(handle),
								  &handle));
	}
	if (!access->value_bytes)
		return "the value of an argument was not kept";
	return result(
		c, session->cl.clSetKernelArg(kernel, index, access->value_bytes, access->value));
}

/* Shared memory that a kernel reaches without an argument. */
static const char *set_indirect(const struct call *c, cl_kernel kernel)
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
	return count ? result(c, c->session->cl.clSetKernelExecInfo(
					 kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
					 count * sizeof(*pointers), pointers))
		     : NULL;
}

static const char *run_kernel(const struct call *c)
{
	const struct wti_replay_plan *plan = c->session->plan;
	const struct wti_replay_plan_access *code = find(c, WT_ACCESS_MODE_CODE, false);
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
		   : result(c, c->session->cl.clEnqueueNDRangeKernel(
				       c->queue, kernel, (cl_uint)g[0], g + 1, g + 4,
				       g[7] ? g + 7 : NULL, EVENTS(c)));
}

static const char *barrier(const struct call *c)
{
	return result(c, c->session->cl.clEnqueueBarrierWithWaitList(c->queue, EVENTS(c)));
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *(*const functions[])(const struct call *c) = {
	[WTI_CALL_KERNEL] = run_kernel,
	[WTI_CALL_READ_BUFFER] = read_buffer,
	[WTI_CALL_WRITE_BUFFER] = write_buffer,
	[WTI_CALL_COPY_BUFFER] = copy_buffer,
	[WTI_CALL_FILL_BUFFER] = fill_buffer,
	[WTI_CALL_READ_RECT] = read_rect,
	[WTI_CALL_WRITE_RECT] = write_rect,
	[WTI_CALL_COPY_RECT] = copy_rect,
	[WTI_CALL_READ_IMAGE] = read_image,
	[WTI_CALL_WRITE_IMAGE] = write_image,
	[WTI_CALL_FILL_IMAGE] = fill_image,
	[WTI_CALL_COPY_IMAGE] = copy_image,
	[WTI_CALL_IMAGE_TO_BUFFER] = image_to_buffer,
	[WTI_CALL_BUFFER_TO_IMAGE] = buffer_to_image,
	[WTI_CALL_MAP] = map,
	[WTI_CALL_UNMAP] = unmap,
	[WTI_CALL_MIGRATE] = order_only,
	[WTI_CALL_SVM_COPY] = svm_copy,
	[WTI_CALL_SVM_FILL] = svm_fill,
	[WTI_CALL_SVM_FREE] = order_only,
	[WTI_CALL_MARKER] = order_only,
	[WTI_CALL_BARRIER] = barrier,
};

const char *wti_replay_session_enqueue(struct wti_replay_session *session, uint32_t op,
				       cl_uint wait_count, const cl_event *waits,
				       struct wti_replay_session_command *ret_command)
{
	const struct wti_replay_plan_op *about = &session->plan->ops[op];
	struct call call = {.session = session,
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
