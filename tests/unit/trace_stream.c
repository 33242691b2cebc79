/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and runs: what is written is read back, found by queries, in the defined order. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/bytes.h"

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void begin(void)
{
	snprintf(folder, sizeof(folder), "/tmp/wheeltap-unit-XXXXXX");
	REQUIRE(mkdtemp(folder));
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK(!system(command));
}

static struct wt_writer *create(const char *name, uint64_t bytes_max)
{
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	struct wt_err err = {0};

	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 42;
	options.bytes_max = bytes_max;
	CHECK(!wt_writer_create(in_folder(name), &options, &writer, &err));
	return writer;
}

static void mark(struct wt_writer *writer, uint32_t track, uint64_t seq, uint64_t time,
		 uint32_t name)
{
	uint64_t values[] = {name, 0, seq};

	CHECK(!wt_writer_append(writer, WT_KIND_MARK, track, seq, time, values, WTI_COUNT(values),
				NULL));
}

static void step(struct wt_writer *writer, uint32_t track, uint64_t seq, uint64_t time,
		 uint64_t number)
{
	uint64_t values[] = {3, WT_VALUE_TYPE_INT, number, 0};
	struct wt_text text = {"", 0};

	CHECK(!wt_writer_append(writer, WT_KIND_CONTEXT, track, seq, time, values,
				WTI_COUNT(values), &text));
}

static void define(struct wt_writer *writer)
{
	struct wt_track one = {1, WT_TRACK_THREAD, 7, 0, "main", 4};
	struct wt_track two = {2, WT_TRACK_QUEUE, 0, 1, "queue", 5};

	CHECK(!wt_writer_string(writer, 1, "forward", 7));
	CHECK(!wt_writer_string(writer, 2, "backward", 8));
	CHECK(!wt_writer_string(writer, 3, "step", 4));
	CHECK(!wt_writer_track(writer, &one));
	CHECK(!wt_writer_track(writer, &two));
}

/* 100 steps of 10 ms; in each, 10 marks on track 1 and one on track 2; written track by track. */
static void write_steps(const char *name, uint64_t offset)
{
	struct wt_writer *writer = create(name, 0);
	uint64_t seq1 = 0, seq2 = 0;

	define(writer);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t at = 1000000000 + offset + i * 10000000;

		step(writer, 1, seq1++, at, i);
		for (uint64_t j = 0; j < 10; j++, seq1++)
			mark(writer, 1, seq1, at + j * 1000000, j % 2 ? 1 : 2);
		mark(writer, 2, seq2++, at + 500000, 1);
		if (i % 30 == 29)
			CHECK(!wt_writer_flush(writer, NULL));
	}
	CHECK(!wt_writer_finish(writer, NULL));
	CHECK_INT(wt_writer_events(writer), 1200);
	wt_writer_free(writer);
}

static size_t count(const struct wt_trace *trace, const struct wt_query *query,
		    uint64_t *ret_decoded)
{
	struct wt_cursor *cursor = NULL;
	struct wt_event event, last = {0};
	struct wt_err err;
	uint64_t skipped, decoded;
	size_t rows = 0;
	int more;

	CHECK(!wt_cursor_open(trace, query, &cursor, &err));
	while ((more = wt_cursor_next(cursor, &event, &err)) > 0) {
		if (rows++) {
			CHECK(event.time_ns >= last.time_ns);
			CHECK(event.time_ns > last.time_ns || event.stream > last.stream ||
			      event.track > last.track || event.seq > last.seq);
		}
		last = event;
	}
	CHECK_INT(more, 0);
	wt_cursor_cost(cursor, &skipped, &decoded);
	if (ret_decoded)
		*ret_decoded = decoded;
	wt_cursor_free(cursor);
	return rows;
}

