/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and queues in the order in which they are shown, whatever was seen first. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "work.h"

struct moved {
	uint64_t key;
	uint32_t from;
};

static int by_key(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts `count` items by their keys; ret_places[i] is where the i-th went. */
static int reorder(void *items, size_t item_bytes, struct moved *moved, size_t count,
		   uint32_t *ret_places)
{
	char *copy = malloc(count * item_bytes + 1);

	if (!copy)
		return WT_E_NOMEM;
	memcpy(copy, items, count * item_bytes);
	if (count)
		qsort(moved, count, sizeof(*moved), by_key);
	for (size_t i = 0; i < count; i++) {
		memcpy((char *)items + i * item_bytes, copy + moved[i].from * item_bytes,
		       item_bytes);
		ret_places[moved[i].from] = (uint32_t)i;
	}
	free(copy);
	return 0;
}

/* By rank and device. */
static int order_units(struct wti_work *work, struct moved *moved, uint32_t *places)
{
	int r;

	for (size_t i = 0; i < work->unit_count; i++) {
		struct wti_work_unit *unit = &work->units[i];

		unit->rank = wti_steps_scope(&work->steps, unit->stream, 0).rank;
		moved[i] = (struct moved){
			(uint64_t)((uint32_t)unit->rank + 1u) << 32 | unit->device, (uint32_t)i};
	}
	r = reorder(work->units, sizeof(*work->units), moved, work->unit_count, places);
	for (size_t i = 0; !r && i < work->queue_count; i++)
		work->queues[i].unit = places[work->queues[i].unit];
	for (size_t i = 0; !r && i < work->memory_count; i++)
		work->memory[i].unit = places[work->memory[i].unit];
	return r;
}

/* By device and track. */
static int order_queues(struct wti_work *work, struct moved *moved, uint32_t *places)
{
	int r;

	for (size_t i = 0; i < work->queue_count; i++)
		moved[i] = (struct moved){
			(uint64_t)work->queues[i].unit << 32 | work->queues[i].track, (uint32_t)i};
	r = reorder(work->queues, sizeof(*work->queues), moved, work->queue_count, places);
	for (size_t i = 0; !r && i < work->op_count; i++)
		work->ops[i].queue = (uint16_t)places[work->ops[i].queue];
	return r;
}

int wti_work_order(struct wti_work *work, struct wt_err *err)
{
	size_t count = work->unit_count + work->queue_count + 1;
	struct moved *moved = malloc(count * sizeof(*moved));
	uint32_t *places = malloc(count * sizeof(*places));
	int r = moved && places ? order_units(work, moved, places) : WT_E_NOMEM;

	if (!r)
		r = order_queues(work, moved, places);
	free(moved);
	free(places);
	return r ? wti_err(err, r, "out of memory for queues") : 0;
}
