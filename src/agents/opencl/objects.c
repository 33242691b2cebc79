/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the program, by their handles. Hides the table. A handle may come again for
 * another object once the driver has freed it: the newest is meant.
 */
#include "own.h"

#include <stdlib.h>

enum {
	BUCKETS = 1 << 13, /* a power of two */
	STRIPES = WTI_CL_LOCKS - WTI_CL_LOCK_OBJECTS,
};

static struct {
	struct wti_cl_object *buckets[BUCKETS];
} table;

/* Handles are addresses: the low bits say little. */
static size_t bucket_of(const void *handle)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 51) % BUCKETS;
}

static unsigned lock_of(size_t bucket)
{
	return WTI_CL_LOCK_OBJECTS + bucket % STRIPES;
}

/* With the lock held. */
static struct wti_cl_object **find(size_t bucket, const void *handle)
{
	struct wti_cl_object **at = &table.buckets[bucket];

	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	return at;
}

void wti_cl_object_put(struct wti_cl_object *object)
{
	if (!object || atomic_fetch_sub(&object->users, 1) != 1)
		return;
	if (object->more_free)
		object->more_free(object->more);
	free(object);
}

struct wti_cl_object *wti_cl_object_get(const void *handle)
{
	const size_t bucket = bucket_of(handle);
	struct wti_cl_object *object;

	if (!handle)
		return NULL;
	wti_cl_lock(lock_of(bucket));
	object = *find(bucket, handle);
	if (object)
		atomic_fetch_add(&object->users, 1);
	wti_cl_unlock(lock_of(bucket));
	return object;
}

/* Held one at a time: whoever sees it may call the driver. */
void wti_cl_objects_see(void (*see)(void *cookie, const struct wti_cl_object *object), void *cookie)
{
	for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
		for (size_t skipped = 0;; skipped++) {
			struct wti_cl_object *object;

			wti_cl_lock(lock_of(bucket));
			object = table.buckets[bucket];
			for (size_t i = 0; object && i < skipped; i++)
				object = object->next;
			if (object)
				atomic_fetch_add(&object->users, 1);
			wti_cl_unlock(lock_of(bucket));
			if (!object)
				break;
			see(cookie, object);
			wti_cl_object_put(object);
		}
	}
}

uint64_t wti_cl_object_id(const void *handle)
{
	struct wti_cl_object *object = wti_cl_object_get(handle);
	uint64_t id = object ? object->id : 0;

	wti_cl_object_put(object);
	return id;
}

/* One of the same handle is over. */
static void insert(struct wti_cl_object *object)
{
	const size_t bucket = bucket_of(object->handle);
	struct wti_cl_object **at, *old;

	wti_cl_lock(lock_of(bucket));
	at = find(bucket, object->handle);
	old = *at;
	object->next = old ? old->next : NULL;
	*at = object;
	wti_cl_unlock(lock_of(bucket));
	wti_cl_object_put(old);
}

void wti_cl_object_emit(const struct wti_cl_object *object, uint32_t phase,
			const struct wti_cl_new *about, uint64_t duration_ns)
{
	const struct wti_here here = wti_cl_here();
	uint32_t bytes = about->details_bytes < WTI_TEXT_MAX ? about->details_bytes : WTI_TEXT_MAX;

	if (!here.ring)
		return;
	wti_emit_device_object(here,
			       &(struct wti_record_device_object){
				       .type = object->type,
				       .phase = phase,
				       .name = about->name ? wti_name(here, about->name) : 0,
				       .device = object->device,
				       .id = object->id,
				       .parent = object->parent,
				       .offset = about->offset,
				       .bytes = about->bytes,
				       .flags = about->flags,
				       .hash = about->hash,
				       .duration = duration_ns,
				       .details_bytes = bytes},
			       about->details);
}

/* The memory of a sub-buffer is that of its parent. */
static void find_root(struct wti_cl_object *object, const struct wti_cl_new *about)
{
	object->root = object->id;
	if (about->type != WT_DEVICE_OBJECT_TYPE_SUB_BUFFER)
		return;
	object->root = about->parent;
	object->offset = about->offset;
}

uint64_t wti_cl_object_add(void *handle, const struct wti_cl_new *about)
{
	struct wti_cl_object *object = handle ? calloc(1, sizeof(*object)) : NULL;
	uint64_t id;

	if (!object) {
		if (about->more_free)
			about->more_free(about->more);
		return 0;
	}
	object->handle = handle;
	object->users = 1;
	object->references = 1;
	object->type = about->type;
	object->device = about->device;
	object->id = id = wti_cl_number();
	object->parent = about->parent;
	object->bytes = about->bytes;
	object->flags = about->flags;
	object->more = about->more;
	object->more_free = about->more_free;
	find_root(object, about);
	wti_cl_object_emit(object, WT_DEVICE_OBJECT_PHASE_CREATED, about, 0);
	insert(object);
	return id;
}

void wti_cl_object_retain(const void *handle)
{
	const size_t bucket = bucket_of(handle);
	struct wti_cl_object *object;

	wti_cl_lock(lock_of(bucket));
	object = *find(bucket, handle);
	if (object)
		object->references++;
	wti_cl_unlock(lock_of(bucket));
}

void wti_cl_object_release(const void *handle)
{
	const size_t bucket = bucket_of(handle);
	struct wti_cl_object **at, *object;

	wti_cl_lock(lock_of(bucket));
	at = find(bucket, handle);
	object = *at;
	if (object && --object->references)
		object = NULL;
	if (object)
		*at = object->next;
	wti_cl_unlock(lock_of(bucket));
	if (!object)
		return;
	wti_cl_object_emit(object, WT_DEVICE_OBJECT_PHASE_RELEASED,
			   &(struct wti_cl_new){.bytes = object->bytes}, 0);
	wti_cl_object_put(object);
}
