/* SPDX-License-Identifier: Apache-2.0 */
/* The merge of a run's streams: whatever memory it has, the same rows in the same order. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include <xxhash.h>

#include <wheeltap/trace.h>

#include "trace/query.h"

enum { STREAMS = 3, TRACKS = 4, ROWS = 3000, FEW = 7 };

static char folder[64];

static void write_stream(int number)
{
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	uint64_t seq[TRACKS + 1] = {0};
	char path[128], text[64];

	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 100 + (uint32_t)number;
	snprintf(path, sizeof(path), "%s/%04d.wt", folder, number);
	REQUIRE(!wt_writer_create(path, &options, &writer, NULL));
	for (uint32_t i = 1; i <= TRACKS; i++)
		CHECK(!wt_writer_track(writer,
				       &(struct wt_track){i, WT_TRACK_THREAD, i, 0, "t", 1}));
	/* Track by track, so that each block has several runs to be sorted; some at the same time.
	 */
	for (uint64_t i = 0; i < ROWS; i++) {
		uint32_t track = 1 + (uint32_t)(i / (ROWS / TRACKS / 4)) % TRACKS;
		uint64_t time = 1000000 + seq[track] * 50 + (i % 7 ? 0 : (uint64_t)number);
		uint64_t mark[3] = {0, 0, i}, log[2] = {i % 5, 0};
		int bytes =
			snprintf(text, sizeof(text), "%d:%llu%.*s", number, (unsigned long long)i,
				 (int)(i % 40), "........................................");

		if (i % 3)
			CHECK(!wt_writer_append(writer, WT_KIND_MARK, track, seq[track]++, time,
						mark, 3, NULL));
		else
			CHECK(!wt_writer_append(writer, WT_KIND_LOG, track, seq[track]++, time, log,
						2, &(struct wt_text){text, (size_t)bytes}));
		if (i % 700 == 699)
			CHECK(!wt_writer_flush(writer, NULL));
	}
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
}

static struct wt_trace *open_run(void)
{
	struct wt_trace *trace = NULL;

	snprintf(folder, sizeof(folder), "/tmp/wheeltap-unit-XXXXXX");
	CHECK(mkdtemp(folder));
	for (int i = 0; i < STREAMS; i++)
		write_stream(i);
	CHECK(!wt_trace_open(folder, &trace, NULL));
	return trace;
}

static void close_run(struct wt_trace *trace)
{
	char command[128];

	wt_trace_free(trace);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK(!system(command));
}

/* The recorder numbers streams with four digits as long as these are enough. */
static void test_five_digits(void)
{
	static const char *const names[] = {"0000",  "0001.000002",  "9999",
					    "10000", "12345.000001", "syscalls"};
	struct wt_trace *trace = NULL;
	char from[128], to[128];

	snprintf(folder, sizeof(folder), "/tmp/wheeltap-unit-XXXXXX");
	CHECK(mkdtemp(folder));
	write_stream(0);
	snprintf(from, sizeof(from), "%s/0000.wt", folder);
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(to, sizeof(to), "%s/%s.wt", folder, names[i]);
		CHECK(!link(from, to));
	}
	CHECK(!wt_trace_open(folder, &trace, NULL));
	REQUIRE(wt_trace_stream_count(trace) == sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(to, sizeof(to), "%s/%s.wt", folder, names[i]);
		CHECK_TEXT(wt_reader_path(wt_trace_stream(trace, i)), to);
	}
	CHECK_INT(wt_trace_refresh(trace, NULL), 0); /* none of them once more */
	close_run(trace);
}

/* Everything that can be asked about a row. */
static uint64_t hash_event(const struct wt_event *event, uint64_t hash)
{
	const uint64_t where[] = {event->stream,
				  event->track,
				  event->seq,
				  event->ticks,
				  (uint64_t)event->time_ns,
				  event->kind->number};

	hash = XXH3_64bits_withSeed(where, sizeof(where), hash);
	for (int i = 0; i < event->kind->field_count; i++) {
		uint64_t value = wt_event_u64(event, i);
		struct wt_text text = wt_event_text(event, i);

		hash = XXH3_64bits_withSeed(&value, sizeof(value), hash);
		hash = XXH3_64bits_withSeed(text.data, text.bytes, hash);
	}
	return hash;
}

static struct wt_cursor *open_cursor(const struct wt_trace *trace, const struct wt_query *query,
				     size_t whole_bytes, size_t parts_bytes)
{
	struct wt_cursor *cursor = NULL;

	CHECK(!wt_cursor_open(trace, query, &cursor, NULL));
	if (whole_bytes != SIZE_MAX)
		wti_cursor_bound(cursor, whole_bytes, parts_bytes);
	return cursor;
}

