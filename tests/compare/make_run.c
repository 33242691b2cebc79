/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run of one process with a few system calls, for what real programs cannot be asked to
 * give: lost events, another architecture.
 *
 *	make_run FOLDER [lost|aarch64|empty|values STEP|trains STEPS|says STEPS]
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

#include "syscall/table.h"

enum { TRACK = 1, PID = 4711 };

static struct wt_writer *out;
static uint64_t seq;

static void must(int status)
{
	if (status) {
		fprintf(stderr, "make_run: %d\n", status);
		exit(1);
	}
}

static void add(uint16_t kind, const uint64_t *values, const char *text, size_t bytes)
{
	struct wt_text texts = {text, bytes};

	must(wt_writer_append(out, kind, TRACK, seq, 1000 * (seq + 1), values, 32, &texts));
	seq++;
}

/* openat() of a path, which is packed behind its head. */
static void open_file(enum wti_arch arch, const char *path)
{
	size_t bytes = strlen(path) + 1;
	char memory[256] = {(char)bytes, 0, 1, 0};
	uint64_t values[32] = {0};

	memcpy(memory + 4, path, bytes);
	values[WT_SYSCALL_FIELD_NR] = (uint64_t)wti_call_number(arch, "openat");
	values[WT_SYSCALL_FIELD_A0] = (uint64_t)AT_FDCWD;
	values[WT_SYSCALL_FIELD_A1] = 0x1000;
	values[WT_SYSCALL_FIELD_RESULT] = 3;
	values[WT_SYSCALL_FIELD_ARCH] = arch;
	add(WT_KIND_SYSCALL, values, memory, bytes + 4);
}

/* Ten steps with a loss, which is another from step `late` on; 0: it stays as it is. */
static void write_values(int late)
{
	must(wt_writer_string(out, 1, "step", 4));
	must(wt_writer_string(out, 2, "loss", 4));
	for (int step = 0; step < 10; step++) {
		double loss = 1.0 / (1 + step) + (late && step >= late);
		uint64_t context[32] = {1, WT_VALUE_TYPE_INT, (uint64_t)step}, counter[32] = {2};

		memcpy(&counter[WT_COUNTER_FIELD_VALUE], &loss, sizeof(loss));
		add(WT_KIND_CONTEXT, context, "", 0);
		add(WT_KIND_COUNTER, counter, "", 0);
	}
}

enum { STEP = 1, STAGE = 2, FORWARD = 3, BACKWARD = 4, TORCH = 5, NN = 6 };

static void say_step(int step)
{
	add(WT_KIND_CONTEXT, (uint64_t[32]){STEP, WT_VALUE_TYPE_INT, (uint64_t)step}, "", 0);
}

static void call(uint64_t callee, uint64_t module)
{
	uint64_t values[32] = {0};

	values[WT_CALL_BEGIN_FIELD_CALLEE] = callee;
	values[WT_CALL_BEGIN_FIELD_MODULE] = module;
	add(WT_KIND_CALL_BEGIN, values, "", 0);
	add(WT_KIND_CALL_END, (uint64_t[32]){callee}, "", 0);
}

/* As the Python agent writes a training: it counts steps where they end, unless the program says
 * where they begin. */
static void write_training(int steps, bool is_said)
{
	static const char *const strings[] = {
		"step", "stage", "Linear.forward", "Tensor.backward", "torch", "torch.nn"};

	for (uint32_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		must(wt_writer_string(out, i + 1, strings[i], strlen(strings[i])));
	say_step(0);
	add(WT_KIND_CONTEXT, (uint64_t[32]){STAGE, WT_VALUE_TYPE_TEXT}, "init", 4);
	open_file(WTI_ARCH_X86_64, "/data/before");
	for (int step = 0; step < steps; step++) {
		if (is_said)
			say_step(step + 1);
		call(FORWARD, NN);
		call(BACKWARD, TORCH);
		open_file(WTI_ARCH_X86_64, "/data/step");
		if (!is_said)
			say_step(step + 1);
	}
	open_file(WTI_ARCH_X86_64, "/data/after");
}

static void write_run(const char *what, int number)
{
	enum wti_arch arch = strcmp(what, "aarch64") ? WTI_ARCH_X86_64 : WTI_ARCH_AARCH64;
	uint64_t task[32] = {PID, PID, 0, WT_TASK_PROGRAM}, lost[32] = {WT_LOST_RING_FULL, 0, 7};
	uint64_t end[32] = {PID, PID, 0, 1};

	must(wt_writer_track(out, &(struct wt_track){.id = TRACK,
						     .type = WT_TRACK_THREAD,
						     .tid = PID,
						     .name = "p",
						     .name_bytes = 1}));
	add(WT_KIND_TASK, task, "p", 1);
	if (strcmp(what, "empty") != 0)
		open_file(arch, "/data/x");
	if (!strcmp(what, "lost"))
		add(WT_KIND_LOST, lost, "", 0);
	if (!strcmp(what, "values"))
		write_values(number);
	if (!strcmp(what, "trains") || !strcmp(what, "says"))
		write_training(number, !strcmp(what, "says"));
	add(WT_KIND_TASK_END, end, "", 0);
}

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	struct wt_err err = {0};
	char path[4096];

	if (argc < 2 || mkdir(argv[1], 0700)) {
		fprintf(stderr,
			"usage: make_run FOLDER [lost|aarch64|empty|values STEP|trains STEPS|"
			"says STEPS]\n");
		return 2;
	}
	wt_writer_options_init(&options);
	options.identity.pid = PID;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(path, sizeof(path), "%s/syscalls.wt", argv[1]);
	must(wt_writer_create(path, &options, &out, &err));
	write_run(argc > 2 ? argv[2] : "", argc > 3 ? atoi(argv[3]) : 0);
	must(wt_writer_finish(out, &err));
	wt_writer_free(out);
	return 0;
}
