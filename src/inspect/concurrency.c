/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep line over a bounded heap of moments. */
#include <stdbool.h>
#include <stdlib.h>

#include <wheeltap/err.h>

#include "concurrency.h"

void wti_concurrency_init(struct wti_concurrency *c, size_t ceiling)
{
	*c = (struct wti_concurrency){.ceiling = ceiling < 64 ? 64 : ceiling,
				      .swept_ns = INT64_MIN};
}

void wti_concurrency_release(struct wti_concurrency *c)
{
	free(c->heap);
	*c = (struct wti_concurrency){0};
}

static bool before(struct wti_moment a, struct wti_moment b)
{
	return a.ns < b.ns || (a.ns == b.ns && a.change < b.change);
}

static void push(struct wti_concurrency *c, struct wti_moment moment)
{
	size_t at = c->count++;

	while (at && before(moment, c->heap[(at - 1) / 2])) {
		c->heap[at] = c->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	c->heap[at] = moment;
}

static struct wti_moment pop(struct wti_concurrency *c)
{
	struct wti_moment top = c->heap[0], last = c->heap[--c->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= c->count)
			break;
		if (child + 1 < c->count && before(c->heap[child + 1], c->heap[child]))
			child++;
		if (!before(c->heap[child], last))
			break;
		c->heap[at] = c->heap[child];
		at = child;
	}
	c->heap[at] = last;
	return top;
}

static void sweep(struct wti_concurrency *c, size_t down_to)
{
	while (c->count > down_to) {
		struct wti_moment moment = pop(c);

		c->open += moment.change;
		c->swept_ns = moment.ns;
		if (c->open > c->max) {
			c->max = c->open;
			c->max_at_ns = moment.ns;
		}
	}
}

static int make_room(struct wti_concurrency *c)
{
	size_t capacity = c->capacity ? c->capacity * 2 : 64;
	void *bigger;

	if (c->count + 2 <= c->capacity)
		return 0;
	if (capacity > c->ceiling) {
		sweep(c, c->count / 2);
		return 0;
	}
	bigger = realloc(c->heap, capacity * sizeof(*c->heap));
	if (!bigger)
		return WT_E_NOMEM;
	c->heap = bigger;
	c->capacity = capacity;
	return 0;
}

int wti_concurrency_add(struct wti_concurrency *c, int64_t from_ns, int64_t to_ns)
{
	int r;

	if (from_ns >= to_ns)
		return 0;
	r = make_room(c);
	if (r)
		return r;
	if (from_ns < c->swept_ns) {
		c->late_count++;
		from_ns = c->swept_ns;
		if (from_ns >= to_ns)
			return 0;
	}
	push(c, (struct wti_moment){from_ns, 1});
	push(c, (struct wti_moment){to_ns, -1});
	return 0;
}

void wti_concurrency_finish(struct wti_concurrency *c)
{
	sweep(c, 0);
}
