/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory: which allocation a pointer lies in, and the commands on it. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "transfer.h"

enum { ALLOCATIONS_MAX = 1 << 20 };

static struct {
	struct wti_cl_place *all; /* `bytes` of all of it; sorted by address */
	size_t count, capacity;
} svm;

/* How many begin at or before the pointer. With the lock held. */
static size_t rank_of(const void *pointer)
{
	size_t low = 0, high = svm.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)svm.all[middle].data <= (uintptr_t)pointer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct wti_cl_place wti_cl_svm_find(const void *pointer)
{
	struct wti_cl_place place = {0};
	size_t rank;

	wti_cl_lock(WTI_CL_LOCK_SVM);
	rank = rank_of(pointer);
	if (rank) {
		place = svm.all[rank - 1];
		place.offset = (uintptr_t)pointer - (uintptr_t)place.data;
		if (place.offset < place.bytes)
			place.bytes -= place.offset;
		else
			place = (struct wti_cl_place){0};
	}
	wti_cl_unlock(WTI_CL_LOCK_SVM);
	return place;
}

static void remember(const struct wti_cl_place *place)
{
	size_t rank;

	wti_cl_lock(WTI_CL_LOCK_SVM);
	if (svm.count == svm.capacity && svm.capacity < ALLOCATIONS_MAX) {
		size_t capacity = svm.capacity ? 2 * svm.capacity : 16;
		struct wti_cl_place *more = realloc(svm.all, capacity * sizeof(*more));

		if (more) {
			svm.all = more;
			svm.capacity = capacity;
		}
	}
	if (svm.count < svm.capacity) {
		rank = rank_of(place->data);
		memmove(svm.all + rank + 1, svm.all + rank, (svm.count - rank) * sizeof(*svm.all));
		svm.all[rank] = *place;
		svm.count++;
	}
	wti_cl_unlock(WTI_CL_LOCK_SVM);
}

static void forget(const void *pointer)
{
	size_t rank;

	wti_cl_lock(WTI_CL_LOCK_SVM);
	rank = rank_of(pointer);
	if (rank && svm.all[rank - 1].data == pointer) {
		memmove(svm.all + rank - 1, svm.all + rank, (svm.count - rank) * sizeof(*svm.all));
		svm.count--;
	}
	wti_cl_unlock(WTI_CL_LOCK_SVM);
}

static void *CL_API_CALL layer_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
					  cl_uint alignment)
{
	void *data = wti_cl.real.clSVMAlloc(context, flags, bytes, alignment);
	struct wti_cl_place place = {.bytes = bytes, .flags = flags, .data = data};

	if (!data)
		return data;
	place.object =
		wti_cl_object_add(data, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_SVM,
							     .parent = wti_cl_object_id(context),
							     .bytes = bytes,
							     .flags = flags,
							     .details = &alignment,
							     .details_bytes = sizeof(alignment)});
	if (place.object)
		remember(&place);
	return data;
}

static void CL_API_CALL layer_clSVMFree(cl_context context, void *pointer)
{
	wti_cl_object_release(pointer);
	forget(pointer);
	wti_cl.real.clSVMFree(context, pointer);
}

/* Shared memory, or else the program's own: then its bytes are kept if they are read. */
static void touch(struct wti_cl_command *c, uint32_t mode, const void *pointer, uint64_t bytes,
		  uint64_t hash)
{
	const struct wti_cl_place place = wti_cl_svm_find(pointer);

	if (!place.object && mode == WT_ACCESS_MODE_READ)
		wti_cl_from_host(c, pointer, bytes);
	else if (!place.object)
		wti_cl_to_host(c, pointer, bytes);
	else
		wti_cl_command_access(c,
				      &(struct wti_record_device_access){.mode = mode,
									 .argument = -1,
									 .object = place.object,
									 .offset = place.offset,
									 .bytes = bytes,
									 .hash = hash},
				      NULL);
}

WTI_CL_COMMAND(clEnqueueSVMMemFill, WT_OP_FILL,
	       WTI_CL_LIST(void *to, const void *pattern, size_t pattern_bytes, size_t bytes),
	       WTI_CL_LIST(to, pattern, pattern_bytes, bytes), {
		       c->bytes = bytes;
		       touch(c, WT_ACCESS_MODE_WRITE, to, bytes, 0);
		       wti_cl_pattern(c, pattern, pattern_bytes);
	       })

WTI_CL_COMMAND(clEnqueueSVMUnmap, WT_OP_COPY, WTI_CL_LIST(void *mapped), WTI_CL_LIST(mapped),
	       { wti_cl_unmaps(c, mapped, mapped); })