static void test_queries(void)
{
	struct wt_trace *trace = NULL;
	struct wt_query query;
	struct wt_err err;
	uint64_t decoded;

	begin();
	write_steps("0001.wt", 0);
	write_steps("0002.wt", 3);
	REQUIRE(!wt_trace_open(folder, &trace, &err));
	wt_query_init(&query);
	CHECK_INT(count(trace, &query, NULL), 2400);

	query.from_ns = 200000000; /* step 20 */
	query.to_ns = 210000000;
	/* The second stream is 3 ns late: its first ten marks and step, less none; both queues. */
	CHECK_INT(count(trace, &query, &decoded), 24);
	CHECK(decoded < 8);

	wt_query_init(&query);
	query.kinds = (const char *const[]){"mark"};
	query.kind_count = 1;
	CHECK_INT(count(trace, &query, NULL), 2200);
	query.name = "for*";
	CHECK_INT(count(trace, &query, NULL), 1200);
	query.track = "queue";
	CHECK_INT(count(trace, &query, NULL), 200);
	query.track = "0:1";
	CHECK_INT(count(trace, &query, NULL), 500);

	wt_query_init(&query);
	query.context_key = "step";
	query.context_value = "57";
	/* Track 2 sets no step of its own and follows track 1. */
	CHECK_INT(count(trace, &query, &decoded), 24);
	CHECK(decoded < 8);
	query.context_value = "100";
	CHECK_INT(count(trace, &query, &decoded), 0);
	CHECK_INT(decoded, 0);
	wt_trace_free(trace);
	end();
}

static void test_text_and_fields(void)
{
	static const char hostile[] = "a\"b\n\xff\0c";
	struct wt_text text = {hostile, sizeof(hostile) - 1};
	uint64_t values[] = {WT_LEVEL_ERROR, 0};
	struct wt_writer *writer;
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_event event;
	struct wt_text got;

	begin();
	writer = create("1.wt", 0);
	CHECK(!wt_writer_append(writer, WT_KIND_LOG, 1, 0, 5, values, WTI_COUNT(values), &text));
	CHECK_INT(wt_writer_append(writer, 999, 1, 0, 5, values, WTI_COUNT(values), &text),
		  WT_E_ARG);
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
	REQUIRE(!wt_trace_open(in_folder("1.wt"), &trace, NULL));
	REQUIRE(!wt_cursor_open(trace, NULL, &cursor, NULL));
	REQUIRE(wt_cursor_next(cursor, &event, NULL) == 1);
	got = wt_event_text(&event, WT_LOG_FIELD_LEVEL);
	CHECK(got.bytes == 5 && !memcmp(got.data, "error", 5));
	got = wt_event_text(&event, WT_LOG_FIELD_TEXT);
	CHECK(got.bytes == text.bytes && !memcmp(got.data, hostile, text.bytes));
	CHECK_INT(wt_event_u64(&event, 77), 0);
	CHECK_INT(wt_cursor_next(cursor, &event, NULL), 0);
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	end();
}

static void test_unfinished_and_growing(void)
{
	struct wt_writer *writer;
	struct wt_trace *trace = NULL;

	begin();
	writer = create("1.wt", 0);
	define(writer);
	mark(writer, 1, 0, 10, 1);
	CHECK(!wt_writer_flush(writer, NULL));
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(count(trace, NULL, NULL), 1);
	CHECK(!wt_reader_finished(wt_trace_stream(trace, 0)));
	CHECK_INT(wt_reader_damage(wt_trace_stream(trace, 0))->code, 0);
	mark(writer, 1, 1, 20, 1);
	CHECK_INT(wt_trace_refresh(trace, NULL), 0); /* nothing sealed yet */
	CHECK(!wt_writer_flush(writer, NULL));
	CHECK_INT(wt_trace_refresh(trace, NULL), 1);
	CHECK_INT(count(trace, NULL, NULL), 2);
	write_steps("2.wt", 0);
	CHECK(wt_trace_refresh(trace, NULL) > 0);
	CHECK_INT(count(trace, NULL, NULL), 1202);
	CHECK(!wt_writer_finish(writer, NULL));
	CHECK(wt_trace_refresh(trace, NULL) >= 0);
	CHECK(wt_reader_finished(wt_trace_stream(trace, 0)));
	wt_writer_free(writer);
	wt_trace_free(trace);
	end();
}

