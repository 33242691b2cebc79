/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of replays made by hand: queues, buffers, and operations that touch and wait. */
#ifndef WTI_TESTS_REPLAY_WORLD_H
#define WTI_TESTS_REPLAY_WORLD_H

#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "replay/plan.h"
#include "test.h"

enum { ROOM = 64, BYTES = 100 };

struct world {
	struct wti_replay_plan plan;
	struct wti_replay_plan_object objects[ROOM];
	struct wti_replay_plan_op ops[ROOM];
	struct wti_replay_plan_access accesses[ROOM];
	uint32_t waits[ROOM];
};

static inline void world_begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->plan.objects = w->objects;
	w->plan.ops = w->ops;
	w->plan.accesses = w->accesses;
	w->plan.waits = w->waits;
}

static inline void world_end(struct world *w)
{
	free(w->plan.befores);
	free(w->plan.serial);
}

static inline uint32_t add_object(struct world *w, uint32_t type, uint64_t flags)
{
	w->objects[w->plan.object_count] = (struct wti_replay_plan_object){
		.type = type, .flags = flags, .bytes = BYTES, .name = "", .parent = WTI_PLAN_NONE};
	return (uint32_t)w->plan.object_count++;
}

static inline uint32_t add_queue(struct world *w, bool is_ordered)
{
	return add_object(w, WT_DEVICE_OBJECT_TYPE_QUEUE, is_ordered ? 0 : 1);
}

static inline uint32_t add_buffer(struct world *w)
{
	return add_object(w, WT_DEVICE_OBJECT_TYPE_BUFFER, 0);
}

/* What it touches and waits for is added before the next one. */
static inline uint32_t add_op(struct world *w, uint32_t call, const char *name, uint32_t queue)
{
	w->ops[w->plan.op_count] =
		(struct wti_replay_plan_op){.call = call,
					    .name = name,
					    .queue = queue,
					    .access_first = (uint32_t)w->plan.access_count,
					    .wait_first = (uint32_t)w->plan.wait_count,
					    .is_launched = true,
					    .is_seen = true};
	return (uint32_t)w->plan.op_count++;
}

static inline void add_access(struct world *w, uint32_t mode, uint32_t object, uint64_t from,
			      uint64_t to)
{
	w->accesses[w->plan.access_count++] = (struct wti_replay_plan_access){.mode = mode,
									      .object = object,
									      .offset = from,
									      .bytes = to - from,
									      .argument = -1,
									      .value = ""};
	w->ops[w->plan.op_count - 1].access_count++;
}

static inline void add_wait(struct world *w, uint32_t op)
{
	w->waits[w->plan.wait_count++] = op;
	w->ops[w->plan.op_count - 1].wait_count++;
}

/* A kernel that writes all of a buffer. */
static inline uint32_t add_writer(struct world *w, const char *name, uint32_t queue,
				  uint32_t buffer)
{
	uint32_t op = add_op(w, WTI_CALL_KERNEL, name, queue);

	add_access(w, WT_ACCESS_MODE_WRITE, buffer, 0, BYTES);
	return op;
}

static inline uint32_t add_reader(struct world *w, const char *name, uint32_t queue,
				  uint32_t buffer)
{
	uint32_t op = add_op(w, WTI_CALL_KERNEL, name, queue);

	add_access(w, WT_ACCESS_MODE_READ, buffer, 0, BYTES);
	return op;
}

#endif
