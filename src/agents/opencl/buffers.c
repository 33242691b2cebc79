/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on buffers: read, write, copy, fill, map. Knows which bytes of which buffer they touch.
 */
#include "commands.h"

#include <string.h>

#include "transfer.h"

WTI_CL_COMMAND(clEnqueueReadBuffer, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
			   void *host),
	       WTI_CL_LIST(buffer, blocking, offset, bytes, host), {
		       c->is_blocking = blocking;
		       c->bytes = bytes;
		       wti_cl_reads(c, buffer, offset, bytes);
		       wti_cl_to_host(c, host, bytes);
	       })

WTI_CL_COMMAND(clEnqueueWriteBuffer, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
			   const void *host),
	       WTI_CL_LIST(buffer, blocking, offset, bytes, host), {
		       c->is_blocking = blocking;
		       c->bytes = bytes;
		       wti_cl_writes(c, buffer, offset, bytes);
		       if (wti_cl_has(buffer, offset, bytes))
			       wti_cl_from_host(c, host, bytes);
	       })

WTI_CL_COMMAND(clEnqueueCopyBuffer, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
			   size_t bytes),
	       WTI_CL_LIST(from, to, from_offset, to_offset, bytes), {
		       c->bytes = bytes;
		       wti_cl_reads(c, from, from_offset, bytes);
		       wti_cl_writes(c, to, to_offset, bytes);
	       })

WTI_CL_COMMAND(clEnqueueFillBuffer, WT_OP_FILL,
	       WTI_CL_LIST(cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
			   size_t bytes),
	       WTI_CL_LIST(buffer, pattern, pattern_bytes, offset, bytes), {
		       c->bytes = bytes;
		       wti_cl_writes(c, buffer, offset, bytes);
		       wti_cl_pattern(c, pattern, pattern_bytes);
	       })

WTI_CL_COMMAND(clEnqueueReadBufferRect, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem buffer, cl_bool blocking, const size_t *origin,
			   const size_t *host_origin, const size_t *region, size_t row,
			   size_t slice, size_t host_row, size_t host_slice, void *host),
	       WTI_CL_LIST(buffer, blocking, origin, host_origin, region, row, slice, host_row,
			   host_slice, host),
	       {
		       const struct wti_cl_box box = wti_cl_box(origin, region, row, slice);
		       const struct wti_cl_box away =
			       wti_cl_box(host_origin, region, host_row, host_slice);

		       c->is_blocking = blocking;
		       c->bytes = box.content;
		       wti_cl_reads(c, buffer, box.offset, box.bytes);
		       wti_cl_boxes(c, &box, &away);
		       wti_cl_to_host(c, host, away.offset + away.bytes);
	       })

WTI_CL_COMMAND(clEnqueueWriteBufferRect, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem buffer, cl_bool blocking, const size_t *origin,
			   const size_t *host_origin, const size_t *region, size_t row,
			   size_t slice, size_t host_row, size_t host_slice, const void *host),
	       WTI_CL_LIST(buffer, blocking, origin, host_origin, region, row, slice, host_row,
			   host_slice, host),
	       {
		       const struct wti_cl_box box = wti_cl_box(origin, region, row, slice);
		       const struct wti_cl_box away =
			       wti_cl_box(host_origin, region, host_row, host_slice);

		       c->is_blocking = blocking;
		       c->bytes = box.content;
		       wti_cl_writes(c, buffer, box.offset, box.bytes);
		       wti_cl_boxes(c, &box, &away);
		       if (wti_cl_has(buffer, box.offset, box.bytes))
			       wti_cl_from_host(c, host, away.offset + away.bytes);
	       })

WTI_CL_COMMAND(clEnqueueCopyBufferRect, WT_OP_COPY,
	       WTI_CL_LIST(cl_mem from, cl_mem to, const size_t *from_origin,
			   const size_t *to_origin, const size_t *region, size_t from_row,
			   size_t from_slice, size_t to_row, size_t to_slice),
	       WTI_CL_LIST(from, to, from_origin, to_origin, region, from_row, from_slice, to_row,
			   to_slice),
	       {
		       const struct wti_cl_box here =
			       wti_cl_box(from_origin, region, from_row, from_slice);
		       const struct wti_cl_box there =
			       wti_cl_box(to_origin, region, to_row, to_slice);

		       c->bytes = here.content;
		       wti_cl_reads(c, from, here.offset, here.bytes);
		       wti_cl_writes(c, to, there.offset, there.bytes);
		       wti_cl_boxes(c, &here, &there);
	       })

WTI_CL_COMMAND(clEnqueueMigrateMemObjects, WT_OP_COPY,
	       WTI_CL_LIST(cl_uint count, const cl_mem *list, cl_mem_migration_flags flags),
	       WTI_CL_LIST(count, list, flags), {
		       for (cl_uint i = 0; list && i < count; i++)
			       c->bytes += wti_cl_whole(c, WT_ACCESS_MODE_NONE, list[i]);
		       wti_cl_gives(c, &flags, sizeof(flags));
	       })

/* ---- Mapping --------------------------------------------------------------------------------- */

static void *CL_API_CALL layer_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
						  cl_bool blocking, cl_map_flags flags,
						  size_t offset, size_t bytes, WTI_CL_EVENTS,
						  cl_int *ret_status)
{
	struct wti_cl_command command, *c = &command;
	cl_int status = CL_SUCCESS;
	void *mapped;

	wti_cl_command_begin(c, WT_NAME("clEnqueueMapBuffer"), WT_OP_COPY, queue);
	wti_cl_command_events(c, wait_count, wait_list, &event);
	c->is_blocking = blocking;
	c->bytes = bytes;
	wti_cl_maps(c, buffer, offset, bytes, flags);
	wti_cl_command_launch(c);
	mapped = wti_cl.real.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes,
						wait_count, wait_list, event, &status);
	if (mapped)
		wti_cl_mapped(buffer, mapped, offset, bytes, flags);
	if (mapped && flags & CL_MAP_READ)
		wti_cl_to_host(c, mapped, bytes);
	wti_cl_command_end(c, status);
	if (ret_status)
		*ret_status = status;
	return mapped;
}

WTI_CL_COMMAND(clEnqueueUnmapMemObject, WT_OP_COPY, WTI_CL_LIST(cl_mem mem, void *mapped),
	       WTI_CL_LIST(mem, mapped), { wti_cl_unmaps(c, mem, mapped); })

void wti_cl_take_buffers(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clEnqueueReadBuffer);
	WTI_CL_TAKE(ours, clEnqueueWriteBuffer);
	WTI_CL_TAKE(ours, clEnqueueCopyBuffer);
	WTI_CL_TAKE(ours, clEnqueueFillBuffer);
	WTI_CL_TAKE(ours, clEnqueueReadBufferRect);
	WTI_CL_TAKE(ours, clEnqueueWriteBufferRect);
	WTI_CL_TAKE(ours, clEnqueueCopyBufferRect);
	WTI_CL_TAKE(ours, clEnqueueMigrateMemObjects);
	WTI_CL_TAKE(ours, clEnqueueMapBuffer);
	WTI_CL_TAKE(ours, clEnqueueUnmapMemObject);
}
