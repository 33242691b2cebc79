/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of numbers and of text. */
#include "test.h"

#include "base/map.h"

static void test_numbers(void)
{
	struct wti_map map;

	wti_map_init(&map, SIZE_MAX);
	CHECK(!wti_map_find_number(&map, 0));
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *value = wti_map_number(&map, i << 32);

		REQUIRE(value);
		CHECK_INT(*value, 0);
		*value = i + 1;
	}
	CHECK_INT(map.count, 10000);
	for (uint64_t i = 0; i < 10000; i++) {
		const uint64_t *value = wti_map_find_number(&map, i << 32);

		CHECK(value && *value == i + 1);
		CHECK(wti_map_number(&map, i << 32) == value);
		CHECK_INT(map.entries[i].key, i << 32);
	}
	CHECK(!wti_map_find_number(&map, 1));
	CHECK_INT(map.count, 10000);
	wti_map_release(&map);
	wti_map_release(NULL);
}

static void test_texts(void)
{
	struct wti_map map;
	char name[32] = "";
	size_t bytes;

	wti_map_init(&map, 100000);
	for (unsigned i = 0; i < 5000; i++) {
		bytes = (size_t)snprintf(name, sizeof(name), "layer.%u", i);
		REQUIRE(wti_map_text(&map, name, bytes));
		*wti_map_text(&map, name, bytes) = i;
	}
	CHECK_INT(map.count, 5000);
	CHECK(wti_map_find_text(&map, "layer.4999!", 10));
	CHECK_INT(*wti_map_find_text(&map, "layer.4999", 10), 4999);
	CHECK(!wti_map_find_text(&map, "layer.4999", 9) ||
	      *wti_map_find_text(&map, "layer.499", 9) == 499);
	CHECK(!wti_map_find_text(&map, "layer", 5));
	CHECK_TEXT(map.entries[7].text, "layer.7"); /* a copy that ends with NUL, in its order */
	wti_map_release(&map);
}

static void test_odd_texts(void)
{
	struct wti_map map;

	wti_map_init(&map, 100);
	*wti_map_text(&map, "", 0) = 1;
	*wti_map_text(&map, "\0", 1) = 2;
	*wti_map_text(&map, "\0\0", 2) = 3;
	*wti_map_number(&map, 0) = 4; /* numbers and texts are never the same */
	CHECK_INT(map.count, 4);
	CHECK_INT(*wti_map_find_text(&map, NULL, 0), 1);
	CHECK_INT(*wti_map_find_text(&map, "\0x", 1), 2);
	CHECK_INT(*wti_map_find_text(&map, "\0\0", 2), 3);
	CHECK_INT(*wti_map_find_number(&map, 0), 4);
	wti_map_release(&map);
}

static void test_ceiling(void)
{
	for (size_t ceiling = 0; ceiling < 70; ceiling++) {
		struct wti_map map;
		struct wt_err err;

		wti_map_init(&map, ceiling);
		for (uint64_t i = 0; i < ceiling; i++)
			CHECK(wti_map_number(&map, i));
		CHECK(!wti_map_number(&map, 1000));
		CHECK(!wti_map_text(&map, "x", 1));
		CHECK_INT(wti_map_failed(&map, &err, "things"), WT_E_LIMIT);
		CHECK(!strncmp(err.message, "too many things: more than ", 27));
		CHECK_INT(map.count, ceiling);
		if (ceiling)
			CHECK(wti_map_number(&map, ceiling - 1)); /* what is there is found */
		wti_map_release(&map);
	}
}

static const struct test tests[] = {
	{"numbers", test_numbers}, {"texts", test_texts}, {"odd_texts", test_odd_texts},
	{"ceiling", test_ceiling}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
