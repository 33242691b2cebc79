/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep line over a bounded, sorted array of moments. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#include "base/grow.h"
#include "concurrency.h"

void wti_concurrency_init(struct wti_concurrency *c, size_t ceiling)
{
	*c = (struct wti_concurrency){.ceiling = ceiling < 64 ? 64 : ceiling,
				      .swept_ns = INT64_MIN};
}

void wti_concurrency_release(struct wti_concurrency *c)
{
	free(c->moments);
	*c = (struct wti_concurrency){0};
}

static bool before(struct wti_concurrency_change a, struct wti_concurrency_change b)
{
	return a.ns < b.ns || (a.ns == b.ns && a.change < b.change);
}

/* Looked for from the end: moments come nearly in order. */
static size_t place_of(const struct wti_concurrency *c, struct wti_concurrency_change moment)
{
	size_t low = 0, high = c->count;

	for (size_t step = 1; high > low; step *= 2) {
		size_t probe = high - low > step ? high - step : low;

		if (!before(moment, c->moments[probe])) {
			low = probe + 1;
			break;
		}
		high = probe;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (before(moment, c->moments[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void insert(struct wti_concurrency *c, struct wti_concurrency_change moment)
{
	size_t at = place_of(c, moment);

	memmove(c->moments + at + 1, c->moments + at, (c->count - at) * sizeof(moment));
	c->moments[at] = moment;
	c->count++;
}

static void sweep(struct wti_concurrency *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		c->open += c->moments[i].change;
		c->swept_ns = c->moments[i].ns;
		if (c->open > c->max) {
			c->max = c->open;
			c->max_at_ns = c->moments[i].ns;
		}
	}
	if (count)
		memmove(c->moments, c->moments + count, (c->count - count) * sizeof(*c->moments));
	c->count -= count;
}

static int make_room(struct wti_concurrency *c)
{
	int r = wti_grow(&c->moments, c->count + 2, &c->capacity, c->ceiling);

	if (r != WT_E_LIMIT)
		return r;
	sweep(c, c->count / 2);
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
	insert(c, (struct wti_concurrency_change){from_ns, 1});
	insert(c, (struct wti_concurrency_change){to_ns, -1});
	return 0;
}

void wti_concurrency_finish(struct wti_concurrency *c)
{
	sweep(c, c->count);
}
