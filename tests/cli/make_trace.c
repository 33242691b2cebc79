/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes small traces whose figures are known: make_trace NAME FILE [LATER]. test_cli.py knows what
 * must come out of each; the times here are in microseconds after the start, and so is LATER, by
 * which all of them come later. One file, though a long one: a list of traces, a few lines each,
 * that share the functions at its beginning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#define START_NS (5000000000ull + 1000 * later_us)
#define LONG_BYTES 65535u /* the longest name that a trace holds */
#define LONG_TEXT_BYTES (1u << 20)

static struct wt_writer *writer;
static uint64_t later_us;
static uint64_t seqs[64];

/* The process that a trace is of, as the table below has it. */
static struct {
	uint32_t pid, ppid;
	uint32_t rank; /* plus one; 0: it is none */
} who = {.pid = 100};

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "make_trace: error %d\n", r);
		exit(1);
	}
}

static void put_texts(uint16_t kind, uint32_t track, double us, const uint64_t *values,
		      const struct wt_text *texts)
{
	must(wt_writer_append(writer, kind, track, seqs[track]++,
			      START_NS + (uint64_t)(us * 1000 + 0.5), values, WT_FIELDS_MAX,
			      texts));
}

static void put(uint16_t kind, uint32_t track, double us, const uint64_t *values)
{
	static const struct wt_text none[4];

	put_texts(kind, track, us, values, none);
}

static void name(uint32_t id, const char *text)
{
	must(wt_writer_string(writer, id, text, strlen(text)));
}

static void track(uint32_t id, uint32_t type, uint32_t device, const char *text)
{
	struct wt_track t = {id,     type, type == WT_TRACK_THREAD ? who.pid - 1 + id : 0,
			     device, text, strlen(text)};

	must(wt_writer_track(writer, &t));
}

static void begin(uint32_t on, double us, uint32_t id)
{
	put(WT_KIND_SPAN_BEGIN, on, us, (uint64_t[WT_FIELDS_MAX]){id, 0});
}

static void end(uint32_t on, double us, uint32_t id)
{
	put(WT_KIND_SPAN_END, on, us, (uint64_t[WT_FIELDS_MAX]){id, 0});
}

static void counter(uint32_t on, double us, uint32_t id, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(WT_KIND_COUNTER, on, us, (uint64_t[WT_FIELDS_MAX]){id, 0, bits});
}

static void context_int(uint32_t on, double us, uint32_t key, int64_t value)
{
	put(WT_KIND_CONTEXT, on, us,
	    (uint64_t[WT_FIELDS_MAX]){key, WT_VALUE_TYPE_INT, (uint64_t)value, 0});
}

static void context_text(uint32_t on, double us, uint32_t key, const char *value)
{
	struct wt_text text = {value, strlen(value)};

	put_texts(WT_KIND_CONTEXT, on, us, (uint64_t[WT_FIELDS_MAX]){key, WT_VALUE_TYPE_TEXT, 0, 0},
		  &text);
}

/* An operation told by track 1 at its end. */
static void device_op(uint32_t op, uint32_t id, uint32_t device, uint32_t queue, double from_us,
		      double to_us)
{
	uint64_t from = START_NS + (uint64_t)(from_us * 1000 + 0.5);
	uint64_t to = START_NS + (uint64_t)(to_us * 1000 + 0.5);

	put(WT_KIND_DEVICE_OP, 1, to_us,
	    (uint64_t[WT_FIELDS_MAX]){op, id, device, queue, 0, 0, 7, 0, 0, from, to, 4096});
}

static void lost(uint32_t on, double us, uint32_t reason, uint64_t count)
{
	uint64_t at = START_NS + (uint64_t)(us * 1000);

	put(WT_KIND_LOST, on, us, (uint64_t[WT_FIELDS_MAX]){reason, 0, count, 0, 0, at - 1000, at});
}

