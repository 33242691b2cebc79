/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of many processes that train side by side and become known one after another, each
 * with its own model, optimizer and parameters, and one stream of their system calls.
 *
 *	make_many FOLDER PROCESSES [SEED]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

#include "syscall/table.h"

enum {
	STEPS = 9,
	STEPS_OF_EPOCH = 3,
	LAYERS = 40,
	PROCESSES_MAX = 4096,
	VALUES = 32,
	FIRST_PID = 1000
};

struct stream {
	struct wt_writer *out;
	uint32_t pid;
	uint64_t seq[PROCESSES_MAX]; /* of each track */
	uint32_t string_count;
	char *strings[512];
};

static uint64_t now = 1000; /* of all streams: each event has its own time */
static unsigned seed;

static void must(int status)
{
	if (status) {
		fprintf(stderr, "make_many: %d\n", status);
		exit(1);
	}
}

static struct stream *stream_new(const char *folder, const char *name, uint32_t pid)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct wt_writer_options options;
	struct wt_err err = {0};
	char path[4096];

	wt_writer_options_init(&options);
	options.identity.pid = pid;
	options.identity.start_time = pid;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(path, sizeof(path), "%s/%s.wt", folder, name);
	must(!s || wt_writer_create(path, &options, &s->out, &err));
	s->pid = pid;
	return s;
}

static void stream_end(struct stream *s)
{
	struct wt_err err = {0};

	must(wt_writer_finish(s->out, &err));
	wt_writer_free(s->out);
	for (uint32_t i = 0; i < s->string_count; i++)
		free(s->strings[i]);
	free(s);
}

static uint64_t string(struct stream *s, const char *text)
{
	for (uint32_t i = 0; i < s->string_count; i++)
		if (!strcmp(s->strings[i], text))
			return i + 1;
	s->strings[s->string_count++] = strdup(text);
	must(wt_writer_string(s->out, s->string_count, text, strlen(text)));
	return s->string_count;
}

static uint64_t add(struct stream *s, uint32_t track, uint16_t kind, const uint64_t values[VALUES],
		    const char *text, size_t bytes)
{
	struct wt_text texts[2] = {{text, bytes}, {"", 0}};

	now += 1000;
	must(wt_writer_append(s->out, kind, track, s->seq[track], now, values, VALUES, texts));
	return s->seq[track]++;
}

static void track(struct stream *s, uint32_t id, uint32_t tid)
{
	must(wt_writer_track(s->out, &(struct wt_track){.id = id,
							.type = WT_TRACK_THREAD,
							.tid = tid,
							.name = "main",
							.name_bytes = 4}));
}

/* ---- A process that trains ------------------------------------------------------------------- */

static void context(struct stream *s, const char *key, int64_t value, const char *text)
{
	uint64_t values[VALUES] = {[WT_CONTEXT_FIELD_KEY] = string(s, key),
				   [WT_CONTEXT_FIELD_TYPE] =
					   *text ? WT_VALUE_TYPE_TEXT : WT_VALUE_TYPE_INT,
				   [WT_CONTEXT_FIELD_VALUE] = (uint64_t)value};

	add(s, 1, WT_KIND_CONTEXT, values, text, strlen(text));
}

static void object(struct stream *s, const char *name, uint64_t type, const char *class_name,
		   const char *of)
{
	uint64_t values[VALUES] = {[WT_OBJECT_FIELD_NAME] = string(s, name),
				   [WT_OBJECT_FIELD_TYPE] = type,
				   [WT_OBJECT_FIELD_CLASS] = string(s, class_name),
				   [WT_OBJECT_FIELD_OF] = *of ? string(s, of) : 0};

	add(s, 1, WT_KIND_OBJECT, values, "", 0);
}

