/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands on images. Where the elements of an image lie is the driver's secret: any of these
 * commands may touch all of it.
 */
#include "commands.h"
#include "transfer.h"

static size_t element_bytes(cl_mem image)
{
	size_t bytes = 0;

	wti_cl.real.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(bytes), &bytes, NULL);
	return bytes;
}

/* The region of an image in linear memory. */
static struct wti_cl_box box_of(cl_mem image, const size_t *region, size_t row, size_t slice)
{
	size_t bytes[3] = {0};

	for (int i = 0; region && i < 3; i++)
		bytes[i] = region[i];
	bytes[0] *= element_bytes(image);
	return wti_cl_box(NULL, bytes, row, slice);
}

/* With --replayable: origins and region as they were given. */
static void give_places(struct wti_cl_command *c, const size_t *first, const size_t *second,
			const size_t *region, uint64_t row, uint64_t slice)
{
	uint64_t value[11] = {[9] = row, [10] = slice};

	for (int i = 0; i < 3; i++) {
		value[i] = first ? first[i] : 0;
		value[3 + i] = second ? second[i] : 0;
		value[6 + i] = region ? region[i] : 0;
	}
	wti_cl_gives(c, value, sizeof(value));
}

WTI_CL_COMMAND(clEnqueueReadImage, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem image, cl_bool blocking, const size_t *origin,
			   const size_t *region, size_t row, size_t slice, void *host),
	       WTI_CL_LIST(image, blocking, origin, region, row, slice, host), {
		       const struct wti_cl_box box = box_of(image, region, row, slice);

		       c->is_blocking = blocking;
		       c->bytes = box.content;
		       wti_cl_whole(c, WT_ACCESS_MODE_READ, image);
		       give_places(c, origin, NULL, region, row, slice);
		       wti_cl_to_host(c, host, box.bytes);
	       })

WTI_CL_COMMAND(clEnqueueWriteImage, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem image, cl_bool blocking, const size_t *origin,
			   const size_t *region, size_t row, size_t slice, const void *host),
	       WTI_CL_LIST(image, blocking, origin, region, row, slice, host), {
		       const struct wti_cl_box box = box_of(image, region, row, slice);

		       c->is_blocking = blocking;
		       c->bytes = box.content;
		       wti_cl_whole(c, WT_ACCESS_MODE_WRITE, image);
		       give_places(c, origin, NULL, region, row, slice);
		       if (wti_cl_has(image, 0, box.content))
			       wti_cl_from_host(c, host, box.bytes);
	       })

WTI_CL_COMMAND(clEnqueueFillImage, WT_OP_FILL,
	       WTI_CL_LIST(cl_mem image, const void *colour, const size_t *origin,
			   const size_t *region),
	       WTI_CL_LIST(image, colour, origin, region), {
		       c->bytes = box_of(image, region, 0, 0).content;
		       wti_cl_whole(c, WT_ACCESS_MODE_WRITE, image);
		       give_places(c, origin, NULL, region, 0, 0);
		       wti_cl_gives(c, colour, 16);
	       })

WTI_CL_COMMAND(clEnqueueCopyImage, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem from, cl_mem to, const size_t *from_origin,
			   const size_t *to_origin, const size_t *region),
	       WTI_CL_LIST(from, to, from_origin, to_origin, region), {
		       c->bytes = box_of(from, region, 0, 0).content;
		       wti_cl_whole(c, WT_ACCESS_MODE_READ, from);
		       wti_cl_whole(c, WT_ACCESS_MODE_WRITE, to);
		       give_places(c, from_origin, to_origin, region, 0, 0);
	       })

WTI_CL_COMMAND(clEnqueueCopyImageToBuffer, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem from, cl_mem to, const size_t *origin, const size_t *region,
			   size_t offset),
	       WTI_CL_LIST(from, to, origin, region, offset), {
		       c->bytes = box_of(from, region, 0, 0).content;
		       wti_cl_whole(c, WT_ACCESS_MODE_READ, from);
		       wti_cl_writes(c, to, offset, c->bytes);
		       give_places(c, origin, NULL, region, offset, 0);
	       })

WTI_CL_COMMAND(clEnqueueCopyBufferToImage, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem from, cl_mem to, size_t offset, const size_t *origin,
			   const size_t *region),
	       WTI_CL_LIST(from, to, offset, origin, region), {
		       c->bytes = box_of(to, region, 0, 0).content;
		       wti_cl_reads(c, from, offset, c->bytes);
		       wti_cl_whole(c, WT_ACCESS_MODE_WRITE, to);
		       give_places(c, origin, NULL, region, offset, 0);
	       })

static void *CL_API_CALL layer_clEnqueueMapImage(cl_command_queue queue, cl_mem image,
						 cl_bool blocking, cl_map_flags flags,
						 const size_t *origin, const size_t *region,
						 size_t *row, size_t *slice, WTI_CL_EVENTS,
						 cl_int *ret_status)
{
	struct wti_cl_command command, *c = &command;
	struct wti_cl_object *object = wti_cl_object_get(image);
	const uint64_t bytes = object ? object->bytes : 0;
	cl_int status = CL_SUCCESS;
	void *mapped;

	wti_cl_object_put(object);
	wti_cl_command_begin(c, WT_NAME("clEnqueueMapImage"), WT_OP_COPY, queue);
	wti_cl_command_events(c, wait_count, wait_list, &event);
	c->is_blocking = blocking;
	c->bytes = box_of(image, region, 0, 0).content;
	wti_cl_maps(c, image, 0, bytes, flags);
	give_places(c, origin, NULL, region, 0, 0);
	wti_cl_command_launch(c);
	mapped = wti_cl.real.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row,
					       slice, wait_count, wait_list, event, &status);
	if (mapped) /* with the pitches of the driver: what lies there when it is unmapped */
		wti_cl_mapped(image, mapped, 0,
			      box_of(image, region, row ? *row : 0, slice ? *slice : 0).bytes,
			      flags);
	wti_cl_command_end(c, status);
	if (ret_status)
		*ret_status = status;
	return mapped;
}

void wti_cl_take_images(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clEnqueueReadImage);
	WTI_CL_TAKE(ours, clEnqueueWriteImage);
	WTI_CL_TAKE(ours, clEnqueueFillImage);
	WTI_CL_TAKE(ours, clEnqueueCopyImage);
	WTI_CL_TAKE(ours, clEnqueueCopyImageToBuffer);
	WTI_CL_TAKE(ours, clEnqueueCopyBufferToImage);
	WTI_CL_TAKE(ours, clEnqueueMapImage);
}
