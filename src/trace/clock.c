/* SPDX-License-Identifier: Apache-2.0 */
/* Piecewise straight lines, with a bound on their error and no trust in what a file claims. */
#include "clock.h"

#include <math.h>
#include <stdlib.h>

#include <wheeltap/err.h>

#include "base/grow.h"
#include "base/number.h"

/* Pairs come at most once a second; a week of them is far below this. */
#define PAIRS_MAX ((size_t)4 << 20)

void wti_clock_release(struct wti_clock *clock)
{
	free(clock->pairs);
	free(clock->slopes);
	*clock = (struct wti_clock){0};
}

int wti_clock_add(struct wti_clock *clock, uint64_t from, int64_t to, uint32_t error)
{
	if (clock->count == PAIRS_MAX)
		return 0; /* enough is known */
	if (wti_grow(&clock->pairs, clock->count + 1, &clock->capacity, PAIRS_MAX))
		return WT_E_NOMEM;
	clock->pairs[clock->count++] = (struct wti_clock_pair){from, to, error};
	return 0;
}

static int by_from(const void *a, const void *b)
{
	const struct wti_clock_pair *x = a;
	const struct wti_clock_pair *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Streams of one run repeat each other's pairs; a pair that goes backwards is a lie. */
static void drop_useless(struct wti_clock *clock)
{
	size_t kept = 0;

	for (size_t i = 0; i < clock->count; i++) {
		const struct wti_clock_pair *last = kept ? &clock->pairs[kept - 1] : NULL;

		if (last && (clock->pairs[i].from == last->from || clock->pairs[i].to <= last->to))
			continue;
		clock->pairs[kept++] = clock->pairs[i];
	}
	clock->count = kept;
}

/* The bound: the brackets, and how far a pair is from the line through its neighbours. */
static uint64_t error_bound(const struct wti_clock *clock)
{
	double worst = 0;

	for (size_t i = 0; i < clock->count; i++) {
		double off = clock->pairs[i].error;

		if (i > 0 && i + 1 < clock->count) {
			const struct wti_clock_pair *a = &clock->pairs[i - 1];
			const struct wti_clock_pair *b = &clock->pairs[i + 1];
			double share = (double)(clock->pairs[i].from - a->from) /
				       (double)(b->from - a->from);
			double line = share * (double)(b->to - a->to);

			off += fabs((double)(clock->pairs[i].to - a->to) - line);
		}
		worst = off > worst ? off : worst;
	}
	return wti_u64_of(ceil(worst));
}

int wti_clock_ready(struct wti_clock *clock)
{
	if (!clock->count)
		return 0;
	qsort(clock->pairs, clock->count, sizeof(*clock->pairs), by_from);
	drop_useless(clock);
	free(clock->slopes);
	clock->slopes = malloc(sizeof(double) * clock->count);
	if (!clock->slopes)
		return WT_E_NOMEM;
	clock->slopes[clock->count - 1] = 1;
	for (size_t i = 0; i + 1 < clock->count; i++)
		clock->slopes[i] = (double)(clock->pairs[i + 1].to - clock->pairs[i].to) /
				   (double)(clock->pairs[i + 1].from - clock->pairs[i].from);
	if (clock->count > 1)
		clock->slopes[clock->count - 1] = clock->slopes[clock->count - 2];
	clock->error_ns = error_bound(clock);
	return 0;
}

/* Moves a number by a distance that may be absurd (damaged files): it stays in range. */
static int64_t shifted(int64_t base, double distance)
{
	return wti_sum(base, wti_i64_of(round(distance)));
}

static double signed_distance(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

int64_t wti_clock_convert(const struct wti_clock *clock, uint64_t from)
{
	size_t low = 0;
	size_t high = clock->count;

	if (!clock->count)
		return wti_i64(from);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->pairs[middle].from <= from)
			low = middle;
		else
			high = middle;
	}
	/* Clocks in ns convert without rounding. */
	if (clock->slopes[low] == 1.0 && from >= clock->pairs[low].from &&
	    from - clock->pairs[low].from < (1ull << 62))
		return wti_sum(clock->pairs[low].to, (int64_t)(from - clock->pairs[low].from));
	return shifted(clock->pairs[low].to,
		       signed_distance(from, clock->pairs[low].from) * clock->slopes[low]);
}

uint64_t wti_clock_invert(const struct wti_clock *clock, int64_t to)
{
	size_t low = 0;
	size_t high = clock->count;
	double distance;
	uint64_t away;

	if (!clock->count)
		return to < 0 ? 0 : (uint64_t)to;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->pairs[middle].to <= to)
			low = middle;
		else
			high = middle;
	}
	/* The difference first: a double has no ns left of a time since 1970. */
	distance = (double)wti_difference(to, clock->pairs[low].to) / clock->slopes[low];
	away = wti_u64_of(round(fabs(distance)));
	if (distance < 0)
		return away < clock->pairs[low].from ? clock->pairs[low].from - away : 0;
	return away < UINT64_MAX - clock->pairs[low].from ? clock->pairs[low].from + away
							  : UINT64_MAX;
}
