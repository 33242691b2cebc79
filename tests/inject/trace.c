/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace library without memory and with a bad disk. Writing must say so and leave a stream that
 * is whole up to a point; reading must say so and never take missing memory for a damaged file.
 */
#include "each.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/file.h"
#include "trace/query.h"

#define ROUNDS 40 /* of one event of each kind */

static char folder[] = "/tmp/wheeltap-test-XXXXXX";
static char written[64]; /* a stream that is made again and again */
static char kept[64];    /* a good one, to be read */
static char kept_folder[64];

/* ---- Writing ---- */

static int define_all(struct wt_writer *writer)
{
	static const uint64_t frames[] = {0x1000, 0x2000};
	struct wt_track track = {.id = 1, .type = WT_TRACK_THREAD, .tid = 7, .name = "main"};
	struct wt_module module = {.base = 0x1000, .bytes = 0x1000, .build_id = (uint8_t *)"ab"};
	struct wt_site site = {.file = 1, .function = 1, .line = 3};
	int status;

	track.name_bytes = 4;
	module.build_id_bytes = 2;
	module.path = "lib.so";
	module.path_bytes = 6;
	status = wt_writer_string(writer, 1, "name", 4);
	status = status ? status : wt_writer_track(writer, &track);
	status = status ? status : wt_writer_stack(writer, 1, frames, 2);
	status = status ? status : wt_writer_module(writer, 1, &module);
	return status ? status : wt_writer_site(writer, 1, &site);
}

/* One event of each kind there is. The first mistake is the result, but all are tried. */
static int append_all(struct wt_writer *writer, uint64_t *seq)
{
	uint64_t values[WT_FIELDS_MAX];
	struct wt_text texts[WT_FIELDS_MAX];
	int first = 0;

	for (int i = 0; i < WT_FIELDS_MAX; i++) {
		values[i] = 1;
		texts[i] = (struct wt_text){"inline", 6};
	}
	for (size_t i = 0; i < wt_kind_builtin_count(); i++) {
		int status = wt_writer_append(writer, wt_kind_builtin_at(i)->number, 1, *seq,
					      1000 + *seq, values,
					      wt_kind_builtin_at(i)->field_count, texts);

		first = first ? first : status;
		*seq += 1;
	}
	return first;
}

/* Writes a stream to the end whatever happens on the way, as a recorder must. */
static int write_stream(const char *path, uint64_t *ret_seq)
{
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	struct wt_err err = {0};
	int status, last;

	*ret_seq = 0;
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	status = wt_writer_create(path, &options, &writer, &err);
	if (status)
		return err.code == status && err.message[0] ? status : WT_E_ARG;
	status = define_all(writer);
	for (int i = 0; i < ROUNDS; i++) {
		last = append_all(writer, ret_seq);
		status = status ? status : last;
		if (i % 20 == 19) {
			last = wt_writer_flush(writer, &err);
			status = status ? status : last;
		}
	}
	last = wt_writer_finish(writer, &err);
	status = status ? status : last;
	if (last && !err.message[0])
		status = WT_E_ARG;
	wt_writer_free(writer);
	return status;
}

/* ---- Reading ---- */

/* All events of a stream or a run, through a query that looks at everything. */
static int read_events(const char *path, const char *context_key, bool in_parts,
		       uint64_t *ret_count)
{
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_event event;
	struct wt_query query;
	struct wt_err err = {0};
	int status = wt_trace_open(path, &trace, &err);

	*ret_count = 0;
	wt_query_init(&query);
	query.context_key = context_key;
	query.context_value = context_key ? "true" : NULL;
	query.name = context_key ? "n*" : NULL;
	if (!status)
		status = wt_cursor_open(trace, &query, &cursor, &err);
	if (!status && in_parts)
		wti_cursor_bound(cursor, 0, 1 << 16);
	while (!status) {
		int more = wt_cursor_next(cursor, &event, &err);

		if (more <= 0) {
			status = more;
			break;
		}
		*ret_count += 1;
	}
	if (status && (err.code != status || !err.message[0]))
		status = WT_E_ARG; /* it must say why */
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	return status;
}

static int read_blocks(uint64_t *ret_found)
{
	struct wt_reader *reader = NULL;
	struct wt_batch batch = {0};
	struct wt_err err = {0};
	int status = wt_reader_open(kept, &reader, &err);

	if (!status && wt_reader_damage(reader)->code)
		status = WT_E_FORMAT; /* the file is good; only memory is missing */
	/* After a failure the batch serves for the next block as if nothing had happened. */
	for (size_t i = 0; reader && i < wt_reader_block_count(reader); i++) {
		int block_status = wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, &err);

		*ret_found += block_status ? 0 : batch.rows;
		status = status ? status : block_status;
	}
	wt_batch_release(&batch);
	wt_reader_free(reader);
	return status;
}

/* ---- Memory ---- */

static int work_write(uint64_t *ret_found)
{
	struct wti_buf file;
	uint64_t seq;
	int status;

	unlink(written);
	status = write_stream(written, &seq);
	if (status)
		return status;
	wti_buf_init(&file, 1 << 24);
	status = wti_file_read(written, 1 << 24, &file, NULL);
	*ret_found = file.bytes;
	wti_buf_release(&file);
	return status;
}

