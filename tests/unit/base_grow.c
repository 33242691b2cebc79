/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. What happens without memory is in tests/inject/base.c. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/err.h>

#include "base/grow.h"

struct item {
	uint64_t number;
	char text[5];
};

/* Each item is where it was put, whatever was moved in between. */
static void test_append(void)
{
	struct item *items = NULL;
	size_t capacity = 0, moves = 0;

	for (size_t i = 0; i < 1000; i++) {
		size_t before = capacity;

		REQUIRE(!wti_grow(&items, i + 1, &capacity, WTI_NO_CEILING));
		REQUIRE(capacity > i);
		moves += capacity != before;
		items[i] = (struct item){.number = i};
	}
	for (size_t i = 0; i < 1000; i++)
		CHECK_INT(items[i].number, i);
	CHECK_INT(capacity, 1024);
	CHECK_INT(moves, 9); /* 4, 8, ... 1024 */
	free(items);
}

static void test_at_once(void)
{
	struct item *items = NULL, *before;
	size_t capacity = 0;

	CHECK_INT(wti_grow(&items, 0, &capacity, 0), 0);
	CHECK(!items && !capacity);
	CHECK_INT(wti_grow(&items, 100, &capacity, WTI_NO_CEILING), 0);
	REQUIRE(items && capacity == 128);
	before = items;
	items[99].number = 99;
	CHECK_INT(wti_grow(&items, 128, &capacity, WTI_NO_CEILING), 0);
	CHECK_INT(wti_grow(&items, 1, &capacity, WTI_NO_CEILING), 0);
	CHECK(items == before && capacity == 128);
	free(items);
}

/* A million arrays with one large item each take no more than that. */
static void test_large(void)
{
	char(*items)[1000] = NULL;
	size_t capacity = 0;

	CHECK_INT(wti_grow(&items, 1, &capacity, WTI_NO_CEILING), 0);
	CHECK_INT(capacity, 1);
	CHECK_INT(wti_grow(&items, 3, &capacity, WTI_NO_CEILING), 0);
	REQUIRE(capacity == 4);
	memset(items[3], 1, sizeof(items[3]));
	free(items);
}

/* All up to the ceiling, nothing beyond, and never more memory than that. */
static void test_ceiling(void)
{
	for (size_t ceiling = 0; ceiling < 40; ceiling++) {
		uint32_t *items = NULL, *before;
		size_t capacity = 0;

		for (size_t i = 0; i < ceiling; i++) {
			REQUIRE(!wti_grow(&items, i + 1, &capacity, ceiling));
			CHECK(capacity > i && capacity <= ceiling);
			items[i] = (uint32_t)i;
		}
		before = items;
		CHECK_INT(wti_grow(&items, ceiling + 1, &capacity, ceiling), WT_E_LIMIT);
		CHECK(items == before && capacity == ceiling);
		free(items);
	}
}

/* Sizes whose products, taken modulo 2^64, are small enough to be had. */
static void test_overflow(void)
{
	struct item *items = NULL, *before;
	size_t capacity = 0;

	REQUIRE(!wti_grow(&items, 1, &capacity, WTI_NO_CEILING));
	before = items;
	items[0].number = 7;
	for (int bit = 60; bit < 64; bit++) {
		size_t wanted = (size_t)1 << bit;

		CHECK_INT(wti_grow(&items, wanted, &capacity, WTI_NO_CEILING), WT_E_NOMEM);
		CHECK_INT(wti_grow_zeroed(&items, wanted + 1, &capacity, WTI_NO_CEILING),
			  WT_E_NOMEM);
	}
	CHECK_INT(wti_grow(&items, SIZE_MAX, &capacity, WTI_NO_CEILING), WT_E_NOMEM);
	CHECK(items == before && capacity == 4);
	CHECK_INT(items[0].number, 7);
	free(items);
}

/* What was there stays, all new room is zero: freed memory that is had again is not. */
static void test_zeroed(void)
{
	for (size_t wanted = 1; wanted < 200; wanted += 7) {
		unsigned char *items = malloc(256), *dirty;
		size_t capacity = 0, before;

		REQUIRE(items);
		memset(items, 0xa5, 256);
		free(items);
		items = NULL;
		REQUIRE(!wti_grow_zeroed(&items, wanted, &capacity, WTI_NO_CEILING));
		for (size_t i = 0; i < capacity; i++)
			CHECK_INT(items[i], 0);
		memset(items, 0x11, capacity);
		dirty = malloc(capacity * 2 + 1);
		REQUIRE(dirty);
		memset(dirty, 0xa5, capacity * 2);
		free(dirty);
		before = capacity;
		REQUIRE(!wti_grow_zeroed(&items, capacity + 1, &capacity, WTI_NO_CEILING));
		for (size_t i = 0; i < capacity; i++)
			CHECK_INT(items[i], i < before ? 0x11 : 0);
		free(items);
	}
}

static const struct test tests[] = {
	{"append", test_append},
	{"at_once", test_at_once},
	{"ceiling", test_ceiling},
	{"large", test_large},
	{"overflow", test_overflow},
	{"zeroed", test_zeroed},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