WTI_CL_COMMAND(clEnqueueSVMMigrateMem, WT_OP_COPY,
	       WTI_CL_LIST(cl_uint count, const void **pointers, const size_t *sizes,
			   cl_mem_migration_flags flags),
	       WTI_CL_LIST(count, pointers, sizes, flags), {
		       for (cl_uint i = 0; pointers && i < count; i++) {
			       const struct wti_cl_place place = wti_cl_svm_find(pointers[i]);
			       const uint64_t bytes = sizes && sizes[i] ? sizes[i] : place.bytes;

			       touch(c, WT_ACCESS_MODE_NONE, pointers[i], bytes, 0);
			       c->bytes += bytes;
		       }
		       wti_cl_gives(c, &flags, sizeof(flags));
	       })

static cl_int CL_API_CALL layer_clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
						   void *to, const void *from, size_t bytes,
						   WTI_CL_EVENTS)
{
	struct wti_cl_command command, *c = &command;

	wti_cl_command_begin(c, WT_NAME("clEnqueueSVMMemcpy"), WT_OP_COPY, queue);
	wti_cl_command_events(c, wait_count, wait_list, &event);
	c->is_blocking = blocking;
	c->bytes = bytes;
	touch(c, WT_ACCESS_MODE_READ, from, bytes, 0);
	touch(c, WT_ACCESS_MODE_WRITE, to, bytes, 0);
	wti_cl_command_launch(c);
	return wti_cl_command_end(c,
				  wti_cl.real.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes,
								 wait_count, wait_list, event));
}

static cl_int CL_API_CALL layer_clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
						cl_map_flags flags, void *pointer, size_t bytes,
						WTI_CL_EVENTS)
{
	const struct wti_cl_place place = wti_cl_svm_find(pointer);
	struct wti_cl_command command, *c = &command;
	cl_int status;

	wti_cl_command_begin(c, WT_NAME("clEnqueueSVMMap"), WT_OP_COPY, queue);
	wti_cl_command_events(c, wait_count, wait_list, &event);
	c->is_blocking = blocking;
	c->bytes = bytes;
	touch(c, flags & CL_MAP_READ ? WT_ACCESS_MODE_READ : WT_ACCESS_MODE_NONE, pointer, bytes,
	      0);
	wti_cl_gives(c, &flags, sizeof(flags));
	wti_cl_command_launch(c);
	status = wti_cl.real.clEnqueueSVMMap(queue, blocking, flags, pointer, bytes, wait_count,
					     wait_list, event);
	if (status == CL_SUCCESS && place.object)
		wti_cl_mapped(pointer, pointer, 0, bytes, flags);
	if (status == CL_SUCCESS && place.object && flags & CL_MAP_READ)
		wti_cl_to_host(c, pointer, bytes);
	return wti_cl_command_end(c, status);
}

/* Whatever the program's function does with them, from here on they are not used. */
static cl_int CL_API_CALL
layer_clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[],
		       void(CL_CALLBACK *free_them)(cl_command_queue, cl_uint, void *[], void *),
		       void *data, WTI_CL_EVENTS)
{
	struct wti_cl_command command, *c = &command;

	wti_cl_command_begin(c, WT_NAME("clEnqueueSVMFree"), WT_OP_FREE, queue);
	wti_cl_command_events(c, wait_count, wait_list, &event);
	for (cl_uint i = 0; pointers && i < count; i++) {
		const struct wti_cl_place place = wti_cl_svm_find(pointers[i]);

		touch(c, WT_ACCESS_MODE_NONE, pointers[i], place.bytes, 0);
		wti_cl_object_release(pointers[i]);
		forget(pointers[i]);
	}
	wti_cl_command_launch(c);
	return wti_cl_command_end(c,
				  wti_cl.real.clEnqueueSVMFree(queue, count, pointers, free_them,
							       data, wait_count, wait_list, event));
}

void wti_cl_take_svm(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clSVMAlloc);
	WTI_CL_TAKE(ours, clSVMFree);
	WTI_CL_TAKE(ours, clEnqueueSVMMemFill);
	WTI_CL_TAKE(ours, clEnqueueSVMUnmap);
	WTI_CL_TAKE(ours, clEnqueueSVMMigrateMem);
	WTI_CL_TAKE(ours, clEnqueueSVMMemcpy);
	WTI_CL_TAKE(ours, clEnqueueSVMMap);
	WTI_CL_TAKE(ours, clEnqueueSVMFree);
}
