/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the run that test_export.py knows event by event: awkward names, equal times, overlaps,
 * work without an end, values that are no numbers, two processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

#define HUGE_BYTES 65535u /* as much as a definition holds */
#define HUGE_REPEAT 4096u /* as much as an inline text holds */

enum { MAIN = 1, WORKER, QUEUE, OTHER_QUEUE, SAME_TID };
enum {
	NAME_OUTER = 1,
	NAME_INNER,
	NAME_LOSS,
	NAME_NASTY,
	NAME_HUGE,
	NAME_KERNEL,
	NAME_STEP,
	NAME_STAGE,
	NAME_UNIT,
	NAME_OWNER,
	NAME_LR,
	NAME_FILE,
	NAME_FUNCTION,
	NAME_ERROR,
	NAME_SHAPE,
	NAME_EMPTYISH,
};

static const char nasty[] = "a\"b\\c\n\r\t,;=\x01\x7f\xff\xfe\xc3( \xe2\x82\xac'</script>\0z";
static uint64_t seqs[16];
static struct wt_writer *out;

static void must(int status)
{
	if (status) {
		fprintf(stderr, "make_trace: %d\n", status);
		exit(1);
	}
}

static uint64_t bits(double value)
{
	uint64_t number;

	memcpy(&number, &value, sizeof(number));
	return number;
}

static void add(uint16_t kind, uint32_t track, uint64_t ns, const uint64_t *values,
		const char *text, size_t bytes)
{
	struct wt_text texts = {text, bytes};

	must(wt_writer_append(out, kind, track, seqs[track]++, ns, values, 32, &texts));
}

#define ADD(kind, track, ns, ...) add(kind, track, ns, (uint64_t[32]){__VA_ARGS__}, "", 0)

static void name(uint32_t id, const char *text)
{
	must(wt_writer_string(out, id, text, strlen(text)));
}

static void track(uint32_t id, uint32_t type, uint32_t tid, uint32_t device, const char *text)
{
	must(wt_writer_track(out, &(struct wt_track){.id = id,
						     .type = type,
						     .tid = tid,
						     .device = device,
						     .name = text,
						     .name_bytes = strlen(text)}));
}

static void define(void)
{
	char *huge = malloc(HUGE_BYTES);

	name(NAME_OUTER, "outer");
	name(NAME_INNER, "inner");
	name(NAME_LOSS, "loss");
	must(wt_writer_string(out, NAME_NASTY, nasty, sizeof(nasty) - 1));
	memset(huge, 'x', HUGE_BYTES);
	must(wt_writer_string(out, NAME_HUGE, huge, HUGE_BYTES));
	free(huge);
	name(NAME_KERNEL, "gemm");
	name(NAME_STEP, "step");
	name(NAME_STAGE, "stage");
	name(NAME_UNIT, "nats");
	name(NAME_OWNER, "optimizer");
	name(NAME_LR, "lr");
	name(NAME_FILE, "train.py");
	name(NAME_FUNCTION, "train");
	name(NAME_ERROR, "ValueError");
	name(NAME_SHAPE, "2x3");
	track(MAIN, WT_TRACK_THREAD, 100, 0, "main");
	track(WORKER, WT_TRACK_THREAD, 101, 0, "worker\n\"1\"");
	track(QUEUE, WT_TRACK_QUEUE, 0, 0, "stream 7");
	track(OTHER_QUEUE, WT_TRACK_QUEUE, 0, 0, "stream 8");
	track(SAME_TID, WT_TRACK_THREAD, 100, 0, "main again");
	must(wt_writer_site(out, 1, &(struct wt_site){NAME_FILE, NAME_FUNCTION, 41}));
	must(wt_writer_module(out, 1,
			      &(struct wt_module){.base = 0x1000,
						  .bytes = 0x1000,
						  .path = "/lib/libm.so.6",
						  .path_bytes = 14}));
	must(wt_writer_stack(out, 1, (uint64_t[]){0x1f00, 0x9000}, 2));
}

