/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs: numbered as they come, found again, apart from each other, up to the ceiling. */
#include "test.h"

#include "base/pairs.h"

static void test_numbered(void)
{
	struct wti_pairs pairs;

	wti_pairs_init(&pairs, 8);
	CHECK_INT(wti_pairs_find(&pairs, (struct wti_pair){1, 2}), 0);
	CHECK_INT(wti_pairs_add(&pairs, (struct wti_pair){1, 2}), 1);
	CHECK_INT(wti_pairs_add(&pairs, (struct wti_pair){2, 1}), 2);
	CHECK_INT(wti_pairs_add(&pairs, (struct wti_pair){1, 2}), 1);
	CHECK_INT(wti_pairs_find(&pairs, (struct wti_pair){2, 1}), 2);
	CHECK_INT(pairs.count, 2);
	wti_pairs_release(&pairs);
}

/* Many, with small and with huge words: each keeps its own number. */
static void test_apart(void)
{
	enum { SIDE = 100 };
	struct wti_pairs pairs;

	wti_pairs_init(&pairs, SIDE * SIDE);
	for (uint64_t i = 0; i < SIDE; i++)
		for (uint64_t j = 0; j < SIDE; j++)
			CHECK_INT(wti_pairs_add(&pairs, (struct wti_pair){i << 40, j * j * j}),
				  (long)(i * SIDE + j + 1));
	for (uint64_t i = 0; i < SIDE; i++)
		for (uint64_t j = 0; j < SIDE; j++)
			CHECK_INT(wti_pairs_find(&pairs, (struct wti_pair){i << 40, j * j * j}),
				  (long)(i * SIDE + j + 1));
	CHECK_INT(wti_pairs_add(&pairs, (struct wti_pair){1, 1}), 0);
	wti_pairs_release(&pairs);
}

/*
 * Words whose mix is the same: with `first` changed by d, `second` changed by the difference of the
 * products meets it. They stand side by side.
 */
static void test_same_mix(void)
{
	struct wti_pair one = {1, 0};
	struct wti_pair two = {2, (1 * 0x9e3779b97f4a7c15u) ^ (2 * 0x9e3779b97f4a7c15u)};
	struct wti_pairs pairs;

	wti_pairs_init(&pairs, 8);
	CHECK_INT(wti_pairs_add(&pairs, one), 1);
	CHECK_INT(wti_pairs_find(&pairs, two), 0);
	CHECK_INT(wti_pairs_add(&pairs, two), 2);
	CHECK_INT(wti_pairs_find(&pairs, one), 1);
	CHECK_INT(wti_pairs_find(&pairs, two), 2);
	wti_pairs_release(&pairs);
}

static const struct test tests[] = {
	{"numbered", test_numbered},
	{"apart", test_apart},
	{"same_mix", test_same_mix},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
