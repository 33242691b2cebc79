/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block holds a few long runs, one each time the recorder turned to another track, and each run
 * is in order. So: a merge sort that takes the runs it finds.
 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

static bool later(const struct wt_batch *batch, uint32_t a, uint32_t b)
{
	if (batch->time[a] != batch->time[b])
		return batch->time[a] > batch->time[b];
	return batch->track[a] > batch->track[b];
}

/* Ends of the runs, in order; at least one. */
static uint32_t find_runs(const struct wt_batch *batch, uint32_t *ends)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < batch->rows; i++) {
		if (later(batch, i - 1, i))
			ends[count++] = i;
	}
	ends[count++] = batch->rows;
	return count;
}

static void merge(const struct wt_batch *batch, const uint32_t *from, uint32_t *to, uint32_t begin,
		  uint32_t middle, uint32_t end)
{
	uint32_t left = begin;
	uint32_t right = middle;

	for (uint32_t i = begin; i < end; i++) {
		bool take_right =
			left == middle || (right < end && later(batch, from[left], from[right]));

		to[i] = take_right ? from[right++] : from[left++];
	}
}

/* Merges neighbouring runs two by two; the number of runs left. */
static uint32_t merge_pairs(const struct wt_batch *batch, const uint32_t *from, uint32_t *to,
			    uint32_t *ends, uint32_t count)
{
	uint32_t kept = 0;
	uint32_t begin = 0;

	for (uint32_t i = 0; i < count; i += 2) {
		uint32_t middle = ends[i];
		uint32_t end = i + 1 < count ? ends[i + 1] : middle;

		merge(batch, from, to, begin, middle, end);
		ends[kept++] = end;
		begin = end;
	}
	return kept;
}

uint32_t *wti_time_order(const struct wt_batch *batch)
{
	size_t bytes = sizeof(uint32_t) * (batch->rows + 1u);
	uint32_t *order = malloc(bytes);
	uint32_t *other = malloc(bytes);
	uint32_t *ends = malloc(bytes);
	uint32_t count;

	if (!order || !other || !ends) {
		free(order);
		order = NULL;
		goto out;
	}
	for (uint32_t i = 0; i < batch->rows; i++)
		order[i] = i;
	count = find_runs(batch, ends);
	while (count > 1) {
		uint32_t *swap = order;

		count = merge_pairs(batch, order, other, ends, count);
		order = other;
		other = swap;
	}
out:
	free(other);
	free(ends);
	return order;
}
