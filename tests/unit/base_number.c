/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic at the ends of the ranges; the sanitizers see what the results do not show. */
#include "test.h"

#include <math.h>

#include "base/number.h"

static void test_sums(void)
{
	CHECK_INT(wti_sum(1, 2), 3);
	CHECK_INT(wti_sum(INT64_MAX, 1), INT64_MAX);
	CHECK_INT(wti_sum(INT64_MIN, -1), INT64_MIN);
	CHECK_INT(wti_sum(INT64_MIN, INT64_MAX), -1);
	CHECK_INT(wti_difference(1, 2), -1);
	CHECK_INT(wti_difference(INT64_MIN, 1), INT64_MIN);
	CHECK_INT(wti_difference(0, INT64_MIN), INT64_MAX);
	CHECK_INT(wti_difference(INT64_MAX, -1), INT64_MAX);
	CHECK_INT(wti_difference(-1, INT64_MIN), INT64_MAX);
}

/* Of two that are bounded the difference and the sum are right, not only in range. */
static void test_bounded(void)
{
	int64_t low = wti_bounded(INT64_MIN), high = wti_bounded(INT64_MAX);

	CHECK_INT(wti_bounded(-5), -5);
	CHECK_INT(high - low, INT64_MAX - 1);
	CHECK_INT(low - high, -(INT64_MAX - 1));
	CHECK_INT(high + high, INT64_MAX - 1);
}

static void test_magnitude(void)
{
	CHECK(wti_magnitude(INT64_MIN) == (uint64_t)1 << 63);
	CHECK(wti_magnitude(-7) == 7);
	CHECK(wti_magnitude(7) == 7);
	CHECK_INT(wti_i64(UINT64_MAX), INT64_MAX);
	CHECK_INT(wti_i64(7), 7);
}

static void test_doubles(void)
{
	CHECK_INT(wti_i64_of(-2.9), -2);
	CHECK_INT(wti_i64_of(1e300), INT64_MAX);
	CHECK_INT(wti_i64_of(0x1p63), INT64_MAX);
	CHECK_INT(wti_i64_of(-0x1p63), INT64_MIN);
	CHECK_INT(wti_i64_of(-INFINITY), INT64_MIN);
	CHECK_INT(wti_i64_of(NAN), 0);
	CHECK_INT(wti_i64_of(nextafter(0x1p63, 0)), INT64_MAX - 1023);
	CHECK(wti_u64_of(0x1p64) == UINT64_MAX);
	CHECK(wti_u64_of(nextafter(0x1p64, 0)) == UINT64_MAX - 2047);
	CHECK(wti_u64_of(INFINITY) == UINT64_MAX);
	CHECK(wti_u64_of(-1) == 0);
	CHECK(wti_u64_of(NAN) == 0);
	CHECK(wti_u64_of(7.9) == 7);
}

static const struct test tests[] = {
	{"sums", test_sums},
	{"bounded", test_bounded},
	{"magnitude", test_magnitude},
	{"doubles", test_doubles},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