static uint64_t read_rows(struct wt_cursor *cursor, size_t *ret_rows)
{
	struct wt_event event;
	uint64_t hash = 0;
	int more;

	for (*ret_rows = 0; (more = wt_cursor_next(cursor, &event, NULL)) > 0; ++*ret_rows)
		hash = hash_event(&event, hash);
	CHECK_INT(more, 0);
	wt_cursor_free(cursor);
	return hash;
}

/* The same in runs of rows of one block, all of which are there until the next call. */
static uint64_t read_runs(struct wt_cursor *cursor, size_t *ret_rows)
{
	uint32_t rows[100];
	int64_t times_ns[100];
	struct wt_event event;
	uint64_t hash = 0;
	int count;

	*ret_rows = 0;
	while ((count = wt_cursor_rows(cursor, 100, &event, rows, times_ns, NULL)) > 0) {
		for (int i = 0; i < count; i++, ++*ret_rows) {
			event.row = rows[i];
			event.track = (uint32_t)event.batch->track[rows[i]];
			event.seq = event.batch->seq[rows[i]];
			event.ticks = event.batch->time[rows[i]];
			event.time_ns = times_ns[i];
			hash = hash_event(&event, hash);
		}
	}
	CHECK_INT(count, 0);
	wt_cursor_free(cursor);
	return hash;
}

/* Nothing but keys; a row or two; some blocks as a whole and some in parts. */
static const size_t ceilings[][2] = {{0, 0},        {0, 4000},       {0, 100000},
				     {300000, 500}, {600000, 50000}, {SIZE_MAX - 1, 0}};

static void compare(const struct wt_trace *trace, const struct wt_query *query, size_t expected)
{
	size_t rows;
	uint64_t hash = read_rows(open_cursor(trace, query, SIZE_MAX, 0), &rows);

	CHECK_INT(rows, expected);
	for (size_t i = 0; i < sizeof(ceilings) / sizeof(*ceilings); i++) {
		size_t whole = ceilings[i][0], parts = ceilings[i][1];

		CHECK(read_rows(open_cursor(trace, query, whole, parts), &rows) == hash);
		CHECK_INT(rows, expected);
		CHECK(read_runs(open_cursor(trace, query, whole, parts), &rows) == hash);
		CHECK_INT(rows, expected);
	}
}

static void test_all(void)
{
	struct wt_trace *trace = open_run();

	compare(trace, NULL, STREAMS * ROWS);
	close_run(trace);
}

static void test_some(void)
{
	struct wt_trace *trace = open_run();
	static const char *const kinds[] = {"log"};
	struct wt_query query;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = 1;
	compare(trace, &query, STREAMS * ROWS / 3);
	query.fields = 1; /* without the text */
	query.track = "2:3";
	compare(trace, &query, 249); /* a quarter of a third, and it does not come out even */
	close_run(trace);
}

/* Blocks in parts are decoded again and again: a test that has none tests nothing. */
static void test_in_parts(void)
{
	struct wt_trace *trace = open_run();
	uint64_t skipped, once, often;
	struct wt_cursor *cursor = open_cursor(trace, NULL, SIZE_MAX, 0);
	struct wt_event event;

	while (wt_cursor_next(cursor, &event, NULL) > 0)
		;
	wt_cursor_cost(cursor, &skipped, &once);
	wt_cursor_free(cursor);
	cursor = open_cursor(trace, NULL, 0, 4000);
	while (wt_cursor_next(cursor, &event, NULL) > 0)
		;
	wt_cursor_cost(cursor, &skipped, &often);
	wt_cursor_free(cursor);
	CHECK(once && often > 3 * once);
	close_run(trace);
}

/* Leaving in the middle frees everything: the sanitizers look. */
static void test_left_early(void)
{
	struct wt_trace *trace = open_run();

	for (size_t i = 0; i < sizeof(ceilings) / sizeof(*ceilings); i++) {
		struct wt_cursor *cursor = open_cursor(trace, NULL, ceilings[i][0], ceilings[i][1]);
		struct wt_event event;

		for (int j = 0; j < FEW; j++)
			CHECK_INT(wt_cursor_next(cursor, &event, NULL), 1);
		wt_cursor_free(cursor);
	}
	close_run(trace);
}

static const struct test tests[] = {
	{"all", test_all},
	{"some", test_some},
	{"in_parts", test_in_parts},
	{"left_early", test_left_early},
	{"five_digits", test_five_digits},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
