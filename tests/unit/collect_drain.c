/* SPDX-License-Identifier: Apache-2.0 */
/* From rings to a sink: order, losses to the last event, and memory that cannot be believed. */
#include "test.h"

#include "collect/drain.h"
#include "rings.h"

#define RING_BYTES WTI_RING_MIN_BYTES
#define ROOM (RING_BYTES / sizeof(struct wti_record_mark))

static struct {
	uint64_t count;
	uint64_t next_value; /* marks with values that count up */
	uint64_t out_of_order;
	uint64_t next_seq;
	uint64_t lost[WT_LOST_GAP + 1];
	struct wti_loss last_loss;
	uint32_t definitions;
	uint32_t ended;
} seen;

static void *begin(void *self, const struct wti_recorded_source *source)
{
	return self;
}

static void define(void *self, void *stream, const struct wti_definition_view *definition)
{
	seen.definitions++;
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	const uint8_t *at = run->data;

	seen.out_of_order += run->first_seq != seen.next_seq;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct wti_record_mark *mark = (const void *)at;

		seen.out_of_order += mark->value < seen.next_value;
		seen.next_value = mark->value + 1;
		at += mark->record.units * 8u;
	}
	seen.count += run->count;
	seen.next_seq = run->first_seq + run->count;
}

static void lost(void *self, void *stream, const struct wti_loss *loss)
{
	seen.lost[loss->reason] += loss->count;
	seen.last_loss = *loss;
	if (loss->last)
		seen.next_seq = loss->last + 1;
}

static void end(void *self, void *stream)
{
	seen.ended++;
}

static struct wti_sink sink = {&seen, begin, define, records, lost, end, NULL};
static struct wti_drain drain;
static struct wti_process process;
static struct wti_ring *ring;

static void set_up(void)
{
	memset(&seen, 0, sizeof(seen));
	process = (struct wti_process){.pidfd = -1, .definition_id_max = 1000};
	CHECK_INT(wti_drain_init(&drain, WT_CLOCK_TSC), 0);
	wti_drain_add_sink(&drain, &sink);
	ring = rings_make(&process, 1, RING_BYTES);
}

static void drain_once(void)
{
	wti_drain_look(&process);
	wti_drain_take(&drain, &process);
}

static void tear_down(void)
{
	wti_process_release(&process);
	wti_drain_release(&drain);
	rings_free(ring);
}

static void test_in_order(void)
{
	uint64_t value = 0;

	set_up();
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < round % 300; i++)
			CHECK(rings_emit(ring, value++));
		drain_once();
		CHECK_INT(seen.count, value);
	}
	wti_drain_reap(&drain, &process, true);
	CHECK_INT(seen.out_of_order, 0);
	CHECK_INT(seen.ended, 1);
	tear_down();
}

static void test_full_ring_is_a_counted_gap(void)
{
	set_up();
	for (uint64_t i = 0; i < ROOM + 7; i++)
		CHECK(rings_emit(ring, i) == (i < ROOM));
	drain_once();
	CHECK_INT(seen.count, ROOM);
	CHECK_INT(seen.lost[WT_LOST_RING_FULL], 0); /* not known before something follows */
	CHECK(rings_emit(ring, ROOM + 7));
	drain_once();
	CHECK_INT(seen.lost[WT_LOST_RING_FULL], 7);
	CHECK_INT(seen.last_loss.first, ROOM);
	CHECK_INT(seen.last_loss.last, ROOM + 6);
	CHECK_INT(seen.last_loss.track, 1);
	CHECK(seen.last_loss.from <= seen.last_loss.to && seen.last_loss.from);
	CHECK_INT(seen.out_of_order, 0);
	tear_down();
}

static void test_loss_at_the_end_is_told_at_the_end(void)
{
	set_up();
	for (uint64_t i = 0; i < ROOM + 5; i++)
		rings_emit(ring, i);
	drain_once();
	wti_drain_reap(&drain, &process, true);
	CHECK_INT(seen.lost[WT_LOST_RING_FULL], 5);
	CHECK_INT(seen.count, ROOM);
	tear_down();
}