/* Nested and recursive spans, counters, marks, context. */
static void make_spans(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "train");
	name(2, "forward");
	name(3, "backward");
	name(4, "loss");
	name(5, "tick");
	name(6, "step");
	name(7, "stage");
	context_int(1, 0, 6, 0);
	context_text(1, 0, 7, "train");
	begin(1, 0, 1);
	begin(1, 100, 2);
	begin(1, 200, 2);
	end(1, 300, 2);
	end(1, 400, 2);
	context_int(1, 400, 6, 1);
	begin(1, 400, 3);
	end(1, 900, 3);
	context_text(1, 900, 7, "eval");
	counter(1, 910, 4, 4);
	counter(1, 920, 4, 3);
	counter(1, 930, 4, __builtin_nan(""));
	counter(1, 940, 4, 2);
	put(WT_KIND_MARK, 1, 950, (uint64_t[WT_FIELDS_MAX]){5, 0, 11});
	put(WT_KIND_MARK, 1, 960, (uint64_t[WT_FIELDS_MAX]){5, 0, 12});
	end(1, 1000, 1);
}

static void call(double us, uint32_t callee, uint32_t module, uint32_t site)
{
	put(WT_KIND_CALL_BEGIN, 1, us, (uint64_t[WT_FIELDS_MAX]){callee, module, site});
}

static void call_over(double us, uint32_t callee)
{
	put(WT_KIND_CALL_END, 1, us, (uint64_t[WT_FIELDS_MAX]){callee});
}

/* A tensor of the call that began with this sequence number; 0: of none. */
static void tensor(double us, uint64_t of)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_TENSOR_FIELD_CALL] = of;
	put(WT_KIND_TENSOR, 1, us, values);
}

/* Calls of two modules from three lines: f calls g, which calls itself once; h is of the user's. */
static void make_calls(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "f");
	name(2, "g");
	name(3, "h");
	name(4, "lib.a");
	name(5, "lib.b");
	name(6, "/src/train.py");
	name(7, "step");
	name(8, "augment");
	for (uint32_t id = 1; id <= 3; id++)
		must(wt_writer_site(writer, id, &(struct wt_site){6, 0, 10 * id}));
	context_int(1, 0, 7, 0);
	begin(1, 0, 8); /* sequence number 1; the span is around all of step 0 */
	call(100, 1, 4, 1);
	tensor(110, 2);
	call(200, 2, 5, 2);
	call(300, 2, 5, 2);
	tensor(310, 2); /* told within g, but an argument of f */
	call_over(400, 2);
	call_over(500, 2);
	call_over(900, 1);
	end(1, 1000, 8);
	context_int(1, 1000, 7, 1);
	tensor(1010, 0); /* outside of calls */
	call(1100, 3, 0, 0);
	call_over(1200, 3);
	call(1300, 1, 4, 3); /* never returns */
	tensor(1310, 0);
}

/* Operations side by side on two devices; what waits does not count. */
static void make_devices(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	track(2, WT_TRACK_QUEUE, 0, "compute");
	track(3, WT_TRACK_QUEUE, 0, "copy");
	track(4, WT_TRACK_QUEUE, 1, "compute");
	name(1, "gemm");
	name(2, "upload");
	name(3, "synchronize");
	begin(1, 0, 3);
	device_op(WT_OP_KERNEL, 1, 0, 2, 100, 300);
	device_op(WT_OP_KERNEL, 1, 0, 2, 250, 400);
	device_op(WT_OP_COPY, 2, 0, 3, 350, 500);
	device_op(WT_OP_KERNEL, 1, 0, 2, 500, 500);
	device_op(WT_OP_KERNEL, 1, 1, 4, 600, 700);
	device_op(WT_OP_SYNC, 3, 0, 2, 500, 900);
	end(1, 1000, 3);
}

