/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays whose items stay. What happens without memory is in tests/inject/base.c. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/err.h>

#include "base/steady.h"

struct item {
	uint64_t number;
	char text[5];
};

/* An address that was kept is that of the same item, however many came after it. */
static void test_stays(void)
{
	static struct item *kept[5000];
	struct wti_steady array;

	wti_steady_init(&array, sizeof(struct item), 5000);
	for (size_t i = 0; i < 5000; i++) {
		kept[i] = wti_steady_add(&array);
		REQUIRE(kept[i] && !kept[i]->number && !kept[i]->text[4]);
		kept[i]->number = i;
	}
	CHECK_INT(array.count, 5000);
	for (size_t i = 0; i < 5000; i++) {
		CHECK(wti_steady_at(&array, i, sizeof(struct item)) == kept[i]);
		CHECK_INT(kept[i]->number, i);
	}
	wti_steady_release(&array);
	CHECK_INT(array.count, 0);
}

static void test_ceiling(void)
{
	for (size_t ceiling = 0; ceiling < 40; ceiling++) {
		struct wti_steady array;

		wti_steady_init(&array, 1, ceiling);
		for (size_t i = 0; i < ceiling; i++)
			CHECK(wti_steady_add(&array));
		CHECK_INT(array.status, 0);
		CHECK(!wti_steady_add(&array));
		CHECK_INT(array.status, WT_E_LIMIT);
		CHECK_INT(array.count, ceiling);
		wti_steady_release(&array);
	}
}

/* A released array can be used again. */
static void test_again(void)
{
	struct wti_steady array;

	wti_steady_init(&array, sizeof(struct item), 1);
	for (int round = 0; round < 3; round++) {
		struct item *item = wti_steady_add(&array);

		REQUIRE(item);
		CHECK_INT(item->number, 0);
		item->number = 7;
		wti_steady_release(&array);
	}
	wti_steady_release(NULL);
}

static const struct test tests[] = {
	{"stays", test_stays},
	{"ceiling", test_ceiling},
	{"again", test_again},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