static void op(uint32_t queue, uint64_t told, uint64_t correlation, uint64_t started,
	       uint64_t ended)
{
	ADD(WT_KIND_DEVICE_OP, queue, told, WT_OP_KERNEL, NAME_KERNEL, 0, queue, 0, NAME_SHAPE,
	    correlation, 0, 0, started, ended, 4096);
}

static void spans(void)
{
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 1000, NAME_OUTER);
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 1000, NAME_INNER);
	ADD(WT_KIND_SPAN_END, MAIN, 1000, NAME_INNER); /* without length */
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 1000, NAME_INNER);
	ADD(WT_KIND_EDGE, MAIN, 1001, WT_EDGE_LAUNCH, 0, 501, 501);
	ADD(WT_KIND_SPAN_END, MAIN, 1500, NAME_INNER);
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 1500, NAME_INNER); /* where the other ends */
	ADD(WT_KIND_SPAN_END, MAIN, 1600, NAME_INNER);
	ADD(WT_KIND_EDGE, MAIN, 1650, WT_EDGE_LAUNCH, 0, 504, 504); /* in no span of its own */
	ADD(WT_KIND_EDGE, MAIN, 1651, WT_EDGE_LAUNCH, 0, 502,
	    502); /* it has begun before: no arrow */
	ADD(WT_KIND_SPAN_END, MAIN, 2000, NAME_OUTER);
	ADD(WT_KIND_SPAN_END, MAIN, 2001, NAME_KERNEL); /* nobody began it */
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 2100, NAME_NASTY);
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 2110, NAME_HUGE); /* its end is lost */
	ADD(WT_KIND_SPAN_END, MAIN, 2200, NAME_NASTY);
	ADD(WT_KIND_CALL_BEGIN, MAIN, 2300, NAME_FUNCTION, NAME_OWNER, 1);
	add(WT_KIND_ARGUMENT, MAIN, 2301,
	    (uint64_t[32]){12, 0, NAME_LR, WT_VALUE_TYPE_FLOAT, bits(0.1)}, "", 0);
	ADD(WT_KIND_CALL_END, MAIN, 2400, NAME_FUNCTION, NAME_ERROR);
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 9000, NAME_OUTER); /* the program is killed in it */
	ADD(WT_KIND_SPAN_BEGIN, SAME_TID, 1200, NAME_OUTER);
	ADD(WT_KIND_SPAN_END, SAME_TID, 2500, NAME_OUTER);
}

static void values(void)
{
	ADD(WT_KIND_COUNTER, WORKER, 1100, NAME_LOSS, NAME_UNIT, bits(2.5));
	ADD(WT_KIND_COUNTER, WORKER, 1200, NAME_LOSS, NAME_UNIT, bits(0.1));
	ADD(WT_KIND_COUNTER, WORKER, 1300, NAME_LOSS, NAME_UNIT, bits(__builtin_nan("")));
	ADD(WT_KIND_COUNTER, WORKER, 1400, NAME_LOSS, NAME_UNIT, bits(-__builtin_inf()));
	ADD(WT_KIND_COUNTER, WORKER, 1500, NAME_NASTY, 0, bits(1e300));
	ADD(WT_KIND_COUNTER, WORKER, 1501, NAME_NASTY, 0, bits(1.0 / 3));
	ADD(WT_KIND_MARK, WORKER, 1600, NAME_NASTY, 0, UINT64_MAX);
	ADD(WT_KIND_MARK, WORKER, 1600, NAME_HUGE, 0, ((uint64_t)1 << 53) + 1);
	ADD(WT_KIND_STATE, WORKER, 1700, NAME_OWNER, NAME_LR, WT_VALUE_TYPE_FLOAT, 0, bits(0.1),
	    bits(0.01));
	ADD(WT_KIND_TENSOR, WORKER, 1800, NAME_LOSS, NAME_OWNER, WT_DTYPE_F32, NAME_SHAPE, 0, 1, 6,
	    0xfedcba9876543210, 1, 0, 2, bits(-1), bits(1), bits(__builtin_nan("")), bits(0.5));
	ADD(WT_KIND_STACK, WORKER, 1900, 1);
	ADD(WT_KIND_SYSCALL, WORKER, 2050, 1, 0, 1, 2, 3, 0, 0, 0, (uint64_t)-11, 50);
	ADD(WT_KIND_LOST, WORKER, 2100, WT_LOST_RING_FULL, 0, 17, 5, 21, 2050, 2090);
	ADD(WT_KIND_WATERMARK, WORKER, 2200, 2100);
}