static void test_ceiling(void)
{
	struct wt_writer *writer;
	struct wt_trace *trace = NULL;
	struct stat info;
	uint64_t seq = 0;
	int status = 0;

	begin();
	writer = create("1.wt", 200000);
	define(writer);
	srand(1);
	while (!status && seq < 1000000) {
		uint64_t values[] = {1, 0, (uint64_t)rand() * (uint64_t)rand()};

		status = wt_writer_append(writer, WT_KIND_MARK, 1, seq, seq * 3, values,
					  WTI_COUNT(values), NULL);
		seq++;
	}
	CHECK_INT(status, WT_E_LIMIT);
	CHECK_INT(wt_writer_finish(writer, NULL), WT_E_LIMIT);
	REQUIRE(!stat(in_folder("1.wt"), &info));
	CHECK(info.st_size <= 200000);
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(count(trace, NULL, NULL), wt_writer_events(writer));
	CHECK(wt_writer_events(writer) > 0);
	CHECK(wt_reader_finished(wt_trace_stream(trace, 0)));
	wt_writer_free(writer);
	wt_trace_free(trace);
	end();
}

/* Wherever the file system refuses, what was written before is a valid stream, and its index
 * follows if there is room again. */
static void test_no_room(void)
{
	struct rlimit before, limit;
	unsigned cut = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (unsigned room = 700; room < 100000; room += 1 + room / 16) {
		struct wt_writer *writer;
		struct wt_trace *trace = NULL;

		begin();
		writer = create("1.wt", 0);
		define(writer);
		limit = (struct rlimit){room, before.rlim_max};
		setrlimit(RLIMIT_FSIZE, &limit);
		for (uint64_t i = 0; i < 10000; i++) {
			uint64_t values[] = {1, 0, i * 0x9e3779b97f4a7c15u};

			wt_writer_append(writer, WT_KIND_MARK, 1, i, i * 3, values,
					 WTI_COUNT(values), NULL);
			if (i % 512 == 511)
				wt_writer_flush(writer, NULL);
		}
		setrlimit(RLIMIT_FSIZE, &before);
		cut += wt_writer_finish(writer, NULL) != 0;
		REQUIRE(!wt_trace_open(folder, &trace, NULL));
		CHECK_INT(count(trace, NULL, NULL), wt_writer_events(writer));
		CHECK_INT(wt_reader_damage(wt_trace_stream(trace, 0))->code, 0);
		CHECK(wt_reader_finished(wt_trace_stream(trace, 0)));
		wt_writer_free(writer);
		wt_trace_free(trace);
		end();
	}
	CHECK(cut > 20);
}

/* A flipped bit in one block costs that block, is said, and hides nothing else. */
static void test_damaged_block(void)
{
	struct wt_trace *trace = NULL;
	const struct wt_block *block;
	uint8_t byte;
	uint64_t lost, at;
	int fd;

	begin();
	write_steps("1.wt", 0);
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	block = wt_reader_block(wt_trace_stream(trace, 0), 2);
	lost = block->rows;
	at = block->offset;
	wt_trace_free(trace);
	fd = open(in_folder("1.wt"), O_RDWR);
	REQUIRE(fd >= 0);
	CHECK(pread(fd, &byte, 1, (off_t)at + 100) == 1);
	byte ^= 4;
	CHECK(pwrite(fd, &byte, 1, (off_t)at + 100) == 1);
	close(fd);
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(count(trace, NULL, NULL), 1200 - lost);
	CHECK_INT(wt_reader_damage(wt_trace_stream(trace, 0))->code, WT_E_FORMAT);
	CHECK_INT(wt_reader_damage(wt_trace_stream(trace, 0))->offset, at);
	wt_trace_free(trace);
	end();
}

