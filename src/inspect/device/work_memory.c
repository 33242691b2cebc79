/* SPDX-License-Identifier: Apache-2.0 */
/* Taking in what happened to memory: objects, allocations, and what operations read and write. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "work_own.h"

static struct wti_work_object *object_at(struct wti_work *work, size_t stream, uint64_t id)
{
	uint64_t slot = wti_map_get(&work->object_of, id ^ (uint64_t)stream << 48);

	return slot ? &work->objects[slot - 1] : NULL;
}

int wti_work_memory_change(struct wti_work *work, size_t stream, uint32_t device,
			   const struct wti_work_memory *change, struct wt_err *err)
{
	struct wti_work_memory item = *change;
	int r = wti_work_unit_at(work, (uint32_t)stream, device, &item.unit, err);

	if (!r)
		r = wti_grow(&work->memory, work->memory_count + 1, &work->memory_capacity,
			     WTI_WORK_OPS_MAX);
	if (r)
		return wti_work_failed(r, err, "allocations");
	work->memory[work->memory_count++] = item;
	work->units[item.unit].has_memory = true;
	return 0;
}

static int memory_change(struct wti_work *work, const struct wt_event *event, int64_t bytes,
			 struct wt_err *err)
{
	struct wti_work_memory change = {.ns = wti_work_bounded(event->time_ns), .bytes = bytes};

	return wti_work_memory_change(work, event->stream,
				      (uint32_t)wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_DEVICE),
				      &change, err);
}

/* What a profiler saw of an allocator. Memory of the host is none of a device. The first of a
 * device also says how much was in use before. */
static int allocator_of(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text type = wt_event_text(event, WT_DEVICE_MEMORY_FIELD_NAME);
	uint32_t device = (uint32_t)wt_event_u64(event, WT_DEVICE_MEMORY_FIELD_DEVICE), unit;
	int64_t bytes = wti_work_bounded(wt_event_i64(event, WT_DEVICE_MEMORY_FIELD_BYTES));
	int64_t after =
		wti_work_bounded(wti_i64(wt_event_u64(event, WT_DEVICE_MEMORY_FIELD_ALLOCATED)));
	struct wti_work_memory change = {
		.ns = wti_work_bounded(event->time_ns), .bytes = after - bytes, .is_before = true};
	int r;

	if (type.bytes == 3 && !memcmp(type.data, "cpu", 3))
		return 0;
	r = wti_work_unit_at(work, (uint32_t)event->stream, device, &unit, err);
	if (!r && !work->units[unit].has_memory && after > 0 && change.bytes > 0)
		r = wti_work_memory_change(work, event->stream, device, &change, err);
	change.bytes = bytes;
	change.is_before = false;
	return r ? r : wti_work_memory_change(work, event->stream, device, &change, err);
}

static bool is_memory(uint64_t type)
{
	return type == WT_DEVICE_OBJECT_TYPE_BUFFER || type == WT_DEVICE_OBJECT_TYPE_IMAGE ||
	       type == WT_DEVICE_OBJECT_TYPE_SVM;
}

/* Memory that is made or given back; a part of another object, which is remembered as that. */
static int object_of(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	uint64_t id = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_ID);
	uint64_t type = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_TYPE);
	uint64_t phase = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_PHASE);
	struct wti_work_object *found = object_at(work, event->stream, id);
	struct wti_work_object made = {.offset = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_OFFSET),
				       .bytes = wti_work_bounded(wti_i64(
					       wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_BYTES)))};

	if (phase == WT_DEVICE_OBJECT_PHASE_RELEASED && found && is_memory(type))
		return memory_change(work, event, -found->bytes, err);
	if (phase != WT_DEVICE_OBJECT_PHASE_CREATED ||
	    (!is_memory(type) && type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER) || found)
		return 0;
	if (type == WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		made.parent = wt_event_u64(event, WT_DEVICE_OBJECT_FIELD_PARENT);
	if (wti_grow(&work->objects, work->object_count + 1, &work->object_capacity,
		     WTI_WORK_OBJECTS_MAX) ||
	    !wti_map_put(&work->object_of, id ^ (uint64_t)event->stream << 48,
			 work->object_count + 1))
		return wti_work_failed(WT_E_LIMIT, err, "objects of devices");
	work->objects[work->object_count++] = made;
	return made.parent ? 0 : memory_change(work, event, made.bytes, err);
}

static int access_of(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	uint64_t mode = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_MODE);
	uint64_t bytes = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_BYTES);
	struct wti_work_access access = {
		.correlation = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_CORRELATION),
		.object = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_OBJECT),
		.from = wt_event_u64(event, WT_DEVICE_ACCESS_FIELD_OFFSET),
		.stream = (uint32_t)event->stream,
		.reads = mode == WT_ACCESS_MODE_READ || mode == WT_ACCESS_MODE_BOTH,
		.writes = mode == WT_ACCESS_MODE_WRITE || mode == WT_ACCESS_MODE_BOTH};
	const struct wti_work_object *object = object_at(work, event->stream, access.object);
	int r;

	if (!access.reads && !access.writes)
		return 0;
	if (object && object->parent) {
		access.object = object->parent;
		access.from += object->offset;
	}
	access.to = access.from + bytes < access.from ? UINT64_MAX : access.from + bytes;
	r = wti_grow(&work->accesses, work->access_count + 1, &work->access_capacity,
		     WTI_WORK_OPS_MAX);
	if (r)
		return wti_work_failed(r, err, "accesses to memory");
	work->accesses[work->access_count++] = access;
	return 0;
}

int wti_work_memory_event(struct wti_work *work, const struct wt_event *event, struct wt_err *err)
{
	switch (event->kind->number) {
	case WT_KIND_DEVICE_ACCESS:
		return access_of(work, event, err);
	case WT_KIND_DEVICE_MEMORY:
		return allocator_of(work, event, err);
	default:
		return object_of(work, event, err);
	}
}

void wti_work_forget_memory(struct wti_work *work)
{
	free(work->memory);
	free(work->accesses);
	free(work->objects);
	work->memory = NULL;
	work->accesses = NULL;
	work->objects = NULL;
	work->memory_count = work->memory_capacity = 0;
	work->access_count = work->access_capacity = 0;
	work->object_count = work->object_capacity = 0;
}