static void test_killed_while_writing(void)
{
	set_up();
	rings_emit(ring, 0);
	CHECK(wti_ring_enter(ring));
	wti_ring_reserve(ring, WT_KIND_MARK, sizeof(struct wti_record_mark));
	/* Here it dies. */
	drain_once();
	wti_drain_reap(&drain, &process, true);
	CHECK_INT(seen.count, 1);
	for (int reason = 0; reason <= WT_LOST_GAP; reason++)
		CHECK_INT(seen.lost[reason], 0);
	tear_down();
}

static void test_hole_nobody_knows_of(void)
{
	set_up();
	rings_emit(ring, 0);
	atomic_fetch_add(&ring->next_seq, 3);
	rings_emit(ring, 1);
	drain_once();
	CHECK_INT(seen.lost[WT_LOST_GAP], 3);
	CHECK_INT(seen.count, 2);
	tear_down();
}

static void test_handlers_events(void)
{
	set_up();
	CHECK(wti_ring_enter(ring));
	CHECK(!rings_emit(ring, 1)); /* as from a signal handler */
	wti_ring_leave(ring);
	drain_once();
	wti_drain_reap(&drain, &process, true);
	CHECK_INT(seen.lost[WT_LOST_REENTRANT], 1);
	tear_down();
}

static void test_closed_ring_is_let_go(void)
{
	set_up();
	rings_emit(ring, 0);
	atomic_store(&ring->state, WTI_RING_CLOSED);
	drain_once();
	CHECK_INT(wti_drain_reap(&drain, &process, false), WTI_RING_HEADER_BYTES + RING_BYTES);
	CHECK_INT(process.ring_count, 0);
	CHECK_INT(seen.count, 1);
	tear_down();
}

/* What it says is impossible: told once, never followed, and the program does not wait for us. */
static void damage(void (*how)(void))
{
	set_up();
	for (uint64_t i = 0; i < 10; i++)
		rings_emit(ring, i);
	drain_once();
	for (uint64_t i = 10; i < 20; i++)
		rings_emit(ring, i);
	how();
	for (int i = 0; i < 3; i++)
		drain_once();
	wti_drain_reap(&drain, &process, true);
	CHECK(seen.count >= 10 && seen.count <= 20);
	CHECK(seen.lost[WT_LOST_DAMAGED] >= 1);
	CHECK_INT(seen.out_of_order, 0);
	tear_down();
}

static void head_goes_back(void)
{
	atomic_store(&ring->head, 8);
}

static void head_is_far(void)
{
	atomic_store(&ring->head, 1ull << 40);
}

static void head_is_odd(void)
{
	atomic_fetch_add(&ring->head, 3);
}

static struct wti_record *record_at(unsigned index)
{
	return (void *)(wti_ring_data(ring) + index * sizeof(struct wti_record_mark));
}

static void record_has_no_size(void)
{
	record_at(15)->units = 0;
}

static void record_goes_past_the_head(void)
{
	record_at(19)->units = 1000;
}

static void sequence_goes_back(void)
{
	record_at(15)->seq = 3;
}

static void test_damage(void)
{
	damage(head_goes_back);
	damage(head_is_far);
	damage(head_is_odd);
	damage(record_has_no_size);
	damage(record_goes_past_the_head);
	damage(sequence_goes_back);
}

static void test_time_never_goes_back(void)
{
	set_up();
	rings_emit(ring, 0);
	rings_emit(ring, 1);
	record_at(1)->ticks = 5; /* another core's counter */
	drain_once();
	CHECK_INT(seen.count, 2);
	CHECK_INT(process.rings[0].last_ticks, record_at(0)->ticks);
	tear_down();
}