static void member(struct stream *s, int layer, uint64_t role)
{
	char name[32];
	uint64_t values[VALUES] = {[WT_MEMBER_FIELD_OWNER] = string(s, "Net"),
				   [WT_MEMBER_FIELD_ROLE] = role,
				   [WT_MEMBER_FIELD_SHAPE] = string(s, "8x8"),
				   [WT_MEMBER_FIELD_FLAGS] = 1};

	snprintf(name, sizeof(name), "fc%d.weight", layer);
	values[WT_MEMBER_FIELD_OBJECT] = string(s, role == WT_ROLE_OPTIMIZED ? "Adam" : "Net");
	values[WT_MEMBER_FIELD_NAME] = values[WT_MEMBER_FIELD_KNOWN_AS] = string(s, name);
	add(s, 1, WT_KIND_MEMBER, values, "", 0);
}

static uint64_t bits(double number)
{
	uint64_t as;

	memcpy(&as, &number, sizeof(as));
	return as;
}

static void state(struct stream *s, const char *owner, const char *attribute, uint64_t type,
		  uint64_t value)
{
	uint64_t values[VALUES] = {[WT_STATE_FIELD_OWNER] = string(s, owner),
				   [WT_STATE_FIELD_ATTRIBUTE] = string(s, attribute),
				   [WT_STATE_FIELD_TYPE] = type,
				   [WT_STATE_FIELD_NEW] = value};

	add(s, 1, WT_KIND_STATE, values, "", 0);
}

static uint64_t call(struct stream *s, const char *callee, const char *of, enum wt_action action)
{
	uint64_t begin[VALUES] = {[WT_CALL_BEGIN_FIELD_CALLEE] = string(s, callee),
				  [WT_CALL_BEGIN_FIELD_MODULE] = string(s, "torch"),
				  [WT_CALL_BEGIN_FIELD_FLAGS] = 7,
				  [WT_CALL_BEGIN_FIELD_OBJECT] = *of ? string(s, of) : 0,
				  [WT_CALL_BEGIN_FIELD_ACTION] = action};
	uint64_t end[VALUES] = {[WT_CALL_END_FIELD_CALLEE] = string(s, callee)};
	uint64_t tensor[VALUES] = {[WT_TENSOR_FIELD_NAME] = string(s, "batch"),
				   [WT_TENSOR_FIELD_SHAPE] = string(s, "16x8"),
				   [WT_TENSOR_FIELD_COUNT] = 128,
				   [WT_TENSOR_FIELD_HASH] = now,
				   [WT_TENSOR_FIELD_POSITION] = (uint64_t)-1};

	tensor[WT_TENSOR_FIELD_CALL] = add(s, 1, WT_KIND_CALL_BEGIN, begin, "", 0);
	if (action == WT_ACTION_BATCH)
		add(s, 1, WT_KIND_TENSOR, tensor, "", 0);
	add(s, 1, WT_KIND_CALL_END, end, "", 0);
	return tensor[WT_TENSOR_FIELD_CALL];
}

static void step(struct stream *s, int number)
{
	char name[32];
	uint64_t loss[VALUES] = {[WT_COUNTER_FIELD_NAME] = string(s, "loss"),
				 [WT_COUNTER_FIELD_VALUE] = bits(1.0 / (number + 1))};
	uint64_t end[VALUES] = {[WT_STEP_END_FIELD_OBJECT] = string(s, "Adam")};

	if (number % STEPS_OF_EPOCH == 0)
		context(s, "epoch", number / STEPS_OF_EPOCH, "");
	context(s, "step", number, "");
	context(s, "stage", 0, "train");
	call(s, "DataLoader.__next__", "DataLoader", WT_ACTION_BATCH);
	call(s, "Net.forward", "Net", WT_ACTION_FORWARD);
	call(s, "Tensor.backward", "", WT_ACTION_BACKWARD);
	add(s, 1, WT_KIND_COUNTER, loss, "", 0);
	state(s, "Adam", "lr", WT_VALUE_TYPE_FLOAT, bits(0.1 / (number + 1)));
	end[WT_STEP_END_FIELD_CALL] = call(s, "Adam.step", "Adam", WT_ACTION_STEP);
	for (int i = 0; i < LAYERS; i++) {
		snprintf(name, sizeof(name), "fc%d.weight", i);
		state(s, "Net", name, WT_VALUE_TYPE_HASH, now * 31 + seed);
	}
	add(s, 1, WT_KIND_STEP_END, end, "", 0);
	call(s, "StepLR.step", "StepLR", WT_ACTION_SCHEDULER_STEP);
}