static int work_read(uint64_t *ret_found)
{
	return read_events(kept_folder, NULL, false, ret_found);
}

static int work_parts(uint64_t *ret_found)
{
	return read_events(kept_folder, NULL, true, ret_found);
}

static int work_query(uint64_t *ret_found)
{
	return read_events(kept_folder, "name", false, ret_found);
}

static void test_write_memory(void)
{
	each_allocation_both(work_write);
}

static void test_read_memory(void)
{
	each_allocation_both(read_blocks);
}

static void test_trace_memory(void)
{
	each_allocation_both(work_read);
}

static void test_parts_memory(void)
{
	each_allocation_both(work_parts);
}

static void test_query_memory(void)
{
	each_allocation_both(work_query);
}

/* What is left of a stream whose writer ran out of memory opens, and holds no more than it should.
 */
static void test_rest_after_memory(void)
{
	for (uint64_t nth = 1;; nth++) {
		uint64_t seq, count;
		int status;
		bool fired;

		unlink(written);
		inject_alloc(nth, true);
		status = write_stream(written, &seq);
		fired = inject_stop();
		CHECK_INT(status, fired ? WT_E_NOMEM : 0);
		if (access(written, F_OK))
			continue;
		CHECK_INT(read_events(written, NULL, false, &count), 0);
		CHECK(count <= seq);
		if (!fired) {
			CHECK_INT(count, seq);
			return;
		}
	}
}

/* ---- The disk ---- */

/* The nth write fails, for all n: an error, and every event before it still there. */
static void test_disk_full(void)
{
	uint64_t best = 0;

	for (uint64_t nth = 1;; nth++) {
		uint64_t seq, count = 0;
		int status;
		bool fired;

		unlink(written);
		inject_system(nth, ENOSPC, true);
		status = write_stream(written, &seq);
		fired = inject_stop();
		CHECK_INT(status, fired ? WT_E_IO : 0);
		CHECK_INT(inject_live(), 0);
		status = read_events(written, NULL, false, &count);
		CHECK(status == 0 || (nth == 1 && status == WT_E_MISSING)); /* not even a header */
		CHECK(count >= best); /* the later it fails, the more is there */
		best = count;
		if (!fired) {
			CHECK_INT(count, seq);
			CHECK(nth > 5);
			return;
		}
	}
}

static void test_short_writes(void)
{
	struct wti_buf expected, actual;
	uint64_t seq;

	wti_buf_init(&expected, 1 << 24);
	wti_buf_init(&actual, 1 << 24);
	unlink(written);
	inject_short_writes();
	CHECK_INT(write_stream(written, &seq), 0);
	CHECK(inject_stop());
	CHECK_INT(wti_file_read(kept, 1 << 24, &expected, NULL), 0);
	CHECK_INT(wti_file_read(written, 1 << 24, &actual, NULL), 0);
	CHECK_INT(actual.bytes, expected.bytes);
	if (actual.bytes == expected.bytes)
		CHECK_BYTES(actual.data, expected.data, actual.bytes);
	wti_buf_release(&expected);
	wti_buf_release(&actual);
}

/* A real limit of the file's size, at every size: the kernel cuts writes in the middle. */
static void test_file_limit(void)
{
	struct rlimit before, limit;
	struct wti_buf whole;

	wti_buf_init(&whole, 1 << 24);
	REQUIRE(!wti_file_read(kept, 1 << 24, &whole, NULL));
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(!getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	for (size_t bytes = 0; bytes < whole.bytes; bytes += 1 + bytes / 16) {
		uint64_t seq, count;
		int status;

		unlink(written);
		limit.rlim_cur = bytes;
		REQUIRE(!setrlimit(RLIMIT_FSIZE, &limit));
		status = write_stream(written, &seq);
		REQUIRE(!setrlimit(RLIMIT_FSIZE, &before));
		CHECK_INT(status, WT_E_IO);
		status = read_events(written, NULL, false, &count);
		CHECK(status == 0 || (bytes < 128 && status == WT_E_MISSING));
	}
	wti_buf_release(&whole);
}

static const struct test tests[] = {
	{"write_memory", test_write_memory}, {"read_memory", test_read_memory},
	{"trace_memory", test_trace_memory}, {"parts_memory", test_parts_memory},
	{"query_memory", test_query_memory}, {"rest_after_memory", test_rest_after_memory},
	{"disk_full", test_disk_full},       {"short_writes", test_short_writes},
	{"file_limit", test_file_limit},     {NULL, NULL},
};

int main(int argc, char **argv)
{
	char second[80];
	uint64_t seq;
	int status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(written, sizeof(written), "%s/written.wt", folder);
	snprintf(kept_folder, sizeof(kept_folder), "%s/run", folder);
	snprintf(kept, sizeof(kept), "%s/run/a.wt", folder);
	snprintf(second, sizeof(second), "%s/b.wt", kept_folder);
	if (wti_mkdirs(kept_folder, 0700, NULL) || write_stream(kept, &seq) ||
	    write_stream(second, &seq))
		return 1;
	status = test_main(tests, argc, argv);
	unlink(written);
	unlink(kept);
	unlink(second);
	rmdir(kept_folder);
	rmdir(folder);
	return status;
}
