/* SPDX-License-Identifier: Apache-2.0 */
/* Unions and concurrency against counting every moment. */
#include <stdlib.h>

#include "inspect/time/busy.h"
#include "inspect/time/concurrency.h"
#include "test.h"

#define MOMENTS 5000

struct brute {
	int open[MOMENTS];
};

static uint64_t state = 0x9e3779b97f4a7c15ull;

static unsigned random_below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % limit);
}

static void brute_add(struct brute *brute, int from, int to)
{
	for (int i = from; i < to; i++)
		brute->open[i]++;
}

static uint64_t brute_busy(const struct brute *brute, int from, int to)
{
	uint64_t busy = 0;

	for (int i = from; i < to; i++)
		busy += brute->open[i] > 0;
	return busy;
}

static void compare_busy(const struct wti_busy *busy, const struct brute *brute, int offset)
{
	CHECK_INT(busy->busy_ns, brute_busy(brute, 0, MOMENTS));
	CHECK_INT(busy->clipped_count, 0);
	for (int i = 0; i < 20; i++) {
		int from = (int)random_below(MOMENTS), to = (int)random_below(MOMENTS);
		/* Whole parts are exact; offsets beyond their borders are not asked for. */
		int part = (int)busy->part_ns;
		int origin = (int)(busy->parts_from_ns - offset);

		from = origin + (from - origin) / part * part;
		to = origin + (to - origin) / part * part;
		if (from < 0 || from >= to || to > MOMENTS)
			continue;
		CHECK_INT(wti_busy_between(busy, from + offset, to + offset),
			  brute_busy(brute, from, to));
	}
}

static void test_random(void)
{
	for (int round = 0; round < 200; round++) {
		int offset = round % 3 ? -2500 : 1000000;
		struct brute brute = {0};
		struct wti_busy busy;
		struct wti_concurrency concurrency;
		int max = 0;

		REQUIRE(!wti_busy_init(&busy, 1 << 14, INT64_MIN, INT64_MAX));
		wti_concurrency_init(&concurrency, 1 << 14);
		for (unsigned i = random_below(300); i; i--) {
			int from = (int)random_below(MOMENTS);
			int to = from + (int)random_below(round % 2 ? 20 : 400);

			to = to > MOMENTS ? MOMENTS : to;
			brute_add(&brute, from, to);
			REQUIRE(!wti_busy_add(&busy, from + offset, to + offset));
			REQUIRE(!wti_concurrency_add(&concurrency, from + offset, to + offset));
		}
		wti_busy_settle(&busy);
		wti_concurrency_finish(&concurrency);
		compare_busy(&busy, &brute, offset);
		for (int i = 0; i < MOMENTS; i++)
			max = brute.open[i] > max ? brute.open[i] : max;
		CHECK_INT(concurrency.max, max);
		CHECK_INT(concurrency.late_count, 0);
		if (max)
			CHECK_INT(brute.open[concurrency.max_at_ns - offset], max);
		wti_busy_release(&busy);
		wti_concurrency_release(&concurrency);
	}
}

static void test_window(void)
{
	struct wti_busy busy;

	REQUIRE(!wti_busy_init(&busy, 100, 100, 200));
	CHECK_INT(wti_busy_add(&busy, 0, 50), 0);
	CHECK_INT(wti_busy_add(&busy, 50, 120), 0);
	CHECK_INT(wti_busy_add(&busy, 110, 130), 0);
	CHECK_INT(wti_busy_add(&busy, 190, 900), 0);
	CHECK_INT(wti_busy_add(&busy, 150, 150), 0);
	CHECK_INT(wti_busy_add(&busy, 160, 140), 0);
	wti_busy_settle(&busy);
	CHECK_INT(busy.busy_ns, 40);
	CHECK_INT(busy.first_ns, 100);
	CHECK_INT(busy.last_ns, 200);
	wti_busy_release(&busy);
}

/* More gaps than may be kept: in order nothing is clipped, and what comes too late is counted. */
static void test_ceiling(void)
{
	struct wti_concurrency concurrency;
	struct wti_busy busy;

	REQUIRE(!wti_busy_init(&busy, 64, INT64_MIN, INT64_MAX));
	wti_concurrency_init(&concurrency, 64);
	for (int i = 0; i < 100000; i++) {
		REQUIRE(!wti_busy_add(&busy, i * 10, i * 10 + 4));
		REQUIRE(!wti_concurrency_add(&concurrency, i * 10, i * 10 + 4));
	}
	CHECK(busy.capacity <= 128 && concurrency.capacity <= 64);
	CHECK_INT(busy.clipped_count, 0);
	CHECK_INT(concurrency.late_count, 0);
	CHECK_INT(wti_busy_add(&busy, 0, 2000000), 0);
	CHECK_INT(wti_concurrency_add(&concurrency, 0, 2000000), 0);
	CHECK_INT(busy.clipped_count, 1);
	CHECK_INT(concurrency.late_count, 1);
	wti_busy_settle(&busy);
	wti_concurrency_finish(&concurrency);
	CHECK(busy.busy_ns > 400000 + 1000000 && busy.busy_ns < 2000000);
	CHECK_INT(concurrency.max, 2);
	wti_busy_release(&busy);
	wti_concurrency_release(&concurrency);
}

/* Times that only a damaged trace has. */
static void test_extremes(void)
{
	struct wti_busy busy;

	REQUIRE(!wti_busy_init(&busy, 64, INT64_MIN, INT64_MAX));
	CHECK_INT(wti_busy_add(&busy, INT64_MIN, INT64_MIN + 5), 0);
	CHECK_INT(wti_busy_add(&busy, INT64_MAX - 5, INT64_MAX), 0);
	CHECK_INT(wti_busy_add(&busy, 5, 6), 0);
	CHECK_INT(wti_busy_add(&busy, INT64_MIN, INT64_MAX), 0);
	wti_busy_settle(&busy);
	CHECK_INT(busy.busy_ns, 1ll << 62);
	wti_busy_release(&busy);
}

static const struct test tests[] = {
	{"random", test_random},
	{"window", test_window},
	{"ceiling", test_ceiling},
	{"extremes", test_extremes},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