static void begin_process(struct stream *s)
{
	track(s, 1, s->pid);
	object(s, "Net", WT_OBJECT_TYPE_MODULE, "Net", "");
	object(s, "Adam", WT_OBJECT_TYPE_OPTIMIZER, "Adam", "");
	object(s, "StepLR", WT_OBJECT_TYPE_SCHEDULER, "StepLR", "Adam");
	object(s, "DataLoader", WT_OBJECT_TYPE_LOADER, "DataLoader", "");
	for (int i = 0; i < LAYERS; i++) {
		member(s, i, WT_ROLE_PARAMETER);
		member(s, i, WT_ROLE_OPTIMIZED);
	}
}

/* ---- System calls ---------------------------------------------------------------------------- */

static void task(struct stream *s, int index, uint32_t pid)
{
	uint64_t values[VALUES] = {[WT_TASK_FIELD_TID] = pid,
				   [WT_TASK_FIELD_PID] = pid,
				   [WT_TASK_FIELD_PARENT] = index ? FIRST_PID : 0,
				   [WT_TASK_FIELD_HOW] = index ? WT_TASK_PROCESS : WT_TASK_PROGRAM};

	track(s, (uint32_t)index + 1, pid);
	add(s, (uint32_t)index + 1, WT_KIND_TASK, values, "train", 5);
}

static void task_end(struct stream *s, int index, uint32_t pid)
{
	uint64_t values[VALUES] = {[WT_TASK_END_FIELD_TID] = pid,
				   [WT_TASK_END_FIELD_PID] = pid,
				   [WT_TASK_END_FIELD_FLAGS] = 1};

	add(s, (uint32_t)index + 1, WT_KIND_TASK_END, values, "", 0);
}

/* openat() of a path, which is packed behind its head. */
static void open_file(struct stream *s, int index, int step_number)
{
	char memory[256] = {0, 0, 1, 0};
	int bytes = snprintf(memory + 4, 200, "/data/%d-%d", index, step_number) + 1;
	uint64_t values[VALUES] = {
		[WT_SYSCALL_FIELD_NR] = (uint64_t)wti_call_number(WTI_ARCH_X86_64, "openat"),
		[WT_SYSCALL_FIELD_A0] = (uint64_t)AT_FDCWD,
		[WT_SYSCALL_FIELD_A1] = 0x1000,
		[WT_SYSCALL_FIELD_RESULT] = 3,
		[WT_SYSCALL_FIELD_DURATION] = 500,
		[WT_SYSCALL_FIELD_ARCH] = WTI_ARCH_X86_64,
	};

	memory[0] = (char)bytes;
	add(s, (uint32_t)index + 1, WT_KIND_SYSCALL, values, memory, (size_t)bytes + 4);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void write_run(const char *folder, int processes)
{
	static struct stream *all[PROCESSES_MAX];
	struct stream *calls = stream_new(folder, "syscalls", 1);
	char name[32];

	/* One more in each round, and all that are there take a step. Streams are read in the
	 * order of their names: those of the processes come one after another. */
	for (int round = 0; round < processes + STEPS; round++) {
		if (round < processes) {
			snprintf(name, sizeof(name), "train-%04d", round);
			task(calls, round, FIRST_PID + (uint32_t)round);
			all[round] = stream_new(folder, name, FIRST_PID + (uint32_t)round);
			begin_process(all[round]);
		}
		for (int i = round < STEPS ? 0 : round - STEPS + 1; i <= round && i < processes;
		     i++) {
			step(all[i], round - i);
			open_file(calls, i, round - i);
		}
	}
	for (int i = 0; i < processes; i++) {
		task_end(calls, i, all[i]->pid);
		stream_end(all[i]);
	}
	stream_end(calls);
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[2]) : 0;

	if (processes < 1 || processes >= PROCESSES_MAX || mkdir(argv[1], 0700)) {
		fprintf(stderr, "usage: make_many FOLDER PROCESSES [SEED]\n");
		return 2;
	}
	seed = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	write_run(argv[1], processes);
	return 0;
}
