/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that later values refer to: found by hash, type and count, the last of a place kept. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "inspect/digits/known.h"

static struct wti_sampled value_of(uint64_t hash, uint64_t count)
{
	return (struct wti_sampled){.hash = hash, .count = count, .dtype = WT_DTYPE_F64};
}

static void keep(struct wti_sampled_before *known, uint64_t hash, double number, double *sketch)
{
	struct wti_sampled value = value_of(hash, 10);

	value.reals = &number;
	value.sketch = sketch;
	value.elements = value.filled = 1;
	CHECK(!wti_known_keep(known, &value));
}

/* What a value with this hash refers to; -1: nothing. */
static double taken(const struct wti_sampled_before *known, uint64_t hash, uint64_t count)
{
	struct wti_sampled value = value_of(hash, count);
	double number;

	CHECK(!wti_known_take(known, &value));
	number = value.filled ? value.reals[0] + (value.sketch ? value.sketch[63] : 0) : -1;
	free(value.reals);
	free(value.sketch);
	return number;
}

static void test_by_hash(void)
{
	static struct wti_sampled_before known;
	double sketch[WTI_SKETCH_BUCKETS] = {[63] = 100};

	keep(&known, 5, 1.5, NULL);
	keep(&known, 6, 2.5, sketch);
	CHECK(taken(&known, 5, 10) == 1.5);
	CHECK(taken(&known, 6, 10) == 102.5);
	CHECK(taken(&known, 5, 11) == -1);
	CHECK(taken(&known, 7, 10) == -1);
	keep(&known, 6 + WTI_KNOWN_VALUES, 3.5, NULL);
	CHECK(taken(&known, 6, 10) == -1);
	CHECK(taken(&known, 6 + WTI_KNOWN_VALUES, 10) == 3.5);
	wti_known_release(&known);
}

static void test_incomplete(void)
{
	static struct wti_sampled_before known;
	double numbers[2] = {1, 2};
	struct wti_sampled value = value_of(5, 10);

	value.reals = numbers;
	value.elements = 2;
	value.filled = 1;
	CHECK(!wti_known_keep(&known, &value));
	CHECK(taken(&known, 5, 10) == -1);
	value.filled = 2;
	value.flags = WT_TENSOR_NO_HASH;
	CHECK(!wti_known_keep(&known, &value));
	CHECK(taken(&known, 5, 10) == -1);
	wti_known_release(&known);
}

static const struct test tests[] = {
	{"by_hash", test_by_hash}, {"incomplete", test_incomplete}, {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
