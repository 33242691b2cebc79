/* SPDX-License-Identifier: Apache-2.0 */
/* Curves: whatever is joined, no extreme is lost, and the memory stays bounded. */
#include <math.h>
#include <stdlib.h>

#include "inspect/core/curve.h"
#include "test.h"

/* What must be true of any curve: its buckets have all of its points and its extremes. */
static void check_whole(const struct wti_curve *curve)
{
	double low = INFINITY, high = -INFINITY;
	uint64_t count = 0, nonfinite = 0;

	CHECK(curve->bucket_count <= WTI_CURVE_BUCKETS);
	for (size_t i = 0; i < curve->bucket_count; i++) {
		const struct wti_curve_bucket *bucket = &curve->buckets[i];

		count += bucket->count;
		nonfinite += bucket->nonfinite;
		if (bucket->count == bucket->nonfinite)
			continue;
		CHECK(bucket->low <= bucket->last && bucket->last <= bucket->high);
		low = fmin(low, bucket->low);
		high = fmax(high, bucket->high);
	}
	CHECK_INT(count, curve->count);
	CHECK_INT(nonfinite, curve->nan_count + curve->inf_count);
	if (count > nonfinite)
		CHECK(low == curve->low && high == curve->high);
}

/* The bucket of x. */
static const struct wti_curve_bucket *at(const struct wti_curve *curve, int64_t x)
{
	return &curve->buckets[((uint64_t)x - (uint64_t)curve->origin) >> curve->shift];
}

static void test_spike(void)
{
	enum { COUNT = 1000000, SPIKE = 777777, DIP = 123 };
	struct wti_curve curve = {0};

	for (int64_t i = 0; i < COUNT; i++)
		CHECK_INT(wti_curve_add(&curve, i, i == SPIKE ? 50 : i == DIP ? -7 : 1), 0);
	check_whole(&curve);
	CHECK_INT(curve.count, COUNT);
	CHECK(curve.high == 50 && curve.high_x == SPIKE);
	CHECK(curve.low == -7 && curve.low_x == DIP);
	for (size_t buckets = 4096; buckets >= 1; buckets /= 2) {
		wti_curve_reduce(&curve, buckets);
		CHECK(curve.bucket_count <= buckets);
		check_whole(&curve);
		CHECK(at(&curve, SPIKE)->high == 50);
		CHECK(at(&curve, DIP)->low == -7);
	}
	wti_curve_release(&curve);
}

static void test_nonfinite(void)
{
	struct wti_curve curve = {0};

	for (int64_t i = 0; i < 100000; i++)
		wti_curve_add(&curve, i, i == 5000 ? NAN : i == 60000 ? -INFINITY : (double)i);
	check_whole(&curve);
	CHECK_INT(curve.nan_count, 1);
	CHECK_INT(curve.inf_count, 1);
	CHECK_INT(curve.nonfinite_x, 5000);
	CHECK_INT(at(&curve, 5000)->nonfinite, 1);
	CHECK_INT(at(&curve, 60000)->nonfinite, 1);
	CHECK(curve.low == 0 && curve.high == 99999);
	wti_curve_release(&curve);
	/* Nothing finite at all. */
	for (int64_t i = 0; i < 10; i++)
		wti_curve_add(&curve, i, NAN);
	check_whole(&curve);
	CHECK(isnan(curve.first) && isnan(curve.last));
	wti_curve_release(&curve);
}

/* x in any order, negative, and as far apart as can be. */
static void test_any_order(void)
{
	static const int64_t xs[] = {5, -5, 100000, -100000, INT64_MAX, INT64_MIN, 0, 1, 2};
	struct wti_curve curve = {0};
	uint64_t state = 88172645463325252ull;

	for (size_t i = 0; i < sizeof(xs) / sizeof(*xs); i++) {
		CHECK_INT(wti_curve_add(&curve, xs[i], (double)i), 0);
		check_whole(&curve);
	}
	wti_curve_release(&curve);
	for (int i = 0; i < 20000; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		wti_curve_add(&curve, (int64_t)(state >> 40) - (1 << 23), (double)(state >> 20));
	}
	check_whole(&curve);
	CHECK_INT(curve.count, 20000);
	wti_curve_release(&curve);
}

static void test_one_by_one(void)
{
	struct wti_curve curve = {0};
	struct wt_result result;

	wt_result_init(&result, "test");
	for (int64_t i = 10; i < 20; i++)
		wti_curve_add(&curve, i, (double)(i * i));
	CHECK_INT(curve.bucket_count, 10);
	wti_curve_series(&curve, &result, "squares", "squares", "");
	REQUIRE(result.series_count == 1);
	CHECK(result.series[0]->x_first == 10 && result.series[0]->x_step == 1);
	for (size_t i = 0; i < 10; i++) {
		double square = (double)((i + 10) * (i + 10));

		CHECK(result.series[0]->y[i] == square);
		CHECK(result.series[0]->low[i] == square && result.series[0]->high[i] == square);
	}
	wt_result_release(&result);
	wti_curve_release(&curve);
}

static const struct test tests[] = {
	{"spike", test_spike},
	{"nonfinite", test_nonfinite},
	{"any_order", test_any_order},
	{"one_by_one", test_one_by_one},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
