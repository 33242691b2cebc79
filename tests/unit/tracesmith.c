/* SPDX-License-Identifier: Apache-2.0 */
/* TraceSmith's files there and back, cut and broken; its timeline, of a trace whose figures are
 * known. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wheeltap/sbt.h>
#include <wheeltap/tracesmith.h>

#include "test.h"

static char folder[64], file[128];

static void begin(const char *name)
{
	snprintf(folder, sizeof(folder), "/tmp/wheeltap-unit-XXXXXX");
	CHECK(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/%s", folder, name);
}

static void end(void)
{
	unlink(file);
	CHECK(!rmdir(folder));
}

static struct wt_sbt_event kernel(uint64_t timestamp, const char *name)
{
	return (struct wt_sbt_event){.type = WT_SBT_KERNEL_LAUNCH,
				     .timestamp = timestamp,
				     .duration = 50,
				     .device_id = 1,
				     .stream_id = 7,
				     .correlation_id = timestamp,
				     .name = {name, strlen(name)},
				     .has_kernel_params = true,
				     .kernel = {{4, 2, 1}, {32, 1, 1}, 1024, 16}};
}

/* Out of order, as its buffers come. */
static void write_three(void)
{
	struct wt_sbt_event copy = {.type = WT_SBT_MEMCPY_D2H,
				    .timestamp = 10,
				    .name = {"copy", 4},
				    .has_memory_params = true,
				    .memory = {1, UINT64_MAX, 4096}};
	struct wt_sbt_event first = kernel(UINT64_MAX / 2, "gemm"), last = kernel(20, "gemm");
	struct wt_sbt_writer *writer;

	REQUIRE(!wt_sbt_writer_create(file, &writer, NULL));
	wt_sbt_write(writer, &first);
	wt_sbt_write(writer, &copy);
	wt_sbt_write(writer, &last);
	CHECK(!wt_sbt_writer_finish(writer, NULL));
	wt_sbt_writer_free(writer);
}

static void test_round_trip(void)
{
	struct wt_sbt_reader *reader;
	struct wt_sbt_event event;

	begin("a.sbt");
	write_three();
	REQUIRE(!wt_sbt_reader_open(file, &reader, NULL));
	CHECK_INT(wt_sbt_reader_about(reader)->event_count, 3);
	CHECK(wt_sbt_read(reader, &event) == 1 && event.timestamp == UINT64_MAX / 2);
	CHECK(event.has_kernel_params && !event.has_memory_params);
	CHECK_INT(event.kernel.block[0], 32);
	CHECK_INT(event.kernel.registers_per_thread, 16);
	CHECK(event.name.bytes == 4 && !memcmp(event.name.data, "gemm", 4));
	CHECK(wt_sbt_read(reader, &event) == 1 && event.timestamp == 10);
	CHECK(event.memory.dst_address == UINT64_MAX && event.memory.size_bytes == 4096);
	CHECK(wt_sbt_read(reader, &event) == 1 && event.timestamp == 20 && event.duration == 50);
	CHECK_INT(wt_sbt_read(reader, &event), 0);
	CHECK_INT(wt_sbt_reader_damage(reader)->code, 0);
	wt_sbt_reader_free(reader);
	end();
}

static void test_cut(void)
{
	struct wt_sbt_reader *reader;
	struct wt_sbt_event event;
	struct wt_err err;
	struct stat status;
	int count = 0;

	begin("a.sbt");
	write_three();
	REQUIRE(!stat(file, &status));
	CHECK(!truncate(file, 72 + 50)); /* within the second event */
	REQUIRE(!wt_sbt_reader_open(file, &reader, NULL));
	while (wt_sbt_read(reader, &event))
		count++;
	CHECK(count >= 1 && count < 3);
	CHECK_INT(wt_sbt_reader_damage(reader)->code, WT_E_FORMAT);
	CHECK(wt_sbt_reader_damage(reader)->offset > 72);
	wt_sbt_reader_free(reader);
	CHECK(!truncate(file, 20));
	CHECK_INT(wt_sbt_reader_open(file, &reader, &err), WT_E_FORMAT);
	end();
}

static void test_writer_refuses(void)
{
	struct wt_sbt_writer *writer;
	struct wt_err err;

	begin("a.sbt");
	write_three();
	CHECK_INT(wt_sbt_writer_create(file, &writer, &err), WT_E_EXISTS);
	CHECK(!access(file, F_OK));
	unlink(file);
	REQUIRE(!wt_sbt_writer_create(file, &writer, NULL));
	wt_sbt_writer_free(writer); /* not finished: nothing is left */
	CHECK(access(file, F_OK));
	end();
}

/* ---- The timeline ---------------------------------------------------------------------------- */

