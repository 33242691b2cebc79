/* SPDX-License-Identifier: Apache-2.0 */
/* Union of intervals with a ceiling on what is kept. */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#include "base/grow.h"
#include "busy.h"

/* 73 years either way: beyond lies only what a damaged trace says, and sums must not overflow. */
#define FARTHEST_NS (1ll << 61)

int wti_busy_init(struct wti_busy *busy, size_t ceiling, int64_t from_ns, int64_t to_ns)
{
	*busy = (struct wti_busy){.ceiling = ceiling < 64 ? 64 : ceiling,
				  .window_from_ns = from_ns < -FARTHEST_NS ? -FARTHEST_NS : from_ns,
				  .window_to_ns = to_ns > FARTHEST_NS ? FARTHEST_NS : to_ns,
				  .settled_ns = INT64_MIN,
				  .part_ns = 1};
	busy->parts = calloc(WTI_BUSY_PARTS, sizeof(*busy->parts));
	return busy->parts ? 0 : WT_E_NOMEM;
}

void wti_busy_release(struct wti_busy *busy)
{
	free(busy->intervals);
	free(busy->parts);
	*busy = (struct wti_busy){0};
}

static void halve_parts(struct wti_busy *b)
{
	for (unsigned i = 0; i < WTI_BUSY_PARTS / 2; i++)
		b->parts[i] = b->parts[2 * i] + b->parts[2 * i + 1];
	memset(b->parts + WTI_BUSY_PARTS / 2, 0, WTI_BUSY_PARTS / 2 * sizeof(*b->parts));
	b->part_ns *= 2;
}

static __int128 parts_end(const struct wti_busy *b)
{
	return (__int128)b->parts_from_ns + (__int128)b->part_ns * WTI_BUSY_PARTS;
}

/* Makes the parts reach over [from, to). Growing to the left puts the old ones into the right half.
 */
static void cover(struct wti_busy *b, int64_t from_ns, int64_t to_ns)
{
	if (!b->busy_ns)
		b->parts_from_ns = from_ns;
	while (from_ns < b->parts_from_ns) {
		int64_t span = (int64_t)(b->part_ns * WTI_BUSY_PARTS);

		halve_parts(b);
		memmove(b->parts + WTI_BUSY_PARTS / 2, b->parts,
			WTI_BUSY_PARTS / 2 * sizeof(*b->parts));
		memset(b->parts, 0, WTI_BUSY_PARTS / 2 * sizeof(*b->parts));
		b->parts_from_ns -= span;
	}
	while (parts_end(b) < to_ns)
		halve_parts(b);
}

static void settle_one(struct wti_busy *b, struct wti_busy_interval interval)
{
	uint64_t at, left = (uint64_t)(interval.to_ns - interval.from_ns);

	cover(b, interval.from_ns, interval.to_ns);
	b->busy_ns += left;
	at = (uint64_t)(interval.from_ns - b->parts_from_ns);
	while (left) {
		uint64_t room = b->part_ns - at % b->part_ns;
		uint64_t here = left < room ? left : room;

		b->parts[at / b->part_ns] += here;
		at += here;
		left -= here;
	}
}

static void settle(struct wti_busy *b, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		settle_one(b, b->intervals[i]);
	b->settled_ns = b->intervals[count - 1].to_ns;
	memmove(b->intervals, b->intervals + count, (b->count - count) * sizeof(*b->intervals));
	b->count -= count;
}

static int make_room(struct wti_busy *b)
{
	int r = wti_grow(&b->intervals, b->count + 1, &b->capacity, b->ceiling);

	if (r != WT_E_LIMIT)
		return r;
	settle(b, b->count / 2);
	return 0;
}

/* Index of the first interval that ends at or after `ns`: looked for from the end. */
static size_t first_touching(const struct wti_busy *b, int64_t ns)
{
	size_t low = 0, high = b->count;

	for (size_t step = 1; high > low; step *= 2) {
		size_t probe = high - low > step ? high - step : low;

		if (b->intervals[probe].to_ns < ns) {
			low = probe + 1;
			break;
		}
		high = probe;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->intervals[middle].to_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void note_extent(struct wti_busy *b, int64_t from_ns, int64_t to_ns)
{
	if (b->first_ns == b->last_ns) {
		b->first_ns = from_ns;
		b->last_ns = to_ns;
	}
	if (from_ns < b->first_ns)
		b->first_ns = from_ns;
	if (to_ns > b->last_ns)
		b->last_ns = to_ns;
}

int wti_busy_add(struct wti_busy *b, int64_t from_ns, int64_t to_ns)
{
	size_t first, last;
	int r;

	from_ns = from_ns < b->window_from_ns ? b->window_from_ns : from_ns;
	to_ns = to_ns > b->window_to_ns ? b->window_to_ns : to_ns;
	if (from_ns >= to_ns)
		return 0;
	r = make_room(b);
	if (r)
		return r;
	note_extent(b, from_ns, to_ns);
	if (from_ns < b->settled_ns) {
		b->clipped_count++;
		from_ns = b->settled_ns;
		if (from_ns >= to_ns)
			return 0;
	}
	first = last = first_touching(b, from_ns);
	while (last < b->count && b->intervals[last].from_ns <= to_ns)
		last++;
	if (last > first) {
		struct wti_busy_interval *i = &b->intervals[first];

		if (b->intervals[last - 1].to_ns > to_ns)
			to_ns = b->intervals[last - 1].to_ns;
		if (i->from_ns < from_ns)
			from_ns = i->from_ns;
		memmove(i + 1, b->intervals + last, (b->count - last) * sizeof(*i));
		b->count -= last - first - 1;
	} else {
		memmove(b->intervals + first + 1, b->intervals + first,
			(b->count - first) * sizeof(*b->intervals));
		b->count++;
	}
	b->intervals[first] = (struct wti_busy_interval){from_ns, to_ns};
	return 0;
}

void wti_busy_settle(struct wti_busy *b)
{
	settle(b, b->count);
}

double wti_busy_between(const struct wti_busy *b, double from_ns, double to_ns)
{
	double part = (double)b->part_ns;
	double begin = (from_ns - (double)b->parts_from_ns) / part;
	double end = (to_ns - (double)b->parts_from_ns) / part;
	double sum = 0;

	begin = begin < 0 ? 0 : begin;
	end = end > WTI_BUSY_PARTS ? WTI_BUSY_PARTS : end;
	for (unsigned i = begin < end ? (unsigned)begin : WTI_BUSY_PARTS; i < WTI_BUSY_PARTS; i++) {
		double low = i > begin ? i : begin;
		double high = i + 1 < end ? i + 1 : end;

		if (low >= high)
			break;
		sum += (double)b->parts[i] * (high - low);
	}
	return sum;
}
