/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how buckets are joined: each twice as wide begins at a multiple of its own width. */
#include "curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

enum { SHIFT_MAX = 62 };

void wti_curve_release(struct wti_curve *curve)
{
	free(curve->buckets);
	*curve = (struct wti_curve){0};
}

static void join(struct wti_curve_bucket *into, const struct wti_curve_bucket *later)
{
	bool has_finite = later->count > later->nonfinite;

	if (has_finite && into->count > into->nonfinite) {
		into->low = fmin(into->low, later->low);
		into->high = fmax(into->high, later->high);
		into->last = later->last;
	} else if (has_finite) {
		into->low = later->low;
		into->high = later->high;
		into->last = later->last;
	}
	into->count += later->count;
	into->nonfinite += later->nonfinite;
}

/* Rounds down to a multiple of 1 << shift, of negative numbers too. */
static int64_t floor_to(int64_t x, unsigned shift)
{
	return (int64_t)((uint64_t)x >> shift << shift);
}

/* Twice the width; the origin moves to a multiple of it, and with it all buckets. */
static void widen(struct wti_curve *curve)
{
	unsigned shift = curve->shift + 1;
	int64_t origin = floor_to(curve->origin, shift);
	size_t odd = origin != curve->origin, count = 0;

	for (size_t i = 0; i < curve->bucket_count; i++) {
		size_t place = (i + odd) / 2;
		struct wti_curve_bucket bucket = curve->buckets[i];

		curve->buckets[i] = (struct wti_curve_bucket){0};
		join(&curve->buckets[place], &bucket);
		count = place + 1;
	}
	curve->bucket_count = count;
	curve->origin = origin;
	curve->shift = shift;
}

/* How many buckets there would have to be for x to be among them, from the origin on. */
static uint64_t reach(const struct wti_curve *curve, int64_t x)
{
	return (((uint64_t)x - (uint64_t)curve->origin) >> curve->shift) + 1;
}

/* Moves all buckets up by so many, to begin earlier. */
static void make_room_before(struct wti_curve *curve, size_t places)
{
	for (size_t i = curve->bucket_count; i-- > 0;)
		curve->buckets[i + places] = curve->buckets[i];
	for (size_t i = 0; i < places; i++)
		curve->buckets[i] = (struct wti_curve_bucket){0};
	curve->bucket_count += places;
	curve->origin = (int64_t)((uint64_t)curve->origin - ((uint64_t)places << curve->shift));
}

/* The bucket of x; NULL: out of memory. */
static struct wti_curve_bucket *bucket_of(struct wti_curve *curve, int64_t x)
{
	uint64_t last, before;

	if (!curve->bucket_count)
		curve->origin = x;
	for (;; widen(curve)) {
		uint64_t span = curve->bucket_count ? curve->bucket_count - 1 : 0;
		int64_t end = (int64_t)((uint64_t)curve->origin + (span << curve->shift));
		int64_t low = x < curve->origin ? floor_to(x, curve->shift) : curve->origin;

		before = ((uint64_t)curve->origin - (uint64_t)low) >> curve->shift;
		last = (((uint64_t)(x > end ? x : end) - (uint64_t)low) >> curve->shift) + 1;
		if (last <= WTI_CURVE_BUCKETS || curve->shift >= SHIFT_MAX)
			break;
	}
	if (wti_grow_zeroed(&curve->buckets, (size_t)last, &curve->capacity,
			    (size_t)WTI_CURVE_BUCKETS))
		return NULL;
	if (before)
		make_room_before(curve, (size_t)before);
	if (curve->bucket_count < reach(curve, x))
		curve->bucket_count = (size_t)reach(curve, x);
	return &curve->buckets[reach(curve, x) - 1];
}

static void count_point(struct wti_curve *curve, int64_t x, double y)
{
	bool is_first_finite = curve->count == curve->nan_count + curve->inf_count;

	if (!curve->count) {
		curve->first = y;
		curve->first_x = x;
	}
	curve->last = y;
	curve->last_x = x;
	curve->count++;
	if (!isfinite(y)) {
		if (!curve->nan_count && !curve->inf_count)
			curve->nonfinite_x = x;
		curve->nan_count += isnan(y);
		curve->inf_count += !isnan(y);
		return;
	}
	if (is_first_finite || y < curve->low) {
		curve->low = y;
		curve->low_x = x;
	}
	if (is_first_finite || y > curve->high) {
		curve->high = y;
		curve->high_x = x;
	}
}

int wti_curve_add(struct wti_curve *curve, int64_t x, double y)
{
	struct wti_curve_bucket *bucket = bucket_of(curve, x);
	const struct wti_curve_bucket point = {1, !isfinite(y), y, y, y};

	if (!bucket)
		return WT_E_NOMEM;
	join(bucket, &point);
	count_point(curve, x, y);
	return 0;
}

void wti_curve_reduce(struct wti_curve *curve, size_t buckets)
{
	while (curve->bucket_count > buckets && buckets && curve->shift < SHIFT_MAX)
		widen(curve);
}

void wti_curve_series(const struct wti_curve *curve, struct wt_result *result, const char *key,
		      const char *title, const char *unit)
{
	struct wt_series *series =
		wt_result_series(result, key, title, unit, (double)curve->origin,
				 ldexp(1, (int)curve->shift), curve->bucket_count);

	if (!series || !wt_series_extremes(series, result))
		return;
	for (size_t i = 0; i < curve->bucket_count; i++) {
		const struct wti_curve_bucket *bucket = &curve->buckets[i];
		bool is_finite = bucket->count > bucket->nonfinite;

		series->y[i] = is_finite ? bucket->last : NAN;
		series->low[i] = is_finite ? bucket->low : NAN;
		series->high[i] = is_finite ? bucket->high : NAN;
		series->nonfinite[i] = bucket->nonfinite;
	}
}
