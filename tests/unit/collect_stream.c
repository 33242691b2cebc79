/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream could not write is counted to the last event, wherever the room ends. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "collect/clock.h"
#include "collect/streams.h"
#include "records.h"

#define ROUNDS 40
#define MARKS 500
#define CEILING_BYTES 100000u
#define SECONDS 2000u
#define PROGRAM 1000000u
#define PROCESSES 10010u /* more than four digits can number */

static char folder[] = "/tmp/wheeltap-stream-XXXXXX";
static struct wti_recording_clock clock_now;

/* Nothing that a difference to the last one, or a factor, gives away. */
static uint64_t scatter(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15u;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	return n ^ n >> 27;
}

/* Marks whose values do not compress, so that blocks have some size. */
static struct wti_run_of_records make_run(uint64_t first)
{
	static struct wti_record_mark marks[MARKS];
	struct wti_run_of_records run = {.track = 1,
					 .count = MARKS,
					 .first_seq = first,
					 .data = (const uint8_t *)marks,
					 .bytes = sizeof(marks)};

	for (uint64_t i = 0; i < MARKS; i++)
		marks[i] =
			(struct wti_record_mark){.record = {.kind = WT_KIND_MARK,
							    .units = sizeof(*marks) / 8,
							    .ticks = wti_clock_ticks(&clock_now)},
						 .value = scatter(first + i)};
	run.last_ticks = marks[MARKS - 1].record.ticks;
	return run;
}

static void give(struct wti_stream *stream, uint64_t first)
{
	struct wti_run_of_records run = make_run(first);

	wti_stream_records(stream, &run);
}

static void lose(struct wti_stream *stream)
{
	struct wti_loss loss = {.track = 1, .reason = WT_LOST_RING_FULL, .count = 1};

	wti_stream_lost(stream, &loss);
}

/* The recorder's own events are between the program's, flushed with them and not. */
static void fill(struct wti_stream *stream)
{
	for (uint64_t i = 0; i < ROUNDS; i++) {
		give(stream, i * MARKS);
		if (i % 3 == 1)
			wti_stream_clock(stream);
		if (i % 4 == 2)
			lose(stream);
		if (i % 5 == 4)
			wti_stream_flush(stream);
	}
}

/* Events of a kind; and the sum of what stands in a field of them. */
static void count_events(const char *path, const char *kind, int field, uint64_t *ret_count,
			 uint64_t *ret_sum)
{
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_query query;
	struct wt_event event;
	struct wt_err err;

	*ret_count = *ret_sum = 0;
	wt_query_init(&query);
	query.kinds = &kind;
	query.kind_count = 1;
	REQUIRE(!wt_trace_open(path, &trace, &err));
	REQUIRE(!wt_cursor_open(trace, &query, &cursor, &err));
	while (wt_cursor_next(cursor, &event, &err) > 0) {
		++*ret_count;
		*ret_sum += wt_event_u64(&event, field);
	}
	wt_cursor_free(cursor);
	wt_trace_free(trace);
}

static void test_each_ceiling(void)
{
	uint64_t cut = 0, written, values;

	for (uint64_t bytes = 600; bytes < 200000; bytes += 1 + bytes / 24) {
		struct wti_stream stream = {
			.folder = folder, .clock = &clock_now, .bytes_max = bytes};
		struct wt_err err;

		if (wti_stream_open(&stream, &err))
			continue;
		fill(&stream);
		wti_stream_close(&stream, WTI_STREAM_DONE);
		count_events(stream.path, "mark", WT_MARK_FIELD_VALUE, &written, &values);
		CHECK_INT(written + stream.unwritten, ROUNDS * MARKS);
		cut += stream.unwritten != 0;
		wti_stream_release(&stream);
		unlink(stream.path);
	}
	CHECK(cut > 20); /* most of the ceilings were met */
}

