/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What buffers contain when the host has waited for a queue and nothing is on its way: with
 * --replayable, of those that were written since. A replay compares with it, and begins in the
 * middle with it. It costs a copy of each buffer, so it is done again only after ten times as long
 * as the last one took.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WRITTEN_MAX = 1 << 14, /* a power of two; further ones have no recorded content */
	SHARE = 10,
};

static struct {
	uint64_t written[WRITTEN_MAX]; /* numbers of objects, by their hash */
	size_t count;
	uint64_t not_before_ns;
} states;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* With the lock held: where it is, or has room; NULL: there is none. */
static uint64_t *place_of(uint64_t object)
{
	size_t at = (size_t)(object * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (size_t i = 0; i < WRITTEN_MAX; i++) {
		uint64_t *place = &states.written[(at + i) % WRITTEN_MAX];

		if (!*place || *place == object)
			return place;
	}
	return NULL;
}

void wti_cl_written(uint64_t object)
{
	uint64_t *place;

	wti_cl_lock(WTI_CL_LOCK_STATES);
	place = states.count < WRITTEN_MAX / 2 ? place_of(object) : NULL;
	if (place && !*place) {
		*place = object;
		states.count++;
	}
	wti_cl_unlock(WTI_CL_LOCK_STATES);
}

static bool was_written(uint64_t object)
{
	const uint64_t *place;
	bool was;

	wti_cl_lock(WTI_CL_LOCK_STATES);
	place = place_of(object);
	was = place && *place == object;
	wti_cl_unlock(WTI_CL_LOCK_STATES);
	return was;
}

struct look {
	struct wti_here here;
	cl_command_queue queue;
	uint64_t context;
	uint64_t correlation;
	uint64_t number; /* the last that was given out: another means that something goes on */
};

/* The hash of its content; 0: it could not be read, or something else happened meanwhile. */
static uint64_t content_of(const struct look *look, const struct wti_cl_object *object)
{
	void *copy = object->bytes <= WTI_BLOB_BYTES_MAX ? malloc(object->bytes) : NULL;
	uint64_t hash = 0;

	if (copy &&
	    wti_cl.real.clEnqueueReadBuffer(look->queue, object->handle, CL_TRUE, 0, object->bytes,
					    copy, 0, NULL, NULL) == CL_SUCCESS &&
	    atomic_load(&wti_cl.number_last) == look->number)
		hash = wti_cl_content(copy, object->bytes);
	free(copy);
	return hash;
}

static void see(void *cookie, const struct wti_cl_object *object)
{
	const struct look *look = cookie;
	uint64_t hash;

	if (object->type != WT_DEVICE_OBJECT_TYPE_BUFFER || object->parent != look->context ||
	    !was_written(object->id))
		return;
	hash = content_of(look, object);
	if (hash)
		wti_emit_device_access(
			look->here,
			&(struct wti_record_device_access){.mode = WT_ACCESS_MODE_READ,
							   .argument = -1,
							   .correlation = look->correlation,
							   .object = object->id,
							   .bytes = object->bytes,
							   .hash = hash},
			"");
}

void wti_cl_states(struct wti_here here, cl_command_queue queue, uint64_t context,
		   uint64_t correlation)
{
	struct look look = {here, queue, context, correlation, atomic_load(&wti_cl.number_last)};
	uint64_t begin_ns = now_ns();

	if (!wti_cl.replayable || begin_ns < states.not_before_ns || !wti_cl_harvest_is_idle() ||
	    atomic_load(&wti_cl.number_last) != look.number)
		return;
	wti_cl_objects_see(see, &look);
	wti_cl_lock(WTI_CL_LOCK_STATES);
	if (atomic_load(&wti_cl.number_last) == look.number) {
		memset(states.written, 0, sizeof(states.written));
		states.count = 0;
	}
	states.not_before_ns = now_ns() + SHARE * (now_ns() - begin_ns);
	wti_cl_unlock(WTI_CL_LOCK_STATES);
}