static void put_op(struct wt_writer *writer, uint32_t track, uint64_t seq, uint64_t op,
		   uint64_t device, uint64_t from, uint64_t to)
{
	const uint64_t values[] = {[WT_DEVICE_OP_FIELD_OP] = op,
				   [WT_DEVICE_OP_FIELD_NAME] = 1,
				   [WT_DEVICE_OP_FIELD_DEVICE] = device,
				   [WT_DEVICE_OP_FIELD_CORRELATION] = seq + 100 * track,
				   [WT_DEVICE_OP_FIELD_STARTED] = from,
				   [WT_DEVICE_OP_FIELD_ENDED] = to,
				   [WT_DEVICE_OP_FIELD_BYTES] = 0};

	CHECK(!wt_writer_append(writer, WT_KIND_DEVICE_OP, track, seq, to, values,
				sizeof(values) / sizeof(values[0]), NULL));
}

/* Device 0 works from 100 to 300 (twice at once in the middle) and from 900 to 1100, device 1 from
 * 100 to 1100; a sync is no work. */
static void write_stream(void)
{
	struct wt_writer_options options;
	struct wt_writer *writer;

	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	REQUIRE(!wt_writer_create(file, &options, &writer, NULL));
	for (uint32_t i = 1; i <= 3; i++)
		CHECK(!wt_writer_track(writer,
				       &(struct wt_track){i, WT_TRACK_QUEUE, 0, i / 3, "q", 1}));
	CHECK(!wt_writer_string(writer, 1, "gemm", 4));
	put_op(writer, 1, 0, WT_OP_KERNEL, 0, 100, 250);
	put_op(writer, 2, 0, WT_OP_COPY, 0, 200, 300);
	put_op(writer, 1, 1, WT_OP_SYNC, 0, 300, 900);
	put_op(writer, 1, 2, WT_OP_KERNEL, 0, 900, 1100);
	put_op(writer, 3, 0, WT_OP_KERNEL, 1, 100, 1100);
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
}

static void test_timeline(void)
{
	struct wt_timeline timeline;
	struct wt_trace *trace;
	struct wt_err err = {0};

	begin("0001.wt");
	write_stream();
	REQUIRE(!wt_trace_open(folder, &trace, &err));
	REQUIRE(!wt_build_timeline(trace, &timeline, &err));
	CHECK_INT(timeline.span_count, 4);
	CHECK_INT(timeline.device_count, 2);
	CHECK_INT(timeline.total_duration_ns, 1000);
	CHECK_INT(timeline.max_concurrent_ops, 3);
	CHECK(timeline.gpu_utilization > 0.6999 && timeline.gpu_utilization < 0.7001);
	CHECK_INT(timeline.spans[3].end_ns - timeline.spans[3].start_ns, 200);
	CHECK(timeline.spans[2].op == WT_OP_COPY && timeline.spans[2].stream_id == 2);
	wt_timeline_release(&timeline);
	wt_trace_free(trace);
	end();
}

static void test_no_device(void)
{
	struct wt_writer_options options;
	struct wt_timeline timeline;
	struct wt_writer *writer;
	struct wt_trace *trace;

	begin("0001.wt");
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	REQUIRE(!wt_writer_create(file, &options, &writer, NULL));
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
	REQUIRE(!wt_trace_open(folder, &trace, NULL));
	CHECK_INT(wt_build_timeline(trace, &timeline, NULL), WT_E_MISSING);
	wt_trace_free(trace);
	end();
}

static void test_capture_refuses(void)
{
	char *nothing[] = {NULL}, *program[] = {(char *)"true", NULL};
	struct wt_capture_options options;
	struct wt_trace *trace;
	struct wt_err err;

	wt_capture_options_init(&options);
	options.folder = "/nonexistent/run";
	CHECK_INT(wt_capture_trace(nothing, &options, &trace, NULL, &err), WT_E_ARG);
	options.platform = "abacus";
	CHECK_INT(wt_capture_trace(program, &options, &trace, NULL, &err), WT_E_ARG);
	CHECK(strstr(err.message, "opencl"));
	options.platform = "opencl";
	options.wheeltap = "/nonexistent/wheeltap";
	CHECK_INT(wt_capture_trace(program, &options, &trace, NULL, &err), WT_E_MISSING);
	options.wheeltap = "/bin/true"; /* records nothing */
	CHECK(wt_capture_trace(program, &options, &trace, NULL, &err) < 0);
	CHECK_INT(wt_export_perfetto("run", "out", "/bin/false", &err), WT_E_IO);
}

static const struct test tests[] = {{"round_trip", test_round_trip},
				    {"cut", test_cut},
				    {"writer_refuses", test_writer_refuses},
				    {"timeline", test_timeline},
				    {"no_device", test_no_device},
				    {"capture_refuses", test_capture_refuses},
				    {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