static void syscall_of(uint32_t on, uint32_t nr, double from_us, double to_us, uint64_t flags)
{
	uint64_t values[WT_FIELDS_MAX] = {nr};

	values[WT_SYSCALL_FIELD_DURATION] = (uint64_t)((to_us - from_us) * 1000 + 0.5);
	values[WT_SYSCALL_FIELD_ARCH] = WT_ARCH_X86_64;
	values[WT_SYSCALL_FIELD_FLAGS] = flags;
	put(WT_KIND_SYSCALL, on, to_us, values);
}

/* Of the main thread of the others, and of one that has nothing else: read, fsync, futex. */
static void make_syscalls(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	track(2, WT_TRACK_THREAD, 0, "helper");
	syscall_of(1, 0, 0, 50, 0);
	syscall_of(1, 74, 200, 350, 0);
	syscall_of(1, 0, 400, 500, WT_SYSCALL_OWN);
	syscall_of(2, 202, 100, 800, 0);
}

/* Steps that call things that call things: more than any picture has bars. */
static void make_steps(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "train");
	name(2, "step");
	name(3, "forward");
	begin(1, 0, 1);
	for (int i = 0; i < 20000; i++) {
		double at = 10.0 * i;

		begin(1, at + 1, 2);
		begin(1, at + 2, 3);
		end(1, at + 4, 3);
		end(1, at + 9, 2);
	}
	end(1, 200000, 1);
}

/* 1000 spans of 1 to 1000 us, in an order that is not theirs. */
static void make_quantiles(void)
{
	double at = 0;

	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "work");
	for (int i = 0; i < 1000; i++) {
		double length = 1 + i * 7919 % 1000;

		begin(1, at, 1);
		end(1, at + length, 1);
		at += length + 1;
	}
}

static void make_hostile(void)
{
	static char long_name[LONG_BYTES], long_text[LONG_TEXT_BYTES];
	static const char *const names[] = {"two\nlines",
					    "quote\"and,comma",
					    "back\\slash",
					    "bad\xff\xfe utf8",
					    "\x1b[31mred",
					    "tab\there",
					    "caf\xc3\xa9 \xe6\xbc\xa2",
					    "| pipe | *star* <b>",
					    "=1+1",
					    "cr\rlf"};
	struct wt_text text = {"a\0b\n\"\xc3", 6};

	track(1, WT_TRACK_THREAD, 0, "trk\n\"\xff");
	memset(long_name, 'n', sizeof(long_name));
	memset(long_text, 't', sizeof(long_text));
	for (uint32_t i = 0; i < 10; i++) {
		name(i + 1, names[i]);
		begin(1, 10 * i, i + 1);
		end(1, 10 * i + 5, i + 1);
		put(WT_KIND_MARK, 1, 10 * i + 6, (uint64_t[WT_FIELDS_MAX]){i + 1, 0, UINT64_MAX});
		counter(1, 10 * i + 7, i + 1, -1.0 / 3);
	}
	must(wt_writer_string(writer, 11, long_name, sizeof(long_name)));
	put(WT_KIND_MARK, 1, 200, (uint64_t[WT_FIELDS_MAX]){11, 0, 0});
	put(WT_KIND_MARK, 1, 201, (uint64_t[WT_FIELDS_MAX]){4000000000u, 0, 0}); /* no such name */
	put_texts(WT_KIND_LOG, 1, 202, (uint64_t[WT_FIELDS_MAX]){WT_LEVEL_ERROR, 0}, &text);
	put_texts(WT_KIND_LOG, 1, 203, (uint64_t[WT_FIELDS_MAX]){77, 0}, &text); /* no such level */
	text = (struct wt_text){long_text, sizeof(long_text)};
	put_texts(WT_KIND_LOG, 1, 204, (uint64_t[WT_FIELDS_MAX]){WT_LEVEL_INFO, 0}, &text);
	put(WT_KIND_TENSOR, 1, 205,
	    (uint64_t[WT_FIELDS_MAX]){1, 2, WT_DTYPE_F32, 0, 0, 0, 6, 0xdeadbeef, 0, 0, 0, 0, 0, 0,
				      0});
}

