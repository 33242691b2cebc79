/* SPDX-License-Identifier: Apache-2.0 */
/* The sorter of imports: all in memory, over several blocks, and through the file. */
#include <stdlib.h>
#include <unistd.h>

#include "convert/intake/sorter.h"
#include "test.h"

enum { RECORDS = 20000, PAYLOAD_MAX = 300 };

static uint64_t state = 88172645463325252u;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* What follows the head: which record it is, and bytes that say so. */
struct payload {
	struct wti_sorted head;
	uint64_t number;
	uint8_t bytes[];
};

static bool add(struct wti_sorter *sorter, uint64_t number)
{
	const size_t bytes = sizeof(struct payload) + chance(PAYLOAD_MAX);
	struct payload *record = (struct payload *)wti_sorter_add(sorter, bytes);

	if (!record)
		return false;
	record->head.time = chance(RECORDS / 4); /* many have the same */
	record->head.duration = chance(3);
	record->head.rank = (uint8_t)chance(3);
	record->number = number;
	memset(record->bytes, (int)(number & 0xff), bytes - sizeof(*record));
	return true;
}

static bool in_order(const struct wti_sorted *a, const struct wti_sorted *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->duration != b->duration)
		return a->duration > b->duration;
	return a->rank != b->rank ? a->rank < b->rank : a->added < b->added;
}

static bool is_whole(const struct payload *record)
{
	for (size_t i = sizeof(*record) + 8; i < record->head.bytes; i++)
		if (record->bytes[i - sizeof(*record) - 8] != (record->number & 0xff))
			return false;
	return true;
}

static void sort_with(size_t memory)
{
	static bool seen[RECORDS];
	const struct wti_sorted *next;
	struct wti_sorted last = {0};
	struct wti_sorter *sorter;
	uint64_t count = 0;

	memset(seen, 0, sizeof(seen));
	REQUIRE(!wti_sorter_open("/tmp", memory, &sorter, NULL));
	for (uint64_t i = 0; i < RECORDS; i++)
		CHECK(add(sorter, i));
	CHECK_INT(wti_sorter_finish(sorter, NULL), 0);
	for (; (next = wti_sorter_next(sorter)); count++) {
		const struct payload *record = (const struct payload *)next;

		if (count && !in_order(&last, next))
			CHECK(!"in order");
		if (record->number >= RECORDS || seen[record->number] || !is_whole(record))
			CHECK(!"each once, as it was added");
		else
			seen[record->number] = true;
		last = *next;
	}
	CHECK_INT(count, RECORDS);
	CHECK_INT(wti_sorter_status(sorter, NULL), 0);
	wti_sorter_free(sorter);
}

static void test_memory(void)
{
	sort_with(0);
}

static void test_file(void)
{
	sort_with((size_t)1 << 20); /* four blocks, several parts */
	sort_with(4096);            /* less than a block, hundreds of parts */
}

static void test_limits(void)
{
	struct wti_sorter *sorter;
	struct wt_err err = {0};

	REQUIRE(!wti_sorter_open("/tmp", 0, &sorter, NULL));
	CHECK(wti_sorter_add(sorter, WTI_SORTED_BYTES_MAX));
	CHECK(!wti_sorter_add(sorter, WTI_SORTED_BYTES_MAX + 1));
	CHECK_INT(wti_sorter_finish(sorter, &err), WT_E_LIMIT);
	wti_sorter_free(sorter);
	REQUIRE(!wti_sorter_open("/tmp", 0, &sorter, NULL));
	CHECK_INT(wti_sorter_finish(sorter, NULL), 0);
	CHECK(!wti_sorter_next(sorter));
	wti_sorter_free(sorter);
}

static const struct test tests[] = {
	{"memory", test_memory},
	{"file", test_file},
	{"limits", test_limits},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