static void texts(void)
{
	static const uint64_t info[32] = {WT_LEVEL_ERROR};
	char *huge = malloc(HUGE_REPEAT);

	add(WT_KIND_LOG, WORKER, 3000, info, nasty, sizeof(nasty) - 1);
	memset(huge, '\n', HUGE_REPEAT);
	add(WT_KIND_LOG, WORKER, 3001, info, huge, HUGE_REPEAT);
	free(huge);
	add(WT_KIND_PROCESS, WORKER, 3002, (uint64_t[32]){100, 1, 0, 0}, "train", 5);
}

static void contexts(void)
{
	for (uint64_t step = 0; step < 3; step++)
		add(WT_KIND_CONTEXT, WORKER, 4000 + step * 100,
		    (uint64_t[32]){NAME_STEP, WT_VALUE_TYPE_INT, step}, "", 0);
	add(WT_KIND_CONTEXT, WORKER, 4300, (uint64_t[32]){NAME_STAGE, WT_VALUE_TYPE_TEXT, 0},
	    "train", 5);
}

static void ops(void)
{
	op(QUEUE, 2000, 501, 1100, 1400);
	op(QUEUE, 2000, 502, 1300, 1800); /* overlaps */
	op(QUEUE, 2000, 503, 1800, 1800); /* without length, where the other ends */
	op(QUEUE, 2001, 504, 1800, 1900);
	op(QUEUE, 2002, 505, 1450, 1500); /* told late: fits in between */
	op(QUEUE, 2003, 506, 0, 10000);   /* over all of them, and it begins at 0 */
	op(QUEUE, 2004, 508, 1600, 1800); /* told late, up to one that is written already */
	op(OTHER_QUEUE, 2100, 507, 2000, 2050);
	ADD(WT_KIND_EDGE, OTHER_QUEUE, 2101, WT_EDGE_RECORD_WAIT, 0, 501,
	    507); /* told afterwards */
	ADD(WT_KIND_EDGE, OTHER_QUEUE, 2102, WT_EDGE_SYNC, 0, 501, 504);
	ADD(WT_KIND_EDGE, OTHER_QUEUE, 2103, WT_EDGE_SYNC, 0, 999, 504); /* from nowhere */
}

static void begin_stream(const char *folder, const char *file, uint32_t pid)
{
	struct wt_writer_options options;
	struct wt_err err = {0};
	char path[4096];

	wt_writer_options_init(&options);
	options.identity.pid = pid;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(options.identity.command, sizeof(options.identity.command), "pro\"g");
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	memset(seqs, 0, sizeof(seqs));
	if (wt_writer_create(path, &options, &out, &err)) {
		fprintf(stderr, "make_trace: %s\n", err.message);
		exit(1);
	}
}

static void end_stream(void)
{
	struct wt_err err = {0};

	must(wt_writer_finish(out, &err));
	wt_writer_free(out);
}

int main(int argc, char **argv)
{
	if (argc != 2 || mkdir(argv[1], 0700)) {
		fprintf(stderr, "usage: make_trace FOLDER\n");
		return 2;
	}
	begin_stream(argv[1], "100.wt", 100);
	define();
	/* The run begins at 0, and was recorded at a known time of day. */
	must(wt_writer_clock(out, MAIN, seqs[MAIN]++, 0, WT_CLOCK_REALTIME, 1700000000000000000,
			     5));
	spans();
	values();
	texts();
	contexts();
	ops();
	end_stream();
	begin_stream(argv[1], "200.wt", 200);
	define();
	ADD(WT_KIND_SPAN_BEGIN, MAIN, 5000, NAME_INNER);
	ADD(WT_KIND_SPAN_END, MAIN, 6000, NAME_INNER);
	op(QUEUE, 6001, 501, 5500, 5600); /* the same correlation as in the other process */
	end_stream();
	return 0;
}