/* A run that was killed in step 3, with losses and a span whose end is missing. */
static void make_killed(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "train");
	name(2, "forward");
	name(3, "step");
	name(4, "epoch");
	context_int(1, 0, 4, 1);
	begin(1, 0, 1);
	for (int step = 0; step < 4; step++) {
		context_int(1, 100 * step, 3, step);
		begin(1, 100 * step + 10, 2);
		if (step < 3)
			end(1, 100 * step + 60, 2);
	}
	lost(1, 200, WT_LOST_RING_FULL, 40);
	lost(1, 250, WT_LOST_RING_FULL, 2);
	lost(1, 260, WT_LOST_DISK, 8);
}

/* An end without a begin and a begin without an end, as after a loss. */
static void make_unmatched(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "outer");
	name(2, "inner");
	end(1, 10, 2);
	begin(1, 100, 1);
	begin(1, 150, 2);
	end(1, 200, 1);
}

/* What the recorder writes for itself, around two marks. */
static void make_watermarks(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "tick");
	put(WT_KIND_CLOCK, 1, 0, (uint64_t[WT_FIELDS_MAX]){2, 10, START_NS});
	for (int i = 0; i < 3; i++) {
		put(WT_KIND_WATERMARK, 1, 100 * i + 10, (uint64_t[WT_FIELDS_MAX]){START_NS});
		if (i)
			put(WT_KIND_MARK, 1, 100 * i + 20, (uint64_t[WT_FIELDS_MAX]){1, 0, 0});
	}
}

/* Three tensors: one that was read, one that was not, one of which there is a hash alone. */
static void make_tensors(void)
{
	static const uint64_t flags[] = {0, 4 | 8, 4};
	double min = 1.5;

	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "x");
	for (int i = 0; i < 3; i++) {
		uint64_t values[WT_FIELDS_MAX] = {1};

		values[WT_TENSOR_FIELD_FLAGS] = flags[i];
		values[WT_TENSOR_FIELD_COUNT] = 6;
		values[WT_TENSOR_FIELD_HASH] = flags[i] & 8 ? 0 : 0xbeef;
		if (!flags[i])
			memcpy(&values[WT_TENSOR_FIELD_MIN], &min, sizeof(min));
		put(WT_KIND_TENSOR, 1, 100 * i, values);
	}
}

/* Bits that have a name, and one that has none. */
static void make_flags(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "Net.forward");
	put(WT_KIND_TASK_END, 1, 0,
	    (uint64_t[WT_FIELDS_MAX]){1, 1, 0, WT_TASK_END_LAST | WT_TASK_END_DUMPED | 1u << 20});
	put(WT_KIND_SIGNAL, 1, 100, (uint64_t[WT_FIELDS_MAX]){10, 0, WT_SIGNAL_STOPPED});
	put(WT_KIND_CALL_BEGIN, 1, 200,
	    (uint64_t[WT_FIELDS_MAX]){1, 0, 0, WT_CALL_MODE_KNOWN | WT_CALL_GRAD});
}

/*
 * Five seconds as the recorder writes them: a flush each, which begins with a clock. A span `main`
 * around all that never ends, ten calls of 50 ms and an operator in each second, and if asked a
 * span `load` in the second of them.
 */
static void flushed(bool has_load)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name(1, "main");
	name(2, "load");
	name(3, "work");
	name(4, "op");
	begin(1, 0, 1);
	for (int i = 0; i < 5; i++) {
		double at = 1e6 * i;

		if (has_load && i == 1) {
			begin(1, at, 2);
			end(1, at + 1000, 2);
		}
		put(WT_KIND_OPERATOR_BEGIN, 1, at + 2000, (uint64_t[WT_FIELDS_MAX]){4});
		put(WT_KIND_OPERATOR_END, 1, at + 3000, (uint64_t[WT_FIELDS_MAX]){4});
		for (int j = 0; j < 10; j++) {
			call(at + 1e5 * j + 4000, 3, 0, 0);
			call_over(at + 1e5 * j + 54000, 3);
		}
		put(WT_KIND_CLOCK, 1, at + 999999,
		    (uint64_t[WT_FIELDS_MAX]){2, 10, START_NS + (uint64_t)(at + 999999) * 1000});
		must(wt_writer_flush(writer, NULL));
	}
}

