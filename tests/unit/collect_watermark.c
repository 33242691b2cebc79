/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing arrives from before the watermark, however hard the producers try. */
#include "test.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "collect/drain.h"
#include "collect/watermark.h"
#include "rings.h"

#define PRODUCERS 4
#define LAST_NS 500000000u

static struct {
	uint64_t watermark;
	uint64_t count;
	uint64_t too_late;
} seen;

static _Atomic bool over;

static void *begin(void *self, const struct wti_recorded_source *source)
{
	return self;
}

static void define(void *self, void *stream, const struct wti_definition_view *definition)
{
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	const uint8_t *at = run->data;

	for (uint32_t i = 0; i < run->count; i++) {
		const struct wti_record *record = (const void *)at;

		seen.too_late += record->ticks < seen.watermark;
		at += record->units * 8u;
	}
	seen.count += run->count;
}

static void lost(void *self, void *stream, const struct wti_loss *loss)
{
}

static void end(void *self, void *stream)
{
}

static void *produce(void *argument)
{
	struct wti_ring *ring = argument;

	for (uint64_t i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++) {
		rings_emit(ring, i);
		if (i % 1000 == 999) /* quiet for a while: an old last time */
			usleep(50);
	}
	return NULL;
}

static void test_nothing_too_late(void)
{
	struct wti_sink sink = {NULL, begin, define, records, lost, end, NULL};
	struct wti_process process = {.pidfd = -1, .definition_id_max = 1000};
	struct wti_ring *rings[PRODUCERS];
	struct wti_watermark watermark;
	struct wti_recording_clock clock;
	struct wti_drain drain;
	pthread_t threads[PRODUCERS];
	bool registered = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	uint64_t advances = 0, rounds = 0, before = 0;

	wti_clock_init(&clock);
	wti_watermark_init(&watermark);
	REQUIRE(!wti_drain_init(&drain, clock.domain));
	wti_drain_add_sink(&drain, &sink);
	for (uint32_t i = 0; i < PRODUCERS; i++) {
		rings[i] = rings_make(&process, i + 1, WTI_RING_MIN_BYTES);
		rings[i]->flags = clock.ring_flags;
		process.rings[i].flags = clock.ring_flags | (registered ? 2 : 0);
		pthread_create(&threads[i], NULL, produce, rings[i]);
	}
	for (uint64_t until = wti_clock_ns(CLOCK_MONOTONIC) + LAST_NS;
	     wti_clock_ns(CLOCK_MONOTONIC) < until; rounds++) {
		wti_watermark_begin(&watermark, &clock);
		wti_watermark_consider(&watermark, &process);
		wti_drain_look(&process);
		wti_drain_take(&drain, &process);
		seen.watermark = wti_watermark_reach(&watermark);
		advances += seen.watermark > before;
		before = seen.watermark;
	}
	atomic_store(&over, true);
	for (uint32_t i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	wti_drain_look(&process);
	wti_drain_take(&drain, &process);
	CHECK_INT(seen.too_late, 0);
	CHECK(seen.count > 10000);
	CHECK(advances > rounds / 100);
	printf("# %llu events, %llu rounds, %llu advances, barrier %d\n",
	       (unsigned long long)seen.count, (unsigned long long)rounds,
	       (unsigned long long)advances, watermark.barrier);
	wti_process_release(&process);
	wti_drain_release(&drain);
	for (uint32_t i = 0; i < PRODUCERS; i++)
		rings_free(rings[i]);
}

static const struct test tests[] = {
	{"nothing_too_late", test_nothing_too_late},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
