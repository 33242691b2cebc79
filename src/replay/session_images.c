/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on images. Knows how large a region is on the host. */
#include <string.h>

#include "base/bytes.h"
#include "session_commands.h"

enum { IMAGE_NUMBERS = 11 }; /* origin, other origin, region, then pitches or an offset */

static const char *image_of(const struct wti_replay_call *c, uint32_t mode, void **ret,
			    size_t *ret_element)
{
	const struct wti_replay_plan_access *access = wti_replay_call_find(c, mode, false);
	size_t region[3];
	const char *why = wti_replay_call_handle(c, access, ret);

	if (why)
		return why;
	if (c->session->plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_IMAGE)
		return "what it touches is no image";
	wti_replay_session_extents(c->session, access->object, region, ret_element);
	return NULL;
}

/* Of a region on the host. Layers of a 1D array are rows that are as far apart as slices. */
static uint64_t host_bytes(const size_t n[IMAGE_NUMBERS], size_t element)
{
	uint64_t rows = wti_replay_session_box_bytes(n + 6, element, n[9], n[10]);
	uint64_t layers = wti_replay_session_box_bytes(n + 6, element, n[10], n[10]);

	return rows && layers ? rows > layers || !n[10] || n[8] > 1 ? rows : layers : 0;
}

const char *wti_replay_call_read_image(const struct wti_replay_call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *image;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &image, &element);

	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	why = why ? why : wti_replay_call_make_host(c, host_bytes(n, element));
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueReadImage(
						       c->queue, image, CL_FALSE, n, n + 6, n[9],
						       n[10], c->command->host, EVENTS(c)));
}

const char *wti_replay_call_write_image(const struct wti_replay_call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *image;
	const char *why = image_of(c, WT_ACCESS_MODE_WRITE, &image, &element);

	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	why = why ? why
		  : wti_replay_call_take_host(c,
					      wti_replay_call_find(c, WT_ACCESS_MODE_READ, true));
	if (!why && (!host_bytes(n, element) || host_bytes(n, element) > c->command->host_bytes))
		why = "what it read from the host has another size";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueWriteImage(
						       c->queue, image, CL_FALSE, n, n + 6, n[9],
						       n[10], c->command->host, EVENTS(c)));
}

/* Its colour is the second value. */
const char *wti_replay_call_fill_image(const struct wti_replay_call *c)
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
	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	if (!why && !colour)
		why = "its colour was not recorded";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueFillImage(c->queue, image,
										 colour->value, n,
										 n + 6, EVENTS(c)));
}

const char *wti_replay_call_copy_image(const struct wti_replay_call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &source, &element);

	why = why ? why : image_of(c, WT_ACCESS_MODE_WRITE, &target, &element);
	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueCopyImage(c->queue, source,
										 target, n, n + 3,
										 n + 6, EVENTS(c)));
}

const char *wti_replay_call_image_to_buffer(const struct wti_replay_call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_READ, &source, &element);

	why = why ? why
		  : wti_replay_call_part(c, wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false),
					 &target);
	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : wti_replay_call_result(
			     c, c->session->cl.clEnqueueCopyImageToBuffer(
					c->queue, source, target, n, n + 6, n[9], EVENTS(c)));
}

const char *wti_replay_call_buffer_to_image(const struct wti_replay_call *c)
{
	size_t n[IMAGE_NUMBERS], element;
	void *source, *target;
	const char *why = image_of(c, WT_ACCESS_MODE_WRITE, &target, &element);

	why = why ? why
		  : wti_replay_call_part(c, wti_replay_call_find(c, WT_ACCESS_MODE_READ, false),
					 &source);
	why = why ? why : wti_replay_call_numbers(c, IMAGE_NUMBERS, n);
	return why ? why
		   : wti_replay_call_result(
			     c, c->session->cl.clEnqueueCopyBufferToImage(
					c->queue, source, target, n[9], n, n + 6, EVENTS(c)));
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* The region of an image is that of the mapping before; its pitches are the driver's again. */
const char *wti_replay_call_unmap_image(const struct wti_replay_call *c,
					const struct wti_replay_plan_access *to, void *image)
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
		why = wti_replay_call_take_host(c, to);
		if (why)
			return why;
		mapped = c->session->cl.clEnqueueMapImage(c->queue, image, CL_TRUE, CL_MAP_WRITE, n,
							  n + 6, &row, &slice, c->wait_count,
							  c->waits, NULL, &status);
		if (!mapped)
			return wti_replay_call_result(c, status);
		if (wti_replay_session_box_bytes(n + 6, element, row, slice) == to->bytes)
			memcpy(mapped, c->command->host, to->bytes);
		else
			why = "images have another layout here than where it was recorded";
		status = c->session->cl.clEnqueueUnmapMemObject(c->queue, image, mapped, 0, NULL,
								&c->command->event);
		return why ? why : wti_replay_call_result(c, status);
	}
	return why ? why : "what it had mapped was not recorded";
}
