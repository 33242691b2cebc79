/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace file costs, for the reference event: a device operation with all its fields
 * (op, name, device, queue, clock, geometry, correlation, queued, submitted, started, ended, bytes;
 *and time, track, sequence number), eight queues, kernels of 5 to 200 us with 3 % jitter.
 *
 *	codec [EVENTS]
 *
 * Prints events/s for encoding without and with compression, for decoding, and bytes an event.
 * Encoding is measured from wt_writer_append() to the bytes in the page cache; what making the rows
 * costs is measured in the same run and taken off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "bench.h"

#define QUEUES 8
#define RUN 4096 /* rows of a queue that follow one another, as buffers of devices do */
#define KERNELS 40
#define REPEATS 7
/*
 * So many kernels are drawn before the clock starts, and used again and again at later times: far
 * more than a block holds, so that compression gains nothing by it.
 */
#define DISTINCT 65536u

struct kernel {
	uint32_t number;
	uint32_t bytes;
	uint32_t gap_ns;
	uint32_t duration_ns;
};

static uint64_t random64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static struct kernel *draw_kernels(void)
{
	struct kernel *kernels = calloc(DISTINCT, sizeof(*kernels));
	uint64_t state = 42;

	for (size_t i = 0; kernels && i < DISTINCT; i++) {
		uint32_t mean_ns = 5000 + (uint32_t)(i % KERNELS) * 4875;

		kernels[i].number = (uint32_t)(i % KERNELS);
		kernels[i].bytes = kernels[i].number % 7 ? 0 : 4096;
		kernels[i].gap_ns = 1000 + (uint32_t)(random64(&state) % 500);
		kernels[i].duration_ns =
			mean_ns + (uint32_t)(random64(&state) % (mean_ns * 6 / 100 + 1));
	}
	return kernels;
}

/* Where rows go: to a writer, or nowhere, to know what making them costs. */
typedef int (*taker)(struct wt_writer *writer, uint16_t kind, uint32_t track, uint64_t seq,
		     uint64_t ticks, const uint64_t *values, size_t value_count,
		     const struct wt_text *texts);

__attribute__((noinline)) static int take_nothing(struct wt_writer *writer, uint16_t kind,
						  uint32_t track, uint64_t seq, uint64_t ticks,
						  const uint64_t *values, size_t value_count,
						  const struct wt_text *texts)
{
	__asm__ volatile("" ::"r"(values) : "memory");
	return 0;
}

static void make_all(struct wt_writer *writer, taker take, const struct kernel *kernels,
		     size_t count)
{
	uint64_t clock_ns[QUEUES] = {0};
	uint64_t seq[QUEUES] = {0};

	for (size_t i = 0; i < count; i++) {
		unsigned queue = (unsigned)(i / RUN % QUEUES);
		const struct kernel *kernel = &kernels[i % DISTINCT];
		uint64_t start_ns = clock_ns[queue] + kernel->gap_ns;
		uint64_t end_ns = start_ns + kernel->duration_ns;
		uint64_t values[] = {
			[WT_DEVICE_OP_FIELD_OP] = WT_OP_KERNEL,
			[WT_DEVICE_OP_FIELD_NAME] = 1 + kernel->number,
			[WT_DEVICE_OP_FIELD_DEVICE] = queue / 4,
			[WT_DEVICE_OP_FIELD_QUEUE] = queue + 1,
			[WT_DEVICE_OP_FIELD_GEOMETRY] = 1 + kernel->number,
			[WT_DEVICE_OP_FIELD_CORRELATION] = i,
			[WT_DEVICE_OP_FIELD_STARTED] = start_ns,
			[WT_DEVICE_OP_FIELD_ENDED] = end_ns,
			[WT_DEVICE_OP_FIELD_BYTES] = kernel->bytes,
		};

		clock_ns[queue] = end_ns;
		take(writer, WT_KIND_DEVICE_OP, queue + 1, seq[queue]++, end_ns, values,
		     sizeof(values) / sizeof(*values), NULL);
	}
}

static double making(const struct kernel *kernels, size_t count)
{
	uint64_t begin_ns = now_ns();

	make_all(NULL, take_nothing, kernels, count);
	return (double)(now_ns() - begin_ns) / 1e9;
}

static double encode(const struct kernel *kernels, size_t count, int level, const char *path,
		     uint64_t *ret_bytes)
{
	struct wt_writer_options options;
	struct wt_writer *writer;
	struct wt_err err;
	uint64_t begin_ns;
	double seconds;

	unlink(path);
	wt_writer_options_init(&options);
	options.level = level;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	if (wt_writer_create(path, &options, &writer, &err)) {
		fprintf(stderr, "codec: %s\n", err.message);
		exit(1);
	}
	begin_ns = now_ns();
	make_all(writer, wt_writer_append, kernels, count);
	if (wt_writer_finish(writer, &err)) {
		fprintf(stderr, "codec: %s\n", err.message);
		exit(1);
	}
	seconds = (double)(now_ns() - begin_ns) / 1e9;
	*ret_bytes = wt_writer_bytes(writer);
	wt_writer_free(writer);
	return seconds;
}

static double decode(const char *path, size_t count)
{
	struct wt_batch batch = {0};
	struct wt_reader *reader;
	struct wt_err err;
	size_t rows = 0;
	uint64_t begin_ns = now_ns();
	double seconds;

	if (wt_reader_open(path, &reader, &err)) {
		fprintf(stderr, "codec: %s\n", err.message);
		exit(1);
	}
	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		if (wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, &err)) {
			fprintf(stderr, "codec: %s\n", err.message);
			exit(1);
		}
		rows += batch.rows;
	}
	seconds = (double)(now_ns() - begin_ns) / 1e9;
	wt_batch_release(&batch);
	wt_reader_free(reader);
	if (rows != count) {
		fprintf(stderr, "codec: %zu rows read, %zu written\n", rows, count);
		exit(1);
	}
	return seconds;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 4u << 20;
	struct kernel *kernels = draw_kernels();
	double made[REPEATS], raw[REPEATS], packed[REPEATS], read_raw[REPEATS],
		read_packed[REPEATS];
	char raw_path[64], packed_path[64];
	uint64_t raw_bytes = 0, packed_bytes = 0;

	if (!kernels)
		return 1;
	snprintf(raw_path, sizeof(raw_path), "/tmp/wheeltap-codec-raw-%d.wt", getpid());
	snprintf(packed_path, sizeof(packed_path), "/tmp/wheeltap-codec-%d.wt", getpid());
	for (int i = 0; i < REPEATS; i++) {
		made[i] = making(kernels, count);
		raw[i] = encode(kernels, count, 0, raw_path, &raw_bytes) - made[i];
		packed[i] = encode(kernels, count, 1, packed_path, &packed_bytes) - made[i];
		read_raw[i] = decode(raw_path, count);
		read_packed[i] = decode(packed_path, count);
	}
	printf("%-34s %8.1f M events/s  %6.2f B/event\n", "encode, no compression",
	       (double)count / median(raw, REPEATS) / 1e6, (double)raw_bytes / (double)count);
	printf("%-34s %8.1f M events/s  %6.2f B/event\n", "encode, zstd",
	       (double)count / median(packed, REPEATS) / 1e6, (double)packed_bytes / (double)count);
	printf("%-34s %8.1f M events/s\n", "decode, no compression",
	       (double)count / median(read_raw, REPEATS) / 1e6);
	printf("%-34s %8.1f M events/s\n", "decode, zstd",
	       (double)count / median(read_packed, REPEATS) / 1e6);
	unlink(raw_path);
	unlink(packed_path);
	free(kernels);
	return 0;
}