static int make_chunk(uint32_t magic, size_t bytes, int seals)
{
	int fd = memfd_create("chunk", MFD_CLOEXEC | (seals ? MFD_ALLOW_SEALING : 0));
	struct wti_chunk chunk = {.magic = magic, .bytes = bytes};

	if (fd < 0 || ftruncate(fd, (off_t)bytes) || pwrite(fd, &chunk, sizeof(chunk), 0) < 0)
		abort();
	return fd;
}

static void put_definition(int fd, size_t at, struct wti_definition definition)
{
	if (pwrite(fd, &definition, sizeof(definition), (off_t)at) < 0)
		abort();
}

static void test_definitions(void)
{
	struct wti_definition good = {24, WTI_DEF_STRING, 3, 1, 0};
	struct wti_definition bad[] = {
		{20, WTI_DEF_STRING, 3, 2, 0},  /* not a multiple of 8 */
		{8, WTI_DEF_STRING, 0, 2, 0},   /* less than its header */
		{24, WTI_DEF_STRING, 90, 2, 0}, /* a payload longer than itself */
		{8192, WTI_DEF_STRING, 3, 2, 0} /* past the end */,
		{24, WTI_DEF_STRING, 3, 0, 0},    /* no number */
		{24, WTI_DEF_STRING, 3, 5000, 0}, /* a number beyond reason */
		{24, WTI_DEF_TRACK, 8, 2, 0},     /* too short for what it is */
		{24, WTI_DEF_STACK, 7, 2, 0},     /* not addresses */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = make_chunk(WTI_CHUNK_MAGIC, 4096, 1);

		set_up();
		put_definition(fd, sizeof(struct wti_chunk), good);
		put_definition(fd, sizeof(struct wti_chunk) + 24, bad[i]);
		CHECK_INT(wti_process_add_chunk(&process, 0, fd), 0);
		drain_once();
		drain_once();
		CHECK_INT(seen.definitions, 1);
		CHECK(process.chunks[0].damaged);
		close(fd);
		tear_down();
	}
}

static void test_memory_that_is_refused(void)
{
	struct wti_message message = {.track = 2};
	int shrinkable = make_chunk(WTI_CHUNK_MAGIC, 4096, 0);
	int foreign = make_chunk(0x12345678, 4096, 1);
	int tiny = make_chunk(WTI_CHUNK_MAGIC, 40, 1);
	int no_file = open("/dev/null", O_RDONLY);

	set_up();
	if (ftruncate(tiny, 8))
		abort();
	CHECK(wti_process_add_chunk(&process, 0, shrinkable) < 0);
	CHECK(wti_process_add_chunk(&process, 0, foreign) < 0);
	CHECK(wti_process_add_chunk(&process, 0, tiny) < 0);
	CHECK(wti_process_add_chunk(&process, 0, no_file) < 0);
	CHECK(wti_process_add_chunk(&process, UINT32_MAX, foreign) < 0);
	CHECK(wti_process_add_ring(&process, &message, foreign) < 0);
	CHECK(wti_process_add_ring(&process, &message, no_file) < 0);
	CHECK_INT(process.ring_count, 1);
	close(shrinkable);
	close(foreign);
	close(tiny);
	close(no_file);
	tear_down();
}

static const struct test tests[] = {
	{"in_order", test_in_order},
	{"full_ring_is_a_counted_gap", test_full_ring_is_a_counted_gap},
	{"loss_at_the_end_is_told_at_the_end", test_loss_at_the_end_is_told_at_the_end},
	{"killed_while_writing", test_killed_while_writing},
	{"hole_nobody_knows_of", test_hole_nobody_knows_of},
	{"handlers_events", test_handlers_events},
	{"closed_ring_is_let_go", test_closed_ring_is_let_go},
	{"damage", test_damage},
	{"time_never_goes_back", test_time_never_goes_back},
	{"definitions", test_definitions},
	{"memory_that_is_refused", test_memory_that_is_refused},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