/* Streams in turn, until well after the ceiling; what they have on disk, and events of it. */
static void fill_to(uint64_t bytes_max, uint32_t count, uint64_t *ret_bytes, uint64_t *ret_events)
{
	struct wti_streams_options options = {
		.folder = folder, .folder_fd = -1, .clock = &clock_now, .bytes_max = bytes_max};
	struct wti_streams streams;
	void *each[8];
	struct wt_err err;

	REQUIRE(!wti_streams_init(&streams, &options, &err));
	for (uint32_t i = 0; i < count; i++) {
		struct wti_recorded_source source = {.number = i + 1};

		each[i] = streams.sink.begin(streams.sink.self, &source);
	}
	for (uint64_t round = 0; round < 400; round++) {
		struct wti_run_of_records run = make_run(round / count * MARKS);

		streams.sink.records(streams.sink.self, each[round % count], &run);
		wti_streams_limit(&streams);
	}
	wti_streams_finish(&streams);
	*ret_events = wti_streams_events(&streams);
	*ret_bytes = wti_streams_bytes(&streams);
	wti_streams_remove(&streams);
	wti_streams_release(&streams);
}

/* Most of the room is used, never more than all of it, and more room holds more events. */
static void test_room_is_used(void)
{
	static const uint32_t counts[] = {1, 3, 8};

	for (size_t i = 0; i < WTI_COUNT(counts); i++) {
		uint64_t before = 0, bytes, events;

		for (uint64_t max = 60000; max < 1000000; max += max / 2) {
			fill_to(max, counts[i], &bytes, &events);
			CHECK(bytes <= max);
			CHECK(bytes >= max / 10 * 7);
			CHECK(events > before);
			before = events;
		}
	}
}

/* A run of one process, which ends before anybody looks at the ceiling; whether its end met that.
 */
static void end_near_ceiling(uint64_t bytes_max, uint64_t *met)
{
	struct wti_streams_options options = {
		.folder = folder, .folder_fd = -1, .clock = &clock_now, .bytes_max = bytes_max};
	struct wti_recorded_source source = {.number = 1};
	struct wti_run_of_records run = make_run(0);
	uint64_t lost[WT_LOST_DEVICE + 1], notes, codes;
	struct wti_streams streams;
	struct wti_stream *stream;
	struct wt_err err;
	bool was_open, at_ceiling;

	REQUIRE(!wti_streams_init(&streams, &options, &err));
	wti_streams_limit(&streams);
	stream = streams.sink.begin(streams.sink.self, &source);
	streams.sink.records(streams.sink.self, stream, &run);
	was_open = stream->writer != NULL;
	streams.sink.end(streams.sink.self, stream);
	wti_streams_finish(&streams);
	at_ceiling = stream->end == WTI_STREAM_CEILING; /* maybe for a clock snapshot alone */
	wti_streams_losses(&streams, lost);
	count_events(streams.own->path, "note", WT_NOTE_FIELD_CODE, &notes, &codes);
	CHECK_INT(lost[WT_LOST_DISK], 0);
	CHECK_INT(lost[WT_LOST_CEILING], stream->unwritten);
	CHECK_INT(notes, at_ceiling);
	CHECK_INT(codes, at_ceiling ? WT_NOTE_CEILING : 0);
	CHECK(!strstr(streams.why, "ceiling") == !at_ceiling);
	CHECK(at_ceiling || !stream->unwritten);
	*met += was_open && stream->unwritten;
	wti_streams_remove(&streams);
	wti_streams_release(&streams);
}

/* The last flush of a process may be the one that does not fit; the disk has nothing to do with it.
 */
static void test_ceiling_at_the_end(void)
{
	uint64_t met = 0;

	for (uint64_t bytes = 4000; bytes < 16000; bytes += 32)
		end_near_ceiling(bytes, &met);
	CHECK(met > 0);
}

/* One process, until no more of it can be written. */
static void fill_until_ceiling(struct wti_streams *ret_streams, uint64_t bytes_max)
{
	struct wti_streams_options options = {
		.folder = folder, .folder_fd = -1, .clock = &clock_now, .bytes_max = bytes_max};
	struct wti_recorded_source source = {.number = 1};
	struct wt_err err;
	void *stream;

	REQUIRE(!wti_streams_init(ret_streams, &options, &err));
	stream = ret_streams->sink.begin(ret_streams->sink.self, &source);
	for (uint64_t i = 0; i < 400; i++) {
		struct wti_run_of_records run = make_run(i * MARKS);

		ret_streams->sink.records(ret_streams->sink.self, stream, &run);
		wti_streams_limit(ret_streams);
	}
	CHECK_INT(ret_streams->end, WTI_STREAM_CEILING);
}

