/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A curve of any number of points in bounded memory that keeps every extreme. Points are put into
 * buckets of equal width over x; a bucket knows the lowest, the highest and the last value in it
 * and how many were no finite numbers. When x leaves the buckets their width doubles, so that a
 * spike of one point among a million is still the highest value of its bucket.
 */
#ifndef WTI_INSPECT_CURVE_H
#define WTI_INSPECT_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>

/* More than a page is wide, in pixels: zooming in by four still shows one bucket a pixel. */
#define WTI_CURVE_BUCKETS 4096u

struct wti_curve_bucket {
	uint64_t count;         /* of all points */
	uint64_t nonfinite;     /* of these NaN or infinite */
	double low, high, last; /* of the finite ones */
};

struct wti_curve {
	struct wti_curve_bucket *buckets; /* grows up to WTI_CURVE_BUCKETS */
	size_t bucket_count, capacity;    /* up to the last one in use */
	int64_t origin; /* x at which the first bucket begins: a multiple of width */
	unsigned shift; /* of the width: 1 << shift */
	uint64_t count, nan_count, inf_count;
	double first, last; /* points, finite or not */
	double low, high;   /* finite points */
	int64_t low_x, high_x, first_x, last_x;
	int64_t nonfinite_x; /* of the first that was not finite */
};

void wti_curve_release(struct wti_curve *curve);
/* 0 or WT_E_NOMEM. x may come in any order. */
int wti_curve_add(struct wti_curve *curve, int64_t x, double y);
/* At most this many buckets, by joining neighbours; extremes stay. */
void wti_curve_reduce(struct wti_curve *curve, size_t buckets);
/* As a series of a result: `y` is the last value of each bucket, with its extremes beside. */
void wti_curve_series(const struct wti_curve *curve, struct wt_result *result, const char *key,
		      const char *title, const char *unit);

#endif
