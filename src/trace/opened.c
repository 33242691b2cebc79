/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap: the earliest row is that of the first item. */
#include "opened.h"

#include <stdlib.h>

#include "base/grow.h"

void wti_opened_free(struct wti_opened *opened)
{
	if (!opened)
		return;
	wt_batch_release(&opened->batch);
	free(opened->slice);
	free(opened->order);
	free(opened);
}

static void sink(struct wti_heap *heap, size_t at)
{
	struct wti_opened **items = heap->items;
	struct wti_opened *moving = items[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    wti_key_before(&items[child + 1]->key, &items[child]->key))
			child++;
		if (!wti_key_before(&items[child]->key, &moving->key))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = moving;
}

int wti_heap_push(struct wti_heap *heap, struct wti_opened *opened)
{
	size_t at = heap->count;

	if (wti_grow(&heap->items, at + 1, &heap->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	heap->count++;
	while (at && wti_key_before(&opened->key, &heap->items[(at - 1) / 2]->key)) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = opened;
	return 0;
}

struct wti_opened *wti_heap_pop(struct wti_heap *heap)
{
	struct wti_opened *top = heap->items[0];

	heap->items[0] = heap->items[--heap->count];
	if (heap->count)
		sink(heap, 0);
	return top;
}

void wti_heap_release(struct wti_heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		wti_opened_free(heap->items[i]);
	free(heap->items);
	*heap = (struct wti_heap){0};
}