/* Two processes a second, one of them recorded, until long after the ceiling. */
static void test_nothing_grows_after_ceiling(void)
{
	struct wti_streams streams;
	uint64_t found, sum;

	fill_until_ceiling(&streams, CEILING_BYTES);
	for (uint32_t i = 1; i <= SECONDS; i++) {
		wti_streams_not_followed(&streams, i, WT_NOT_FOLLOWED_NO_AGENT, "sleep");
		wti_streams_exit(&streams, i, 0);
		wti_streams_tick(&streams, streams.ticked_ns + 1000000000u);
	}
	wti_streams_exit(&streams, PROGRAM, 0);
	wti_streams_finish(&streams);
	CHECK(wti_streams_bytes(&streams) <= CEILING_BYTES);
	count_events(streams.own->path, "note", WT_NOTE_FIELD_CODE, &found, &sum);
	CHECK_INT(found, 1);
	count_events(streams.own->path, "lost", WT_LOST_FIELD_COUNT, &found, &sum);
	CHECK_INT(sum, streams.all[0]->unwritten);
	count_events(streams.own->path, "exit", WT_EXIT_FIELD_PID, &found, &sum);
	CHECK_INT(found, SECONDS + 1);
	CHECK_INT(sum, SECONDS * (SECONDS + 1) / 2 + PROGRAM);
	wti_streams_remove(&streams);
	wti_streams_release(&streams);
}

/* Whatever the recorder has to say, its own stream ends before it takes more than there is. */
static void test_words_have_a_ceiling(void)
{
	static const uint64_t ceilings[] = {16 << 10, 17000, 25000, CEILING_BYTES, 1 << 20};

	for (size_t i = 0; i < WTI_COUNT(ceilings); i++) {
		struct wti_streams streams;
		uint64_t notes, codes;

		fill_until_ceiling(&streams, ceilings[i]);
		for (uint64_t n = 0; n < 100000; n++) {
			char text[32];

			snprintf(text, sizeof(text), "%llx", (unsigned long long)scatter(n));
			wti_streams_note(&streams, WT_NOTE_INFO, text);
		}
		wti_streams_finish(&streams);
		CHECK(wti_streams_bytes(&streams) <= ceilings[i]);
		count_events(streams.own->path, "note", WT_NOTE_FIELD_CODE, &notes, &codes);
		CHECK_INT(notes, 1);
		CHECK_INT(codes, WT_NOTE_CEILING);
		wti_streams_remove(&streams);
		wti_streams_release(&streams);
	}
}

/* One process after another; all of them have a stream, and no two of them the same. */
static void test_five_digits(void)
{
	struct wti_streams_options options = {
		.folder = folder, .folder_fd = -1, .clock = &clock_now};
	struct wti_streams streams;
	struct wt_err err;
	uint64_t missing = 0;
	char path[64];

	REQUIRE(!wti_streams_init(&streams, &options, &err));
	for (uint32_t i = 1; i <= PROCESSES; i++) {
		struct wti_recorded_source source = {.number = i};
		void *stream = streams.sink.begin(streams.sink.self, &source);

		missing += !stream;
		streams.sink.end(streams.sink.self, stream);
	}
	CHECK_INT(missing, 0);
	CHECK_INT(streams.count, PROCESSES);
	snprintf(path, sizeof(path), "%s/%u.wt", folder, PROCESSES);
	CHECK(!access(path, R_OK));
	wti_streams_finish(&streams);
	wti_streams_remove(&streams);
	wti_streams_release(&streams);
}

static const struct test tests[] = {
	{"each_ceiling", test_each_ceiling},
	{"room_is_used", test_room_is_used},
	{"ceiling_at_the_end", test_ceiling_at_the_end},
	{"nothing_grows_after_ceiling", test_nothing_grows_after_ceiling},
	{"words_have_a_ceiling", test_words_have_a_ceiling},
	{"five_digits", test_five_digits},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int r;

	wti_clock_init(&clock_now);
	if (!mkdtemp(folder))
		return 1;
	r = test_main(tests, argc, argv);
	rmdir(folder);
	return r;
}
