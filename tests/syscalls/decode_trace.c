/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the run that test_decode_export.py knows call by call: two threads, descriptors that are
 * opened, copied and closed, a call that never returned, one of a guest of the recorder's, memory
 * that is not whole, names that are no text.
 *
 * usage: decode_trace FOLDER
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "syscall/record.h"

enum { MAIN = 1, CHILD };
enum { MAIN_TID = 100, CHILD_TID = 101 };

static const char markup[] = "</td><script>alert('x')</script>&\n\xff";
static struct wt_writer *out;
static uint64_t seqs[3], now = 1000;

static void must(int status)
{
	if (status) {
		fprintf(stderr, "decode_trace: %d\n", status);
		exit(1);
	}
}

/* A piece behind argument `arg`. */
struct piece {
	uint8_t arg;
	uint8_t flags; /* enum wti_piece_flags */
	const void *data;
	uint16_t bytes;
};

static size_t pack(char *into, const struct piece *pieces)
{
	size_t used = 0;

	for (; pieces->data; pieces++) {
		memcpy(into + used, &pieces->bytes, 2);
		into[used + 2] = (char)pieces->arg;
		into[used + 3] = (char)pieces->flags;
		memcpy(into + used + WTI_PIECE_HEAD_BYTES, pieces->data, pieces->bytes);
		used += WTI_PIECE_HEAD_BYTES + pieces->bytes;
	}
	return used;
}

static void add(uint32_t track, uint32_t nr, const uint64_t *args, int64_t result, uint32_t flags,
		const struct piece *pieces)
{
	uint64_t values[WT_SYSCALL_FIELD_FLAGS + 1] = {[WT_SYSCALL_FIELD_NR] = nr,
						       [WT_SYSCALL_FIELD_RESULT] = (uint64_t)result,
						       [WT_SYSCALL_FIELD_DURATION] = 12345,
						       [WT_SYSCALL_FIELD_ARCH] = WTI_ARCH_X86_64,
						       [WT_SYSCALL_FIELD_FLAGS] = flags};
	char memory[1024];
	struct wt_text text = {memory, pack(memory, pieces)};

	memcpy(values + WT_SYSCALL_FIELD_A0, args, WTI_CALL_ARGS * sizeof(*args));
	must(wt_writer_append(out, WT_KIND_SYSCALL, track, seqs[track]++, now += 100000, values,
			      WT_SYSCALL_FIELD_FLAGS + 1, &text));
}

#define ARGS(...)                                                                                  \
	(const uint64_t[WTI_CALL_ARGS])                                                            \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define PIECES(...)                                                                                \
	(const struct piece[])                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
		{                                                                                  \
			0, 0, NULL, 0                                                              \
		}                                                                                  \
	}
#define CWD ((uint64_t)AT_FDCWD)

static void task(uint32_t track, uint32_t tid, uint32_t parent, uint32_t how, const char *command)
{
	uint64_t values[WT_TASK_FIELD_COMMAND + 1] = {tid, tid, parent, how};
	struct wt_text text = {command, strlen(command)};

	must(wt_writer_append(out, WT_KIND_TASK, track, seqs[track]++, now += 1000, values, 5,
			      &text));
}

static void task_end(uint32_t track, uint32_t tid, int32_t status)
{
	uint64_t values[] = {tid, tid, (uint64_t)status, 1};

	must(wt_writer_append(out, WT_KIND_TASK_END, track, seqs[track]++, now += 1000, values, 4,
			      NULL));
}

static void calls_of_main(void)
{
	uint32_t pair[2] = {4, 5};
	char address[] = "\2\0\0\120\177\0\0\1\0\0\0\0\0\0\0\0"; /* 127.0.0.1:80 */

	add(MAIN, SYS_openat, ARGS(CWD, 0x1000, O_RDONLY), 3, 0, PIECES({1, 0, "/data/set", 10}, ));
	add(MAIN, SYS_read, ARGS(3, 0x2000, 100), 5, 0, PIECES({1, WTI_PIECE_EXIT, "hello", 5}, ));
	add(MAIN, SYS_dup2, ARGS(3, 7), 7, 0, PIECES());
	add(MAIN, SYS_close, ARGS(3), 0, 0, PIECES());
	add(MAIN, SYS_pipe2, ARGS(0x3000, O_CLOEXEC), 0, 0, PIECES({0, WTI_PIECE_EXIT, pair, 8}, ));
	add(MAIN, SYS_write, ARGS(5, 0x2000, 1), 1, 0, PIECES({1, 0, "x", 1}, ));
	add(MAIN, SYS_socket, ARGS(2, 1, 0), 3, 0, PIECES());
	add(MAIN, SYS_connect, ARGS(3, 0x4000, 16), 0, 0, PIECES({1, 0, address, 16}, ));
	add(MAIN, SYS_getpid, ARGS(0), 100, WT_SYSCALL_OWN, PIECES());
	add(MAIN, SYS_unlink, ARGS(0x1000), -2, 0, PIECES({0, 0, markup, sizeof(markup)}, ));
	add(MAIN, SYS_fstat, ARGS(7, 0x2000), 0, 0, PIECES({1, WTI_PIECE_EXIT, "short", 5}, ));
	add(MAIN, 1000, ARGS(1, 2), 0, 0, PIECES());
}

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	char path[4096];

	if (argc < 2 || mkdir(argv[1], 0700))
		return 2;
	snprintf(path, sizeof(path), "%s/syscalls.wt", argv[1]);
	wt_writer_options_init(&options);
	options.identity.pid = MAIN_TID;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	must(wt_writer_create(path, &options, &out, NULL));
	must(wt_writer_track(out, &(struct wt_track){.id = MAIN,
						     .type = WT_TRACK_THREAD,
						     .tid = MAIN_TID,
						     .name = "main",
						     .name_bytes = 4}));
	must(wt_writer_track(out, &(struct wt_track){.id = CHILD,
						     .type = WT_TRACK_THREAD,
						     .tid = CHILD_TID,
						     .name = "child",
						     .name_bytes = 5}));
	task(MAIN, MAIN_TID, 0, WT_TASK_PROGRAM, "main");
	calls_of_main();
	task(CHILD, CHILD_TID, MAIN_TID, WT_TASK_PROCESS, "child");
	add(CHILD, SYS_read, ARGS(7, 0x2000, 100), 0, WT_SYSCALL_UNFINISHED, PIECES());
	task_end(CHILD, CHILD_TID, -9);
	add(MAIN, SYS_exit_group, ARGS(3), 0, WT_SYSCALL_UNFINISHED, PIECES());
	task_end(MAIN, MAIN_TID, 3);
	must(wt_writer_finish(out, NULL));
	wt_writer_free(out);
	return 0;
}