static void test_clocks(void)
{
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	struct wt_trace *trace = NULL;

	begin();
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_TSC; /* 2 ticks a ns, then 4 */
	REQUIRE(!wt_writer_create(in_folder("1.wt"), &options, &writer, NULL));
	CHECK(!wt_writer_clock(writer, 1, 0, 1000, WT_CLOCK_MONOTONIC, 5000, 10));
	CHECK(!wt_writer_clock(writer, 1, 1, 3000, WT_CLOCK_MONOTONIC, 6000, 20));
	CHECK(!wt_writer_clock(writer, 1, 2, 7000, WT_CLOCK_MONOTONIC, 7000, 10));
	CHECK(!wt_writer_clock(writer, 1, 3, 1000, WT_CLOCK_REALTIME, 900000, 10));
	CHECK(!wt_writer_clock(writer, 1, 4, 1000, 64, 10, 0)); /* a device that counts us */
	CHECK(!wt_writer_clock(writer, 1, 5, 3000, 64, 11, 0));
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(wt_trace_ns(trace, 0, 1000), 0);
	CHECK_INT(wt_trace_ns(trace, 0, 2000), 500);
	CHECK_INT(wt_trace_ns(trace, 0, 5000), 1500);
	CHECK_INT(wt_trace_ns(trace, 0, 11000), 3000);
	CHECK_INT(wt_trace_ns(trace, 0, 800), -100);
	CHECK_INT(wt_trace_ticks(trace, 0, 1500), 5000);
	CHECK_INT(wt_trace_domain_ns(trace, 0, 64, 11), 1000);
	CHECK_INT(wt_trace_start_realtime_ns(trace), 900000);
	/* The middle pair is 10 + 333 ns from the line through its neighbours. */
	CHECK_INT(wt_trace_clock_error_ns(trace), 354);
	wt_trace_free(trace);
	end();
}

static void test_refuses(void)
{
	struct wt_trace *trace = NULL;
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	struct wt_err err;

	begin();
	CHECK_INT(wt_trace_open(folder, &trace, &err), WT_E_MISSING);
	CHECK_INT(wt_trace_open(in_folder("none"), &trace, &err), WT_E_MISSING);
	write_steps("1.wt", 0);
	wt_writer_options_init(&options);
	CHECK_INT(wt_writer_create(in_folder("1.wt"), &options, &writer, &err), WT_E_EXISTS);
	CHECK(!writer && !trace);
	end();
}

/* A segment tells again what was still valid; whoever reads both hears it once. */
static void test_segments(void)
{
	struct wt_trace *trace = NULL;

	begin();
	for (uint32_t segment = 1; segment <= 2; segment++) {
		struct wt_writer_options options;
		struct wt_writer *writer = NULL;

		wt_writer_options_init(&options);
		options.identity.clock = WT_CLOCK_MONOTONIC;
		options.identity.pid = 42;
		options.identity.segment = segment;
		REQUIRE(!wt_writer_create(in_folder(segment == 1 ? "1.000001.wt" : "1.000002.wt"),
					  &options, &writer, NULL));
		define(writer);
		step(writer, 1, 0, segment == 1 ? 10 : 30, 7);
		mark(writer, 1, segment, segment * 20, 1);
		CHECK(!wt_writer_finish(writer, NULL));
		wt_writer_free(writer);
	}
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(count(trace, NULL, NULL), 3);
	wt_trace_free(trace);
	REQUIRE(!wt_trace_open(in_folder("1.000002.wt"), &trace, NULL));
	CHECK_INT(count(trace, NULL, NULL), 2);
	wt_trace_free(trace);
	end();
}

static const struct test tests[] = {
	{"segments", test_segments},
	{"queries", test_queries},
	{"text_and_fields", test_text_and_fields},
	{"unfinished_and_growing", test_unfinished_and_growing},
	{"ceiling", test_ceiling},
	{"no_room", test_no_room},
	{"damaged_block", test_damaged_block},
	{"clocks", test_clocks},
	{"refuses", test_refuses},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