static void make_flushed(void)
{
	flushed(false);
}

static void make_flushed_load(void)
{
	flushed(true);
}

/* ---- Training -------------------------------------------------------------------------------- */

enum { GRAD = 4, OUTERMOST = 32 }; /* flags of a call of a model */

static void introduce(uint32_t on)
{
	struct wt_text command = {"python", 6};

	put_texts(WT_KIND_PROCESS, on, 0, (uint64_t[WT_FIELDS_MAX]){who.pid, who.ppid, 0, 0},
		  &command);
	if (who.rank)
		put(WT_KIND_RANK, on, 0, (uint64_t[WT_FIELDS_MAX]){who.rank - 1, 2, who.rank - 1});
}

static void name_training(void)
{
	static const char *const names[] = {"DataLoader.__next__",
					    "torch.utils.data",
					    "Net.forward",
					    "torch.nn.modules.container",
					    "Tensor.backward",
					    "torch",
					    "SGD.step",
					    "torch.optim.sgd",
					    "step",
					    "DataLoader.worker",
					    "DataLoader.fetch",
					    "manual_seed",
					    "8x10",
					    "4x10",
					    "16x10",
					    "5x10"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		name(i + 1, names[i]);
}

/* Of the call that began last: a result, or an argument. */
static void described(double us, uint32_t shape, int64_t position)
{
	static uint64_t call_seq;
	uint64_t values[WT_FIELDS_MAX] = {0};

	if (shape == UINT32_MAX) { /* it begins now */
		call_seq = seqs[1];
		return;
	}
	values[WT_TENSOR_FIELD_SHAPE] = shape;
	values[WT_TENSOR_FIELD_CALL] = call_seq;
	values[WT_TENSOR_FIELD_POSITION] = (uint64_t)position;
	put(WT_KIND_TENSOR, 1, us, values);
}

static void act(double us, uint32_t callee, uint32_t module, enum wt_action action)
{
	put(WT_KIND_CALL_BEGIN, 1, us,
	    (uint64_t[WT_FIELDS_MAX]){callee, module, [WT_CALL_BEGIN_FIELD_ACTION] = action});
}

static void load_batch(double from_us, double to_us, uint32_t shape)
{
	described(0, UINT32_MAX, 0);
	act(from_us, 1, 2, WT_ACTION_BATCH);
	described(to_us, 0, -1); /* a number that comes with the batch */
	described(to_us, shape, -1);
	described(to_us, 15, -1); /* the second tensor does not count */
	call_over(to_us, 1);
}

/* A model that calls another. */
static void forward(double from_us, double to_us, uint64_t flags, uint32_t shape)
{
	described(0, UINT32_MAX, 0);
	put(WT_KIND_CALL_BEGIN, 1, from_us,
	    (uint64_t[WT_FIELDS_MAX]){3, 4, 0, flags, 0, WT_ACTION_FORWARD});
	if (shape)
		described(from_us, shape, 1);
	put(WT_KIND_CALL_BEGIN, 1, from_us,
	    (uint64_t[WT_FIELDS_MAX]){3, 4, 0, flags & ~OUTERMOST, 0, WT_ACTION_FORWARD});
	call_over(from_us + (to_us - from_us) / 2, 3);
	call_over(to_us, 3);
}

static void begin_training(void)
{
	track(1, WT_TRACK_THREAD, 0, "main");
	name_training();
	introduce(1);
}

/* Three whole steps of 1 ms each, with 20 samples; in the second 16 rows are evaluated. Before its
 * first batch the program does something else for 50 us. */
static void make_training(void)
{
	begin_training();
	for (int i = 0; i < 3; i++) {
		double at = 1000 * i;

		context_int(1, at, 9, i);
		load_batch(at + 50, at + 150, i < 2 ? 13 : 14);
		forward(at + 200, at + 500, GRAD | OUTERMOST, 13);
		act(at + 500, 5, 6, WT_ACTION_BACKWARD);
		call_over(at + 700, 5);
		if (i == 1) {
			load_batch(at + 700, at + 710, 15);
			forward(at + 720, at + 730, OUTERMOST, 15);
		}
		act(at + 850, 7, 8, WT_ACTION_STEP);
		if (i < 2) {
			call_over(at + 950, 7);
		} else { /* the step ends within the call */
			context_int(1, at + 1000, 9, 3);
			call_over(at + 1100, 7);
		}
	}
}

/* An agent's own queue was full: three device operations are missing, and nothing else. */
static void make_training_full_queue(void)
{
	make_training();
	put(WT_KIND_LOST, 1, 3200,
	    (uint64_t[WT_FIELDS_MAX]){WT_LOST_CEILING, WT_KIND_DEVICE_OP, 3});
}

/* Ten steps of a program that numbers them itself, with nothing between the end of one and the next
 * but that number. */
static void make_own_steps(void)
{
	begin_training();
	for (int i = 0; i < 10; i++) {
		double at = 1000 * i;

		context_int(1, at, 9, i);
		act(at + 100, 7, 8, WT_ACTION_STEP);
		call_over(at + 200, 7);
		put(WT_KIND_STEP_END, 1, at + 210, (uint64_t[WT_FIELDS_MAX]){7});
	}
}

/* Three steps of two optimizers as an agent counts them: where the first has stepped. */
static void make_two_optimizers(void)
{
	begin_training();
	context_int(1, 0, 9, 0);
	for (int i = 0; i < 3; i++) {
		double at = 1000 * i;

		for (uint32_t j = 0; j < 2; j++) {
			act(at + 100 + 300 * j, 7, 8, WT_ACTION_STEP);
			call_over(at + 200 + 300 * j, 7);
			put(WT_KIND_STEP_END, 1, at + 210 + 300 * j,
			    (uint64_t[WT_FIELDS_MAX]){7 + j});
			if (!j)
				context_int(1, at + 220, 9, i + 1);
		}
	}
}

/* Without a DataLoader: two steps, of two batches of 5 each, whose gradients are added up. */
static void train_without_loader(uint32_t shape)
{
	begin_training();
	for (int i = 0; i < 3; i++) {
		double at = 1000 * i;

		context_int(1, at, 9, i);
		for (int j = 0; j < 2; j++, at += 200) {
			forward(at, at + 100, GRAD | OUTERMOST, shape);
			forward(at + 100, at + 120, GRAD | OUTERMOST, shape); /* a loss */
			act(at + 120, 5, 6, WT_ACTION_BACKWARD);
			call_over(at + 150, 5);
		}
	}
}

static void make_own_batches(void)
{
	train_without_loader(16);
}

static void make_unknown_batches(void)
{
	train_without_loader(0);
}

/*
 * Two whole steps of 1 ms, in which the optimizer calls a closure twice: forward 200 us and
 * backward 100 us of it, in which a piece of the model is computed once more. Before that, a batch
 * is loaded in 100 us, for which a module is called.
 */
static void make_closure(void)
{
	begin_training();
	for (int i = 0; i < 3; i++) {
		double at = 1000 * i;

		context_int(1, at, 9, i);
		act(at, 1, 2, WT_ACTION_BATCH);
		forward(at + 20, at + 80, 0, 0);
		call_over(at + 100, 1);
		act(at + 100, 7, 8, WT_ACTION_STEP);
		for (int j = 0; j < 2; j++) {
			double turn = at + 150 + 350 * j;

			forward(turn, turn + 200, GRAD | OUTERMOST, 13);
			act(turn + 200, 5, 6, WT_ACTION_BACKWARD);
			forward(turn + 220, turn + 260, GRAD, 0);
			call_over(turn + 300, 5);
		}
		call_over(at + 900, 7);
	}
}

/* A worker that loads for 300 us of its life. */
static void worker(double from_us)
{
	track(2, WT_TRACK_THREAD, 0, "worker");
	track(3, WT_TRACK_THREAD, 0, "pin_memory");
	name_training();
	introduce(2);
	put(WT_KIND_CALL_BEGIN, 2, from_us - 20, (uint64_t[WT_FIELDS_MAX]){12, 2, 0});
	put(WT_KIND_CALL_END, 2, from_us - 10, (uint64_t[WT_FIELDS_MAX]){12});
	put(WT_KIND_CALL_BEGIN, 2, from_us, (uint64_t[WT_FIELDS_MAX]){10, 2, 0});
	put(WT_KIND_CALL_BEGIN, 2, from_us + 100, (uint64_t[WT_FIELDS_MAX]){11, 2, 0});
	put(WT_KIND_CALL_END, 2, from_us + 400, (uint64_t[WT_FIELDS_MAX]){11});
	put(WT_KIND_MARK, 3, from_us + 500, (uint64_t[WT_FIELDS_MAX]){12});
	put(WT_KIND_CALL_END, 2, from_us + 1000, (uint64_t[WT_FIELDS_MAX]){10});
}

/* Two beside each other, and one after them. */
static void make_worker1(void)
{
	worker(1000);
}

static void make_worker2(void)
{
	worker(1500);
}

static void make_worker3(void)
{
	worker(4000);
}

static const struct {
	const char *name;
	void (*make)(void);
	uint32_t pid, ppid, rank; /* plus one; 0: as all others */
} traces[] = {
	{"spans", make_spans},
	{"calls", make_calls},
	{"devices", make_devices},
	{"other_devices", make_devices, 120, 0},
	{"syscalls", make_syscalls},
	{"steps", make_steps},
	{"quantiles", make_quantiles},
	{"hostile", make_hostile},
	{"killed", make_killed},
	{"unmatched", make_unmatched},
	{"watermarks", make_watermarks},
	{"tensors", make_tensors},
	{"flags", make_flags},
	{"flushed", make_flushed},
	{"flushed_load", make_flushed_load},
	{"training", make_training},
	{"training_full_queue", make_training_full_queue},
	{"own_steps", make_own_steps},
	{"two_optimizers", make_two_optimizers},
	{"closure", make_closure},
	{"own_batches", make_own_batches},
	{"unknown_batches", make_unknown_batches},
	{"worker1", make_worker1, 201, 100},
	{"worker2", make_worker2, 202, 100},
	{"worker3", make_worker3, 203, 100},
	{"rank0", make_training, 110, 100, 1},
	{"rank1", make_training, 111, 100, 2},
	{"rank0_worker1", make_worker1, 301, 110},
	{"rank1_worker1", make_worker1, 302, 111},
	{"rank1_worker2", make_worker3, 303, 111},
};

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	struct wt_err err = {0};

	if (argc != 3 && argc != 4)
		return 2;
	later_us = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = who.pid;
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		if (strcmp(traces[i].name, argv[1]) != 0 || !traces[i].pid)
			continue;
		options.identity.pid = who.pid = traces[i].pid;
		who.ppid = traces[i].ppid;
		who.rank = traces[i].rank;
	}
	memcpy(options.identity.command, "known", sizeof("known"));
	if (wt_writer_create(argv[2], &options, &writer, &err)) {
		fprintf(stderr, "make_trace: %s\n", err.message);
		return 1;
	}
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		if (!strcmp(traces[i].name, argv[1]))
			traces[i].make();
	}
	must(wt_writer_finish(writer, &err));
	wt_writer_free(writer);
	return 0;
}
