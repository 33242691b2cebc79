/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles against sorted values. */
#include <stdlib.h>

#include "inspect/core/sketch.h"
#include "test.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* All quantiles of `values` must be within the stated error of the exact ones. */
static void compare(uint64_t *values, size_t count)
{
	struct wti_sketch sketch = {0};

	for (size_t i = 0; i < count; i++)
		CHECK_INT(wti_sketch_add(&sketch, values[i]), 0);
	qsort(values, count, sizeof(*values), by_value);
	for (int percent = 0; percent <= 100; percent++) {
		size_t rank = ((size_t)percent * count + 99) / 100;
		uint64_t exact = values[rank ? rank - 1 : 0];
		uint64_t got = wti_sketch_quantile(&sketch, percent / 100.0);
		double error = got > exact ? (double)(got - exact) : (double)(exact - got);

		if (error > (double)exact * WTI_SKETCH_ERROR_PERCENT / 100)
			test_fail(__FILE__, __LINE__, "p%d is %llu, exact %llu", percent,
				  (unsigned long long)got, (unsigned long long)exact);
	}
	CHECK_INT(sketch.min, values[0]);
	CHECK_INT(sketch.max, values[count - 1]);
	wti_sketch_release(&sketch);
}

static void test_error_bound(void)
{
	enum { COUNT = 20000 };
	uint64_t *values = malloc(COUNT * sizeof(*values));
	uint64_t state = 88172645463325252ull;

	REQUIRE(values);
	for (int bits = 1; bits <= 64; bits += 7) {
		for (int i = 0; i < COUNT; i++)
			values[i] = next_random(&state) >> (64 - bits);
		compare(values, COUNT);
	}
	for (int i = 0; i < COUNT; i++) /* many octaves at once */
		values[i] = next_random(&state) >> (next_random(&state) % 60);
	compare(values, COUNT);
	free(values);
}

static void test_small_is_exact(void)
{
	struct wti_sketch sketch = {0};

	for (uint64_t i = 1; i <= 64; i++)
		wti_sketch_add(&sketch, i - 1);
	for (int i = 1; i <= 64; i++)
		CHECK_INT(wti_sketch_quantile(&sketch, i / 64.0), i - 1);
	wti_sketch_release(&sketch);
}

static void test_extremes(void)
{
	struct wti_sketch sketch = {0};

	CHECK_INT(wti_sketch_quantile(&sketch, 0.5), 0);
	wti_sketch_add(&sketch, UINT64_MAX);
	CHECK(wti_sketch_quantile(&sketch, 0.5) == UINT64_MAX);
	wti_sketch_add(&sketch, 0);
	CHECK_INT(wti_sketch_quantile(&sketch, 0), 0);
	CHECK(wti_sketch_quantile(&sketch, 1) == UINT64_MAX);
	wti_sketch_release(&sketch);
}

static const struct test tests[] = {
	{"error_bound", test_error_bound},
	{"small_is_exact", test_small_is_exact},
	{"extremes", test_extremes},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
